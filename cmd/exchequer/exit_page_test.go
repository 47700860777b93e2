package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

var exitPage = filepath.Join("..", "..", "docs", "exit-statuses.md")

const exitIntroduction = `# Exit statuses

This page is generated: ` + "`go generate ./cmd/exchequer`" + ` writes it.

Scripts can branch on the exit status of a command. A number never changes its meaning.

| status | meaning |
|---|---|
`

const exitRule = `
## Problems of the API

A problem that the API returns ends a command with the status of its kind
([errors.md](errors.md) lists the kind of each problem):

| kind | status |
|---|---|
`

const exitChecks = `
## Checks

A command that compares has one of three results, and one rule holds for all of them:

- **0**: everything was compared, and nothing differs.
- **8**: a difference was found. It is named, also if other parts could not be compared.
- **9**: no difference was found, but not everything could be compared. The parts are named; the same
  command later, or without concurrent writers, decides.

The status is never 0 if a part was not compared. Over the API and in Go the result has a word:

| command | 0 | 8 | 9 |
|---|---|---|---|
| ` + "`ledger reconcile`" + ` | balanced | diverges | undecided |
| ` + "`ledger repair-dates`" + ` | sound | faulty | undecided |
| ` + "`locations repair`" + ` | sound | faulty | undecided |
| ` + "`statements check`" + ` | sound | faulty | undecided |
| ` + "`tables check`" + ` | sound | faulty | undecided |
| ` + "`rates health`" + ` | ok | stale, or a rate cannot be read | empty |
| ` + "`copy`, `copy --verify-only`" + ` | equal | differs | undecided |
| ` + "`payments move`" + ` | moved | %s | |

` + "`payments move`" + ` compares its copies with the payments before it removes any. Their problems end with
8 because a comparison found a difference, whatever their kind. A command that a rule refuses before it
compares anything, such as one whose settings differ from the stored ones (` + "`layout_differs`," + `
` + "`table_differs`" + `), ends with 3.
`

// TestExitStatusPage compares the page with the statuses of the program.
func TestExitStatusPage(t *testing.T) {
	var page bytes.Buffer
	page.WriteString(exitIntroduction)
	for line := range strings.Lines(exitStatuses) {
		number, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintf(&page, "| %s | %s |\n", number, strings.TrimSpace(meaning))
	}
	page.WriteString(exitRule)
	for _, kind := range problem.Kinds() {
		fmt.Fprintf(&page, "| `%s` | %d |\n", kind, exits[kind])
	}
	fmt.Fprintf(&page, exitChecks, "`payment_day_incomplete`, `payment_copy_differs`")
	if *update {
		if err := os.WriteFile(exitPage, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(exitPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, page.Bytes()) {
		t.Errorf("%s is not what the program does: go generate ./cmd/exchequer", exitPage)
	}
}

// Each problem that reports a difference has a status that is decided here: 8 if a comparison found
// it, 3 if it refuses a command before anything is compared.
func TestProblemsOfDifferencesHaveTheStatusOfChecks(t *testing.T) {
	want := map[problem.Code]int{
		"payment_day_incomplete": exitDiffers, "payment_copy_differs": exitDiffers,
		"table_differs": exitRefused, "layout_differs": exitRefused,
	}
	found := 0
	for _, c := range []*problem.Catalogue{payments.Problems, rest.Problems} {
		for _, d := range c.Definitions() {
			status, decided := want[d.Code()]
			if !decided && !strings.HasSuffix(string(d.Code()), "_differs") {
				continue
			}
			found++
			err := fmt.Errorf("wrapped: %w", d.With("day", "2026-01-31"))
			if !decided || exitOf(err) != status {
				t.Errorf("%s: status %d, want %d", d.Code(), exitOf(err), status)
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d problems of differences are defined, and %d are decided", found, len(want))
	}
}
