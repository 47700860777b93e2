package scan

import (
	"errors"
	"io"
	"strings"
)

// Record is a row of a CSV file. Its fields are good until the next row is read.
type Record struct {
	Line   int
	Last   int // The line that it ends with.
	Raw    string
	Fields []string
	Quotes bool // Quotation marks are missing or stray.
	Cut    bool // The row is longer than LineMax.
}

// Rows reads the rows of delimited text. A missing quotation mark never makes it fail: the row is
// marked, and the rest of the file is read.
type Rows struct {
	l        *Lines
	delim    byte
	width    int // The number of fields that rows should have, or 0.
	waiting  []csvLine
	fields   []string
	unclosed int // The number of quotation marks that were not closed in time.
}

// NewRows returns a reader of the rows of a text. Width is the number of fields that rows should
// have, or 0 if it is not known yet.
func NewRows(text io.Reader, delim byte, width int) *Rows {
	return &Rows{l: NewLines(text), delim: delim, width: width}
}

type csvLine struct {
	line int
	text string
	cut  bool
}

// QuotedLinesMax is the maximum number of lines of one quoted field, or of one entry whose lines
// are joined. A quotation mark that is not closed by then does not open a field.
const QuotedLinesMax = 32

// unclosedMax is the number of unclosed marks after which a mark opens no field anymore, because
// the bank does not quote and every search for the closing mark reads ahead.
const unclosedMax = 1000

// Next returns the next row that is not blank; its fields are good until the next call. At the
// end it returns io.EOF.
func (c *Rows) Next() (Record, error) {
	for {
		line, err := c.line()
		if err != nil {
			return Record{}, err
		}
		if strings.TrimSpace(line.text) == "" {
			continue
		}
		return c.record(line)
	}
}

func (c *Rows) line() (csvLine, error) {
	if len(c.waiting) > 0 {
		line := c.waiting[0]
		c.waiting = c.waiting[1:]
		return line, nil
	}
	text, err := c.l.Next()
	if err != nil {
		return csvLine{}, err
	}
	return csvLine{line: c.l.Line, text: string(text), cut: c.l.Cut}, nil
}

// record reads the row that begins with a line. A quoted field may go over several lines.
func (c *Rows) record(start csvLine) (Record, error) {
	r := Record{Line: start.line, Last: start.line, Raw: start.text, Cut: start.cut}
	var open, stray bool
	c.fields, open, stray = splitFields(start.text, c.delim, c.fields[:0])
	r.Fields, r.Quotes = c.fields, stray
	if !open || r.Cut || c.unclosed >= unclosedMax {
		r.Quotes = r.Quotes || open
		return r, nil
	}
	joined, alone := start.text, len(c.fields)
	var more []csvLine
	for len(more) < QuotedLinesMax {
		line, err := c.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Record{}, err
		}
		more = append(more, line)
		joined += "\n" + line.text
		if len(joined) > RecordMax || line.cut {
			break
		}
		if strings.IndexByte(line.text, '"') < 0 {
			continue
		}
		fields, open, stray := splitFields(joined, c.delim, nil)
		if open {
			continue
		}
		// A row that became too wide contains its neighbour. So does a row that was complete
		// without the following lines and has stray marks with them.
		if c.width > 0 && len(fields) > c.width || stray && alone >= c.width {
			break
		}
		r.Fields, r.Raw, r.Quotes, r.Last = fields, joined, stray, line.line
		return r, nil
	}
	c.waiting = append(more, c.waiting...)
	c.unclosed++
	r.Quotes = true
	return r, nil
}

// splitFields splits a row. Open reports whether a quoted field is still open at the end, and stray
// whether there are marks in unexpected places.
func splitFields(text string, delim byte, fields []string) (out []string, open, stray bool) {
	for {
		if len(fields) >= ColumnsMax {
			return append(fields, text), false, true
		}
		lead := 0
		for lead < len(text) && text[lead] == ' ' && delim != ' ' {
			lead++
		}
		if lead == len(text) || text[lead] != '"' {
			end := strings.IndexByte(text, delim)
			field := text
			if end >= 0 {
				field = text[:end]
			}
			if strings.IndexByte(field, '"') >= 0 {
				stray = true
				field = strings.TrimSuffix(strings.TrimSpace(field), `"`)
			}
			fields = append(fields, field)
			if end < 0 {
				return fields, false, stray
			}
			text = text[end+1:]
			continue
		}
		field, rest, more, closed, odd := quotedField(text[lead+1:], delim)
		stray = stray || odd
		fields = append(fields, field)
		if !closed {
			return fields, true, stray
		}
		if !more {
			return fields, false, stray
		}
		text = rest
	}
}

// quotedField reads a field after its opening mark. A mark that is followed by neither another mark
// nor a delimiter is text.
func quotedField(text string, delim byte) (field, rest string, more, closed, odd bool) {
	escaped := false
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			// A doubled mark is one mark, unless it closes an empty field.
			escaped = true
			i++
			continue
		}
		after := i + 1
		for after < len(text) && text[after] == ' ' && delim != ' ' {
			after++
		}
		if after < len(text) && text[after] != delim {
			odd = true
			continue
		}
		field = text[:i]
		if escaped {
			field = strings.ReplaceAll(field, `""`, `"`)
		}
		if after < len(text) {
			return field, text[after+1:], true, true, odd
		}
		return field, "", false, true, odd
	}
	if escaped {
		text = strings.ReplaceAll(text, `""`, `"`)
	}
	return text, "", false, false, odd
}
