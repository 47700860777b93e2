package tempfile_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/internal/tempfile"
)

const pattern = "ours-*.zip"

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAKillLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	f, err := tempfile.Create(dir, pattern)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("private"); err != nil {
		t.Fatal(err)
	}
	// What a process that is killed now leaves.
	if left := names(t, dir); len(left) != 0 && runtime.GOOS != "windows" {
		t.Errorf("the directory has %v", left)
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 0, 100))
	if err != nil || string(got) != "private" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("after Close the directory has %v", left)
	}
}

func TestLeftoversAreRemovedByNameAndAge(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"ours-1.zip", "ours-new.zip", "ours-1.zip.txt", "theirs-1.zip"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "ours-new.zip" {
			continue
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "ours-dir.zip"), 0o700); err != nil {
		t.Fatal(err)
	}
	tempfile.Clean(dir, pattern, time.Minute)
	want := []string{"ours-1.zip.txt", "ours-dir.zip", "ours-new.zip", "theirs-1.zip"}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	tempfile.Clean(dir, pattern, 0)
	tempfile.Clean(filepath.Join(dir, "missing"), pattern, 0)
	want = []string{"ours-1.zip.txt", "ours-dir.zip", "theirs-1.zip"}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}
