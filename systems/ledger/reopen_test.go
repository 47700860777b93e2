package ledger_test

import (
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// A repeat of the opening of an account that asks for another overdraft is not answered as if it
// had been granted.
func TestARepeatedOpeningComparesTheOverdraft(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	ask := ledger.NewAccount{ID: "q", UserID: "u", AccountType: "x", Currency: "USD"}
	byKey := ask
	byKey.ID, byKey.IdempotencyKey = "", "k"
	for _, first := range []ledger.NewAccount{ask, byKey} {
		opened, err := b.OpenAccount(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		limited, unlimited, equal := first, first, first
		limited.OverdraftLimit, unlimited.Unlimited = usd("7"), true
		equal.OverdraftLimit = usd("0.00")
		if again, err := b.OpenAccount(t.Context(), equal); err != nil ||
			again.Account != opened.Account || !again.Replayed {
			t.Errorf("an equal repeat: %+v, %v", again, err)
		}
		for field, other := range map[string]ledger.NewAccount{
			"overdraftLimit": limited, "unlimited": unlimited,
		} {
			_, err := b.OpenAccount(t.Context(), other)
			var refused *problem.Error
			if !errors.As(err, &refused) || refused.Kind != problem.Conflict ||
				len(refused.Fields) != 1 || refused.Fields[0].Name != field {
				t.Errorf("another %s: %v", field, err)
			}
		}
		// What was changed since is not what the first request asked for.
		if _, err := b.SetOverdraft(t.Context(), opened.ID, usd("7"), false); err != nil {
			t.Fatal(err)
		}
		if again, err := b.OpenAccount(t.Context(), first); err != nil ||
			again.OverdraftLimit != usd("7") {
			t.Errorf("a repeat after a change: %+v, %v", again, err)
		}
	}
}
