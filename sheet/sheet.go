// Package sheet writes comma-separated values that are safe to open in a spreadsheet. A cell that
// would be executed as a formula gets an apostrophe in front, which makes it text. [Plain] removes
// the apostrophe, so that the original cell is read back.
package sheet

import (
	"encoding/csv"
	"io"
	"regexp"
	"strings"
)

// Writer writes records (RFC 4180). All CSV files of this project are written with it.
type Writer struct {
	csv   *csv.Writer
	cells []string
}

// NewWriter returns a Writer to w. Call Flush at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{csv: csv.NewWriter(w)} }

// UseCRLF ends records with CR LF, which other programs expect.
func (w *Writer) UseCRLF() { w.csv.UseCRLF = true }

// Write writes a record. Numbers are unchanged; other cells that begin like a formula are made
// text.
func (w *Writer) Write(record []string) error {
	w.cells = w.cells[:0]
	for _, cell := range record {
		w.cells = append(w.cells, Text(cell))
	}
	return w.csv.Write(w.cells)
}

// Flush writes buffered data. Error returns its error.
func (w *Writer) Flush() { w.csv.Flush() }

// Error returns the first error of Write or Flush.
func (w *Writer) Error() error { return w.csv.Error() }

// starts are the characters with which a formula begins in a spreadsheet, or which it skips before
// one. The last four are their full-width forms, which some programs treat in the same way.
const starts = "=+-@\t\r\n＝＋－＠"

// number matches the numbers that every spreadsheet recognises.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

// Text returns a cell in a form that is not a formula.
func Text(cell string) string {
	if !formula(cell) || number.MatchString(cell) {
		return cell
	}
	return "'" + cell
}

// Plain returns the cell that was passed to Text.
func Plain(cell string) string {
	if rest, quoted := strings.CutPrefix(cell, "'"); quoted && formula(rest) {
		return rest
	}
	return cell
}

// formula reports whether a cell begins like a formula, after any apostrophes. A cell that begins
// with an apostrophe and then like a formula gets another one, because Plain would otherwise remove
// its own.
func formula(cell string) bool {
	rest := strings.TrimLeft(cell, "'")
	for _, r := range rest {
		return strings.ContainsRune(starts, r)
	}
	return false
}
