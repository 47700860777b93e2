package reading

import (
	"strings"
	"unicode"

	"github.com/exchequer-dev/exchequer/money"
)

// Cell is one cell, read without the others.
type Cell struct {
	Text     string // Without blanks at both ends.
	Date     string // The date in the more likely order, such as 2026-01-31; empty if it is none.
	Number   bool   // It can be an amount.
	Strong   bool   // It has decimals, a sign or a currency, like most amounts.
	Negative bool
	Signed   bool // It has a sign, a word such as CR, or parentheses.
	Side     int  // -1 for a word such as DR in the cell, 1 for one such as CR.
	Value    money.Decimal
	Currency money.Currency // If the cell is a currency's code.
}

// Table is a sample of a table.
type Table struct {
	Header []string // Nil if there is none.
	Rows   [][]Cell
	// Fixed are the roles that are already decided, by column; the others must be consistent with
	// them.
	Fixed map[int]Role
	// Currency is the account's; it is empty if it is unknown.
	Currency money.Currency
	// Own are account numbers from the lines before the table: they are the user's.
	Own []string
	// Out and In are words for the direction, in addition to the known ones.
	Out, In []string

	cols []column
}

// column is the statistics of the cells of a column.
type column struct {
	name                           string
	filled, dates, numbers, strong int
	negative, positive, zeros      int
	signed                         int
	currencies, flags, out, in     int
	pending, booked                int
	words                          int // Cells with letters that are not a code or a number.
	accounts                       int // Cells that look like an account's number.
	digits                         int // Cells with digits only.
	letters                        int // All letters of all cells.
	distinct                       map[string]int
}

func share(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return part * 100 / whole
}

func (t *Table) cell(row, col int) Cell {
	if col < 0 || col >= len(t.Rows[row]) {
		return Cell{}
	}
	return t.Rows[row][col]
}

func (t *Table) name(col int) string {
	if col < 0 || col >= len(t.Header) {
		return ""
	}
	return t.Header[col]
}

// count computes the statistics of the columns.
func (t *Table) count(width int) {
	t.cols = make([]column, width)
	for i := range t.cols {
		c := &t.cols[i]
		c.name, c.distinct = t.name(i), make(map[string]int)
		for r := range t.Rows {
			t.look(c, t.cell(r, i))
		}
	}
}

func (t *Table) look(c *column, cell Cell) {
	if cell.Text == "" {
		return
	}
	c.filled++
	c.distinct[cell.Text]++
	if cell.Date != "" {
		c.dates++
	}
	if cell.Number {
		c.numbers++
		switch {
		case cell.Value.Sign() == 0:
			c.zeros++
		case cell.Negative:
			c.negative++
		default:
			c.positive++
		}
		if cell.Signed {
			c.signed++
		}
	}
	if cell.Strong {
		c.strong++
	}
	if cell.Currency != "" {
		c.currencies++
	}
	if d := t.Direction(cell.Text); d != 0 {
		c.flags++
		if d < 0 {
			c.out++
		} else {
			c.in++
		}
	}
	switch BookingOf(cell.Text) {
	case Pending, Never:
		c.pending++
	case Booked:
		c.booked++
	}
	letters, digits, blanks := 0, 0, 0
	for _, r := range cell.Text {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case r == ' ':
			blanks++
		}
	}
	c.letters += letters
	if digits > 0 && letters == 0 && digits == len(cell.Text) {
		c.digits++
	}
	if cell.Date == "" && IsAccount(cell.Text) {
		c.accounts++
	} else if letters > 0 && !cell.Number && cell.Date == "" &&
		(letters > digits || blanks > 0 || letters >= 3) {
		c.words++
	}
}

// Direction is DirectionIn with the words of the table.
func (t *Table) Direction(word string) int { return DirectionIn(word, t.Out, t.In) }

// IsAccount reports whether a text looks like the number of an account or a card: an IBAN, a
// national number of several groups of digits, or one with asterisks.
func IsAccount(text string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '/' || r == '.' {
			return -1
		}
		return r
	}, strings.Trim(text, "'"))
	if len(plain) < 8 || len(plain) > 34 {
		return false
	}
	if IsIBAN(plain) {
		return true
	}
	digits, masks := 0, 0
	for i := range len(plain) {
		switch c := plain[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '*' || c == 'X' || c == 'x' || c == '#':
			masks++
		default:
			return false
		}
	}
	return digits >= 4 && (digits >= 8 || masks >= 4)
}

// IsIBAN reports whether a text has the form of an IBAN: a country, two digits, and at least eleven
// letters and digits, most of them digits.
func IsIBAN(plain string) bool {
	if len(plain) < 15 || !upper(plain[0]) || !upper(plain[1]) || !digit(plain[2]) ||
		!digit(plain[3]) {
		return false
	}
	digits := 0
	for i := 4; i < len(plain); i++ {
		switch {
		case digit(plain[i]):
			digits++
		case !upper(plain[i]):
			return false
		}
	}
	return digits*2 >= len(plain)-4
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }
