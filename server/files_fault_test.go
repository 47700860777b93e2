package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

// errKilled is what a disk returns after the process was killed: nothing is done any more.
var errKilled = errors.New("killed")

// faultyDisk is the disk of the computer with a fault at one step of a write. Steps count from 1.
type faultyDisk struct {
	realDisk
	at, steps int
	fault     error // errKilled, or what the step fails with; io.ErrShortWrite writes a half.
	synced    map[string]bool
	free      int64
}

func (d *faultyDisk) step() error {
	d.steps++
	if d.at == 0 || d.steps != d.at && (d.steps < d.at || !errors.Is(d.fault, errKilled)) {
		return nil
	}
	return d.fault
}

func (d *faultyDisk) MkdirAll(dir string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.realDisk.MkdirAll(dir)
}

func (d *faultyDisk) Create(path string) (diskFile, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.realDisk.Create(path)
	return &faultyFile{diskFile: f, d: d, path: path}, err
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	if d.synced != nil {
		d.synced[to] = d.synced[from]
		delete(d.synced, filepath.Dir(to))
	}
	return d.realDisk.Rename(from, to)
}

func (d *faultyDisk) Remove(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.realDisk.Remove(path)
}

func (d *faultyDisk) SyncDir(dir string) error {
	if err := d.step(); err != nil {
		return err
	}
	if d.synced != nil {
		d.synced[dir] = true
	}
	return d.realDisk.SyncDir(dir)
}

func (d *faultyDisk) Free(dir string) (int64, bool) {
	if d.free != 0 {
		return max(d.free, 0), true
	}
	return d.realDisk.Free(dir)
}

type faultyFile struct {
	diskFile
	d    *faultyDisk
	path string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	switch err := f.d.step(); {
	case errors.Is(err, io.ErrShortWrite):
		return f.diskFile.Write(p[:len(p)/2])
	case err != nil:
		n, _ := f.diskFile.Write(p[:len(p)/2]) // What a full disk still takes.
		return n, err
	}
	return f.diskFile.Write(p)
}

func (f *faultyFile) Sync() error {
	if err := f.d.step(); err != nil {
		return err
	}
	if f.d.synced != nil {
		f.d.synced[f.path] = true
	}
	return f.diskFile.Sync()
}

// openFaulty opens a folder of files on a faulty disk.
func openFaulty(t *testing.T, dir string, d *faultyDisk) *files {
	t.Helper()
	f, err := openFiles(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f.local.disk = d
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// contents reads a file whole; "" if there is none.
func contents(t *testing.T, f *files, key string) string {
	t.Helper()
	file, err := f.Open(t.Context(), key)
	if errors.Is(err, statements.ErrFileMissing) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, file.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// filesIn lists the files below a directory.
func filesIn(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestAFileIsSyncedBeforeItIsAcknowledged looks at what was synced when Put returned.
func TestAFileIsSyncedBeforeItIsAcknowledged(t *testing.T) {
	dir := t.TempDir()
	d := &faultyDisk{synced: map[string]bool{}}
	f := openFaulty(t, dir, d)
	if err := f.Put(t.Context(), fileKey, strings.NewReader("whole")); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, FilesDir)
	for path := f.local.path(fileKey); path != filepath.Dir(root); path = filepath.Dir(path) {
		if !d.synced[path] {
			t.Errorf("%s was not synced", path)
		}
	}
	clear(d.synced)
	if err := f.Delete(t.Context(), fileKey); err != nil {
		t.Fatal(err)
	}
	if !d.synced[filepath.Dir(f.local.path(fileKey))] {
		t.Error("the folder of a deleted file was not synced")
	}
}

// stepsMax is more than the steps of any Put here.
const stepsMax = 60

// TestAWriteThatFailsAtAnyStep makes each step of a Put fail in each way: what was there before
// stays whole or the new file is there whole, the error is returned, and nothing half written is
// left.
func TestAWriteThatFailsAtAnyStep(t *testing.T) {
	for name, fault := range map[string]error{
		"no space": syscall.ENOSPC, "I/O error": syscall.EIO, "read-only": syscall.EROFS,
		"short write": io.ErrShortWrite, "killed": errKilled,
	} {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				if at == stepsMax {
					t.Fatalf("no Put without a fault within %d steps", stepsMax)
				}
				dir, d := t.TempDir(), &faultyDisk{}
				f := openFaulty(t, dir, d)
				if err := f.Put(t.Context(), fileKey, strings.NewReader("before")); err != nil {
					t.Fatal(err)
				}
				d.at, d.steps, d.fault = at, 0, fault
				err := f.Put(t.Context(), fileKey, bytes.NewReader(make([]byte, 100_000)))
				if d.steps < at {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				d.at = 0
				got := contents(t, f, fileKey)
				switch {
				case err == nil:
					t.Errorf("step %d failed and Put did not", at)
				case errors.Is(fault, errKilled) && !errors.Is(err, errKilled):
					t.Errorf("step %d: %v", at, err)
				case got != "before" && len(got) != 100_000:
					t.Errorf("step %d left a file of %d bytes", at, len(got))
				}
				// The next start removes what a kill left.
				if errors.Is(fault, errKilled) {
					again, err := openFiles(t.Context(), Options{DataDir: dir})
					if err != nil {
						t.Fatal(err)
					}
					if err := again.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if left := filesIn(t, dir); len(left) != 1 {
					t.Errorf("step %d left %v", at, left)
				}
				if err := f.Put(t.Context(), fileKey, strings.NewReader("repaired")); err != nil {
					t.Errorf("step %d: a repeat fails: %v", at, err)
				}
				if got := contents(t, f, fileKey); got != "repaired" {
					t.Errorf("step %d: after a repeat: %q", at, got)
				}
			}
		})
	}
}

func TestLeftoversAreRemovedAtStart(t *testing.T) {
	old := "uploads/someone/account-1/upload-1/July.csv.18a5f3c2b1d0e9f7.tmp"
	own := partialDir + "/uploads/someone/account-1/upload-1/ABC"
	keep := "uploads/someone/account-1/upload-1/July.csv.tmp"
	write := func(root, key string, age time.Duration) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		shared bool
		age    time.Duration
		left   int
	}{
		"of the data directory":                 {false, 0, 1},
		"of a folder that others use, old":      {true, 2 * partialAge, 1},
		"of a folder that others use, just now": {true, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root, opts := filepath.Join(dir, FilesDir), Options{DataDir: dir}
			if c.shared {
				root, opts = dir, Options{FilesURL: "file://" + filepath.ToSlash(dir)}
			}
			for _, key := range []string{old, own, keep} {
				write(root, key, c.age)
			}
			f, err := openFiles(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if left := filesIn(t, root); len(left) != c.left {
				t.Errorf("left are %v", left)
			}
			if got := contents(t, f, keep); got != "half" {
				t.Errorf("a file that is named like a leftover is %q", got)
			}
		})
	}
}

func TestSweepRemovesAFolderAndNothingElse(t *testing.T) {
	for name, f := range placesForFiles(t) {
		t.Run(name, func(t *testing.T) {
			keys := []string{"uploads/a/x/1/f", "uploads/a/x/1/f.rows.jsonl", "uploads/a/y/1/f",
				"uploads/ab/x/1/f"}
			for _, key := range keys {
				if err := f.Put(t.Context(), key, strings.NewReader(key)); err != nil {
					t.Fatal(err)
				}
			}
			if f.local != nil { // Something that is half written.
				path := filepath.Join(f.local.root, partialDir, "uploads/a/x/1/half")
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := f.Sweep(t.Context(), "uploads/a/x"); err != nil {
					t.Fatal(err)
				}
			}
			for i, key := range keys {
				want := key
				if i < 2 {
					want = ""
				}
				if got := contents(t, f, key); got != want {
					t.Errorf("%s is %q", key, got)
				}
			}
			if f.local != nil {
				if left := filesIn(t, f.local.root); len(left) != 2 {
					t.Errorf("left are %v", left)
				}
			}
		})
	}
}

func TestUploadsLeaveAReserveOfFreeSpace(t *testing.T) {
	d := &faultyDisk{free: 1 << 20}
	f := openFaulty(t, t.TempDir(), d)
	f.local.reserve = 2 << 20
	err := f.Put(t.Context(), fileKey, strings.NewReader("x"))
	if !errors.Is(err, statements.ErrDiskReserve) {
		t.Fatalf("below the reserve: %v", err)
	}
	// A file that would use the reserve up on its way is broken off.
	d.free = 3 << 20
	endless := readerFunc(
		func(p []byte) (int, error) { d.free -= int64(len(p)); return len(p), nil },
	)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := f.Put(ctx, fileKey, endless); !errors.Is(err, statements.ErrDiskReserve) {
		t.Fatalf("on its way: %v", err)
	}
	if left := filesIn(t, f.local.root); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
