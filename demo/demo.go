// Package demo is the story that "exchequer demo" shows: three months of payments of a small world
// go through the whole product, and the result must be the one that is known in advance.
//
// The files that it reads are embedded in the binary; README.md describes them.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
)

// Options of a telling.
type Options struct {
	// Out is where the story goes.
	Out io.Writer
	// Progress, if set, is called with the number of imported rows and the number of all rows.
	Progress func(done, total int)
}

// MismatchError is a difference between the books and the expected result.
type MismatchError struct {
	// Differences are sentences, each about one difference.
	Differences []string
}

// Error counts the differences and repeats the first.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("The demo found %d differences, the first: %s", len(e.Differences),
		e.Differences[0])
}

// Tell runs the story on a server without any accounts. Its payments must have one attempt each,
// because the story does not wait for hours until money comes in. It returns a *MismatchError if
// the books do not balance or differ from the expected result.
func Tell(ctx context.Context, c *client.Client, opts Options) error {
	w, err := readWorld()
	if err != nil {
		return err
	}
	s := &story{client: c, opts: opts, world: w, begin: time.Now()}
	s.say("Three months in a small world: people are paid, buy coffee, pay rent and get it wrong.")
	s.say("All of it is posted to one DynamoDB table, kept by an engine inside this process.")
	for _, chapter := range []func(context.Context) error{
		s.tables, s.people, s.payments, s.again, s.race, s.statement, s.transaction, s.status,
		s.locations, s.performance, s.payday, s.endOfDay,
		s.exchangeRates, s.bankStatements, s.reconcile,
	} {
		if err := chapter(ctx); err != nil {
			return err
		}
		if s.err != nil {
			return s.err
		}
	}
	return s.end()
}

// story is one telling.
type story struct {
	client  *client.Client
	opts    Options
	world   *world
	begin   time.Time
	chapter int
	err     error // of writing; the first one stays

	differences []string
	shown       client.Transaction // the purchase that several chapters look at
}

// errNothing means that the story has nothing to show at a place where it must.
var errNothing = errors.New("the story has no purchase to show")

// title begins a chapter.
func (s *story) title(text string) {
	s.chapter++
	s.say("")
	s.say("%d. %s", s.chapter, text)
}

// say writes a line.
func (s *story) say(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.opts.Out, format+"\n", args...)
	}
}

// command shows how to do the same by hand.
func (s *story) command(format string, args ...any) {
	s.say("   $ exchequer "+format, args...)
}

// table writes a table, indented.
func (s *story) table(t *grid.Table) {
	if s.err == nil {
		s.err = t.Write(s.opts.Out, "   ")
	}
}

// differ notes that something is not as it must be.
func (s *story) differ(format string, args ...any) {
	s.differences = append(s.differences, fmt.Sprintf(format, args...))
}

// end closes the story.
func (s *story) end() error {
	s.say("")
	if len(s.differences) > 0 {
		for i, difference := range s.differences {
			if i == differencesMax {
				s.say("   and %d more", len(s.differences)-i)
				break
			}
			s.say("   not as it must be: %s", difference)
		}
		return &MismatchError{Differences: s.differences}
	}
	s.say("Everything is as it must be. It took %s.", seconds(time.Since(s.begin)))
	return s.err
}

// differencesMax bounds how many differences are written.
const differencesMax = 20

// outcomes counts rows for the story.
func outcomes(r bulk.Result) string {
	return fmt.Sprintf("%s posted, %s already there, %s refused",
		thousands(r.Posted), thousands(r.There), thousands(r.Refused))
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// short gives the beginning of an id, for tables that have no room for the whole.
func short[T ~string](id T) string {
	const characters = 8
	if strings.HasPrefix(string(id), "@") || len(id) <= characters {
		return string(id)
	}
	return string(id[:characters]) + "…"
}
