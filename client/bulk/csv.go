package bulk

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// separators are the possible column separators of a header, the most common first: many
// spreadsheets write semicolons if the comma is the decimal point.
const separators = ",;\t"

// csvReader reads the records of a file of comma-separated values (RFC 4180). Unlike the standard
// library's reader, it reports a broken record with its line and continues with the next line, in
// limited memory.
type csvReader struct {
	lines     *lineReader
	separator byte
	fields    []string
	cell      []byte
}

// The texts of these errors complete a sentence that begins with "The row".
var (
	errBareQuote  = errors.New(`has a quote inside a cell that does not begin with one`)
	errAfterQuote = errors.New(`has text between a closing quote and the end of the cell`)
)

// next returns the next record that is not blank, and the line on which it begins. The record is
// valid until the following call. A *FileError or io.EOF ends reading; any other error concerns
// only this record.
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

// split splits a record into its fields. It reads further lines if a quoted cell continues.
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

// plain removes a cell without quotes from the front of text. more reports whether another cell
// follows.
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

// quoted removes the rest of a quoted cell from the front of text.
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

// separatorOf determines the separator of a header's columns.
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
