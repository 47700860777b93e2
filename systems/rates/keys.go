package rates

import (
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// indexBase is the seed's index of the rates of a base.
const indexBase = "BaseCurrencyIndex"

// Items as they are stored. Attribute names are part of the table's contract with other programs.
type (
	rateItem struct {
		Base      money.Currency `dynamodbav:"Base,required"`
		Target    money.Currency `dynamodbav:"Target,required"`
		Rate      money.Decimal  `dynamodbav:"Rate,required"`
		Timestamp time.Time      `dynamodbav:"Timestamp,unixtime,required"`
		Stale     bool           `dynamodbav:"Stale"`
		TTL       time.Time      `dynamodbav:"ttl,unixtime"`
		// The seed's items do not have these. Without them, a rate is fresh until its ttl.
		FreshUntil time.Time `dynamodbav:"freshUntil,unixtime"`
		Source     string    `dynamodbav:"source,omitempty"`
	}
	dayItem struct {
		Base   money.Currency `dynamodbav:"Base,required"`
		Target money.Currency `dynamodbav:"Target,required"`
		Date   Date           `dynamodbav:"Date,required"`
		Rate   money.Decimal  `dynamodbav:"Rate,required"`
		Source string         `dynamodbav:"source,omitempty"`
	}
)

// Inputs of the patterns.
type (
	// OfPair names a pair of currencies.
	OfPair struct{ Base, Target money.Currency }
	// OfBase names the base of rates.
	OfBase struct{ Base money.Currency }
	// OfDays names the days of a pair, both included. An end left empty is open.
	OfDays struct {
		Base, Target money.Currency
		From, To     Date
	}
)

// model is the design of both tables.
type model struct {
	table, days *singletable.Table
	rates       *singletable.Entity[rateItem]
	history     *singletable.Entity[dayItem]

	value     singletable.Field[rateItem, money.Decimal]
	timestamp singletable.Field[rateItem, time.Time]
	stale     singletable.Field[rateItem, bool]

	byPair *singletable.Pattern[OfPair, rateItem]
	byBase *singletable.Pattern[OfBase, rateItem]
	all    *singletable.Pattern[struct{}, rateItem]
	last   *singletable.Pattern[OfDays, dayItem]
	span   *singletable.Pattern[OfDays, dayItem]
}

// modelOf returns the model of a board. The field is any so that the compiler sees no type of the
// kit behind a Board: every package that names one would compile all of them again.
func modelOf(b *Board) *model { return b.model.(*model) }

func newModel(o Options) *model {
	m := &model{}
	m.table = singletable.NewTable(o.TableName, singletable.Keys("PK"),
		singletable.GSI(indexBase, "Base", ""), singletable.TTL("ttl"))
	m.days = singletable.NewTable(o.HistoryName, singletable.Keys("PK", "SK"))
	m.rates = singletable.NewEntity[rateItem](m.table, "Rate",
		singletable.Primary("RATE#<Base>#<Target>"), singletable.On(indexBase, "<Base>", ""),
		singletable.Sound(soundRate))
	m.history = singletable.NewEntity[dayItem](m.days, "RateOfDay",
		singletable.Primary("RATE#<Base>#<Target>", "DATE#<Date:day>"),
		singletable.Sound(soundDay))
	m.value = singletable.FieldOf(m.rates, func(i *rateItem) *money.Decimal { return &i.Rate })
	m.timestamp = singletable.FieldOf(m.rates, func(i *rateItem) *time.Time { return &i.Timestamp })
	m.stale = singletable.FieldOf(m.rates, func(i *rateItem) *bool { return &i.Stale })

	describe := singletable.Describe
	m.byPair = singletable.NewLookup[OfPair](m.rates, "rate-of-pair",
		describe("The rate of a pair, as of now"))
	m.byBase = singletable.NewQuery[OfBase](m.rates, "rates-of-base",
		describe("The rates of a base, with those that have expired and are still there"),
		singletable.UseIndex(indexBase))
	m.all = singletable.NewScan[struct{}](m.rates, "rates",
		describe("All rates, by a scan of the table"))
	m.last = singletable.NewQuery[OfDays](m.history, "rate-of-day",
		describe("The rates of a pair on a day or before, the latest first"),
		singletable.Through("Date", "From", "To"), singletable.Descending(), singletable.Rows(1))
	m.span = singletable.NewQuery[OfDays](m.history, "rates-of-days",
		describe("The rates of a pair day by day"), singletable.Through("Date", "From", "To"))
	return m
}

// catalogue lists the questions for people and command lines.
func (m *model) catalogue() *singletable.Model {
	return singletable.NewModel("rates", []*singletable.Table{m.table, m.days},
		m.byPair, m.byBase, m.all, m.last, m.span)
}

func itemOf(r Rate) rateItem {
	return rateItem{
		Base: r.Base, Target: r.Target, Rate: r.Value, Timestamp: r.AsOf, Stale: r.Stale,
		TTL: r.Expires, FreshUntil: r.FreshUntil, Source: r.Source,
	}
}

// soundRate checks a rate that was read.
func soundRate(i *rateItem) *singletable.AttributeError {
	if year := i.Timestamp.Year(); year > yearMax {
		return &singletable.AttributeError{Attribute: "Timestamp", Reason: fmt.Errorf(
			"is in the year %d: it is in seconds since 1970", year)}
	}
	return soundValue(i.Rate)
}

// soundDay checks the rate of a day that was read.
func soundDay(i *dayItem) *singletable.AttributeError { return soundValue(i.Rate) }

func soundValue(rate money.Decimal) *singletable.AttributeError {
	if rate.Sign() <= 0 {
		return &singletable.AttributeError{Attribute: "Rate",
			Reason: errors.New("is not more than zero")}
	}
	return nil
}

// yearMax is the last year that times are written in. A ttl after it is none: another program wrote
// milliseconds.
const yearMax = 9999

func (b *Board) rateOf(i rateItem) Rate {
	if i.TTL.Year() > yearMax {
		i.TTL = time.Time{}
	}
	return Rate{
		Base: i.Base, Target: i.Target, Value: i.Rate, AsOf: i.Timestamp.UTC(), Stale: i.Stale,
		Source: i.Source, FreshUntil: i.FreshUntil, Expires: i.TTL, staleFor: b.opts.StaleFor,
	}
}

// DayRate is the rate of a pair on a day.
type DayRate struct {
	Base, Target money.Currency
	Date         Date
	Value        money.Decimal
	Source       string
}

// Pair returns the rate's pair.
func (r DayRate) Pair() Pair { return Pair{r.Base, r.Target} }
