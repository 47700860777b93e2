package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// identity returns the identity of a payment, or ErrNotFound.
func (m *model) identityOf(ctx context.Context, s *Scheduler, id PaymentID) (located, error) {
	if id.Foreign() {
		return located{}, ErrForeign.With("payment", id)
	}
	found, exists, err := m.byID.First(ctx, s.store, ByID{id})
	if err != nil {
		return located{}, failed("find payment", id, err)
	}
	if !exists {
		return located{}, ErrNotFound.With("payment", id)
	}
	return located{identityItem: found}, nil
}

// locate reads a payment where its identity points: in the scheduler's table first,
// since it is in the history before it leaves that one, or in the history, if it was about to leave
// already.
func (m *model) locate(
	ctx context.Context, s *Scheduler, identity *located,
) (Payment, bool, error) {
	key := paymentItem{AccountID: identity.Payer, At: identity.At, ID: identity.ID}
	tables := [...]*singletable.Entity[paymentItem]{m.payments, m.past}
	if identity.Archived {
		slices.Reverse(tables[:])
	}
	for _, table := range tables {
		found, exists, err := table.Get(ctx, s.store, key, singletable.Consistent())
		if err != nil {
			return Payment{}, false, failed("find payment", identity.ID, err)
		}
		if exists {
			identity.in = table.Table()
			return paymentOf(found), true, nil
		}
	}
	return Payment{}, false, nil
}

// located is an identity with the table in which its payment was found.
type located struct {
	identityItem
	in *singletable.Table
}

// locateAttempts bounds how often a payment is looked for that moves all the time.
const locateAttempts = 10

// Payment returns a payment by its id as of now, or ErrNotFound. A payment whose insertion stopped
// half way is not there.
func (s *Scheduler) Payment(ctx context.Context, id PaymentID) (Payment, error) {
	if id.Foreign() {
		return modelOf(s).foreign(ctx, s, id)
	}
	p, _, err := modelOf(s).find(ctx, s, id)
	return p, err
}

// foreign returns a payment of another program, whose id is its key.
func (m *model) foreign(ctx context.Context, s *Scheduler, id PaymentID) (Payment, error) {
	account, key, ok := id.key()
	if !ok {
		return Payment{}, ErrNotFound.With("payment", id)
	}
	in := ByAccount{AccountID: account}
	if second := len("2006-01-02T15:04:05"); len(key) >= second {
		if at, err := time.Parse("2006-01-02T15:04:05", key[:second]); err == nil {
			end := at.Add(time.Second)
			in.From, in.To = &at, &end
		}
	}
	for item, err := range m.allOfAccount.All(ctx, s.store, in) {
		bad, unread := singletable.AsUnreadable(err)
		switch {
		case unread && !strings.Contains(bad.KeyText(), key):
		case err != nil:
			return Payment{}, failed("find payment", id, err)
		case item.ID == "" && item.Key == key:
			return paymentOf(item), nil
		}
	}
	return Payment{}, ErrNotFound.With("payment", id)
}

// find returns a payment with its identity.
func (m *model) find(
	ctx context.Context, s *Scheduler, id PaymentID,
) (Payment, located, error) {
	var known located
	for range locateAttempts {
		identity, err := m.identityOf(ctx, s, id)
		if err != nil {
			return Payment{}, identity, err
		}
		p, exists, err := m.locate(ctx, s, &identity)
		if err != nil || exists {
			return p, identity, err
		}
		if identity.Version == known.Version {
			break // It did not move while it was looked for.
		}
		known = identity
	}
	return Payment{}, located{}, ErrNotFound.With("payment", id)
}

// Bounds of a page.
const (
	PageDefault = 100
	PageMax     = 1000
)

// PageQuery selects a page of a list.
type PageQuery struct {
	// Size is the maximum number of rows, 1 to PageMax; 0 means PageDefault.
	Size int
	// Cursor is the Next of the page before, or empty for the first.
	Cursor string
}

func (q PageQuery) size() (int, error) {
	if q.Size < 0 || q.Size > PageMax {
		return 0, ErrInvalidRequest.Field("limit", fmt.Sprintf("must be from 1 to %d", PageMax))
	}
	if q.Size == 0 {
		return PageDefault, nil
	}
	return q.Size, nil
}

// pager is a pattern, or a union of them.
type pager[In any] interface {
	Page(ctx context.Context, s *singletable.Store, in In, size int, cursor string) (
		singletable.Page[paymentItem], error)
}

func page[In any](
	ctx context.Context, s *Scheduler, p pager[In], in In, q PageQuery,
) (singletable.Page[Payment], error) {
	var out singletable.Page[Payment]
	size, err := q.size()
	if err != nil {
		return out, err
	}
	items, err := p.Page(ctx, s.store, in, size, q.Cursor)
	if err != nil {
		var cursor *singletable.CursorError
		if errors.As(err, &cursor) {
			return out, ErrInvalidCursor.Wrap(err)
		}
		return out, failed("read", "payments", err)
	}
	return singletable.MapPage(items, func(i paymentItem) (Payment, error) {
		return paymentOf(i), nil
	})
}

// Range is [From, To) in time. A nil bound is open; every instant is a bound, the zero time too.
type Range struct{ From, To *time.Time }

func (r Range) check() error {
	var wrong problem.Fields
	if r.From != nil && r.To != nil && r.To.Before(*r.From) {
		wrong.Add("to", "must not be before from")
	}
	return wrong.Err(ErrInvalidRequest)
}

// Day returns the range of a calendar day, written 2026-01-31, in a zone. A day has the hours that
// it has there, also when the clocks change.
func Day(day string, zone *time.Location) (Range, error) {
	return Days(day, 1, zone)
}

// Days returns the range of a number of calendar days from the given one on.
func Days(first string, count int, zone *time.Location) (Range, error) {
	t, err := time.Parse(time.DateOnly, first)
	if err != nil || t.Year() < yearLeast {
		return Range{}, ErrInvalidRequest.Field("date", "must be a day such as 2026-01-31")
	}
	from := ledger.Midnight(t.Year(), t.Month(), t.Day(), zone)
	to := ledger.Midnight(t.Year(), t.Month(), t.Day()+count, zone)
	return Range{From: new(from.UTC()), To: bounded(to)}, nil
}

// bounded is the end of a range, which is open where no payment can be due any more.
func bounded(end time.Time) *time.Time {
	if end.UTC().Year() > yearMost {
		return nil
	}
	return new(end.UTC())
}

// NextDaysDefault is how far ahead the design looks.
const NextDaysDefault = 90

// Zone returns where the days of an account begin. Another program may schedule payments of an
// account that the ledger does not have: its days are those of the ledger.
func (s *Scheduler) Zone(ctx context.Context, id ledger.AccountID) (*time.Location, error) {
	a, err := s.account(ctx, id)
	if !errors.Is(err, ledger.ErrAccountNotFound) {
		return a.zone, err
	}
	page, listErr := s.PaymentsOfAccount(ctx, id, Range{}, PageQuery{Size: 1})
	if listErr == nil && len(page.Items)+len(page.Unreadable) > 0 {
		return s.books.Zone(ledger.Account{}), nil
	}
	return nil, err
}

// NextDays returns the range from now until the account's local date is so many days later, at
// midnight: [now, today + days).
func (s *Scheduler) NextDays(
	ctx context.Context, id ledger.AccountID, days int,
) (Range, error) {
	zone, err := s.Zone(ctx, id)
	if err != nil {
		return Range{}, err
	}
	now := s.opts.Now().In(zone)
	end := ledger.Midnight(now.Year(), now.Month(), now.Day()+days, now.Location())
	return Range{From: new(instant(now)), To: bounded(end)}, nil
}

// PaymentsOfAccount returns a page of an account's payments by time, those in the history among
// them.
func (s *Scheduler) PaymentsOfAccount(
	ctx context.Context, id ledger.AccountID, r Range, q PageQuery,
) (singletable.Page[Payment], error) {
	if err := r.check(); err != nil {
		return singletable.Page[Payment]{}, err
	}
	return page(ctx, s, modelOf(s).allOfAccount, ByAccount{id, r.From, r.To}, q)
}

// PaymentsByStatus returns a page of the payments of all accounts with a status by time, those in
// the history among them: one query for each shard and table, in parallel, merged. The rows have
// no Data unless the index projects everything. When a shard cannot be read there is no page.
func (s *Scheduler) PaymentsByStatus(
	ctx context.Context, status Status, r Range, q PageQuery,
) (singletable.Page[Payment], error) {
	if err := r.check(); err != nil {
		return singletable.Page[Payment]{}, err
	}
	if !status.Known() {
		return singletable.Page[Payment]{}, ErrInvalidRequest.Field("status",
			"must be SCHEDULED, PENDING, PROCESSED, CANCELLED or FAILED")
	}
	m, err := current(ctx, s)
	if err != nil {
		return singletable.Page[Payment]{}, err
	}
	in := ByStatus{status, r.From, r.To}
	if !status.Final() { // What is not final is not in the history.
		return page(ctx, s, m.byStatus, in, q)
	}
	return page(ctx, s, m.allByStatus, in, q)
}

// History returns a page of the payments of all accounts that came to their end
// by time.
func (s *Scheduler) History(
	ctx context.Context, r Range, q PageQuery,
) (singletable.Page[Payment], error) {
	if err := r.check(); err != nil {
		return singletable.Page[Payment]{}, err
	}
	m, err := current(ctx, s)
	if err != nil {
		return singletable.Page[Payment]{}, err
	}
	return page(ctx, s, m.allByTime, ByTime(r), q)
}

// PaymentByTransaction returns the payment that a transaction of the ledger settled, or
// ErrNotFound: from the history, or, while it is not there yet, by the transaction's own key.
func (s *Scheduler) PaymentByTransaction(
	ctx context.Context, id ledger.TransactionID,
) (Payment, error) {
	m := modelOf(s)
	// The transaction's idempotency key is the payment's id, and the identity knows the rest: that
	// is one read more than the index takes, and never late.
	if t, err := s.books.Transaction(ctx, id); err == nil {
		p, _, err := m.find(ctx, s, PaymentID(t.IdempotencyKey))
		if err == nil && p.TransactionID == id {
			return p, nil
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return Payment{}, err
		}
	} else if !errors.Is(err, ledger.ErrTransactionNotFound) {
		return Payment{}, err
	}
	found, exists, err := m.byTransaction.First(ctx, s.store, ByTransaction{id})
	if err != nil {
		return Payment{}, failed("find payment of transaction", id, err)
	}
	if !exists {
		return Payment{}, ErrNotFound.With("payment", "of the transaction "+string(id))
	}
	return paymentOf(found), nil
}
