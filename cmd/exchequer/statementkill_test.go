package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

// killedRows is long enough a file that most kills fall into its import.
const killedRows = 1_500

// bankFile writes a bank's file of rows over many months, equal rows of a day among them.
func bankFile(t *testing.T, dir string, random *rand.Rand) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("Date,Amount,Description\n")
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for range killedRows {
		if random.IntN(9) == 0 {
			day = day.AddDate(0, 0, 1)
		}
		fmt.Fprintf(&text, "%s,-%d.50,Shop %d\n", day.Format(time.DateOnly), 1+random.IntN(3),
			random.IntN(5))
	}
	path := filepath.Join(dir, "bank.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAnUploadThatIsKilledAndRepeatedEndsTheSame compares everything that a person can see of the
// rows with what one import without any trouble leaves.
func TestAnUploadThatIsKilledAndRepeatedEndsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes, which the race detector makes slow ones")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	calm, killed := newProcess(t), newProcess(t)
	path := bankFile(t, calm.dir, random)
	upload := []string{"statements", "upload", path, "--account", "everyday", "--yes"}
	for _, p := range []*process{calm, killed} {
		p.run("0", "statements", "accounts", "add", "Everyday", "--currency", "NZD", "--id",
			"everyday")
	}
	began := time.Now()
	calm.run("0", upload...)
	took := time.Since(began)

	cut := 0
	tries := storetest.Rounds(2)
	for range tries {
		cmd := killed.command(upload...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(took))), func() {
			_ = cmd.Process.Kill() // It fails where the process has ended: see Wait.
		})
		err := cmd.Wait()
		timer.Stop()
		var exit *exec.ExitError
		if errors.As(err, &exit) && statusOf(err) == "-1" {
			cut++
		} else if err != nil {
			t.Fatalf("an upload ended by itself with %v", err)
		}
	}
	t.Logf("%d of %d were killed before their end", cut, tries)
	killed.run("0", upload...)
	for _, list := range [][]string{
		{"statements", "export", "--format", "jsonl"},
		{"statements", "report", "--from", "2024-01", "--to", "2026-12", "-o", "csv"},
		{"statements", "check"},
	} {
		want, got := seen(calm.run("0", list...)), seen(killed.run("0", list...))
		if want != got || want == "" {
			t.Errorf("%s: %d bytes, want %d, or they differ", list[1], len(got), len(want))
		}
	}
}

// seen leaves out when a row was written.
func seen(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		for _, field := range []string{`"createdAt":"`, `"updatedAt":"`} {
			if at := strings.Index(line, field); at >= 0 {
				end := at + len(field) + strings.IndexByte(line[at+len(field):], '"')
				line = line[:at] + line[end:]
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}
