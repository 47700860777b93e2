package rates_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// april is what the European Central Bank published on 13 April 2026, as far as it matters here.
func (b *board) april() {
	b.t.Helper()
	b.at("2026-04-13T15:00:00Z")
	loaded := must[rates.Loaded](b.t)(b.Load(b.t.Context(), []rates.Day{
		day("2026-04-13", "USD 1.1684, JPY 186.75, GBP 0.87058, CHF 0.9242"),
	}, rates.LoadOptions{}))
	if loaded.RefusedCount > 0 || loaded.Current != 4 {
		b.t.Fatalf("%+v", loaded)
	}
}

func TestConversionsComeOutExactly(t *testing.T) {
	b := open(t, rates.Options{})
	b.april()
	for _, c := range []struct{ amount, pair, want string }{
		{"100", "USD/JPY", "15983"},
		{"1000000", "USD/JPY", "159833961"},
		{"24.785", "USD/USD", "24.79"}, // The rate is 1, and the rules are the same.
		{"1000", "ITL/FRF", "3.38"},
		{"500", "SIT/EUR", "2.09"},
		{"7.53450", "HRK/EUR", "1.00"},
		{"1", "EUR/BGN", "1.96"},
		{"1000000", "TRL/TRY", "1.00"},
		{"10", "RON/ROL", "100000.00"},
	} {
		q := b.quote(c.pair)
		amount := money.MustParse(c.amount, q.Base)
		got, err := q.Convert(amount, money.HalfUp)
		if err != nil || got.Text() != c.want || got.Currency() != q.Target {
			t.Errorf("%s in %s is %s, %v; want %s", amount, c.pair, got, err, c.want)
		}
	}
	if rate := b.quote("USD/JPY").Rate.String(); rate != "159.833960972" {
		t.Errorf("USD/JPY is shown as %s", rate)
	}
}

func TestCashIsRoundedOnce(t *testing.T) {
	b := open(t, rates.Options{})
	b.save("EUR/SEK", "10.496")
	b.save("NZD/EUR", "0.956")
	for _, c := range []struct{ amount, pair, want string }{
		{"1", "EUR/SEK", "10.00"},
		{"1", "EUR/NZD", "1.00"}, // 1.046
		{"1", "NZD/SEK", "10.00"},
		{"1000", "ITL/FRF", "3.38"}, // By the law's way, as ever.
		{"1.03", "CHF/CHF", "1.05"},
	} {
		q := b.quote(c.pair)
		got, err := q.ConvertCash(money.MustParse(c.amount, q.Base), money.HalfUp)
		if err != nil || got.Text() != c.want || got.Currency() != q.Target {
			t.Errorf("%s in %s is %s, %v; want %s", c.amount, c.pair, got, err, c.want)
		}
	}
	_, err := b.quote("EUR/SEK").ConvertCash(money.MustParse("1", "GBP"), money.HalfUp)
	wants(t, err, rates.ErrInvalid)
	huge := money.MustParse("99999999999999999999999999999999999999", "EUR")
	_, err = b.quote("EUR/SEK").ConvertCash(huge, money.HalfUp)
	wants(t, err, rates.ErrTooLarge)
}

func TestRoundingIsHalfUpOrAsAsked(t *testing.T) {
	b := open(t, rates.Options{})
	b.save("EUR/USD", "2.4785")
	q := b.quote("EUR/USD")
	for rounding, want := range map[money.Rounding]string{
		money.HalfUp: "24.79", money.HalfEven: "24.78", money.Down: "24.78", money.Up: "24.79",
	} {
		got, err := q.Convert(money.MustParse("10", "EUR"), rounding)
		if err != nil || got.Text() != want {
			t.Errorf("%s: %s, %v, want %s", rounding, got, err, want)
		}
	}
}

// These are reports about other programs; each is a kind of mistake, not a number.
func TestReportedMistakesAreNotMade(t *testing.T) {
	for _, c := range []struct{ name, stored, rate, amount, pair, want string }{
		{"a rate of a half to three decimals", "GBP/BHD", "0.5", "1.00", "GBP/BHD", "0.500"},
		{"from three decimals to two", "TND/USD", "0.67138", "1.000", "TND/USD", "0.67"},
		{"from a currency used without cents", "TWD/USD", "0.03", "1000", "TWD/USD", "30.00"},
		{"a third is not cut", "EUR/USD", "1.5", "150", "USD/EUR", "100.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, rates.Options{})
			b.save(c.stored, c.rate)
			q := b.quote(c.pair)
			got, err := q.Convert(money.MustParse(c.amount, q.Base), money.HalfUp)
			if err != nil || got.Text() != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
	t.Run("a chain is multiplied, not divided", func(t *testing.T) {
		// One X is 100 USD, and one USD is 2 CCC: one X is 200 CCC, not 50.
		b := open(t, rates.Options{})
		b.save("XXX/USD", "100")
		b.save("USD/CCC", "2")
		q := b.quote("XXX/CCC")
		if q.Rate != decimal("200") || !slices.Equal(q.Via, []money.Currency{"USD"}) {
			t.Errorf("%+v", q)
		}
	})
	t.Run("two values in a row", func(t *testing.T) {
		b := open(t, rates.Options{})
		must[rates.Rate](t)(b.Save(t.Context(), b.rate("USD/EUR", "0.9968"), dayLong))
		b.pass(time.Second)
		_, err := b.Save(t.Context(), b.rate("USD/EUR", "0.8830"), dayLong)
		wants(t, err, rates.ErrJump, "before", "0.9968", "after", "0.883", "factor", "1.1")
	})
	t.Run("a base that the source does not publish", func(t *testing.T) {
		b := open(t, rates.Options{})
		b.at("2026-04-13T15:00:00Z")
		must[rates.Loaded](t)(b.Load(t.Context(), []rates.Day{
			day("2026-04-13", "USD 1.1684, ZAR 19.3849"),
		}, rates.LoadOptions{}))
		for _, pair := range []string{"ZAR/USD", "USD/ZAR"} {
			q := b.quote(pair)
			if !q.Derived || !slices.Equal(q.Via, []money.Currency{"EUR"}) || len(q.Legs) != 2 {
				t.Errorf("%+v", q)
			}
		}
	})
}

func TestACurrencyToItselfIsOne(t *testing.T) {
	b := open(t, rates.Options{})
	for _, pair := range []string{"EUR/EUR", "JPY/JPY", "HRK/HRK"} {
		q := b.quote(pair)
		if q.Rate != decimal("1") || q.Derived || q.Stale {
			t.Errorf("%+v", q)
		}
		amount := money.MustParse("-2800", q.Base)
		got := must[money.Amount](t)(q.Convert(amount, money.HalfUp))
		if got != amount {
			t.Errorf("%s becomes %s", amount, got)
		}
		on := b.quoteOn(pair, "2023-06-01")
		if on.Rate != decimal("1") {
			t.Errorf("%+v", on)
		}
	}
	calls := b.made()
	if slices.Contains(calls, "BatchGetItem") || slices.Contains(calls, "Query") {
		t.Errorf("it reads the tables: %v", calls)
	}
}

func TestWaysAreToldApart(t *testing.T) {
	b := open(t, rates.Options{StaleFor: 14 * dayLong})
	b.save("EUR/USD", "1.25")
	b.save("EUR/GBP", "0.8")
	type way struct {
		rate    string
		derived bool
		via     []money.Currency
		legs    []string
	}
	for pair, want := range map[string]way{
		"EUR/USD": {"1.25", false, nil, []string{"EUR/USD"}},
		"USD/EUR": {"0.8", true, nil, []string{"1/EUR/USD"}},
		"USD/GBP": {"0.64", true, []money.Currency{"EUR"}, []string{"1/EUR/USD", "EUR/GBP"}},
		"GBP/HRK": {"9.418125", true, []money.Currency{"EUR"}, []string{"1/EUR/GBP", "EUR/HRK"}},
		"ITL/USD": {"0.000645571123862", true, []money.Currency{"EUR"},
			[]string{"1/EUR/ITL", "EUR/USD"}},
	} {
		q := b.quote(pair)
		got := way{rate: q.Rate.String(), derived: q.Derived, via: q.Via}
		for _, l := range q.Legs {
			text := l.Pair.String()
			if l.Inverted {
				text = "1/" + text
			}
			got.legs = append(got.legs, text)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(way{})); diff != "" {
			t.Errorf("%s: %s", pair, diff)
		}
	}
	// The pair itself goes before a way round, also when it is worth something else.
	b.save("USD/GBP", "0.65")
	if q := b.quote("USD/GBP"); q.Derived || q.Rate != decimal("0.65") {
		t.Errorf("%+v", q)
	}
	// A fresh way round goes before a pair that is stale.
	b.pass(dayLong)
	b.save("EUR/USD", "1.25")
	b.save("EUR/GBP", "0.8")
	if q := b.quote("USD/GBP"); !q.Derived || q.Stale || q.Rate != decimal("0.64") {
		t.Errorf("%+v", q)
	}
}

func TestTheOlderLegCounts(t *testing.T) {
	b := open(t, rates.Options{StaleFor: 60 * dayLong})
	b.save("EUR/USD", "1.25")
	b.pass(12 * time.Hour)
	b.save("EUR/GBP", "0.8")
	q := b.quote("USD/GBP")
	if !q.AsOf.Equal(clockStart) || q.Age != 12*time.Hour || q.Stale || q.Apart != 0 {
		t.Errorf("%+v", q)
	}
	b.pass(12 * time.Hour) // Now the first leg is stale.
	if q := b.quote("USD/GBP"); !q.Stale {
		t.Errorf("%+v", q)
	}
	b.pass(8 * dayLong)
	b.save("EUR/GBP", "0.8")
	_, err := b.Quote(t.Context(), ask("USD/GBP"))
	wants(t, err, rates.ErrLegsApart, "older", "2024-01-01T00:00:00Z",
		"newer", "2024-01-10T00:00:00Z")
}

func TestQuestionsThatCannotBeAnswered(t *testing.T) {
	b := open(t, rates.Options{})
	_, err := b.Quote(t.Context(), ask("USD/EUR"))
	wants(t, err, rates.ErrNotFound, "pair", "USD/EUR")
	_, err = b.Quote(t.Context(), rates.Ask{Base: "usd", Target: ""})
	wants(t, err, rates.ErrInvalid)
	on := ask("USD/EUR")
	on.On = "2057-12-13"
	_, err = b.Quote(t.Context(), on)
	wants(t, err, rates.ErrFutureDate, "date", "2057-12-13")
	on.On = "2023-02-30"
	_, err = b.Quote(t.Context(), on)
	wants(t, err, rates.ErrInvalid)
	b.save("EUR/USD", "1.1")
	_, err = b.quote("EUR/USD").Convert(money.MustParse("1", "GBP"), money.HalfUp)
	wants(t, err, rates.ErrInvalid)
	huge := money.MustParse("99999999999999999999999999999999999999", "EUR")
	_, err = b.quote("EUR/USD").Convert(huge, money.HalfUp)
	wants(t, err, rates.ErrTooLarge)
}

func TestQuotesTakeOneBatchEach(t *testing.T) {
	b := open(t, rates.Options{})
	b.april()
	b.made()
	for pair, calls := range map[string]int{"EUR/USD": 1, "USD/EUR": 1, "USD/JPY": 2} {
		b.quote(pair)
		if made := b.made(); !storetest.Strict() && len(made) != calls {
			t.Errorf("%s makes %v, want %d calls", pair, made, calls)
		}
	}
}

// A walk round a circle of rates ends where it began, whatever the rates are and however they are
// stored.
func TestCirclesComeOutAtOne(t *testing.T) {
	codes := []string{"USD", "JPY", "GBP", "CHF", "BHD"}
	b := open(t, rates.Options{})
	rapid.Check(t, func(t *rapid.T) {
		for _, code := range codes {
			digits := rapid.IntRange(1, 9_999_999).Draw(t, "digits of "+code)
			rate, err := money.NewDecimal(int64(digits), rapid.IntRange(0, 7).Draw(t, "scale"))
			if err != nil {
				t.Fatal(err)
			}
			pair := "EUR/" + code
			if rapid.Bool().Draw(t, "inverse") {
				pair = code + "/EUR"
			}
			for _, p := range []string{pair, pairOf(pair).Inverse().String()} {
				if err := b.Delete(b.t.Context(), pairOf(p)); err != nil {
					t.Fatal(err)
				}
			}
			b.save(pair, rate.String())
		}
		walk := rapid.SliceOfN(rapid.SampledFrom(append([]string{"EUR"}, codes...)), 2, 4).
			Draw(t, "walk")
		product := b.quote(walk[len(walk)-1] + "/" + walk[0]).Ratio
		for i := 1; i < len(walk); i++ {
			var err error
			product, err = product.Mul(b.quote(walk[i-1] + "/" + walk[i]).Ratio)
			if err != nil {
				t.Skip("more digits than a number holds")
			}
		}
		if product.Above != product.Below {
			t.Fatalf("%v comes out at %s / %s", walk, product.Above, product.Below)
		}
	})
}

// At the five decimals of its parts, USD to GBP and back would come out at 0.99999126.
func TestThereAndBackIsOne(t *testing.T) {
	b := open(t, rates.Options{})
	b.april()
	there, back := b.quote("USD/GBP"), b.quote("GBP/USD")
	product := must[rates.Ratio](t)(there.Ratio.Mul(back.Ratio))
	if product.Decimal() != decimal("1") {
		t.Errorf("USD/GBP/USD is %s", product.Decimal())
	}
	if there.Ratio.Inverse() != back.Ratio {
		t.Errorf("%v and %v are not inverse", there.Ratio, back.Ratio)
	}
}

func TestRatiosAreShownInTwelveDigits(t *testing.T) {
	for _, c := range []struct{ above, below, want string }{
		{"1", "3", "0.333333333333"}, {"2", "3", "0.666666666667"}, {"1", "8", "0.125"},
		{"200", "3", "66.6666666667"}, {"1", "1936.27", "0.000516456899089"},
		{"1", "1000000", "0.000001"}, {"1000000", "7", "142857.142857"},
		{"1000000000000000", "7", "142857142857143"}, {"1.5", "1", "1.5"},
		{"1", "30000000000000000000000000", "0.0000000000000000000000000333333333333"},
	} {
		r := rates.Ratio{Above: decimal(c.above), Below: decimal(c.below)}
		if got := r.Decimal().String(); got != c.want {
			t.Errorf("%s / %s is shown as %s, want %s", c.above, c.below, got, c.want)
		}
	}
}
