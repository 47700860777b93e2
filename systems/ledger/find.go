package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Merchant returns a merchant by its id, or ErrMerchantNotFound.
func (l *Ledger) Merchant(ctx context.Context, id MerchantID) (Merchant, error) {
	found, exists, err := modelOf(l).merchantByID.First(ctx, l.store, ByID{string(id)})
	if err != nil {
		return Merchant{}, failed("find merchant", id, err)
	}
	if !exists {
		return Merchant{}, ErrMerchantNotFound.With("merchant", id)
	}
	return merchantOf(found), nil
}

// Account returns an account by its id as of now, or ErrAccountNotFound.
func (l *Ledger) Account(ctx context.Context, id AccountID) (Account, error) {
	found, exists, err := modelOf(l).accountByID.First(ctx, l.store, ByID{string(id)})
	if err != nil {
		return Account{}, failed("find account", id, err)
	}
	if !exists {
		return Account{}, ErrAccountNotFound.With("account", id)
	}
	return accountOf(found), nil
}

// Bounds of a page. A page of 1,000 rows seldom needs more than one call to the store.
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

// page reads a page of a pattern and turns its items into nouns.
func page[In, Item, Noun any](
	ctx context.Context, l *Ledger, p *singletable.Pattern[In, Item], in In, q PageQuery,
	noun func(Item) (Noun, error),
) (singletable.Page[Noun], error) {
	size, err := q.size()
	if err != nil {
		return singletable.Page[Noun]{}, err
	}
	items, err := p.Page(ctx, l.store, in, size, q.Cursor)
	if err != nil {
		return singletable.Page[Noun]{}, pageFailed(err)
	}
	return singletable.MapPage(items, noun)
}

// always is a conversion that cannot fail.
func always[A, B any](f func(A) B) func(A) (B, error) {
	return func(a A) (B, error) { return f(a), nil }
}

// pageFailed distinguishes an invalid cursor from a store that failed.
func pageFailed(err error) error {
	var cursor *singletable.CursorError
	if errors.As(err, &cursor) {
		return ErrInvalidCursor.Wrap(err)
	}
	return failed("read", "page", err)
}

// AccountsOfUser returns a page of the accounts of a user, by account id.
func (l *Ledger) AccountsOfUser(
	ctx context.Context, user UserID, q PageQuery,
) (singletable.Page[Account], error) {
	return page(ctx, l, modelOf(l).accountsOfUser, ByUser{user}, q, always(accountOf))
}

// Accounts returns a page of all accounts by id, the ledger's own among them. An account that the
// directory names and that is not there is a row that cannot be read.
func (l *Ledger) Accounts(
	ctx context.Context, q PageQuery,
) (singletable.Page[Account], error) {
	ids, err := page(ctx, l, modelOf(l).allAccounts, Everything{}, q,
		always(func(i directoryItem) accountItem { return accountItem{ID: i.AccountID} }))
	if err != nil {
		return singletable.Page[Account]{}, err
	}
	found, err := modelOf(l).accounts.GetEach(ctx, l.store, ids.Items, singletable.Consistent())
	if err != nil {
		return singletable.Page[Account]{}, pageFailed(err)
	}
	at := 0
	return singletable.MapPage(ids, func(id accountItem) (Account, error) {
		got := found[at]
		at++
		switch {
		case got.Unreadable != nil:
			return Account{}, got.Unreadable
		case got.Value == nil:
			return Account{}, modelOf(l).accounts.Unreadable(id, "ID",
				errors.New("is in the directory of accounts, and there is no such account"))
		}
		return accountOf(*got.Value), nil
	})
}

// Transaction returns the header of a transaction as of now, or ErrTransactionNotFound.
func (l *Ledger) Transaction(ctx context.Context, id TransactionID) (Transaction, error) {
	found, exists, err := modelOf(l).transactionByID.First(ctx, l.store, ByID{string(id)})
	if err != nil {
		return Transaction{}, failed("find transaction", id, err)
	}
	if !exists {
		return Transaction{}, ErrTransactionNotFound.With("transaction", id)
	}
	return l.headerOf(ctx, found)
}

// Entry returns a transaction and all its legs as of now, by one query of its item collection, or
// ErrTransactionNotFound.
func (l *Ledger) Entry(ctx context.Context, id TransactionID) (Entry, error) {
	found, exists, err := l.entry(ctx, id)
	if err == nil && !exists {
		err = ErrTransactionNotFound.With("transaction", id)
	}
	return found, err
}

// entry is Entry for callers who expect that there may be none.
func (l *Ledger) entry(ctx context.Context, id TransactionID) (Entry, bool, error) {
	found, exists, err := modelOf(l).entryByID.Collect(ctx, l.store, ByID{string(id)})
	if err != nil {
		return Entry{}, false, failed("find transaction", id, err)
	}
	if !exists || found.header == nil {
		return Entry{}, false, nil
	}
	e, err := l.entryOf(ctx, found)
	return e, err == nil, err
}

// TransactionByKey returns the transaction that was posted with an idempotency key, by the look-up
// in GSI2, or ErrTransactionNotFound. On a store whose indexes lag it may miss the newest.
func (l *Ledger) TransactionByKey(ctx context.Context, key string) (Transaction, error) {
	if err := checkKey(key, required); err != nil {
		return Transaction{}, err
	}
	id := l.transactionID(key)
	var foreign, derived *transactionItem
	for found, err := range modelOf(l).byKey.All(ctx, l.store, ByKey{key}) {
		switch {
		case err != nil:
			return Transaction{}, failed("find transaction by key", key, err)
		case found.ID == id:
			return l.headerOf(ctx, found)
		case found.ReversalOf != "" || owned(found.ID, l.opts.Tenant, key):
			// A request may have used a key that was derived; then the request counts.
			derived = &found
		default:
			foreign = &found // Another program wrote it, under an id of its own.
		}
	}
	switch {
	case foreign != nil:
		return l.headerOf(ctx, *foreign)
	case derived != nil:
		return l.headerOf(ctx, *derived)
	}
	return Transaction{}, ErrTransactionNotFound.With("transaction", "with the key "+key)
}

// EntryByKey returns the transaction that was posted with an idempotency key, with its legs, as of
// now: its id follows from the key, unless another program wrote it, which only the look-up in GSI2
// finds. The key of a caller counts before an equal key that an [Owner] derived. It returns
// ErrTransactionNotFound if the key is free.
func (l *Ledger) EntryByKey(ctx context.Context, key string) (Entry, error) {
	if err := checkKey(key, required); err != nil {
		return Entry{}, err
	}
	e, found, err := l.entry(ctx, l.transactionID(key))
	for _, o := range owners {
		if err == nil && !found {
			e, found, err = l.entry(ctx, o.transactionID(l.opts.Tenant, key))
		}
	}
	if err == nil && !found {
		e, found, err = l.foreignByKey(ctx, key)
	}
	if err == nil && !found {
		err = ErrTransactionNotFound.With("transaction", "with the key "+key)
	}
	return e, err
}

// StatusQuery asks for the transactions of one status that were created within [From, To). A nil
// bound is open; every instant is a bound, the zero time too.
type StatusQuery struct {
	Status   TransactionStatus
	From, To *time.Time
	// NewestFirst turns the order round.
	NewestFirst bool
	PageQuery
}

// backwards reports whether a range ends before it begins.
func backwards(from, to *time.Time) bool {
	return from != nil && to != nil && to.Before(*from)
}

// TransactionsByStatus returns a page of the transactions of one status by time.
func (l *Ledger) TransactionsByStatus(
	ctx context.Context, q StatusQuery,
) (singletable.Page[Transaction], error) {
	var wrong problem.Fields
	if !q.Status.Known() {
		wrong.Add("status", "must be pending, completed, failed or reversed")
	}
	if backwards(q.From, q.To) {
		wrong.Add("to", "must not be before from")
	}
	if err := wrong.Err(ErrInvalidRequest); err != nil {
		return singletable.Page[Transaction]{}, err
	}
	m, err := l.current(ctx)
	if err != nil {
		return singletable.Page[Transaction]{}, err
	}
	pattern := m.byStatus
	if q.NewestFirst {
		pattern = m.byStatusNewest
	}
	in := ByStatus{q.Status, q.From, q.To}
	return page(ctx, l, pattern, in, q.PageQuery, func(i transactionItem) (Transaction, error) {
		return l.headerOf(ctx, i)
	})
}

// LegsQuery asks for the legs of an account that were created within [From, To). A nil bound is
// open; every instant is a bound, the zero time too.
type LegsQuery struct {
	AccountID AccountID
	From, To  *time.Time
	PageQuery
}

// LegsOfAccount returns a page of an account's legs, newest first. Without any it looks for the
// account, because a list of an account that does not exist is a mistake of the caller.
func (l *Ledger) LegsOfAccount(
	ctx context.Context, q LegsQuery,
) (singletable.Page[Leg], error) {
	if q.From != nil && q.To != nil && q.To.Before(*q.From) {
		return singletable.Page[Leg]{}, ErrInvalidRequest.Field("to", "must not be before from")
	}
	in := ByAccount{q.AccountID, q.From, q.To}
	legs, err := page(ctx, l, modelOf(l).legsOfAccount, in, q.PageQuery,
		func(i legItem) (Leg, error) { return l.completeLeg(ctx, i) })
	if err == nil && len(legs.Items) == 0 && len(legs.Unreadable) == 0 {
		_, err = l.Account(ctx, q.AccountID)
	}
	return legs, err
}

// knownMerchant is Merchant for postings. Merchants are never changed, so what was found once
// is always right.
func (l *Ledger) knownMerchant(ctx context.Context, id MerchantID) (Merchant, error) {
	if m, ok := l.merchants.Load(id); ok {
		return m.(Merchant), nil
	}
	m, err := l.Merchant(ctx, id)
	if err != nil {
		return Merchant{}, err
	}
	if l.merchantCount.Add(1) > merchantsMax {
		l.merchants.Clear()
		l.merchantCount.Store(0)
	}
	l.merchants.Store(id, m)
	return m, nil
}

// load reads the accounts that are not known of some lanes. The account of a lane is empty if there
// is none.
func (l *Ledger) load(ctx context.Context, lanes []*lane) error {
	var missing []accountItem
	for _, lane := range lanes {
		if !lane.known {
			missing = append(missing, accountItem{ID: lane.id})
		}
	}
	if missing == nil {
		return nil
	}
	found, err := modelOf(l).accounts.GetMany(ctx, l.store, missing, singletable.Consistent())
	if err != nil {
		return failed("read accounts for", "posting", err)
	}
	at := 0
	for _, lane := range lanes {
		if lane.known {
			continue
		}
		lane.account = Account{}
		if item := found[at]; item != nil {
			lane.account, lane.known = accountOf(*item), true
		}
		at++
	}
	return nil
}
