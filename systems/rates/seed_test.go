package rates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// seedItem is the first example of the design.
func seedItem() dynamo.Item {
	return dynamo.Item{
		"PK": dynamo.S("RATE#USD#EUR"), "Base": dynamo.S("USD"), "Target": dynamo.S("EUR"),
		"Rate": dynamo.N("0.85"), "Timestamp": dynamo.N("1704067200"), "Stale": dynamo.Bool(false),
		"ttl": dynamo.N("1704153600"),
	}
}

func TestSaveWritesTheSeedsItemsExactly(t *testing.T) {
	b := open(t, rates.Options{})
	for _, c := range []struct{ pair, rate, pk string }{
		{"USD/EUR", "0.85", "RATE#USD#EUR"}, {"USD/GBP", "0.75", "RATE#USD#GBP"},
		{"EUR/GBP", "0.88", "RATE#EUR#GBP"},
	} {
		if _, err := b.Save(t.Context(), b.rate(c.pair, c.rate), 24*time.Hour); err != nil {
			t.Fatal(err)
		}
		want := seedItem()
		want["PK"], want["Rate"] = dynamo.S(c.pk), dynamo.N(c.rate)
		want["Base"], want["Target"] = dynamo.S(c.pair[:3]), dynamo.S(c.pair[4:])
		if diff := cmp.Diff(want, b.item("ExchangeRates", c.pk, "")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestTheSeedsItemsAreRead(t *testing.T) {
	b := open(t, rates.Options{StaleFor: 14 * 24 * time.Hour})
	b.put("ExchangeRates", seedItem())
	r := must[rates.Rate](t)(b.Get(t.Context(), pairOf("USD/EUR")))
	if r.Value != decimal("0.85") || !r.AsOf.Equal(clockStart) || r.Stale {
		t.Errorf("%+v", r)
	}
	b.pass(24 * time.Hour) // The seed's item is fresh until its ttl.
	_, err := b.Get(t.Context(), pairOf("USD/EUR"))
	wants(t, err, rates.ErrNotFresh, "asOf", "2024-01-01T00:00:00Z")
}

func TestEachVerbMakesTheSeedsCall(t *testing.T) {
	b := open(t, rates.Options{})
	b.save("USD/EUR", "0.85")
	b.made()
	pair := pairOf("USD/EUR")
	for _, c := range []struct {
		name, want string
		do         func() error
	}{
		{"Get", "GetItem", func() error { _, err := b.Get(t.Context(), pair); return err }},
		{"GetStale", "GetItem", func() error {
			_, _, err := b.GetStale(t.Context(), pair)
			return err
		}},
		{"GetByBase", "Query", func() error {
			_, err := b.GetByBase(t.Context(), "USD")
			return err
		}},
		{"Delete", "DeleteItem", func() error { return b.Delete(t.Context(), pair) }},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		calls := b.made()
		if !storetest.Strict() && len(calls) != 1 || calls[0] != c.want {
			t.Errorf("%s makes %v, want %s", c.name, calls, c.want)
		}
	}
	// Save compares with what is there before it puts.
	b.save("USD/EUR", "0.85")
	if calls := b.made(); !storetest.Strict() && !cmp.Equal(calls, []string{"GetItem", "PutItem"}) {
		t.Errorf("Save makes %v", calls)
	}
}

func TestTheReservedWordIsAliased(t *testing.T) {
	b := open(t, rates.Options{})
	for _, p := range b.Model().Patterns() {
		if p.Name() != "rates-of-base" {
			continue
		}
		plan, err := p.PlanText(b.store, map[string]string{"Base": "USD"}, 10)
		if err != nil {
			t.Fatal(err)
		}
		r := plan.Requests[0]
		alias := ""
		for name, attribute := range r.Names {
			if attribute == "Base" {
				alias = name
			}
		}
		if r.Index != "BaseCurrencyIndex" || alias == "" ||
			!strings.HasPrefix(r.KeyCondition, alias+" = ") {
			t.Errorf("%s with %v", r.KeyCondition, r.Names)
		}
		return
	}
	t.Fatal("there is no pattern rates-of-base")
}

func TestStaleForKeepsARateAfterItsFreshness(t *testing.T) {
	b := open(t, rates.Options{StaleFor: 14 * 24 * time.Hour})
	r := b.rate("USD/EUR", "0.85")
	r.Source = "ecb"
	saved := must[rates.Rate](t)(b.Save(t.Context(), r, 24*time.Hour))
	want := seedItem()
	want["freshUntil"], want["ttl"] = dynamo.N("1704153600"), dynamo.N("1705363200")
	want["source"] = dynamo.S("ecb")
	if diff := cmp.Diff(want, b.item("ExchangeRates", "RATE#USD#EUR", "")); diff != "" {
		t.Error(diff)
	}
	if !saved.FreshUntil.Equal(clockStart.Add(24*time.Hour)) ||
		!saved.Expires.Equal(clockStart.Add(15*24*time.Hour)) {
		t.Errorf("%+v", saved)
	}
}

func TestTheModelIsSound(t *testing.T) {
	b := open(t, rates.Options{})
	report := b.Model().Check()
	if len(report.Errors) > 0 {
		t.Error(report.Errors)
	}
	got := b.item("ExchangeRateHistory", "RATE#EUR#USD", "DATE#2023-12-29")
	if got != nil {
		t.Fatal("the history is not empty")
	}
	must[rates.Loaded](t)(b.Load(t.Context(), []rates.Day{day("2023-12-29", "USD 1.105")},
		rates.LoadOptions{HistoryOnly: true}))
	want := dynamo.Item{
		"PK": dynamo.S("RATE#EUR#USD"), "SK": dynamo.S("DATE#2023-12-29"), "Base": dynamo.S("EUR"),
		"Target": dynamo.S("USD"), "Date": dynamo.S("2023-12-29"), "Rate": dynamo.N("1.105"),
		"source": dynamo.S("ecb"),
	}
	got = b.item("ExchangeRateHistory", "RATE#EUR#USD", "DATE#2023-12-29")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
