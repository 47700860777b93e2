package statements

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// ExportFormat is a form in which transactions are given out.
type ExportFormat string

// The forms.
const (
	// ExportCSV is a file for spreadsheets and for other programs; bankfile reads it.
	ExportCSV ExportFormat = "csv"
	// ExportJSON is one array, ExportJSONLines an object on each line. Members are named as the
	// attributes of the table are, and accountId is the account; amounts are strings.
	ExportJSON      ExportFormat = "json"
	ExportJSONLines ExportFormat = "jsonl"
	// ExportBeancount and ExportHledger are journals for plain text accounting. Each row is a
	// transaction between its account and one made of its first tag, or of those of its parts;
	// transfers meet in an account of their own, where both sides cancel out.
	ExportBeancount ExportFormat = "beancount"
	ExportHledger   ExportFormat = "hledger"
)

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

// ExportFormats returns all forms.
func ExportFormats() []ExportFormat {
	return []ExportFormat{
		ExportCSV, ExportJSON, ExportJSONLines, ExportBeancount, ExportHledger,
	}
}

// ContentType returns the media type of the form.
func (f ExportFormat) ContentType() string {
	switch f {
	case ExportCSV:
		return "text/csv; charset=utf-8"
	case ExportJSON:
		return "application/json"
	case ExportJSONLines:
		return "application/jsonl"
	}
	return "text/plain; charset=utf-8"
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

// rowWriter writes rows in some form.
type rowWriter interface {
	// begin is called once before all rows, with what accounts begin with.
	begin(opening []opening) error
	row(t *Transaction) error
	end() error
}

// opening is what an account begins with.
type opening struct {
	account  Account
	on       Date // Empty where the day is unknown.
	amount   money.Decimal
	currency money.Currency
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
	out := e.writer(buffer, start)
	if err := out.begin(openings); err != nil {
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
		if e.Format == ExportBeancount && !beancountDate(at.row.Date) {
			done.LeftOut++
			continue
		}
		if err := out.row(at.row); err != nil {
			return done, err
		}
		done.Rows++
	}
	if err := out.end(); err != nil {
		return done, err
	}
	return done, buffer.Flush()
}

func (e *Export) check() error {
	var wrong problem.Fields
	if !slices.Contains(ExportFormats(), e.Format) {
		wrong.Addf("format", "%q is none of csv, json, jsonl, beancount and hledger", e.Format)
	}
	journal := e.Format == ExportBeancount || e.Format == ExportHledger
	if (e.Opening || len(e.Openings) > 0) && !journal {
		wrong.Add("opening", "is for journals alone")
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return err
	}
	return checkEnds(e.From, e.To, true)
}

func (e *Export) writer(w *bufio.Writer, start Start) rowWriter {
	switch e.Format {
	case ExportCSV:
		return newCSVWriter(w, start)
	case ExportJSON:
		return &jsonWriter{w: w, array: true}
	case ExportJSONLines:
		return &jsonWriter{w: w}
	case ExportBeancount:
		return newJournal(start, &beancount{w: w})
	}
	return newJournal(start, &hledger{w: w})
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
			month := monthOf(of[k].Month)
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
func (p *Person) openings(ctx context.Context, accounts []Account, e Export) ([]opening, error) {
	var out []opening
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
				out = append(out, opening{a, e.From, sums[currency], currency})
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
	sheets, err := p.sheets(ctx, account, "", lastDay(monthBefore(monthOf(day))))
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
	in := Range{AccountID: account, From: firstDay(monthOf(day)), To: day}
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

// jsonWriter writes objects, in an array or each on a line.
type jsonWriter struct {
	w     *bufio.Writer
	array bool
	some  bool
}

func (j *jsonWriter) begin([]opening) error {
	if j.array {
		j.w.WriteByte('[')
	}
	return nil
}

func (j *jsonWriter) row(t *Transaction) error {
	text, err := record(t, "userId")
	if err != nil {
		return err
	}
	if j.array && j.some {
		j.w.WriteByte(',')
	}
	if j.array {
		j.w.WriteByte('\n')
	}
	j.some = true
	_, err = j.w.Write(text)
	if !j.array && err == nil {
		err = j.w.WriteByte('\n')
	}
	return err
}

func (j *jsonWriter) end() error {
	if j.array {
		_, err := j.w.WriteString("\n]\n")
		return err
	}
	return nil
}
