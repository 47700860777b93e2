package demo_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/demo"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// open starts a server in memory and gives a client of it.
func open(t *testing.T) *client.Client {
	t.Helper()
	s, err := server.Open(t.Context(), server.Options{
		Memory: true, Tables: server.TablesKeep,
		Payments: payments.Options{Retry: payments.Retry{Attempts: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New("http://127.0.0.1", client.Options{Transport: s.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheStoryEndsWell(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long, and longer with the race detector; the server's own tests try that")
	}
	c := open(t)
	var out bytes.Buffer
	imported := 0
	err := demo.Tell(t.Context(), c, demo.Options{
		Out: &out, Progress: func(int, int) { imported++ },
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, must := range []string{
		"4,930 rows", "4,696 posted, 66 already there, 168 refused",
		"78 of 78 balances agree", "0 posted", "1 transaction, and 99 times the same answer",
		"3,040 rows in", "3,014 scheduled, 20 already there, 6 refused",
		"A run settles 3,000 payments", "they are replayed, and 9 are paid",
		"3,009 debits of the payers in the ledger add up to 1827656.86 NZD, and 5 of 5",
		"0 scheduled, 3,034 already there",
		"310 rates of 62 days", "95999176 JPY", "@exchange-EUR", "0 divergences",
		"74 transactions, and their sums", "45 totals by month, currency and tag agree",
		"berlin-march.xml is undone: 4 of 8 rows are left",
		"Everything is as it must be.",
	} {
		if !strings.Contains(out.String(), must) {
			t.Errorf("the story does not say %q", must)
		}
	}
	if imported != 2*4930 {
		t.Errorf("progress was told %d times, want one for each row, twice", imported)
	}
	for n, line := range strings.Split(out.String(), "\n") {
		if utf8.RuneCountInString(line) > 100 {
			t.Errorf("line %d of the story is longer than a terminal is wide: %s", n+1, line)
		}
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("line %d of the story has a control character: %q", n+1, line)
		}
	}
}
