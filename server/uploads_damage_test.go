package server_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocloud.dev/blob"

	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// shelf is a world with a folder of uploads and a bank account.
func shelf(t *testing.T, change ...func(*server.Options)) (w *world, folder string) {
	t.Helper()
	folder = t.TempDir()
	w = start(t, append(change, func(o *server.Options) {
		o.FilesURL = "file://" + filepath.ToSlash(folder)
	})...)
	w.must(201, makeBank, "1")
	return w, folder
}

// must sends a request of a deed that must end with a status.
func (w *world) must(status int, a asked, n string) reply {
	w.t.Helper()
	r := w.ask(a, n, "")
	if r.status != status {
		w.t.Fatalf("%s %s: %d, want %d: %s", a.method, a.path, r.status, status, r.body)
	}
	return r
}

// storedFile returns the path of the uploaded file.
func storedFile(t *testing.T, folder string) (path string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(at string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(at, ".csv") {
			path = at
		}
		return err
	})
	if err != nil || path == "" {
		t.Fatal("no file was uploaded", err)
	}
	return path
}

var (
	preview   = asked{"POST", upload + "/preview", "", ""}
	archiveMe = asked{"GET", "/v1/me/archive", "", ""}
	listRows  = asked{"GET", upload + "/rows", "", ""}
)

// keptFile is the uploaded file, wherever it is kept.
type keptFile interface {
	read() ([]byte, error)
	write([]byte) error // Nothing removes it.
}

type fileOnDisk string

func (f fileOnDisk) read() ([]byte, error) { return os.ReadFile(string(f)) }

func (f fileOnDisk) write(b []byte) error {
	if b == nil {
		return os.Remove(string(f))
	}
	return os.WriteFile(string(f), b, 0o600)
}

// object is a file in an object store.
type object struct {
	t   *testing.T
	of  *blob.Bucket
	key string
}

func (o object) read() ([]byte, error) { return o.of.ReadAll(o.t.Context(), o.key) }

func (o object) write(b []byte) error {
	if b == nil {
		return o.of.Delete(o.t.Context(), o.key)
	}
	return o.of.WriteAll(o.t.Context(), o.key, b, nil)
}

// buckets are worlds with an uploaded file in a place of each kind.
var buckets = map[string]func(*testing.T) (*world, keptFile){
	"a folder": func(t *testing.T) (*world, keptFile) {
		w, folder := shelf(t)
		w.must(201, makeUpload, "1")
		return w, fileOnDisk(storedFile(t, folder))
	},
	"an object store": func(t *testing.T) (*world, keptFile) {
		w := start(t)
		w.must(201, makeBank, "1")
		w.must(201, makeUpload, "1")
		bucket := server.BucketOf(w.server)
		for list := bucket.List(nil); ; {
			o, err := list.Next(t.Context())
			if err != nil {
				t.Fatal("no file was uploaded", err)
			}
			if strings.HasSuffix(o.Key, ".csv") {
				return w, object{t, bucket, o.Key}
			}
		}
	},
}

// TestADamagedFileIsNotRead damages an uploaded file in each way, in each kind of place: nothing
// reads it as if it were the one that was uploaded, and the same upload, sent again, repairs it.
func TestADamagedFileIsNotRead(t *testing.T) {
	for name, damage := range map[string]func(whole []byte) []byte{
		"cut short": func(whole []byte) []byte { return whole[:len(whole)/2] },
		"empty":     func([]byte) []byte { return []byte{} },
		"longer":    func(whole []byte) []byte { return append(whole, "2025-08-17,-1,X\n"...) },
		"another byte": func(whole []byte) []byte {
			return bytes.Replace(whole, []byte("5.50"), []byte("5.51"), 1)
		},
		"replaced": func(whole []byte) []byte {
			return bytes.Repeat([]byte("x"), len(whole))
		},
		"lost": func([]byte) []byte { return nil },
	} {
		for place, open := range buckets {
			t.Run(name+" in "+place, func(t *testing.T) {
				w, file := open(t)
				whole, err := file.read()
				if err != nil {
					t.Fatal(err)
				}
				if err := file.write(damage(bytes.Clone(whole))); err != nil {
					t.Fatal(err)
				}
				status, code := 409, "upload_file_damaged"
				if name == "lost" {
					status, code = 404, "upload_file_not_found"
				}
				for _, a := range []asked{preview, importUpload, archiveMe} {
					if r := w.ask(a, "1", ""); r.status != status ||
						!strings.Contains(r.body, code) {
						t.Errorf("%s %s: %d %s", a.method, a.path, r.status, r.body)
					}
				}
				other := makeUpload
				other.body += "2025-08-17,-1.00,Another\n"
				w.must(409, other, "1")
				w.must(200, makeUpload, "1")
				if now, err := file.read(); err != nil || !bytes.Equal(now, whole) {
					t.Errorf("after a repeat the file is %q, %v", now, err)
				}
				w.must(200, preview, "1")
				if r := w.must(200, importUpload, "1"); !strings.Contains(r.body, `"new":2`) {
					t.Errorf("imported %s", r.body)
				}
			})
		}
	}
}

// TestADamagedListOfRowsIsNotRead damages what is kept of the rows of a file.
func TestADamagedListOfRowsIsNotRead(t *testing.T) {
	w, folder := shelf(t)
	w.must(201, makeUpload, "1")
	w.must(200, importUpload, "1")
	twice := makeUpload
	twice.path = strings.Replace(twice.path, "up-N", "again-N", 1)
	w.must(201, twice, "1")
	again := func(a asked) asked {
		a.path = strings.Replace(a.path, "up-N", "again-N", 1)
		return a
	}
	w.must(200, again(preview), "1")
	if r := w.must(200, again(listRows), "1"); strings.Count(r.body, `"known"`) != 2 {
		t.Fatalf("the rows are %s", r.body)
	}
	path := filepath.Join(filepath.Dir(storedFile(t, folder)), "..", "again-1", "a.csv.rows.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 1, len(whole) / 2, len(whole) - 2} {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		w.must(409, again(listRows), "1")
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for i := range lines[:len(lines)-2] { // A whole line less; all but the last, which ends it.
		short := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		if err := os.WriteFile(path, short, 0o600); err != nil {
			t.Fatal(err)
		}
		w.must(409, again(listRows), "1")
	}
	w.must(200, again(preview), "1")
	w.must(200, again(listRows), "1")
}

func TestUploadsHaveAQuota(t *testing.T) {
	file := makeUpload
	at := func(id string) asked {
		a := file
		a.path = strings.Replace(a.path, "up-N", id, 1)
		return a
	}
	size := int64(len(strings.ReplaceAll(bankFile, " N", " 1")))
	refused := func(w *world, a asked) {
		t.Helper()
		if r := w.must(422, a, "1"); !strings.Contains(r.body, "upload_quota_exceeded") {
			t.Error(r.body)
		}
		if r := w.send("GET", "/v1/me/accounts/bank-1/uploads", ""); strings.Contains(r.body,
			`"late"`) {
			t.Errorf("a refused upload is listed: %s", r.body)
		}
	}
	t.Run("files", func(t *testing.T) {
		w, _ := shelf(t, func(o *server.Options) { o.Statements.Quota.Files = 2 })
		w.must(201, at("a"), "1")
		w.must(201, at("b"), "1")
		refused(w, at("late"))
		w.must(200, at("a"), "1") // A repeat takes no more.
		w.must(200, asked{"DELETE", bank + "/uploads/a/file", "", ""}, "1")
		w.must(201, at("late"), "1")
	})
	t.Run("bytes", func(t *testing.T) {
		w, _ := shelf(t, func(o *server.Options) { o.Statements.Quota.Bytes = 2*size + 1 })
		w.must(201, at("a"), "1")
		w.must(201, at("b"), "1")
		refused(w, at("late"))
	})
	t.Run("none", func(t *testing.T) {
		w, _ := shelf(t, func(o *server.Options) {
			o.Statements.Quota = statements.Quota{Files: -1, Bytes: -1}
		})
		w.must(201, at("a"), "1")
	})
}

// TestErasureLeavesNoFile erases an account, and then the person, with something half written.
func TestErasureLeavesNoFile(t *testing.T) {
	w, folder := shelf(t)
	w.must(201, makeUpload, "1")
	w.must(200, importUpload, "1")
	half := strings.Replace(storedFile(t, folder), folder, filepath.Join(folder, ".partial"), 1)
	old := storedFile(t, folder) + ".18a5f3c2b1d0e9f7.tmp"
	for _, path := range []string{half, old} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.must(200, asked{"DELETE", bank, "", ""}, "1")
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
