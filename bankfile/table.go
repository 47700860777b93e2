package bankfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/bankfile/internal/swift"
)

// index sets the column of each role.
func (t *table) index() {
	at := make(map[Role]int, len(t.roles))
	for i, role := range t.roles {
		if _, ok := at[role]; !ok {
			at[role] = i
		}
	}
	find := func(role Role) int {
		if i, ok := at[role]; ok {
			return i
		}
		return -1
	}
	t.date, t.value = find(RoleDate), find(RoleValueDate)
	t.authorised = find(RoleAuthorisedDate)
	t.amount, t.debit, t.credit = find(RoleAmount), find(RoleDebit), find(RoleCredit)
	t.flag, t.currency, t.balance = find(RoleDirection), find(RoleCurrency), find(RoleBalance)
	t.name, t.id, t.reference = find(RoleName), find(RoleID), find(RoleReference)
	t.payer = find(RolePayer)
	t.counterparty, t.account = find(RoleCounterparty), find(RoleAccount)
	t.category, t.status, t.fee = find(RoleCategory), find(RoleStatus), find(RoleFee)
	t.foreign, t.foreignCurrency = find(RoleForeign), find(RoleForeignCurrency)
	t.named = t.namedCurrency()
}

// columns returns the roles for a mapping. Columns of text are in the order in which they are read.
func (t *table) columns() []Column {
	var out []Column
	memos := t.memos
	for i, role := range t.roles {
		if role == "" {
			continue
		}
		if role == RoleMemo && len(memos) > 0 {
			i, memos = memos[0], memos[1:]
		}
		c := Column{Index: i, Role: role}
		if i < len(t.header) {
			c.Name = t.header[i]
		}
		out = append(out, c)
	}
	return out
}

// complete reports whether date and amount have columns.
func (t *table) complete() bool {
	return t.date >= 0 && (t.amount >= 0 || t.debit >= 0 || t.credit >= 0)
}

// decide decides how the bank writes signs, or asks.
func (t *table) decide() (questions []Question) {
	if t.date < 0 {
		questions = append(
			questions,
			t.askColumn(AskDate, "Which column is the date?", cells.IsDate),
		)
	}
	if t.amount < 0 && t.debit < 0 && t.credit < 0 {
		questions = append(questions, t.askColumn(AskAmount, "Which column is the amount?",
			cells.IsAmount))
	}
	if len(questions) > 0 {
		return questions
	}
	if len(t.others) > 0 {
		return append(questions, t.askMoney())
	}
	s, m := &t.signs, &t.set.mapping
	if len(t.words) > 0 && s.amountNeg == 0 {
		return append(questions, t.askDirection())
	}
	t.habits.pair = t.amount < 0 ||
		t.flag < 0 && (t.debit >= 0 && t.credit >= 0) && s.amountNeg == 0 &&
			s.debitNeg+s.debitPos > 0
	if t.habits.pair {
		questions = append(questions, t.decideSides(m)...)
	}
	t.decideWords(m, t.set.exact)
	// What no row showed stays open, because the next file may show it.
	t.habits.debitSigned = m.DebitSign == DebitSigned
	t.habits.creditSigned = m.CreditSign == CreditSigned
	t.decideView()
	return questions
}

// decideWords decides how words for the direction and the signs of the amounts work together.
func (t *table) decideWords(m *Mapping, exact bool) {
	s := &t.signs
	if t.flag >= 0 && m.FlagSign == "" && s.outNeg+s.outPos+s.inNeg+s.inPos > 0 {
		switch reading.HabitOf(s.outPos, s.outNeg, s.inPos, s.inNeg) {
		case reading.Repeats:
			m.FlagSign = FlagRepeats
		case reading.Words:
			m.FlagSign = FlagWord
		default:
			// What no row showed stays open.
			if s.outPos+s.outNeg > 0 {
				m.FlagSign = FlagDecides
			}
		}
	}
	if m.Rest == "" && s.amountNeg == 0 && !exact {
		out, in := s.sideOut, s.sideIn
		rest := s.plain
		if t.flag >= 0 {
			out, in, rest = s.outPos, s.inPos, s.restPos
		}
		switch {
		case rest == 0 || s.restNeg > 0:
		case in > 0 && out == 0:
			m.Rest = RestOut
		case out > 0 && in == 0 && t.flag >= 0:
			m.Rest = RestIn
		}
	}
	t.habits.flagRepeats = m.FlagSign == FlagRepeats
	t.habits.flagWords = m.FlagSign == FlagWord
	t.habits.rest = map[Rest]int{RestOut: -1, RestIn: 1}[m.Rest]
}

// decideView decides whether the file has the signs of a card, which shows purchases as positive,
// and notes what a person should know about it.
func (t *table) decideView() {
	s, m := &t.signs, &t.set.mapping
	if t.card && !m.Invert && !m.SignsGiven && !t.set.exact {
		m.Invert = true
		t.doubts = append(
			t.doubts,
			"The words of the rows show a card that writes what was bought "+
				"as positive, so all signs are inverted. If that is wrong, answer invert=false.",
		)
	}
	if text := t.unread(); text != "" {
		t.doubts = append(t.doubts, text)
	}
	if t.strange.Text != "" {
		t.doubts = append(t.doubts, fmt.Sprintf("The amounts have the sign %q (line %d), which is "+
			"not that of the account's currency, %s. If the file is of another account, do not "+
			"import it here.", t.strange.Text, t.strange.Line, t.set.defaultCurrency()))
	}
	worded := t.flag >= 0 || s.sideIn+s.sideOut > 0
	if m.Invert && m.SignsGiven && worded && s.settled > 0 {
		t.doubts = append(t.doubts, "Words next to the amounts give the direction of the money, so "+
			"invert=true does not change those rows.")
	}
	if t.habits.pair || worded || m.Invert || m.SignsGiven || s.plus > 0 || s.amountPos == 0 {
		return
	}
	switch {
	case s.amountNeg == 0:
		t.doubts = append(t.doubts, "No amount is negative. If this is a card that shows "+
			"charges as positive numbers, all signs must be inverted: answer invert=true.")
	case s.amountPos >= 4*s.amountNeg:
		t.doubts = append(t.doubts, "Few amounts are negative. If this is a card that shows "+
			"charges as positive numbers, all signs must be inverted: answer invert=true.")
	}
}

// signedMin is the number of equal signs that decide a column without other signs.
const signedMin = 3

// decideSides decides what negative numbers mean in the columns of debits and of credits, or asks.
func (t *table) decideSides(m *Mapping) (questions []Question) {
	s := &t.signs
	if m.DebitSign == "" && s.debitPos+s.debitNeg > 0 {
		switch {
		case s.debitPos > 0:
			m.DebitSign = DebitOut
		case t.best.Proven && t.best.SignedDebits:
			m.DebitSign = DebitSigned // The balances prove it.
		case s.debitNeg >= signedMin, s.debitNeg > 1 && s.creditPos > 0 && s.creditNeg == 0:
			m.DebitSign = DebitSigned
		default:
			questions = append(questions, Question{
				Topic: AskDebit,
				Text: "All numbers in the debit column are negative. Are they money out, or " +
					"refunds?",
				Choices: []Choice{
					{string(DebitSigned), "money out"},
					{string(DebitOut), "refunds"},
				},
				Examples: []string{s.debitExample.String()},
			})
		}
	}
	if m.CreditSign == "" && s.creditNeg > 0 {
		switch {
		case s.creditPos > 0:
			m.CreditSign = CreditIn
		case s.creditNeg >= signedMin || s.debitPos > 0:
			// Cards show payments to them as negative, in their own column too.
			m.CreditSign = CreditSigned
		default:
			questions = append(questions, Question{
				Topic: AskCredit,
				Text: "All numbers in the credit column are negative. Are they money in, or " +
					"credits that were reversed?",
				Choices: []Choice{
					{string(CreditSigned), "money in"},
					{string(CreditIn), "reversed credits"},
				},
				Examples: []string{s.creditExample.String()},
			})
		}
	}
	return questions
}

// parseCSV reads the rows of a CSV file with its table.
func parseCSV(t *table, text io.Reader, w *walk) error {
	if !t.complete() {
		return nil // The first pass asks.
	}
	p := &csvParser{t: t, w: w,
		c: scan.NewRows(text, t.delim, max(t.width, len(t.header)))}
	if w.first {
		t.accounts, t.signs, t.mixed = make(map[string]int), tableSigns{}, false
		s := Statement{Kind: Final, Line: max(1, t.headerLine), Account: t.owner}
		if _, err := w.begin(s); err != nil {
			return err
		}
	} else {
		p.runs = make([]running, len(w.before))
	}
	w.at = 0
	for {
		r, err := p.c.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := p.take(&r); err != nil {
			return ignoreStopped(err)
		}
	}
	if err := p.flush(); err != nil {
		return ignoreStopped(err)
	}
	if w.first && t.mixed && t.signs.signed > 0 {
		// A sign is about its own row only; the others have the account's currency.
		for i := range w.statements {
			if c := t.set.defaultCurrency(); c != "" {
				w.statements[i].Currency = c
			}
		}
	}
	return ignoreStopped(p.finish())
}

type csvParser struct {
	t    *table
	w    *walk
	c    *scan.Rows
	runs []running // Of the second pass, by statement.

	held heldEntry // An entry that the next lines may continue.
}

type heldEntry struct {
	holds    bool
	joined   int // The number of lines that were added.
	at       int
	line     int
	next     int // The line after it.
	raw      string
	entry    Entry
	warnings []Warning
}

func (p *csvParser) cell(r *scan.Record, col int) string {
	if col < 0 || col >= len(r.Fields) {
		return ""
	}
	return cells.TrimBlanks(r.Fields[col])
}

// side returns a cell of the debit or credit column. A dash there means that it is empty.
func (p *csvParser) side(r *scan.Record, col int) string {
	cell := p.cell(r, col)
	if cells.IsDashes(cell) {
		return ""
	}
	return cell
}

// take reads one row.
func (p *csvParser) take(r *scan.Record) error {
	t := p.t
	if r.Line <= t.headerLine {
		if r.Line == t.headerLine {
			return nil
		}
		return p.skip(r, "it is before the header")
	}
	date := p.day(r)
	money := p.cell(r, t.amount) + p.side(r, t.debit) + p.side(r, t.credit)
	dated := strings.ContainsAny(date, "0123456789")
	switch {
	case r.Cut:
		return p.refuse(r, fmt.Sprintf("the row is longer than %d bytes", LineMax))
	case !dated && !looksLikeNumber(money):
		if p.join(r) {
			return nil
		}
		return p.skip(r, "a line of text without date and amount")
	case date == "" || !dated && isTotal(r.Fields):
		return p.skip(r, "a total or another line without a date")
	case isBalance(r.Fields):
		return p.skip(r, "a balance, not a movement")
	case !dated && reading.BookingOf(date) == reading.Pending:
		return p.skip(r, "it is not booked and has no day yet")
	case !dated:
		return p.refuse(r, fmt.Sprintf("the date: %q is not a date", cells.Clip(date)))
	case money == "" && p.cell(r, t.date) == "":
		return p.skip(r, "it is not booked: it has no day of booking and no amount")
	case money == "" && !cells.IsDate(date):
		return p.skip(r, "a line of text without date and amount")
	case money == "" && p.cell(r, t.balance) != "":
		return p.skip(r, "a balance without a movement")
	case p.status(r) == reading.Never:
		return p.skip(r, "its status is "+cells.Clip(p.cell(r, t.status))+": it moved no money")
	case p.tooWide(r):
		return p.refuse(r, "the row has more cells than the header")
	}
	return p.entry(r)
}

// join adds a line without date and amount to the text of the previous row, in files whose rows
// continue in a second line.
func (p *csvParser) join(r *scan.Record) bool {
	t, h := p.t, &p.held
	if !p.joins() || !h.holds || h.joined >= scan.QuotedLinesMax {
		return false
	}
	if !p.t.set.mapping.JoinLines || t.more > 0 {
		// A line of a footer has text in other columns, or comes after the lines that each row has.
		if h.joined >= t.more || r.Line != h.next || isTotal(r.Fields) {
			return false
		}
		for i, cell := range r.Fields {
			if cells.TrimBlanks(cell) != "" && !slices.Contains(t.goesOn, i) {
				return false
			}
		}
	}
	h.joined++
	h.next = r.Line + 1
	h.raw += "\n" + r.Raw
	h.entry.Memo = cells.ClipTo(
		cells.Collapse(h.entry.Memo+" "+strings.Join(r.Fields, " ")),
		FieldMax,
	)
	return true
}

// joins reports whether rows may continue in a second line.
func (p *csvParser) joins() bool {
	return p.t.set.mapping.JoinLines || p.t.more > 0 && !p.t.set.exact
}

// status returns whether the row is booked, by its status.
func (p *csvParser) status(r *scan.Record) reading.Booking {
	return reading.BookingOf(p.cell(r, p.t.status))
}

// tooWide reports whether there is a cell beyond the header, in a column without a role: a
// delimiter within a cell, such as a decimal comma, has moved all cells after it.
func (p *csvParser) tooWide(r *scan.Record) bool {
	t := p.t
	if t.header == nil {
		return false
	}
	for i := len(t.header); i < len(r.Fields); i++ {
		if (i >= len(t.roles) || t.roles[i] == "") && p.cell(r, i) != "" {
			return true
		}
	}
	return false
}

// day returns the cell with the day of booking. If it is empty, as with cards before the bank
// processes a payment, it returns another day of the row.
func (p *csvParser) day(r *scan.Record) string {
	first := p.cell(r, p.t.date)
	if first != "" && (cells.IsDigit(first[0]) || reading.BookingOf(first) == reading.Unsaid) {
		return first
	}
	for _, col := range [...]int{p.t.value, p.t.authorised} {
		if cell := p.cell(r, col); cell != "" && cells.IsDate(cell) {
			return cell
		}
	}
	return first
}

// looksLikeNumber reports whether the money cells of a row have a number.
func looksLikeNumber(text string) bool {
	return cells.IsAmount(text) || strings.ContainsAny(text, "0123456789") && len(text) < 40
}

// entry reads a row that is an entry.
func (p *csvParser) entry(r *scan.Record) error {
	t := p.t
	date, second, err := p.w.date(p.day(r), r.Line)
	if err != nil {
		return p.refuse(r, "the date: "+err.Error())
	}
	e := Entry{Date: date, ValueDate: second}
	if cell := p.cell(r, t.value); cell != "" {
		if value, _, err := p.w.date(cell, r.Line); err == nil {
			e.ValueDate = value
		}
	}
	if cell := p.cell(r, t.authorised); cell != "" {
		if day, _, err := p.w.date(cell, r.Line); err == nil {
			e.AuthorisedDate = day
		}
	}
	if err := p.money(r, &e); err != nil {
		return p.refuse(r, "the amount: "+err.Error())
	}
	if err := p.takeFee(r, &e); err != nil {
		return p.refuse(r, "the fee: "+err.Error())
	}
	p.words(r, &e)
	if p.w.first {
		if cell := p.cell(r, p.t.balance); cell != "" {
			if a, err := cells.SplitAmount(cell); err == nil {
				p.w.hints.Add(a, cell, r.Line)
			}
		}
	}
	var warnings []Warning
	if r.Quotes {
		warnings = append(warnings, Warning{WarnQuotes, "A quotation mark is missing or stray."})
	}
	if err := p.flush(); err != nil {
		return err
	}
	if err := p.choose(r, &e); err != nil {
		return err
	}
	if !p.w.first {
		p.follow(r, &e)
	}
	if !p.joins() {
		return stoppedUnless(p.w.entry(r.Line, r.Raw, e, warnings))
	}
	p.held = heldEntry{holds: true, at: p.w.at, line: r.Line, next: r.Last + 1, raw: r.Raw,
		entry: e, warnings: warnings}
	return nil
}

// words sets the texts of a row.
func (p *csvParser) words(r *scan.Record, e *Entry) {
	t := p.t
	e.Name, e.BankID = p.otherSide(r, e), p.cell(r, t.id)
	e.Reference, e.Counterparty = p.cell(r, t.reference), p.cell(r, t.counterparty)
	if strings.Trim(e.Counterparty, "-") == "" {
		e.Counterparty = "" // BNZ writes --- if there is none.
	}
	e.Category = p.cell(r, t.category)
	for i, col := range t.memos {
		cell := p.cell(r, col)
		switch {
		case cell == "":
		case swift.HasKeywords(cell):
			note := swift.Note{Name: e.Name, Counterparty: e.Counterparty, Reference: e.Reference}
			note.ReadKeywords(cell)
			e.Name, e.Counterparty, e.Reference = note.Name, note.Counterparty, note.Reference
			e.Memo = strings.TrimSpace(e.Memo + " " + note.Memo)
		case i == 0 || e.Memo == "":
			e.Memo = cell
		default:
			e.Memo += " " + cell
		}
	}
	e.Details = p.details(r, e)
	e.Pending = t.status >= 0 && p.status(r) == reading.Pending
	for _, col := range [...]int{t.date, t.value, t.authorised} {
		cell := p.cell(r, col)
		e.Pending = e.Pending || cell != "" && !cells.IsDigit(cell[0]) &&
			reading.BookingOf(cell) == reading.Pending
	}
}

// details returns the texts of columns without another use, with the names of the columns. Texts
// that the entry already has are not repeated.
func (p *csvParser) details(r *scan.Record, e *Entry) string {
	if p.w.first || p.t.set.exact {
		return ""
	}
	var parts []string
	for _, col := range p.t.notes {
		cell := cells.Collapse(p.cell(r, col))
		if strings.IndexFunc(cell, unicode.IsLetter) < 0 || strings.Contains(e.Memo, cell) ||
			cell == e.Name || cell == e.Category {
			continue
		}
		if col < len(p.t.header) && p.t.header[col] != "" {
			cell = p.t.header[col] + ": " + cell
		}
		parts = append(parts, cell)
	}
	return cells.ClipTo(strings.Join(parts, "; "), FieldMax)
}

// otherSide returns the name of the other side: the payer of money in, or the payee of money out.
func (p *csvParser) otherSide(r *scan.Record, e *Entry) string {
	paid, payer := p.cell(r, p.t.name), p.cell(r, p.t.payer)
	if e.Amount.Sign() > 0 && payer != "" || paid == "" {
		return payer
	}
	return paid
}

// choose sets the statement of the row's account.
func (p *csvParser) choose(r *scan.Record, e *Entry) error {
	account := cells.ClipTo(p.cell(r, p.t.account), NameMax)
	if !p.w.first {
		p.w.at = p.t.accounts[account]
		return nil
	}
	at, ok := p.t.accounts[account]
	if !ok {
		if len(p.t.accounts) > 0 {
			s := Statement{Kind: Final, Line: r.Line}
			if _, err := p.w.begin(s); err != nil {
				return err
			}
		}
		at = len(p.w.statements) - 1
		p.t.accounts[strings.Clone(account)] = at
		s := &p.w.statements[at]
		s.Currency = e.Currency
		if account != "" {
			s.Account = strings.Clone(account)
		}
	}
	p.w.at = at
	switch s := &p.w.statements[at]; {
	case s.Currency == "":
		s.Currency = e.Currency
	case s.Currency != e.Currency && p.t.currency < 0:
		p.t.mixed = true
	}
	return nil
}

func (p *csvParser) flush() error {
	if !p.held.holds {
		return nil
	}
	h := p.held
	p.held = heldEntry{}
	at := p.w.at
	p.w.at = h.at
	ok := p.w.entry(h.line, h.raw, h.entry, h.warnings)
	p.w.at = at
	if !ok {
		return errStopped
	}
	return nil
}

func (p *csvParser) skip(r *scan.Record, why string) error {
	if err := p.flush(); err != nil {
		return err
	}
	return stoppedUnless(p.w.skip(r.Line, r.Raw, why))
}

func (p *csvParser) refuse(r *scan.Record, why string) error {
	if err := p.flush(); err != nil {
		return err
	}
	return stoppedUnless(p.w.refuse(r.Line, r.Raw, why))
}
