package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// slowDisk makes every sync take a while, as disks do, so that there is time for a power cut
// between the moment a write becomes visible and the moment it is on the disk.
type slowDisk struct{ vfs.FS }

const syncTime = 300 * time.Microsecond

func (d slowDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	return slowFile{f}, err
}

func (d slowDisk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (
	vfs.File, error,
) {
	f, err := d.FS.OpenReadWrite(name, c, opts...)
	return slowFile{f}, err
}

func (d slowDisk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, c)
	return slowFile{f}, err
}

type slowFile struct{ vfs.File }

func (f slowFile) Sync() error {
	time.Sleep(syncTime)
	return f.File.Sync()
}

func (f slowFile) SyncData() error {
	time.Sleep(syncTime)
	return f.File.SyncData()
}

// smallMemory makes the store write out its memory often, so that power cuts meet that as well.
var smallMemory = engine.Options{MemTableSize: 256 << 10, CacheSize: 1 << 20, SweepInterval: -1}

// cutPower runs a load on a disk and cuts the power several times while it runs. It returns the
// first complaint about what a cut left.
func cutPower(t *testing.T, seed uint64, cuts int, opts engine.Options) error {
	random := rand.New(rand.NewPCG(seed, 0))
	disk := vfs.NewCrashableMem()
	db, err := engine.Open("data", opts.WithDisk(slowDisk{disk}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := createLoadTable(context.Background(), db); err != nil {
		t.Fatal(err)
	}
	const workers = 8
	l := newLoad(db, workers)
	stop := l.start(func(err error) { t.Error(err) })
	defer stop()
	for range cuts {
		target := l.moved.Load() + 1 + random.Int64N(150)
		waitUntil(t, func() bool { return l.moved.Load() >= target || t.Failed() })
		// What was acknowledged, or told to a reader, before the cut must be there after it.
		p := promises{acked: marks(l.acked), told: marks(l.seen)}
		left := disk.CrashClone(vfs.CrashCloneCfg{
			UnsyncedDataPercent: []int{0, 0, 50, 100}[random.IntN(4)],
			RNG:                 rand.New(rand.NewPCG(random.Uint64(), 0)),
		})
		p.issued = marks(l.issued)
		if err := examine(left, opts, p); err != nil {
			return err
		}
	}
	return nil
}

// examine opens what a power cut left, twice: the first opening repairs.
func examine(disk *vfs.MemFS, opts engine.Options, p promises) error {
	for range 2 {
		db, err := engine.Open("data", opts.WithDisk(disk))
		if err != nil {
			return err
		}
		err = verify(db, p)
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// That it notices reads that do not wait for the disk was tried by taking out the waits.
func TestAPowerCutLosesNothingThatWasAcknowledgedOrRead(t *testing.T) {
	seed := newSeed(t)
	for i := range rounds(t, 2) {
		if err := cutPower(t, seed+uint64(i), 12, smallMemory); err != nil {
			t.Fatalf("seed %d: %v", seed+uint64(i), err)
		}
	}
}

func TestAMissingSyncIsNoticed(t *testing.T) {
	seed := newSeed(t)
	const cuts = 40
	err := cutPower(t, seed, cuts, smallMemory.WithoutSync())
	if err == nil {
		t.Fatalf("%d power cuts without sync lost nothing", cuts)
	}
	if !strings.Contains(err.Error(), "lost") &&
		!errors.Is(err, dynamo.ErrResourceNotFound) { // the table itself was lost
		t.Fatalf("an unexpected loss: %v", err)
	}
}

func TestANewDatabaseOutlivesAPowerCut(t *testing.T) {
	ctx := context.Background()
	disk := vfs.NewCrashableMem()
	const dir = "some/new/place"
	db, err := engine.Open(dir, smallMemory.WithDisk(disk))
	if err != nil {
		t.Fatal(err)
	}
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	left := disk.CrashClone(vfs.CrashCloneCfg{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := engine.Open(dir, smallMemory.WithDisk(left))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if _, err := again.DescribeTable(ctx, loadTable); err != nil {
		t.Fatal(err)
	}
	if d, err := again.DescribeTimeToLive(ctx, loadTable); err != nil ||
		d.AttributeName != "Expires" {
		t.Fatal(d, err)
	}
}

// TestAnItemThatIsSeenToHaveExpiredStaysAway cuts the power after a reader found that the sweep
// had deleted an item.
func TestAnItemThatIsSeenToHaveExpiredStaysAway(t *testing.T) {
	ctx := context.Background()
	disk := vfs.NewCrashableMem()
	opts := smallMemory
	opts.Now = func() time.Time { return time.Unix(1_950_000_000, 0) }
	db, err := engine.Open("data", opts.WithDisk(slowDisk{disk}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	item := key("old", "1")
	item["Expires"] = dynamo.Int(1_949_999_999)
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: loadTable, Item: item}); err != nil {
		t.Fatal(err)
	}
	swept := make(chan error, 1)
	go func() {
		_, err := db.ExpireNow(ctx)
		swept <- err
	}()
	read := &dynamo.GetInput{TableName: loadTable, Key: key("old", "1")}
	waitUntil(t, func() bool {
		out, err := db.Get(ctx, read)
		return err != nil || out.Item == nil
	})
	left := disk.CrashClone(vfs.CrashCloneCfg{})
	if err := <-swept; err != nil {
		t.Fatal(err)
	}
	again, err := engine.Open("data", opts.WithDisk(left))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if out, err := again.Get(ctx, read); err != nil || out.Item != nil {
		t.Fatalf("the item is back: %v, %v", out, err)
	}
}

func TestItemsAreCountedAgainAfterACrash(t *testing.T) {
	ctx := context.Background()
	disk := vfs.NewCrashableMem()
	db, err := engine.Open("data", smallMemory.WithDisk(disk))
	if err != nil {
		t.Fatal(err)
	}
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	const batches, each = 100, 25
	for b := range batches {
		var writes []dynamo.WriteRequest
		for i := range each {
			writes = append(writes, dynamo.WriteRequest{Put: key(fmt.Sprint(b), fmt.Sprint(i))})
		}
		if _, err := db.BatchWrite(ctx, &dynamo.BatchWriteInput{
			RequestItems: map[string][]dynamo.WriteRequest{loadTable: writes},
		}); err != nil {
			t.Fatal(err)
		}
	}
	left := disk.CrashClone(vfs.CrashCloneCfg{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engine.Open("data", smallMemory.WithDisk(left)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	// The table changes, and so do its items, while they are being counted.
	for i := range 20 {
		protected := i%2 == 0
		if _, err := db.UpdateTable(ctx, &dynamo.UpdateTableInput{
			TableName: loadTable, DeletionProtectionEnabled: &protected,
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Delete(ctx, &dynamo.DeleteInput{
			TableName: loadTable, Key: key("0", fmt.Sprint(i)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	waitUntil(t, func() bool { return db.Settled(loadTable) })
	if err := db.Audit(loadTable); err != nil {
		t.Fatal(err)
	}
	d, err := db.DescribeTable(ctx, loadTable)
	if err != nil || d.ItemCount != batches*each-20 {
		t.Fatalf("counted %d items, %v", d.ItemCount, err)
	}
}
