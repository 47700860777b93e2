package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/problem"
)

func transactionKey(t client.Transaction) string { return string(t.ID) }

func legKey(l client.Leg) string { return fmt.Sprintf("%+v", l) }

// compareLedgerLists compares the lists of the ledger that readEntries and compareAccounts do not
// read with the transactions that they have compared with the model.
func (w *world) compareLedgerLists(
	c *caller, entries map[client.TransactionID]*stored,
) error {
	var all []client.Transaction
	legs := map[client.AccountID][]client.Leg{}
	for _, e := range entries {
		all = append(all, e.Transaction)
		for _, l := range e.Legs {
			legs[l.AccountID] = append(legs[l.AccountID], l)
		}
	}
	slices.SortFunc(all, func(a, b client.Transaction) int {
		return a.CreatedAt.Compare(b.CreatedAt)
	})
	return firstError(
		func() error { return w.compareStatusLists(c, all) },
		func() error { return w.compareByKey(c, all) },
		func() error { return w.compareLegsOfTransactions(c, entries) },
		func() error { return w.compareStatements(c, legs) },
	)
}

// compareStatusLists compares the transactions of each status, the newest first, before an instant
// and from it on.
func (w *world) compareStatusLists(c *caller, all []client.Transaction) error {
	middle := startOfTime
	if len(all) > 0 {
		middle = all[len(all)/2].CreatedAt
	}
	for _, status := range []client.TransactionStatus{
		client.Pending, client.Completed, client.Failed, client.Reversed,
	} {
		for what, q := range map[string]client.StatusQuery{
			"before": {To: middle}, "since": {From: middle},
		} {
			q.Status, q.NewestFirst = status, true
			want := selected(slices.Values(all), transactionKey, func(t client.Transaction) bool {
				return t.Status == status && t.CreatedAt.Before(middle) == q.From.IsZero()
			})
			var last time.Time
			rows := c.AllTransactionsByStatus(w.ctx, q)
			got := func(yield func(client.Transaction, error) bool) {
				for t, err := range rows {
					if err == nil && !last.IsZero() && t.CreatedAt.After(last) {
						err = fmt.Errorf("transaction %s comes after an older one", t.ID)
					}
					last = t.CreatedAt
					if !yield(t, err) {
						return
					}
				}
			}
			name := fmt.Sprintf("%s transactions %s %v", status, what, middle)
			if err := sameRows(name, got, transactionKey, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareByKey checks that each key that a client used leads to its transaction, or to none.
func (w *world) compareByKey(c *caller, all []client.Transaction) error {
	owners := map[string]client.TransactionID{}
	for _, t := range all {
		if t.ReversalOf == "" {
			owners[t.IdempotencyKey] = t.ID
		}
	}
	for _, x := range w.sortedWrites() {
		if x.kind == "reverse" {
			continue
		}
		got, err := c.TransactionByKey(w.ctx, x.key)
		var e *problem.Error
		switch {
		case errors.As(err, &e) && e.Code == "transaction_not_found":
			got.ID = ""
		case err != nil:
			return cannotTell(fmt.Sprintf("read key %q", x.key), err)
		}
		if got.ID != owners[x.key] {
			return fmt.Errorf("key %q leads to transaction %q, and is that of %q", x.key, got.ID,
				owners[x.key])
		}
	}
	return nil
}

func (w *world) compareLegsOfTransactions(
	c *caller, entries map[client.TransactionID]*stored,
) error {
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		var want []string
		for _, l := range entries[id].Legs {
			want = append(want, legKey(l))
		}
		rows := rowsOf(c.LegsOfTransaction(w.ctx, id))
		if err := sameRows("legs of "+string(id), rows, legKey, want); err != nil {
			return err
		}
	}
	return nil
}

// compareStatements compares the statement of each account, and its legs before an instant and from
// it on.
func (w *world) compareStatements(c *caller, legs map[client.AccountID][]client.Leg) error {
	for _, id := range slices.Sorted(maps.Keys(legs)) {
		of := legs[id]
		slices.SortFunc(of, func(a, b client.Leg) int {
			return int(a.AccountVersion) - int(b.AccountVersion)
		})
		middle := of[len(of)/2].CreatedAt
		for what, to := range map[string]bool{"before": true, "since": false} {
			want := selected(slices.Values(of), legKey, func(l client.Leg) bool {
				return l.CreatedAt.Before(middle) == to
			})
			var from, until time.Time
			if from = middle; to {
				from, until = time.Time{}, middle
			}
			rows := c.legsBetween(w, id, from, until)
			name := fmt.Sprintf("legs of %s %s %v", id, what, middle)
			if err := sameRows(name, rows, legKey, want); err != nil {
				return err
			}
		}
		if err := w.compareStatement(c, id, of); err != nil {
			return fmt.Errorf("the statement of %s: %w", id, err)
		}
	}
	return nil
}

func (c *caller) legsBetween(
	w *world, id client.AccountID, from, to time.Time,
) func(func(client.Leg, error) bool) {
	return func(yield func(client.Leg, error) bool) {
		q := client.PageQuery{Limit: 20}
		for {
			page, err := c.LegsOfAccountBetween(w.ctx, id, from, to, q)
			for l, err := range rowsOf(page.Items, err) {
				if !yield(l, err) {
					return
				}
			}
			if q.Cursor = page.Next; err != nil || q.Cursor == "" {
				return
			}
		}
	}
}

// compareStatement compares a statement over all days with the legs, the oldest first.
func (w *world) compareStatement(c *caller, id client.AccountID, legs []client.Leg) error {
	var got []client.Leg
	q := client.StatementQuery{AccountID: id, From: firstDay, To: lastDay,
		PageQuery: client.PageQuery{Limit: 30}}
	closing := legs[len(legs)-1].BalanceAfter
	for page, err := range c.StatementPages(w.ctx, q) {
		if err != nil {
			return cannotTell("read a statement", err)
		}
		if minor(page.Opening) != 0 || page.Closing != closing {
			return fmt.Errorf("it goes from %s to %s, and the last leg leaves %s", page.Opening,
				page.Closing, closing)
		}
		got = append(got, page.Legs...)
	}
	slices.Reverse(got)
	if !slices.Equal(got, legs) {
		return fmt.Errorf("it has the legs\n  %v\nand the account has\n  %v", got, legs)
	}
	return nil
}
