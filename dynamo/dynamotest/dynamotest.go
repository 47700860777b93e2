// Package dynamotest is the conformance test of [dynamo.DB]: a table of behaviors that programs
// rely on. Each of them is tested only through calls and their results.
//
//	func TestConformance(t *testing.T) {
//		dynamotest.Run(t, store, dynamotest.Options{ExactTexts: true})
//	}
//
// Run creates tables with unique names, waits until they are active, and deletes them at the end,
// so it can be used with a store that has other tables. [NewApart] does the same for tests with
// fixed table names. Reads of global indexes are repeated for some time, because indexes may lag.
package dynamotest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Store is the interface under test: items and tables.
type Store interface {
	dynamo.DB
	dynamo.Admin
}

// Options select the tests. The zero Options run all tests without comparing exact texts.
type Options struct {
	// ExactTexts compares the messages of errors with those of the service, in addition to their
	// codes.
	ExactTexts bool
	// Skip maps an area ("capacity") or a single behavior ("capacity/reads are in steps of 4 KB")
	// to the reason why it is not tested. An unknown name fails the test, so that a reason is
	// removed together with its behavior.
	Skip map[string]string
}

// behaviour is one property of a store. Its name is a sentence about it.
type behaviour struct {
	name string
	run  func(k *kit)
}

// areas returns all behaviors by their area.
func areas() map[string][]behaviour {
	return map[string][]behaviour{
		"items":        items(),
		"conditions":   conditions(),
		"updates":      updates(),
		"projections":  projections(),
		"queries":      queries(),
		"pages":        pages(),
		"indexes":      indexes(),
		"scans":        scans(),
		"batches":      batches(),
		"transactions": transactions(),
		"tokens":       tokens(),
		"numbers":      numbers(),
		"capacity":     capacity(),
		"tables":       tables(),
		"expiry":       expiry(),
		"refusals":     refusals(),
	}
}

// Run tests a store for every behavior that is not skipped, each in a subtest of its area.
func Run(t *testing.T, store Store, opts Options) {
	t.Helper()
	all := areas()
	checkSkips(t, all, opts.Skip)
	f := newFixture(t, store)
	for area, behaviours := range all {
		t.Run(area, func(t *testing.T) {
			if why, skip := opts.Skip[area]; skip {
				t.Skip(why)
			}
			for _, b := range behaviours {
				t.Run(b.name, func(t *testing.T) {
					if why, skip := opts.Skip[area+"/"+b.name]; skip {
						t.Skip(why)
					}
					b.run(&kit{
						T: t, Store: store, ctx: t.Context(), exact: opts.ExactTexts, fixture: f,
						partition: f.name(b.name),
					})
				})
			}
		})
	}
}

func checkSkips(t *testing.T, all map[string][]behaviour, skip map[string]string) {
	t.Helper()
	names := map[string]bool{}
	for area, behaviours := range all {
		names[area] = true
		for _, b := range behaviours {
			names[area+"/"+b.name] = true
		}
	}
	for name := range skip {
		if !names[name] {
			t.Errorf("there is no behaviour %q to skip", name)
		}
	}
}

// fixture is shared by all behaviors. Each behavior uses partitions of its own.
type fixture struct {
	prefix string
	main   string // keys pk (S) and sk (S); see createMain
	plain  string // key id (N)
}

// The indexes of the main table.
const (
	indexLocal  = "byNumber"  // pk and n (N); everything is projected
	indexGlobal = "byGroup"   // all attributes are projected
	indexKeys   = "groupKeys" // all attributes are projected
	indexSome   = "groupSome" // g (S) and sk (S); attribute a is projected as well
)

func newFixture(t *testing.T, store Store) *fixture {
	t.Helper()
	f := &fixture{prefix: "dynamotest-" + rand.Text()[:10]}
	f.main, f.plain = f.prefix+"-main", f.prefix+"-plain"
	createTable(t, store, mainTable(f.main))
	createTable(t, store, &dynamo.CreateTableInput{
		TableName: f.plain, KeySchema: dynamo.HashKey("id"),
		BillingMode: dynamo.BillingPayPerRequest,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindN},
		},
	})
	return f
}

func mainTable(name string) *dynamo.CreateTableInput {
	all := dynamo.Projection{ProjectionType: dynamo.ProjectAll}
	in := &dynamo.CreateTableInput{
		TableName: name, KeySchema: dynamo.HashRangeKey("pk", "sk"),
		BillingMode: dynamo.BillingPayPerRequest,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "pk", AttributeType: dynamo.KindS},
			{AttributeName: "sk", AttributeType: dynamo.KindS},
			{AttributeName: "g", AttributeType: dynamo.KindS},
			{AttributeName: "n", AttributeType: dynamo.KindN},
		},
		LocalSecondaryIndexes: []dynamo.LocalSecondaryIndex{
			{IndexName: indexLocal, KeySchema: dynamo.HashRangeKey("pk", "n"), Projection: all},
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{
			{IndexName: indexGlobal, KeySchema: dynamo.HashRangeKey("g", "n"), Projection: all},
			{
				IndexName: indexKeys, KeySchema: dynamo.HashKey("g"),
				Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
			},
			{
				IndexName: indexSome, KeySchema: dynamo.HashRangeKey("g", "sk"),
				Projection: dynamo.Projection{
					ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"a"},
				},
			},
		},
	}
	return in
}

// name returns a unique name of this run for a sentence.
func (f *fixture) name(sentence string) string {
	return f.prefix + "/" + strings.ReplaceAll(sentence, " ", "-")
}

// patience is the maximum time to wait for tables and for lagging indexes.
const patience = 5 * time.Minute

// await calls done until it returns true, and reports whether it did in time.
func await(ctx context.Context, done func() bool) bool {
	end := time.Now().Add(patience)
	for pause := time.Millisecond; !done(); pause = min(2*pause, time.Second) {
		if time.Now().After(end) || ctx.Err() != nil {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// createTable creates a table, waits until it is active, and deletes it when the test ends.
func createTable(t *testing.T, store Store, in *dynamo.CreateTableInput) {
	t.Helper()
	if _, err := store.CreateTable(t.Context(), in); err != nil {
		t.Fatalf("create table %s: %v", in.TableName, err)
	}
	t.Cleanup(func() { dropTable(t, store, in.TableName) })
	awaitActive(t, store, in.TableName)
}

func awaitActive(t *testing.T, store Store, table string) {
	t.Helper()
	ok := await(t.Context(), func() bool {
		d, err := store.DescribeTable(t.Context(), table)
		if err != nil && !errors.Is(err, dynamo.ErrResourceNotFound) {
			t.Fatalf("describe table %s: %v", table, err)
		}
		if err != nil || d.TableStatus != dynamo.StatusActive {
			return false
		}
		for _, x := range d.GlobalSecondaryIndexes {
			if x.IndexStatus != dynamo.StatusActive {
				return false
			}
		}
		return true
	})
	if !ok {
		t.Fatalf("table %s does not become active", table)
	}
}

func dropTable(t *testing.T, store Store, table string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	gone := await(ctx, func() bool {
		_, err := store.DeleteTable(ctx, table)
		if errors.Is(err, dynamo.ErrResourceNotFound) {
			return true
		}
		if err != nil && !errors.Is(err, dynamo.ErrResourceInUse) {
			t.Fatalf("delete table %s: %v", table, err)
		}
		return false
	})
	if !gone {
		t.Errorf("table %s is still there", table)
	}
}
