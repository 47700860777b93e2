package locations_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestCoreScenariosHoldOnAStrictStore runs what the directory is for on pages that end early,
// batches done in part, conflicts, and indexes a moment behind.
func TestCoreScenariosHoldOnAStrictStore(t *testing.T) {
	storetest.RunStrict(t, []storetest.Scenario{
		{"codes that are taken", TestCreateSaysWhyACodeIsTaken},
		{"changes", TestUpdate},
		{"swaps", TestSwapExchangesCodes},
		{"a whole life", TestRestoreReleaseAndReuse},
		{"lists", TestListPagesAreFilledAndLoseNothing},
		{"lists in order", TestListsInOrder},
		{"what is near", TestNearAtTheEdges},
		{"the kept list", TestAListNeverMissesAWriteThatHasReturned},
		{"repairs", TestRepairFindsAndMendsWhatFaultsLeave},
		{"random operations", TestNoSequenceOfOperationsBreaksTheDirectory},
	}...)
}
