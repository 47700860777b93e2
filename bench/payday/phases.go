package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// day is the system with the day's payments in it.
type day struct {
	settings
	workload
	dir       string
	db        *engine.DB
	books     *ledger.Ledger
	scheduler *payments.Scheduler
}

// openDay opens the system on a new store, with default options, and its accounts.
func openDay(ctx context.Context, s settings, dir string) (*day, error) {
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	d := &day{
		settings: s, dir: dir,
		// Yesterday, since a day is archived when it is over.
		workload: workload{payers: s.payers, day: midnight.AddDate(0, 0, -1)},
	}
	var err error
	if d.db, err = engine.Open(dir, engine.Options{}); err != nil {
		return nil, err
	}
	if err = d.build(ctx); err == nil {
		err = d.openAccounts(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *day) build(ctx context.Context) (err error) {
	store := singletable.NewStore(d.db, singletable.Options{})
	if d.books, err = ledger.New(store, ledger.Options{}); err != nil {
		return err
	}
	if d.scheduler, err = payments.New(store, d.books, payments.Options{}); err != nil {
		return err
	}
	return errors.Join(d.books.Model().Ensure(ctx, d.db), d.scheduler.Model().Ensure(ctx, d.db))
}

func (d *day) close() error { return d.db.Close() }

// openAccounts opens the accounts, those of payers with enough money.
func (d *day) openAccounts(ctx context.Context) error {
	amount, err := money.FromMinor(openingMinor, currency)
	if err != nil {
		return err
	}
	open := func(id ledger.AccountID) error {
		_, err := d.books.OpenAccount(ctx, ledger.NewAccount{
			ID: id, UserID: ledger.UserID("user-" + id), AccountType: "checking",
			Currency: currency,
		})
		return err
	}
	for i := range hotPayees {
		if err := open(hotID(i)); err != nil {
			return err
		}
	}
	for i := range merchants {
		if err := open(settlementID(i)); err != nil {
			return err
		}
		_, err := d.books.CreateMerchant(ctx, ledger.NewMerchant{
			ID: merchantID(i), Name: "Shop", Category: "shop", SettlementAccountID: settlementID(i),
		})
		if err != nil {
			return err
		}
	}
	return each(ctx, d.callers, d.settings.payers, nil, func(_ []byte, i int) error {
		if err := open(payerID(i)); err != nil {
			return err
		}
		_, err := d.books.Post(ctx, ledger.TransferBetween(ledger.Opening, payerID(i), amount))
		return err
	})
}

// pass takes the day through its phases, and measures each.
func (d *day) pass(ctx context.Context, r *report, progress io.Writer) error {
	for _, step := range []struct {
		name string
		do   func(context.Context, *gauge) error
	}{
		{phaseInsert, d.insert}, {phaseRun, d.settle}, {phaseArchive, d.archive},
		{phaseCheck, d.check},
	} {
		if err := d.measured(ctx, step.name, r, progress, step.do); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// The phases of the day.
const (
	phaseInsert  = "insert"
	phaseRun     = "run"
	phaseArchive = "archive"
	phaseCheck   = "check"
)

func (d *day) measured(
	ctx context.Context, name string, r *report, progress io.Writer,
	do func(context.Context, *gauge) error,
) error {
	if d.profile != "" {
		file, err := createProfile(d.profile, name)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	g := newGauge(name, d.payments, d.dir, progress)
	err := do(ctx, g)
	r.add(g.end())
	return err
}

// insert schedules all payments, by many callers.
func (d *day) insert(ctx context.Context, g *gauge) error {
	return each(ctx, d.inserters, d.payments, g, func(data []byte, number int) error {
		n, err := d.order(number).request(data[:dataSize])
		if err != nil {
			return err
		}
		receipt, err := d.scheduler.Schedule(ctx, n)
		if err == nil && receipt.Replayed {
			err = fmt.Errorf("payment %d was there already", number)
		}
		return err
	})
}

// settle runs all payments through the ledger.
func (d *day) settle(ctx context.Context, g *gauge) error {
	done, err := d.scheduler.Run(ctx, payments.RunOptions{
		Callers:  d.callers,
		Progress: func(r payments.Report) { g.done.Store(int64(r.Paid)) },
	})
	if err == nil && done.Paid != d.payments {
		err = fmt.Errorf("%d of %d payments were paid; %d failed, %d postponed", done.Paid,
			d.payments, done.Failed, done.Postponed)
	}
	return err
}

// archive moves the day into the history. Copying is half of it, removing the other.
func (d *day) archive(ctx context.Context, g *gauge) error {
	moved, err := d.scheduler.MoveDay(ctx, d.day.Format(time.DateOnly), time.UTC,
		func(p payments.MoveProgress) { g.done.Store(int64(p.Copied+p.Removed) / 2) })
	if err != nil {
		return err
	}
	return d.checkMoved(moved)
}

// each calls do with the numbers from 0 to count-1, in several goroutines, until one fails. Every
// goroutine has its own buffer.
func each(
	ctx context.Context, callers, count int, g *gauge, do func(data []byte, number int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(callers, count) {
		all.Go(func() {
			data := make([]byte, payloadSize)
			for ctx.Err() == nil {
				number := int(next.Add(1)) - 1
				if number >= count {
					return
				}
				if err := do(data, number); err != nil {
					cancel(err)
					return
				}
				if g != nil {
					g.done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
