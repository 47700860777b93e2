package bankfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/money"
)

// assign sets the roles of the columns: those of the mapping, and for the others the result of the
// whole sample; see package reading.
func (t *table) assign() error {
	m := &t.set.mapping
	width := max(t.width, len(t.header))
	for _, row := range t.samples {
		width = max(width, len(row))
	}
	t.roles = make([]Role, width)
	given, err := t.resolve(m.Columns)
	if err != nil {
		return err
	}
	has := func(roles ...Role) bool {
		for _, role := range given {
			if slices.Contains(roles, role) {
				return true
			}
		}
		return false
	}
	if has(RoleDate) && has(RoleAmount, RoleDebit, RoleCredit) &&
		(has(RoleName, RoleMemo) || t.set.exact) {
		// The mapping has all columns that matter, so the others do not matter.
		for i, role := range given {
			t.roles[i] = role
		}
		t.memos = t.mapped(m.Columns, given)
		t.index()
		if t.set.exact {
			return nil
		}
		sample := t.digest(given)
		t.notes = sample.Notes()
		if t.balance >= 0 {
			t.before = sample.Read().Money.Before
		}
		return nil
	}
	sample := t.digest(given)
	result := sample.Read()
	t.roles = make([]Role, max(width, len(result.Roles)))
	for i, role := range result.Roles {
		t.roles[i] = Role(role)
	}
	t.memos, t.notes, t.left = result.Memos, result.Notes, result.Left
	if result.Doubtful >= 0 && len(m.OutFlags) == 0 {
		t.words = []string{result.First, result.Second}
	}
	if result.Money.Out != "" {
		m.OutFlags, m.InFlags = []string{result.Money.Out}, []string{result.Money.In}
	}
	t.others, t.best, t.sample = result.Others, result.Money, sample
	t.before = result.Money.Before
	t.card = result.Inverted
	t.index()
	return nil
}

// mapped returns the columns of text in the order of the mapping.
func (t *table) mapped(columns []Column, given map[int]Role) (memos []int) {
	for _, c := range columns {
		if c.Role != RoleMemo {
			continue
		}
		at := c.Index
		if c.Name != "" && t.header != nil {
			at = t.find(c)
		}
		if at >= 0 && given[at] == RoleMemo && !slices.Contains(memos, at) {
			memos = append(memos, at)
		}
	}
	return memos
}

// digest returns the sample of the table for package reading.
func (t *table) digest(given map[int]Role) *reading.Table {
	sample := &reading.Table{
		Header: t.header, Fixed: make(map[int]reading.Role, len(given)),
		Currency: t.set.defaultCurrency(), Own: t.ownNumbers(),
		Out: t.set.mapping.OutFlags, In: t.set.mapping.InFlags,
	}
	for i, role := range given {
		sample.Fixed[i] = reading.Role(role)
	}
	mark := t.mark()
	for _, row := range t.samples {
		digest := make([]reading.Cell, len(row))
		for i, text := range row {
			digest[i] = digestCell(text, mark)
		}
		sample.Rows = append(sample.Rows, digest)
	}
	return sample
}

// mark returns the decimal mark of the sample, or 0 if it shows none.
func (t *table) mark() byte {
	if t.set.mapping.Decimal != "" {
		return t.set.mapping.Decimal[0]
	}
	var m cells.Marks
	for _, row := range t.samples {
		for _, text := range row {
			if cells.IsDate(text) {
				continue
			}
			if a, err := cells.SplitAmount(text); err == nil {
				m.Add(a, text, 0)
			}
		}
	}
	m.Short, m.Long = 0, 0 // Most whole numbers of a table are not amounts.
	c := t.set.defaultCurrency()
	mark, _ := m.Decide(c.Digits(), c.Known())
	return mark
}

func digestCell(text string, mark byte) reading.Cell {
	text = cells.TrimBlanks(text)
	cell := reading.Cell{Text: text}
	if text == "" || cells.IsDashes(text) {
		cell.Text = ""
		return cell
	}
	if cells.IsDate(text) {
		d, _ := cells.SplitDate(text)
		order := cells.DayFirst
		if !d.Possible(order) {
			order = cells.MonthFirst
		}
		cell.Date, _ = d.Read(order)
	}
	if c := cells.CurrencyOf(text); len(text) == 3 && (c.Known() || c.Retired()) || text == "$" {
		cell.Currency = cmp.Or(c, money.Currency(text))
	}
	a, err := cells.SplitAmount(text)
	if err != nil || a.Digits == "" || reading.IsIBAN(reading.Squeeze(text)) ||
		isNumbered(a) || isGrouped(a.Digits) {
		return cell
	}
	cell.Number = true
	cell.Strong = a.Negative || a.Currency != "" || strings.ContainsAny(a.Digits, ".,")
	cell.Negative, cell.Side = a.Negative, a.Side
	cell.Signed = a.Negative || a.Side != 0 || strings.ContainsAny(text, "+(")
	n, err := a.Read(mark)
	if err != nil {
		if n, err = a.Read(0); err != nil {
			a.Digits = strings.ReplaceAll(a.Digits, ",", ".")
			n, _ = a.Read(cells.MarkPoint)
		}
	}
	cell.Value = n
	return cell
}

// isNumbered reports whether a text is a word with a number, such as "Invoice 7", and not an
// amount.
func isNumbered(a cells.Amount) bool {
	word := strings.TrimSuffix(strings.ToUpper(a.Currency), ".")
	c := cells.CurrencyOf(word)
	return utf8.RuneCountInString(word) >= 3 && len(cells.SharedSigns[word]) == 0 && !c.Known() &&
		!c.Retired() && !strings.ContainsAny(a.Digits, ".,")
}

// isGrouped reports whether digits are grouped like those of an account number, such as
// 1503.12.34567, and not in thousands.
func isGrouped(digits string) bool {
	groups := strings.Split(digits, ".")
	if len(groups) < 3 || strings.Contains(digits, ",") {
		return false
	}
	return slices.ContainsFunc(groups[1:], func(g string) bool { return len(g) != 3 })
}

// ownNumbers returns the account numbers in the lines before the table.
func (t *table) ownNumbers() (own []string) {
	for _, line := range t.preamble {
		for _, part := range strings.FieldsFunc(line, func(r rune) bool {
			return strings.ContainsRune("\";,\t|:", r)
		}) {
			part = cells.TrimBlanks(part)
			if plain := reading.Squeeze(part); reading.IsIBAN(plain) {
				own = append(own, plain)
			}
		}
	}
	return own
}

// resolve finds the columns of a mapping in this file.
func (t *table) resolve(mapped []Column) (map[int]Role, error) {
	given := make(map[int]Role, len(mapped))
	for _, c := range mapped {
		at := -1
		if c.Name == "" || t.header == nil {
			at = c.Index
		} else {
			at = t.find(c)
		}
		if at >= len(t.roles) {
			return nil, &FormatError{Line: t.headerLine, Why: fmt.Sprintf(
				"the mapping has a column %d, but this file has %d columns", at+1, len(t.roles))}
		}
		if at < 0 {
			return nil, &FormatError{Line: t.headerLine, Why: fmt.Sprintf(
				"the mapping has a column %q that this file does not have", cells.Clip(c.Name))}
		}
		given[at] = c.Role
	}
	return given, nil
}

// find returns the column with a header, or -1. Of several with that name it is the nearest one;
// the exact name is preferred to one that differs in accents or case.
func (t *table) find(c Column) int {
	at, least := -1, 0
	key := reading.Key(c.Name)
	for i, name := range t.header {
		d := 0
		switch {
		case name == c.Name:
		case reading.Key(name) == key && key != "":
			d = scan.ColumnsMax
		default:
			continue
		}
		d += max(i-c.Index, c.Index-i)
		if at < 0 || d < least {
			at, least = i, d
		}
	}
	return at
}

// share returns the percentage of the filled cells of a column for which is returns true.
func (t *table) share(col int, is func(string) bool) int {
	filled, good := 0, 0
	for _, row := range t.samples {
		if col < len(row) && strings.TrimSpace(row[col]) != "" {
			filled++
			if is(row[col]) {
				good++
			}
		}
	}
	if filled == 0 {
		return 0
	}
	return good * 100 / filled
}

// flagOf returns -1 for money out, 1 for money in, 0 for a word that is neither.
func flagOf(word string, out, in []string) int {
	return reading.DirectionIn(cells.TrimBlanks(word), out, in)
}

// columnName returns what a person finds a column by: its number, counted from 1, and its name.
func (t *table) columnName(i int) string {
	if i < len(t.header) && t.header[i] != "" {
		return fmt.Sprintf("column %d, %s", i+1, cells.Clip(t.header[i]))
	}
	return fmt.Sprintf("column %d", i+1)
}

// unread returns a sentence about the columns with cells that are not read.
func (t *table) unread() string {
	if len(t.left) == 0 {
		return ""
	}
	var names []string
	for _, i := range slices.Sorted(maps.Keys(setOf(t.left))) {
		names = append(names, t.columnName(i))
	}
	return "Not read: " + strings.Join(names, "; ") + "."
}

func setOf(list []int) map[int]bool {
	set := make(map[int]bool, len(list))
	for _, i := range list {
		set[i] = true
	}
	return set
}
