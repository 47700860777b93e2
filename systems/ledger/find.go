package ledger

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Merchant returns a merchant by its id, or ErrMerchantNotFound.
func (l *Ledger) Merchant(ctx context.Context, id MerchantID) (Merchant, error) {
	return Merchant{}, nil
}

// Account returns an account by its id as of now, or ErrAccountNotFound.
func (l *Ledger) Account(ctx context.Context, id AccountID) (Account, error) {
	return Account{}, nil
}

// PageQuery says which page of a list to read.
type PageQuery struct {
	// Size is the greatest number of rows, 1 to PageMax; 0 means PageDefault.
	Size int
	// Cursor is the Next of the page before, or empty for the first.
	Cursor string
}

// Bounds of a page. A page of 1,000 rows fits one call to the store.
const (
	PageDefault = 100
	PageMax     = 1000
)

// AccountsOfUser returns a page of the accounts of a user, by account id.
func (l *Ledger) AccountsOfUser(
	ctx context.Context, user UserID, page PageQuery,
) (singletable.Page[Account], error) {
	return singletable.Page[Account]{}, nil
}

// Accounts returns a page of all accounts, the ledger's own among them, in no order that means
// anything.
func (l *Ledger) Accounts(ctx context.Context, page PageQuery) (singletable.Page[Account], error) {
	return singletable.Page[Account]{}, nil
}

// Transaction returns the header of a transaction, or ErrTransactionNotFound.
func (l *Ledger) Transaction(ctx context.Context, id TransactionID) (Transaction, error) {
	return Transaction{}, nil
}

// Entry returns a transaction and all its legs by one query of its item collection, or
// ErrTransactionNotFound.
func (l *Ledger) Entry(ctx context.Context, id TransactionID) (Entry, error) {
	return Entry{}, nil
}

// TransactionByKey returns the transaction that was posted with an idempotency key, by the look-up
// in GSI2, or ErrTransactionNotFound. On a store whose indexes lag it may miss the newest.
func (l *Ledger) TransactionByKey(ctx context.Context, key string) (Transaction, error) {
	return Transaction{}, nil
}

// EntryByKey returns the transaction that was posted with an idempotency key, with its legs, as of
// now: its id follows from the key. It returns ErrTransactionNotFound when the key is free.
func (l *Ledger) EntryByKey(ctx context.Context, key string) (Entry, error) {
	return Entry{}, nil
}

// StatusQuery asks for the transactions of one status that were created within [From, To). A zero
// bound is open.
type StatusQuery struct {
	Status   TransactionStatus
	From, To time.Time
	// NewestFirst turns the order round.
	NewestFirst bool
	PageQuery
}

// TransactionsByStatus returns a page of the transactions of one status by time.
func (l *Ledger) TransactionsByStatus(
	ctx context.Context, q StatusQuery,
) (singletable.Page[Transaction], error) {
	return singletable.Page[Transaction]{}, nil
}

// LegsOfAccount returns a page of an account's legs, newest first.
func (l *Ledger) LegsOfAccount(
	ctx context.Context, id AccountID, page PageQuery,
) (singletable.Page[Leg], error) {
	return singletable.Page[Leg]{}, nil
}
