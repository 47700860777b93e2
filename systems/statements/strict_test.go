package statements_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestOnAStrictStore runs what writes and pages a lot on a store with faults, in every run of the
// tests.
func TestOnAStrictStore(t *testing.T) {
	storetest.RunStrict(t, []storetest.Scenario{
		{Name: "edits, rules and tags keep to a plain model",
			Run: TestEditsRulesAndTagsKeepToAPlainModel},
		{Name: "a job that is killed at any write ends the same",
			Run: TestAJobThatIsKilledAtAnyWriteEndsTheSame},
		{Name: "a request with a key is taken once", Run: TestARequestWithAKeyIsTakenOnce},
		{Name: "changes at the same time all happen", Run: TestChangesAtTheSameTimeAllHappen},
	}...)
}
