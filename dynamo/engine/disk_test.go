package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// TestADiskThatLosesPowerKeepsWhatWasAcknowledged cuts the power before a sync, when the write is
// not acknowledged yet: what came before it is there, and it is there or not, but nothing else.
func TestADiskThatLosesPowerKeepsWhatWasAcknowledged(t *testing.T) {
	for _, percent := range []int{0, 100} {
		t.Run(fmt.Sprintf("%d percent", percent), func(t *testing.T) {
			ctx := context.Background()
			disk := engine.NewDisk()
			opts := engine.Options{Disk: disk, SweepInterval: -1}
			db, err := engine.Open("data", opts)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if err := createLoadTable(ctx, db); err != nil {
				t.Fatal(err)
			}
			put := func(name string) {
				t.Helper()
				in := &dynamo.PutInput{TableName: loadTable, Item: key(name, "1")}
				if _, err := db.Put(ctx, in); err != nil {
					t.Fatal(err)
				}
			}
			put("acknowledged")
			// The database may sync something of its own meanwhile, as that a table is ready. The
			// write is on the disk at no sync before its own, so that the first cut shows that it
			// can be lost, and it is written at the last one before its answer.
			var mu sync.Mutex
			var cuts []*engine.Disk
			disk.OnSync(func() {
				mu.Lock()
				defer mu.Unlock()
				cuts = append(cuts, disk.CutPower(1, percent))
			})
			put("cut")
			disk.OnSync(nil)
			mu.Lock()
			defer mu.Unlock()
			put("later")
			if len(cuts) == 0 {
				t.Fatal("a put was acknowledged without a sync")
			}
			opts.Disk = cuts[0]
			if percent == 100 {
				opts.Disk = cuts[len(cuts)-1]
			}
			after, err := engine.Open("data", opts)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = after.Close() }()
			for name, want := range map[string]bool{
				"acknowledged": true, "cut": percent == 100, "later": false,
			} {
				in := &dynamo.GetInput{TableName: loadTable, Key: key(name, "1")}
				out, err := after.Get(ctx, in)
				if err != nil {
					t.Fatal(err)
				}
				if got := out.Item != nil; got != want {
					t.Errorf("%s: there is %v, want %v", name, got, want)
				}
			}
		})
	}
}
