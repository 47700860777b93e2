package reading

import (
	"cmp"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
)

// Money is one way to read the money of a table. A column is -1 if there is none.
type Money struct {
	Amount, Debit, Credit, Balance int
	// Flag is the column with the direction.
	Flag   int
	Points int
	// Proven is whether these amounts explain the changes of the balances.
	Proven bool
	// Inverted is whether the negated amounts explain the changes of the balances.
	Inverted bool
	// Before is whether the balances are those before the rows.
	Before bool
	// SignedDebits is whether all debits are written with a minus, and were read so.
	SignedDebits bool
	// Out and In are the two words of Flag, if the balances show which is which.
	Out, In string
	values  []value
}

// value is the amount of a row, if ok is true.
type value struct {
	n    money.Decimal
	ok   bool
	both bool // Both sides of a pair are filled.
}

// Margin is the minimum distance in points between the best reading and the next one with other
// amounts.
const Margin = 20

// numbersMax is the maximum number of columns that are compared in pairs, because the number of
// pairs grows with its square.
const numbersMax = 16

// provenRows is the maximum number of rows in which balances are compared.
const provenRows = 120

// amountColumns are the columns that may hold amounts or balances.
func (t *Table) amountColumns() []int {
	var found []int
	for i := range t.cols {
		if role, ok := t.Fixed[i]; ok && !isMoney(role) {
			continue
		}
		if t.isAmounts(i) {
			found = append(found, i)
		}
	}
	if len(found) > numbersMax {
		// Columns with a name of money come first.
		slices.SortStableFunc(found, func(a, b int) int {
			return cmp.Compare(t.moneyRank(b), t.moneyRank(a))
		})
		found = found[:numbersMax]
		slices.Sort(found)
	}
	return found
}

func isMoney(role Role) bool {
	switch role {
	case Amount, Debit, Credit, Balance:
		return true
	}
	return false
}

func (t *Table) moneyRank(col int) int {
	best := 0
	for _, role := range []Role{Amount, Debit, Credit, Balance} {
		best = max(best, t.named(role, col))
	}
	return best + share(t.cols[col].strong, t.cols[col].filled)/10
}

// isAmounts reports whether the cells of a column can be amounts.
func (t *Table) isAmounts(i int) bool {
	c := &t.cols[i]
	if role, ok := t.Fixed[i]; ok && isMoney(role) {
		return true
	}
	named := t.moneyNamed(i)
	switch {
	case c.filled == 0:
		return named && len(t.Rows) >= 0
	case named && c.dates*2 <= c.filled:
		return c.numbers*2 >= c.filled
	case c.numbers*100 < c.filled*90 || c.dates*2 >= c.filled:
		return false
	case c.strong == 0 && (c.accounts*2 >= c.filled || t.isSerial(i)):
		return false
	}
	return true
}

// moneyNamed reports whether a column has a name of money.
func (t *Table) moneyNamed(i int) bool {
	for _, role := range []Role{Amount, Debit, Credit, Balance} {
		if t.named(role, i) >= exactName {
			return true
		}
	}
	return false
}

// isSerial reports whether the whole numbers of a column count or identify its rows: each is the
// next one, or they are long, or begin with zeros.
func (t *Table) isSerial(i int) bool {
	long := 0
	for r := range t.Rows {
		text := t.cell(r, i).Text
		if len(text) >= 8 || len(text) > 1 && text[0] == '0' {
			long++
		}
	}
	return long*2 > t.cols[i].filled || t.isCounting(i)
}

// isCounting reports whether each number of a column is the next one.
func (t *Table) isCounting(i int) bool {
	counting, before := 0, ""
	var last money.Decimal
	for r := range t.Rows {
		cell := t.cell(r, i)
		if cell.Text == "" {
			continue
		}
		if before != "" {
			if step, err := cell.Value.Sub(last); err == nil &&
				(step.String() == "1" || step.String() == "-1") {
				counting++
			}
		}
		before, last = cell.Text, cell.Value
	}
	n := t.cols[i].filled
	return n >= 3 && counting >= n-1
}

// moneyReadings returns all ways to read the money, the best one first.
func (t *Table) moneyReadings() []Money {
	numbers := t.amountColumns()
	fixed := t.fixedMoney()
	var all []Money
	for _, a := range numbers {
		if fixed.allows(Amount, a) && !fixed.pairOnly() {
			all = append(all, t.single(a))
		}
	}
	for _, d := range numbers {
		for _, c := range numbers {
			if d != c && fixed.allows(Debit, d) && fixed.allows(Credit, c) &&
				!fixed.amountOnly() && t.exclude(d, c) {
				all = append(all, t.pair(d, c))
			}
		}
	}
	if len(all) == 0 {
		all = t.lonely(numbers, fixed)
	}
	balances := slices.DeleteFunc(slices.Clone(numbers), func(i int) bool {
		role, ok := t.Fixed[i]
		return ok && role != Balance
	})
	for i := range all {
		t.weighBalances(&all[i], balances)
	}
	slices.SortStableFunc(all, func(a, b Money) int { return cmp.Compare(b.Points, a.Points) })
	return all
}

// fixedMoney returns the columns of money that are already decided.
type fixedMoney struct{ amount, debit, credit int }

func (t *Table) fixedMoney() fixedMoney {
	f := fixedMoney{-1, -1, -1}
	for i, role := range t.Fixed {
		switch role {
		case Amount:
			f.amount = i
		case Debit:
			f.debit = i
		case Credit:
			f.credit = i
		}
	}
	return f
}

func (f fixedMoney) allows(role Role, col int) bool {
	want, taken := -1, []int{f.amount, f.debit, f.credit}
	switch role {
	case Amount:
		want = f.amount
	case Debit:
		want = f.debit
	case Credit:
		want = f.credit
	}
	return want == col || want < 0 && !slices.Contains(taken, col)
}

func (f fixedMoney) pairOnly() bool   { return f.debit >= 0 || f.credit >= 0 }
func (f fixedMoney) amountOnly() bool { return f.amount >= 0 && !f.pairOnly() }

// lonely reads a table with one side only, such as withdrawals.
func (t *Table) lonely(numbers []int, fixed fixedMoney) []Money {
	var all []Money
	for _, i := range numbers {
		if fixed.pairOnly() && fixed.debit != i && fixed.credit != i {
			continue
		}
		m := Money{Amount: -1, Debit: -1, Credit: -1, Balance: -1, Flag: -1}
		if fixed.credit == i {
			m.Credit = i
		} else {
			m.Debit = i
		}
		m.values = t.pairValues(m.Debit, m.Credit)
		all = append(all, m)
	}
	return all
}

// single reads one column of amounts.
func (t *Table) single(a int) Money {
	m := Money{Amount: a, Debit: -1, Credit: -1, Balance: -1, Flag: -1,
		values: make([]value, len(t.Rows))}
	m.Flag = t.flagOf(a)
	habit, rest := Repeats, 0
	if m.Flag >= 0 {
		habit = t.habit(a, m.Flag)
		if t.cols[m.Flag].filled < len(t.Rows) && t.cols[a].negative == 0 {
			rest = t.restDirection(m.Flag)
		}
	}
	sides := t.sides(a)
	for r := range t.Rows {
		cell := t.cell(r, a)
		v := value{n: cell.Value, ok: cell.Number}
		d := t.Direction(t.cell(r, m.Flag).Text)
		switch {
		case habit == Words && d != 0:
			if v.n = v.n.Abs(); d < 0 {
				v.n = v.n.Neg()
			}
		case habit == Decides && d < 0, d == 0 && rest < 0, sides > 0 && cell.Side == 0:
			v.n = v.n.Neg()
		}
		m.values[r] = v
	}
	m.Points = t.weighSingle(a)
	return m
}

// pair reads two columns, one for money out and one for money in.
func (t *Table) pair(d, c int) Money {
	m := Money{Amount: -1, Debit: d, Credit: c, Balance: -1, Flag: -1,
		values: t.pairValues(d, c), Points: t.weighPair(d, c), SignedDebits: t.signedDebits(d)}
	if t.isOriginal(m.values) {
		m.Points -= 60
	}
	return m
}

func (t *Table) pairValues(d, c int) []value {
	values := make([]value, len(t.Rows))
	signed := t.signedDebits(d)
	for r := range t.Rows {
		out, in := t.cell(r, d), t.cell(r, c)
		v := value{}
		switch {
		case out.Number && out.Value.Sign() != 0:
			v.n, v.ok = out.Value, true
			if !signed {
				v.n = v.n.Neg()
			}
			v.both = in.Number && in.Value.Sign() != 0
		case in.Number:
			v.n, v.ok = in.Value, true
		}
		values[r] = v
	}
	return values
}

// signedDebits reports whether all numbers of a column are negative.
func (t *Table) signedDebits(d int) bool {
	return d >= 0 && t.cols[d].negative > 0 && t.cols[d].positive == 0
}

// exclude reports whether no row has both of two columns filled.
func (t *Table) exclude(d, c int) bool {
	both, one := 0, 0
	for r := range t.Rows {
		out, in := t.cell(r, d), t.cell(r, c)
		o, i := out.Number && out.Value.Sign() != 0, in.Number && in.Value.Sign() != 0
		switch {
		case o && i:
			both++
		case o || i:
			one++
		}
	}
	named := t.named(Debit, d) >= exactName && t.named(Credit, c) >= exactName
	if named {
		return true
	}
	return both*50 <= one && one > 0
}

// same reports whether two readings give the same amounts in all rows.
func (m *Money) same(o *Money) bool {
	return slices.EqualFunc(m.values, o.values, func(a, b value) bool {
		return a.ok == b.ok && (!a.ok || a.n == b.n)
	})
}
