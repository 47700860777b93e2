package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestAFileIsWrittenWholeOrNotAtAll lets the writing of a file fail after a part of it.
func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	errFull := errors.New("no space left on device")
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	write := func(text string, err error) error {
		return writeFile(path, func(w io.Writer) error {
			_, failed := io.WriteString(w, text)
			return errors.Join(failed, err)
		})
	}
	holds := func(want string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if want == "" && errors.Is(err, os.ErrNotExist) {
			text, err = nil, nil
		}
		if err != nil || string(text) != want {
			t.Errorf("the file has %q, %v; want %q", text, err, want)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 1 || want == "" && len(entries) > 0 {
			t.Errorf("the folder has %v, %v", entries, err)
		}
	}
	if err := write("half", errFull); !errors.Is(err, errFull) {
		t.Errorf("the first writing ended with %v", err)
	}
	holds("")
	if err := write("whole", nil); err != nil {
		t.Error(err)
	}
	holds("whole")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := write("half", errFull); !errors.Is(err, errFull) {
		t.Errorf("the next writing ended with %v", err)
	}
	holds("whole")
	if err := write("next", nil); err != nil {
		t.Error(err)
	}
	holds("next")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

func TestALinkIsKeptWhenItsFileIsReplaced(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	target, link := filepath.Join(other, "out"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("this system does not permit symbolic links: %v", err)
	}
	err := writeFile(link, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	})
	text, failed := os.ReadFile(target)
	if err != nil || failed != nil || string(text) != "new" {
		t.Errorf("%v, %q, %v", err, text, failed)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

// TestAFullDiskIsAnError writes to a device that is always full.
func TestAFullDiskIsAnError(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("only Linux has a device that is always full: %v", err)
	}
	err := writeFile(full, func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	})
	if err == nil {
		t.Error("no error")
	}
	if info, err := os.Stat(full); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is %v, %v", info, err)
	}
	dir := filepath.Join(t.TempDir(), "books")
	out, err := os.OpenFile(full, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	for _, args := range [][]string{
		{"tables", "export", "--format", "cloudformation"},
		{"tables", "create"}, {"tables", "list"},
		{"version"},
		{"patterns", "list", "--output", "csv"}, {"patterns", "list", "--output", "json"},
		{"ledger", "reconcile"}, {"locations", "export"},
	} {
		a := app{out: out, err: io.Discard, in: os.Stdin, getenv: func(string) string { return "" }}
		if exit := a.run(t.Context(), append(args, "--data", dir)); exit == exitOK {
			t.Errorf("%v ended with status %d", args, exit)
		}
	}
}
