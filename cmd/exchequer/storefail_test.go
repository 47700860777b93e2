package main

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endWait is how long a process may take to end once its store has failed.
const endWait = time.Minute

// TestAServerWhoseStoreFailsEnds damages a file of a data directory. The server that meets the
// damage answers that its store has failed, and ends with the status for that, SIGTERM or not. A
// damage that is met at the start ends the start in the same way.
func TestAServerWhoseStoreFailsEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes, which the race detector makes slow ones")
	}
	p := newProcess(t)
	writePayments(t, p.dir, rand.New(rand.NewPCG(1, 0)))
	for i := range paymentAccounts {
		p.run("0", "ledger", "accounts", "open", "--id", "acc-"+strconv.Itoa(i), "--user", "u",
			"--currency", "USD")
	}
	p.run(strconv.Itoa(exitRefused), "ledger", "import", "payments.csv")
	p.run("0", "ledger", "reconcile") // the log becomes a table
	table := largestFile(t, filepath.Join(p.dir, "data", "*.sst"))
	whole, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	failed := strconv.Itoa(exitStoreFailed)
	served := 0
	for part := 1; part < 8 && served < 2; part++ {
		damaged := bytes.Clone(whole)
		damaged[len(damaged)*part/8] ^= 1
		if err := os.WriteFile(table, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		server := p.begin("serve", "--listen", "127.0.0.1:0")
		if server.address != "" {
			// The work in the background may have met the damage first, and ended the server.
			out, err := p.command("--server", server.address, "ledger", "reconcile").
				CombinedOutput()
			if err == nil || statusOf(err) != failed &&
				statusOf(err) != strconv.Itoa(exitUnavailable) {
				t.Errorf("part %d: a command ended with %v\n%s", part, err, out)
			}
			if served%2 == 1 {
				_ = server.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
			}
			served++
		}
		status, said := server.end()
		if status != failed || !strings.Contains(said, "damaged") ||
			strings.Contains(said, "goroutine ") {
			t.Errorf("part %d: the server ended with status %s:\n%s", part, status, said)
		}
	}
	if served == 0 {
		t.Error("each damage was met at the start")
	}
	out := p.run(failed, "ledger", "reconcile")
	if !strings.Contains(out, "damaged") || !strings.Contains(out, "try: restore a copy") {
		t.Errorf("a command on the directory says\n%s", out)
	}
	if err := os.WriteFile(table, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("0", "ledger", "reconcile")
}

// largestFile returns the largest of the files that match a pattern.
func largestFile(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	largest, most := "", int64(-1)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			largest, most = file, info.Size()
		}
	}
	return largest
}

// runningServer is a server that may end by itself.
type runningServer struct {
	t       *testing.T
	cmd     *exec.Cmd
	stderr  io.Reader
	said    strings.Builder
	address string // "" if it ended before it served
}

// begin starts a server, and returns when it serves or has ended.
func (p *process) begin(args ...string) *runningServer {
	p.t.Helper()
	s := &runningServer{t: p.t, cmd: p.command(args...)}
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	s.stderr = lines
	for s.address == "" {
		line, err := lines.ReadString('\n')
		s.said.WriteString(line)
		if rest, ok := strings.CutPrefix(line, "serving "); ok {
			s.address, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
		}
		if err != nil {
			return s
		}
	}
	return s
}

// end waits until the server has ended, and returns its status and what it wrote.
func (s *runningServer) end() (status, said string) {
	s.t.Helper()
	timer := time.AfterFunc(endWait, func() {
		s.t.Errorf("the server has not ended within %s", endWait)
		_ = s.cmd.Process.Kill()
	})
	defer timer.Stop()
	rest, err := io.ReadAll(s.stderr)
	if err != nil {
		s.t.Error(err)
	}
	status = "0"
	if err := s.cmd.Wait(); err != nil {
		status = statusOf(err)
	}
	return status, s.said.String() + string(rest)
}
