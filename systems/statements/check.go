package statements

import (
	"context"
	"errors"
	"maps"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// checkTries is how often a month is looked at again while others write to it. What differs and
// cannot be held still so often is reported without repair.
const checkTries = 8

// DifferencesMax bounds how many differences a check lists; it counts them all.
const DifferencesMax = 1_000

// CheckOptions are how totals are checked.
type CheckOptions struct {
	// Repair writes the sheets that differ again, and takes rows of other programs in, so that they
	// count from then on.
	Repair bool
	// Progress, if set, is called after each month with rows.
	Progress func(Checked)
}

// Checked is what a check of totals found.
type Checked struct {
	// Months is how many months have rows or totals, Rows how many rows were read in them.
	Months, Rows int
	// Differences are the first DifferencesMax; Differ is how many sheets differ in all.
	Differences []Difference
	Differ      int
	// Repaired is how many sheets were written again.
	Repaired int
	// Unreadable are the stored items that cannot be read, nil if there are none. Their months are
	// not compared.
	Unreadable *singletable.UnreadableList
	// Undecided are the months that could not be compared, because others wrote to them all the
	// time. Check them again.
	Undecided []string
}

// TotalsVerdict is the result of a check of totals in one word.
type TotalsVerdict string

// The verdicts.
const (
	// TotalsSound means that every month was compared and that no total differs any more.
	TotalsSound TotalsVerdict = "sound"
	// TotalsFaulty means that totals differ, or that stored items cannot be read.
	TotalsFaulty TotalsVerdict = "faulty"
	// TotalsUndecided means that no total differs, but that not every month could be compared.
	TotalsUndecided TotalsVerdict = "undecided"
)

// Verdict returns the verdict.
func (c *Checked) Verdict() TotalsVerdict {
	switch {
	case c.Differ > c.Repaired || c.Unreadable.Len() > 0:
		return TotalsFaulty
	case len(c.Undecided) > 0:
		return TotalsUndecided
	}
	return TotalsSound
}

// Difference is a sheet that is not what the rows add up to.
type Difference struct {
	Month    string
	Currency money.Currency
	// What names the first total that differs: "all", "transfers", "tag tag-001", "merchant
	// Market", "untagged", "unnamed" or "rest".
	What        string
	Sheet, Rows Flow
}

// CheckTotals compares the sheets of an account with what its rows add up to, in every month. Rows
// may be written in the meantime: a month counts as different only if its sheets stayed the same
// while its rows were read. Rows that another program wrote are in no sheet, and therefore
// differences. Items that cannot be read are named, and nothing is repaired in their months. The
// error is ErrNoAccount.
func (p *Person) CheckTotals(
	ctx context.Context, account string, o CheckOptions,
) (Checked, error) {
	var out Checked
	if _, err := p.Account(ctx, account); err != nil {
		return out, err
	}
	months, err := p.months().everyMonth(ctx, account)
	if err = out.leave(err); err != nil {
		return out, err
	}
	sheets, err := p.months().sheets(ctx, account, "", "")
	if err = out.leave(err); err != nil {
		return out, err
	}
	look := func(ctx context.Context, month string) (monthCheck, error) {
		return p.checker().lookFirst(ctx, account, month, sheets)
	}
	err = eachMonth(ctx, months, look, func(month string, c monthCheck) error {
		out.note(c.differences)
		if o.Repair {
			repaired, err := p.checker().repairAll(ctx, account, &c)
			if err != nil {
				return err
			}
			out.Repaired += repaired
		}
		_ = out.leave(c.unread.Err())
		if c.open {
			out.Undecided = append(out.Undecided, month)
		}
		if len(c.rows)+len(c.sheets)+len(c.unread) == 0 && !c.open {
			return nil
		}
		out.Months++
		out.Rows += len(c.rows)
		if o.Progress != nil {
			o.Progress(out)
		}
		return nil
	})
	return out, err
}

// leave notes the unreadable items of an error. It returns every other error.
func (c *Checked) leave(err error) error {
	bad, err := singletable.RowsOf(err)
	for _, item := range bad {
		if c.Unreadable == nil {
			c.Unreadable = &singletable.UnreadableList{}
		}
		c.Unreadable.Add(item)
	}
	return err
}

func (c *Checked) note(differences []Difference) {
	c.Differ += len(differences)
	c.Differences = append(c.Differences,
		differences[:min(len(differences), DifferencesMax-len(c.Differences))]...)
}

// monthCheck is one month of an account: its rows, and its sheets before and after they were read.
type monthCheck struct {
	month       string
	rows        []Transaction
	sheets      map[money.Currency]*Sheet
	differences []Difference
	// unread are the items of the month that cannot be read, so that nothing was compared.
	unread singletable.UnreadableRows
	// open means that others wrote to the month each time that it was read.
	open bool
}

// leave notes the unreadable items of an error. It returns every other error.
func (c *monthCheck) leave(err error) error {
	bad, err := singletable.RowsOf(err)
	c.unread = append(c.unread, bad...)
	return err
}

// lookFirst reads the rows of a month and compares them with sheets that were read before. Only
// where they differ the month is looked at closely.
func (p checker) lookFirst(
	ctx context.Context, account, month string, all []Sheet,
) (c monthCheck, err error) {
	c = monthCheck{month: month, sheets: map[money.Currency]*Sheet{}}
	for i := range all {
		if book.MonthOf(all[i].Month) == month {
			c.sheets[all[i].Currency] = &all[i]
		}
	}
	c.rows, err = p.months().readableRows(ctx, account, month)
	if err = c.leave(err); err != nil || c.unread != nil {
		return c, err
	}
	c.differences, err = c.compare()
	if err != nil || len(c.differences) == 0 {
		return c, err
	}
	return p.lookAt(ctx, account, month)
}

// lookAt reads a month and compares it. It reads again while others write to it.
func (p checker) lookAt(ctx context.Context, account, month string) (monthCheck, error) {
	for range checkTries {
		c := monthCheck{month: month}
		before, err := p.months().monthSheets(ctx, account, month)
		if err = c.leave(err); err != nil {
			return c, err
		}
		c.rows, err = p.months().readableRows(ctx, account, month)
		if err = c.leave(err); err != nil {
			return c, err
		}
		c.sheets, err = p.months().monthSheets(ctx, account, month)
		if err = c.leave(err); err != nil || c.unread != nil {
			return c, err
		}
		if c.differences, err = c.compare(); err != nil {
			return c, err
		}
		if len(c.differences) == 0 || sameVersions(before, c.sheets) {
			return c, nil
		}
	}
	return monthCheck{month: month, open: true}, nil
}

// readableRows returns the rows of a month, and those that cannot be read as
// [singletable.UnreadableRows].
func (p monthReader) readableRows(
	ctx context.Context, account, month string,
) ([]Transaction, error) {
	var rows []Transaction
	var bad singletable.UnreadableRows
	in := OfDays{p.id, account, firstDay(month), lastDay(month)}
	for t, err := range modelOf(p.Person).days.All(ctx, p.store(), in) {
		if item, unreadable := singletable.AsUnreadable(err); unreadable {
			bad = append(bad, item)
			continue
		}
		if err != nil {
			return nil, failed("read transactions", err)
		}
		rows = append(rows, t)
	}
	return rows, bad.Err()
}

func (p monthReader) monthSheets(
	ctx context.Context, account, month string,
) (map[money.Currency]*Sheet, error) {
	sheets, err := p.sheets(ctx, account, firstDay(month), lastDay(month))
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return nil, err
	}
	out := map[money.Currency]*Sheet{}
	for i := range sheets {
		out[sheets[i].Currency] = &sheets[i]
	}
	return out, bad.Err()
}

func sameVersions(a, b map[money.Currency]*Sheet) bool {
	return maps.EqualFunc(a, b, func(a, b *Sheet) bool { return a.Version == b.Version })
}

// compare returns a difference for each sheet that is not what the rows add up to.
func (c *monthCheck) compare() ([]Difference, error) {
	rows := map[money.Currency]*rowTotals{}
	for i := range c.rows {
		t := &c.rows[i]
		if rows[t.Currency] == nil {
			rows[t.Currency] = &rowTotals{named: map[string]Flow{}}
		}
		if err := rows[t.Currency].count(t); err != nil {
			return nil, err
		}
	}
	all := maps.Clone(c.sheets)
	for currency := range rows {
		if all[currency] == nil {
			all[currency] = &Sheet{}
		}
	}
	var out []Difference
	for _, currency := range inOrder(all) {
		of := rows[currency]
		if of == nil {
			of = &rowTotals{}
		}
		d, err := of.compare(all[currency])
		if err != nil {
			return nil, err
		}
		if d != nil {
			d.Month, d.Currency = c.month, currency
			out = append(out, *d)
		}
	}
	return out, nil
}

// rowTotals is what rows add up to, with every merchant apart: which of them a sheet lists
// depends on who came first.
type rowTotals struct {
	sheet Sheet
	named map[string]Flow
}

func (y *rowTotals) count(t *Transaction) error {
	plain := *t
	plain.Merchant = ""
	if err := y.sheet.count(&plain, 1); err != nil {
		return err
	}
	if t.Transfer || t.Merchant == "" {
		return nil
	}
	if err := y.sheet.Unnamed.add(t.Amount, -1); err != nil {
		return err
	}
	return addTo(y.named, t.Merchant, t.Amount, 1)
}

// compare returns the first difference from a sheet, nil if there is none.
func (y *rowTotals) compare(s *Sheet) (*Difference, error) {
	rest := Flow{}
	named := map[string]Flow{}
	for _, name := range inOrder(y.named) {
		if _, apart := s.Merchants[name]; apart || s.Rest.Count == 0 {
			named[name] = y.named[name]
		} else if err := rest.join(y.named[name]); err != nil {
			return nil, err
		}
	}
	for _, c := range []struct {
		what        string
		sheet, rows Flow
	}{
		{"all", s.All, y.sheet.All}, {"transfers", s.Transfers, y.sheet.Transfers},
		{"untagged", s.Untagged, y.sheet.Untagged}, {"unnamed", s.Unnamed, y.sheet.Unnamed},
		{"rest", s.Rest, rest},
	} {
		if c.sheet != c.rows {
			return &Difference{What: c.what, Sheet: c.sheet, Rows: c.rows}, nil
		}
	}
	if d := differing("tag ", s.Tags, y.sheet.Tags); d != nil {
		return d, nil
	}
	return differing("merchant ", s.Merchants, named), nil
}

// differing returns the first name, in order, under which two sides differ.
func differing(what string, sheet, rows map[string]Flow) *Difference {
	names := maps.Clone(sheet)
	if names == nil {
		names = map[string]Flow{}
	}
	maps.Copy(names, rows)
	for _, name := range inOrder(names) {
		if sheet[name] != rows[name] {
			return &Difference{What: what + name, Sheet: sheet[name], Rows: rows[name]}
		}
	}
	return nil
}

// repairAll repairs a month and returns how many sheets were written again. C becomes the month as
// it was last read.
func (p checker) repairAll(ctx context.Context, account string, c *monthCheck) (int, error) {
	for races := 0; len(c.differences) > 0 && races < checkTries; {
		wrote, rest, err := p.repair(ctx, account, *c)
		switch {
		case err != nil:
			return 0, err
		case wrote && !rest:
			return len(c.differences), nil
		case !wrote:
			races++
		}
		if *c, err = p.lookAt(ctx, account, c.month); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// repair writes the sheets that differ again and gives rows of other programs the version that
// means that they are counted; rest reports that there are more of them than one write takes.
// Nothing is written where another writer wrote in the meantime.
func (p checker) repair(
	ctx context.Context, account string, c monthCheck,
) (wrote, rest bool, err error) {
	made := map[money.Currency]*Sheet{}
	for _, d := range c.differences {
		made[d.Currency] = &Sheet{UserID: p.id, AccountID: account, Month: firstDay(c.month),
			Currency: d.Currency}
		if s := c.sheets[d.Currency]; s != nil {
			made[d.Currency].Version = s.Version
		}
	}
	most := (singletable.TxActionsMax - len(made)) / 2 // Each with its entry.
	tx, taken := p.store().NewTx(), 0
	for i := range c.rows {
		t := &c.rows[i]
		s := made[t.Currency]
		if s == nil {
			continue
		}
		if t.Version == 0 {
			if rest || taken == most || tx.Size() > txSizeUsual {
				rest = true
				continue // They are counted by the next round.
			}
			if err := p.takeIn(ctx, tx, *t); err != nil {
				return false, false, err
			}
			taken++
		}
		if err := s.count(t, 1); err != nil {
			return false, false, err
		}
	}
	for _, currency := range inOrder(made) {
		modelOf(p.Person).putSheet(tx, made[currency])
	}
	err = tx.Commit(ctx)
	if errors.Is(err, singletable.ErrConditionFailed) {
		return false, rest, nil
	}
	return err == nil, rest, wrapped("write totals anew", err)
}

// takeIn adds to a transaction that a row of another program is one like all others, with an entry.
func (p checker) takeIn(ctx context.Context, tx *singletable.Tx, t Transaction) error {
	m := modelOf(p.Person)
	t.Version = 1
	m.transactions.PutTx(tx, t, m.transactions.Exists(), m.versions.transaction.Equals(0))
	_, found, err := p.rows().entry(ctx, t.AccountID, t.ID)
	if err != nil || found {
		return err
	}
	e := entryOf(&t)
	e.Version = 1
	m.entries.CreateTx(tx, *e)
	return nil
}
