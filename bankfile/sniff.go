package bankfile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/money"
)

// How much of a CSV file is looked at to find its columns.
const (
	sniffBytes = 256 << 10
	sniffRows  = 400
)

// delimiters are those that banks use, the likelier ones first.
const delimiters = ",;\t|"

// table is how the columns of a CSV file are read.
type table struct {
	set     *settings
	profile *Profile // Nil if none has the header.
	doubts  []string // See File.Doubts.

	delim      byte
	width      int      // The width of most rows.
	header     []string // Nil where there is none.
	headerLine int      // 0 where there is none.
	roles      []Role   // By column.
	samples    [][]string
	firstLine  int // Where the first row of data stands.
	preamble   []string
	owner      string // The account, where the lines before the header name it.
	goesOn     []int  // The columns of lines that go on with the text of the row before them.
	more       int    // How many such lines a row has.

	date, value, authorised, amount, debit, credit, flag, currency, balance, name, payer, id,
	reference, counterparty, account, category, foreign, foreignCurrency, status, fee int
	memos []int
	named money.Currency // In the name of the amount's column.
	notes []int          // Columns of other words.
	left  []int          // Columns with row that nothing reads.

	best   reading.Money   // How the amounts are read,
	others []reading.Money // and how else they may be.
	words  []string        // Two unknown words that may say the direction.
	// strange is a sign of a currency that is not the account's.
	strange cells.At
	card    bool // What was bought is written as positive, as the words of rows show.
	before  bool // The balances are those before the rows.
	sample  *reading.Table

	signs    tableSigns
	habits   tableHabits
	accounts map[string]int
	mixed    bool // Rows have different currencies.
}

// tableSigns counts what the first pass saw of signs.
type tableSigns struct {
	amountNeg, amountPos, debitNeg, debitPos, creditNeg, creditPos int
	outNeg, outPos, inNeg, inPos, restNeg, restPos                 int
	sideOut, sideIn, plain                                         int
	plus                                                           int // With a sign that says so.
	signed                                                         int // With a known currency.
	settled                                                        int // By a word.
	debitExample, creditExample, example                           cells.At
}

// tableHabits are the bank's habits, decided once for the file.
type tableHabits struct {
	pair         bool // Read the debit and credit columns, not the amount.
	debitSigned  bool
	creditSigned bool
	flagRepeats  bool
	flagWords    bool // The word alone says the direction.
	rest         int  // The direction of amounts beside which no word stands, or 0.
}

// findTable finds the delimiter, the header and the columns, and completes the mapping.
func findTable(text io.Reader, set *settings) (*table, error) {
	head, err := io.ReadAll(io.LimitReader(text, sniffBytes))
	if err != nil {
		return nil, fmt.Errorf("read the beginning: %w", err)
	}
	candidates := delimiters
	if set.mapping.Delimiter != "" {
		candidates = set.mapping.Delimiter
	}
	var best *table
	bestScore := 0
	for i := range len(candidates) {
		t, score := sniff(string(head), candidates[i])
		if score > bestScore {
			best, bestScore = t, score
		}
	}
	if best == nil {
		return nil, &FormatError{Why: "the file is none of the known formats, and no row of it has " +
			"both a date and an amount as CSV files of banks do"}
	}
	best.set = set
	best.useProfile()
	if err := best.assign(); err != nil {
		return nil, err
	}
	if best.namesCurrencies() {
		return nil, &FormatError{Why: whyRates}
	}
	set.mapping.Delimiter = string(rune(best.delim))
	set.mapping.Columns = best.columns()
	return best, nil
}

// ratesMin is how many columns must be named by a currency for a table of rates. A statement has
// one amount a row, or a few.
const ratesMin = 5

// namesCurrencies tells whether most columns are named by currencies.
func (t *table) namesCurrencies() bool {
	count := 0
	for _, name := range t.header {
		if cells.CurrencyOf(name).Known() {
			count++
		}
	}
	return count >= ratesMin && count*2 > len(t.header)
}

// sniff reads the beginning with one delimiter and scores how well that fits: by the rows that
// have a date and an amount, and by a header that names them.
func sniff(head string, delim byte) (*table, int) {
	c := scan.NewRows(strings.NewReader(head), delim, 0)
	var rows []scan.Record
	widths := make(map[int]int)
	for len(rows) < sniffRows {
		r, err := c.Next()
		if err != nil {
			break
		}
		r.Fields = append([]string(nil), r.Fields...)
		rows = append(rows, r)
		if isData(r.Fields) {
			widths[len(r.Fields)]++
		}
	}
	t := &table{delim: delim}
	data := 0
	for w, n := range widths {
		if n > data || n == data && w > t.width {
			t.width, data = w, n
		}
	}
	named := t.findHeader(rows)
	if data == 0 && !named {
		return nil, 0
	}
	t.findMore(rows)
	for _, r := range rows {
		if r.Line < t.headerLine {
			t.preamble = append(t.preamble, r.Raw)
		}
		if r.Line > t.headerLine && isData(r.Fields) && near(len(r.Fields), t.width) &&
			!isBalance(r.Fields) {
			if t.firstLine == 0 {
				t.firstLine = r.Line
			}
			t.samples = append(t.samples, r.Fields)
		}
	}
	if t.header == nil && t.oddFirst() {
		// The line is about the account, not a row of its own kind.
		t.samples = t.samples[1:]
		t.headerLine = t.firstLine
		for _, r := range rows {
			if r.Line == t.headerLine {
				t.preamble = append(t.preamble, r.Raw)
			}
			if r.Line > t.headerLine && isData(r.Fields) {
				t.firstLine = r.Line
				break
			}
		}
	}
	score := 2*data + t.width
	if named {
		score += 2*data + 10
	}
	return t, score
}

// oddFirst reports whether the first row of a table without a header has the day in another form
// than all others have.
func (t *table) oddFirst() bool {
	if len(t.samples) < 3 {
		return false
	}
	col := slices.IndexFunc(t.samples[1], cells.IsDate)
	form := func(row []string) (cells.Order, bool) {
		if col < 0 || col >= len(row) {
			return "", false
		}
		d, ok := cells.SplitDate(row[col])
		return d.Fixed, ok
	}
	odd, ok := form(t.samples[0])
	usual, _ := form(t.samples[1])
	return ok && odd != usual && !slices.ContainsFunc(t.samples[1:], func(row []string) bool {
		f, ok := form(row)
		return !ok || f != usual
	})
}

// findMore finds out whether the text of each row goes on in the lines behind it: lines without a
// date and an amount, as many behind each row, with text in the same columns.
func (t *table) findMore(rows []scan.Record) {
	var counts []int // Of the lines behind each row but the last one.
	columns := make(map[int]bool)
	open, behind := false, 0
	for i, r := range rows {
		if r.Line <= t.headerLine {
			continue
		}
		if isData(r.Fields) && near(len(r.Fields), t.width) {
			if open {
				counts = append(counts, behind)
			}
			open, behind = true, 0
			continue
		}
		if !open || i > 0 && rows[i-1].Last+1 != r.Line || hasDateOrAmount(r.Fields) {
			continue
		}
		behind++
	}
	if len(counts) == 0 || slices.Min(counts) == 0 || slices.Max(counts) > moreMax {
		return
	}
	t.more = slices.Max(counts)
	open = false
	for i, r := range rows {
		data := isData(r.Fields) && near(len(r.Fields), t.width)
		if !data && open && rows[i-1].Last+1 == r.Line {
			for col, cell := range r.Fields {
				if cells.TrimBlanks(cell) != "" {
					columns[col] = true
				}
			}
		}
		// What follows the last row may be a footer, so its columns do not count.
		open = data && i+1 < len(rows) && slices.ContainsFunc(rows[i+1:], func(r scan.Record) bool {
			return isData(r.Fields)
		}) || open && !data
	}
	t.goesOn = slices.Collect(maps.Keys(columns))
}

// moreMax is the maximum number of lines that continue with a row's text without being asked for.
const moreMax = 4

func hasDateOrAmount(fields []string) bool {
	return slices.ContainsFunc(
		fields,
		func(c string) bool { return cells.IsDate(c) || cells.IsAmount(c) },
	)
}

// near tells whether a width is that of the data: a delimiter more or less at the end is common.
func near(width, want int) bool { return width >= want-1 && width <= want+1 }

// isData tells whether a row has a date and an amount.
func isData(fields []string) bool {
	if len(fields) < 2 {
		return false
	}
	date, amount := false, false
	for _, cell := range fields {
		switch {
		case !date && cells.IsDate(cell):
			date = true
		case cells.IsAmount(cell):
			amount = true
		}
		if date && amount {
			return true
		}
	}
	return false
}

// findHeader finds the row that names the columns: one with names of a date and of an amount, or
// else the row of words just before the data.
func (t *table) findHeader(rows []scan.Record) (named bool) {
	first := len(rows)
	for i, r := range rows {
		if isData(r.Fields) && near(len(r.Fields), t.width) {
			first = i
			break
		}
	}
	for i := range min(first+1, len(rows)) {
		if namesTable(rows[i].Fields) {
			t.setHeader(rows[i])
			return true
		}
	}
	if first == 0 || first == len(rows) {
		return false
	}
	before := rows[first-1]
	if !near(len(before.Fields), t.width) || len(before.Fields) < 2 {
		return false
	}
	words := 0
	for _, cell := range before.Fields {
		if cells.IsDate(cell) || cells.IsAmount(cell) {
			return false
		}
		if strings.TrimSpace(cell) != "" {
			words++
		}
	}
	if words*2 > len(before.Fields) {
		t.setHeader(before)
	}
	return false
}

func (t *table) setHeader(r scan.Record) {
	t.headerLine = r.Line
	for _, cell := range r.Fields {
		t.header = append(t.header, strings.Trim(cell, " \t,;|\ufeff\u00a0"))
	}
	if t.width == 0 {
		t.width = len(r.Fields)
	}
}

// namesTable tells whether a row names a date and an amount.
func namesTable(fields []string) bool {
	date, amount := false, false
	for _, cell := range fields {
		if cells.IsDate(cell) {
			return false
		}
		name := strings.Trim(cell, " \t,;|\ufeff")
		date = date || reading.Rank(reading.Date, name) >= 0 ||
			reading.Rank(reading.ValueDate, name) >= 0
		amount = amount || reading.Rank(reading.Amount, name) >= 0 ||
			reading.Rank(reading.Debit, name) >= 0 || reading.Rank(reading.Credit, name) >= 0
	}
	return date && amount && len(fields) >= 2
}
