// Package sheet writes comma-separated values that a spreadsheet opens without harm: a cell that it
// would run as a formula gets an apostrophe in front, which makes it text. [Plain] takes the
// apostrophe off again, so that what was written is read back as it was.
package sheet

import (
	"encoding/csv"
	"io"
	"regexp"
	"strings"
)

// Writer writes records (RFC 4180). Every CSV of this project is written with it.
type Writer struct {
	csv   *csv.Writer
	cells []string
}

// NewWriter returns a Writer to w. Call Flush at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{csv: csv.NewWriter(w)} }

// UseCRLF ends records as files for other programs are to have it.
func (w *Writer) UseCRLF() { w.csv.UseCRLF = true }

// Write writes a record. Numbers stay as they are; other cells that begin like a formula are made
// text.
func (w *Writer) Write(record []string) error {
	w.cells = w.cells[:0]
	for _, cell := range record {
		w.cells = append(w.cells, Text(cell))
	}
	return w.csv.Write(w.cells)
}

// Flush writes what is held back. Error returns what went wrong with it.
func (w *Writer) Flush() { w.csv.Flush() }

// Error returns the first error of Write or Flush.
func (w *Writer) Error() error { return w.csv.Error() }

// starts are the characters with which a spreadsheet takes a cell for a formula, or which it skips
// before one; the last four are their wide forms, which some programs take for the same.
const starts = "=+-@\t\r\n＝＋－＠"

// number matches what is a number to each spreadsheet.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

// Text returns a cell in the form in which it is no formula.
func Text(cell string) string {
	if !formula(cell) || number.MatchString(cell) {
		return cell
	}
	return "'" + cell
}

// Plain returns the cell that Text was given.
func Plain(cell string) string {
	if rest, quoted := strings.CutPrefix(cell, "'"); quoted && formula(rest) {
		return rest
	}
	return cell
}

// formula reports whether a cell begins like a formula, behind any apostrophes: a cell that begins
// with an apostrophe and then like a formula gets one more, or Plain would take off its own.
func formula(cell string) bool {
	rest := strings.TrimLeft(cell, "'")
	for _, r := range rest {
		return strings.ContainsRune(starts, r)
	}
	return false
}
