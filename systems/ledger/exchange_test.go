package ledger_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// rateOf reads a rate such as "186.75/1.1684".
func rateOf(above, below string) ledger.ExchangeRate {
	a, err1 := money.ParseDecimal(above)
	b, err2 := money.ParseDecimal(below)
	if err1 != nil || err2 != nil {
		panic("a rate of a test is none")
	}
	return ledger.ExchangeRate{Above: a, Below: b, AsOf: "2026-04-13", Source: "ecb"}
}

// unsourced is a rate of which nothing more is known.
func unsourced(rate string) ledger.ExchangeRate {
	r := rateOf(rate, "1")
	r.AsOf, r.Source = "", ""
	return r
}

// exchangeBooks has an account with 1,000,000 USD, and empty ones in other currencies.
func exchangeBooks(t *testing.T) *books {
	b := openBooks(t, ledger.Options{})
	for _, code := range []money.Currency{"USD", "JPY", "CHF", "BHD"} {
		_, err := b.OpenAccount(t.Context(), ledger.NewAccount{
			ID: ledger.AccountID("alice-" + code), UserID: "alice", AccountType: "checking",
			Currency: code,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.Post(t.Context(), ledger.DepositInto("alice-USD", usd("1000000")))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// legsOf writes the legs of an entry in the order in which they balance.
func legsOf(e ledger.Entry) map[string]bool {
	legs := map[string]bool{}
	for _, l := range e.Legs {
		legs[fmt.Sprintf("%s %s %s", l.AccountID, l.Type, l.Amount)] = true
	}
	return legs
}

func TestExchangeBalancesEachCurrency(t *testing.T) {
	b := exchangeBooks(t)
	for _, c := range []struct {
		name     string
		e        ledger.Exchanging
		legs     []string
		metadata map[string]string
	}{
		{
			"at a cross rate, without rounding on the way",
			ledger.Exchanging{
				From: "alice-USD", To: "alice-JPY", Sold: usd("1000"), Currency: "JPY",
				Rate: rateOf("186.75", "1.1684"), Metadata: map[string]string{"order": "7"},
			},
			[]string{
				"alice-USD debit 1000.00 USD", "@exchange-USD credit 1000.00 USD",
				"@exchange-JPY debit 159834 JPY", "alice-JPY credit 159834 JPY",
			},
			map[string]string{
				"order": "7", "exchange.rate": "186.75/1.1684", "exchange.asOf": "2026-04-13",
				"exchange.source": "ecb", "exchange.rounding": "-0.039027730229",
			},
		},
		{
			"for less than the rate, as agreed",
			ledger.Exchanging{
				From: "alice-USD", To: "alice-CHF", Sold: usd("100"), Currency: "CHF",
				Rate:   unsourced("0.7912"),
				Bought: money.MustParse("79.11", "CHF"),
			},
			[]string{
				"alice-USD debit 100.00 USD", "@exchange-USD credit 100.00 USD",
				"@exchange-CHF debit 79.12 CHF", "alice-CHF credit 79.11 CHF",
				"@rounding-CHF credit 0.01 CHF",
			},
			map[string]string{"exchange.rate": "0.7912", "exchange.rounding": "0.01"},
		},
		{
			"for more than the rate, as agreed",
			ledger.Exchanging{
				From: "alice-USD", To: "alice-CHF", Sold: usd("100"), Currency: "CHF",
				Rate:   unsourced("0.7912"),
				Bought: money.MustParse("79.13", "CHF"),
			},
			[]string{
				"alice-USD debit 100.00 USD", "@exchange-USD credit 100.00 USD",
				"@exchange-CHF debit 79.12 CHF", "alice-CHF credit 79.13 CHF",
				"@rounding-CHF debit 0.01 CHF",
			},
			map[string]string{"exchange.rate": "0.7912", "exchange.rounding": "-0.01"},
		},
		{
			"to three decimals",
			ledger.Exchanging{
				From: "alice-USD", To: "alice-BHD", Sold: usd("1"), Currency: "BHD",
				Rate: rateOf("0.5", "1"),
			},
			[]string{
				"alice-USD debit 1.00 USD", "@exchange-USD credit 1.00 USD",
				"@exchange-BHD debit 0.500 BHD", "alice-BHD credit 0.500 BHD",
			},
			map[string]string{
				"exchange.rate": "0.5", "exchange.asOf": "2026-04-13", "exchange.source": "ecb",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := b.Exchange(t.Context(), c.e)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{}
			for _, leg := range c.legs {
				want[leg] = true
			}
			if diff := cmp.Diff(want, legsOf(r.Entry)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.metadata, r.Transaction.Metadata); diff != "" {
				t.Error(diff)
			}
			if r.Transaction.Type != ledger.CurrencyExchange || r.Transaction.Amount != c.e.Sold {
				t.Errorf("%+v", r.Transaction)
			}
		})
	}
	b.sound()
}

func TestAnExchangeHappensOnceThoughTheRateMoves(t *testing.T) {
	b := exchangeBooks(t)
	e := ledger.Exchanging{
		IdempotencyKey: "x-1", From: "alice-USD", To: "alice-JPY", Sold: usd("100"),
		Currency: "JPY", Quote: rateOf("159", "1"), Description: "For the journey",
	}
	first, err := b.Exchange(t.Context(), e)
	if err != nil || first.Replayed {
		t.Fatal(first.Replayed, err)
	}
	e.Quote = rateOf("160", "1")
	again, err := b.Exchange(t.Context(), e)
	if err != nil || !again.Replayed || again.Transaction.ID != first.Transaction.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	e.Quote = ledger.ExchangeRate{} // No rate is known any more.
	if r, found, err := b.Exchanged(t.Context(), e); !found || err != nil || !r.Replayed {
		t.Fatal(found, err)
	}
	for field, change := range map[string]func(*ledger.Exchanging){
		"from":        func(e *ledger.Exchanging) { e.From = "bob-USD" },
		"to":          func(e *ledger.Exchanging) { e.To = "bob-JPY" },
		"amount":      func(e *ledger.Exchanging) { e.Sold = usd("101") },
		"currency":    func(e *ledger.Exchanging) { e.Currency = "CHF" },
		"bought":      func(e *ledger.Exchanging) { e.Bought = money.MustParse("1", "JPY") },
		"description": func(e *ledger.Exchanging) { e.Description = "Another one" },
		"rate":        func(e *ledger.Exchanging) { e.Rate = rateOf("160", "1") },
		"date":        func(e *ledger.Exchanging) { e.On = "2026-01-01" },
		"metadata":    func(e *ledger.Exchanging) { e.Metadata = map[string]string{"a": "b"} },
	} {
		other := e
		change(&other)
		if field == "currency" {
			other.To = e.To
		}
		_, err := b.Exchange(t.Context(), other)
		if got := problem.From(err).Details["field"]; got != field {
			t.Errorf("another %s: %v", field, err)
		}
	}
	// The key of another kind of transaction.
	if _, err := b.Post(t.Context(), ledger.Posting{
		IdempotencyKey: "x-2", Type: ledger.Deposit, Legs: ledger.DepositInto("alice-USD",
			usd("1")).Legs,
	}); err != nil {
		t.Fatal(err)
	}
	e.IdempotencyKey = "x-2"
	_, err = b.Exchange(t.Context(), e)
	wantProblem(t, err, ledger.ErrIdempotencyConflict)
}

// All terms that a repeat names are compared. One that it leaves out is as it was the first time,
// unless the result would be different.
func TestTheTermsOfAnExchangeAreCompared(t *testing.T) {
	b := exchangeBooks(t)
	chf := func(text string) money.Amount { return money.MustParse(text, "CHF") }
	first := ledger.Exchanging{
		IdempotencyKey: "k", From: "alice-USD", To: "alice-CHF", Sold: usd("10.01"),
		Currency: "CHF", Rate: rateOf("0.7955", "1"), // 7.962955
	}
	agreed := first
	agreed.IdempotencyKey, agreed.Bought = "agreed", chf("7.95")
	for _, e := range []ledger.Exchanging{first, agreed} {
		if r, err := b.Exchange(t.Context(), e); err != nil || r.Replayed {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for _, c := range []struct {
		name   string
		of     ledger.Exchanging
		change func(*ledger.Exchanging)
		field  string
	}{
		{"equal", first, func(*ledger.Exchanging) {}, ""},
		{"equal, agreed", agreed, func(*ledger.Exchanging) {}, ""},
		{"the rate with more zeros", first, func(e *ledger.Exchanging) {
			e.Rate = rateOf("0.79550", "1")
		}, ""},
		{"no rate", first, func(e *ledger.Exchanging) { e.Rate = ledger.ExchangeRate{} }, ""},
		{"a quote", first, func(e *ledger.Exchanging) {
			e.Rate, e.Quote = ledger.ExchangeRate{}, rateOf("2", "1")
		}, ""},
		{"what it gave", first, func(e *ledger.Exchanging) { e.Bought = chf("7.96") }, ""},
		{"another rate", first, func(e *ledger.Exchanging) { e.Rate = rateOf("0.7956", "1") },
			"rate"},
		{"another rate, agreed", agreed, func(e *ledger.Exchanging) {
			e.Rate = rateOf("0.7956", "1")
		}, "rate"},
		{"a rate upside down", first, func(e *ledger.Exchanging) {
			e.Rate = rateOf("1", "0.7955")
		}, "rate"},
		{"another amount agreed on", agreed, func(e *ledger.Exchanging) {
			e.Bought = chf("7.96")
		}, "bought"},
		{"an amount agreed on before", first, func(e *ledger.Exchanging) {
			e.Bought = chf("7.97")
		}, "bought"},
		{"no amount agreed on", agreed, func(e *ledger.Exchanging) {
			e.Bought = money.Amount{}
		}, "bought"},
		{"another rounding", first, func(e *ledger.Exchanging) { e.Rounding = money.Up },
			"rounding"},
	} {
		e := c.of
		c.change(&e)
		r, err := b.Exchange(t.Context(), e)
		switch {
		case c.field == "" && (err != nil || !r.Replayed):
			t.Errorf("%s: %+v, %v", c.name, r, err)
		case c.field != "" && (!isProblem(err, ledger.ErrIdempotencyConflict) ||
			problem.From(err).Details["field"] != c.field):
			t.Errorf("%s: got %v, want a conflict of %s", c.name, err, c.field)
		}
	}
	b.sound()
}

// An agreed amount may differ from the converted one by what rounding explains and no more.
func TestBoughtIsWithinOneMinorUnit(t *testing.T) {
	b := exchangeBooks(t)
	for _, c := range []struct {
		into   money.Currency
		rate   string
		bought string
		fits   bool
	}{
		// 100.00 USD are 10050 JPY, 79.12 CHF, 50.000 BHD.
		{"JPY", "100.5", "10051", true}, {"JPY", "100.5", "10049", true},
		{"JPY", "100.5", "10052", false}, {"JPY", "100.5", "10048", false},
		{"JPY", "100.5", "1000000", false},
		{"CHF", "0.7912", "79.13", true}, {"CHF", "0.7912", "79.11", true},
		{"CHF", "0.7912", "79.14", false}, {"CHF", "0.7912", "79.10", false},
		{"BHD", "0.5", "50.001", true}, {"BHD", "0.5", "49.999", true},
		{"BHD", "0.5", "50.002", false}, {"BHD", "0.5", "49.998", false},
	} {
		e := ledger.Exchanging{
			From: "alice-USD", To: ledger.AccountID("alice-" + c.into), Sold: usd("100"),
			Currency: c.into, Rate: rateOf(c.rate, "1"),
			Bought: money.MustParse(c.bought, c.into),
		}
		_, err := b.Exchange(t.Context(), e)
		if c.fits != (err == nil) {
			t.Errorf("%s %s: %v", c.bought, c.into, err)
		}
		if c.fits {
			continue
		}
		converted, _ := e.Sold.Convert(e.Currency, e.Rate.Above, e.Rate.Below, e.Rounding)
		p := problem.From(err)
		if !isProblem(err, ledger.ErrBoughtOutOfRange) || p.Fields[0].Name != "bought" ||
			p.Details["converted"] != converted.String() {
			t.Errorf("%s %s: %v, %+v", c.bought, c.into, err, p)
		}
		_, err = b.Account(t.Context(), ledger.SystemAccount(ledger.Rounding, c.into))
		if c.into == "JPY" && err != nil {
			t.Error(err)
		}
	}
	b.sound()
}

func TestManyEqualExchangesAreOne(t *testing.T) {
	b := exchangeBooks(t)
	const callers = 20
	errs := make(chan error, callers)
	for i := range callers {
		go func() {
			_, err := b.Exchange(t.Context(), ledger.Exchanging{
				IdempotencyKey: "x-1", From: "alice-USD", To: "alice-JPY", Sold: usd("100"),
				Currency: "JPY", Quote: rateOf(fmt.Sprint(150+i), "1"),
			})
			errs <- err
		}()
	}
	for range callers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	a, err := b.Account(t.Context(), "alice-USD")
	if err != nil || a.Balance != usd("999900") {
		t.Errorf("%s is left, %v", a.Balance, err)
	}
}

func TestExchangesThatCannotBe(t *testing.T) {
	b := exchangeBooks(t)
	good := ledger.Exchanging{
		From: "alice-USD", To: "alice-JPY", Sold: usd("100"), Currency: "JPY",
		Rate: rateOf("159", "1"),
	}
	for _, c := range []struct {
		name   string
		change func(*ledger.Exchanging)
		want   *problem.Definition
	}{
		{"into the same currency", func(e *ledger.Exchanging) { e.Currency = "USD" },
			ledger.ErrInvalidRequest},
		{"into none", func(e *ledger.Exchanging) { e.Currency = "HRK" }, ledger.ErrInvalidRequest},
		{"without a rate", func(e *ledger.Exchanging) { e.Rate = ledger.ExchangeRate{} },
			ledger.ErrInvalidRequest},
		{"with a name that is kept", func(e *ledger.Exchanging) {
			e.Metadata = map[string]string{"exchange.rate": "1"}
		}, ledger.ErrInvalidRequest},
		{"for nothing", func(e *ledger.Exchanging) { e.Sold = usd("0") },
			ledger.ErrAmountNotPositive},
		{"for less than the smallest coin", func(e *ledger.Exchanging) {
			e.Sold, e.Rate = usd("0.01"), rateOf("1", "100")
		}, ledger.ErrAmountNotPositive},
		{"without the money", func(e *ledger.Exchanging) { e.Sold = usd("1000000.01") },
			ledger.ErrInsufficientFunds},
		{"into an account of another currency", func(e *ledger.Exchanging) { e.To = "alice-CHF" },
			ledger.ErrCurrencyMismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := good
			c.change(&e)
			_, err := b.Exchange(t.Context(), e)
			if problem.From(err).Code != c.want.Code() {
				t.Errorf("%v, want %s", err, c.want.Code())
			}
		})
	}
}

// Whatever is exchanged at whatever rate, legs balance in each currency, and nothing is lost but
// what is noted.
func TestExchangesAlwaysBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		currencies := []money.Currency{"USD", "JPY", "BHD", "CHF"}
		from := rapid.SampledFrom(currencies).Draw(t, "from")
		to := rapid.SampledFrom(currencies).Draw(t, "to")
		sold, err := money.FromMinor(rapid.Int64Range(1, 1e12).Draw(t, "sold"), from)
		if err != nil {
			t.Fatal(err)
		}
		above, _ := money.NewDecimal(rapid.Int64Range(1, 1e9).Draw(t, "above"), 5)
		below, _ := money.NewDecimal(rapid.Int64Range(1, 1e9).Draw(t, "below"), 5)
		e := ledger.Exchanging{
			From: "a", To: "b", Sold: sold, Currency: to,
			Rate: ledger.ExchangeRate{Above: above, Below: below},
		}
		if rapid.Bool().Draw(t, "agreed") {
			if converted, err := sold.Convert(to, above, below, money.HalfUp); err == nil {
				off, _ := money.FromMinor(rapid.Int64Range(-1, 1).Draw(t, "off"), to)
				e.Bought, _ = converted.Add(off)
			}
		}
		p, err := e.Posting()
		if from == to {
			if err == nil {
				t.Fatal("it exchanges a currency for itself")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		sums := map[money.Currency]money.Amount{}
		for _, leg := range p.Legs {
			amount := leg.Amount
			if leg.Type == ledger.Debit {
				amount = amount.Neg()
			}
			if sums[amount.Currency()], err = sums[amount.Currency()].Add(amount); err != nil {
				t.Fatal(err)
			}
		}
		for currency, sum := range sums {
			if !sum.IsZero() {
				t.Fatalf("%s is left over in %s", sum, currency)
			}
		}
	})
}
