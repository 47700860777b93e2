package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// walkTransactions checks the transactions of one status, page by page.
func (r *reconciler) walkTransactions(ctx context.Context, status TransactionStatus) error {
	next := map[TransactionStatus]string{Completed: stepReversed, Reversed: stepAccounts}[status]
	for r.state.Step == string(status) {
		page, err := modelOf(r.Ledger).byStatus.Page(ctx, r.store,
			ByStatus{status, r.from, r.state.Until}, PageDefault, r.state.Page)
		if err != nil {
			return pageFailed(err)
		}
		entries := make([]Entry, len(page.Items))
		err = inParallel(ctx, len(entries), func(ctx context.Context, i int) error {
			entry, exists, err := r.entry(ctx, page.Items[i].ID)
			if exists {
				entries[i] = entry
			}
			return err
		})
		if err != nil {
			return err
		}
		for i := range entries {
			r.checkEntry(page.Items[i].ID, &entries[i], status)
		}
		if err := r.turn(page.Next, next); err != nil {
			return err
		}
	}
	return nil
}

// checkEntry checks one transaction and adds it to the sums.
func (r *reconciler) checkEntry(id TransactionID, e *Entry, status TransactionStatus) {
	t := &e.Transaction
	if t.ID == "" {
		r.found(Divergence{Kind: TransactionMissing, TransactionID: id, Want: string(status),
			Got: "nothing"})
		return
	}
	if status == Completed && t.Status == Reversed {
		return // It was reversed after this page was read, and is met again among the reversed.
	}
	r.state.Transactions++
	r.state.Legs += len(e.Legs)
	if t.Status == Reversed && t.ReversedBy == "" {
		r.found(Divergence{Kind: NotLinked, TransactionID: id, Want: "a reversal", Got: "none"})
	}
	var p Posting
	for _, leg := range e.Legs {
		p.Legs = append(p.Legs, PostingLeg{leg.AccountID, leg.Type, leg.Amount})
	}
	for i := range p.Legs {
		currency := p.Legs[i].Amount.Currency()
		if p.firstLegIn(currency) != i {
			continue
		}
		debits, credits, err := p.sums(currency)
		if err != nil || !sameUnits(debits, credits) {
			r.found(Divergence{Kind: TransactionUnbalanced, TransactionID: id,
				Currency: currency, Want: debits.String(), Got: credits.String()})
		}
		s := r.sums(currency)
		add(&s.Debits, debits, &s.Beyond)
		add(&s.Credits, credits, &s.Beyond)
	}
	for i := range p.Legs {
		r.sums(p.Legs[i].Amount.Currency()).Legs++
	}
	if debits, _, err := p.sums(t.Amount.Currency()); err != nil || !sameUnits(debits, t.Amount) {
		r.found(Divergence{Kind: AmountWrong, TransactionID: id, Want: debits.String(),
			Got: t.Amount.String()})
	}
}

// add adds to a sum, and notes when it grows beyond what an amount can hold.
func add(sum *money.Amount, amount money.Amount, beyond *bool) {
	next, err := sum.Add(amount)
	if err != nil {
		*beyond = true
		return
	}
	*sum = next
}

// sameUnits compares amounts of one currency, of which one may be the sum of nothing.
func sameUnits(a, b money.Amount) bool { return a.Units() == b.Units() }

// walkAccounts checks all accounts, page by page.
func (r *reconciler) walkAccounts(ctx context.Context) error {
	for r.state.Step == stepAccounts {
		page, err := modelOf(r.Ledger).allAccounts.Page(ctx, r.store, Everything{}, PageDefault,
			r.state.Page)
		if err != nil {
			return pageFailed(err)
		}
		at := make([]accountItem, len(page.Items))
		for i, entry := range page.Items {
			at[i].ID = entry.AccountID
		}
		stored, err := modelOf(r.Ledger).accounts.GetMany(ctx, r.store, at,
			singletable.Consistent())
		if err != nil {
			return failed("read", "accounts", err)
		}
		checks := make([]accountCheck, len(at))
		err = inParallel(ctx, len(at), func(ctx context.Context, i int) error {
			if stored[i] == nil {
				checks[i].found(Divergence{Kind: AccountMissing, AccountID: at[i].ID,
					Want: "an account", Got: "nothing"})
				return nil
			}
			checks[i].account = accountOf(*stored[i])
			return r.checkAccount(ctx, &checks[i])
		})
		if err != nil {
			return err
		}
		for i := range checks {
			r.addAccount(&checks[i])
		}
		if err := r.turn(page.Next, ""); err != nil {
			return err
		}
	}
	return nil
}

// accountCheck is what was found out about one account.
type accountCheck struct {
	account         Account
	debits, credits money.Amount
	balance         money.Amount // At the end of the days.
	beyond          bool         // The sums are too great to be held.
	legs            int
	divergences     []Divergence
	more            int // Divergences beyond those listed.
}

func (c *accountCheck) found(d Divergence) {
	if len(c.divergences) == divergencesMax {
		c.more++
		return
	}
	c.divergences = append(c.divergences, d)
}

// addAccount adds the outcome of one account to the sums.
func (r *reconciler) addAccount(c *accountCheck) {
	for _, d := range c.divergences {
		r.found(d)
	}
	r.state.Found += c.more
	if c.account.ID == "" {
		return
	}
	r.state.Accounts++
	s := r.sums(c.account.Currency())
	s.AccountLegs += c.legs
	s.Beyond = s.Beyond || c.beyond
	add(&s.AccountDebits, c.debits, &s.Beyond)
	add(&s.AccountCredits, c.credits, &s.Beyond)
	add(&s.Balances, c.balance, &s.Beyond)
}

// checkAccount follows the legs of the days, from the leg before them, and compares the stored
// balance with the newest leg of all.
func (r *reconciler) checkAccount(ctx context.Context, c *accountCheck) error {
	id := c.account.ID
	last := Leg{AccountID: id, BalanceAfter: zeroOf(&c.account)}
	before, exists, err := modelOf(r.Ledger).legsOfAccount.First(ctx, r.store,
		ByAccount{AccountID: id, To: r.from})
	if err != nil {
		return failed("read legs of", id, err)
	}
	if exists {
		last = legOf(before)
	}
	days := ByAccount{id, r.from, r.state.Until}
	for item, err := range modelOf(r.Ledger).legsOldest.All(ctx, r.store, days) {
		if err != nil {
			return failed("read legs of", id, err)
		}
		leg := legOf(item)
		c.follow(&last, &leg)
		last = leg
	}
	c.balance = last.BalanceAfter
	return r.checkStored(ctx, c)
}

// follow compares a leg with the one before it on its account.
func (c *accountCheck) follow(last, leg *Leg) {
	c.legs++
	want, wrong := last.BalanceAfter, false
	if leg.Type == Credit {
		add(&c.credits, leg.Amount, &c.beyond)
		add(&want, leg.Amount, &wrong)
	} else {
		add(&c.debits, leg.Amount, &c.beyond)
		add(&want, leg.Amount.Neg(), &wrong)
	}
	d := Divergence{TransactionID: leg.TransactionID, AccountID: leg.AccountID, LegID: leg.ID}
	switch {
	case leg.AccountVersion != last.AccountVersion+1:
		d.Kind = VersionGap
		d.Want = fmt.Sprint("version ", last.AccountVersion+1)
		d.Got = fmt.Sprint("version ", leg.AccountVersion)
	case wrong || want != leg.BalanceAfter:
		d.Kind, d.Want, d.Got = BalanceAfterWrong, want.String(), leg.BalanceAfter.String()
	default:
		return
	}
	c.found(d)
}

// Indexes of a store may lag behind the table by a moment. An account that has more legs than its
// index shows is read again that often before it counts as wrong.
const (
	lagAttempts = 4
	lagWait     = 100 * time.Millisecond
)

// checkStored compares the stored balance with the leg that has the account's version. Newer legs
// were posted since the account was read.
func (r *reconciler) checkStored(ctx context.Context, c *accountCheck) error {
	a := &c.account
	for attempt := 1; ; attempt++ {
		leg, err := r.legAt(ctx, a)
		if err != nil {
			return err
		}
		if leg.AccountVersion == a.Version && leg.BalanceAfter == a.Balance {
			return nil
		}
		if leg.AccountVersion >= a.Version || attempt == lagAttempts {
			const form = "%s at version %d"
			c.found(Divergence{Kind: BalanceWrong, AccountID: a.ID, LegID: leg.ID,
				TransactionID: leg.TransactionID,
				Want:          fmt.Sprintf(form, leg.BalanceAfter, leg.AccountVersion),
				Got:           fmt.Sprintf(form, a.Balance, a.Version)})
			return nil
		}
		if err := r.pause(ctx, lagWait, nil); err != nil {
			return err
		}
	}
}

// legAt returns the newest leg of an account that is not above its version; one of version zero
// with a balance of zero where there is none.
func (r *reconciler) legAt(ctx context.Context, a *Account) (Leg, error) {
	in := ByAccount{AccountID: a.ID}
	for item, err := range modelOf(r.Ledger).legsOfAccount.All(ctx, r.store, in) {
		if err != nil {
			return Leg{}, failed("read legs of", a.ID, err)
		}
		if item.AccountVersion <= a.Version {
			return legOf(item), nil
		}
	}
	return Leg{AccountID: a.ID, BalanceAfter: zeroOf(a)}, nil
}
