package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// CreateMerchant creates a merchant. A repeat with the same id or idempotency key returns the
// first one, with Replayed set; with other contents it is refused with ErrMerchantExists or
// ErrIdempotencyConflict, which name the member that differs. A settlement account that does not
// exist or is closed is refused with ErrAccountNotFound or ErrAccountClosed, because a merchant is
// never changed and could never be paid.
func (l *Ledger) CreateMerchant(ctx context.Context, n NewMerchant) (MerchantReceipt, error) {
	if err := n.check(); err != nil {
		return MerchantReceipt{}, err
	}
	id := MerchantID(l.newID(string(n.ID), n.IdempotencyKey, merchantSpace))
	now := instant(l.opts.Now())
	made := merchantItem{
		ID: id, Name: n.Name, Category: n.Category,
		SettlementAccountID: n.SettlementAccountID, LocationID: n.LocationID, CreatedAt: now,
	}
	c := creation[merchantItem]{
		deed: "create merchant", id: string(id), chosen: n.ID != "", differs: n.difference,
		taken:   ErrMerchantExists.With("merchant", id),
		missing: ErrMerchantNotFound.With("merchant", id),
		find: func(ctx context.Context, id string) (merchantItem, bool, error) {
			return modelOf(l).merchants.Get(ctx, l.store, merchantItem{ID: MerchantID(id)},
				singletable.Consistent())
		},
		absent: func(tx *singletable.Tx, id string) {
			m := modelOf(l).merchants
			m.CheckTx(tx, merchantItem{ID: MerchantID(id)}, m.Missing())
		},
	}
	if n.IdempotencyKey != "" {
		made.RequestID = requestID(l.opts.Tenant, merchantEntity, n.IdempotencyKey)
		c.request = &requestItem{ID: made.RequestID, MerchantID: id, CreatedAt: now}
		c.derived = derive(merchantSpace, l.opts.Tenant, n.IdempotencyKey)
	}
	c.create = func(tx *singletable.Tx) { modelOf(l).merchants.CreateTx(tx, made) }
	refusal := l.checkLocation(ctx, n.LocationID)
	if refusal == nil {
		refusal = l.checkSettlement(ctx, n.SettlementAccountID)
	}
	found, err := c.run(ctx, l, refusal)
	switch {
	case err != nil:
		return MerchantReceipt{}, err
	case found != nil:
		return MerchantReceipt{Merchant: merchantOf(*found), Replayed: true}, nil
	}
	return MerchantReceipt{Merchant: merchantOf(made)}, nil
}

// OpenAccount opens an account with a balance of zero. A repeat with the same id or idempotency key
// returns the account as it is now, with Replayed set; with other contents it is refused with
// ErrAccountExists or ErrIdempotencyConflict, which name the member that differs.
func (l *Ledger) OpenAccount(ctx context.Context, n NewAccount) (AccountReceipt, error) {
	if err := n.check(); err != nil {
		return AccountReceipt{}, err
	}
	id := AccountID(l.newID(string(n.ID), n.IdempotencyKey, accountSpace))
	opened := n.account(id, instant(l.opts.Now()))
	made := openedItems{itemOfAccount(&opened), directoryItem{
		AccountID: id, RequestHash: accountDigests.Of(&n), CreatedAt: opened.CreatedAt,
	}}
	c := creation[openedItems]{
		deed: "open account", id: string(id), chosen: n.ID != "", differs: n.difference,
		taken:   ErrAccountExists.With("account", id),
		missing: ErrAccountNotFound.With("account", id),
		find:    l.opened,
		absent: func(tx *singletable.Tx, id string) {
			a := modelOf(l).accounts
			a.CheckTx(tx, accountItem{ID: AccountID(id)}, a.Missing())
		},
	}
	if n.IdempotencyKey != "" {
		made.entry.RequestID = requestID(l.opts.Tenant, accountEntity, n.IdempotencyKey)
		c.request = &requestItem{ID: made.entry.RequestID, AccountID: id,
			CreatedAt: opened.CreatedAt}
		c.derived = derive(accountSpace, l.opts.Tenant, n.IdempotencyKey)
	}
	c.create = func(tx *singletable.Tx) {
		modelOf(l).accounts.CreateTx(tx, made.account)
		modelOf(l).directory.CreateTx(tx, made.entry)
	}
	found, err := c.run(ctx, l, l.checkLocation(ctx, n.LocationID))
	switch {
	case err != nil:
		return AccountReceipt{}, err
	case found != nil:
		return AccountReceipt{Account: accountOf(found.account), Replayed: true}, nil
	}
	return AccountReceipt{Account: opened}, nil
}

// opened returns an account with its entry in the directory, which is empty for an account that
// another program has opened.
func (l *Ledger) opened(ctx context.Context, id string) (o openedItems, exists bool, err error) {
	o.account, exists, err = modelOf(l).accountByID.First(ctx, l.store, ByID{id})
	if err != nil || !exists {
		return o, false, err
	}
	o.entry, _, err = modelOf(l).directory.Get(ctx, l.store,
		directoryItem{AccountID: AccountID(id)}, singletable.Consistent())
	return o, true, err
}

// checkLocation checks that a named location exists, if the options can look it up.
func (l *Ledger) checkLocation(ctx context.Context, id LocationID) error {
	if id == "" || l.opts.LocationExists == nil {
		return nil
	}
	exists, err := l.opts.LocationExists(ctx, id)
	if err == nil && !exists {
		err = ErrLocationNotFound.With("location", id).Field("locationId", "is no location")
	}
	return err
}

// checkSettlement checks that there is an account that a merchant can be paid to; an empty id is
// none.
func (l *Ledger) checkSettlement(ctx context.Context, id AccountID) error {
	if id == "" {
		return nil
	}
	account, err := l.Account(ctx, id)
	switch {
	case errors.Is(err, ErrAccountNotFound):
		return ErrAccountNotFound.With("account", id).
			Field("settlementAccountId", "is no account")
	case err == nil && account.Status == AccountClosed:
		return ErrAccountClosed.With("account", id).Field("settlementAccountId", "is closed")
	}
	return err
}

// newID returns the id that a request asks for, derives one from its key, or makes one up.
func (l *Ledger) newID(id, key string, space uuid.UUID) string {
	switch {
	case id != "":
		return id
	case key != "":
		return derive(space, l.opts.Tenant, key)
	}
	return l.opts.NewID()
}

// The verbs that change an account take the account as the caller knows it, if given: a change is
// made only to that, or refused with ErrAccountChanged.

// FreezeAccount makes an active account refuse postings. Freezing a frozen account changes nothing.
func (l *Ledger) FreezeAccount(
	ctx context.Context, id AccountID, known ...Account,
) (Account, error) {
	return l.change(ctx, id, known, func(a *Account) error {
		if a.Status == AccountClosed {
			return ErrAccountClosed.With("account", id)
		}
		a.Status = AccountFrozen
		return nil
	})
}

// UnfreezeAccount makes a frozen account active again. An active account is left as it is.
func (l *Ledger) UnfreezeAccount(
	ctx context.Context, id AccountID, known ...Account,
) (Account, error) {
	return l.change(ctx, id, known, func(a *Account) error {
		if a.Status == AccountClosed {
			return ErrAccountClosed.With("account", id)
		}
		a.Status = AccountActive
		return nil
	})
}

// CloseAccount closes an account, active or frozen, whose balance is zero. It is final. Closing
// a closed account changes nothing.
func (l *Ledger) CloseAccount(
	ctx context.Context, id AccountID, known ...Account,
) (Account, error) {
	return l.change(ctx, id, known, func(a *Account) error {
		if !a.Balance.IsZero() {
			return ErrAccountNotEmpty.With("account", id).With("balance", a.Balance)
		}
		a.Status = AccountClosed
		return nil
	})
}

// SetOverdraft changes how far an account may go below zero. A balance that is below the new limit
// stays, and can only rise.
func (l *Ledger) SetOverdraft(
	ctx context.Context, id AccountID, limit money.Amount, unlimited bool, known ...Account,
) (Account, error) {
	return l.change(ctx, id, known, func(a *Account) error {
		if err := checkOverdraft(limit, a.Currency()); err != nil {
			return err
		}
		if a.Status == AccountClosed {
			return ErrAccountClosed.With("account", id)
		}
		a.OverdraftLimit, _ = money.New(limit.Units(), a.Currency())
		a.Unlimited = unlimited
		return nil
	})
}

// change applies a rule to an account as it is now, and writes the result unless another writer has
// changed the account in the meantime; then it begins again. With a known account it changes only
// that: an account of another version or revision is ErrAccountChanged.
func (l *Ledger) change(
	ctx context.Context, id AccountID, known []Account, rule func(*Account) error,
) (Account, error) {
	if id.System() {
		return Account{}, ErrSystemAccount.With("account", id)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	for wait := waitFirst; ; wait = min(2*wait, waitLast) {
		before, err := l.Account(ctx, id)
		if err != nil {
			return Account{}, err
		}
		for _, k := range known {
			if k.Version != before.Version || k.Revision != before.Revision {
				return Account{}, ErrAccountChanged.With("account", id)
			}
		}
		after := before
		if err := rule(&after); err != nil || after == before {
			return before, err
		}
		after.Revision++
		err = modelOf(l).changeAccount(ctx, l.store, &before, &after)
		if err == nil {
			return after, nil
		}
		if !retryAlone(err) {
			return Account{}, failed("change account", id, err)
		}
		if err := l.pause(ctx, wait, err); err != nil {
			return Account{}, err
		}
	}
}

// bounded gives a context a deadline where it has none.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, insistTime)
}

// pause waits a random part of a time before another attempt. When the context ends, cause is what
// prevented the last one.
func (l *Ledger) pause(ctx context.Context, most time.Duration, cause error) error {
	timer := time.NewTimer(time.Duration(l.store.Draw(int64(most))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return outOfTime(ctx.Err(), cause)
	}
}

// outOfTime returns the error of a write whose time is over. Only where other writers were faster
// is it contended; a store that was busy otherwise, or that did not answer, is the cause itself.
func outOfTime(ended, cause error) error {
	err := errors.Join(ended, cause)
	if errors.Is(cause, singletable.ErrContended) ||
		errors.Is(cause, singletable.ErrConditionFailed) {
		return ErrContended.With("items", singletable.ItemsOf(cause)).Wrap(err)
	}
	return err
}

// failed adds what was being done when the store failed.
func failed[ID ~string](deed string, id ID, err error) error {
	if errors.Is(err, singletable.ErrContended) {
		return ErrContended.With("items", singletable.ItemsOf(err)).
			Wrap(fmt.Errorf("%s %s: %w", deed, id, err))
	}
	return fmt.Errorf("%s %s: %w", deed, id, err)
}
