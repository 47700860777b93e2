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

// How much of a CSV file is read to find its columns.
const (
	sniffBytes = 256 << 10
	sniffRows  = 400
)

// delimiters are the ones that banks use, the most common first.
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
	firstLine  int // The line of the first row of data.
	preamble   []string
	owner      string // The account, if the lines before the header have it.
	goesOn     []int  // The columns of lines that continue the text of the previous row.
	more       int    // The number of such lines per row.

	date, value, authorised, amount, debit, credit, flag, currency, balance, name, payer, id,
	reference, counterparty, account, category, foreign, foreignCurrency, status, fee int
	memos []int
	named money.Currency // The currency in the name of the amount's column.
	notes []int          // Columns of other words.
	left  []int          // Columns of other cells that are not read.

	best   reading.Money   // How the amounts are read, and
	others []reading.Money // how else they could be read.
	words  []string        // Two unknown words that may mean the direction.
	// strange is the sign of a currency that is not the account's.
	strange cells.At
	card    bool // Purchases are positive, as the words of rows show.
	before  bool // The balances are from before the rows.
	sample  *reading.Table

	signs    tableSigns
	habits   tableHabits
	accounts map[string]int
	mixed    bool // Rows have different currencies.
}

// tableSigns counts the signs of the first pass.
type tableSigns struct {
	amountNeg, amountPos, debitNeg, debitPos, creditNeg, creditPos int
	outNeg, outPos, inNeg, inPos, restNeg, restPos                 int
	sideOut, sideIn, plain                                         int
	plus                                                           int // With an explicit sign.
	signed                                                         int // With a known currency.
	settled                                                        int // Decided by a word.
	debitExample, creditExample, example                           cells.At
}

// tableHabits are the bank's habits, decided once for the file.
type tableHabits struct {
	pair         bool // Read the debit and credit columns, not the amount.
	debitSigned  bool
	creditSigned bool
	flagRepeats  bool
	flagWords    bool // The word alone gives the direction.
	rest         int  // The direction of amounts without a word, or 0.
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
		return nil, &FormatError{Why: "the format of the file is not known, and no row of it has " +
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

// ratesMin is the number of columns named after a currency from which a file is a table of rates. A
// statement has one amount per row, or a few.
const ratesMin = 5

// namesCurrencies reports whether most columns are named after currencies.
func (t *table) namesCurrencies() bool {
	count := 0
	for _, name := range t.header {
		if cells.CurrencyOf(name).Known() {
			count++
		}
	}
	return count >= ratesMin && count*2 > len(t.header)
}

// sniff reads the beginning with one delimiter. Its score grows with the rows that have a date and
// an amount, and with a header that names them.
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
		// The line is about the account and not a row.
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

// oddFirst reports whether the first row of a table without a header has its date in a different
// form than all other rows.
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

// findMore decides whether the text of each row continues in the following lines: lines without a
// date and an amount, equally many after each row, with text in the same columns.
func (t *table) findMore(rows []scan.Record) {
	var counts []int // The number of lines after each row but the last one.
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
		// The lines after the last row may be a footer, so their columns do not count.
		open = data && i+1 < len(rows) && slices.ContainsFunc(rows[i+1:], func(r scan.Record) bool {
			return isData(r.Fields)
		}) || open && !data
	}
	t.goesOn = slices.Collect(maps.Keys(columns))
}

// moreMax is the maximum number of continuation lines of a row that are joined without a setting.
const moreMax = 4

func hasDateOrAmount(fields []string) bool {
	return slices.ContainsFunc(
		fields,
		func(c string) bool { return cells.IsDate(c) || cells.IsAmount(c) },
	)
}

// near reports whether a width is that of the data. One more or less is common, because some rows
// end with a delimiter.
func near(width, want int) bool { return width >= want-1 && width <= want+1 }

// isData reports whether a row has a date and an amount.
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
// else the row of words just before the data. Named is whether it was found by its names.
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

// namesTable reports whether a row names a date and an amount.
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
