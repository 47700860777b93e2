package bulk

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// separators are what a header may separate its columns by, the usual first: many spreadsheets
// write semicolons where the comma is the decimal point.
const separators = ",;\t"

// csvReader reads the records of a file of comma-separated values (RFC 4180). It differs from the
// standard library's in what a broken record does: that one is reported with its line, and reading
// goes on with the next line, in bounded memory.
type csvReader struct {
	lines     *lineReader
	separator byte
	fields    []string
	cell      []byte
}

// errQuote and the like complete a sentence that begins with "The row".
var (
	errBareQuote  = errors.New(`has a quote inside a cell that does not begin with one`)
	errAfterQuote = errors.New(`has text between a closing quote and the end of the cell`)
)

// next returns the next record that is not blank and the line on which it begins. The record is
// valid until the call after. A *FileError ends the reading, as does io.EOF; any other error is one
// of this record alone.
func (c *csvReader) next() (record []string, line int, err error) {
	for {
		text, err := c.lines.next()
		line := c.lines.line
		if err != nil {
			return nil, line, err
		}
		if len(text) == 0 {
			continue
		}
		if err := c.split(text, line); err != nil {
			return nil, line, err
		}
		return c.fields, line, nil
	}
}

// split cuts a record into its fields. It reads further lines where a quoted cell goes on.
func (c *csvReader) split(text []byte, start int) error {
	c.fields = c.fields[:0]
	for {
		var (
			more bool
			err  error
		)
		if len(text) > 0 && text[0] == '"' {
			text, more, err = c.quoted(text[1:], start)
		} else {
			text, more, err = c.plain(text)
		}
		if err != nil {
			return err
		}
		if !more {
			return nil
		}
	}
}

// plain takes a cell without quotes off the front of text. More tells that another cell follows.
func (c *csvReader) plain(text []byte) (rest []byte, more bool, err error) {
	for i, b := range text {
		switch b {
		case '"':
			return nil, false, errBareQuote
		case c.separator:
			c.fields = append(c.fields, string(text[:i]))
			return text[i+1:], true, nil
		}
	}
	c.fields = append(c.fields, string(text))
	return nil, false, nil
}

// quoted takes the rest of a quoted cell off the front of text.
func (c *csvReader) quoted(text []byte, start int) (rest []byte, more bool, err error) {
	c.cell = c.cell[:0]
	for {
		for i := 0; i < len(text); i++ {
			if text[i] != '"' {
				c.cell = append(c.cell, text[i])
				continue
			}
			if i+1 < len(text) && text[i+1] == '"' {
				c.cell = append(c.cell, '"')
				i++
				continue
			}
			c.fields = append(c.fields, string(c.cell))
			switch {
			case i+1 == len(text):
				return nil, false, nil
			case text[i+1] == c.separator:
				return text[i+2:], true, nil
			}
			return nil, false, errAfterQuote
		}
		if text, err = c.continued(start); err != nil {
			return nil, false, err
		}
	}
}

// continued reads the next line of a quoted cell.
func (c *csvReader) continued(start int) ([]byte, error) {
	unclosed := &FileError{
		Line: start, Wrong: "A quote is opened and never closed",
		Try: "Close the quote, or write a quote inside a cell twice",
	}
	if len(c.cell) > rowBytesMax {
		return nil, unclosed
	}
	text, err := c.lines.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, unclosed
	case err != nil:
		return nil, err
	}
	c.cell = append(c.cell, '\n')
	return text, nil
}

// separatorOf finds out what separates the columns of a header.
func separatorOf(header string) byte {
	found := separators[0]
	for i := range len(separators) {
		if strings.Count(header, separators[i:i+1]) > strings.Count(header, string(found)) {
			found = separators[i]
		}
	}
	return found
}

// checkWidth compares a record with the header.
func checkWidth(record, header []string) error {
	switch n := len(record); {
	case n < len(header):
		return fmt.Errorf("has %d cells where the header has %d", n, len(header))
	case n > len(header):
		return fmt.Errorf("has %d cells where the header has %d: a cell that holds the "+
			"separator must be quoted", n, len(header))
	}
	return nil
}
