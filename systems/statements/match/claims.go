package match

import (
	"github.com/exchequer-dev/exchequer/money"
)

// How far a booked row may be from one that was pending or typed in to be taken for it.
const (
	pendingDays = 8 // With the same amount.
	// TypedDays is how many days a booked row may be away from the same amount that was typed in.
	TypedDays   = 7
	looseDays   = 3 // With the same payee, and an amount within looseShare of the pending one.
	coveredDays = 8 // From a pending row to the booked one that it is about.
)

// looseShare is by how much a tip or the hold of a fuel pump may change an amount: 3/10.
var looseShare = [2]money.Decimal{money.DecimalFromInt(3), money.DecimalFromInt(10)}

// freeRow is a row of the file that is known by no key, and may be a candidate all the same.
type freeRow struct {
	no       int // Of the row in the file, from 0.
	day      int32
	pending  bool
	amount   money.Decimal
	currency money.Currency
	sum      uint64 // The amountHash.
	payee    uint64 // The textHash of the payeeKey.
}

// spot is where a candidate is looked for: what it has in common with a row, and its day.
type spot struct {
	common uint64
	day    int32
}

// matcher finds out which candidate each free row is.
type matcher struct {
	known   *KnownRows
	free    []freeRow
	taken   map[int32]bool // By known row.
	claims  map[int]int32  // By row of the file: the known row that it is.
	atSum   map[spot][]int // Candidates.
	atPayee map[spot][]int
}

// claimed assigns candidates to free rows, each at most once. A row with the same amount comes
// before one with a similar one, the same payee before another, and then the nearest day decides.
// What a row gets depends on nothing but what rows before it in this order got, so an import that
// is repeated with some rows done leaves the others what they had.
func (k *KnownRows) claimed(free []freeRow) map[int]int32 {
	m := &matcher{known: k, free: free, taken: map[int32]bool{}, claims: map[int]int32{},
		atSum: map[spot][]int{}, atPayee: map[spot][]int{}}
	for i, c := range k.candidates {
		if k.rows[c.row].is(rowTaken) {
			continue
		}
		sum, payee := spot{k.rows[c.row].amount, c.day}, spot{k.rows[c.row].payee, c.day}
		m.atSum[sum] = append(m.atSum[sum], i)
		if payee.common != 0 && k.rows[c.row].is(rowPending) {
			m.atPayee[payee] = append(m.atPayee[payee], i)
		}
	}
	for _, samePayee := range []bool{true, false} {
		for distance := range int32(pendingDays + 1) {
			m.each(distance, func(f *freeRow, day int32) int { return m.exact(f, day, samePayee) })
		}
	}
	for distance := range int32(looseDays + 1) {
		m.each(distance, m.loose)
	}
	return m.claims
}

// each offers every free row the candidates of the days that are some days away.
func (m *matcher) each(distance int32, find func(f *freeRow, day int32) int) {
	for i := range m.free {
		f := &m.free[i]
		if _, done := m.claims[f.no]; done {
			continue
		}
		found := find(f, f.day-distance)
		if found < 0 && distance > 0 {
			found = find(f, f.day+distance)
		}
		if found >= 0 {
			row := m.known.candidates[found].row
			m.claims[f.no], m.taken[row] = row, true
		}
	}
}

// spotMax bounds how many candidates of one day are looked through for a row.
const spotMax = 200

// exact finds a candidate of a day with the amount of a row.
func (m *matcher) exact(f *freeRow, day int32, samePayee bool) int {
	at := m.atSum[spot{f.sum, day}]
	for _, i := range at[:min(len(at), spotMax)] {
		c := &m.known.candidates[i]
		r := &m.known.rows[c.row]
		far := max(f.day-day, day-f.day)
		switch {
		case m.taken[c.row] || !c.amount.Equal(f.amount) || c.currency != f.currency:
		case samePayee && (f.payee == 0 || f.payee != r.payee):
		case f.pending && r.is(rowPending): // Two rows that are pending are two.
		case !r.is(rowPending) && far > TypedDays:
		default:
			return i
		}
	}
	return -1
}

// loose finds a pending candidate of a day with the payee of a row and nearly its amount, the
// nearest one.
func (m *matcher) loose(f *freeRow, day int32) int {
	if f.payee == 0 || f.pending {
		return -1
	}
	best, bestOff := -1, money.Decimal{}
	at := m.atPayee[spot{f.payee, day}]
	for _, i := range at[:min(len(at), spotMax)] {
		c := &m.known.candidates[i]
		if m.taken[c.row] || c.currency != f.currency || c.amount.Sign() != f.amount.Sign() {
			continue
		}
		off, near := nearly(c.amount, f.amount)
		if near && (best < 0 || off.Cmp(bestOff) < 0) {
			best, bestOff = i, off
		}
	}
	return best
}

// nearly returns by how much an amount differs from a pending one, and whether that is near.
func nearly(pending, booked money.Decimal) (off money.Decimal, near bool) {
	off, err := booked.Sub(pending)
	if err != nil {
		return off, false
	}
	off = off.Abs()
	left, err := off.Mul(looseShare[1])
	if err != nil {
		return off, false
	}
	right, err := pending.Abs().Mul(looseShare[0])
	return off, err == nil && left.Cmp(right) <= 0
}

// covered finds for pending rows of the file the booked ones that they are about: of the same
// amount and payee, on the same day or some days later, each once.
func (k *KnownRows) covered(free []freeRow, claims map[int]int32) map[int]int32 {
	covered := map[int]int32{}
	if len(free) == 0 {
		return covered
	}
	at := map[spot][]int32{}
	for i := range k.rows {
		r := &k.rows[i]
		if r.state == rowLive && r.flags&(rowMine|rowPending|rowTyped|rowTaken) == 0 &&
			r.payee != 0 {
			s := spot{r.amount ^ r.payee, r.day}
			at[s] = append(at[s], int32(i))
		}
	}
	for later := range int32(coveredDays + 1) {
		for i := range free {
			f := &free[i]
			_, merged := claims[f.no]
			if _, done := covered[f.no]; done || merged || !f.pending || f.payee == 0 {
				continue
			}
			s := spot{f.sum ^ f.payee, f.day + later}
			if booked := at[s]; len(booked) > 0 {
				covered[f.no], at[s] = booked[0], booked[1:]
			}
		}
	}
	return covered
}
