package singletable_test

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// Exchange rates: a table with a partition key alone, an index on a plain attribute, and expiry.
type (
	Rate struct {
		Base      string
		Target    string
		Rate      st.Number
		Timestamp time.Time `dynamodbav:",unixtime"`
		Stale     bool
		TTL       time.Time `dynamodbav:"ttl,unixtime"`
	}
	// Pair and ByBase are inputs.
	Pair   struct{ Base, Target string }
	ByBase struct{ Base string }
)

type ratesModel struct {
	table  *st.Table
	rates  *st.Entity[Rate]
	byPair *st.Pattern[Pair, Rate]
	byBase *st.Pattern[ByBase, Rate]
}

func newRatesModel() *ratesModel {
	m := &ratesModel{}
	m.table = st.NewTable("ExchangeRates", st.Keys("PK"), st.GSI("BaseCurrencyIndex", "Base", ""),
		st.TTL("ttl"))
	m.rates = st.NewEntity[Rate](m.table, "Rate", st.Primary("RATE#<Base>#<Target>"),
		st.On("BaseCurrencyIndex", "<Base>", ""))
	m.byPair = st.NewLookup[Pair](m.rates, "rate-of-pair", st.Describe("The rate of a pair."))
	m.byBase = st.NewQuery[ByBase](m.rates, "rates-of-base", st.UseIndex("BaseCurrencyIndex"),
		st.Live(), st.Describe("The rates of a base that have not expired."))
	return m
}

// Rates: looked up by pair, and by base without those that have expired.
func Example_rates() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{SweepInterval: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	must := func(err error) {
		if err != nil {
			fmt.Println("unexpected:", err)
		}
	}
	m := newRatesModel()
	must(m.table.Ensure(ctx, db))
	now := time.Unix(1704067200, 0).UTC()
	s := st.NewStore(db, st.Options{Now: func() time.Time { return now }})
	save := func(target, rate string, ttl time.Duration) {
		must(m.rates.Put(ctx, s, Rate{Base: "USD", Target: target, Rate: st.Number(rate),
			Timestamp: now, TTL: now.Add(ttl)}))
	}
	save("EUR", "0.85", 24*time.Hour)
	save("GBP", "0.75", 24*time.Hour)
	save("JPY", "110.253", -time.Hour)
	item, err := m.rates.Item(Rate{Base: "USD", Target: "EUR", Rate: "0.85", Timestamp: now,
		TTL: now.Add(24 * time.Hour)})
	must(err)
	fmt.Println(item["PK"].S(), item["Base"].S(), item["Target"].S(), item["Rate"].N(),
		item["Timestamp"].N(), item["Stale"].Bool(), item["ttl"].N())
	r, found, err := m.byPair.First(ctx, s, Pair{"USD", "JPY"})
	must(err)
	fmt.Println(found, r.Rate, "expired:", r.TTL.Before(now))
	for r, err := range m.byBase.All(ctx, s, ByBase{"USD"}) {
		must(err)
		fmt.Println(r.Target, r.Rate)
	}
	// Unordered output:
	// RATE#USD#EUR USD EUR 0.85 1704067200 false 1704153600
	// true 110.253 expired: true
	// EUR 0.85
	// GBP 0.75
}
