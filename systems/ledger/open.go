package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
)

// CreateMerchant creates a merchant. A repeat with the same id or idempotency key returns the
// first one; with other contents it is refused with ErrMerchantExists or ErrIdempotencyConflict.
func (l *Ledger) CreateMerchant(ctx context.Context, n NewMerchant) (Merchant, error) {
	return Merchant{}, nil
}

// OpenAccount opens an account with a balance of zero. A repeat with the same id or idempotency key
// returns the account as it is now; with other contents it is refused with ErrAccountExists or
// ErrIdempotencyConflict.
func (l *Ledger) OpenAccount(ctx context.Context, n NewAccount) (Account, error) {
	return Account{}, nil
}

// FreezeAccount makes an active account refuse postings. Freezing a frozen account changes nothing.
func (l *Ledger) FreezeAccount(ctx context.Context, id AccountID) (Account, error) {
	return Account{}, nil
}

// UnfreezeAccount makes a frozen account active again.
func (l *Ledger) UnfreezeAccount(ctx context.Context, id AccountID) (Account, error) {
	return Account{}, nil
}

// CloseAccount closes an account whose balance is zero, for ever.
func (l *Ledger) CloseAccount(ctx context.Context, id AccountID) (Account, error) {
	return Account{}, nil
}

// SetOverdraft changes how far an account may go below zero. A balance that is below the new limit
// stays, and can only rise.
func (l *Ledger) SetOverdraft(
	ctx context.Context, id AccountID, limit money.Amount, unlimited bool,
) (Account, error) {
	return Account{}, nil
}
