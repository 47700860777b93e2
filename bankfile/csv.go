package bankfile

import (
	"errors"
	"io"
	"strings"
)

// record is a row of a CSV file.
type record struct {
	line   int
	last   int // The line that it ends with.
	raw    string
	fields []string
	quotes bool // Quotation marks are missing or stray.
	cut    bool // The row is longer than LineMax.
}

// csvReader reads the rows of delimited text. It never fails for a quotation mark: one that is
// missing costs a warning at its row, not the file.
type csvReader struct {
	l       *lines
	delim   byte
	width   int // The width that rows should have, or 0.
	waiting []csvLine
	fields  []string
	given   int // How often a quotation mark was not closed in time.
}

type csvLine struct {
	line int
	text string
	cut  bool
}

// quotedLinesMax is over how many lines one quoted field, or one entry whose lines are joined, can
// go. A quotation mark that is not closed by then was never meant to open anything.
const quotedLinesMax = 32

// givenUpMax is after how many marks that are never closed no row is looked for in the lines
// behind it any more: the bank does not quote, and looking costs time.
const givenUpMax = 1000

// next returns the next row that is not blank; its fields are good until the next call. At the
// end it returns io.EOF.
func (c *csvReader) next() (record, error) {
	for {
		line, err := c.line()
		if err != nil {
			return record{}, err
		}
		if strings.TrimSpace(line.text) == "" {
			continue
		}
		return c.record(line)
	}
}

func (c *csvReader) line() (csvLine, error) {
	if len(c.waiting) > 0 {
		line := c.waiting[0]
		c.waiting = c.waiting[1:]
		return line, nil
	}
	text, err := c.l.next()
	if err != nil {
		return csvLine{}, err
	}
	return csvLine{line: c.l.line, text: string(text), cut: c.l.cut}, nil
}

// record reads the row that begins with a line. A quoted field may go over several lines.
func (c *csvReader) record(start csvLine) (record, error) {
	r := record{line: start.line, last: start.line, raw: start.text, cut: start.cut}
	var open, stray bool
	c.fields, open, stray = splitFields(start.text, c.delim, c.fields[:0])
	r.fields, r.quotes = c.fields, stray
	if !open || r.cut || c.given >= givenUpMax {
		r.quotes = r.quotes || open
		return r, nil
	}
	joined, alone := start.text, len(c.fields)
	var more []csvLine
	for len(more) < quotedLinesMax {
		line, err := c.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return record{}, err
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
		// A row that became too wide swallowed its neighbour; so did one that was whole without
		// the lines that follow and has odd marks with them.
		if c.width > 0 && len(fields) > c.width || stray && alone >= c.width {
			break
		}
		r.fields, r.raw, r.quotes, r.last = fields, joined, stray, line.line
		return r, nil
	}
	c.waiting = append(more, c.waiting...)
	c.given++
	r.quotes = true
	return r, nil
}

// splitFields splits a row. It tells whether a quoted field is still open at the end, and whether
// marks stand where they should not.
func splitFields(text string, delim byte, fields []string) (out []string, open, stray bool) {
	for {
		if len(fields) >= columnsMax {
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

// quotedField reads a field behind its opening mark. A mark that is followed by neither another
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
