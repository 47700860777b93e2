package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// statusOf returns the exit status of a command that failed.
func statusOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return strconv.Itoa(exit.ExitCode())
	}
	return err.Error()
}

// process is the program in a directory of its own.
type process struct {
	t   *testing.T
	dir string
	env []string
}

func newProcess(t *testing.T) *process {
	dir := t.TempDir()
	return &process{t: t, dir: dir, env: append(os.Environ(), "EXCHEQUER_DATA=data", "HOME="+dir)}
}

func (p *process) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), "exchequer", args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// run runs a command that must end with a status, and returns what it printed.
func (p *process) run(status string, args ...string) string {
	p.t.Helper()
	var out bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	got := "0"
	if err := cmd.Run(); err != nil {
		got = statusOf(err)
	}
	if got != status {
		p.t.Fatalf("exchequer %s ended with status %s, want %s:\n%s",
			strings.Join(args, " "), got, status, out.String())
	}
	return out.String()
}

// paymentFile is a file whose outcome does not depend on the order of its rows, but for the rows
// that are refused, which name an account that is not there. They are spread evenly over the file
// and tell a reader of the output how far the import has come.
type paymentFile struct {
	path     string
	posted   int
	refused  []int // lines
	balances []int // of the accounts, in whole dollars
	deposits int
}

const (
	paymentAccounts = 6
	paymentRows     = 800
	refusedEvery    = 20
)

func writePayments(t *testing.T, dir string, random *rand.Rand) *paymentFile {
	t.Helper()
	p := &paymentFile{
		path: filepath.Join(dir, "payments.csv"), balances: make([]int, paymentAccounts),
	}
	var text strings.Builder
	text.WriteString("key,type,from,to,amount,currency\n")
	for line := 2; line < 2+paymentRows; line++ {
		key := ""
		if line%2 == 0 {
			key = fmt.Sprintf("key-%d", line)
		}
		from, to, amount := random.IntN(paymentAccounts), random.IntN(paymentAccounts-1), 1+line%9
		if to >= from {
			to++
		}
		switch {
		case line%refusedEvery == 0:
			fmt.Fprintf(&text, "%s,transfer,nobody,acc-%d,%d,USD\n", key, to, amount)
			p.refused = append(p.refused, line)
			continue
		case line%3 == 0 || p.balances[from] < 10*amount:
			fmt.Fprintf(&text, "%s,deposit,,acc-%d,%d,USD\n", key, to, 20*amount)
			p.balances[to] += 20 * amount
			p.deposits += 20 * amount
		default:
			fmt.Fprintf(&text, "%s,transfer,acc-%d,acc-%d,%d,USD\n", key, from, to, amount)
			p.balances[from] -= amount
			p.balances[to] += amount
		}
		p.posted++
	}
	if err := os.WriteFile(p.path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// stopAt starts an import and sends it a signal as soon as it has come to a line. It returns how
// the import ended and the rest of what it printed.
func (p *process) stopAt(
	line int, signal os.Signal, args ...string,
) (status, rest string) {
	p.t.Helper()
	cmd := p.command(args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), fmt.Sprintf("line %d: ", line)) {
			if err := cmd.Process.Signal(signal); err != nil {
				p.t.Fatal(err)
			}
			break
		}
	}
	printed, _ := io.ReadAll(out) // It ends with the process, however that ends.
	if err := cmd.Wait(); err != nil {
		status = statusOf(err)
	}
	return status, string(printed) + problems.String()
}

func TestImportIsExactlyOnceAcrossKills(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes, which the race detector makes slow ones")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	p := newProcess(t)
	file := writePayments(t, p.dir, random)
	for i := range paymentAccounts {
		p.run("0", "ledger", "accounts", "open", "--id", fmt.Sprintf("acc-%d", i), "--user", "u",
			"--currency", "USD")
	}
	command := []string{"ledger", "import", "payments.csv", "--concurrency", "8"}
	// Lines at which the import is stopped, each beyond the one before, so that every run has
	// something new to post when it is hit.
	const stops = 4
	for stop := range stops {
		share := len(file.refused) / (stops + 2)
		line := file.refused[stop*share+random.IntN(share)]
		if stop == stops-1 {
			status, rest := p.stopAt(line, os.Interrupt, command...)
			if status != strconv.Itoa(exitStopped) ||
				!strings.Contains(rest, "goes on where it stopped") {
				t.Errorf("interrupted at line %d it ended with status %s:\n%s", line, status, rest)
			}
			continue
		}
		if status, rest := p.stopAt(line, syscall.SIGKILL, command...); status != "-1" {
			t.Errorf("killed at line %d it ended with status %s:\n%s", line, status, rest)
		}
	}
	out := p.run(strconv.Itoa(exitRefused), command...)
	counts := countsLine.FindStringSubmatch(out)
	if counts == nil {
		t.Fatalf("no counts in:\n%s", out)
	}
	posted, there, refused := number(t, counts[2]), number(t, counts[3]), number(t, counts[4])
	if posted == 0 || there == 0 || posted+there != file.posted || refused != len(file.refused) {
		t.Errorf("the last run says %s; want %d posted or there, some of each, and %d refused",
			counts[0], file.posted, len(file.refused))
	}
	file.check(p)
}

// countsLine is the line in which an import sums up.
var countsLine = regexp.MustCompile(
	`(?m)^([\d,]+) rows: ([\d,]+) posted, ([\d,]+) already there, (\d+) refused$`)

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// check compares the books with the file.
func (f *paymentFile) check(p *process) {
	p.t.Helper()
	accounts := p.run("0", "ledger", "accounts", "list", "--all", "--output", "csv")
	want := []string{fmt.Sprintf("@deposits-USD,,system,active,-%d.00,unlimited,USD", f.deposits)}
	for i, balance := range f.balances {
		want = append(want, fmt.Sprintf("acc-%d,u,checking,active,%d.00,,USD", i, balance))
	}
	for _, line := range want {
		if !strings.Contains(accounts, line+"\n") {
			p.t.Errorf("the accounts have no line %q:\n%s", line, accounts)
		}
	}
	list := p.run("0", "ledger", "list", "--all", "--output", "csv")
	if got := strings.Count(list, "\n") - 1; got != f.posted {
		p.t.Errorf("there are %d transactions, want one for each of %d rows", got, f.posted)
	}
	if out := p.run("0", "ledger", "reconcile"); !strings.Contains(out, "the books balance: ") {
		p.t.Errorf("the reconciliation says:\n%s", out)
	}
}

// serving starts a server and returns its address. It is stopped at the end of the test, and must
// then end well.
func (p *process) serving(args ...string) string {
	p.t.Helper()
	return p.listening("serving ", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
}

// emulating starts a local DynamoDB in the same way.
func (p *process) emulating(args ...string) string {
	p.t.Helper()
	return p.listening("DynamoDB on ", append([]string{"dynamodb", "--port", "0"}, args...)...)
}

// listening starts a command that serves, and says so in a line with its address after a prefix.
func (p *process) listening(prefix string, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	// The test's context ends before the clean-up, and would kill the server.
	cmd = &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env}
	problems, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(problems)
	var address, said string
	for address == "" && lines.Scan() {
		said += lines.Text() + "\n"
		if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			address, _, _ = strings.Cut(rest, " ")
		}
	}
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // It fails for a process that ended: see Wait.
		rest, _ := io.ReadAll(problems)
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("%s ended with %v:\n%s%s", args[0], err, said, rest)
		}
	})
	if address == "" {
		p.t.Fatalf("%s printed no address:\n%s", args[0], said)
	}
	return address
}

func TestCommandsSpeakToAServer(t *testing.T) {
	p := newProcess(t)
	secret := func(args ...string) string {
		out := p.run("0", append([]string{"keys", "create", "--quiet", "--name", "k"}, args...)...)
		return strings.TrimSpace(out[strings.LastIndex(out, "secret")+len("secret"):])
	}
	writer := secret("--scope", "ledger:read", "--scope", "ledger:write")
	reader := secret("--scope", "ledger:read")
	address := p.serving("--auth", "keys")

	if out := p.run("6", "ledger", "reconcile"); !strings.Contains(out, "is in use by process") ||
		!strings.Contains(out, "try: --server") {
		t.Errorf("a second process on the directory was told:\n%s", out)
	}
	out := p.run("7", "--server", address, "ledger", "reconcile")
	if !strings.Contains(out, "--api-key") {
		t.Errorf("without a key it was told:\n%s", out)
	}
	p.env = append(p.env, "EXCHEQUER_SERVER="+address, "EXCHEQUER_API_KEY="+reader)
	open := strings.Fields("ledger accounts open --id alice --user u --currency NZD")
	if out := p.run("7", open...); !strings.Contains(out, "ledger:write") {
		t.Errorf("with a key that only reads it was told:\n%s", out)
	}
	p.run("0", append(open, "--api-key", writer)...)
	p.run("0", "ledger", "post", "--api-key", writer, "--type", "deposit", "--to", "alice",
		"--amount", "12.30", "--key", "d1")
	for _, form := range []struct{ output, want string }{
		{"table", "12.30 NZD"}, {"json", `"balance": "12.30"`}, {"csv", ",12.30,"},
	} {
		out := p.run("0", "ledger", "accounts", "get", "alice", "--output", form.output)
		if !strings.Contains(out, form.want) {
			t.Errorf("there is no %q in:\n%s", form.want, out)
		}
	}
	p.run("0", "ledger", "reconcile")
}
