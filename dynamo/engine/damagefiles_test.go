package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// smallTables make a database write tables soon.
var smallTables = engine.Options{SweepInterval: -1, MemTableSize: 256 << 10}

// damageDatabase returns a directory with files of each kind: tables, large rows that are kept
// apart, logs, a manifest, options and markers. It was closed as always.
func damageDatabase(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "db")
	for round := range 3 { // each opening writes the log of the previous one into tables
		db, err := engine.Open(dir, smallTables)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if err := createLoadTable(ctx, db); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 100 {
			item := key(fmt.Sprintf("%d-%04d", round, i), "1")
			item["x"] = dynamo.S(strings.Repeat(fmt.Sprint(i%10), 100+i%3*3000))
			in := &dynamo.PutInput{TableName: loadTable, Item: item}
			if _, err := db.Put(ctx, in); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readAll opens a directory, and returns all items of the table and of its indexes.
func readAll(dir string) (items []dynamo.Item, err error) {
	db, err := engine.Open(dir, smallTables)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	return scanAll(db)
}

func scanAll(db *engine.DB) (items []dynamo.Item, err error) {
	d, err := db.DescribeTable(context.Background(), loadTable)
	if err != nil {
		return nil, err
	}
	indexes := []string{""}
	for _, x := range d.GlobalSecondaryIndexes {
		indexes = append(indexes, x.IndexName)
	}
	for _, index := range indexes {
		in := &dynamo.ScanInput{TableName: loadTable, IndexName: index}
		for more := true; more; {
			out, err := db.Scan(context.Background(), in)
			if err != nil {
				return nil, err
			}
			items = append(items, out.Items...)
			in.ExclusiveStartKey = out.LastEvaluatedKey
			more = out.LastEvaluatedKey != nil
		}
	}
	return items, nil
}

// damageOf spoils the content of a file somewhere; nil removes it.
type damageOf func(whole []byte, at int) []byte

var fileDamages = map[string]damageOf{
	"removed":  func([]byte, int) []byte { return nil },
	"emptied":  func([]byte, int) []byte { return []byte{} },
	"replaced": func([]byte, int) []byte { return []byte("nothing") },
	"cut":      func(whole []byte, at int) []byte { return whole[:at] },
	"grown":    func(whole []byte, _ int) []byte { return append(whole, whole...) },
	"a bit flipped": func(whole []byte, at int) []byte {
		whole[at] ^= 1 << (at % 8)
		return whole
	},
	"zeroed": func(whole []byte, at int) []byte {
		clear(whole[at:min(len(whole), at+512)])
		return whole
	},
}

// TestADamagedFileIsNeverReadWrong damages one file of a database at a time. The database is
// refused, at the opening or at a read, or it answers as if nothing had happened.
func TestADamagedFileIsNeverReadWrong(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := damageDatabase(t)
	undamaged := filepath.Join(t.TempDir(), "undamaged")
	if err := os.CopyFS(undamaged, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	want, err := readAll(undamaged)
	if err != nil || len(want) == 0 {
		t.Fatal(len(want), err)
	}
	tried, refused := map[string]int{}, map[string]int{}
	for range rounds(t, 2) {
		for _, kind := range []string{
			"*.sst", "*.blob", "*.log", "MANIFEST-*", "OPTIONS-*", "marker.*",
		} {
			files, err := filepath.Glob(filepath.Join(dir, kind))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s: %v, %v", kind, files, err)
			}
			file := files[random.IntN(len(files))]
			newest := kind == "*.log" && file == slices.Max(files)
			if kind == "MANIFEST-*" {
				file = slices.Max(files) // the others are of the past
			}
			for name, damage := range fileDamages {
				if newest {
					continue // see TestALogWithAHoleIsDamaged
				}
				if name == "grown" && kind == "*.log" {
					continue // the second half is of another place, and nothing is there
				}
				tried[kind]++
				if !readDamaged(t, file, name, damage, random, want) {
					refused[kind]++
				}
			}
		}
	}
	for _, kind := range []string{"*.sst", "*.blob", "MANIFEST-*"} {
		if tried[kind] == 0 || refused[kind] == 0 {
			t.Errorf("of %d damaged %s, %d were refused", tried[kind], kind, refused[kind])
		}
	}
	t.Logf("tried %v, refused %v", tried, refused)
}

// TestADirectoryWithoutItsLogsIsDamaged removes all logs, and then the marker and the manifests.
func TestADirectoryWithoutItsLogsIsDamaged(t *testing.T) {
	dir := damageDatabase(t)
	for _, kind := range []string{"*.log", "marker.manifest.*", "MANIFEST-*"} {
		files, err := filepath.Glob(filepath.Join(dir, kind))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", kind, files, err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		items, err := readAll(dir)
		if _, ok := errors.AsType[*engine.DamagedError](err); !ok {
			t.Errorf("without %s: %d items, %v", kind, len(items), err)
		}
	}
}

// readDamaged reads a copy of a directory in which one file is damaged, and reports whether it
// could be read.
func readDamaged(t *testing.T, file, name string, damage damageOf, random *rand.Rand,
	want []dynamo.Item,
) bool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(file))); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	if len(whole) > 0 {
		at = random.IntN(len(whole))
	} else if name == "a bit flipped" {
		return true
	}
	copied := filepath.Join(dir, filepath.Base(file))
	if made := damage(bytes.Clone(whole), at); made == nil {
		err = os.Remove(copied)
	} else {
		err = os.WriteFile(copied, made, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(dir)
	failed, isFailed := errors.AsType[*dynamo.StoreFailedError](err)
	_, isDamaged := errors.AsType[*engine.DamagedError](err)
	what := fmt.Sprintf("%s %s at %d of %d", filepath.Base(file), name, at, len(whole))
	switch {
	case err == nil && !cmp.Equal(want, got):
		t.Errorf("%s: %d items of %d, or others", what, len(got), len(want))
	case err != nil && (!isFailed || !isDamaged || failed.Store != dir):
		t.Errorf("%s: %v", what, err)
	case err != nil && !strings.Contains(err.Error(), "restore a copy"):
		t.Errorf("%s: the error has no next step: %v", what, err)
	}
	return err == nil
}

// TestAFileThatIsRemovedWhileItIsInUseFailsTheDatabase removes the files of large rows under an
// open database. The first read that needs one fails the database; nothing panics.
func TestAFileThatIsRemovedWhileItIsInUseFailsTheDatabase(t *testing.T) {
	dir := damageDatabase(t)
	db, err := engine.Open(dir, smallTables)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	files, err := filepath.Glob(filepath.Join(dir, "*.blob"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		_, err = scanAll(db)
		if _, ok := errors.AsType[*engine.DamagedError](err); !ok {
			t.Errorf("a read was answered with %v", err)
		}
	}
	select {
	case <-db.Failed():
	default:
		t.Error("the database has not failed")
	}
}
