package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// damageItems is how many items a database has whose log is damaged: about four blocks of it.
const damageItems = 500

// killedDatabase returns the directory of a database that was killed after acknowledged writes:
// a copy of its files, made while it is open.
func killedDatabase(t *testing.T) (dir, log string) {
	t.Helper()
	ctx := context.Background()
	from := filepath.Join(t.TempDir(), "open")
	db, err := engine.Open(from, engine.Options{SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := createLoadTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	for i := range damageItems {
		item := key(fmt.Sprintf("%05d", i), "1")
		item["x"] = dynamo.S(strings.Repeat("v", 200))
		in := &dynamo.PutInput{TableName: loadTable, Item: item}
		if _, err := db.Put(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	return dir, logs[len(logs)-1]
}

// countItems opens a directory and counts the items.
func countItems(t *testing.T, dir string, log *slog.Logger) (int, error) {
	t.Helper()
	db, err := engine.Open(dir, engine.Options{SweepInterval: -1, Logger: log})
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	n := 0
	in := &dynamo.ScanInput{TableName: loadTable}
	for {
		out, err := db.Scan(context.Background(), in)
		if err != nil {
			return 0, err
		}
		n += len(out.Items)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return n, nil
		}
	}
}

// TestALogWithAHoleIsDamaged damages the log of a killed database at many places. It is opened with
// everything that was acknowledged, or refused with an error that names the file. Only the last
// write may be missing, because nothing shows that it was on the disk.
func TestALogWithAHoleIsDamaged(t *testing.T) {
	dir, log := killedDatabase(t)
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(whole, "\x00"))
	cut := func(n int) func(b []byte, at int) []byte {
		return func(b []byte, at int) []byte { return append(b[:at], b[min(len(b), at+n):]...) }
	}
	refused := 0
	for name, damage := range map[string]func(b []byte, at int) []byte{
		"a bit flipped":    func(b []byte, at int) []byte { b[at] ^= 4; return b },
		"64 bytes cut out": cut(64),
		"one byte cut out": cut(1),
		"a block cut out":  cut(32 << 10),
		"4 KB zeroed": func(b []byte, at int) []byte {
			clear(b[at:min(len(b), at+4096)])
			return b
		},
		"overwritten": func(b []byte, at int) []byte {
			copy(b[at:], bytes.Repeat([]byte("x"), 100))
			return b
		},
		"overwritten by its own beginning": func(b []byte, at int) []byte {
			copy(b[at:], b[:min(at, 4096)])
			return b
		},
	} {
		for part := 1; part < 10; part++ {
			at := used * part / 10
			made := damage(bytes.Clone(whole), at)
			if bytes.Equal(made, whole) || bytes.HasPrefix(whole, bytes.TrimRight(made, "\x00")) {
				continue // A log without its end is one that was not written further.
			}
			if err := os.WriteFile(log, made, 0o600); err != nil {
				t.Fatal(err)
			}
			n, err := countItems(t, dir, nil)
			failed, isFailed := errors.AsType[*dynamo.StoreFailedError](err)
			damaged, isDamaged := errors.AsType[*engine.DamagedError](err)
			switch {
			case err == nil && n < damageItems-1:
				t.Fatalf("%s at %d of %d: opened with %d items", name, at, used, n)
			case err == nil:
				// The directory has another log now.
				dir, log = killedDatabase(t)
				if whole, err = os.ReadFile(log); err != nil {
					t.Fatal(err)
				}
				used = len(bytes.TrimRight(whole, "\x00"))
			case !isFailed || !isDamaged || failed.Store != dir || damaged.File != log ||
				damaged.Offset > int64(at) || damaged.Offset < int64(at-64<<10):
				t.Errorf("%s at %d: %v", name, at, err)
			default:
				refused++
			}
		}
	}
	if refused < 50 {
		t.Errorf("%d damaged logs were refused", refused)
	}
}

// TestATornTailIsNoDamage cuts the log within its last write.
func TestATornTailIsNoDamage(t *testing.T) {
	dir, log := killedDatabase(t)
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(whole, "\x00"))
	if err := os.WriteFile(log, whole[:used-20], 0o600); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	n, err := countItems(t, dir, slog.New(slog.NewTextHandler(&lines, nil)))
	if err != nil || n != damageItems-1 {
		t.Errorf("%d items, %v", n, err)
	}
	if c := strings.Count(lines.String(), "level=WARN"); c != 1 ||
		!strings.Contains(lines.String(), "incomplete write") {
		t.Errorf("the log says %q", lines.String())
	}
}

// TestAMissingFileIsDamage removes the files of a database one at a time.
func TestAMissingFileIsDamage(t *testing.T) {
	dir, log := killedDatabase(t)
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, name := range names {
		file := filepath.Join(dir, name.Name())
		if file == log || !strings.HasPrefix(name.Name(), "MANIFEST") {
			continue
		}
		tried++
		for what, damage := range map[string]func(string) error{
			"missing":  os.Remove,
			"empty":    func(f string) error { return os.Truncate(f, 0) },
			"cut":      func(f string) error { return os.Truncate(f, 10) },
			"replaced": func(f string) error { return os.WriteFile(f, []byte("nothing"), 0o600) },
		} {
			copied := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(copied, name.Name())); err != nil {
				t.Fatal(err)
			}
			n, err := countItems(t, copied, nil)
			if _, ok := errors.AsType[*engine.DamagedError](err); !ok {
				t.Errorf("%s %s: %d items, %v", name.Name(), what, n, err)
			}
		}
	}
	if tried == 0 {
		t.Error("there is no manifest")
	}
}
