package engine_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
)

var update = flag.Bool("update", false, "write the answers that testdata should have")

// TestRules plays the sessions in testdata. A session is blocks of requests, each followed by a
// line of dashes and the answers; a block that begins with # is a comment. Each file has a
// database of its own. The notation of requests is told in requests_test.go, of their values in
// literal_test.go.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			play(t, file)
		})
	}
}

func play(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	var out bytes.Buffer
	line := 1
	for i, block := range strings.Split(strings.TrimRight(string(raw), "\n"), "\n\n") {
		if i > 0 {
			out.WriteString("\n\n")
		}
		requests, want, _ := strings.Cut(block, "\n----")
		want = strings.TrimPrefix(want, "\n")
		out.WriteString(requests)
		if !strings.HasPrefix(block, "#") {
			got := s.answer(requests)
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); !*update &&
				diff != "" {
				t.Errorf("%s:%d: %s\n(-want +got)\n%s", file, line, requests, diff)
			}
			out.WriteString("\n----\n" + got)
		}
		line += strings.Count(block, "\n") + 2
	}
	out.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// session is one database and its clock, and the last keys that pages ended with.
type session struct {
	t    *testing.T
	ctx  context.Context
	db   *engine.DB
	now  time.Time
	next string // the last LastEvaluatedKey, for "start next"

	statements *partiql.Executor
	token      string // the last NextToken, for "next"
}

// sessionStart is what the clock of a session begins with, in epoch seconds.
const sessionStart = 1_800_000_000

func newSession(t *testing.T) *session {
	s := &session{t: t, ctx: context.Background(), now: time.Unix(sessionStart, 0)}
	db, err := engine.OpenMemory(engine.Options{
		Now: func() time.Time { return s.now }, SweepInterval: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s.db, s.statements = db, partiql.New(db)
	return s
}

// request is one line of a block with the options that are indented below it, or those of its
// own line's end.
type request struct {
	verb    string
	args    string
	options []option
	below   []request // of a transaction or batch
}

type option struct{ name, value string }

func (r *request) has(name string) bool {
	return slices.ContainsFunc(r.options, func(o option) bool { return o.name == name })
}

// option returns the value of an option, "" when the request does not have it.
func (r *request) option(name string) string {
	for _, o := range r.options {
		if o.name == name {
			return o.value
		}
	}
	return ""
}

// groups are the requests that the others of their block belong to.
var groups = map[string]bool{
	"transact": true, "transactget": true, "batchwrite": true, "batchget": true,
	"batch": true, "together": true,
}

func (s *session) answer(block string) string {
	var requests []request
	for _, line := range strings.Split(block, "\n") {
		var last *request
		inGroup := false
		if len(requests) > 0 {
			last = &requests[len(requests)-1]
			inGroup = groups[last.verb]
		}
		if text, ok := strings.CutPrefix(line, "  "); ok && last != nil {
			if inGroup && len(last.below) > 0 {
				last = &last.below[len(last.below)-1]
			}
			name, value, _ := strings.Cut(text, " ")
			last.options = append(last.options, option{name, value})
			continue
		}
		times := 1
		if rest, ok := strings.CutPrefix(line, "repeat "); ok {
			if _, err := fmt.Sscan(rest, &times); err != nil {
				s.t.Fatalf("%s: %v", line, err)
			}
			_, line, _ = strings.Cut(rest, " ")
		}
		for i := range times {
			r := newRequest(strings.ReplaceAll(line, "$i", fmt.Sprint(i)))
			if inGroup && !groups[r.verb] {
				last.below = append(last.below, r)
			} else {
				requests = append(requests, r)
			}
		}
	}
	var answers []string
	for _, r := range requests {
		answer := s.do(r)
		if len(requests) > 1 && answer == "ok" {
			continue // the usual answer of preparations
		}
		answers = append(answers, answer)
	}
	if len(answers) == 0 {
		return "ok"
	}
	return strings.Join(answers, "\n")
}

func newRequest(line string) request {
	verb, args, _ := strings.Cut(line, " ")
	return request{verb: verb, args: args}
}

func (s *session) do(r request) string {
	answer, err := s.call(r)
	if err != nil {
		return renderError(err)
	}
	return strings.TrimRight(answer, "\n")
}
