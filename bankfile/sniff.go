package bankfile

import (
	"fmt"
	"io"
	"strings"
)

// How much of a CSV file is looked at to find its columns.
const (
	sniffBytes = 256 << 10
	sniffRows  = 400
)

// delimiters are those that banks use, the likelier ones first.
const delimiters = ",;\t|"

// table is how the columns of a CSV file are read.
type table struct {
	delim      byte
	width      int      // The width of most rows.
	header     []string // Nil where there is none.
	headerLine int      // 0 where there is none.
	roles      []Role   // By column.
	samples    [][]string
	firstLine  int // Where the first row of data stands.
	preamble   []string
	owner      string // The account, where the lines before the header name it.

	date, value, authorised, amount, debit, credit, flag, currency, balance, name, id, reference,
	counterparty, account, category, foreign, foreignCurrency, status int
	memos []int

	signs    tableSigns
	habits   tableHabits
	accounts map[string]int
}

// tableSigns counts what the first pass saw of signs.
type tableSigns struct {
	amountNeg, amountPos, debitNeg, debitPos, creditPos int
	outNeg, outPos                                      int
	debitExample                                        cellAt
}

// tableHabits are the bank's habits, decided once for the file.
type tableHabits struct {
	pair        bool // Read the debit and credit columns, not the amount.
	debitSigned bool
	flagRepeats bool
}

// findTable finds delimiter, header and columns.
func (f *File) findTable() error {
	section := io.NewSectionReader(f.src, f.skip, f.size-f.skip)
	limited := io.LimitReader(decoder(section, f.Encoding), sniffBytes)
	head, err := io.ReadAll(limited)
	if err != nil {
		return fmt.Errorf("read the beginning: %w", err)
	}
	candidates := delimiters
	if f.mapping.Delimiter != "" {
		candidates = f.mapping.Delimiter
	}
	var best *table
	bestScore := 0
	for i := range len(candidates) {
		t, score := sniff(string(head), candidates[i])
		if score > bestScore {
			best, bestScore = t, score
		}
	}
	if best == nil {
		return &FormatError{Why: "the file is none of the known formats, and no row of it has " +
			"both a date and an amount as CSV files of banks do"}
	}
	f.useProfile(best)
	if err := best.assign(f.mapping.Columns); err != nil {
		return err
	}
	if !best.complete() && best.namesCurrencies() {
		return &FormatError{Why: whyRates}
	}
	f.table = best
	f.mapping.Delimiter = string(rune(best.delim))
	f.mapping.Columns = best.columns()
	return nil
}

// ratesMin is how many columns must be named by a currency for a table of rates. A statement has
// one amount a row, or a few.
const ratesMin = 5

// namesCurrencies tells whether most columns are named by currencies.
func (t *table) namesCurrencies() bool {
	count := 0
	for _, name := range t.header {
		if currencyOf(name).Known() {
			count++
		}
	}
	return count >= ratesMin && count*2 > len(t.header)
}

// sniff reads the beginning with one delimiter and scores how well that fits: by the rows that
// have a date and an amount, and by a header that names them.
func sniff(head string, delim byte) (*table, int) {
	c := &csvReader{l: newLines(strings.NewReader(head)), delim: delim}
	var rows []record
	widths := make(map[int]int)
	for len(rows) < sniffRows {
		r, err := c.next()
		if err != nil {
			break
		}
		r.fields = append([]string(nil), r.fields...)
		rows = append(rows, r)
		if isData(r.fields) {
			widths[len(r.fields)]++
		}
	}
	t := &table{delim: delim}
	data := 0
	for w, n := range widths {
		if n > data || n == data && w > t.width {
			t.width, data = w, n
		}
	}
	named := t.findHeader(rows)
	if data == 0 && !named {
		return nil, 0
	}
	for _, r := range rows {
		if r.line < t.headerLine {
			t.preamble = append(t.preamble, r.raw)
		}
		if r.line > t.headerLine && isData(r.fields) && near(len(r.fields), t.width) {
			if t.firstLine == 0 {
				t.firstLine = r.line
			}
			t.samples = append(t.samples, r.fields)
		}
	}
	score := 2*data + t.width
	if named {
		score += 2*data + 10
	}
	return t, score
}

// near tells whether a width is that of the data: a delimiter more or less at the end is common.
func near(width, want int) bool { return width >= want-1 && width <= want+1 }

// isData tells whether a row has a date and an amount.
func isData(fields []string) bool {
	if len(fields) < 2 {
		return false
	}
	date, amount := false, false
	for _, cell := range fields {
		switch {
		case !date && isDate(cell):
			date = true
		case isAmount(cell):
			amount = true
		}
		if date && amount {
			return true
		}
	}
	return false
}

func isDate(cell string) bool {
	d, ok := splitDate(cell)
	return ok && (d.possible(DayFirst) || d.possible(MonthFirst))
}

func isAmount(cell string) bool {
	a, err := splitAmount(cell)
	return err == nil && a.digits != ""
}

// isStrongAmount tells an amount from a number that only counts or names something.
func isStrongAmount(cell string) bool {
	a, err := splitAmount(cell)
	return err == nil && (a.negative || a.currency != "" || strings.ContainsAny(a.digits, ".,"))
}

// findHeader finds the row that names the columns: one with names of a date and of an amount, or
// else the row of words just before the data.
func (t *table) findHeader(rows []record) (named bool) {
	first := len(rows)
	for i, r := range rows {
		if isData(r.fields) && near(len(r.fields), t.width) {
			first = i
			break
		}
	}
	for i := range min(first+1, len(rows)) {
		if namesTable(rows[i].fields) {
			t.setHeader(rows[i])
			return true
		}
	}
	if first == 0 || first == len(rows) {
		return false
	}
	before := rows[first-1]
	if !near(len(before.fields), t.width) || len(before.fields) < 2 {
		return false
	}
	words := 0
	for _, cell := range before.fields {
		if isDate(cell) || isAmount(cell) {
			return false
		}
		if strings.TrimSpace(cell) != "" {
			words++
		}
	}
	if words*2 > len(before.fields) {
		t.setHeader(before)
	}
	return false
}

func (t *table) setHeader(r record) {
	t.headerLine = r.line
	for _, cell := range r.fields {
		t.header = append(t.header, strings.Trim(cell, " \t,;|\ufeff\u00a0"))
	}
	if t.width == 0 {
		t.width = len(r.fields)
	}
}

// namesTable tells whether a row names a date and an amount.
func namesTable(fields []string) bool {
	date, amount := false, false
	for _, cell := range fields {
		if isDate(cell) {
			return false
		}
		key := headerKey(strings.Trim(cell, " \t,;|\ufeff"))
		date = date || rankOf(RoleDate, key) >= 0 || rankOf(RoleValueDate, key) >= 0
		amount = amount || rankOf(RoleAmount, key) >= 0 || rankOf(RoleDebit, key) >= 0 ||
			rankOf(RoleCredit, key) >= 0
	}
	return date && amount && len(fields) >= 2
}

// assign gives the columns their roles: those of the mapping, those that the header names, and
// for date and amount those that the cells show.
func (t *table) assign(mapped []Column) error {
	width := max(t.width, len(t.header))
	for _, c := range mapped {
		width = max(width, c.Index+1)
	}
	t.roles = make([]Role, width)
	given, err := t.resolve(mapped)
	if err != nil {
		return err
	}
	whole := false
	for _, role := range given {
		whole = whole || role == RoleAmount || role == RoleDebit || role == RoleCredit
	}
	if whole {
		whole = false
		for _, role := range given {
			whole = whole || role == RoleDate
		}
	}
	if !whole {
		t.assignByHeader()
		t.assignByCells()
	}
	taken := make(map[Role]bool)
	for _, role := range given {
		taken[role] = role != RoleMemo && role != RoleIgnore
	}
	for i, role := range t.roles {
		if _, ok := given[i]; !ok && taken[role] {
			t.roles[i] = ""
		}
	}
	for i, role := range given {
		t.roles[i] = role
	}
	t.index()
	return nil
}

// resolve finds the columns of a mapping in this file.
func (t *table) resolve(mapped []Column) (map[int]Role, error) {
	given := make(map[int]Role, len(mapped))
	for _, c := range mapped {
		at := -1
		if c.Name == "" || t.header == nil {
			at = c.Index
		} else {
			at = t.named(c)
		}
		if at < 0 || at >= len(t.roles) {
			return nil, &FormatError{Line: t.headerLine, Why: fmt.Sprintf(
				"the mapping has a column %q that this file does not have", clip(c.Name))}
		}
		given[at] = c.Role
	}
	return given, nil
}

// named finds a column by its header. Of several with that name the nearest one is meant; the
// exact name comes before one that differs in accents or case.
func (t *table) named(c Column) int {
	at, least := -1, 0
	key := headerKey(c.Name)
	for i, name := range t.header {
		d := 0
		switch {
		case name == c.Name:
		case headerKey(name) == key && key != "":
			d = columnsMax
		default:
			continue
		}
		d += abs(i - c.Index)
		if at < 0 || d < least {
			at, least = i, d
		}
	}
	return at
}

// roleOrder is the order in which roles choose their columns.
var roleOrder = []Role{
	RoleDate, RoleAmount, RoleDebit, RoleCredit, RoleDirection, RoleBalance, RoleValueDate,
	RoleAuthorisedDate,
	RoleCurrency, RoleID, RoleCounterparty, RoleAccount, RoleForeign, RoleForeignCurrency,
	RoleName, RoleReference, RoleStatus, RoleCategory,
}

func (t *table) assignByHeader() {
	keys := make([]string, len(t.header))
	for i, h := range t.header {
		keys[i] = headerKey(h)
	}
	for _, role := range roleOrder {
		best, bestRank := -1, 0
		for i, key := range keys {
			if t.roles[i] != "" || key == "" || !t.fits(i, role) {
				continue
			}
			if rank := rankOf(role, key); rank >= 0 && (best < 0 || rank < bestRank) {
				best, bestRank = i, rank
			}
		}
		if best >= 0 {
			t.roles[best] = role
		}
	}
	for i, key := range keys {
		if t.roles[i] == "" && rankOf(RoleMemo, key) >= 0 {
			t.roles[i] = RoleMemo
		}
	}
}

// fits tells whether the cells of a column can be what the role says. Empty ones can.
func (t *table) fits(col int, role Role) bool {
	filled, good := 0, 0
	for _, row := range t.samples {
		if col >= len(row) || strings.TrimSpace(row[col]) == "" {
			continue
		}
		filled++
		cell := row[col]
		ok := true
		switch role {
		case RoleDate, RoleValueDate, RoleAuthorisedDate:
			ok = isDate(cell)
		case RoleAmount, RoleDebit, RoleCredit, RoleBalance, RoleForeign:
			ok = isAmount(cell)
		case RoleDirection:
			ok = flagOf(cell, nil, nil) != 0
		case RoleCurrency, RoleForeignCurrency:
			ok = currencyOf(cell) != "" || strings.TrimSpace(cell) == "$"
		}
		if ok {
			good++
		}
	}
	return good*2 >= filled && (filled > 0 || role != RoleDate || len(t.samples) == 0)
}

// assignByCells finds date and amount where no header does.
func (t *table) assignByCells() {
	has := make(map[Role]bool)
	for _, role := range t.roles {
		has[role] = true
	}
	if !has[RoleDate] {
		for i := range t.roles {
			if t.roles[i] == "" && t.share(i, isDate) >= 80 {
				t.roles[i] = RoleDate
				break
			}
		}
	}
	if !has[RoleDirection] && !has[RoleDebit] && has[RoleAmount] {
		t.findFlag()
	}
	if has[RoleAmount] || has[RoleDebit] || has[RoleCredit] {
		return
	}
	var found []int
	for i := range t.roles {
		if t.roles[i] == "" && t.share(i, isStrongAmount) >= 50 && t.share(i, isAmount) == 100 &&
			t.share(i, isDate) < 50 {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		t.roles[found[0]] = RoleAmount
	case 2:
		// Of two, the one that runs on from row to row by the other is the balance.
		a, b := found[0], found[1]
		switch ab, ba := t.runs(a, b), t.runs(b, a); {
		case ab && !ba:
			t.roles[a], t.roles[b] = RoleAmount, RoleBalance
		case ba && !ab:
			t.roles[b], t.roles[a] = RoleAmount, RoleBalance
		}
	}
	if t.header == nil {
		for i := range t.roles {
			if t.roles[i] == "" && t.share(i, isAmount) < 50 && t.share(i, isDate) < 50 &&
				t.share(i, func(c string) bool { return strings.TrimSpace(c) != "" }) > 0 {
				t.roles[i] = RoleMemo
			}
		}
	}
}

// share returns how many of a hundred filled cells of a column are so.
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

// findFlag finds a column that says debit or credit beside amounts without signs.
func (t *table) findFlag() {
	for i, role := range t.roles {
		if role == RoleAmount && t.share(i, func(c string) bool {
			a, err := splitAmount(c)
			return err == nil && a.negative
		}) > 0 {
			return
		}
	}
	for i, role := range t.roles {
		if role == "" || role == RoleCategory || role == RoleMemo {
			if t.share(i, func(c string) bool { return flagOf(c, nil, nil) != 0 }) == 100 {
				t.roles[i] = RoleDirection
				return
			}
		}
	}
}

// runs tells whether each balance is the one before plus the amount, from either end.
func (t *table) runs(amount, balance int) bool {
	up, down := true, true
	for i := 1; i < len(t.samples); i++ {
		if max(amount, balance) >= min(len(t.samples[i]), len(t.samples[i-1])) {
			return false
		}
		a0, b0, ok0 := alone(t.samples[i-1][amount], t.samples[i-1][balance])
		a1, b1, ok1 := alone(t.samples[i][amount], t.samples[i][balance])
		if !ok0 || !ok1 {
			return false
		}
		step, err := b1.Sub(b0)
		if err != nil {
			return false
		}
		up = up && step == a1
		down = down && step == a0.Neg()
	}
	return len(t.samples) > 1 && (up || down)
}
