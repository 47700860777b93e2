package locations_test

import (
	"os"
	"testing"
)

// TestCoreScenariosHoldOnAStrictStore runs what the directory is for on pages that end early,
// batches done in part, conflicts, and indexes a moment behind.
func TestCoreScenariosHoldOnAStrictStore(t *testing.T) {
	if os.Getenv(endpointEnv) != "" {
		t.Skip("faults are injected by the embedded database")
	}
	t.Setenv(strictEnv, "1")
	for _, scenario := range []struct {
		name string
		run  func(*testing.T)
	}{
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
	} {
		t.Run(scenario.name, scenario.run)
	}
}
