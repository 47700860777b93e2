package reading

import (
	"slices"
)

// Result is the reading of a table.
type Result struct {
	Roles []Role
	Memos []int // The columns of text, in the order in which they are read.
	Notes []int // Columns of words without a role that are not text.
	Left  []int // Columns of other cells that are not read.
	Money Money
	// Others are readings of the money with other amounts that nothing rules out. If there are
	// some, a person must choose; Money is the most likely one.
	Others []Money
	// Doubtful is a column with two unknown words that may mean the direction, or -1.
	Doubtful      int
	First, Second string // The words of Doubtful.
	// Inverted is whether the words of the rows show that purchases are written as positive.
	Inverted bool
}

// othersMax is the maximum number of other readings that are shown.
const othersMax = 3

// Read decides the roles of all columns.
func (t *Table) Read() Result {
	width := len(t.Header)
	for _, row := range t.Rows {
		width = max(width, len(row))
	}
	for i := range t.Fixed {
		width = max(width, i+1)
	}
	t.count(width)
	r := Result{Roles: make([]Role, width), Doubtful: -1,
		Money: Money{Amount: -1, Debit: -1, Credit: -1, Balance: -1, Flag: -1}}
	for i, role := range t.Fixed {
		r.Roles[i] = role
	}
	t.dateRoles(r.Roles)
	for i, role := range r.Roles {
		if _, fixed := t.Fixed[i]; role != "" && !fixed {
			t.Fixed[i] = role
			defer delete(t.Fixed, i)
		}
	}
	t.chooseMoney(&r)
	t.wordRoles(r.Roles, &r.Money)
	t.doubtfulFlag(&r)
	r.Memos, r.Left = t.texts(r.Roles)
	r.Notes, r.Left = t.notes(r.Left)
	r.Inverted = t.isCard(&r)
	return r
}

// dateRoles sets the roles of columns of dates: by their names, or else in their order.
func (t *Table) dateRoles(roles []Role) {
	isDates := func(i, least int) bool {
		c := &t.cols[i]
		return c.dates*100 >= c.filled*least && (c.filled > 0 || len(t.Rows) == 0)
	}
	for _, role := range []Role{Date, ValueDate, AuthorisedDate} {
		if slices.Contains(roles, role) {
			continue
		}
		best, bestRank := -1, 0
		for i := range roles {
			c := &t.cols[i]
			if roles[i] != "" || c.dates*2 < c.filled || role == Date && !isDates(i, 50) {
				continue
			}
			if r := Rank(role, c.name); r >= 0 && (best < 0 || r < bestRank) {
				best, bestRank = i, r
			}
		}
		if best >= 0 {
			roles[best] = role
		}
	}
	if !slices.Contains(roles, Date) {
		best := -1
		for i := range roles {
			if roles[i] == "" && !t.isText(i) && t.cols[i].filled > 0 && isDates(i, 80) &&
				(best < 0 || t.cols[i].filled > t.cols[best].filled) {
				best = i
			}
		}
		if best >= 0 {
			roles[best] = Date
		}
	}
	if !slices.Contains(roles, Date) {
		// The only date is that of booking, under any name.
		for _, role := range []Role{ValueDate, AuthorisedDate} {
			if i := slices.Index(roles, role); i >= 0 {
				if _, fixed := t.Fixed[i]; !fixed {
					roles[i] = Date
					break
				}
			}
		}
	}
	if !slices.Contains(roles, ValueDate) && slices.Contains(roles, Date) {
		for i := range roles {
			c := &t.cols[i]
			if roles[i] == "" && !t.isText(i) && isDates(i, 50) && c.dates+c.pending == c.filled &&
				c.filled == len(t.Rows) && len(t.Rows) > 0 {
				roles[i] = ValueDate
				break
			}
		}
	}
}

// chooseMoney chooses the reading of the money with the most points, and keeps others with nearly
// as many.
func (t *Table) chooseMoney(r *Result) {
	all := t.moneyReadings()
	if len(all) == 0 {
		return
	}
	r.Money = all[0]
	for i := range all[1:] {
		o := &all[i+1]
		if r.Money.Points-o.Points >= Margin || len(r.Others) == othersMax {
			break
		}
		if !o.same(&r.Money) && !slices.ContainsFunc(r.Others,
			func(m Money) bool { return m.same(o) }) {
			r.Others = append(r.Others, *o)
		}
	}
	m := &r.Money
	for role, i := range map[Role]int{
		Amount: m.Amount, Debit: m.Debit, Credit: m.Credit, Balance: m.Balance, Flag: m.Flag,
	} {
		if i >= 0 && (r.Roles[i] == "" || r.Roles[i] == role) {
			r.Roles[i] = role
		}
	}
	t.repeatedMoney(r)
	t.originals(r)
}

// repeatedMoney sets the roles of columns that repeat the amount or its sides, and of other columns
// with a name of money. They are neither text nor other amounts.
func (t *Table) repeatedMoney(r *Result) {
	for _, role := range []Role{Debit, Credit, Balance} {
		if slices.Contains(r.Roles, role) {
			continue
		}
		best := -1
		for i := range r.Roles {
			if r.Roles[i] == "" && t.isAmounts(i) && t.named(role, i) >= exactName &&
				(best < 0 || t.named(role, i) > t.named(role, best)) {
				best = i
			}
		}
		if best >= 0 {
			r.Roles[best] = role
		}
	}
	if r.Money.Amount < 0 {
		for i := range r.Roles {
			if r.Roles[i] == "" && t.isAmounts(i) && Rank(Amount, t.name(i)) >= 0 &&
				t.repeats(i, &r.Money) {
				r.Roles[i] = Amount
				break
			}
		}
		if !slices.Contains(r.Roles, Flag) {
			for i := range r.Roles {
				if r.Roles[i] == "" && Rank(Flag, t.name(i)) >= 0 && t.cols[i].flags > 0 {
					r.Roles[i] = Flag
					break
				}
			}
		}
	}
}

// repeats reports whether a column repeats the amounts of a reading.
func (t *Table) repeats(i int, m *Money) bool {
	for r, v := range m.values {
		cell := t.cell(r, i)
		if cell.Number && v.ok && cell.Value.Abs() != v.n.Abs() {
			return false
		}
	}
	return true
}

// doubtfulFlag finds a column of two unknown words, if the amounts have no signs.
func (t *Table) doubtfulFlag(r *Result) {
	m := &r.Money
	if m.Amount < 0 || m.Flag >= 0 || m.Proven || t.cols[m.Amount].signed > 0 ||
		t.cols[m.Amount].positive == 0 {
		return
	}
	for i, role := range r.Roles {
		if role != "" && role != Category {
			continue
		}
		_, fixed := t.Fixed[i]
		if fixed || t.isText(i) || t.cols[i].digits > 0 || t.isSubject(i) ||
			sharesWord(tokens(t.name(i)), ownWords) || Known(t.name(i)) && role != Category {
			continue
		}
		if first, second, ok := t.twoWords(i); ok && t.otherWords(r.Roles, i) {
			r.Doubtful, r.First, r.Second = i, first, second
			r.Roles[i] = Flag
			return
		}
	}
}

// isCard reports whether the words of the rows contradict the signs of the amounts: purchases are
// positive or payments to the card are negative, and no row is the other way round.
func (t *Table) isCard(r *Result) bool {
	m := &r.Money
	if m.Amount < 0 || m.Flag >= 0 || t.sides(m.Amount) > 0 {
		return false
	}
	a := &t.cols[m.Amount]
	if m.Inverted && a.negative == 0 {
		return true
	}
	spent, unpaid, paid := 0, 0, 0
	for row, v := range m.values {
		if !v.ok || v.n.Sign() == 0 {
			continue
		}
		switch side := t.sideOfRow(r, row); {
		case side == sideUnsaid && v.n.Sign() < 0:
			unpaid++
		case side == sideUnsaid:
		case (side == sideSpent) == (v.n.Sign() < 0):
			return false // The words of this row agree with its sign.
		case side == sideSpent:
			spent++
		case side == sidePaid:
			paid++
		}
	}
	return a.negative > 0 && (spent > 0 || paid > 0 && unpaid == 0)
}

// sideOfRow returns the meaning of the words of a row from the view of the holder of a card.
func (t *Table) sideOfRow(r *Result, row int) side {
	for i, role := range r.Roles {
		if role == Memo || role == Name || role == Category || role == "" {
			if side := sideOf(t.cell(row, i).Text); side != sideUnsaid {
				return side
			}
		}
	}
	return sideUnsaid
}

// Value returns the amount of a row of the sample, or false if it has none.
func (m *Money) Value(row int) (text string, ok bool) {
	if row >= len(m.values) || !m.values[row].ok {
		return "", false
	}
	return m.values[row].n.String(), true
}
