// Package grid lays out rows and columns of text for people.
package grid

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write writes the heads and the rows, each line after the indent. Heads that are all empty are
// left out.
func (t *Table) Write(w io.Writer, indent string) error {
	heads := make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i] = c.Head
	}
	lines := t.rows
	if strings.Join(heads, "") != "" {
		lines = append([][]string{heads}, t.rows...)
	}
	widths := make([]int, len(t.columns))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(strings.TrimRight(indent+t.line(line, widths), " "))
		text.WriteByte('\n')
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (t *Table) line(cells []string, widths []int) string {
	var text strings.Builder
	for i, cell := range cells {
		if i > 0 {
			text.WriteString(gap)
		}
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
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
	if limit <= 0 || utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return strings.TrimRight(string(runes[:limit-1]), " ") + cut
}
