package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// daysOfLegs has legs 2 to 8 of alice on the second day, after one of the first day.
func daysOfLegs(t *testing.T) (*books, ledger.StatementQuery) {
	b := aliceAndBob(t, ledger.Options{})
	b.clock.Set(start.AddDate(0, 0, 1))
	for range 7 {
		b.post(transfer("alice", "bob", "0.01"))
		b.clock.Move(time.Second)
	}
	return b, ledger.StatementQuery{AccountID: "alice", From: "2026-01-03", To: "2026-01-03"}
}

// lose lets the index lack a leg of alice when it is read for the times from first to last, counted
// by reads that would have had the leg.
func (b *books) lose(version, first, last int) {
	n := 0
	b.faces.index = &brokenIndex{name: "GSI1", alter: func(i dynamo.Item) dynamo.Item {
		if i["AccountID"].S() != "alice" || i["AccountVersion"].N() != fmt.Sprint(version) {
			return i
		}
		if n++; n >= first && n <= last {
			return nil
		}
		return i
	}}
}

// readStatement reads all pages.
func (b *books) readStatement(q ledger.StatementQuery, size int) ([]ledger.Statement, error) {
	q.Size = size
	var pages []ledger.Statement
	for {
		s, err := b.Statement(b.t.Context(), q)
		if err != nil {
			return nil, err
		}
		pages = append(pages, s)
		if q.Cursor = s.Next; s.Next == "" {
			return pages, nil
		}
	}
}

// A statement is read from an index, and each of its pages from the index as it is by then: a leg
// may be missing in the middle. Such a statement is read again, and is whole.
func TestStatementUnderLagIsWhole(t *testing.T) {
	for _, size := range []int{2, 100} {
		for version := 1; version <= 8; version++ {
			for first := 1; first <= 2; first++ {
				b, q := daysOfLegs(t)
				b.lose(version, first, first)
				pages, err := b.readStatement(q, size)
				// The opening balance is fixed by the first page, and the error of the last page
				// says to begin again.
				if version == 1 && size < 7 && errors.Is(err, ledger.ErrStatementIncomplete) {
					continue
				}
				if err != nil {
					t.Fatalf("pages of %d, leg %d missing once: %v", size, version, err)
				}
				rows := consistent(t, pages)
				if len(rows) != 7 && (version != 8 || len(rows) != 6) {
					t.Errorf("pages of %d, leg %d missing once: %d rows", size, version, len(rows))
				}
			}
		}
	}
}

// A leg that stays missing makes an error that names it, never a statement without it.
func TestStatementWithoutALegNamesIt(t *testing.T) {
	for _, c := range []struct{ size, version, first int }{
		{100, 5, 1}, {3, 6, 1}, {3, 5, 1}, {2, 2, 1}, {100, 2, 1}, {100, 1, 1}, {100, 8, 2},
	} {
		t.Run(fmt.Sprintf("leg %d, pages of %d", c.version, c.size), func(t *testing.T) {
			t.Parallel()
			b, q := daysOfLegs(t)
			b.lose(c.version, c.first, 1<<30)
			pages, err := b.readStatement(q, c.size)
			if c.first > 1 {
				// The newest leg was there at first; the statement is the one without it.
				if err != nil || len(consistent(t, pages)) != 6 {
					t.Fatalf("got %v, %v", pages, err)
				}
				return
			}
			var p *problem.Error
			if !errors.Is(err, ledger.ErrStatementIncomplete) || !errors.As(err, &p) {
				t.Fatalf("got %v of %d pages", err, len(pages))
			}
			if p.Details["version"] != fmt.Sprint(c.version) || p.Details["account"] != "alice" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Cursors that were issued before they had more than one version continue their statements.
func TestOldStatementCursorsAreRead(t *testing.T) {
	b, q := daysOfLegs(t)
	whole, err := b.readStatement(q, 100)
	if err != nil {
		t.Fatal(err)
	}
	q.Cursor, err = ledger.OldStatementCursor(t.Context(), b.Ledger, whole[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := b.readStatement(q, 3)
	if err != nil {
		t.Fatal(err)
	}
	var rows []ledger.Leg
	for _, page := range rest {
		rows = append(rows, page.Legs...)
	}
	if !slices.Equal(rows, whole[0].Legs[3:]) {
		t.Errorf("got %d rows, want those after the third: %v", len(rows), rows)
	}
}
