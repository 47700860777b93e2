package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

const (
	// dataSize is the most that a payment carries. With it, an item is of payloadSize when it is
	// inserted and stays within itemMax, the design's 8 KB, when it is processed.
	dataSize    = payments.DataMax
	payloadSize = 7_400
	itemMax     = 8_192
	// weighed is how many items are looked at as they are stored.
	weighed = 100
)

// checkMoved compares the scheduler's history with the workload.
func (d *day) checkMoved(moved payments.MovedDay) error {
	var sum int64
	for i := range d.payments {
		sum += d.order(i).minor
	}
	if !moved.Moved || moved.Copied != d.payments || moved.Removed != d.payments ||
		len(moved.Totals) != 1 || moved.Totals[0].Status != payments.Processed ||
		moved.Totals[0].Count != d.payments {
		return fmt.Errorf("the day of %d payments was not moved whole: %+v", d.payments, moved)
	}
	minor, err := moved.Totals[0].Sum.Minor()
	if err == nil && minor != sum {
		err = fmt.Errorf("the history has %d cents, the payments were %d", minor, sum)
	}
	return err
}

// check looks every payment up where it must be, and at every balance.
func (d *day) check(ctx context.Context, g *gauge) error {
	balances := d.newBalances()
	err := each(ctx, d.callers, d.payments, g, func(data []byte, number int) error {
		o := d.order(number)
		balances.pay(o)
		if err := d.checkOne(ctx, o); err != nil {
			return fmt.Errorf("payment %d: %w", number, err)
		}
		if number < weighed {
			return d.weigh(ctx, o)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := balances.compare(ctx, d.books); err != nil {
		return err
	}
	return d.checkNothingElse(ctx)
}

// checkOne looks at a payment and its transaction.
func (d *day) checkOne(ctx context.Context, o order) error {
	p, err := d.scheduler.Payment(ctx, o.id())
	if err != nil {
		return err
	}
	minor, err := p.Amount.Minor()
	if err != nil {
		return err
	}
	if p.Status != payments.Processed || minor != o.minor || !p.At.Equal(o.due) ||
		p.AccountID != payerID(o.payer) || len(p.Data) != dataSize {
		return fmt.Errorf("it is %s, of %s, due %s", p.Status, p.Amount, p.At)
	}
	t, err := d.books.Transaction(ctx, p.TransactionID)
	if err != nil {
		return err
	}
	if t.Amount != p.Amount || t.Status != ledger.Completed || t.IdempotencyKey != string(p.ID) {
		return fmt.Errorf("its transaction is %s, of %s, for %s", t.Status, t.Amount,
			t.IdempotencyKey)
	}
	return nil
}

// weigh looks at an archived payment as it is stored: it must be in the history and nowhere else,
// and within the design's size.
func (d *day) weigh(ctx context.Context, o order) error {
	sort := dynamo.S(o.due.Format("2006-01-02T15:04:05.000Z") + "#" + string(o.id()))
	account := dynamo.S(string(payerID(o.payer)))
	there, err := d.db.Get(ctx, &dynamo.GetInput{
		TableName: payments.HistoryTableNameDefault,
		Key:       dynamo.Key{"AccountID": account, "Timestamp": sort},
	})
	if err != nil {
		return err
	}
	gone, err := d.db.Get(ctx, &dynamo.GetInput{
		TableName: payments.TableNameDefault,
		Key:       dynamo.Key{"AccountID": account, "ScheduledTime": sort},
	})
	if err != nil {
		return err
	}
	if size := there.Item.Size(); there.Item == nil || gone.Item != nil || size > itemMax {
		return fmt.Errorf("payment %d has %d bytes in the history; left in the scheduler: %t",
			o.number, size, gone.Item != nil)
	}
	return nil
}

// checkNothingElse checks that no payment of the day is in another state, and that the ledger has
// no other payment on its busiest accounts, by their balances.
func (d *day) checkNothingElse(ctx context.Context) error {
	whole := payments.Range{From: &d.day, To: new(d.day.Add(24 * time.Hour))}
	for _, status := range payments.Statuses() {
		page, err := d.scheduler.PaymentsByStatus(ctx, status, whole, payments.PageQuery{Size: 1})
		if err != nil {
			return err
		}
		if len(page.Items) > 0 && status != payments.Processed {
			return fmt.Errorf("payment %s is %s", page.Items[0].ID, status)
		}
	}
	return nil
}

// balances are what the payments make of all accounts, in minor units.
type balances struct {
	payers, hot, tills []atomic.Int64
}

func (d *day) newBalances() *balances {
	b := &balances{
		payers: make([]atomic.Int64, d.settings.payers), hot: make([]atomic.Int64, hotPayees),
		tills: make([]atomic.Int64, merchants),
	}
	for i := range b.payers {
		b.payers[i].Store(openingMinor)
	}
	return b
}

func (b *balances) pay(o order) {
	b.payers[o.payer].Add(-o.minor)
	switch o.to {
	case toHot:
		b.hot[o.payee].Add(o.minor)
	case toMerchant:
		b.tills[o.payee].Add(o.minor)
	default:
		b.payers[o.payee].Add(o.minor)
	}
}

// compare reads all accounts of the ledger.
func (b *balances) compare(ctx context.Context, books *ledger.Ledger) error {
	for _, kind := range []struct {
		id   func(int) ledger.AccountID
		want []atomic.Int64
	}{{payerID, b.payers}, {hotID, b.hot}, {settlementID, b.tills}} {
		for i := range kind.want {
			account, err := books.Account(ctx, kind.id(i))
			if err != nil {
				return err
			}
			minor, err := account.Balance.Minor()
			if err != nil {
				return err
			}
			if want := kind.want[i].Load(); minor != want {
				return fmt.Errorf("account %s has %d cents, its payments make %d", account.ID,
					minor, want)
			}
		}
	}
	return nil
}
