package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// A change that expects an account is made only to that account: neither a leg nor another change
// may have come in between.
func TestAChangeIsMadeOnlyToTheAccountThatIsKnown(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	zero, limit := money.MustParse("0", "USD"), money.MustParse("5", "USD")
	for name, change := range map[string]func(
		context.Context, ledger.AccountID, ...ledger.Account,
	) (ledger.Account, error){
		"freeze":   b.FreezeAccount,
		"unfreeze": b.UnfreezeAccount,
		"close":    b.CloseAccount,
		"overdraft": func(
			ctx context.Context, id ledger.AccountID, known ...ledger.Account,
		) (ledger.Account, error) {
			return b.SetOverdraft(ctx, id, limit, false, known...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := ledger.AccountID("of-" + name)
			b.account(id, zero)
			first, err := b.Account(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			now, err := b.SetOverdraft(t.Context(), id, money.MustParse("1", "USD"), false)
			if err != nil {
				t.Fatal(err)
			}
			moved := now
			moved.Version++
			for _, stale := range []ledger.Account{first, moved} {
				_, err := change(t.Context(), id, stale)
				if !errors.Is(err, ledger.ErrAccountChanged) {
					t.Errorf("a change of another state: %v", err)
				}
			}
			if after, err := b.Account(t.Context(), id); err != nil || after != now {
				t.Errorf("what was refused has changed the account to %+v, %v", after, err)
			}
			if _, err := change(t.Context(), id, now); err != nil {
				t.Errorf("a change of what is known: %v", err)
			}
		})
	}
}
