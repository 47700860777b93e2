package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/server"
)

// temporary makes a folder the one for temporary files.
func temporary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	return dir
}

// archived returns the archive of a person with an upload.
func archived(t *testing.T) []byte {
	t.Helper()
	w := start(t)
	w.must(201, makeBank, "1")
	w.must(201, makeUpload, "1")
	return []byte(w.must(200, archiveMe, "1").body)
}

// restoring begins to send an archive of a size, -1 if it is not told. The body is taken from the
// writer once the server reads it.
func (w *world) restoring(size int64) (*io.PipeWriter, <-chan reply) {
	r, body := io.Pipe()
	w.t.Cleanup(func() { _ = body.Close() })
	answers := make(chan reply, 1)
	go func() {
		defer r.Close()
		defer close(answers)
		request, err := http.NewRequest(http.MethodPost, w.http.URL+"/v1/me/restore", r)
		if err != nil {
			return
		}
		request.ContentLength = size
		request.Header.Set("Content-Type", "application/zip")
		request.Header.Set("Expect", "100-continue")
		patient := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: testTime}}
		defer patient.CloseIdleConnections()
		response, err := patient.Do(request)
		if err != nil {
			return
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		answers <- reply{status: response.StatusCode, header: response.Header, body: string(text)}
	}()
	return body, answers
}

// soon returns the answer to a restore.
func (w *world) soon(answers <-chan reply) reply {
	w.t.Helper()
	select {
	case r := <-answers:
		return r
	case <-time.After(testTime):
		w.t.Fatalf("a restore was not answered within %s", testTime)
		return reply{}
	}
}

// TestRestoresAreBounded restores an archive where all may take a little less than it has, with and
// without telling its size, and where it just fits.
func TestRestoresAreBounded(t *testing.T) {
	archive := archived(t)
	size := int64(len(archive))
	send := func(w *world, told bool) reply {
		t.Helper()
		of := size
		if !told {
			of = -1
		}
		body, answers := w.restoring(of)
		go func() {
			_, _ = body.Write(archive) // It fails if the answer comes first.
			body.Close()
		}()
		return w.soon(answers)
	}
	for _, told := range []bool{true, false} {
		dir := temporary(t)
		w := start(t, func(o *server.Options) { o.Limits.Spool = size - 1 })
		r := send(w, told)
		if r.status != 413 || codeOf(r.body) != "restore_too_large" ||
			!strings.Contains(r.body, fmt.Sprint(size-1)) ||
			!strings.Contains(r.body, "--restore-disk") {
			t.Errorf("told %v, one byte too many: %d %s", told, r.status, r.body)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
	}
	w := start(t, func(o *server.Options) { o.Limits.Spool = size })
	if r := send(w, true); r.status != 200 {
		t.Errorf("one that fits: %d %s", r.status, r.body)
	}
}

// TestARestoreThatIsKilledLeavesNoFile looks into the folder for temporary files while an archive
// arrives, as it is after a kill, and starts a server where an earlier version left one.
func TestARestoreThatIsKilledLeavesNoFile(t *testing.T) {
	archive := archived(t)
	dir := temporary(t)
	left := filepath.Join(dir, "exchequer-restore-123.zip")
	others := filepath.Join(dir, "restore.zip")
	for _, path := range []string{left, others} {
		if err := os.WriteFile(path, archive, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := start(t, func(o *server.Options) { o.Limits.Spool = int64(len(archive)) })
	files := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := files(); len(got) != 1 || got[0] != "restore.zip" {
		t.Errorf("after a start: %v", got)
	}
	body, answers := w.restoring(int64(len(archive)))
	if _, err := body.Write(archive[:len(archive)/2]); err != nil {
		t.Fatal(err)
	}
	if r := w.send("POST", "/v1/me/restore", "x", "Content-Type", "application/zip"); r.status !=
		http.StatusTooManyRequests || codeOf(r.body) != "restores_busy" {
		t.Errorf("one more: %d %s", r.status, r.body)
	}
	if got := files(); len(got) != 1 && runtime.GOOS != "windows" {
		t.Errorf("while an archive arrives: %v", got)
	}
	if _, err := io.Copy(body, bytes.NewReader(archive[len(archive)/2:])); err != nil {
		t.Fatal(err)
	}
	body.Close()
	if r := w.soon(answers); r.status != http.StatusOK {
		t.Errorf("the restore: %d %s", r.status, r.body)
	}
	if got := files(); len(got) != 1 {
		t.Errorf("after a restore: %v", got)
	}
}
