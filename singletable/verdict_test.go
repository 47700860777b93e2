package singletable_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// described is a store whose descriptions are changed.
type described struct {
	dynamo.Admin
	table  func(*dynamo.TableDescription)
	expiry func(*dynamo.TimeToLiveDescription)
}

func (d described) DescribeTable(
	ctx context.Context, name string,
) (*dynamo.TableDescription, error) {
	out, err := d.Admin.DescribeTable(ctx, name)
	if err == nil && d.table != nil {
		d.table(out)
	}
	return out, err
}

func (d described) DescribeTimeToLive(
	ctx context.Context, name string,
) (*dynamo.TimeToLiveDescription, error) {
	out, err := d.Admin.DescribeTimeToLive(ctx, name)
	if err == nil && d.expiry != nil {
		d.expiry(out)
	}
	return out, err
}

// A comparison has three results. Each case breaks one thing that it looks at.
func TestAComparisonOfATableHasThreeResults(t *testing.T) {
	_, db := openTables(t)
	table := st.NewTable("checked", st.Keys("PK", "SK"), st.GSI("GSI1", "A", "B"),
		st.GSI("GSI2", "C", "", st.Include("x")), st.LSI("LSI1", "D"), st.TTL("ttl"))
	if err := table.Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	type tables = dynamo.TableDescription
	type expiry = dynamo.TimeToLiveDescription
	for name, test := range map[string]struct {
		table             func(*tables)
		expiry            func(*expiry)
		differ, undecided []string
	}{
		"as it is": {},
		"another key": {table: func(d *tables) { d.KeySchema = dynamo.HashKey("PK") },
			differ: []string{"the key is (PK), not (PK, SK)"}},
		"another type": {table: func(d *tables) {
			for i := range d.AttributeDefinitions {
				if d.AttributeDefinitions[i].AttributeName == "B" {
					d.AttributeDefinitions[i].AttributeType = dynamo.KindN
				}
			}
		}, differ: []string{"key attribute B is of type N, not S"}},
		"an index is missing": {table: func(d *tables) {
			d.GlobalSecondaryIndexes = d.GlobalSecondaryIndexes[:1]
		}, differ: []string{"index GSI2 is missing"}},
		"a local index is missing": {table: func(d *tables) { d.LocalSecondaryIndexes = nil },
			differ: []string{"index LSI1 is missing"}},
		"another key of an index": {table: func(d *tables) {
			d.GlobalSecondaryIndexes[0].KeySchema = dynamo.HashKey("A")
		}, differ: []string{"the key of index GSI1 is (A), not (A, B)"}},
		"another projection": {table: func(d *tables) {
			d.GlobalSecondaryIndexes[1].Projection.NonKeyAttributes = []string{"y"}
		}, differ: []string{"index GSI2 projects INCLUDE y, not INCLUDE x"}},
		"one more index": {table: func(d *tables) {
			more := d.GlobalSecondaryIndexes[0]
			more.IndexName = "GSI3"
			d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, more)
		}, differ: []string{"index GSI3 is not defined here"}},
		"another expiry": {expiry: func(d *expiry) { d.AttributeName = "end" },
			differ: []string{`expiry is by "end", not "ttl"`}},
		"no expiry": {
			expiry: func(d *expiry) { d.TimeToLiveStatus, d.AttributeName = "DISABLED", "" },
			differ: []string{`expiry is by "", not "ttl"`}},
		"expiry that ends": {
			expiry: func(d *expiry) { d.TimeToLiveStatus = dynamo.TimeToLiveDisabling },
			differ: []string{`expiry by "ttl" is being turned off`}},
		"expiry that begins": {
			expiry:    func(d *expiry) { d.TimeToLiveStatus = dynamo.TimeToLiveEnabling },
			undecided: []string{`expiry by "ttl" is being turned on`}},
		"a table that goes": {table: func(d *tables) { d.TableStatus = dynamo.StatusDeleting },
			differ: []string{"the table is DELETING"}},
		"a table that is archived": {table: func(d *tables) { d.TableStatus = "ARCHIVED" },
			differ: []string{"the table is ARCHIVED"}},
		"a new table": {table: func(d *tables) { d.TableStatus = dynamo.StatusCreating },
			undecided: []string{"the table is CREATING"}},
		"a table that changes": {table: func(d *tables) { d.TableStatus = dynamo.StatusUpdating },
			undecided: []string{"the table is UPDATING"}},
		"an index that goes": {table: func(d *tables) {
			d.GlobalSecondaryIndexes[0].IndexStatus = dynamo.StatusDeleting
		}, differ: []string{"index GSI1 is DELETING"}},
		"an index that is built": {table: func(d *tables) {
			d.GlobalSecondaryIndexes[0].IndexStatus = dynamo.StatusCreating
		}, undecided: []string{"index GSI1 is CREATING"}},
		"an index that is filled": {table: func(d *tables) {
			d.GlobalSecondaryIndexes[0].Backfilling = true
		}, undecided: []string{"index GSI1 is being filled"}},
		"one of each": {table: func(d *tables) {
			d.TableStatus = dynamo.StatusUpdating
			d.LocalSecondaryIndexes = nil
		}, differ: []string{"index LSI1 is missing"}, undecided: []string{"the table is UPDATING"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := table.Compare(t.Context(), described{db, test.table, test.expiry})
			if err != nil {
				t.Fatal(err)
			}
			want := st.Comparison{Differences: test.differ, Undecided: test.undecided}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			verdict := st.VerdictSound
			switch {
			case test.differ != nil:
				verdict = st.VerdictFaulty
			case test.undecided != nil:
				verdict = st.VerdictUndecided
			}
			if got.Verdict() != verdict {
				t.Errorf("the verdict is %s, want %s", got.Verdict(), verdict)
			}
		})
	}
}
