package ledger

import (
	"context"
	"errors"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// CurrencyExchange is the type of the transactions that Exchange posts.
const CurrencyExchange TransactionType = "exchange"

// What an exchange notes about itself in its metadata. Callers' own names must not begin so.
const (
	exchangePrefix   = "exchange."
	exchangeRate     = exchangePrefix + "rate"     // such as "186.75/1.1684", exactly
	exchangeAsOf     = exchangePrefix + "asOf"     // when the rate was so
	exchangeSource   = exchangePrefix + "source"   // where it is from
	exchangeRounding = exchangePrefix + "rounding" // what the exact amount had more, or less
	exchangeOn       = exchangePrefix + "on"       // the day whose rate was asked for
)

// ExchangeRate is the rate of an exchange as a value: Above / Below units of the bought currency
// for one of the sold. It is a quotient so that an inverse or a cross rate is exact. Where it comes
// from is the caller's business; AsOf and Source are noted with the transaction.
type ExchangeRate struct {
	Above, Below money.Decimal
	AsOf, Source string
}

// Exchanging asks for money of one currency to be exchanged for another.
type Exchanging struct {
	// IdempotencyKey makes the request safe to repeat. All terms that a repeat names must be those
	// of the first request, the rate too.
	IdempotencyKey string
	// From is debited by Sold, To is credited in Currency, which is another one.
	From, To AccountID
	Sold     money.Amount
	Currency money.Currency
	// Rate is the rate that was agreed on, as a term of the request.
	Rate ExchangeRate
	// Quote is the rate that applies to a request that names none. It is not a term of the request:
	// a repeat gets the first answer though the quote has moved since, or there is none any more.
	Quote ExchangeRate
	// On is the day whose rate was asked for, if the request names one.
	On string
	// Rounding is how the bought amount is rounded; the zero value is half up.
	Rounding money.Rounding
	// Bought, if it is not zero, is the amount that was agreed on. It may differ from the converted
	// one by the smallest unit of its currency, which is posted to the account @rounding.
	Bought      money.Amount
	Description string
	Metadata    map[string]string
}

// Posting returns the posting of an exchange: what is sold goes from From to the ledger's own
// account @exchange of its currency, and what is bought comes from that of the other currency, so
// that the legs balance in each. The difference between the converted amount, in whole minor units,
// and the agreed one is a leg on @rounding; it is one minor unit at most. What was rounded away
// below a minor unit cannot be posted and is noted in the metadata, with the rate.
func (e Exchanging) Posting() (Posting, error) {
	e = e.priced()
	if err := e.check(); err != nil {
		return Posting{}, err
	}
	converted, err := e.converted()
	if err != nil {
		return Posting{}, err
	}
	bought := e.Bought
	if bought.IsZero() {
		bought = converted
	}
	if err := e.checkBought(converted, bought); err != nil {
		return Posting{}, err
	}
	p := Posting{
		IdempotencyKey: e.IdempotencyKey, Type: CurrencyExchange, Description: e.Description,
		Currency: e.Sold.Currency(), Metadata: e.metadata(bought),
		Legs: []PostingLeg{
			{AccountID: e.From, Type: Debit, Amount: e.Sold},
			{AccountID: Exchange, Type: Credit, Amount: e.Sold},
		},
	}
	// An amount that is converted to nothing leaves the position as it is.
	if !converted.IsZero() {
		p.Legs = append(p.Legs, PostingLeg{AccountID: Exchange, Type: Debit, Amount: converted})
	}
	p.Legs = append(p.Legs, PostingLeg{AccountID: e.To, Type: Credit, Amount: bought})
	difference, err := converted.Sub(bought)
	if err != nil {
		return Posting{}, ErrAmountTooLarge.With("limit", money.DigitsMax).Wrap(err)
	}
	if side := Credit; !difference.IsZero() {
		if difference.Sign() < 0 {
			side = Debit
		}
		p.Legs = append(p.Legs, PostingLeg{
			AccountID: Rounding, Type: side, Amount: difference.Abs(),
		})
	}
	return p, nil
}

// priced returns the exchange with the rate that applies to it in Rate.
func (e Exchanging) priced() Exchanging {
	if !e.Rate.given() {
		e.Rate = e.Quote
	}
	return e
}

// given reports whether there is a rate.
func (r ExchangeRate) given() bool { return !r.Above.IsZero() || !r.Below.IsZero() }

// text is the rate as it is noted: exactly, and without a denominator of one.
func (r ExchangeRate) text() string {
	if r.Below == money.DecimalFromInt(1) {
		return r.Above.String()
	}
	return r.Above.String() + "/" + r.Below.String()
}

// parseRate reads a rate as it is noted.
func parseRate(text string) (ExchangeRate, bool) {
	above, below, quotient := strings.Cut(text, "/")
	if !quotient {
		below = "1"
	}
	a, err1 := money.ParseDecimal(above)
	b, err2 := money.ParseDecimal(below)
	return ExchangeRate{Above: a, Below: b}, err1 == nil && err2 == nil
}

// converted returns the amount that the rate gives, in whole minor units.
func (e Exchanging) converted() (money.Amount, error) {
	converted, err := e.Sold.Convert(e.Currency, e.Rate.Above, e.Rate.Below, e.Rounding)
	if err != nil {
		err = ErrAmountTooLarge.With("limit", money.DigitsMax).Wrap(err)
	}
	return converted, err
}

// boughtOffMinor is by how many minor units an agreed amount may differ from the converted one:
// rounding of another kind explains one, and a larger difference is an error of the caller.
const boughtOffMinor = 1

// checkBought refuses an agreed amount that rounding cannot explain. Without this bound a typing
// error would be balanced by the account @rounding.
func (e Exchanging) checkBought(converted, bought money.Amount) error {
	limit, err := money.FromMinor(boughtOffMinor, e.Currency)
	if err != nil {
		return err
	}
	off, err := bought.Sub(converted)
	if err != nil {
		return ErrAmountTooLarge.With("limit", money.DigitsMax).Wrap(err)
	}
	if !moreThan(off.Abs(), limit) {
		return nil
	}
	return ErrBoughtOutOfRange.With("amount", e.Sold).With("rate", e.Rate.text()).
		With("converted", converted).With("bought", bought).With("limit", limit).
		Field("bought", "must be "+converted.Text()+" or differ from it by "+limit.Text()+
			" at most")
}

// checkRequest finds what is wrong with an exchange regardless of its rate.
func (e Exchanging) checkRequest(wrong *problem.Fields) {
	if e.Currency == e.Sold.Currency() {
		wrong.Add("currency", "must be another one than that of the amount")
	}
	if !e.Currency.Known() {
		wrong.Add("currency", "must be a code of ISO 4217")
	}
	if !e.Bought.IsZero() && e.Bought.Currency() != e.Currency {
		wrong.Add("bought", "must be in the currency that is bought")
	}
	for name := range e.Metadata {
		if strings.HasPrefix(name, exchangePrefix) {
			wrong.Add("metadata", "must have no names that begin with "+exchangePrefix)
			break
		}
	}
}

func (e Exchanging) check() error {
	var wrong problem.Fields
	e.checkRequest(&wrong)
	if e.Rate.Above.Sign() <= 0 || e.Rate.Below.Sign() <= 0 {
		wrong.Add("rate", "must be more than zero")
	}
	return wrong.Err(ErrInvalidRequest)
}

// roundingDigits is how far the noted difference goes below the minor unit.
const roundingDigits = 12

// metadata returns the caller's metadata and what the exchange notes about itself.
func (e Exchanging) metadata(bought money.Amount) map[string]string {
	notes := map[string]string{
		exchangeRate: e.Rate.text(),
	}
	if e.On != "" {
		notes[exchangeOn] = e.On
	}
	if e.Rate.AsOf != "" {
		notes[exchangeAsOf] = e.Rate.AsOf
	}
	if e.Rate.Source != "" {
		notes[exchangeSource] = e.Rate.Source
	}
	digits := e.Currency.Digits() + roundingDigits
	exact, err := e.Sold.Units().MulQuo(e.Rate.Above, e.Rate.Below, digits, money.HalfUp)
	if err == nil {
		exact, err = exact.Sub(bought.Units())
	}
	// A difference that takes more digits than a number has is left out: it is only a note.
	if err == nil && !exact.IsZero() {
		notes[exchangeRounding] = exact.String()
	}
	for name, value := range e.Metadata {
		notes[name] = value
	}
	return notes
}

// Exchange exchanges money of one currency for another, exactly once for its idempotency key. A
// repeat that names no rate gets the first answer though the quote has moved since; see Exchanged.
func (l *Ledger) Exchange(ctx context.Context, e Exchanging) (Receipt, error) {
	if r, found, err := l.Exchanged(ctx, e); found || err != nil {
		return r, err
	}
	p, err := e.Posting()
	if err != nil {
		return Receipt{}, err
	}
	r, err := l.Post(ctx, p)
	if errors.Is(err, ErrIdempotencyConflict) {
		// Another caller has exchanged with the same key in the meantime, perhaps at another quote.
		if earlier, found, again := l.Exchanged(ctx, e); found || again != nil {
			return earlier, again
		}
	}
	return r, err
}

// Exchanged returns the answer to an equal request that was sent before with the same idempotency
// key, and whether there is one. Quotes are not compared: the first one applies. A key of a
// different request is ErrIdempotencyConflict, which names the term that differs.
func (l *Ledger) Exchanged(ctx context.Context, e Exchanging) (Receipt, bool, error) {
	var wrong problem.Fields
	e.checkRequest(&wrong)
	if err := wrong.Err(ErrInvalidRequest); err != nil {
		return Receipt{}, false, err
	}
	if err := checkKey(e.IdempotencyKey, optional); err != nil || e.IdempotencyKey == "" {
		return Receipt{}, false, err
	}
	id := l.transactionID(e.IdempotencyKey)
	found, exists, err := l.entry(ctx, id)
	if err != nil || !exists {
		return Receipt{}, false, err
	}
	if field := e.difference(found); field != "" {
		return Receipt{}, false, ErrIdempotencyConflict.With("first", id).With("field", field).
			Field(field, "is not that of the first request")
	}
	return Receipt{Entry: found.clone(), Replayed: true}, true, nil
}

// difference names the first field in which an earlier exchange differs from the one asked for.
func (e Exchanging) difference(found Entry) string {
	t := &found.Transaction
	switch {
	case t.Type != CurrencyExchange:
		return "type"
	case t.Description != e.Description:
		return "description"
	case !sameNotes(t.Metadata, e.Metadata):
		return "metadata"
	}
	var sold, bought Leg
	for _, leg := range found.Legs {
		if leg.Type == Debit && leg.Amount.Currency() == t.Amount.Currency() {
			sold = leg
		}
		if leg.Type == Credit && leg.Amount.Currency() != t.Amount.Currency() &&
			leg.AccountID != SystemAccount(Rounding, leg.Amount.Currency()) {
			bought = leg
		}
	}
	switch {
	case sold.AccountID != fullID(e.From, e.Sold.Currency()):
		return "from"
	case bought.AccountID != fullID(e.To, e.Currency):
		return "to"
	case sold.Amount != e.Sold:
		return "amount"
	case bought.Amount.Currency() != e.Currency:
		return "currency"
	case !e.Bought.IsZero() && bought.Amount != e.Bought:
		return "bought"
	}
	return e.differentPrice(t, bought.Amount, len(found.Legs))
}

// differentPrice names the first term in which the price of an earlier exchange differs. What it
// took is worked out again from the rate that it noted.
func (e Exchanging) differentPrice(t *Transaction, bought money.Amount, legs int) string {
	noted, ok := parseRate(t.Metadata[exchangeRate])
	switch {
	case e.Rate.given() && (!ok || noted.Above != e.Rate.Above || noted.Below != e.Rate.Below):
		return "rate"
	case e.On != "" && e.On != t.Metadata[exchangeOn] &&
		// Exchanges before this note was made have the day only in the time of the rate.
		(t.Metadata[exchangeOn] != "" || !strings.HasPrefix(t.Metadata[exchangeAsOf], e.On)):
		return "date"
	case !ok || !e.Bought.IsZero():
		return ""
	}
	e.Rate = noted
	converted, err := e.converted()
	switch {
	case err != nil || converted == bought:
		return ""
	case legs > exchangeLegs: // An amount was agreed on, and now is not.
		return "bought"
	}
	return "rounding"
}

// exchangeLegs is how many legs an exchange has whose bought amount is the converted one.
const exchangeLegs = 4

// fullID returns the id of an account that may be named as one of the ledger's own.
func fullID(id AccountID, currency money.Currency) AccountID {
	if isSystemName(id) {
		return SystemAccount(id, currency)
	}
	return id
}

// sameNotes compares metadata without what the exchange itself has noted.
func sameNotes(stored, asked map[string]string) bool {
	own := 0
	for name, value := range stored {
		if strings.HasPrefix(name, exchangePrefix) {
			own++
		} else if other, ok := asked[name]; !ok || other != value {
			return false
		}
	}
	return len(stored)-own == len(asked)
}
