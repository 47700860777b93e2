package engine_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// cutMayFail reports whether a disk may refuse even to remove what it did not sync of its log, so
// that a write that was refused may be there, whole, after all.
func cutMayFail(f engine.DiskFault) bool {
	switch f.Kind {
	case engine.DiskNoSpace, engine.DiskShortWrite:
		return false // to remove something takes no room
	case engine.DiskReadOnly:
		return !f.Once
	}
	return !f.Once && f.Class == engine.DiskLog
}

// failUnderLoad lets a disk fail in a load, and returns how many operations could have failed.
func failUnderLoad(t *testing.T, f engine.DiskFault, powerCut bool) (seen int) {
	t.Helper()
	disk := engine.NewDisk()
	l := startDiskLoad(t, disk)
	disk.Fail(f)
	l.run(t.Context())
	seen = disk.Seen()
	closed := l.db.Close()
	var failed *dynamo.StoreFailedError
	switch fired := disk.Fired() > 0; {
	case closed != nil && !errors.As(closed, &failed):
		t.Fatalf("%v: Close returned %v", f, closed)
	case fired != (closed != nil):
		t.Fatalf("%v: %d operations failed and Close returned %v", f, disk.Fired(), closed)
	case fired && failed.Store != "data":
		t.Fatalf("%v: the error names the directory %q", f, failed.Store)
	}
	after := disk
	if powerCut {
		after = disk.CutPower(uint64(f.N), 50)
	}
	disk.Heal()
	if err := l.check(t, after, !cutMayFail(f)); err != nil {
		t.Fatalf("%v, once: %t, power cut: %t: %v", f, f.Once, powerCut, err)
	}
	return seen
}

// TestEveryFailureOfTheDiskKeepsThePromises tries each kind of failure for each class of files at
// positions spread over all operations of a load, once and for good, with and without a power cut
// afterwards. EXCHEQUER_ROUNDS sets how many positions; with 1000 it is each of them.
func TestEveryFailureOfTheDiskKeepsThePromises(t *testing.T) {
	some := rounds(t, 2)
	var table strings.Builder
	tried := 0
	for _, kind := range engine.DiskFaultKinds() {
		for _, class := range engine.DiskFileClasses() {
			f := engine.DiskFault{Kind: kind, Class: class, N: math.MaxInt}
			operations := failUnderLoad(t, f, false)
			at := positions(operations, some)
			for i, n := range at {
				f.N, f.Once = n, i%2 == 0
				failUnderLoad(t, f, i%4 >= 2)
			}
			tried += len(at)
			fmt.Fprintf(&table, "\n%-12s %-10s %4d operations, %d tried", kind, class, operations,
				len(at))
		}
	}
	t.Logf("%d cases:%s", tried, &table)
	if tried < 15 { // One of each kind and class that meets an operation, at the least.
		t.Fatalf("only %d cases met an operation that can fail", tried)
	}
}

// TestADiskThatFailsWhileTheDatabaseIsOpenedOrClosed lets each operation of opening and of closing
// fail.
func TestADiskThatFailsWhileTheDatabaseIsOpenedOrClosed(t *testing.T) {
	disk := engine.NewDisk()
	l := startDiskLoad(t, disk)
	l.run(t.Context())
	if len(l.wrong) > 0 {
		t.Fatal(l.wrong[0])
	}
	left := func() *engine.Disk { return disk.CutPower(1, 0) } // with a log to replay
	var failed *dynamo.StoreFailedError
	cases := 0
	for _, kind := range engine.DiskFaultKinds() {
		try := func(n int) (seen int) {
			d := left()
			d.Fail(engine.DiskFault{Kind: kind, N: n})
			db, err := engine.Open("data", diskOptions(d))
			switch {
			case err != nil && !errors.As(err, &failed):
				t.Fatalf("%s at operation %d: Open returned %v", kind, n, err)
			case err == nil:
				err = db.Close()
			}
			fired := d.Fired() > 0
			if fired != (err != nil) || fired && !errors.As(err, &failed) {
				t.Fatalf("%s at operation %d, which failed: %t: %v", kind, n, fired, err)
			}
			seen = d.Seen()
			d.Heal()
			if err := l.check(t, d, true); err != nil {
				t.Fatalf("%s at operation %d: %v", kind, n, err)
			}
			return seen
		}
		for _, n := range positions(try(math.MaxInt), rounds(t, 4)) {
			try(n)
			cases++
		}
	}
	t.Logf("%d cases", cases)
	if err := l.db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestADatabaseWhoseDiskFailsAnswersEachCall looks at the calls of a database that has failed.
func TestADatabaseWhoseDiskFailsAnswersEachCall(t *testing.T) {
	ctx := t.Context()
	for _, kind := range engine.DiskFaultKinds() {
		t.Run(string(kind), func(t *testing.T) {
			disk := engine.NewDisk()
			db, err := engine.Open("data", diskOptions(disk))
			if err != nil {
				t.Fatal(err)
			}
			if err := createLoadTable(ctx, db); err != nil {
				t.Fatal(err)
			}
			item := &dynamo.PutInput{TableName: loadTable, Item: key("a", "1")}
			get := &dynamo.GetInput{TableName: loadTable, Key: key("a", "1"), ConsistentRead: true}
			disk.Fail(engine.DiskFault{Kind: kind, Class: engine.DiskLog})
			calls := map[string]func() error{
				"Put":   func() error { _, err := db.Put(ctx, item); return err },
				"Get":   func() error { _, err := db.Get(ctx, get); return err },
				"Sweep": func() error { _, err := db.ExpireNow(ctx); return err },
				"List": func() error {
					_, err := db.ListTables(ctx, &dynamo.ListTablesInput{})
					return err
				},
				"Scan": func() error {
					_, err := db.Scan(ctx, &dynamo.ScanInput{TableName: loadTable})
					return err
				},
				"Delete table": func() error {
					_, err := db.DeleteTable(ctx, loadTable)
					return err
				},
			}
			var failed *dynamo.StoreFailedError
			if err := calls["Put"](); !errors.As(err, &failed) {
				t.Fatalf("the write that failed returned %v", err)
			}
			select {
			case <-db.Failed():
			default:
				t.Fatal("the write returned before the database had failed")
			}
			disk.Heal() // room comes too late
			for name, call := range calls {
				if err := call(); !errors.As(err, &failed) || dynamo.Retryable(err) {
					t.Errorf("%s returned %v", name, err)
				}
			}
			if err := db.Close(); !errors.As(err, &failed) {
				t.Errorf("Close returned %v", err)
			}
		})
	}
}

// TestAReaderOfAWriteWhoseSyncFailsIsNotAnswered lets the sync of a write fail after a reader has
// seen the write.
func TestAReaderOfAWriteWhoseSyncFailsIsNotAnswered(t *testing.T) {
	ctx := t.Context()
	disk := engine.NewDisk()
	db, err := engine.Open("data", diskOptions(disk))
	if err != nil {
		t.Fatal(err)
	}
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return db.Settled(loadTable) })
	put := func(name string) error {
		_, err := db.Put(ctx, &dynamo.PutInput{TableName: loadTable, Item: key(name, "1")})
		return err
	}
	held, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	disk.OnSync(func() { once.Do(func() { close(held); <-release }) })
	first, second, read := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() { first <- put("first") }()
	<-held
	go func() { second <- put("second") }()
	go func() {
		for {
			out, err := db.Get(ctx, &dynamo.GetInput{TableName: loadTable, Key: key("second", "1")})
			if err != nil || out.Item != nil {
				read <- err
				return
			}
		}
	}()
	waitUntil(t, func() bool { return db.Waiting() > 0 }) // the reader has seen the second write
	disk.Fail(engine.DiskFault{Kind: engine.DiskFailedSync, Once: true})
	close(release)
	if err := <-first; err != nil {
		t.Error("the write whose sync succeeded:", err)
	}
	var failed *dynamo.StoreFailedError
	if err := <-second; !errors.As(err, &failed) {
		t.Error("the write whose sync failed:", err)
	}
	if err := <-read; !errors.As(err, &failed) {
		t.Error("the reader that had seen it:", err)
	}
	_ = db.Close()
	l := &diskLoad{
		acked: map[string]bool{"first": true}, refused: map[string]bool{"second": true},
	}
	if err := l.check(t, disk, true); err != nil {
		t.Error(err)
	}
}
