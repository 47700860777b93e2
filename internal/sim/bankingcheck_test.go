package sim

import (
	"fmt"
	"slices"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// compareBanking finishes what was stopped in mid work, and compares rows, months and tags with the
// files that were imported.
func (w *world) compareBanking(c *caller) error {
	jobs, err := c.Jobs(w.ctx)
	if err != nil {
		return cannotTell("list jobs", err)
	}
	for _, job := range jobs {
		if job.Done {
			continue
		}
		if done, err := c.RunJob(w.ctx, job.ID, nil); err != nil || !done.Done {
			return fmt.Errorf("job %s, which was stopped, does not end: %+v, %w", job.ID, done, err)
		}
	}
	texts := map[client.TagID]string{}
	tags, err := c.Tags(w.ctx)
	if err != nil {
		return cannotTell("list tags", err)
	}
	for _, tag := range tags {
		texts[tag.ID] = tag.Text
		known := w.bank.texts[tag.ID]
		if known != nil && !slices.Contains(known, tag.Text) {
			return fmt.Errorf("tag %s is %q, and was asked to be one of %q", tag.ID, tag.Text,
				known)
		}
	}
	for id := range w.bank.texts {
		if _, is := texts[id]; !is {
			return fmt.Errorf("tag %s was acknowledged and is not there", id)
		}
	}
	for _, account := range bankAccounts {
		if err := w.compareBankAccount(c, account, texts); err != nil {
			return fmt.Errorf("bank account %s: %w", account, err)
		}
	}
	return w.compareBankLists(c, texts)
}

// settleUploads ends imports and undoings that were stopped, and returns the uploads that are
// imported.
func (w *world) settleUploads(
	c *caller, account client.BankAccountID,
) (map[client.UploadID]*bankUpload, error) {
	imported := map[client.UploadID]*bankUpload{}
	listed := map[client.UploadID]bool{}
	for u, err := range c.AllUploads(w.ctx, account) {
		if err != nil {
			return nil, cannotTell("list uploads", err)
		}
		x := w.bank.uploads[u.ID]
		if x == nil || x.account != account {
			return nil, fmt.Errorf("no client sent upload %s", u.ID)
		}
		listed[u.ID] = true
		switch u.Status {
		case client.UploadImporting:
			u, err = c.ImportUpload(w.ctx, account, u.ID, client.Import{})
		case client.UploadReverting:
			u, err = c.UndoImport(w.ctx, account, u.ID, client.Undo{Edited: "remove"})
		}
		if err != nil {
			return nil, fmt.Errorf("upload %s, which was stopped, does not end: %w", x.id, err)
		}
		switch {
		case x.undone && u.Status != client.UploadReverted && u.Status != client.UploadProcessed:
			return nil, fmt.Errorf("undoing %s was acknowledged, and it is %s", u.ID, u.Status)
		case u.Status == client.UploadReverted && !x.undoing:
			return nil, fmt.Errorf("no client undid upload %s", u.ID)
		case x.imported && !x.undoing && u.Status != client.UploadProcessed:
			return nil, fmt.Errorf("importing %s was acknowledged, and it is %s", u.ID, u.Status)
		}
		if u.Status == client.UploadProcessed {
			x.brought = u.Counts.New
			imported[u.ID] = x
		}
	}
	for _, x := range w.bank.sent {
		if x.account == account && !listed[x.id] {
			return nil, fmt.Errorf("upload %s was acknowledged and is not in the list", x.id)
		}
	}
	return imported, nil
}

func (w *world) compareBankAccount(
	c *caller, account client.BankAccountID, texts map[client.TagID]string,
) error {
	imported, err := w.settleUploads(c, account)
	if err != nil {
		return err
	}
	// A row is that of the import that brought it. What another import knew already goes with the
	// one that is undone.
	undone := map[string]bool{}
	for _, x := range w.bank.uploads {
		for _, r := range bankRows(x.file) {
			undone[r.id] = undone[r.id] || x.account == account && x.undoing
		}
	}
	count := map[string]int{}
	of := map[client.UploadID]int{}
	q := client.DaysQuery{From: "2026-01-01", To: "2026-12-31"}
	rows := map[string]bool{}
	for r, err := range c.AllBankTransactions(w.ctx, account, q) {
		if err != nil {
			return cannotTell("list rows", err)
		}
		var b bankRow
		if x := imported[r.UploadID]; x != nil {
			b = x.row(r.BankID)
		}
		if b.id == "" {
			return fmt.Errorf("row %s of upload %s belongs to no import that was not undone",
				r.BankID, r.UploadID)
		}
		amount := money.MustParse(b.amount, "NZD").Units()
		if rows[r.BankID] || r.Amount.Cmp(amount) != 0 || r.Text != b.name {
			return fmt.Errorf("row %s is %s %q, there before: %v, and its file has %s %q", r.BankID,
				r.Amount, r.Text, rows[r.BankID], b.amount, b.name)
		}
		rows[r.BankID] = true
		of[r.UploadID]++
		count[string(r.Date[:7])]++
		for i, id := range r.TagIDs {
			if r.Tags[i] != texts[id] {
				return fmt.Errorf("row %s has tag %s as %q, and it is %q", r.BankID, id, r.Tags[i],
					texts[id])
			}
		}
	}
	for _, x := range imported {
		for _, r := range bankRows(x.file) {
			if !rows[r.id] && !undone[r.id] {
				return fmt.Errorf("row %s of upload %s was imported and is not there", r.id, x.id)
			}
		}
	}
	for id, x := range imported {
		if got := of[id]; got < x.brought {
			return fmt.Errorf("upload %s is imported and has brought %d rows, and %d of them are "+
				"there", id, x.brought, got)
		}
	}
	return w.compareMonths(c, account, count)
}

// row returns a row of an upload by its id, and an empty one if the upload has none.
func (x *bankUpload) row(id string) (found bankRow) {
	for _, r := range bankRows(x.file) {
		if r.id == id {
			found = r
		}
	}
	return found
}

// compareMonths compares the totals of months with the number of rows, and lets the product check
// the sums itself.
func (w *world) compareMonths(
	c *caller, account client.BankAccountID, count map[string]int,
) error {
	months, err := c.MonthTotals(w.ctx, account, "", "")
	if err != nil {
		return cannotTell("read months", err)
	}
	for _, m := range months {
		if m.All.Count != count[m.Month] {
			return fmt.Errorf("month %s counts %d rows, and there are %d", m.Month, m.All.Count,
				count[m.Month])
		}
		delete(count, m.Month)
	}
	if len(count) > 0 {
		return fmt.Errorf("the months lack %v", count)
	}
	check, err := c.CheckTotals(w.ctx, account, false, nil)
	if err != nil {
		return cannotTell("check the totals", err)
	}
	if check.Differ > 0 {
		return fmt.Errorf("the totals are right, and the check found %+v", check)
	}
	return nil
}
