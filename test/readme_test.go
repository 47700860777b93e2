// Package test holds tests of the whole that are no single package's own.
package test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/test/session"
)

var update = flag.Bool("update", false, "write the fresh output of its sessions into README.md")

// sessionsTimeout bounds all sessions of the page together. They take seconds; a command that waits
// for input it will never get must not hold up the tests for minutes.
const sessionsTimeout = 2 * time.Minute

// The README shows sessions. They are run here, so that a reader who types them sees the same.
func TestReadmeSessionsAreTrue(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	readme := filepath.Join(root, "README.md")
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Parse(string(page)); err != nil {
		t.Fatalf("README.md: %v", err)
	}
	runner := session.Runner{
		Bin:       build(t, root),
		Links:     map[string]string{"demo": filepath.Join(root, "demo")},
		MkdirTemp: t.TempDir,
	}
	ctx, cancel := context.WithTimeout(t.Context(), sessionsTimeout)
	defer cancel()
	different, fresh, err := session.Verify(ctx, string(page), runner)
	if err != nil {
		t.Fatalf("README.md: %v", err)
	}
	if *update {
		if err := os.WriteFile(readme, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, d := range different {
		t.Errorf("README.md: %v", d)
	}
	if t.Failed() {
		t.Log("after a change that was meant, run: go test ./test -run Readme -update")
	}
}

// build makes the binary in a folder of its own and gives the folder.
func build(t *testing.T, root string) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/exchequer")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build ./cmd/exchequer: %v\n%s", err, out)
	}
	return bin
}
