package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

const fileKey = "uploads/someone/account-1/upload-1/July%202025.csv"

func placesForFiles(t *testing.T) map[string]*files {
	places := map[string]*files{}
	for name, opts := range map[string]Options{
		"memory": {Memory: true},
		"folder": {DataDir: t.TempDir()},
		"by URL": {DataDir: t.TempDir(), FilesURL: "file://" + filepath.ToSlash(t.TempDir())},
	} {
		f, err := openFiles(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		places[name] = f
	}
	return places
}

func TestFilesComeBackAsTheyWere(t *testing.T) {
	want := make([]byte, 300_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range want {
		want[i] = byte(random.Uint32())
	}
	for name, f := range placesForFiles(t) {
		t.Run(name, func(t *testing.T) {
			if err := f.Put(t.Context(), fileKey, bytes.NewReader(want)); err != nil {
				t.Fatal(err)
			}
			file, err := f.Open(t.Context(), fileKey)
			if err != nil {
				t.Fatal(err)
			}
			if file.Size() != int64(len(want)) {
				t.Fatalf("%d bytes, want %d", file.Size(), len(want))
			}
			got, err := io.ReadAll(io.NewSectionReader(file, 0, file.Size()))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("read from the beginning: %d bytes, %v", len(got), err)
			}
			for range 200 {
				from, size := random.IntN(len(want)), 1+random.IntN(5_000)
				part := make([]byte, size)
				n, err := file.ReadAt(part, int64(from))
				left := min(size, len(want)-from)
				if n != left || (n < size) != (err == io.EOF) || n == size && err != nil ||
					!bytes.Equal(part[:n], want[from:from+n]) {
					t.Fatalf("ReadAt(%d bytes, %d) = %d, %v", size, from, n, err)
				}
			}
			if n, err := file.ReadAt(make([]byte, 1), file.Size()); n != 0 || err != io.EOF {
				t.Errorf("read behind the end: %d, %v", n, err)
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFilesAreKeptWholeOrNotAtAll(t *testing.T) {
	broken := errors.New("the line broke")
	for name, f := range placesForFiles(t) {
		t.Run(name, func(t *testing.T) {
			half := io.MultiReader(bytes.NewReader(make([]byte, 100_000)), iotest.ErrReader(broken))
			if err := f.Put(t.Context(), fileKey, half); !errors.Is(err, broken) {
				t.Fatalf("put = %v", err)
			}
			if _, err := f.Open(t.Context(), fileKey); !errors.Is(err, statements.ErrFileMissing) {
				t.Fatalf("after half a file: open = %v", err)
			}
			if err := f.Put(t.Context(), fileKey, bytes.NewReader([]byte("whole"))); err != nil {
				t.Fatal(err)
			}
			half = io.MultiReader(bytes.NewReader([]byte("other")), iotest.ErrReader(broken))
			if err := f.Put(t.Context(), fileKey, half); err == nil {
				t.Fatal("half a file was taken")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := f.Put(ctx, fileKey, bytes.NewReader([]byte("late"))); err == nil {
				t.Fatal("a file was taken that nobody waits for")
			}
			file, err := f.Open(t.Context(), fileKey)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			got, err := io.ReadAll(io.NewSectionReader(file, 0, file.Size()))
			if err != nil || string(got) != "whole" {
				t.Fatalf("the file from before is %q, %v", got, err)
			}
			for range 2 {
				if err := f.Delete(t.Context(), fileKey); err != nil {
					t.Errorf("delete: %v", err)
				}
			}
		})
	}
}

func TestFilesStandUnderTheirKeys(t *testing.T) {
	dir := t.TempDir()
	f, err := openFiles(t.Context(), Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Put(t.Context(), "uploads/a/b/c/d.csv", bytes.NewReader(nil)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FilesDir, "uploads", "a", "b", "c", "d.csv")
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if none, err := openFiles(t.Context(), Options{}); none != nil || err != nil {
		t.Errorf("without any place: %v, %v", none, err)
	}
	if _, err := openFiles(t.Context(), Options{FilesURL: "nonsense://x"}); err == nil {
		t.Error("nonsense was opened")
	}
}

// cutting is an object store that keeps only a part of an object.
type cutting struct {
	driver.Bucket
	kept map[string]int64
}

func (c *cutting) NewTypedWriter(
	_ context.Context, key, _ string, _ *driver.WriterOptions,
) (driver.Writer, error) {
	return &cuttingWriter{of: c, key: key}, nil
}

func (c *cutting) Attributes(_ context.Context, key string) (*driver.Attributes, error) {
	return &driver.Attributes{Size: c.kept[key]}, nil
}

func (c *cutting) Delete(_ context.Context, key string, _ *driver.DeleteOptions) error {
	delete(c.kept, key)
	return nil
}

func (c *cutting) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.Unknown }

func (c *cutting) Close() error { return nil }

type cuttingWriter struct {
	of  *cutting
	key string
	n   int64
}

func (w *cuttingWriter) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	return len(p), nil
}

func (w *cuttingWriter) Close() error {
	w.of.kept[w.key] = w.n / 2
	return nil
}

func TestAnObjectThatIsCutIsAnErrorAndRemoved(t *testing.T) {
	c := &cutting{kept: map[string]int64{}}
	f := &files{bucket: blob.NewBucket(c)}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	err := f.Put(t.Context(), fileKey, bytes.NewReader(make([]byte, 100)))
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("put = %v", err)
	}
	if len(c.kept) > 0 {
		t.Errorf("left are %v", c.kept)
	}
}
