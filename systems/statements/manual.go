package statements

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/money"
)

// NewTransaction is a transaction that a person types in.
type NewTransaction struct {
	AccountID string
	// Key names the request, so that a repeat is harmless at any time: at most NameMax bytes, once
	// an account. Empty means that a repeat makes a second transaction.
	Key      string
	Date     Date
	Amount   money.Decimal  // Money out is negative.
	Currency money.Currency // Empty means the account's.
	Merchant string
	Notes    string
	TagIDs   []string
	Transfer bool
	Splits   []NewSplit
}

// AddTransaction adds a transaction that a person types in. The rules fill in what the person left
// out. A repeat with the same key and contents returns the transaction as it is now, and made is
// false. The error is ErrInvalid, ErrNoAccount, ErrNoTag, ErrNoTransaction for a repeat after the
// transaction was deleted, or ErrKeyUsed for a key of another request.
func (p *Person) AddTransaction(
	ctx context.Context, n NewTransaction,
) (t Transaction, made bool, err error) {
	return Transaction{}, false, errors.ErrUnsupported
}
