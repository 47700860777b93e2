package rates

import (
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// digitsMax is the maximum count of significant digits of a rate: those of the double that many
// programs still write. Central banks give up to seven. Two such rates multiply exactly.
const digitsMax = 17

// sourceMax is the maximum length in bytes of the name of a rate's source.
const sourceMax = 64

// Rate is how many units of Target one unit of Base costs, as of an instant.
type Rate struct {
	Base, Target money.Currency
	Value        money.Decimal
	// AsOf is when the rate was so, in whole seconds; the seed's attribute Timestamp.
	AsOf time.Time
	// Stale is a mark of the caller who saved the rate: its source has failed since. Whether a rate
	// is stale now is worked out by each answer.
	Stale bool
	// Source names where the rate is from, such as "ecb"; it may be empty.
	Source string
	// FreshUntil is when the rate stops being fresh, and Expires when the store may remove it.
	// Save sets both.
	FreshUntil, Expires time.Time

	// staleFor is the board's: how long the rate is kept where another program has not stored it.
	staleFor time.Duration
}

// Pair is two currencies: how much of Target for one Base.
type Pair struct{ Base, Target money.Currency }

// String returns "USD/EUR".
func (p Pair) String() string { return string(p.Base) + "/" + string(p.Target) }

// Inverse returns the pair the other way round.
func (p Pair) Inverse() Pair { return Pair{p.Target, p.Base} }

// Pair returns the rate's pair.
func (r Rate) Pair() Pair { return Pair{r.Base, r.Target} }

// State is what may be done with a stored rate at an instant.
type State string

// The states of a rate, in the order of its life.
const (
	// Fresh rates are served by every verb.
	Fresh State = "fresh"
	// Stale rates are served where the caller takes them, and are marked in the answer.
	Stale State = "stale"
	// Gone rates are served by nothing, whether the store has removed them yet or not.
	Gone State = "gone"
)

// sweepMax is how long DynamoDB takes to remove an expired item, usually. A rate that is still
// there after it is a leftover that must not be used.
const sweepMax = 48 * time.Hour

// StateAt returns the rate's state.
func (r Rate) StateAt(now time.Time) State {
	switch {
	case !now.Before(r.expires().Add(sweepMax)):
		return Gone
	case r.Expires.IsZero() && r.FreshUntil.IsZero():
		return Stale // Another program wrote it, and without saying until when.
	case now.Before(r.freshUntil()) && !r.Stale:
		return Fresh
	}
	return Stale
}

// expires is when the rate is to be removed: where no time is given, so long after it was so as
// rates are kept that have stopped being fresh.
func (r Rate) expires() time.Time {
	switch {
	case !r.Expires.IsZero():
		return r.Expires
	case !r.FreshUntil.IsZero():
		return r.FreshUntil.Add(r.staleFor)
	}
	return r.AsOf.Add(r.staleFor)
}

// freshUntil is that of the seed's own items their expiry.
func (r Rate) freshUntil() time.Time {
	if r.FreshUntil.IsZero() {
		return r.Expires
	}
	return r.FreshUntil
}

// codeForm reports whether a code could be one of ISO 4217: three capital letters.
func codeForm(code money.Currency) bool {
	if len(code) != 3 {
		return false
	}
	for i := range len(code) {
		if code[i] < 'A' || code[i] > 'Z' {
			return false
		}
	}
	return true
}

// known reports whether there are, or were, amounts in a currency.
func known(code money.Currency) bool { return code.Known() || code.Retired() }

// check finds what is wrong with a pair in itself.
func (p Pair) check() error {
	var wrong problem.Fields
	checkCode(&wrong, "base", p.Base)
	checkCode(&wrong, "target", p.Target)
	return wrong.Err(ErrInvalid)
}

func checkCode(wrong *problem.Fields, field string, code money.Currency) {
	switch {
	case code == "":
		wrong.Add(field, "is missing")
	case !codeForm(code):
		wrong.Add(field, "must be a code of ISO 4217: three capital letters")
	}
}

// check finds what is wrong with a rate in itself, which force does not overrule.
func (r Rate) check() error {
	if err := r.Pair().check(); err != nil {
		return err
	}
	var wrong problem.Fields
	if r.Base == r.Target {
		wrong.Add("target", "must not be the base, whose rate is always 1")
	}
	if r.AsOf.IsZero() {
		wrong.Add("asOf", "is missing")
	}
	if len(r.Source) > sourceMax {
		wrong.Addf("source", "must have at most %d bytes", sourceMax)
	}
	if significant(r.Value) > digitsMax {
		wrong.Addf("rate", "must have at most %d significant digits", digitsMax)
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return err
	}
	if r.Value.Sign() <= 0 {
		return ErrNotPositive.With("rate", r.Value).With("pair", r.Pair()).
			Field("rate", "must be more than zero")
	}
	return nil
}

// doubtful returns what speaks against a rate as of now, which force overrules.
func (r Rate) doubtful(now time.Time) error {
	for _, code := range []money.Currency{r.Base, r.Target} {
		if !known(code) {
			return ErrUnknownCode.With("code", code)
		}
	}
	if r.AsOf.After(now.Add(futureMax)) {
		return ErrFarFuture.With("pair", r.Pair()).With("asOf", stamp(r.AsOf))
	}
	return nil
}

// significant counts the digits of a number without zeros in front.
func significant(d money.Decimal) int {
	n, leading := 0, true
	for _, c := range d.String() {
		switch {
		case c == '.' || c == '-' || leading && c == '0':
		default:
			leading = false
			n++
		}
	}
	return n
}

// stamp writes an instant for people.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
