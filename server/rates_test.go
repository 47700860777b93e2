package server_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// rateDay is what a source has published for a day.
func rateDay(date api.Date, pairs ...string) api.RateDay {
	d := api.RateDay{
		Date: date, Base: "EUR", Source: "ecb", Rates: map[money.Currency]money.Decimal{},
	}
	for i := 0; i < len(pairs); i += 2 {
		d.Rates[money.Currency(pairs[i])] = money.MustParse(pairs[i+1], "USD").Units()
	}
	return d
}

func decimalOf(t *testing.T, text string) money.Decimal {
	return must[money.Decimal](t)(money.ParseDecimal(text))
}

func TestRatesOverTheAPI(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	loaded := ratesOfApril(t, w)
	if loaded.Days != 2 || loaded.Rates != 5 || loaded.Current != 3 || loaded.RefusedCount != 1 ||
		loaded.Refused[0].Code != rates.ErrUnknownCode.Code() {
		t.Fatalf("%+v", loaded)
	}
	t.Run("a derived rate tells what it is made of", func(t *testing.T) {
		q := must[api.Quote](t)(w.Rates().Get(ctx, api.RateQuery{Base: "USD", Target: "JPY"}))
		if q.Rate.String() != "159.833960972" || q.Above.String() != "186.75" ||
			q.Below.String() != "1.1684" || !q.Derived || len(q.Legs) != 2 || q.Stale ||
			!q.Legs[0].Inverted || q.Source != "ecb" {
			t.Errorf("%+v", q)
		}
	})
	t.Run("amounts are converted without rounding on the way", func(t *testing.T) {
		c := must[api.Conversion](t)(w.Rates().Convert(ctx, api.ConvertQuery{
			RateQuery: api.RateQuery{Base: "USD", Target: "JPY"}, Amount: "1000000",
		}))
		if c.Converted != "159833961" || c.Rounding != "half up" {
			t.Errorf("%+v", c)
		}
		c = must[api.Conversion](t)(w.Rates().Convert(ctx, api.ConvertQuery{
			RateQuery: api.RateQuery{Base: "ITL", Target: "FRF"}, Amount: "1000",
		}))
		if c.Converted != "3.38" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("the rate of a date has its own date", func(t *testing.T) {
		q := must[api.Quote](t)(w.Rates().Get(ctx, api.RateQuery{
			Base: "EUR", Target: "USD", On: "2026-04-12",
		}))
		if q.Date != "2026-04-10" || q.On != "2026-04-12" || q.Rate.String() != "1.1711" {
			t.Errorf("%+v", q)
		}
		history := must[[]api.Quote](t)(w.Rates().History(ctx, api.RateHistoryQuery{
			Base: "EUR", Target: "USD", From: "2026-04-11", To: "2026-04-13",
		}))
		if len(history) != 2 || history[0].Date != "2026-04-10" {
			t.Errorf("%+v", history)
		}
	})
	t.Run("the future is a bad request", func(t *testing.T) {
		got := w.send(get, "/v1/rates/EUR/USD?date=2057-12-13", "")
		if got.status != http.StatusBadRequest ||
			!strings.Contains(got.body, "rate_date_in_future") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a rate is saved, listed and deleted", func(t *testing.T) {
		r := must[api.Rate](t)(w.Rates().Save(ctx, "NZD", "AUD", api.NewRate{
			Rate: decimalOf(t, "0.91"), TTLSeconds: 60,
		}))
		now := w.clock.Now().Truncate(time.Second)
		if r.State != api.RateFresh || r.FreshUntil.Sub(now) != time.Minute {
			t.Errorf("%+v", r)
		}
		_, err := w.Rates().Save(ctx, "NZD", "AUD", api.NewRate{
			Rate: decimalOf(t, "9.1"),
		})
		if !errors.Is(err, rates.ErrJump) {
			t.Error(err)
		}
		_, err = w.Rates().Save(ctx, "NZD", "AUD", api.NewRate{
			Rate: decimalOf(t, "0.91"),
			AsOf: api.At(w.clock.Now().Add(-time.Hour)),
		})
		if !errors.Is(err, rates.ErrOlder) {
			t.Error(err)
		}
		if list := must[[]api.Rate](t)(w.Rates().OfBase(ctx, api.BaseQuery{Base: "NZD"})); len(
			list,
		) != 1 {
			t.Errorf("%+v", list)
		}
		n := 0
		for _, err := range w.Rates().All(ctx, client.PageQuery{Limit: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 4 {
			t.Errorf("%d rates", n)
		}
		for range 2 {
			if err := w.Rates().Delete(ctx, "NZD", "AUD"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Rates().Get(ctx, api.RateQuery{Base: "NZD", Target: "AUD"}); !errors.Is(err,
			rates.ErrNotFound) {
			t.Error(err)
		}
	})
}

// ratesOfApril takes in what was published on 13 April 2026, the day that the clock is set to.
func ratesOfApril(t *testing.T, w *world) api.LoadedRates {
	w.clock.set(time.Date(2026, time.April, 13, 15, 0, 0, 0, time.UTC))
	return must[api.LoadedRates](t)(w.Rates().Load(t.Context(), api.RateDays{
		Days: []api.RateDay{
			rateDay("2026-04-13", "USD", "1.1684", "JPY", "186.75", "GBP", "0.87058"),
			rateDay("2026-04-10", "USD", "1.1711", "JPY", "186.43", "XBT", "0.00001"),
		},
	}))
}

func TestTheHealthOfRatesOverTheAPI(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	ratesOfApril(t, w)
	t.Run("nothing is fetched unless the server was told to", func(t *testing.T) {
		got := w.send(post, "/v1/rates/fetch", "")
		if got.status != http.StatusUnprocessableEntity ||
			!strings.Contains(got.body, "rate_source_missing") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("stale rates are served so until they are too old", func(t *testing.T) {
		if h := must[api.RatesHealth](t)(w.Rates().Health(ctx)); h.Status != "ok" || h.Fresh != 3 {
			t.Errorf("%+v", h)
		}
		w.clock.set(time.Date(2026, time.April, 20, 15, 0, 0, 0, time.UTC))
		q := must[api.Quote](t)(w.Rates().Get(ctx, api.RateQuery{Base: "USD", Target: "JPY"}))
		if !q.Stale || q.AgeSeconds != (7*24+1)*3600 {
			t.Errorf("%+v", q)
		}
		_, err := w.Rates().Get(ctx, api.RateQuery{Base: "USD", Target: "JPY", Fresh: true})
		if !errors.Is(err, rates.ErrNotFresh) {
			t.Error(err)
		}
		h := must[api.RatesHealth](t)(w.Rates().Health(ctx))
		if h.Status != "stale" || h.Stale != 3 || h.AgeSeconds == 0 || h.Fetches != nil {
			t.Errorf("%+v", h)
		}
		metrics := w.send(get, "/metrics", "").body
		for _, line := range []string{
			`exchequer_rates{state="stale"} 3`, "exchequer_rates_age_seconds 608400",
		} {
			if !strings.Contains(metrics, line) {
				t.Errorf("the metrics have no %s", line)
			}
		}
		w.clock.set(time.Date(2026, time.May, 20, 15, 0, 0, 0, time.UTC))
		got := w.send(get, "/v1/rates/USD/JPY", "")
		if got.status != http.StatusServiceUnavailable && got.status != http.StatusNotFound {
			t.Errorf("%+v", got)
		}
	})
}

func TestExchangesOverTheAPI(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	for id, code := range map[client.AccountID]money.Currency{"usd": "USD", "jpy": "JPY"} {
		must[client.AccountReceipt](t)(w.OpenAccount(ctx, client.NewAccount{
			ID: id, UserID: "alice", AccountType: "checking", Currency: code,
		}))
	}
	must[client.Receipt](t)(w.Post(ctx, client.Posting{
		Type: client.Deposit, To: "usd", Amount: money.MustParse("1000", "USD"),
	}))
	request := client.Exchanging{
		IdempotencyKey: "x-1", From: "usd", To: "jpy", Sold: money.MustParse("100", "USD"),
	}
	if _, err := w.Exchange(ctx, request); !errors.Is(err, rates.ErrNotFound) {
		t.Fatal(err)
	}
	save := func(rate string) {
		must[api.Rate](t)(w.Rates().Save(ctx, "USD", "JPY", api.NewRate{
			Rate: decimalOf(t, rate), TTLSeconds: 3600, Source: "desk",
		}))
	}
	save("159.835")
	first := must[client.Receipt](t)(w.Exchange(ctx, request))
	notes := first.Transaction.Metadata
	if first.Replayed || len(first.Legs) != 4 || notes["exchange.rate"] != "159.835" ||
		notes["exchange.source"] != "desk" {
		t.Errorf("%+v", first)
	}
	a := must[client.Account](t)(w.Account(ctx, "jpy"))
	if a.Balance != money.MustParse("15984", "JPY") {
		t.Errorf("%+v", a)
	}
	save("150")
	w.clock.set(w.clock.Now().Add(2 * time.Hour))
	// The rate is stale, and yet a repeat is answered.
	again := must[client.Receipt](t)(w.Exchange(ctx, request))
	if !again.Replayed || again.Transaction.ID != first.Transaction.ID {
		t.Errorf("%+v", again)
	}
	request.IdempotencyKey = "x-2"
	if _, err := w.Exchange(ctx, request); !errors.Is(err, rates.ErrNotFresh) {
		t.Error(err)
	}
	request.AllowStale = true
	must[client.Receipt](t)(w.Exchange(ctx, request))
	request.IdempotencyKey, request.Rate = "x-3", decimalOf(t, "151.239")
	request.Bought = money.MustParse("15123", "JPY")
	agreed := must[client.Receipt](t)(w.Exchange(ctx, request))
	if agreed.Transaction.Metadata["exchange.rounding"] != "0.9" || len(agreed.Legs) != 5 {
		t.Errorf("%+v", agreed)
	}
	request.IdempotencyKey, request.To = "x-4", "nobody"
	request.Into = "JPY"
	if _, err := w.Exchange(ctx, request); !errors.Is(err, ledger.ErrAccountNotFound) {
		t.Error(err)
	}
}

// A server that was told of a source fetches what it is asked for and does not have, and keeps what
// it has when the source fails.
func TestRatesAreFetchedOverTheAPI(t *testing.T) {
	var answer atomic.Value
	answer.Store("Date, USD, \n13 April 2026, 1.1684, \n")
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answer.Load().(string))
	}))
	defer source.Close()
	w := start(t, func(o *server.Options) {
		o.FetchRates.Source = source.URL + "/rates.csv?key=secret"
	})
	ctx := t.Context()
	w.clock.set(time.Date(2026, time.April, 13, 15, 0, 0, 0, time.UTC))
	q := must[api.Quote](t)(w.Rates().Get(ctx, api.RateQuery{Base: "USD", Target: "EUR"}))
	if q.Stale || q.Legs[0].Rate.String() != "1.1684" {
		t.Errorf("%+v", q)
	}
	answer.Store("<html><body>Sorry</body></html>")
	_, err := w.Rates().Fetch(ctx)
	if !errors.Is(err, rates.ErrFetchFailed) {
		t.Fatal(err)
	}
	q = must[api.Quote](t)(w.Rates().Get(ctx, api.RateQuery{Base: "USD", Target: "EUR"}))
	h := must[api.RatesHealth](t)(w.Rates().Health(ctx))
	if h.Status != "stale" || h.Fetches == nil || h.Fetches.Failures != 1 ||
		!strings.Contains(h.Fetches.Problem, "it begins with <html>") ||
		strings.Contains(h.Fetches.Source, "secret") {
		t.Errorf("%+v", h)
	}
	if !q.Stale || q.Legs[0].Rate.String() != "1.1684" {
		t.Errorf("%+v", q)
	}
	answer.Store("Date, USD, \n13 April 2026, 1.1685, \n")
	loaded := must[api.LoadedRates](t)(w.Rates().Fetch(ctx))
	if loaded.Current != 1 {
		t.Errorf("%+v", loaded)
	}
	q = must[api.Quote](t)(w.Rates().Get(ctx, api.RateQuery{Base: "USD", Target: "EUR"}))
	if q.Stale || q.Legs[0].Rate.String() != "1.1685" {
		t.Errorf("%+v", q)
	}
}

func TestRatesGiveCoinsRoundedOnce(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	w.clock.set(time.Date(2026, time.April, 13, 15, 0, 0, 0, time.UTC))
	must[api.LoadedRates](t)(w.Rates().Load(ctx, api.RateDays{Days: []api.RateDay{
		rateDay("2026-04-13", "SEK", "10.496", "NZD", "1.046", "USD", "1.2"),
	}}))
	for _, c := range []struct{ amount, from, into, rounding, want string }{
		{"1", "EUR", "SEK", "", "10.00"},
		{"1", "EUR", "SEK", "up", "11.00"},
		{"1", "EUR", "NZD", "", "1.00"},
		{"1.26", "USD", "NZD", "half-even", "1.10"},
		{"1.04", "NZD", "NZD", "", "1.00"},
	} {
		got := must[api.Conversion](t)(w.Rates().Convert(ctx, api.ConvertQuery{
			RateQuery: api.RateQuery{
				Base: money.Currency(c.from), Target: money.Currency(c.into),
			},
			Cash: true, Amount: api.Amount(c.amount), Rounding: c.rounding,
		}))
		if string(got.Converted) != c.want || !got.Cash {
			t.Errorf("%s %s is %s %s, want %s", c.amount, c.from, got.Converted, c.into, c.want)
		}
	}
}

func TestRatesConvertRowsExactly(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	w.clock.set(time.Date(2026, time.April, 13, 15, 0, 0, 0, time.UTC))
	must[api.LoadedRates](t)(w.Rates().Load(ctx, api.RateDays{Days: []api.RateDay{
		rateDay("2026-04-13", "USD", "1.2"),
	}}))
	w.everyday()
	must[client.BankTransactionReceipt](
		t,
	)(
		w.AddBankTransaction(ctx, "everyday", client.NewBankTransaction{
			Date: "2026-04-13", Amount: decimalOf(t, "-0.09"), Currency: "USD",
		}),
	)
	s := must[client.Spending](t)(w.Spending(ctx, client.ReportQuery{
		From: "2026-04-01", To: "2026-04-30", Currency: "EUR",
	}))
	// It is 0.075, exactly in the middle; at a rate of twelve digits it would be less.
	if out := s.Currencies[0].Total.Out.String(); out != "-0.08" ||
		s.Converted.Rates[0].Rate.String() != "0.833333333333" {
		t.Errorf("%s, %+v", out, s.Converted)
	}
}

func TestRatesNameWhatIsWrongWithTheDayOfAnExchange(t *testing.T) {
	w := start(t)
	got := w.send(post, "/v1/transactions/exchange", `{"from":"a","to":"b","amount":"1",`+
		`"currency":"USD","into":"EUR","date":"2026-13-45"}`, "Idempotency-Key", "x-1")
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, "request_invalid") {
		t.Errorf("%+v", got)
	}
}
