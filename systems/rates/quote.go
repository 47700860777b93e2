package rates

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// Ask asks for the rate of a pair: stored, or derived from others.
type Ask struct {
	Base, Target money.Currency
	// On is the day whose rate is wanted; "" means now.
	On Date
	// FreshOnly refuses a stale rate instead of serving it. It has no meaning for a day.
	FreshOnly bool
}

// Pair returns the pair that is asked for.
func (a Ask) Pair() Pair { return Pair{a.Base, a.Target} }

// Leg is a stored or fixed rate that a quote is made of.
type Leg struct {
	// Pair and Rate are as stored: so many of Pair.Target for one Pair.Base.
	Pair Pair
	Rate money.Decimal
	// Inverted reports that the leg is used the other way round: 1 / Rate.
	Inverted bool
	// AsOf is when the rate was so, for rates of now; Date is its day, for rates of a day. Both
	// are empty for a fixed rate, which is always so.
	AsOf   time.Time
	Date   Date
	Stale  bool
	Source string
	// Fixed reports that the rate is irrevocable: that of a currency which the euro replaced, or
	// which lost its zeros.
	Fixed bool

	freshUntil time.Time
}

// ratio returns the leg as it is used.
func (l Leg) ratio() Ratio {
	if l.Inverted {
		return ratioOf(l.Rate).Inverse()
	}
	return ratioOf(l.Rate)
}

// end returns the currency that the leg leads to.
func (l Leg) end() money.Currency {
	if l.Inverted {
		return l.Pair.Base
	}
	return l.Pair.Target
}

// Quote is the answer to an Ask.
type Quote struct {
	Base, Target money.Currency
	// Ratio is the exact rate; Rate is it as a decimal, which of a derived rate has twelve
	// significant digits and is for reading.
	Ratio Ratio
	Rate  money.Decimal
	// On is the day that was asked for, and Date the day of the rate itself, which is earlier
	// over weekends and holidays. AsOf is when a rate of now was so. Of several legs the oldest
	// counts. All are empty where nothing but fixed rates is needed.
	On, Date Date
	AsOf     time.Time
	// Age is how long ago AsOf is.
	Age time.Duration
	// Stale reports that a rate of now is no longer fresh, of which FreshUntil was the end.
	Stale      bool
	FreshUntil time.Time
	// Source names where the rate is from; with several sources, all of them.
	Source string
	// Derived reports that the rate is not stored as such, but follows from Legs.
	Derived bool
	// Via are the currencies in between.
	Via []money.Currency
	// Legs lead from Base to Target. There is none for a currency to itself.
	Legs []Leg
	// Apart is how many days lie between the dates of the legs.
	Apart int
}

// Pair returns the quote's pair.
func (q Quote) Pair() Pair { return Pair{q.Base, q.Target} }

// Convert returns an amount of Base in Target, rounded once, at the end, to the digits of Target.
// From one national unit of the euro to another the way is prescribed: through an euro amount of
// three decimals, by Council Regulation 1103/97. The error is ErrInvalid for an amount in another
// currency, or ErrTooLarge.
func (q Quote) Convert(amount money.Amount, rounding money.Rounding) (money.Amount, error) {
	return q.convert(amount, rounding, false)
}

// ConvertCash is Convert to what can be paid in coins of Target: also rounded once, to a multiple
// of its CashStep.
func (q Quote) ConvertCash(
	amount money.Amount, rounding money.Rounding,
) (money.Amount, error) {
	return q.convert(amount, rounding, true)
}

func (q Quote) convert(
	amount money.Amount, rounding money.Rounding, cash bool,
) (money.Amount, error) {
	if amount.Currency() != q.Base {
		return money.Amount{}, ErrInvalid.Field("currency", "must be "+string(q.Base))
	}
	if !known(q.Target) {
		return money.Amount{}, ErrUnknownCode.With("code", q.Target)
	}
	ratio := q.Ratio
	if nationalUnits(q.Legs) {
		first := q.Legs[0].ratio()
		euros, err := amount.Units().MulQuo(first.Above, first.Below, euroDigits, money.HalfUp)
		if err != nil {
			return money.Amount{}, ErrTooLarge.With("limit", money.DigitsMax).Wrap(err)
		}
		amount, _ = money.New(euros, euro)
		ratio = q.Legs[1].ratio()
	}
	of := ratio.Of
	if cash {
		of = ratio.OfCash
	}
	converted, err := of(amount, q.Target, rounding)
	if err != nil {
		return money.Amount{}, ErrTooLarge.With("limit", money.DigitsMax).Wrap(err)
	}
	return converted, nil
}

// fresher reports whether q is the better answer of two: one whose legs may be combined, then fresh
// before stale, then the newer one.
func (q Quote) fresher(other Quote) bool {
	if q.tooFarApart() != other.tooFarApart() {
		return !q.tooFarApart()
	}
	if q.Stale != other.Stale {
		return !q.Stale
	}
	if q.Date != other.Date {
		return q.Date > other.Date
	}
	return q.AsOf.After(other.AsOf)
}

// assemble makes a quote of legs that lead from base to target.
func assemble(ask Ask, legs []Leg, now time.Time) (Quote, error) {
	q := Quote{Base: ask.Base, Target: ask.Target, On: ask.On, Ratio: one(), Legs: legs}
	var newest Leg
	for i, l := range legs {
		var err error
		if q.Ratio, err = q.Ratio.Mul(l.ratio()); err != nil {
			return Quote{}, fmt.Errorf("derive %s: %w", ask.Pair(), err)
		}
		q.Stale = q.Stale || l.Stale
		q.Derived = q.Derived || l.Inverted || i > 0
		if i < len(legs)-1 {
			q.Via = append(q.Via, l.end())
		}
		if l.Source != "" && q.Source != l.Source {
			if q.Source != "" {
				q.Source += ", "
			}
			q.Source += l.Source
		}
		if l.Fixed {
			continue
		}
		if newest.AsOf.Before(l.AsOf) || newest.Date < l.Date {
			newest = l
		}
		if q.AsOf.IsZero() || l.AsOf.Before(q.AsOf) {
			q.AsOf = l.AsOf
		}
		if q.Date == "" || l.Date < q.Date {
			q.Date = l.Date
		}
		if q.FreshUntil.IsZero() || l.freshUntil.Before(q.FreshUntil) {
			q.FreshUntil = l.freshUntil
		}
	}
	q.Rate = q.Ratio.Decimal()
	if ask.On != "" {
		q.AsOf, q.FreshUntil = time.Time{}, time.Time{}
		if q.Date != "" {
			q.Apart = q.Date.daysTo(newest.Date)
		}
		return q, nil
	}
	q.Date = ""
	if !q.AsOf.IsZero() {
		q.Age = max(0, now.Sub(q.AsOf))
		q.Apart = int(newest.AsOf.Sub(q.AsOf) / (24 * time.Hour))
	}
	return q, nil
}

// finder returns the legs that are stored of the given pairs.
type finder func(ctx context.Context, pairs []Pair) (map[Pair]Leg, error)

// resolve finds the best quote: the pair itself, its inverse, or a cross rate, each after the
// retired currencies at its ends were led back to what took their place. In the first days of a
// currency that has no rates yet, those of its predecessor are as good. It reports false when there
// is no way.
func (b *Board) resolve(
	ctx context.Context, ask Ask, day Date, find finder,
) (Quote, bool, error) {
	m := market{board: b, ask: ask, now: b.now(), from: ask.Base, to: ask.Target}
	if l, ok := fixedLeg(m.from, day); ok && m.from != m.to {
		m.head, m.from = []Leg{l}, l.Pair.Base
	}
	if l, ok := fixedLeg(m.to, day); ok && m.from != m.to {
		l.Inverted = false
		m.tail, m.to = []Leg{l}, l.Pair.Base
	}
	q, found, err := m.best(ctx, find)
	if err == nil && !found && len(m.head)+len(m.tail) > 0 {
		plain := market{board: b, ask: ask, now: m.now, from: ask.Base, to: ask.Target}
		return plain.best(ctx, find)
	}
	return q, found, err
}

// market looks for rates from one currency to another, between legs that are fixed.
type market struct {
	board      *Board
	ask        Ask
	now        time.Time
	from, to   money.Currency
	head, tail []Leg
	quote      Quote
	found      bool
}

// consider takes a chain of rates if it makes a better quote than those before.
func (m *market) consider(chain ...Leg) error {
	legs := append(append(append([]Leg(nil), m.head...), chain...), m.tail...)
	q, err := assemble(m.ask, legs, m.now)
	if err == nil && (!m.found || q.fresher(m.quote)) {
		m.quote, m.found = q, true
	}
	return err
}

// settled reports that no other way can lead to a better quote: this one is fresh, or of the very
// day that was asked for.
func (m *market) settled() bool {
	switch {
	case !m.found || m.quote.tooFarApart():
		return false
	case m.ask.On != "":
		return m.quote.Date == m.ask.On
	}
	return !m.quote.Stale
}

// best returns the best quote, and whether there is any.
func (m *market) best(ctx context.Context, find finder) (Quote, bool, error) {
	if m.from == m.to {
		err := m.consider()
		return m.quote, m.found, err
	}
	for _, ways := range m.board.ways(Pair{m.from, m.to}) {
		legs, err := find(ctx, pairsOf(ways))
		if err != nil {
			return Quote{}, false, err
		}
		for _, way := range ways {
			if chain, ok := chainOf(way, legs); ok {
				if err := m.consider(chain...); err != nil {
					return Quote{}, false, err
				}
			}
			// The pair itself goes before its inverse.
			if m.settled() && len(way) == 1 {
				return m.quote, true, nil
			}
		}
		if m.settled() {
			break
		}
	}
	return m.quote, m.found, nil
}

// step is a rate that a way goes along, one way or the other.
type step struct {
	pair     Pair
	inverted bool
}

// ways returns the chains of rates that could lead from one currency to another, in stages: what
// is asked for itself first, then cross rates, pivot by pivot.
func (b *Board) ways(p Pair) [][][]step {
	direct := [][]step{{{p, false}}, {{p.Inverse(), true}}}
	stages := [][][]step{direct}
	for _, pivot := range b.opts.Pivots {
		if pivot == p.Base || pivot == p.Target {
			continue
		}
		in, out := Pair{pivot, p.Base}, Pair{pivot, p.Target}
		// Rates are quoted per unit of the pivot, so that way is tried first.
		stages = append(stages, [][]step{
			{{in, true}, {out, false}},
			{{in.Inverse(), false}, {out, false}},
			{{in, true}, {out.Inverse(), true}},
			{{in.Inverse(), false}, {out.Inverse(), true}},
		})
	}
	return stages
}

func pairsOf(ways [][]step) []Pair {
	var pairs []Pair
	seen := map[Pair]bool{}
	for _, way := range ways {
		for _, s := range way {
			if !seen[s.pair] {
				seen[s.pair] = true
				pairs = append(pairs, s.pair)
			}
		}
	}
	return pairs
}

func chainOf(way []step, legs map[Pair]Leg) ([]Leg, bool) {
	chain := make([]Leg, 0, len(way))
	for _, s := range way {
		l, ok := legs[s.pair]
		if !ok {
			return nil, false
		}
		l.Inverted = s.inverted
		chain = append(chain, l)
	}
	return chain, true
}

// check finds what is wrong with an Ask in itself, and returns the day that it is about.
func (a Ask) check(now time.Time) (Date, error) {
	var wrong problem.Fields
	checkCode(&wrong, "base", a.Base)
	checkCode(&wrong, "target", a.Target)
	if a.On != "" && !a.On.Valid() {
		wrong.Add("date", "must be a day such as 2026-01-31")
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return "", err
	}
	if a.On == "" {
		return DateOf(now.UTC()), nil
	}
	if a.On > today(now) {
		return "", ErrFutureDate.With("date", a.On).Field("date", "must not be in the future")
	}
	return a.On, nil
}

// tooFarApart reports that the legs are of days that are not combined.
func (q Quote) tooFarApart() bool { return q.Apart > legsApartMax }

// apartCheck refuses a quote whose legs are of days too far apart.
func (q Quote) apartCheck() error {
	if !q.tooFarApart() {
		return nil
	}
	older, newer := "", ""
	for _, l := range q.Legs {
		if l.Fixed {
			continue
		}
		text := string(l.Date)
		if text == "" {
			text = stamp(l.AsOf)
		}
		if older == "" || text < older {
			older = text
		}
		if text > newer {
			newer = text
		}
	}
	return ErrLegsApart.With("pair", q.Pair()).With("older", older).With("newer", newer)
}
