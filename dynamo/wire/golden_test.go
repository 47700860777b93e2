package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

var update = flag.Bool("update", false, "rewrite the expected answers")

// Each file in testdata/requests is a session with a store of its own. A block is a comment, the
// operation after a ">", the body, and after a "<" the expected status and body.
func TestAnswersAreAsRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/requests/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) { replay(t, file, openStore(t)) })
		t.Run(name+" from a store without more", func(t *testing.T) {
			replay(t, file, struct{ dynamo.DB }{openStore(t)})
		})
	}
}

func replay(t *testing.T, file string, db dynamo.DB) {
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	transport := wire.Transport{Handler: wire.NewHandler(db, wire.Options{})}
	var got strings.Builder
	text := strings.TrimPrefix(strings.TrimSpace(string(want)), "# ")
	for block := range strings.SplitSeq(text, "\n\n# ") {
		about, rest, ok := strings.Cut(block, "\n> ")
		if !ok {
			t.Fatalf("no operation in block %q", block)
		}
		operation, rest, _ := strings.Cut(rest, "\n")
		body, _, _ := strings.Cut(rest, "\n< ")
		status, answer := post(t, transport, "DynamoDB_20120810."+operation, body)
		if got.Len() > 0 {
			got.WriteByte('\n')
		}
		fmt.Fprintf(&got, "# %s\n> %s\n%s\n< %d\n%s\n", about, operation, body, status,
			sorted(t, answer))
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("answers differ (-want +got); -update rewrites them:\n%s", diff)
	}
}

// post sends one request as it is and returns the answer.
func post(t testing.TB, transport http.RoundTripper, target, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequest("POST", "http://dynamodb.local/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// sorted returns a JSON text with its names in order.
func sorted(t testing.TB, text []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("answer %q: %v", text, err)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
