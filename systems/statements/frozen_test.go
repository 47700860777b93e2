package statements

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

// The ids of rows are derived from what they are known by, and are stored with every row and every
// deletion. Were they to change, the next file would import the same rows again.
func TestTheIDsOfRowsAreFrozen(t *testing.T) {
	frozen.Check(
		t,
		"row-ids",
		frozen.Sample{Name: "v1 row", Value: book.RowID("acc-1", "2026-01-02", "6f83d313.1")},
		frozen.Sample{
			Name:  "v1 row of another account",
			Value: book.RowID("acc-2", "2026-01-02", "6f83d313.1"),
		},
		frozen.Sample{Name: "v1 what an entry remembers", Value: book.KeyHash("6f83d313.1")},
		frozen.Sample{Name: "v1 an id of a bank", Value: book.KeyHash("b-1")},
		frozen.Sample{Name: "v1 nothing", Value: book.KeyHash("")},
	)
}

// The digests of requests to type a transaction in are stored with their keys. Were they to change,
// a repeat would be a conflict.
func TestTheDigestsOfRequestsAreFrozen(t *testing.T) {
	n := &NewTransaction{AccountID: "acc-1", Key: "k", Date: "2026-01-02",
		Amount: money.DecimalFromInt(-5), Currency: "NZD", Merchant: "Shop", Notes: "n",
		TagIDs: []string{"tag-1"}, Transfer: true,
		Splits: []NewSplit{{Amount: money.DecimalFromInt(-5), Notes: "all"}}}
	old, _ := manualDigestA(n)
	frozen.Check(t, "requests",
		frozen.Sample{Name: "a request in its first form", Value: old},
		frozen.Sample{Name: "b request", Value: manualDigests.Of(n)},
		frozen.Sample{Name: "b empty request", Value: manualDigests.Of(&NewTransaction{})},
	)
	for _, content := range []string{old, manualDigests.Of(n)} {
		claim := n.claim(&Transaction{})
		claim.Content = content
		if got := n.difference(&claim); got != "" {
			t.Errorf("%s: an equal request differs in %s", content, got)
		}
		other := *n
		other.Amount = money.DecimalFromInt(-6)
		if got := other.difference(&claim); got != "amount" {
			t.Errorf("%s: another amount differs in %q", content, got)
		}
	}
}

// The archives in testdata were written by earlier releases. Each is restored whole: what it holds
// is in an archive of what was restored, where later releases may add files and members.
func TestArchivesOfEarlierReleasesAreRestored(t *testing.T) {
	path := filepath.Join("testdata", "archive-v1.zip")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) &&
		os.Getenv("EXCHEQUER_FREEZE") != "" {
		files := memory{}
		s := newShelf(t, Options{Files: files})
		p := s.user(t, "someone")
		furnish(t, s, files, p, rich())
		if err := os.WriteFile(path, archiveOf(t, p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := memory{}
	s := newShelf(t, Options{Files: files})
	p := s.user(t, "another")
	if _, err := restore(p, archive); err != nil {
		t.Fatal(err)
	}
	now := contents(t, archiveOf(t, p))
	for name, was := range contents(t, archive) {
		switch {
		case name == archiveManifest:
		case !strings.HasSuffix(name, ".jsonl"):
			if now[name] != was {
				t.Errorf("the file %s has changed", name)
			}
		default:
			sameLines(t, name, was, now[name])
		}
	}
}

// sameLines reports members of JSON lines that changed or disappeared.
func sameLines(t *testing.T, name, was, now string) {
	t.Helper()
	before, after := strings.Split(was, "\n"), strings.Split(now, "\n")
	if len(before) != len(after) {
		t.Errorf("%s had %d lines and has %d", name, len(before)-1, len(after)-1)
		return
	}
	for i := range before {
		if before[i] == "" {
			continue
		}
		var a, b map[string]json.RawMessage
		if err := json.Unmarshal([]byte(before[i]), &a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := json.Unmarshal([]byte(after[i]), &b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for member, value := range a {
			if string(b[member]) != string(value) {
				t.Errorf("%s, line %d: %s was %s and is %s", name, i+1, member, value, b[member])
			}
		}
	}
}
