package statements

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/money"
)

// At says which transaction is meant.
type At struct {
	AccountID, ID string
	// Date is the day on which it stands. It is needed for transactions that another program
	// wrote, and may be left empty for all others.
	Date Date
}

// TransactionChange is what a person changes of a transaction; nil leaves as is.
//
// A field that becomes another than it was is the person's from then on: Transaction.Edited names
// it, and no file and no rule changes it any more.
type TransactionChange struct {
	Date     *Date
	Amount   *money.Decimal // Only of a transaction that was typed in.
	Merchant *string
	Notes    *string
	TagIDs   *[]string
	Transfer *bool
	// Splits divide the amount and have the tags from then on; none make it whole again.
	Splits *[]NewSplit
	// Reset names fields that are given back: they become what the bank wrote, or what the rules
	// make of it, as if nobody had changed them. The date and the amount cannot be.
	Reset []string
	// Version is the version that the caller has seen; 0 means any.
	Version uint64
}

// NewSplit is one part of an amount that is to be divided.
type NewSplit struct {
	Amount money.Decimal
	TagIDs []string
	Notes  string
}

// ChangeTransaction changes a transaction and returns it as it is then. With another date it moves,
// also into another month, and keeps its id. The error is ErrInvalid, ErrNoTransaction, ErrNoTag or
// ErrChanged.
func (p *Person) ChangeTransaction(
	ctx context.Context, at At, c TransactionChange,
) (Transaction, error) {
	return Transaction{}, errors.ErrUnsupported
}

// DeleteTransaction removes a transaction. No file brings it back. Version is the version that the
// caller has seen; 0 means any. The error is ErrNoTransaction or ErrChanged.
func (p *Person) DeleteTransaction(ctx context.Context, at At, version uint64) error {
	return errors.ErrUnsupported
}
