package rates_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

const dayLong = 24 * time.Hour

// The clock goes through the whole life of a rate, while the item stays in the table.
func TestEachInstantHasItsAnswer(t *testing.T) {
	for _, c := range []struct {
		name     string
		staleFor time.Duration
		after    time.Duration
		state    rates.State // what GetStale says; Gone stands for ErrUnavailable
	}{
		{"at once", 14 * dayLong, 0, rates.Fresh},
		{"in the last second of freshness", 14 * dayLong, dayLong - time.Second, rates.Fresh},
		{"when it stops being fresh", 14 * dayLong, dayLong, rates.Stale},
		{"in the last second before the ttl", 14 * dayLong, 15*dayLong - time.Second, rates.Stale},
		{"at the ttl, not swept yet", 14 * dayLong, 15 * dayLong, rates.Stale},
		{"in the last second of the sweep", 14 * dayLong, 17*dayLong - time.Second, rates.Stale},
		{"after the sweep should be over", 14 * dayLong, 17 * dayLong, rates.Gone},
		{"years later", 14 * dayLong, 2000 * dayLong, rates.Gone},
		{"seed: fresh", 0, dayLong - time.Second, rates.Fresh},
		{"seed: at the ttl, not swept yet", 0, dayLong, rates.Stale},
		{"seed: in the last second of the sweep", 0, 3*dayLong - time.Second, rates.Stale},
		{"seed: after the sweep should be over", 0, 3 * dayLong, rates.Gone},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, rates.Options{StaleFor: c.staleFor})
			b.save("USD/EUR", "0.85")
			b.pass(c.after)
			pair := pairOf("USD/EUR")

			r, err := b.Get(t.Context(), pair)
			if c.state == rates.Fresh {
				if err != nil || r.Value != decimal("0.85") {
					t.Errorf("Get: %v, %v", r, err)
				}
			} else {
				wants(t, err, rates.ErrNotFresh)
			}

			r, state, err := b.GetStale(t.Context(), pair)
			if c.state == rates.Gone {
				wants(t, err, rates.ErrUnavailable)
			} else if err != nil || state != c.state || !r.AsOf.Equal(clockStart) {
				t.Errorf("GetStale: %v %s, %v; want %s", r, state, err, c.state)
			}

			if !storetest.Strict() { // The index may be behind.
				list := must[[]rates.Rate](t)(b.GetByBase(t.Context(), "USD"))
				if (len(list) == 1) != (c.state == rates.Fresh) {
					t.Errorf("GetByBase: %v", list)
				}
				list = must[[]rates.Rate](t)(b.GetStaleByBase(t.Context(), "USD"))
				if (len(list) == 1) != (c.state != rates.Gone) {
					t.Errorf("GetStaleByBase: %v", list)
				}
			}

			q, err := b.Quote(t.Context(), ask("USD/EUR"))
			switch {
			case c.state == rates.Gone:
				wants(t, err, rates.ErrUnavailable)
				if problem.KindOf(err) != problem.Unavailable {
					t.Errorf("%v is no 503", err)
				}
			case err != nil || q.Stale != (c.state == rates.Stale) || q.Age != c.after ||
				!q.AsOf.Equal(clockStart):
				t.Errorf("Quote: %+v, %v", q, err)
			}
			only := ask("USD/EUR")
			only.FreshOnly = true
			if _, err := b.Quote(t.Context(), only); c.state == rates.Stale {
				wants(t, err, rates.ErrNotFresh)
			}
		})
	}
}

func TestTheStoreSweepsWhatHasExpired(t *testing.T) {
	b := open(t, rates.Options{StaleFor: 14 * dayLong})
	embedded := storetest.Embedded(t, b.db) // It alone sweeps when it is told to.
	b.save("USD/EUR", "0.85")
	b.pass(15*dayLong + time.Minute)
	if _, err := embedded.ExpireNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.item("ExchangeRates", "RATE#USD#EUR", "") != nil {
		t.Fatal("the item is still there")
	}
	_, _, err := b.GetStale(t.Context(), pairOf("USD/EUR"))
	wants(t, err, rates.ErrNotFound)
	_, err = b.Quote(t.Context(), ask("USD/EUR"))
	wants(t, err, rates.ErrNotFound)
}

func TestAMarkedRateIsStaleUntilTheNextSave(t *testing.T) {
	b := open(t, rates.Options{StaleFor: 14 * dayLong})
	_, err := b.MarkStale(t.Context(), pairOf("USD/EUR"))
	wants(t, err, rates.ErrNotFound)
	b.save("USD/EUR", "0.85")
	if r := must[rates.Rate](t)(b.MarkStale(t.Context(), pairOf("USD/EUR"))); !r.Stale {
		t.Errorf("%+v", r)
	}
	_, err = b.Get(t.Context(), pairOf("USD/EUR"))
	wants(t, err, rates.ErrNotFresh)
	if q := b.quote("USD/EUR"); !q.Stale || q.Rate != decimal("0.85") {
		t.Errorf("%+v", q)
	}
	b.save("USD/EUR", "0.86")
	if q := b.quote("USD/EUR"); q.Stale || q.Rate != decimal("0.86") {
		t.Errorf("%+v", q)
	}
}

// Other programs may leave the ttl out, or write milliseconds, which is a time that never comes.
func TestAnItemWithoutTimesIsStaleAndThenGone(t *testing.T) {
	for _, c := range []struct {
		name     string
		staleFor time.Duration
		ttl      string // "" is none
		after    time.Duration
		state    rates.State
	}{
		{"no ttl", 14 * dayLong, "", 0, rates.Stale},
		{"no ttl, at the end", 14 * dayLong, "", 16*dayLong - time.Second, rates.Stale},
		{"no ttl, after it", 14 * dayLong, "", 16 * dayLong, rates.Gone},
		{"seed: no ttl", 0, "", 2*dayLong - time.Second, rates.Stale},
		{"seed: no ttl, after it", 0, "", 2 * dayLong, rates.Gone},
		{"milliseconds", 14 * dayLong, "1704153600000", 0, rates.Stale},
		{"milliseconds, at the end", 14 * dayLong, "1704153600000", 16*dayLong - time.Second,
			rates.Stale},
		{"milliseconds, after it", 14 * dayLong, "1704153600000", 16 * dayLong, rates.Gone},
		{"ten years, of a pegged rate", 14 * dayLong, "2020377600", 3000 * dayLong, rates.Fresh},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, rates.Options{StaleFor: c.staleFor})
			item := seedItem()
			delete(item, "ttl")
			if c.ttl != "" {
				item["ttl"] = dynamo.N(c.ttl)
			}
			b.put("ExchangeRates", item)
			b.pass(c.after)
			r, state, err := b.GetStale(t.Context(), pairOf("USD/EUR"))
			if c.state == rates.Gone {
				wants(t, err, rates.ErrUnavailable)
				_, err = b.Quote(t.Context(), ask("USD/EUR"))
				wants(t, err, rates.ErrUnavailable)
				return
			}
			if err != nil || state != c.state || r.Expires.Year() > 9999 {
				t.Errorf("%+v %s, %v", r, state, err)
			}
			if q := b.quote("USD/EUR"); q.Stale != (c.state == rates.Stale) {
				t.Errorf("%+v", q)
			}
		})
	}
}

func TestIntakeRefusesWhatCannotBeRight(t *testing.T) {
	b := open(t, rates.Options{})
	b.save("USD/EUR", "0.9968")
	edit := func(pair, value string, change func(*rates.Rate)) rates.Rate {
		r := b.rate(pair, value)
		if change != nil {
			change(&r)
		}
		return r
	}
	for _, c := range []struct {
		name   string
		rate   rates.Rate
		want   *problem.Definition
		forced bool // whether force helps
	}{
		{"zero", edit("USD/GBP", "0", nil), rates.ErrNotPositive, false},
		{"negative", edit("USD/GBP", "-0.75", nil), rates.ErrNotPositive, false},
		{"no code", edit("USD/gbp", "0.75", nil), rates.ErrInvalid, false},
		{"the same currency", edit("USD/USD", "1", nil), rates.ErrInvalid, false},
		{"no instant", edit("USD/GBP", "0.75", func(r *rates.Rate) { r.AsOf = time.Time{} }),
			rates.ErrInvalid, false},
		{"too many digits", edit("USD/GBP", "0.123456789012345678", nil), rates.ErrInvalid, false},
		{"an unknown code", edit("USD/XYZ", "0.75", nil), rates.ErrUnknownCode, true},
		{"the far future", edit("USD/GBP", "0.75", func(r *rates.Rate) {
			r.AsOf = r.AsOf.Add(49 * time.Hour)
		}), rates.ErrFarFuture, true},
		{"a jump down of a third, then", edit("USD/EUR", "0.66", nil), rates.ErrJump, true},
		{"a jump up", edit("USD/EUR", "1.35", nil), rates.ErrJump, true},
		{"a point in the wrong place", edit("USD/EUR", "99.68", nil), rates.ErrJump, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.Save(t.Context(), c.rate, time.Hour)
			wants(t, err, c.want)
			if c.want == rates.ErrJump { // The earlier value stays.
				if q := b.quote("USD/EUR"); q.Rate != decimal("0.9968") {
					t.Errorf("it was saved: %s", q.Rate)
				}
			}
			_, err = b.Save(t.Context(), c.rate, time.Hour, rates.Force())
			if c.forced != (err == nil) {
				t.Errorf("by force: %v", err)
			}
			if !c.forced {
				wants(t, err, c.want)
			}
			b.save("USD/EUR", "0.9968")
		})
	}
	// 1.3 times is just within the factor, after an hour. Within it the factor is 1.1.
	_, err := b.Save(t.Context(), b.rate("USD/EUR", "1.29584"), time.Hour)
	wants(t, err, rates.ErrJump, "factor", "1.1")
	b.pass(time.Hour)
	must[rates.Rate](t)(b.Save(t.Context(), b.rate("USD/EUR", "1.29584"), time.Hour))
}

func TestAnOlderRateNeverReplacesANewerOne(t *testing.T) {
	b := open(t, rates.Options{})
	newer, older := b.rate("USD/EUR", "0.86"), b.rate("USD/EUR", "0.85")
	older.AsOf = older.AsOf.Add(-time.Second)
	must[rates.Rate](t)(b.Save(t.Context(), newer, time.Hour))
	for _, opts := range [][]rates.SaveOption{nil, {rates.Force()}} {
		_, err := b.Save(t.Context(), older, time.Hour, opts...)
		wants(t, err, rates.ErrOlder, "stored", "2024-01-01T00:00:00Z",
			"given", "2023-12-31T23:59:59Z")
	}
	if q := b.quote("USD/EUR"); q.Rate != decimal("0.86") {
		t.Errorf("%+v", q)
	}
	// The same rate again is a refresh, and keeps it fresh for longer.
	b.pass(30 * time.Minute)
	r := must[rates.Rate](t)(b.Save(t.Context(), newer, time.Hour))
	if !r.Expires.Equal(clockStart.Add(90 * time.Minute)) {
		t.Errorf("%+v", r)
	}
}

// Pollers save in any order at the same time; the newest rate remains.
func TestOfManySaversTheNewestRemains(t *testing.T) {
	b := open(t, rates.Options{})
	rapid.Check(t, func(t *rapid.T) {
		if err := b.Delete(b.t.Context(), pairOf("USD/EUR")); err != nil {
			t.Fatal(err)
		}
		offsets := rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 2, 8, rapid.ID[int]).
			Draw(t, "offsets")
		newest := 0
		results := make(chan error, len(offsets))
		for _, offset := range offsets {
			newest = max(newest, offset)
			r := b.rate("USD/EUR", "0.85")
			r.AsOf = r.AsOf.Add(time.Duration(offset) * time.Second)
			go func() {
				_, err := b.Save(b.t.Context(), r, time.Hour)
				results <- err
			}()
		}
		for range offsets {
			if err := <-results; err != nil && !errors.Is(err, rates.ErrOlder) {
				t.Fatal(err)
			}
		}
		r, err := b.Get(b.t.Context(), pairOf("USD/EUR"))
		if want := clockStart.Add(time.Duration(newest) * time.Second); err != nil ||
			!r.AsOf.Equal(want) {
			t.Fatalf("%v of %v remains, %v; want %v", r.Value, r.AsOf, err, want)
		}
	})
}

func TestJitterMovesTheExpiryAlone(t *testing.T) {
	b := open(t, rates.Options{StaleFor: dayLong, Jitter: time.Hour})
	seen := map[time.Time]bool{}
	for range 50 {
		r := must[rates.Rate](t)(b.Save(t.Context(), b.rate("USD/EUR", "0.85"), dayLong))
		if !r.FreshUntil.Equal(clockStart.Add(dayLong)) {
			t.Fatalf("fresh until %s", r.FreshUntil)
		}
		over := r.Expires.Sub(clockStart.Add(2 * dayLong))
		if over < 0 || over > time.Hour {
			t.Fatalf("expires %s late", over)
		}
		seen[r.Expires] = true
	}
	if len(seen) < 2 {
		t.Error("there is no jitter")
	}
	if _, err := rates.New(b.store, rates.Options{Jitter: time.Hour}); err == nil {
		t.Error("a jitter without StaleFor is taken")
	}
}

func TestASpoiltItemIsNamed(t *testing.T) {
	b := open(t, rates.Options{})
	item := seedItem()
	item["Rate"] = dynamo.N("0")
	b.put("ExchangeRates", item)
	for _, pair := range []string{"USD/EUR", "EUR/USD"} {
		_, err := b.Quote(t.Context(), ask(pair))
		if bad, ok := singletable.AsUnreadable(err); !ok || bad.Attribute != "Rate" {
			t.Errorf("%s: %v, want the attribute Rate by name", pair, err)
		}
	}
}
