package rates_test

import (
	"os"
	"testing"
)

// TestCoreScenariosHoldOnAStrictStore runs what the board is for on pages that end early, batches
// done in part, conflicts, and indexes a moment behind.
func TestCoreScenariosHoldOnAStrictStore(t *testing.T) {
	if os.Getenv(endpointEnv) != "" {
		t.Skip("faults are injected by the embedded database")
	}
	t.Setenv(strictEnv, "1")
	for _, scenario := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"the seed's items", TestSaveWritesTheSeedsItemsExactly},
		{"a whole life", TestEachInstantHasItsAnswer},
		{"the newest of many", TestOfManySaversTheNewestRemains},
		{"conversions", TestConversionsComeOutExactly},
		{"rates of dates", TestTheRateOfADateHasItsOwnDate},
		{"ranges", TestRangesBeginWithTheRateOfTheirFirstDay},
		{"files again", TestLoadingAgainChangesNothing},
		{"a long history", TestAGeneratedHistoryAnswersAnyDate},
	} {
		t.Run(scenario.name, scenario.run)
	}
}
