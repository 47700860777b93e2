package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestCoreScenariosHoldOnAStrictStore runs what the ledger is for on the faults of
// [engine.Strict]. With EXCHEQUER_STRICT set, every test of the package does.
func TestCoreScenariosHoldOnAStrictStore(t *testing.T) {
	storetest.RunStrict(t, []storetest.Scenario{
		{"accounts", TestOpenAccount},
		{"accounts of a user", TestAccountsOfAUser},
		{"a key posts once", TestAKeyPostsOnce},
		{"one key with many bodies", TestOneKeyWithManyBodies},
		{"an unknown outcome", TestAnUnknownOutcomeIsFoundOut},
		{"several in one transaction", TestPostTxSeveral},
		{"a race of debits", TestParallelDebitsOfMoreThanThereIs},
		{"postings that are joined", TestPostingsThatWaitAreJoined},
		{"a batch with refusals", TestABatchWithRefusals},
		{"reversals", TestReverseHappensOnce},
		{"reconciliation", TestReconcileWhileOthersPost},
		{"statements", TestStatementWhileOthersPost},
		{"stored items", TestStoredItems},
	}...)
}

// holdIndexes keeps the indexes as they are, and adds the other faults of [engine.Strict].
func (b *books) holdIndexes(seed uint64) {
	b.t.Helper()
	f := engine.Strict()
	f.Seed = seed
	for i := range f.Rules {
		if f.Rules[i].Kind == engine.FaultIndexLag {
			f.Rules[i] = engine.Fault{Kind: engine.FaultIndexLag, Held: true}
		}
	}
	storetest.SetFaults(b.t, b.db, f)
}

// TestWritesNeedNoIndex drives the ledger while no index follows at all: what is posted once,
// reversed once and allowed at all must not depend on one.
func TestWritesNeedNoIndex(t *testing.T) {
	for round := range storetest.Rounds(2) {
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { agree(t, seed, 150, true) })
	}
}

// TestAReconciliationOfLateIndexesFindsNothingWrong runs one right after postings that the indexes
// do not show yet: it may say that the books are moving, never that they are wrong, and in the end
// that all is well.
func TestAReconciliationOfLateIndexesFindsNothingWrong(t *testing.T) {
	b := openBooks(t, ledger.Options{Now: time.Now})
	b.faces.settle = nil
	storetest.SetFaults(b.t, b.db, engine.Strict())
	for i := range 6 {
		b.account(accountID(i), usd("100"))
	}
	for round := range 4 {
		for i := range 6 {
			b.post(transfer(accountID(i), accountID((i+1)%6), "0.01"))
		}
		for moving := true; moving; {
			r, err := b.Reconcile(t.Context(),
				ledger.ReconcileQuery{From: "2020-01-01", To: "2090-01-01"})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range r.Divergences {
				t.Errorf("round %d: %s", round, d)
			}
			moving = !r.Balanced() && !t.Failed()
		}
	}
}
