package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// addIndex adds an index on the note of the load's counters to its table, named after a number.
func addIndex(ctx context.Context, db *engine.DB, n int) error {
	_, err := db.UpdateTable(ctx, &dynamo.UpdateTableInput{
		TableName: loadTable,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "Note", AttributeType: dynamo.KindS},
			{AttributeName: "N", AttributeType: dynamo.KindN},
		},
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{
			Create: &dynamo.GlobalSecondaryIndex{
				IndexName: fmt.Sprint("Added", n), KeySchema: dynamo.HashRangeKey("Note", "N"),
				Projection: dynamo.Projection{
					ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"Amount"},
				},
			},
		}},
	})
	return err
}

func dropIndex(ctx context.Context, db *engine.DB, n int) error {
	_, err := db.UpdateTable(ctx, &dynamo.UpdateTableInput{
		TableName: loadTable,
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{
			{Delete: fmt.Sprint("Added", n)},
		},
	})
	return err
}

// fillLoadTable puts items into the load's table that its workers do not touch.
func fillLoadTable(t *testing.T, db *engine.DB, n int) {
	t.Helper()
	for i := 0; i < n; i += 25 {
		var writes []dynamo.WriteRequest
		for j := range 25 {
			item := key(fmt.Sprint("filler", i), fmt.Sprint(j))
			item["Note"], item["N"] = dynamo.S(fmt.Sprint(i%10)), dynamo.Int(int64(j))
			item["Expires"] = dynamo.Int(1_900_000_000)
			writes = append(writes, dynamo.WriteRequest{Put: item})
		}
		if _, err := db.BatchWrite(context.Background(), &dynamo.BatchWriteInput{
			RequestItems: map[string][]dynamo.WriteRequest{loadTable: writes},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIndexesAndExpiryAreFilledWhileTheirTableIsWritten adds and drops indexes and turns expiry
// off and on under a load.
func TestIndexesAndExpiryAreFilledWhileTheirTableIsWritten(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	fillLoadTable(t, db, 1000)
	l := newLoad(db, 4)
	stop := l.start(func(err error) { t.Error(err) })
	defer stop()
	for i := range rounds(t, 4) {
		if err := addIndex(ctx, db, i); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 { // the second is dropped while it is being filled
			if err := dropIndex(ctx, db, i); err != nil {
				t.Fatal(err)
			}
		}
		for _, on := range []bool{false, true} {
			if err := db.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
				TableName: loadTable, AttributeName: "Expires", Enabled: on,
			}); err != nil {
				t.Fatal(err)
			}
		}
		waitUntil(t, func() bool { return db.Settled(loadTable) || t.Failed() })
		if err := db.Audit(loadTable); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		if i%2 == 0 {
			if err := dropIndex(ctx, db, i); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAnIndexIsFilledAfterAnInterruption closes the database, or cuts its power, while an index
// is being filled.
func TestAnIndexIsFilledAfterAnInterruption(t *testing.T) {
	for _, how := range []string{"close", "power cut"} {
		t.Run(how, func(t *testing.T) {
			ctx := context.Background()
			disk := vfs.NewCrashableMem()
			db, err := engine.Open("data", smallMemory.WithDisk(disk))
			if err != nil {
				t.Fatal(err)
			}
			if err := createLoadTable(ctx, db); err != nil {
				t.Fatal(err)
			}
			fillLoadTable(t, db, 2000)
			if err := addIndex(ctx, db, 0); err != nil {
				t.Fatal(err)
			}
			left := disk.CrashClone(vfs.CrashCloneCfg{})
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if how == "close" {
				left = disk
			}
			if db, err = engine.Open("data", smallMemory.WithDisk(left)); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			waitUntil(t, func() bool { return db.Settled(loadTable) })
			if err := db.Audit(loadTable); err != nil {
				t.Fatal(err)
			}
			out, err := db.Query(ctx, &dynamo.QueryInput{
				TableName: loadTable, IndexName: "Added0", KeyConditionExpression: "Note = :n",
				Expressions: values(dynamo.Item{":n": dynamo.S("5")}), Select: dynamo.SelectCount,
			})
			if err != nil || out.Count != 1000 {
				t.Fatalf("%+v, %v", out, err)
			}
		})
	}
}

// TestTheSweepAndWritesAgree moves the times of items about while they expire.
func TestTheSweepAndWritesAgree(t *testing.T) {
	seed := newSeed(t)
	ctx := context.Background()
	const now = 1_900_000_000
	db, err := engine.OpenMemory(engine.Options{
		SweepInterval: -1, Now: func() time.Time { return time.Unix(now, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	const writers, items = 4, 8
	var busy atomic.Int32
	busy.Store(writers)
	var all sync.WaitGroup
	writes := rounds(t, 1000)
	for w := range writers {
		all.Go(func() {
			defer busy.Add(-1)
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for range writes {
				item := key("A", fmt.Sprint(r.IntN(items)))
				item["GSI1PK"], item["GSI1SK"] = dynamo.S("G"), dynamo.S(fmt.Sprint(r.IntN(3)))
				item["Expires"] = dynamo.Int(now - 2 + r.Int64N(4))
				put := &dynamo.PutInput{TableName: loadTable, Item: item}
				if _, err := db.Put(ctx, put); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	swept := 0
	for busy.Load() > 0 {
		n, err := db.ExpireNow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		swept += n
	}
	all.Wait()
	if _, err := db.ExpireNow(ctx); err != nil {
		t.Fatal(err)
	}
	out, err := db.Scan(ctx, &dynamo.ScanInput{TableName: loadTable})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range out.Items {
		if number(item["Expires"]) < now {
			t.Errorf("%v is over", item)
		}
	}
	if err := db.Audit(loadTable); err != nil {
		t.Error(err)
	}
	t.Logf("%d swept", swept)
}

// TestTheSweepRunsByItself waits for the work in the background to delete an item.
func TestTheSweepRunsByItself(t *testing.T) {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{SweepInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	item := key("a", "1")
	item["Expires"] = dynamo.Int(time.Now().Unix() - 10)
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: loadTable, Item: item}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool {
		out, err := db.Get(ctx, &dynamo.GetInput{TableName: loadTable, Key: key("a", "1")})
		return err != nil || out.Item == nil
	})
}

// TestAWriteLargerThanMemoryOutlivesAPowerCut writes 4 MB at once to a store that keeps 256 KB.
func TestAWriteLargerThanMemoryOutlivesAPowerCut(t *testing.T) {
	ctx := context.Background()
	disk := vfs.NewCrashableMem()
	db, err := engine.Open("data", smallMemory.WithDisk(disk))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	in := &dynamo.TransactWriteInput{}
	const items = 10
	for i := range items {
		item := key("big", fmt.Sprint(i))
		item["GSI2PK"], item["GSI2SK"] = dynamo.S("G"), dynamo.S("S")
		item["Note"] = dynamo.S(strings.Repeat("x", 400_000))
		in.Items = append(in.Items, dynamo.TransactWriteItem{
			Put: &dynamo.PutInput{TableName: loadTable, Item: item},
		})
	}
	if _, err := db.TransactWrite(ctx, in); err != nil {
		t.Fatal(err)
	}
	again, err := engine.Open("data", smallMemory.WithDisk(disk.CrashClone(vfs.CrashCloneCfg{})))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	waitUntil(t, func() bool { return again.Settled(loadTable) })
	if err := again.Audit(loadTable); err != nil {
		t.Fatal(err)
	}
	if d, err := again.DescribeTable(ctx, loadTable); err != nil || d.ItemCount != items {
		t.Fatalf("%+v, %v", d, err)
	}
}
