package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// pages reads a whole statement, and does between the pages what it is told to.
func (b *books) pages(q ledger.StatementQuery, between func()) (pages []ledger.Statement) {
	b.t.Helper()
	for {
		s, err := b.Statement(b.t.Context(), q)
		if err != nil {
			b.t.Fatal(err)
		}
		pages = append(pages, s)
		if s.Next == "" {
			return pages
		}
		q.Cursor = s.Next
		if between != nil {
			between()
		}
	}
}

// consistent checks that the rows of all pages follow one another, from closing to opening balance.
func consistent(t testing.TB, pages []ledger.Statement) (rows []ledger.Leg) {
	t.Helper()
	balance := pages[0].Closing
	for _, page := range pages {
		if page.Opening != pages[0].Opening || page.Closing != pages[0].Closing {
			t.Errorf("balances change from page to page: %s to %s", page.Opening, page.Closing)
		}
		for _, leg := range page.Legs {
			if leg.BalanceAfter != balance {
				t.Fatalf("row %d has %s, want %s", len(rows), leg.BalanceAfter, balance)
			}
			if leg.Type == ledger.Credit {
				balance, _ = balance.Sub(leg.Amount)
			} else {
				balance, _ = balance.Add(leg.Amount)
			}
			rows = append(rows, leg)
		}
	}
	if balance != pages[0].Opening {
		t.Errorf("the rows lead to %s, the opening balance is %s", balance, pages[0].Opening)
	}
	return rows
}

func TestRowsOfOneInstantArePaged(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	b.clock.Set(start.AddDate(0, 0, 1))
	var want []ledger.TransactionID
	for range 250 { // All of one millisecond.
		want = append(want, b.post(transfer("alice", "bob", "0.01")).Transaction.ID)
	}
	slices.Reverse(want)
	q := ledger.StatementQuery{AccountID: "alice", From: "2026-01-03", To: "2026-01-03"}
	pages := b.pages(q, func() {
		// Rows that come in between shift nothing.
		b.post(transfer("bob", "alice", "0.01"))
	})
	sizes := []int{}
	for _, page := range pages {
		sizes = append(sizes, len(page.Legs))
	}
	if diff := cmp.Diff([]int{100, 100, 50}, sizes); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	var got []ledger.TransactionID
	for _, leg := range consistent(t, pages) {
		got = append(got, leg.TransactionID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if pages[0].Opening != usd("100") || pages[0].Closing != usd("97.50") {
		t.Errorf("from %s to %s", pages[0].Opening, pages[0].Closing)
	}
	b.sound()
}

func TestStatementOfANewAccount(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("new", usd("0"))
	s, err := b.Statement(t.Context(), ledger.StatementQuery{
		AccountID: "new", From: "2026-01-01", To: "2026-12-31",
	})
	if err != nil || len(s.Legs) != 0 || s.Opening != usd("0") || s.Closing != usd("0") ||
		s.Next != "" {
		t.Errorf("got %+v, %v", s, err)
	}
	_, err = b.Statement(t.Context(), ledger.StatementQuery{
		AccountID: "none", From: "2026-01-01", To: "2026-12-31",
	})
	if !isProblem(err, ledger.ErrAccountNotFound) {
		t.Errorf("got %v", err)
	}
}

// A day begins at its first millisecond and ends with its last.
func TestStatementDays(t *testing.T) {
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]*time.Location{"UTC": time.UTC, "Auckland": zone} {
		t.Run(name, func(t *testing.T) {
			b := aliceAndBob(t, ledger.Options{Zone: in})
			// Days on which clocks change have 23 and 25 hours in Auckland.
			for _, day := range []int{3, 4, 5, 6} {
				for _, at := range []time.Time{
					time.Date(2026, 4, day, 0, 0, 0, 0, in),
					time.Date(2026, 4, day, 23, 59, 59, 999_999_999, in),
				} {
					b.clock.Set(at)
					b.post(transfer("alice", "bob", "1"))
				}
			}
			for day := 3; day <= 6; day++ {
				date := ledger.Date(fmt.Sprintf("2026-04-%02d", day))
				s, err := b.Statement(t.Context(),
					ledger.StatementQuery{AccountID: "alice", From: date, To: date})
				if err != nil {
					t.Fatal(err)
				}
				opening, _ := money.FromMinor(int64(10000-200*(day-3)), "USD")
				if len(s.Legs) != 2 || s.Opening != opening {
					t.Errorf("%s has %d rows from %s", date, len(s.Legs), s.Opening)
				}
				consistent(t, []ledger.Statement{s})
			}
			all := b.pages(ledger.StatementQuery{
				AccountID: "alice", From: "2026-04-03", To: "2026-04-06", PageQuery: pagesOf(3),
			}, nil)
			if rows := consistent(t, all); len(rows) != 8 || len(all) != 3 {
				t.Errorf("%d rows on %d pages", len(rows), len(all))
			}
			past := b.pages(ledger.StatementQuery{
				AccountID: "alice", From: "2020-01-01", To: "2020-01-31",
			}, nil)
			if past[0].Opening != usd("0") || past[0].Closing != usd("0") {
				t.Errorf("before the account: from %s to %s", past[0].Opening, past[0].Closing)
			}
			later := b.pages(ledger.StatementQuery{
				AccountID: "alice", From: "2027-01-01", To: "2027-01-31",
			}, nil)
			if later[0].Opening != usd("92") || later[0].Closing != usd("92") {
				t.Errorf("afterwards: from %s to %s", later[0].Opening, later[0].Closing)
			}
		})
	}
}

// Rows of one day in the order in which they were posted show no overdraft that never was.
func TestSameDayOrder(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("0"))
	b.account("bob", usd("0"))
	var want []money.Amount
	for _, row := range []struct{ change, after string }{
		{"815.81", "815.81"}, {"-443.58", "372.23"}, {"300.00", "672.23"}, {"-575.00", "97.23"},
		{"100.00", "197.23"}, {"-126.56", "70.67"},
	} {
		if amount := usd(row.change); amount.Sign() > 0 {
			b.post(ledger.DepositInto("alice", amount))
		} else {
			b.post(ledger.WithdrawFrom("alice", amount.Abs()))
		}
		want = append(want, usd(row.after))
	}
	slices.Reverse(want)
	s := b.pages(ledger.StatementQuery{
		AccountID: "alice", From: "2026-01-02", To: "2026-01-02",
	}, nil)
	var got []money.Amount
	for _, leg := range consistent(t, s) {
		got = append(got, leg.BalanceAfter)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("balances (-want +got):\n%s", diff)
	}
}

// A clock that goes back a little does not reorder what was posted.
func TestTheClockGoesBack(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	first := b.post(coffee())
	b.clock.Move(-ledger.ClockSkewMax)
	second := b.post(coffee())
	if second.Transaction.CreatedAt.Before(first.Transaction.CreatedAt) {
		t.Errorf("the second is of %s, the first of %s", second.Transaction.CreatedAt,
			first.Transaction.CreatedAt)
	}
	page, err := b.LegsOfAccount(t.Context(), ledger.LegsQuery{AccountID: "alice"})
	if err != nil || page.Items[0].TransactionID != second.Transaction.ID {
		t.Errorf("got %+v, %v", page.Items, err)
	}
	b.sound()
}

func TestStatementWhileOthersPost(t *testing.T) {
	b := openBooks(t, ledger.Options{Now: time.Now})
	b.account("alice", usd("1000"))
	b.account("bob", usd("1000"))
	// A statement is read while a few postings are made, so that how many rows there are does not
	// depend on the speed of the machine.
	const postings = 8
	rounds := storetest.Rounds(20)
	more := make(chan struct{}, rounds*postings)
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			for i := range rounds * postings {
				<-more
				p := transfer("alice", "bob", "1")
				if i%2 == 1 {
					p = transfer("bob", "alice", "1")
				}
				if _, err := b.Post(b.t.Context(), p); err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	today := ledger.DateOf(time.Now().UTC().Add(-time.Minute))
	tomorrow := ledger.DateOf(time.Now().UTC().AddDate(0, 0, 1))
	for range rounds {
		for range postings {
			more <- struct{}{}
		}
		consistent(t, b.pages(ledger.StatementQuery{
			AccountID: "alice", From: today, To: tomorrow, PageQuery: pagesOf(7),
		}, nil))
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.sound()
}

func TestStatementsAreRefused(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	for range 3 {
		b.post(coffee())
	}
	good := ledger.StatementQuery{
		AccountID: "alice", From: "2026-01-02", To: "2026-01-02", PageQuery: pagesOf(2),
	}
	first, err := b.Statement(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	vary := func(f func(*ledger.StatementQuery)) ledger.StatementQuery {
		q := good
		q.Cursor = first.Next
		f(&q)
		return q
	}
	for name, q := range map[string]ledger.StatementQuery{
		"request_invalid: no day": vary(func(q *ledger.StatementQuery) {
			q.From = "2026-02-30"
		}),
		"request_invalid: backwards":  vary(func(q *ledger.StatementQuery) { q.To = "2026-01-01" }),
		"request_invalid: size":       vary(func(q *ledger.StatementQuery) { q.Size = 1001 }),
		"cursor_invalid: other days":  vary(func(q *ledger.StatementQuery) { q.To = "2026-01-03" }),
		"cursor_invalid: other owner": vary(func(q *ledger.StatementQuery) { q.AccountID = "bob" }),
		"cursor_invalid: nonsense":    vary(func(q *ledger.StatementQuery) { q.Cursor = "x" }),
		"cursor_invalid: cut off": vary(func(q *ledger.StatementQuery) {
			q.Cursor = q.Cursor[:len(q.Cursor)-4]
		}),
		"cursor_invalid: other balances": vary(func(q *ledger.StatementQuery) {
			q.Cursor = "9" + q.Cursor
		}),
	} {
		_, err := b.Statement(t.Context(), q)
		if want := name[:len(code(err))]; string(code(err)) != want {
			t.Errorf("%s: got %v", name, err)
		}
	}
	q := vary(func(*ledger.StatementQuery) {})
	if _, err := b.Statement(t.Context(), q); err != nil {
		t.Errorf("the right cursor: %v", err)
	}
}

// More rows than a page holds come in each time that the first page is read. None of them is in the
// statement, on no page, and what is in it leads from the closing to the opening balance.
func TestMoreRowsComeInThanAPageHolds(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	for range 20 {
		b.post(transfer("alice", "bob", "1"))
	}
	q := ledger.StatementQuery{
		AccountID: "alice", From: "2026-01-02", To: "2026-01-02", PageQuery: pagesOf(5),
	}
	busy := true
	b.faces.onQuery(func() {
		if busy {
			busy = false // The rows below are posted without asking again.
			for range 12 {
				b.post(transfer("alice", "bob", "0.01"))
			}
			busy = true
		}
	})
	first, err := b.Statement(t.Context(), q)
	b.faces.onQuery(nil)
	if err != nil {
		t.Fatal(err)
	}
	pages := []ledger.Statement{first}
	for q.Cursor = first.Next; q.Cursor != ""; q.Cursor = pages[len(pages)-1].Next {
		next, err := b.Statement(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, next)
	}
	if rows := consistent(t, pages); len(rows) < 20 {
		t.Errorf("the statement has %d rows", len(rows))
	}
}
