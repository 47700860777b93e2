package rates_test

import (
	"errors"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// A store that is throttled has met no other writer; one that reports conflicts has.
func TestOnlyConflictsAreContended(t *testing.T) {
	b := open(t, rates.Options{})
	fault := func(kind engine.FaultKind) {
		t.Helper()
		storetest.SetFaults(t, b.db, engine.Faults{Rules: []engine.Fault{{Kind: kind}}})
	}
	once := singletable.NewStore(b.db, singletable.Options{
		Now: b.clock, Retry: singletable.Retry{Attempts: 1},
	})
	busy := must[*rates.Board](t)(rates.New(once, rates.Options{Now: b.clock}))
	ctx, pair := t.Context(), pairOf("EUR/USD")
	onDay := ask("EUR/USD")
	onDay.On = "2023-12-29"
	for _, c := range []struct {
		name      string
		contended bool
		do        func() error
	}{
		{"get", false, func() error { _, err := busy.Get(ctx, pair); return err }},
		{"list", false, func() error { _, err := busy.GetByBase(ctx, "EUR"); return err }},
		{"quote", false, func() error { _, err := busy.Quote(ctx, ask("EUR/USD")); return err }},
		{"quote of a day", false, func() error { _, err := busy.Quote(ctx, onDay); return err }},
		{"range", false, func() error {
			_, err := busy.Range(ctx, ask("EUR/USD"), "2023-12-01", "2023-12-31")
			return err
		}},
		{"save", true, func() error {
			_, err := busy.Save(ctx, b.rate("EUR/USD", "1.1"), time.Hour)
			return err
		}},
		{"mark", true, func() error { _, err := busy.MarkStale(ctx, pair); return err }},
		{"delete", true, func() error { return busy.Delete(ctx, pair) }},
		{"load", true, func() error {
			_, err := busy.Load(ctx, []rates.Day{day("2023-12-29", "USD 1.1")},
				rates.LoadOptions{Force: true})
			return err
		}},
	} {
		fault(engine.FaultThrottle)
		err := c.do()
		if !errors.Is(err, singletable.ErrThrottled) || errors.Is(err, rates.ErrContended) {
			t.Errorf("%s while it is throttled: %v", c.name, err)
		}
		fault(engine.FaultConflict)
		if err := c.do(); errors.Is(err, rates.ErrContended) != c.contended {
			t.Errorf("%s under conflicts: %v", c.name, err)
		}
	}
}

// Reads of the service that do not ask for consistency may be behind.
func TestAQuoteSeesWhatWasJustSaved(t *testing.T) {
	b := open(t, rates.Options{CacheFor: time.Minute})
	b.save("EUR/USD", "1.25")
	faults := storetest.Faults()
	faults.Rules = append(faults.Rules, engine.Fault{Kind: engine.FaultStaleRead, Held: true})
	storetest.SetFaults(t, b.db, faults)
	b.save("EUR/USD", "1.26")
	if q := b.quote("EUR/USD"); q.Rate != decimal("1.26") {
		t.Errorf("%+v", q)
	}
}
