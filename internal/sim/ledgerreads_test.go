package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// before returns the writes that were acknowledged so long ago that every index has them.
func (w *world) before() []*write {
	until := time.Since(w.began) - lagMax
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []*write
	for _, x := range w.ledger.order {
		if x.at < until {
			found = append(found, x)
		}
	}
	return found
}

// readKey reads what was acknowledged, which must be there at once.
func readKey(c *caller, s step) {
	x := c.w.acknowledged(s.A)
	if x == nil {
		return
	}
	var got client.Entry
	o := c.call(s, fmt.Sprintf("read key %q", x.key), func(ctx context.Context) (string, error) {
		var err error
		if s.B%2 == 0 || x.kind == "reverse" {
			got, err = c.Entry(ctx, x.answer.Transaction.ID)
		} else {
			got, err = c.EntryByKey(ctx, x.key)
		}
		return told(got), err
	})
	switch {
	case o.refused():
		c.w.fail("%v: key %q was acknowledged and cannot be read: %w", s, x.key, o.err)
	case o.ok() && told(got) != told(x.answer.Entry):
		c.w.fail("%v: key %q was acknowledged as\n  %s\nand is\n  %s", s, x.key,
			told(x.answer.Entry), told(got))
	}
}

// listTransactions follows a list to its end while others write.
func listTransactions(c *caller, s step) {
	expected := c.w.before()
	seen := map[client.TransactionID]bool{}
	o := c.call(s, "list completed transactions", func(ctx context.Context) (string, error) {
		clear(seen)
		q := client.StatusQuery{Status: client.Completed, NewestFirst: s.B%2 == 0,
			PageQuery: client.PageQuery{Limit: 1 + s.C%30}}
		for t, err := range c.AllTransactionsByStatus(ctx, q) {
			if err != nil {
				return "", err
			}
			if seen[t.ID] {
				return "", fmt.Errorf("transaction %s is listed twice", t.ID)
			}
			seen[t.ID] = true
		}
		return fmt.Sprintf("%d transactions", len(seen)), nil
	})
	if !o.ok() {
		return
	}
	for _, x := range expected {
		c.w.mu.Lock()
		id, reversed := x.answer.Transaction.ID, x.reversals
		c.w.mu.Unlock()
		if !reversed && !seen[id] {
			c.w.fail("%v: transaction %s of key %q is not in the list, and was acknowledged at %v",
				s, id, x.key, x.at)
		}
	}
}

// listLegs follows the legs of an account to their end while others post.
func listLegs(c *caller, s step) {
	id := accountID(s.A)
	expected := c.w.before()
	var legs []client.Leg
	o := c.call(s, "list legs of "+string(id), func(ctx context.Context) (string, error) {
		legs = nil
		q := client.PageQuery{Limit: 1 + s.C%30}
		for {
			page, err := c.LegsOfAccount(ctx, id, q)
			if err != nil {
				return "", err
			}
			legs = append(legs, page.Items...)
			if page.Next == "" {
				return fmt.Sprintf("%d legs", len(legs)), nil
			}
			q.Cursor = page.Next
		}
	})
	if !o.ok() {
		return
	}
	slices.Reverse(legs)
	c.checkLegs(s, id, legs, expected)
}

// checkLegs compares legs of an account, the oldest first, with what must be among them.
func (c *caller) checkLegs(s step, id client.AccountID, legs []client.Leg, expected []*write) {
	seen := map[client.LegID]bool{}
	for i, l := range legs {
		if seen[l.ID] {
			c.w.fail("%v: leg %s of account %s is listed twice", s, l.ID, id)
		}
		seen[l.ID] = true
		if i > 0 && l.AccountVersion <= legs[i-1].AccountVersion {
			c.w.fail("%v: leg %d of account %s comes after leg %d", s, l.AccountVersion, id,
				legs[i-1].AccountVersion)
		}
	}
	for _, x := range expected {
		for _, l := range x.answer.Legs {
			if l.AccountID == id && !seen[l.ID] {
				c.w.fail("%v: leg %s of account %s and key %q is not in the list, and was "+
					"acknowledged at %v", s, l.ID, id, x.key, x.at)
			}
		}
	}
}

// wideDays are days around all that happens in a round.
const (
	firstDay client.Date = "2026-04-01"
	lastDay  client.Date = "2027-02-01"
)

// statement reads a statement while others post. Each page begins where the one before ended.
func statement(c *caller, s step) {
	id := accountID(s.A)
	expected := c.w.before()
	var legs []client.Leg
	var first client.Statement
	o := c.call(s, "statement of "+string(id), func(ctx context.Context) (string, error) {
		legs = nil
		q := client.StatementQuery{AccountID: id, From: firstDay, To: lastDay,
			PageQuery: client.PageQuery{Limit: 1 + s.C%20}}
		for page, err := range c.StatementPages(ctx, q) {
			if err != nil {
				return "", err
			}
			if legs == nil {
				first = page
			}
			legs = append(legs, page.Legs...)
		}
		return fmt.Sprintf("%d legs from %s to %s", len(legs), first.Opening, first.Closing), nil
	})
	if !o.ok() {
		return
	}
	slices.Reverse(legs)
	c.checkLegs(s, id, legs, expected)
	if err := addsUp(legs, minor(first.Opening)); err != nil {
		c.w.fail("%v: statement of account %s: %w", s, id, err)
	}
}

// readAccount reads a balance, which is at least as new as what was acknowledged.
func readAccount(c *caller, s step) {
	id := accountID(s.A)
	version := uint64(0)
	c.w.mu.Lock()
	for _, x := range c.w.ledger.order {
		for _, l := range x.answer.Legs {
			if l.AccountID == id {
				version = max(version, l.AccountVersion)
			}
		}
	}
	c.w.mu.Unlock()
	var got client.Account
	o := c.call(s, "account "+string(id), func(ctx context.Context) (string, error) {
		var err error
		got, err = c.Account(ctx, id)
		return fmt.Sprintf("%s at version %d", got.Balance, got.Version), err
	})
	if o.ok() && got.Version < version {
		c.w.fail("%v: account %s is at version %d, and leg %d was acknowledged", s, id, got.Version,
			version)
	}
	if o.refused() {
		c.w.fail("%v: account %s cannot be read: %w", s, id, o.err)
	}
}

// reconcileNow reconciles while others post: it finds nothing that is wrong.
func reconcileNow(c *caller, s step) {
	var got client.Reconciliation
	o := c.call(s, "reconcile", func(ctx context.Context) (string, error) {
		var err error
		got, err = c.Reconcile(ctx, client.ReconcileQuery{From: firstDay, To: lastDay})
		return fmt.Sprintf("%d found", got.Found), err
	})
	if o.ok() && got.Found > 0 && !c.w.hasFault("index-lag") {
		c.w.fail("%v: the reconciliation found %v", s, got.Divergences)
	}
}
