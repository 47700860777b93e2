package journal_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/journal"
)

var names = journal.Names{
	Accounts: []journal.Account{{ID: "a", Name: "Everyday", Currency: "NZD"}},
	Tags:     []journal.Tag{{ID: "t", Text: "Food"}},
}

func coffee() *book.Transaction {
	return &book.Transaction{AccountID: "a", ID: "txn-202601-1", Date: "2026-01-05",
		Amount: money.DecimalFromInt(-5), Currency: "NZD", Merchant: "Café", TagIDs: []string{"t"},
		Tags: []string{"Food"}}
}

func ExampleNewWriter() {
	out := bufio.NewWriter(os.Stdout)
	w := journal.NewWriter(journal.Hledger, out, names)
	opening := journal.Opening{AccountID: "a", On: "2026-01-01",
		Amount: money.DecimalFromInt(100), Currency: "NZD"}
	for _, err := range []error{
		w.Begin([]journal.Opening{opening}), w.Row(coffee()), w.End(), out.Flush(),
	} {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// ; Statements
	//
	// commodity 1000.00 NZD
	// account assets:Everyday
	// account equity:Opening Balances
	//
	// 2026-01-01 * Opening balance
	//     assets:Everyday  100.00 NZD
	//     equity:Opening Balances  -100.00 NZD
	// account expenses:Food
	//
	// 2026-01-05 * Café
	//     ; id: txn-202601-1
	//     ; tag: Food
	//     assets:Everyday  -5.00 NZD
	//     expenses:Food  5.00 NZD
}

// Each form writes a row as itself, and has a media type of its own kind.
func TestEachFormWritesARow(t *testing.T) {
	for form, want := range map[journal.Format][]string{
		journal.CSV:       {"2026-01-05,-5.00,NZD,Café", "text/csv"},
		journal.JSON:      {`"amount":"-5"`, "application/json"},
		journal.JSONLines: {`"amount":"-5"`, "application/jsonl"},
		journal.Beancount: {`2026-01-05 * "Café" ""`, "text/plain"},
		journal.Hledger:   {"2026-01-05 * Café", "text/plain"},
	} {
		var b strings.Builder
		out := bufio.NewWriter(&b)
		w := journal.NewWriter(form, out, names)
		for _, err := range []error{w.Begin(nil), w.Row(coffee()), w.End(), out.Flush()} {
			if err != nil {
				t.Fatal(form, err)
			}
		}
		if !strings.Contains(b.String(), want[0]) {
			t.Errorf("%s:\n%s", form, b.String())
		}
		if !strings.HasPrefix(form.ContentType(), want[1]) {
			t.Errorf("%s is %s", form, form.ContentType())
		}
		early := form.Holds("1699-12-31")
		if early == (form == journal.Beancount) || !form.Holds("2026-01-05") {
			t.Errorf("%s holds the year 1699: %t", form, early)
		}
	}
	if n := len(journal.Formats()); n != 5 {
		t.Errorf("%d forms", n)
	}
	if got := journal.AccountName(journal.Beancount, names, "a"); got != "Assets:Everyday" {
		t.Error(got)
	}
	if got := journal.AccountName(journal.CSV, names, "a"); got != "" {
		t.Error(got)
	}
}
