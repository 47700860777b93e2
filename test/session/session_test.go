package session_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/test/session"
)

var update = flag.Bool("update", false, "rewrite the pages under testdata")

// The program under test is a shell script that behaves as exchequer does where it matters here:
// it keeps a state in its data directory, and prints things that differ from run to run.
const program = `#!/bin/sh
case $1 in
add)   mkdir -p "$EXCHEQUER_DATA" && echo "$2" >>"$EXCHEQUER_DATA/rows"; echo "added $2" ;;
rows)  cat "$EXCHEQUER_DATA/rows" ;;
clock) date +"now %Y-%m-%dT%H:%M:%S.123Z, took $(($$ % 90 + 1)).5 ms" ;;
where) echo "$EXCHEQUER_DATA ${EXCHEQUER_OTHER-unset}" ;;
fail)  echo "no such thing" >&2; exit 3 ;;
*)     printf '%s\n' "$@" ;;
esac
`

func runner(t *testing.T) session.Runner {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "prog"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	return session.Runner{Bin: bin, MkdirTemp: t.TempDir}
}

func TestSampleIsTrue(t *testing.T) {
	t.Setenv("EXCHEQUER_OTHER", "must not reach the session")
	path := filepath.Join("testdata", "sample.md")
	page := readFile(t, path)
	r := runner(t)
	notes, err := filepath.Abs(filepath.Join("testdata", "notes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r.Links = map[string]string{"notes.txt": notes}
	different, fresh, err := session.Verify(t.Context(), page, r)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, d := range different {
		t.Error(d)
	}
	if fresh != page {
		t.Errorf("an update would change a page that is true:\n%s", cmp.Diff(page, fresh))
	}
}

func TestWrongOutputIsFoundAndRewritten(t *testing.T) {
	page := readFile(t, filepath.Join("testdata", "wrong.md"))
	want := readFile(t, filepath.Join("testdata", "corrected.md"))
	different, fresh, err := session.Verify(t.Context(), page, runner(t))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, d := range different {
		lines = append(lines, d.Step.Line)
	}
	if diff := cmp.Diff([]int{4, 7, 9, 18}, lines); diff != "" {
		t.Errorf("lines of the commands that differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, fresh); diff != "" {
		t.Errorf("page after the update (-want +got):\n%s", diff)
	}
	different, again, err := session.Verify(t.Context(), fresh, runner(t))
	if err != nil || len(different) > 0 || again != fresh {
		t.Errorf("the updated page is not true: %v, error %v", different, err)
	}
}

func TestSessionsThatCannotRun(t *testing.T) {
	tests := []struct{ name, block, want string }{
		{"a command that fails", "$ prog fail\nno such thing\n",
			"line 2: $ prog fail: exit status 3, want 0; it printed:\nno such thing\n"},
		{"a command that is not there", "$ gone 2>/dev/null\n",
			"line 2: $ gone 2>/dev/null: exit status 127, want 0; it printed:\n"},
		{"output with a prompt", "$ prog '$ ls'\n",
			"line 2: $ prog '$ ls': the page cannot hold the line \"$ ls\" of the output"},
		{"output with a fence", "$ prog '```'\n",
			"line 2: $ prog '```': the page cannot hold the line \"```\" of the output"},
	}
	for _, test := range tests {
		t.Run(test.name+" is an error", func(t *testing.T) {
			page := "```console\n" + test.block + "```\n"
			_, _, err := session.Verify(t.Context(), page, runner(t))
			wantError(t, err, test.want)
		})
	}
	t.Run("a status that was announced and does not come is an error", func(t *testing.T) {
		_, _, err := session.Verify(t.Context(), "```console exit=3\n$ true\n```\n", runner(t))
		wantError(t, err, "line 2: $ true: exit status 0, want 3; it printed:\n")
	})
	t.Run("a cancelled context ends the command", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := session.Verify(ctx, "```console\n$ prog rows\n```\n", runner(t))
		wantError(t, err, "line 2: $ prog rows: context canceled; it printed:\n")
	})
}

func TestParse(t *testing.T) {
	page := strings.Join([]string{
		"# Page", "", "```sh", "$ not a session", "```", "",
		"```console", "$ one", "out 1", "out 2", "$ two \\", "> and three \\", "  and four", "```",
		"```console exit=4", "$ five", "", "blank above", "```", "",
	}, "\n")
	got, err := session.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	want := []session.Block{
		{Line: 7, Steps: []session.Step{
			{Line: 8, Command: "one", Want: "out 1\nout 2\n"},
			{Line: 11, Command: "two \\\nand three \\\n  and four"},
		}},
		{Line: 15, Exit: 4, Steps: []session.Step{
			{Line: 16, Command: "five", Want: "\nblank above\n"},
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(session.Step{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, page, want string }{
		{"a page without a session", "# Page\n\n```sh\n$ ls\n```\n",
			"the page has no ```console block"},
		{"an empty page", "", "the page has no ```console block"},
		{"a block that is never closed", "```console\n$ ls\n",
			"line 1: the block is never closed"},
		{"a block without a command", "```console\n```\n", "line 1: the block has no command"},
		{"output before the first command", "```console\nout\n$ ls\n```\n",
			"line 2: output before the first command"},
		{"a command cut off by the block's end", "```console\n$ ls \\\n```\n",
			"line 2: the command goes on after the block"},
		{"an unknown attribute", "```console exit=no\n$ ls\n```\n",
			`line 1: unknown attribute "exit=no"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := session.Parse(test.page)
			wantError(t, err, test.want)
		})
	}
}

func TestAgrees(t *testing.T) {
	tests := []struct {
		name, want, got string
		agrees          bool
	}{
		{"equal output", "5.50 EUR\n", "5.50 EUR\n", true},
		{"another amount", "5.50 EUR\n", "5.51 EUR\n", false},
		{"another count", "3 posted\n", "4 posted\n", false},
		{"another time", "at 2026-01-02T10:30:00.123Z\n", "at 2027-11-12T01:02:03Z\n", true},
		{"another time of another kind", "2026-01-02 10:30:00\n", "2026-01-02T10:30:00Z\n", true},
		{"another date", "on 2026-01-02\n", "on 2026-01-03\n", true},
		{"a date for a time", "2026-01-02\n", "2026-01-02T10:30:00Z\n", false},
		{"another UUID", "550e8400-e29b-41d4-a716-446655440000 ok\n",
			"0198AC00-e29b-81d4-a716-446655440001 ok\n", true},
		{"another ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV\n", "01KB2Q9V7D3N8X5T4R6W1Y0ZAB\n", true},
		{"another shortened id", "550e8400… ok\n", "0198ac00… ok\n", true},
		{"another cursor", "next " + strings.Repeat("aB3_", 12) + "\n",
			"next " + strings.Repeat("Zz-9", 15) + "\n", true},
		{"another port", "on http://127.0.0.1:8080/v1\n", "on http://127.0.0.1:43121/v1\n", true},
		{"another duration", "took 812 µs\n", "took 1.25 ms\n", true},
		{"another duration without a space", "took 9.8s\n", "took 1m12.5s\n", true},
		{"another rate", "4,127/s\n", "12,000.5/s\n", true},
		{"other padding", "| Coffee   | 0.8 ms |\n|----|---|\n",
			"| Coffee | 10.8 ms |\n|--|-----|\n", true},
		{"a longer rule", "Coffee   0.8 ms  ok\n──────\n", "Coffee 10.8 ms ok\n────\n", true},
		{"a word that ends like a unit", "2 bananas\n", "3 bananas\n", false},
		{"a line more", "one\n", "one\ntwo\n", false},
		{"a line less", "one\ntwo\n", "one\n", false},
		{"nothing", "", "", true},
		{"something for nothing", "", "one\n", false},
		{"dots for some lines", "one\n...\nfive\n", "one\ntwo\nthree\nfive\n", true},
		{"dots for no line", "one\n...\nfive\n", "one\nfive\n", true},
		{"dots at the end", "one\n...\n", "one\ntwo\nthree\n", true},
		{"dots at both ends", "...\ntwo\n...\n", "one\ntwo\nthree\n", true},
		{"dots before a line that does not come", "one\n...\nfive\n", "one\ntwo\n", false},
		{"dots do not cover what follows them", "...\nfive\n", "five\nsix\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := session.Agrees(test.want, test.got); got != test.agrees {
				t.Errorf("Agrees(%q, %q) = %v\nnormalised: %q\n            %q", test.want, test.got,
					got, session.Normalise(test.want), session.Normalise(test.got))
			}
		})
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}
