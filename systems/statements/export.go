package statements

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/journal"
)

// ExportFormat is a form in which transactions are exported.
type ExportFormat = journal.Format

// The forms; see package journal.
const (
	ExportCSV       = journal.CSV
	ExportJSON      = journal.JSON
	ExportJSONLines = journal.JSONLines
	ExportBeancount = journal.Beancount
	ExportHledger   = journal.Hledger
)

// ExportFormats returns all forms.
func ExportFormats() []ExportFormat { return journal.Formats() }

// exportRowsMax bounds how many rows are held at a time, of all accounts together; each account
// has between exportChunkMin and searchChunk of them.
const (
	exportRowsMax  = 10_000
	exportChunkMin = 20
)

// chunkOf is how many rows of each of so many accounts are read at once.
func chunkOf(accounts int) int {
	return min(searchChunk, max(exportChunkMin, exportRowsMax/max(1, accounts)))
}

// Export asks for transactions to be given out.
type Export struct {
	Format ExportFormat
	// Accounts are the accounts to give out; none means all.
	Accounts []string
	// From and To are days, both included; an end left empty is open. There is no limit of months.
	From, To Date
	// Opening begins each account of a journal with what its rows before From add up to, and
	// Openings, by account and in its currency, with what was there before all rows.
	Opening  bool
	Openings map[string]money.Decimal
}

// Exported is what was given out.
type Exported struct {
	Rows int
	// LeftOut are rows that the form cannot hold: Beancount knows the years 1700 to 2099 alone.
	LeftOut int
}

// Export writes transactions in the order of their days; memory does not grow with their number.
// The error is ErrInvalid, ErrRangeTooLong, ErrNoAccount or that of the writer; what was written
// until then is no whole file.
func (p *Person) Export(ctx context.Context, w io.Writer, e Export) (Exported, error) {
	if err := e.check(); err != nil {
		return Exported{}, err
	}
	start, err := p.Start(ctx)
	if err != nil {
		return Exported{}, err
	}
	accounts, err := chosen(start.Accounts, e.Accounts)
	if err != nil {
		return Exported{}, err
	}
	for _, id := range inOrder(e.Openings) {
		if !slices.ContainsFunc(accounts, func(a Account) bool { return a.ID == id }) {
			return Exported{}, ErrNoAccount.With("account", id)
		}
	}
	j := &joint{p: p, accounts: idsOf(accounts), from: e.From, to: e.To,
		chunk: chunkOf(len(accounts))}
	if err := p.widen(ctx, j); err != nil {
		return Exported{}, err
	}
	openings, err := p.openings(ctx, accounts, e)
	if err != nil {
		return Exported{}, err
	}
	buffer := bufio.NewWriterSize(w, 64<<10)
	out := journal.NewWriter(e.Format, buffer, namesOf(start))
	if err := out.Begin(openings); err != nil {
		return Exported{}, err
	}
	var done Exported
	for at, err := range j.steps(ctx, point{}) {
		if err != nil {
			return done, err
		}
		if bad := j.unreadable(); len(bad) > 0 {
			// A file with a gap would pass for a whole one.
			return done, failed("export transactions", bad[0])
		}
		if at.row == nil {
			continue
		}
		if !e.Format.Holds(at.row.Date) {
			done.LeftOut++
			continue
		}
		if err := out.Row(at.row); err != nil {
			return done, err
		}
		done.Rows++
	}
	if err := out.End(); err != nil {
		return done, err
	}
	return done, buffer.Flush()
}

func (e *Export) check() error {
	var wrong problem.Fields
	if !slices.Contains(ExportFormats(), e.Format) {
		wrong.Addf("format", "%q is none of csv, json, jsonl, beancount and hledger", e.Format)
	}
	if (e.Opening || len(e.Openings) > 0) && !e.Format.IsJournal() {
		wrong.Add("opening", "is for journals alone")
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return err
	}
	return checkEnds(e.From, e.To, true)
}

// namesOf are the names of what a person has, for an export.
func namesOf(start Start) journal.Names {
	var names journal.Names
	for _, a := range start.Accounts {
		names.Accounts = append(names.Accounts,
			journal.Account{ID: a.ID, Name: a.Name, Currency: a.Currency})
	}
	for _, t := range start.Tags {
		names.Tags = append(names.Tags, journal.Tag{ID: t.ID, Text: t.Text})
	}
	return names
}

// widen closes the open ends of a range where nothing can be beyond. Far away only months are read
// that have a sheet: a row of the year 9999 does not make all before it be looked into.
func (p *Person) widen(ctx context.Context, j *joint) error {
	if j.from != "" && j.to != "" {
		return nil
	}
	ahead := monthFrom(p.now().Format(monthLayout), monthsAhead)
	first, last := monthFirst, ahead
	sheets, err := p.months().sheetsOfAll(ctx, j.accounts, "", "")
	if err != nil {
		return err
	}
	told := map[[2]string]bool{}
	for i, of := range sheets {
		for k := range of {
			month := book.MonthOf(of[k].Month)
			told[[2]string{j.accounts[i], month}] = true
			first, last = min(first, month), max(last, month)
		}
	}
	openFrom, openTo := j.from == "", j.to == ""
	if openFrom {
		j.from = firstDay(first)
	}
	if openTo {
		j.to = max(lastDay(last), j.from)
	}
	j.skip = func(account, month string) bool {
		far := openFrom && month < monthFirst || openTo && month > ahead
		return far && !told[[2]string{account, month}]
	}
	return nil
}

// openings works out what accounts begin with.
func (p *Person) openings(
	ctx context.Context,
	accounts []Account,
	e Export,
) ([]journal.Opening, error) {
	var out []journal.Opening
	for _, a := range accounts {
		sums := map[money.Currency]money.Decimal{}
		if first, ok := e.Openings[a.ID]; ok {
			sums[a.Currency] = first
		}
		if e.Opening && e.From != "" {
			if err := p.months().sumBefore(ctx, a.ID, e.From, sums); err != nil {
				return nil, err
			}
		}
		for _, currency := range inOrder(sums) {
			if !sums[currency].IsZero() {
				out = append(out, journal.Opening{AccountID: a.ID, On: e.From,
					Amount: sums[currency], Currency: currency})
			}
		}
	}
	return out, nil
}

// sumBefore adds up what an account gained before a day.
func (p monthReader) sumBefore(
	ctx context.Context, account string, day Date, sums map[money.Currency]money.Decimal,
) error {
	add := func(currency money.Currency, amount money.Decimal) (err error) {
		sums[currency], err = sums[currency].Add(amount)
		return err
	}
	sheets, err := p.sheets(ctx, account, "", lastDay(monthBefore(book.MonthOf(day))))
	if err != nil {
		return err
	}
	for i := range sheets {
		net, err := sheets[i].All.net()
		if err != nil {
			return err
		}
		if err := add(sheets[i].Currency, net); err != nil {
			return err
		}
	}
	in := Range{AccountID: account, From: firstDay(book.MonthOf(day)), To: day}
	for t, err := range p.All(ctx, in) {
		if err != nil {
			return err
		}
		if t.Date < day {
			if err := add(t.Currency, t.Amount); err != nil {
				return err
			}
		}
	}
	return nil
}
