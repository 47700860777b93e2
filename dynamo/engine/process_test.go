package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// The environment of a child process: where its database is, and what it is to do there.
const (
	childEnv     = "EXCHEQUER_TEST_DIR"
	childDeedEnv = "EXCHEQUER_TEST_DEED"
)

const childWorkers = 8

// child is the other process: it runs the load until it is killed and tells of each step that
// was acknowledged, or it only opens the database and tells what came of it.
func child(dir, deed string) error {
	db, err := engine.Open(dir, smallMemory)
	if deed == "open" {
		var inUse *engine.InUseError
		if errors.As(err, &inUse) {
			_, err = fmt.Printf("%d %s\n", inUse.PID, inUse.Error())
		}
		return err
	}
	if err != nil {
		return err
	}
	if err := createLoadTable(context.Background(), db); err != nil &&
		!errors.Is(err, dynamo.ErrResourceInUse) {
		return err
	}
	l := newLoad(db, childWorkers)
	l.ack = func(worker int, step int64) {
		// One write of one short line: it is told whole or not at all.
		_, _ = os.Stdout.WriteString(fmt.Sprintf("%d %d\n", worker, step))
	}
	failed := make(chan error, 1)
	defer l.start(func(err error) { failed <- err })()
	return <-failed
}

func childCommand(dir, deed string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir, childDeedEnv+"="+deed)
	return cmd
}

// killInLoad starts a child on a directory and kills it after it acknowledged so many steps. It
// returns the last step that each worker acknowledged.
func killInLoad(t *testing.T, dir string, steps int) []int64 {
	t.Helper()
	cmd := childCommand(dir, "load")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := make([]int64, childWorkers)
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		var w int
		var step int64
		if _, err := fmt.Sscan(lines.Text(), &w, &step); err != nil {
			t.Errorf("the child said %q", lines.Text())
			continue
		}
		acked[w] = max(acked[w], step)
		if n == steps {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v %s", err, complaints.String())
	}
	return acked
}

func TestAKilledProcessLosesNothingThatItAcknowledged(t *testing.T) {
	seed := newSeed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := filepath.Join(t.TempDir(), "data")
	before := make([]int64, childWorkers)
	for round := range rounds(t, 4) {
		acked := killInLoad(t, dir, random.IntN(600))
		p := promises{
			acked: acked, told: before, issued: make([]int64, childWorkers),
			unshared: int64(round * childWorkers),
		}
		for w := range acked {
			p.acked[w] = max(acked[w], before[w])
			p.issued[w] = p.acked[w] + 1 // one step may have been under way
		}
		db, err := engine.Open(dir, smallMemory)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(db, p); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		// The next child goes on from here.
		for w := range before {
			if before[w], err = newLoad(db, childWorkers).counter(w, "left"); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnotherProcessIsToldWhichOneHoldsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := childCommand(dir, "open").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprintf("%d the data directory %s is in use by process %d (%s", os.Getpid(), dir,
		os.Getpid(), filepath.Base(os.Args[0]))
	owner, err := os.ReadFile(filepath.Join(dir, "OWNER"))
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range os.Args[1:] { // there may be secrets among them
		if strings.Contains(string(owner), argument) || strings.Contains(string(out), argument) {
			t.Fatalf("the argument %q is in %s or %s", argument, owner, out)
		}
	}
	if got := string(out); !strings.HasPrefix(got, want) ||
		!strings.Contains(got, "stop that process") {
		t.Fatalf("the other process was told %q, not %q", got, want)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := childCommand(dir, "open").CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("the directory is free, the other process said %q, %v", out, err)
	}
}

func TestAnOlderFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	comparer := *pebble.DefaultComparer
	comparer.Name = "exchequer.partition.v1"
	older, err := pebble.Open(dir, &pebble.Options{Comparer: &comparer})
	if err != nil {
		t.Fatal(err)
	}
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err = engine.Open(dir, engine.Options{}); !errors.Is(err, engine.ErrOlderFormat) {
		t.Errorf("got %v", err)
	}
}

func TestANewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SetFormat(2); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a refused opening leaves the directory free
		_, err = engine.Open(dir, engine.Options{})
		if !errors.Is(err, engine.ErrNewerFormat) {
			t.Fatalf("got %v", err)
		}
		for _, part := range []string{dir, "format is 2", "reads up to 1", "a later one"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
}

func TestAnUnreadableFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SetRawFormat([]byte("{")); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var syntax *json.SyntaxError
	if _, err = engine.Open(dir, engine.Options{}); !errors.As(err, &syntax) {
		t.Fatalf("got %v", err)
	}
}

// TestHalfAnOwnerFileStillTellsOfTheLock damages the file that says who holds a directory.
func TestHalfAnOwnerFileStillTellsOfTheLock(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, content := range []string{"", `{"PID": 1`, "\x00\x01"} {
		if err := os.WriteFile(filepath.Join(dir, "OWNER"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var inUse *engine.InUseError
		if _, err := engine.Open(dir, engine.Options{}); !errors.As(err, &inUse) ||
			inUse.Dir != dir {
			t.Errorf("with %q: %v", content, err)
		}
	}
}

func TestADirectoryThatIsAFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(path, engine.Options{})
	if err == nil {
		_ = db.Close()
		t.Fatal("a file was opened as a database")
	}
	var inUse *engine.InUseError
	if errors.As(err, &inUse) {
		t.Fatalf("a file is said to be in use: %v", err)
	}
}

func TestCallsAfterCloseAreRefused(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	table := withTable(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, errGet := db.Get(ctx, &dynamo.GetInput{TableName: table, Key: key("a", "b")})
	_, errPut := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: key("a", "b")})
	_, errScan := db.Scan(ctx, &dynamo.ScanInput{TableName: table})
	_, errList := db.ListTables(ctx, &dynamo.ListTablesInput{})
	_, errDrop := db.DeleteTable(ctx, table)
	_, errExpire := db.ExpireNow(ctx)
	for i, err := range []error{errGet, errPut, errScan, errList, errDrop, db.Close(), errExpire} {
		if !errors.Is(err, engine.ErrClosed) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
