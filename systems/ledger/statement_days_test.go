package ledger_test

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// The days of a statement that were not given are those of the account's zone: whatever the hour,
// the last one is the day in progress there, and the closing balance is the account's.
func TestTheDefaultDaysAreTheAccounts(t *testing.T) {
	for _, zone := range []string{
		"Pacific/Auckland", "America/Los_Angeles", "Asia/Kathmandu", "Pacific/Kiritimati", "UTC",
		"",
	} {
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for hour := range 24 {
			b := openBooks(t, ledger.Options{})
			now := time.Date(2026, time.November, 28, hour, 19, 0, 0, time.UTC)
			b.clock.Set(now)
			_, err := b.OpenAccount(t.Context(), ledger.NewAccount{
				ID: "a", UserID: "u", AccountType: "x", Currency: "NZD", Zone: zone,
			})
			if err != nil {
				t.Fatal(err)
			}
			b.post(ledger.DepositInto("a", nzd("1000")))
			s, err := b.Statement(t.Context(), ledger.StatementQuery{AccountID: "a"})
			to := ledger.Date(now.In(in).Format(time.DateOnly))
			before := now.In(in).AddDate(0, 0, -ledger.StatementDays)
			from := ledger.Date(before.Format(time.DateOnly))
			if err != nil || s.To != to || s.From != from || len(s.Legs) != 1 ||
				s.Closing.Text() != "1000.00" {
				t.Errorf("%s UTC in %q: %s to %s, %d legs, closing %s, %v; want %s to %s",
					now.Format("15:04"), zone, s.From, s.To, len(s.Legs), s.Closing, err, from, to)
			}
		}
	}
}

// One day that is given decides the other one.
func TestOneDayOfAStatementIsEnough(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("a", usd("7"))
	today := ledger.Date(start.Format(time.DateOnly))
	for _, c := range []struct{ from, to, wantFrom, wantTo ledger.Date }{
		{"2025-12-31", "", "2025-12-31", today},
		{"", "2026-03-31", "2026-03-01", "2026-03-31"},
		{"", "0001-01-05", "0001-01-01", "0001-01-05"},
		{"2030-01-01", "", "2030-01-01", "2030-01-01"},
	} {
		s, err := b.Statement(t.Context(), ledger.StatementQuery{
			AccountID: "a", From: c.from, To: c.to,
		})
		if err != nil || s.From != c.wantFrom || s.To != c.wantTo {
			t.Errorf("%q to %q is %s to %s, %v", c.from, c.to, s.From, s.To, err)
		}
	}
	for _, q := range []ledger.StatementQuery{{From: "soon"}, {To: "2026-02-30"}} {
		q.AccountID = "a"
		if _, err := b.Statement(t.Context(), q); err == nil {
			t.Errorf("%+v is no question", q)
		}
	}
}
