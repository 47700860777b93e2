package bankfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/money"
)

// walk is one pass over a file. The first pass collects evidence; the second returns rows.
type walk struct {
	set   *settings
	first bool
	// Before holds the statements that the first pass found, and repeated its ids, in the second.
	before   []Statement
	repeated *idTable

	// Of the first pass.
	statements []Statement
	orders     cells.Orders
	marks      cells.Marks
	hints      cells.Marks // From numbers that are not amounts, such as balances.
	ids        idTable

	// Of the second pass.
	emit    func(Row) bool
	totals  []Total
	refused int
	stopped bool // The caller wants no more rows.
	err     error

	at      int          // The current statement, or -1.
	count   int          // The number of statements that began.
	waits   map[int]bool // Statements that continue in a later message, by index.
	scratch Statement    // What a parser fills in the second pass.
	line    int          // The last line that was seen.
}

// errStopped ends a parser when the caller wants no more rows. It is never returned to the caller.
var errStopped = errors.New("stopped")

// ignoreStopped returns nil for errStopped.
func ignoreStopped(err error) error {
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// stoppedUnless returns errStopped if the caller wants no more rows.
func stoppedUnless(goOn bool) error {
	if goOn {
		return nil
	}
	return errStopped
}

// shorten limits the texts of a statement to NameMax. It copies them, so that longer texts can be
// released.
func (s *Statement) shorten() {
	for _, text := range []*string{&s.Account, &s.Bank, &s.Type, &s.ID} {
		*text = strings.Clone(cells.ClipTo(*text, NameMax))
	}
}

// begin starts a statement and returns it for the parser to fill.
func (w *walk) begin(s Statement) (*Statement, error) {
	w.finish()
	if w.stopped {
		return nil, errStopped
	}
	w.at = w.count
	w.count++
	if w.at >= StatementsMax {
		return nil, &LimitError{Line: s.Line, What: "statements", Limit: StatementsMax}
	}
	if !w.first {
		if w.at >= len(w.before) {
			return nil, &FormatError{Line: s.Line, Why: "the file changed while it was read"}
		}
		w.scratch = s
		return &w.scratch, nil
	}
	if w.at > 0 {
		w.statements[w.at-1].shorten()
	}
	w.statements = append(w.statements, s)
	return &w.statements[w.at], nil
}

// resume continues a statement that began before.
func (w *walk) resume(at int) {
	if at != w.at {
		w.finish()
		w.at = at
	}
}

// current returns the statement that the parser fills. There must be one.
func (w *walk) current() *Statement {
	if w.first {
		return &w.statements[w.at]
	}
	return &w.scratch
}

// known returns the current statement as the first pass found it.
func (w *walk) known() *Statement {
	if w.first {
		return &w.statements[w.at]
	}
	return &w.before[w.at]
}

// date reads a date in the order of the file. In the first pass it collects evidence instead.
func (w *walk) date(cell string, line int) (date, second Date, err error) {
	d, ok := cells.SplitDate(cell)
	if !ok {
		return "", "", fmt.Errorf("%q is not a date", cells.Clip(cell))
	}
	order := cells.Order(w.set.mapping.DateOrder)
	if w.first {
		w.orders.Add(d, cell, line)
	}
	if order == "" {
		order = cells.DayFirst
		if w.first && !d.Possible(order) {
			order = cells.MonthFirst
		}
	}
	if d.Fixed != "" {
		order = d.Fixed
	}
	day, ok := d.Read(order)
	if !ok {
		return "", "", fmt.Errorf(
			"there is no such date as %q (read as %s)",
			cells.Clip(cell),
			order,
		)
	}
	if d.Rest != "" {
		second = Date(d.SecondDate(order))
	}
	return Date(day), second, nil
}

// amount reads an amount with the decimal mark of the file. In the first pass it collects evidence,
// and only the sign of the result is right.
func (w *walk) amount(cell string, line int) (money.Decimal, cells.Amount, error) {
	a, err := cells.SplitAmount(cell)
	if err != nil {
		if errors.Is(err, cells.ErrNotAmount) {
			err = fmt.Errorf("%q is not an amount", cells.Clip(cell))
		}
		return money.Decimal{}, a, err
	}
	mark := byte(0)
	if m := w.set.mapping.Decimal; m != "" {
		mark = m[0]
	}
	if w.first {
		w.marks.Add(a, cell, line)
		if mark == 0 {
			if a.Evidence() == cells.Ambiguous {
				a.Digits = strings.Map(func(r rune) rune {
					if r == ',' {
						return '.'
					}
					return r
				}, a.Digits)
				mark = cells.MarkPoint
			}
		}
	}
	n, err := a.Read(mark)
	if err != nil {
		return n, a, fmt.Errorf("%q: %w", cells.Clip(cell), err)
	}
	return n, a, nil
}

// entry completes an entry with what all formats have in common, and sends it.
func (w *walk) entry(line int, raw string, e Entry, warnings []Warning) bool {
	w.line = line
	s := w.known()
	if w.first {
		if e.BankID != "" {
			w.ids.add(s.Account, e.BankID)
		}
		return true
	}
	if e.Currency == "" {
		e.Currency = s.Currency
	}
	if e.Currency == "" {
		e.Currency = w.set.defaultCurrency()
	}
	if e.BankID != "" {
		e.UniqueID = !w.repeated.repeated(s.Account, e.BankID)
		if !e.UniqueID && !w.repeated.full {
			warnings = append(warnings, Warning{WarnID,
				fmt.Sprintf("Several entries have the bank's id %q.", cells.Clip(e.BankID))})
		}
	}
	warnings = append(warnings, currencyWarnings(e)...)
	if badText(e.Name) || badText(e.Memo) {
		warnings = append(warnings, Warning{WarnText,
			"Some characters cannot be read in the encoding of the file."})
	}
	total := &w.totals[w.at]
	total.Read++
	if e.Pending {
		total.Pending++
	} else if s.Currency == "" || e.Currency == s.Currency {
		sum, err := total.Sum.Add(e.Amount)
		if err != nil {
			return w.refuse(line, raw, "the sum of the entries has too many digits")
		}
		total.Sum = sum
	} else {
		total.Foreign++
	}
	return w.send(Row{Outcome: Read, Line: line, Raw: cutRaw(raw), Entry: e, Warnings: warnings})
}

func currencyWarnings(e Entry) []Warning {
	if e.Currency == "" {
		return nil
	}
	if !e.Currency.Known() && !e.Currency.Retired() {
		return []Warning{{WarnCurrency,
			fmt.Sprintf("%q is not a currency of ISO 4217.", cells.Clip(string(e.Currency)))}}
	}
	if e.Currency.Known() && e.Amount.FractionDigits() > e.Currency.Digits() {
		return []Warning{{WarnDecimals, fmt.Sprintf("%s has more decimals than %s; they are kept.",
			e.Amount, e.Currency)}}
	}
	return nil
}

func badText(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }

// skip sends a row that is not an entry.
func (w *walk) skip(line int, raw, why string) bool {
	w.line = line
	if w.first {
		return true
	}
	if w.at >= 0 {
		w.totals[w.at].Skipped++
	}
	return w.send(Row{Outcome: Skipped, Line: line, Raw: cutRaw(raw), Why: why})
}

// refuse sends an entry that cannot be read.
func (w *walk) refuse(line int, raw, why string) bool {
	w.line = line
	if w.first {
		return true
	}
	if w.at >= 0 {
		w.totals[w.at].Refused++
	}
	w.refused++
	if !w.send(Row{Outcome: Refused, Line: line, Raw: cutRaw(raw), Why: why}) {
		return false
	}
	if w.refused >= RefusedMax {
		w.err = &LimitError{Line: line, What: "refused rows", Limit: RefusedMax}
		return false
	}
	return true
}

// warn sends a sentence about a statement whose totals differ.
func (w *walk) warn(line int, why string) bool {
	if w.first {
		return true
	}
	return w.send(Row{Outcome: Warned, Line: line, Why: why})
}

func (w *walk) send(r Row) bool {
	if w.stopped {
		return false
	}
	r.Statement = w.at
	if !w.emit(r) {
		w.stopped = true
		return false
	}
	return true
}

// finish ends the current statement and compares its balances with its entries.
func (w *walk) finish() {
	if w.first || w.at < 0 || w.at >= len(w.totals) || w.stopped || w.waits[w.at] {
		return
	}
	s, t := w.known(), &w.totals[w.at]
	if t.Opening == nil && t.Closing == nil {
		t.Opening, t.Closing = s.Opening, s.Closing
	}
	if s.Opening == nil || s.Closing == nil || s.Opening.Currency != s.Closing.Currency ||
		t.Checked || t.Foreign > 0 {
		return // They cannot be compared, or were compared before.
	}
	want, err := s.Opening.Amount.Add(t.Sum)
	if err != nil {
		return
	}
	t.Checked, t.Agrees = true, want == s.Closing.Amount
	if t.Agrees {
		return
	}
	gap, _ := s.Closing.Amount.Sub(want)
	why := fmt.Sprintf("The opening balance %s and the entries of %s make %s, but the closing "+
		"balance is %s: the difference is %s.", s.Opening.Amount, t.Sum, want, s.Closing.Amount,
		gap)
	if t.Refused > 0 {
		why += fmt.Sprintf(" %d rows were refused.", t.Refused)
	}
	w.warn(w.line, why)
}

// cutRaw limits a row's own text to RawMax.
func cutRaw(raw string) string { return cells.ClipTo(raw, RawMax) }
