// Package grid lays out rows and columns of text for people.
package grid

import (
	"io"
	"strings"
	"unicode"
)

// gap separates two columns.
const gap = "  "

// cut ends a cell that was too long for its column.
const cut = "…"

// Column is the head of a column and how its cells are set.
type Column struct {
	Head string
	// Right sets cells against the right edge, as numbers are.
	Right bool
	// Max is the greatest width in characters; 0 is none. Longer cells are cut.
	Max int
}

// Left returns a column of texts.
func Left(head string) Column { return Column{Head: head} }

// Right returns a column of numbers.
func Right(head string) Column { return Column{Head: head, Right: true} }

// UpTo returns the column with a greatest width.
func (c Column) UpTo(characters int) Column {
	c.Max = characters
	return c
}

// Table is a list of rows under a line of heads.
type Table struct {
	columns []Column
	rows    [][]string
	widths  []int
	begun   bool // the heads are written
}

// New returns an empty table.
func New(columns ...Column) *Table { return &Table{columns: columns} }

// Add adds a row. Cells that are missing at its end are empty.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(t.columns))
	for i := range min(len(cells), len(row)) {
		row[i] = shorten(Plain(cells[i]), t.columns[i].Max)
	}
	t.rows = append(t.rows, row)
}

// Write writes the rows that were added since the last time, each line after the indent, and before
// the first ones the heads, unless they are all empty. Columns never become narrower.
func (t *Table) Write(w io.Writer, indent string) error {
	lines := t.rows
	if heads := t.heads(); !t.begun && strings.Join(heads, "") != "" {
		lines = append([][]string{heads}, t.rows...)
	}
	if t.widths == nil {
		t.widths = make([]int, len(t.columns))
	}
	for _, line := range lines {
		for i, cell := range line {
			t.widths[i] = max(t.widths[i], width(cell))
		}
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(strings.TrimRight(indent+t.line(line), " "))
		text.WriteByte('\n')
	}
	t.begun, t.rows = true, nil
	_, err := io.WriteString(w, text.String())
	return err
}

func (t *Table) heads() []string {
	heads := make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i] = c.Head
	}
	return heads
}

func (t *Table) line(cells []string) string {
	var text strings.Builder
	for i, cell := range cells {
		if i > 0 {
			text.WriteString(gap)
		}
		space := strings.Repeat(" ", t.widths[i]-width(cell))
		if t.columns[i].Right {
			text.WriteString(space + cell)
		} else {
			text.WriteString(cell + space)
		}
	}
	return text.String()
}

// Plain returns text fit for one line of a terminal: newlines, tabs and whatever could move the
// cursor become spaces, since texts come from people who may mean harm.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
}

func shorten(text string, limit int) string {
	if limit <= 0 || width(text) <= limit {
		return text
	}
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > limit-1 {
			return strings.TrimRight(text[:i], " ") + cut
		}
	}
	return text
}

// width returns how many columns of a terminal a text takes.
func width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth knows the scripts whose characters are two columns wide, and the marks that are written
// over the character before them. Terminals do not agree on much beyond that.
func runeWidth(r rune) int {
	switch {
	case r < unicode.MaxLatin1:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return 2
	}
	return 1
}
