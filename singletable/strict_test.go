package singletable_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// patient is a store for tests that look into an index right after they wrote. On a store whose
// indexes follow later they would have to wait; before the first page of an index it lets the
// index catch up instead. Pages after the first are as late as they come.
type patient struct {
	storetest.Database
}

// Query reads a page.
func (d patient) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	if in.IndexName != "" && in.ExclusiveStartKey == nil {
		if err := d.CatchUp(); err != nil {
			return nil, err
		}
	}
	return d.Database.Query(ctx, in)
}

// Scan reads a page.
func (d patient) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	if in.IndexName != "" && in.ExclusiveStartKey == nil {
		if err := d.CatchUp(); err != nil {
			return nil, err
		}
	}
	return d.Database.Scan(ctx, in)
}

// TestCoreScenariosHoldOnAStrictStore runs what the kit is for on the faults of [engine.Strict].
// With EXCHEQUER_STRICT set, every test of the package does.
func TestCoreScenariosHoldOnAStrictStore(t *testing.T) {
	if os.Getenv("EXCHEQUER_ROUNDS") == "" {
		setForTest(t, "rapid.checks", "20") // the same properties try more cases elsewhere
	}
	storetest.RunStrict(t, []storetest.Scenario{
		{"verbs", TestCreateThenGetReturnsTheSame},
		{"updates keep index keys", TestUpdateChangesFieldsAndKeepsIndexKeys},
		{"versions", TestReplaceDemandsTheVersion},
		{"transactions merge", TestTxMergesTwoUpdatesOfOneItem},
		{"batches", TestBatchesGoOnWithWhatWasLeftUnprocessed},
		{"unique values", TestUniqueValuesStayUnique},
		{"patterns and pages", TestPatternsFindWhatANaiveListHas},
		{"indexes of every kind", TestIndexesOfEveryKind},
		{"scans", TestScansFindTheEntityAndNothingElse},
		{"rows that come and go", TestRowsThatComeAndGoBetweenPagesDisturbNoOthers},
		{"concurrent updates", TestConcurrentUpdatesThatReadFirstAreAllDone},
	}...)
}

// setForTest sets a flag until the test ends.
func setForTest(t *testing.T, name, value string) {
	t.Helper()
	old := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, old) })
}

// TestALateIndexShowsAnOlderListAndThenAll reads a list while it grows, from an index that follows
// later: what is read is the beginning of the list, in order and without repeats, and once the time
// has passed it is the whole list.
func TestALateIndexShowsAnOlderListAndThenAll(t *testing.T) {
	ctx := t.Context()
	now := opened
	db, err := engine.OpenMemory(engine.Options{
		SweepInterval: -1, Now: func() time.Time { return now },
		Faults: engine.Faults{Seed: 3, Rules: []engine.Fault{
			{Kind: engine.FaultIndexLag, Delay: time.Second},
			{Kind: engine.FaultEarlyPage, Rate: 0.5},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := newBank()
	type ofUser struct{ UserID string }
	list := st.NewQuery[ofUser](b.accounts, "accounts of a user", st.UseIndex("GSI1"))
	if err := b.table.Ensure(ctx, db); err != nil {
		t.Fatal(err)
	}
	s := st.NewStore(db, st.Options{CursorKey: []byte("k")})
	read := func() (ids []string) {
		for cursor := ""; ; {
			page, err := list.Page(ctx, s, ofUser{"u1"}, 4, cursor)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page.Items {
				ids = append(ids, a.ID)
			}
			if cursor = page.Next; cursor == "" {
				return ids
			}
		}
	}
	expect := func(ids []string, least, most int) {
		t.Helper()
		if len(ids) < least || len(ids) > most {
			t.Errorf("the list has %d of %d to %d", len(ids), least, most)
		}
		for i, id := range ids {
			if id != fmt.Sprintf("a%02d", i) {
				t.Errorf("row %d is %s", i, id)
			}
		}
	}
	const accounts = 30
	for i := range accounts {
		a := account(fmt.Sprintf("a%02d", i), "1")
		a.OpenedAt = opened.Add(time.Duration(i) * time.Second)
		if err := b.accounts.Create(ctx, s, a); err != nil {
			t.Fatal(err)
		}
		expect(read(), max(0, i-3), i)
		now = now.Add(300 * time.Millisecond)
	}
	now = now.Add(time.Second)
	expect(read(), accounts, accounts)
}
