package rates_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestCoreScenariosHoldOnAStrictStore runs what the board is for on pages that end early, batches
// done in part, conflicts, and indexes a moment behind.
func TestCoreScenariosHoldOnAStrictStore(t *testing.T) {
	storetest.RunStrict(t, []storetest.Scenario{
		{"the seed's items", TestSaveWritesTheSeedsItemsExactly},
		{"a whole life", TestEachInstantHasItsAnswer},
		{"the newest of many", TestOfManySaversTheNewestRemains},
		{"conversions", TestConversionsComeOutExactly},
		{"rates of dates", TestTheRateOfADateHasItsOwnDate},
		{"ranges", TestRangesBeginWithTheRateOfTheirFirstDay},
		{"files again", TestLoadingAgainChangesNothing},
		{"a long history", TestAGeneratedHistoryAnswersAnyDate},
	}...)
}
