package payments

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// Life is what one payment costs from its insertion to the history, in write units, under one
// projection of the index.
type Life struct {
	Projection Projection
	// Steps are in the order of life; each has the units of the scheduler's tables and indexes, and
	// not those of the ledger, which are the same for each projection.
	Steps []LifeStep
	// Ledger is what the transaction takes of the ledger's table.
	Ledger float64
}

// LifeStep is one part of a life.
type LifeStep struct {
	Name  string
	Units float64
}

// Total adds up the steps.
func (l Life) Total() float64 {
	sum := 0.0
	for _, s := range l.Steps {
		sum += s.Units
	}
	return sum
}

// Trial is an empty store on which a life is measured, by a clock of its own.
type Trial struct {
	Store *singletable.Store
	// Ensure creates the tables of a model.
	Ensure func(ctx context.Context, m *singletable.Model) error
}

// Lives measures the life of a payment of so many bytes under each projection: it lets one live on
// a store that open returns, and counts what the store reports for each step.
func Lives(
	ctx context.Context, size int, open func(now func() time.Time) (Trial, error),
) ([]Life, error) {
	var lives []Life
	for _, p := range [...]Projection{ProjectAll, ProjectNarrow, ProjectKeys} {
		l, err := live(ctx, p, size, open)
		if err != nil {
			return nil, fmt.Errorf("measure a payment's life with %s: %w", p, err)
		}
		lives = append(lives, l)
	}
	return lives, nil
}

// lifeOverhead is what of a payment's item is not data, about; lifeDay is when the measured ones
// live.
const lifeOverhead = 500

// The accounts and the amount of a life.
const (
	lifePayer = "payer"
	lifePayee = "payee"
)

var lifeAmount = money.MustParse("12.50", "NZD")

// newLife makes a ledger with two accounts and money, and a scheduler, on an empty store.
func newLife(
	ctx context.Context, p Projection, trial Trial, now func() time.Time,
) (*Scheduler, error) {
	books, err := ledger.New(trial.Store, ledger.Options{Now: now})
	if err != nil {
		return nil, err
	}
	s, err := New(trial.Store, books, Options{Projection: p, Now: now})
	if err != nil {
		return nil, err
	}
	for _, m := range [...]*singletable.Model{books.Model(), s.Model()} {
		if err := trial.Ensure(ctx, m); err != nil {
			return nil, err
		}
	}
	for _, id := range [...]ledger.AccountID{lifePayer, lifePayee} {
		if _, err := books.OpenAccount(ctx, ledger.NewAccount{
			ID: id, UserID: "u", AccountType: "checking", Currency: lifeAmount.Currency(),
		}); err != nil {
			return nil, err
		}
	}
	if _, err = books.Post(ctx, ledger.DepositInto(lifePayer, lifeAmount)); err != nil {
		return nil, err
	}
	_, err = stored(ctx, s) // It is written once for all payments.
	return s, err
}

// step measures one part of a life.
func (l *Life) step(ctx context.Context, s *Scheduler, name string,
	do func(ctx context.Context) error,
) error {
	ctx, meter := singletable.WithMeter(ctx)
	err := do(ctx)
	units, ledgers := 0.0, s.books.Table().Name()
	for place, used := range meter.ByTable() {
		if place == ledgers || strings.HasPrefix(place, ledgers+"/") {
			l.Ledger += used.Write
		} else {
			units += used.Write
		}
	}
	l.Steps = append(l.Steps, LifeStep{name, units})
	return err
}

func live(
	ctx context.Context, p Projection, size int, open func(now func() time.Time) (Trial, error),
) (out Life, err error) {
	clock := time.Date(2019, 9, 25, 1, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	trial, err := open(now)
	if err != nil {
		return out, err
	}
	s, err := newLife(ctx, p, trial, now)
	if err != nil {
		return out, err
	}
	out.Projection = p
	step := func(name string, do func(ctx context.Context) error) error {
		return out.step(ctx, s, name, do)
	}
	var id PaymentID
	if err := step("insert", func(ctx context.Context) error {
		r, err := s.Schedule(ctx, NewPayment{
			Key: "life", AccountID: lifePayer, PayeeID: lifePayee, Amount: lifeAmount, At: clock,
			Data: make([]byte, min(DataMax, max(0, size-lifeOverhead))),
		})
		id = r.ID
		return err
	}); err != nil {
		return out, err
	}
	m := modelOf(s)
	var claimed Payment
	if err := step("claim", func(ctx context.Context) (err error) {
		claimed, err = m.claim(ctx, s, paymentItem{AccountID: lifePayer, At: clock, ID: id})
		return err
	}); err != nil {
		return out, err
	}
	if err := step("settle", func(ctx context.Context) error {
		_, _, err := m.settle(ctx, s, claimed)
		return err
	}); err != nil {
		return out, err
	}
	clock = clock.Add(24 * time.Hour)
	mv := &move{s: s, m: m, day: "2019-09-25", created: totals{}}
	item, _, err := m.payments.Get(ctx, s.store, at(claimed), singletable.Consistent())
	if err != nil {
		return out, err
	}
	if err := step("copy to the history", func(ctx context.Context) error {
		return mv.copySome(ctx, []paymentItem{item})
	}); err != nil {
		return out, err
	}
	return out, step("remove", func(ctx context.Context) error {
		return mv.removeSome(ctx, []paymentItem{item})
	})
}
