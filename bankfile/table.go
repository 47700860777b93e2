package bankfile

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
)

// alone reads an amount and a balance, each by itself.
func alone(amount, balance string) (a, b money.Decimal, ok bool) {
	ta, err1 := splitAmount(amount)
	tb, err2 := splitAmount(balance)
	if err1 != nil || err2 != nil {
		return a, b, false
	}
	a, err1 = ta.read(0)
	b, err2 = tb.read(0)
	return a, b, err1 == nil && err2 == nil
}

// index finds the column of each role.
func (t *table) index() {
	at := make(map[Role]int, len(t.roles))
	t.memos = nil
	for i, role := range t.roles {
		if role == RoleMemo {
			t.memos = append(t.memos, i)
		}
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
	t.counterparty, t.account = find(RoleCounterparty), find(RoleAccount)
	t.category, t.status, t.fee = find(RoleCategory), find(RoleStatus), find(RoleFee)
	t.foreign, t.foreignCurrency = find(RoleForeign), find(RoleForeignCurrency)
}

// columns returns the roles as a mapping has them.
func (t *table) columns() []Column {
	var out []Column
	for i, role := range t.roles {
		if role == "" || role == RoleIgnore {
			continue
		}
		c := Column{Index: i, Role: role}
		if i < len(t.header) {
			c.Name = t.header[i]
		}
		out = append(out, c)
	}
	return out
}

// complete tells whether date and amount have columns.
func (t *table) complete() bool {
	return t.date >= 0 && (t.amount >= 0 || t.debit >= 0 || t.credit >= 0)
}

// decide settles the habits of the bank, or asks.
func (t *table) decide(f *File) (questions []Question) {
	if t.date < 0 {
		questions = append(questions, t.askColumn(AskDate, "Which column is the date?", isDate))
	}
	if t.amount < 0 && t.debit < 0 && t.credit < 0 {
		questions = append(questions, t.askColumn(AskAmount, "Which column is the amount?",
			isAmount))
	}
	if len(questions) > 0 {
		return questions
	}
	s, m := &t.signs, &f.mapping
	t.habits.pair = t.amount < 0 ||
		t.flag < 0 && (t.debit >= 0 && t.credit >= 0) && s.amountNeg == 0 &&
			s.debitNeg+s.debitPos > 0
	if t.habits.pair {
		questions = append(questions, t.decideSides(m)...)
	}
	if t.flag >= 0 && m.FlagSign == "" && s.outNeg+s.outPos > 0 {
		m.FlagSign = FlagDecides
		if s.outNeg > 0 && s.outPos == 0 {
			m.FlagSign = FlagRepeats
		}
	}
	// What no row showed stays open, for the next file may show it.
	t.habits.debitSigned = m.DebitSign == DebitSigned
	t.habits.creditSigned = m.CreditSign == CreditSigned
	t.habits.flagRepeats = m.FlagSign == FlagRepeats
	if !t.habits.pair && t.flag < 0 && s.amountNeg == 0 && s.amountPos >= 3 && !m.Invert {
		f.Doubts = append(f.Doubts, "No amount is negative. If this is a card that shows "+
			"charges as positive numbers, all signs must be inverted.")
	}
	return questions
}

// signedMin is how many numbers of one sign make a habit, where none has the other sign.
const signedMin = 3

// decideSides settles what negative numbers mean in the columns of debits and of credits, or asks.
func (t *table) decideSides(m *Mapping) (questions []Question) {
	s := &t.signs
	if m.DebitSign == "" && s.debitPos+s.debitNeg > 0 {
		switch {
		case s.debitPos > 0:
			m.DebitSign = DebitOut
		case s.debitNeg >= signedMin:
			m.DebitSign = DebitSigned
		default:
			questions = append(questions, Question{
				Topic: AskDebit,
				Text: "All numbers in the debit column are negative. Are they money that went " +
					"out, or refunds?",
				Choices: []Choice{
					{string(DebitSigned), "money that went out"},
					{string(DebitOut), "refunds, money that came back"},
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
			// Cards show what was paid to them as negative, in its own column too.
			m.CreditSign = CreditSigned
		default:
			questions = append(questions, Question{
				Topic: AskCredit,
				Text: "All numbers in the credit column are negative. Are they money that came " +
					"in, or was it taken back?",
				Choices: []Choice{
					{string(CreditSigned), "money that came in"},
					{string(CreditIn), "money that was taken back"},
				},
				Examples: []string{s.creditExample.String()},
			})
		}
	}
	return questions
}

// askColumn asks which of the columns that could be it is the one.
func (t *table) askColumn(topic Topic, text string, is func(string) bool) Question {
	q := Question{Topic: topic, Text: text}
	for i := range t.roles {
		if t.roles[i] == RoleDate || t.share(i, is) < 50 {
			continue
		}
		c := Choice{Value: strconv.Itoa(i), Meaning: "column " + strconv.Itoa(i+1)}
		if i < len(t.header) && t.header[i] != "" {
			c.Meaning = fmt.Sprintf("column %d, %s", i+1, clip(t.header[i]))
		}
		q.Choices = append(q.Choices, c)
		for _, row := range t.samples {
			if i < len(row) && strings.TrimSpace(row[i]) != "" {
				q.Examples = append(q.Examples, cellAt{t.firstLine, clip(row[i])}.String())
				break
			}
		}
	}
	return q
}

// parseCSV reads the rows of a CSV file by its table.
func parseCSV(f *File, text io.Reader, w *walk) error {
	t := f.table
	if !t.complete() {
		return nil // The first pass asks.
	}
	p := &csvParser{t: t, w: w, f: f, c: &csvReader{
		l: newLines(text), delim: t.delim, width: max(t.width, len(t.header)),
	}}
	if w.first {
		t.accounts, t.signs = make(map[string]int), tableSigns{}
		s := Statement{Kind: Final, Line: max(1, t.headerLine), Account: t.owner}
		if _, err := w.begin(s); err != nil {
			return err
		}
	} else {
		p.runs = make([]running, len(f.Statements))
	}
	w.at = 0
	for {
		r, err := p.c.next()
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
	return ignoreStopped(p.finish())
}

type csvParser struct {
	t    *table
	w    *walk
	f    *File
	c    *csvReader
	runs []running // Of the second pass, by statement.

	held heldEntry // An entry that may get more lines.
}

type heldEntry struct {
	holds    bool
	joined   int // The lines that were added.
	at       int
	line     int
	raw      string
	entry    Entry
	warnings []Warning
}

func (p *csvParser) cell(r *record, col int) string {
	if col < 0 || col >= len(r.fields) {
		return ""
	}
	return trimBlanks(r.fields[col])
}

// side returns a cell of the debit or credit column. A dash there stands for nothing.
func (p *csvParser) side(r *record, col int) string {
	cell := p.cell(r, col)
	if isDashes(cell) {
		return ""
	}
	return cell
}

// take takes one row.
func (p *csvParser) take(r *record) error {
	t := p.t
	if r.line <= t.headerLine {
		if r.line == t.headerLine {
			return nil
		}
		return p.skip(r, "it stands before the header")
	}
	date := p.day(r)
	money := p.cell(r, t.amount) + p.side(r, t.debit) + p.side(r, t.credit)
	switch {
	case r.cut:
		return p.refuse(r, fmt.Sprintf("the row is longer than %d bytes", LineMax))
	case (date == "" || !strings.ContainsAny(date, "0123456789")) && !looksLikeNumber(money):
		if p.f.mapping.JoinLines && p.held.holds && p.held.joined < quotedLinesMax {
			p.held.joined++
			p.held.raw += "\n" + r.raw
			p.held.entry.Memo = clipTo(collapse(p.held.entry.Memo+" "+
				strings.Join(r.fields, " ")), FieldMax)
			return nil
		}
		return p.skip(r, "a line of text without date and amount")
	case date == "" || !strings.ContainsAny(date, "0123456789"):
		return p.skip(r, "a total or another line without a date")
	case money == "" && !isDate(date):
		return p.skip(r, "a line of text without date and amount")
	case money == "" && p.cell(r, t.balance) != "":
		return p.skip(r, "a balance without a movement")
	case neverBooked(p.cell(r, t.status)):
		return p.skip(r, "its status is "+clip(p.cell(r, t.status))+": it moved no money")
	case p.tooWide(r):
		return p.refuse(r, "the row has more cells than the header")
	}
	return p.entry(r)
}

// tooWide tells whether a cell stands beyond the header, in a column that means nothing: a
// delimiter within a cell, such as a decimal comma, has moved all cells behind it.
func (p *csvParser) tooWide(r *record) bool {
	t := p.t
	if t.header == nil {
		return false
	}
	for i := len(t.header); i < len(r.fields); i++ {
		if (i >= len(t.roles) || t.roles[i] == "") && p.cell(r, i) != "" {
			return true
		}
	}
	return false
}

// day returns the cell of the day of booking. Where it is empty, as with cards before the bank
// processes a payment, another day of the row counts.
func (p *csvParser) day(r *record) string {
	if cell := p.cell(r, p.t.date); cell != "" {
		return cell
	}
	for _, col := range [...]int{p.t.value, p.t.authorised} {
		if cell := p.cell(r, col); cell != "" && isDate(cell) {
			return cell
		}
	}
	return ""
}

// looksLikeNumber tells whether the money cells of a row hold a number at all.
func looksLikeNumber(text string) bool {
	return isAmount(text) || strings.ContainsAny(text, "0123456789") && len(text) < 40
}

// entry reads a row that is an entry.
func (p *csvParser) entry(r *record) error {
	t := p.t
	date, second, err := p.w.date(p.day(r), r.line)
	if err != nil {
		return p.refuse(r, "the date: "+err.Error())
	}
	e := Entry{Date: date, ValueDate: second}
	if cell := p.cell(r, t.value); cell != "" {
		if value, _, err := p.w.date(cell, r.line); err == nil {
			e.ValueDate = value
		}
	}
	if cell := p.cell(r, t.authorised); cell != "" {
		if day, _, err := p.w.date(cell, r.line); err == nil {
			e.AuthorisedDate = day
		}
	}
	if err := p.money(r, &e); err != nil {
		return p.refuse(r, "the amount: "+err.Error())
	}
	if p.f.mapping.Invert {
		e.Amount, e.Foreign = e.Amount.Neg(), e.Foreign.Neg()
	}
	if err := p.takeFee(r, &e); err != nil {
		return p.refuse(r, "the fee: "+err.Error())
	}
	p.words(r, &e)
	if p.w.first {
		if cell := p.cell(r, p.t.balance); cell != "" {
			if a, err := splitAmount(cell); err == nil {
				p.w.hints.add(a, cell, r.line)
			}
		}
	}
	var warnings []Warning
	if r.quotes {
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
	if !p.f.mapping.JoinLines {
		return stoppedUnless(p.w.entry(r.line, r.raw, e, warnings))
	}
	p.held = heldEntry{holds: true, at: p.w.at, line: r.line, raw: r.raw, entry: e,
		warnings: warnings}
	return nil
}

// words takes the texts of a row.
func (p *csvParser) words(r *record, e *Entry) {
	t := p.t
	e.Name, e.BankID = p.cell(r, t.name), p.cell(r, t.id)
	e.Reference, e.Counterparty = p.cell(r, t.reference), p.cell(r, t.counterparty)
	if strings.Trim(e.Counterparty, "-") == "" {
		e.Counterparty = "" // BNZ writes --- where there is none.
	}
	e.Category = p.cell(r, t.category)
	for i, col := range t.memos {
		cell := p.cell(r, col)
		switch {
		case cell == "":
		case keywordAt(cell) != "":
			memo := e.Memo
			readKeywords(cell, e)
			e.Memo = strings.TrimSpace(memo + " " + e.Memo)
		case i == 0 || e.Memo == "":
			e.Memo = cell
		default:
			e.Memo += " " + cell
		}
	}
	if t.status >= 0 {
		e.Pending = isPending(p.cell(r, t.status))
	}
}

// neverBooked tells whether a status says that nothing was booked, nor will be.
func neverBooked(status string) bool {
	switch fold(status) {
	case "reverted", "declined", "failed", "cancelled", "canceled", "denied", "rejected",
		"voided", "expired", "abgelehnt", "storniert", "geannuleerd", "refuse", "annule",
		"rechazado", "cancelado", "odrzucona", "anulowana":
		return true
	}
	return false
}

// isPending tells whether a status says that nothing was booked yet.
func isPending(status string) bool {
	switch fold(status) {
	case "pending", "authorised", "authorized", "vorgemerkt", "reserved", "open", "processing",
		"umsatz vorgemerkt", "en attente", "pendiente", "in behandeling", "oczekujaca":
		return true
	}
	return false
}

// choose sets the statement of the row's account.
func (p *csvParser) choose(r *record, e *Entry) error {
	account := clipTo(p.cell(r, p.t.account), NameMax)
	if !p.w.first {
		p.w.at = p.t.accounts[account]
		return nil
	}
	at, ok := p.t.accounts[account]
	if !ok {
		if len(p.t.accounts) > 0 {
			s := Statement{Kind: Final, Line: r.line}
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
	if s := &p.w.statements[at]; s.Currency == "" {
		s.Currency = e.Currency
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

func (p *csvParser) skip(r *record, why string) error {
	if err := p.flush(); err != nil {
		return err
	}
	return stoppedUnless(p.w.skip(r.line, r.raw, why))
}

func (p *csvParser) refuse(r *record, why string) error {
	if err := p.flush(); err != nil {
		return err
	}
	return stoppedUnless(p.w.refuse(r.line, r.raw, why))
}
