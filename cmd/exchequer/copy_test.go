package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// The store that is copied while the program is killed: pages of 1 MB.
const (
	copyPages     = 24
	copyPageItems = 8
	copyItemBytes = 130 << 10
)

func writeLargeItems(t *testing.T, dir string) {
	t.Helper()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := db.CreateTable(t.Context(), &dynamo.CreateTableInput{
		TableName: "Large", KeySchema: dynamo.HashKey("PK"),
		BillingMode: dynamo.BillingPayPerRequest,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindN},
		},
	}); err != nil {
		t.Fatal(err)
	}
	for i := range copyPages * copyPageItems {
		if _, err := db.Put(t.Context(), &dynamo.PutInput{
			TableName: "Large", Item: dynamo.Item{
				"PK": dynamo.Int(int64(i)), "data": dynamo.B(make([]byte, copyItemBytes)),
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// copiedSoFar reads how many items a copy has noted as done.
func copiedSoFar(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0
	}
	var state struct {
		Tables map[string]struct{ Segments []struct{ Items int } }
	}
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	if err != nil {
		t.Fatal(err) // It is replaced as a whole, so it can always be read.
	}
	n := 0
	for _, s := range state.Tables["Large"].Segments {
		n += s.Items
	}
	return n
}

// stopCopy starts a copy and sends it a signal as soon as so many items are done. It returns how
// the copy ended and what it printed.
func (p *process) stopCopy(state string, items int, signal os.Signal, args ...string) (
	status, printed string,
) {
	p.t.Helper()
	var out strings.Builder
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return statusOf(err), out.String()
			}
			return "0", out.String()
		case <-look.C:
			if copiedSoFar(p.t, state) >= items {
				_ = cmd.Process.Signal(signal) // It fails for a process that ended: see Wait.
				items = copyPages * copyPageItems * 2
			}
		}
	}
}

// copiedLine is the row of the table in what a copy prints.
var copiedLine = regexp.MustCompile(`(?m)^Large +(\d+) +(\d+) +([0-9a-f]{32})$`)

func TestACopyGoesOnAfterKills(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	p := newProcess(t)
	p.env = append(p.env, "AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=any")
	writeLargeItems(t, filepath.Join(p.dir, "books"))
	// A slow endpoint, so that a copy is still at work when it is stopped.
	address := p.emulating("--data", "there", "--fault", "latency,op=BatchWriteItem,delay=100ms")
	state := filepath.Join(p.dir, "state.json")
	command := []string{
		"copy", "--from", "books", "--to", address, "--resume", "state.json", "--segments", "2",
	}
	items := 0
	for _, signal := range []os.Signal{syscall.SIGKILL, syscall.SIGKILL, os.Interrupt} {
		items += 1 + random.IntN(copyPages*copyPageItems/16)
		want := "-1"
		if signal == os.Interrupt {
			want = strconv.Itoa(exitStopped)
		}
		status, printed := p.stopCopy(state, items, signal, command...)
		if status != want {
			t.Fatalf("after %d items it ended with status %s, want %s:\n%s", items, status, want,
				printed)
		}
		if signal == os.Interrupt && !strings.Contains(printed, "goes on where it was") {
			t.Errorf("interrupted after %d items it said:\n%s", items, printed)
		}
		items = copiedSoFar(t, state)
	}
	all := strconv.Itoa(copyPages * copyPageItems)
	there := copiedLine.FindStringSubmatch(p.run("0", command...))
	if there == nil || there[1] != all || there[2] != strconv.Itoa(items) {
		t.Fatalf("the last run says %q, want %s items, %d of them copied before", there, all, items)
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("the state is left: %v", err)
	}
	back := copiedLine.FindStringSubmatch(p.run("0", "copy", "--from", address, "--to", "back"))
	if back == nil || back[3] != there[3] {
		t.Errorf("there %q, back %q", there, back)
	}
	out := p.run(fmt.Sprint(exitUnavailable), "copy", "--from", "books", "--to", "there")
	if !strings.Contains(out, "is in use by process") {
		t.Errorf("a directory that is served was copied to:\n%s", out)
	}
}
