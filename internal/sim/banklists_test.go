package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// bankYear are days around all rows of the files.
var bankYear = client.DaysQuery{From: "2026-01-01", To: "2026-12-31",
	PageQuery: client.PageQuery{Limit: 7}}

// bankRowKey is what lists of rows, searches and exports have in common.
func bankRowKey(t client.BankTransaction) string {
	return fmt.Sprintf("%s %s %s %s %s %q %v", t.AccountID, t.ID, t.Date, t.Amount, t.UploadID,
		t.Text, t.TagIDs)
}

// compareBankLists compares lists over all bank accounts with the rows of each, which were compared
// with the files.
func (w *world) compareBankLists(c *caller, texts map[client.TagID]string) error {
	var all []client.BankTransaction
	for _, account := range bankAccounts {
		for t, err := range c.AllBankTransactions(w.ctx, account, bankYear) {
			if err != nil {
				return cannotTell("list rows", err)
			}
			all = append(all, t)
		}
	}
	return firstError(
		func() error { return w.compareBankAccounts(c, texts) },
		func() error { return w.compareRules(c) },
		func() error { return w.compareRowLists(c, all) },
		func() error { return w.compareOutcomes(c) },
		func() error { return w.compareReports(c, all) },
		func() error { return w.compareExport(c, all) },
	)
}

// compareBankAccounts compares the accounts and tags, also as the first page of a program reads
// them.
func (w *world) compareBankAccounts(c *caller, texts map[client.TagID]string) error {
	var accounts, tags []string
	for _, id := range bankAccounts {
		accounts = append(accounts, string(id))
	}
	for id, text := range texts {
		tags = append(tags, string(id)+" "+text)
	}
	start, err := c.Start(w.ctx)
	account := func(a client.BankAccount) string { return string(a.ID) }
	tag := func(t client.Tag) string { return string(t.ID) + " " + t.Text }
	return firstError(
		func() error {
			return sameRows("bank accounts", rowsOf(c.BankAccounts(w.ctx)), account, accounts)
		},
		func() error {
			return sameRows("accounts at the start", rowsOf(start.Accounts, err), account, accounts)
		},
		func() error { return sameRows("tags at the start", rowsOf(start.Tags, err), tag, tags) },
	)
}

// compareRules checks that each rule that was acknowledged is there, and no rule that no client
// asked for.
func (w *world) compareRules(c *caller) error {
	rules, err := c.Rules(w.ctx)
	if err != nil {
		return cannotTell("list rules", err)
	}
	listed := map[client.RuleID]bool{}
	for _, r := range rules {
		sure, asked := w.bank.rules[r.ID]
		if listed[r.ID] || !asked {
			return fmt.Errorf("rule %s is listed, listed before: %v, asked for: %v, acknowledged: %v",
				r.ID, listed[r.ID], asked, sure)
		}
		listed[r.ID] = true
	}
	for id, sure := range w.bank.rules {
		if sure && !listed[id] {
			return fmt.Errorf("rule %s was acknowledged and is not in the list", id)
		}
	}
	return nil
}

// compareRowLists compares the latest rows of an account, and searches over all accounts.
func (w *world) compareRowLists(c *caller, all []client.BankTransaction) error {
	for _, account := range bankAccounts {
		want := selected(slices.Values(all), bankRowKey, func(t client.BankTransaction) bool {
			return t.AccountID == account
		})
		q := bankYear
		q.Latest = true
		name := "the latest rows of " + string(account)
		rows := c.AllBankTransactions(w.ctx, account, q)
		if err := sameRows(name, rows, bankRowKey, want); err != nil {
			return err
		}
	}
	for _, search := range w.bankSearches() {
		search.q.From, search.q.To, search.q.Limit = bankYear.From, bankYear.To, 5
		want := selected(slices.Values(all), bankRowKey, search.in)
		name := fmt.Sprintf("rows that are searched by %s", search.what)
		if err := sameRows(name, c.AllFound(w.ctx, search.q), bankRowKey, want); err != nil {
			return err
		}
	}
	return nil
}

// bankSearch is a search and what it finds.
type bankSearch struct {
	what string
	q    client.BankSearch
	in   func(client.BankTransaction) bool
}

func (w *world) bankSearches() []bankSearch {
	least := money.MustParse("0", "NZD").Units()
	searches := []bankSearch{
		{"nothing", client.BankSearch{}, func(client.BankTransaction) bool { return true }},
		{"text", client.BankSearch{Text: "work"}, func(t client.BankTransaction) bool {
			return t.Text == "WORK"
		}},
		{"no tag", client.BankSearch{Untagged: true}, func(t client.BankTransaction) bool {
			return len(t.TagIDs) == 0
		}},
		{"amount", client.BankSearch{AmountFrom: &least, Latest: true},
			func(t client.BankTransaction) bool { return t.Amount.Sign() >= 0 }},
	}
	for _, tag := range w.bank.tags {
		searches = append(searches, bankSearch{"tag", client.BankSearch{Tags: []client.TagID{tag}},
			func(t client.BankTransaction) bool { return slices.Contains(t.TagIDs, tag) }})
	}
	if x := w.upload(int(w.plan.Seed % 100)); x != nil {
		searches = append(searches, bankSearch{"upload", client.BankSearch{Upload: x.id},
			func(t client.BankTransaction) bool { return t.UploadID == x.id }})
	}
	return searches
}

// compareOutcomes checks that what is kept of the rows of each finished import has as many rows of
// each kind as the import counted.
func (w *world) compareOutcomes(c *caller) error {
	for _, account := range bankAccounts {
		for u, err := range c.AllUploads(w.ctx, account) {
			if err != nil {
				return cannotTell("list uploads", err)
			}
			if u.Status != client.UploadProcessed {
				continue
			}
			known := 0
			for row, err := range c.AllUploadRows(w.ctx, account, u.ID) {
				if err != nil {
					return cannotTell("list rows of upload "+string(u.ID), err)
				}
				if row.Verdict == "known" {
					known++
				}
			}
			if u.Counts.New+u.Counts.Known != bankFileRows || known > bankFileRows {
				return fmt.Errorf("upload %s counts %+v, and %d rows are listed as known", u.ID,
					u.Counts, known)
			}
		}
	}
	return nil
}

// compareReports compares what the reports of a year count with the rows.
func (w *world) compareReports(c *caller, all []client.BankTransaction) error {
	q := client.ReportQuery{From: bankYear.From, To: bankYear.To}
	flow, err := c.CashFlow(w.ctx, q)
	if err != nil {
		return cannotTell("report the cash flow", err)
	}
	spending, err := c.Spending(w.ctx, q)
	if err != nil {
		return cannotTell("report the spending", err)
	}
	months := map[string]int{}
	for _, t := range all {
		months[string(t.Date[:7])]++
	}
	counted, rows := map[string]int{}, 0
	for _, currency := range flow.Currencies {
		for n, m := range currency.Months {
			if m.Count+m.Transfers.Count > 0 {
				counted[flow.Months[n]] += m.Count + m.Transfers.Count
			}
		}
	}
	for _, currency := range spending.Currencies {
		rows += currency.Total.Count
	}
	if !maps.Equal(counted, months) {
		return fmt.Errorf("the cash flow counts the rows %v, and there are %v", counted, months)
	}
	if rows != len(all) {
		return fmt.Errorf("the spending counts %d rows, and there are %d", rows, len(all))
	}
	return nil
}

// compareExport compares the export of everything with the rows.
func (w *world) compareExport(c *caller, all []client.BankTransaction) error {
	var text bytes.Buffer
	err := c.Export(w.ctx, &text, client.ExportQuery{Format: "jsonl"})
	if err != nil {
		return cannotTell("export rows", err)
	}
	var rows []client.BankTransaction
	for decoder := json.NewDecoder(&text); decoder.More(); {
		var t client.BankTransaction
		if err := decoder.Decode(&t); err != nil {
			return cannotTell("read the export", err)
		}
		rows = append(rows, t)
	}
	// No two rows of an account have one amount.
	key := func(t client.BankTransaction) string { return fmt.Sprintf("%s %s", t.Date, t.Amount) }
	want := selected(slices.Values(all), key, func(client.BankTransaction) bool { return true })
	return sameRows("exported rows", rowsOf(rows, nil), key, want)
}
