package bulk

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/when"
)

// Scheduler is the part of the API that an import of payments uses. *client.Client implements it.
type Scheduler interface {
	SchedulePayment(ctx context.Context, n client.NewPayment) (client.PaymentReceipt, error)
}

// ImportPayments schedules the payments of a file that OpenPayments opened. Posted rows are those
// that were scheduled. Unlike in Import, rows of the same account do not wait for each other; only
// rows with the same key do.
func ImportPayments(
	ctx context.Context, scheduler Scheduler, f *File, opts Options,
) (Result, error) {
	i := &run{
		send: func(ctx context.Context, row Row, o *Outcome) (there bool, err error) {
			receipt, err := scheduler.SchedulePayment(ctx, row.Payment)
			o.PaymentID, o.TransactionID = receipt.ID, receipt.TransactionID
			return receipt.Replayed, err
		},
		uses: func(_ context.Context, row Row) []use {
			if row.Wrong != nil {
				return nil
			}
			name := "payment/" + string(row.Payment.AccountID) + "/" + row.Key()
			return []use{{name: name, exclusive: true}}
		},
	}
	return i.run(ctx, f, opts)
}

// order interprets the texts of a row of payments. Checks of the scheduler are left to it.
func (f *fields) order() Row {
	row := Row{Line: f.line, Payment: client.NewPayment{
		AccountID: client.AccountID(f.from), PayeeID: client.AccountID(f.to),
		MerchantID: client.MerchantID(f.merchant), Description: f.describe,
	}}.withKey(f.key)
	if err := f.checkKey(); err != nil {
		return row.malformed(err)
	}
	switch {
	case f.from == "":
		return row.malformed(fmt.Errorf("names no account in %q", colAccount))
	case f.due == "":
		return row.malformed(errors.New("has no time"))
	}
	var err error
	if row.Payment.Amount, err = parseAmount(f.amount, f.currency); err != nil {
		return row.malformed(err)
	}
	at, err := when.Parse(f.due)
	if err != nil {
		return row.malformed(fmt.Errorf("has the time %.40q, which is not one such as "+
			"2026-01-31T09:00:00Z, 2026-01-31 or 2026-01-31T09:00: it %w", f.due, err))
	}
	row.Payment.Due = at.Text()
	if row.Payment.Data, err = base64.StdEncoding.DecodeString(f.data); err != nil {
		return row.malformed(fmt.Errorf("has data that are not base64: %w", err))
	}
	return row
}
