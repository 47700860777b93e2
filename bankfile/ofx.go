package bankfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
)

// parseOFX reads OFX 1 and 2. Both are read in the same way: a tag with text is a value, and end
// tags may be missing or wrong, as in the files of real banks.
func parseOFX(text io.Reader, w *walk) error {
	p := &ofxParser{w: w, m: scan.NewMarkup(text)}
	err := p.run()
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

type ofxParser struct {
	w *walk
	m *scan.Markup

	tag    string // The last start tag, whose text comes next.
	inside string // The aggregate of the current values: BANKACCTFROM, LEDGERBAL, ….
	own    bool   // If that is an account, it is the statement's own.
	root   bool   // <OFX> was seen.

	trn      ofxTransaction
	inTrn    bool
	names    scan.Names
	trade    bool // The current aggregate is a trade of securities.
	tradeRow int
	balance  [2]string // Amount and date of the balance that is being read.
}

// ofxTransaction is a STMTTRN as it is written.
type ofxTransaction struct {
	line   int
	cut    bool
	raw    []byte
	values map[string]string
	origin bool // ORIGCURRENCY: the amount was converted from another currency.
}

// reset begins a transaction in the memory of the previous one.
func (t *ofxTransaction) reset(line int) {
	if t.values == nil {
		t.values = make(map[string]string)
	}
	clear(t.values)
	*t = ofxTransaction{line: line, raw: t.raw[:0], values: t.values}
}

// firstPassTags are the values of a transaction that the first pass needs: those that decide
// whether it can be read, its id, and its amount.
var firstPassTags = map[string]bool{
	"DTPOSTED": true, "DTTRAN": true, "TRNAMT": true, "FITID": true,
}

// ofxStatements are the aggregates with the statement of one account.
var ofxStatements = map[string]bool{"STMTRS": true, "CCSTMTRS": true, "INVSTMTRS": true}

// ofxAggregates are the aggregates whose values must be kept apart.
var ofxAggregates = map[string]bool{
	"BANKACCTFROM": true, "CCACCTFROM": true, "INVACCTFROM": true, "BANKACCTTO": true,
	"CCACCTTO": true, "LEDGERBAL": true, "AVAILBAL": true, "BANKTRANLIST": true, "PAYEE": true,
	"CURRENCY": true, "ORIGCURRENCY": true, "STATUS": true, "SONRS": true, "BALLIST": true,
	"INVTRANLIST": true, "INVBANKTRAN": true, "INVTRAN": true, "SECLISTMSGSRSV1": true,
	"BANKTRANLISTP": true,
}

func (p *ofxParser) run() error {
	for {
		t, err := p.m.Next()
		if errors.Is(err, io.EOF) {
			return p.end()
		}
		if err != nil {
			return err
		}
		switch t.Kind {
		case scan.Text:
			if p.tag != "" {
				p.value(t)
			}
		case scan.Empty:
			p.tag = ""
		case scan.Start:
			err = p.start(t)
		case scan.End:
			err = p.close(t)
		}
		if err != nil {
			return err
		}
	}
}

func (p *ofxParser) end() error {
	if !p.root {
		return &FormatError{Why: "this looks like OFX, but it has no <OFX> element"}
	}
	if err := p.finishTrn(); err != nil {
		return err
	}
	p.w.line = p.m.Line
	return nil
}

// start handles a start tag.
func (p *ofxParser) start(t scan.Token) error {
	name := p.names.Upper(t.Name)
	p.tag = name
	switch {
	case name == "OFX":
		p.root = true
	case name == "STMTTRN" || name == "STMTTRNP":
		if err := p.finishTrn(); err != nil {
			return err
		}
		if err := p.needStatement(t.Line); err != nil {
			return err
		}
		p.inTrn, p.inside, p.trade = true, "", false
		p.trn.reset(t.Line)
		if name == "STMTTRNP" {
			p.trn.values["PENDING"] = "Y"
		}
	case ofxStatements[name]:
		if err := p.finishTrn(); err != nil {
			return err
		}
		p.inside = ""
		_, err := p.w.begin(Statement{Kind: Final, Line: t.Line})
		return err
	case ofxAggregates[name]:
		if name == "ORIGCURRENCY" {
			p.trn.origin = true
		}
		if name == "LEDGERBAL" {
			p.balance = [2]string{}
		}
		if name == "INVTRAN" && !p.inTrn {
			p.trade, p.tradeRow = true, t.Line
		}
		if strings.HasSuffix(name, "BAL") || strings.HasSuffix(name, "LIST") {
			if err := p.finishTrn(); err != nil {
				return err
			}
		}
		p.inside = name
		// Other accounts belong to a transfer, and other balances to a period's end.
		p.own = p.w.at >= 0 && p.w.current().Account == ""
	}
	return nil
}

// needStatement begins a statement for transactions outside of any.
func (p *ofxParser) needStatement(line int) error {
	if p.w.at >= 0 {
		return nil
	}
	_, err := p.w.begin(Statement{Kind: Final, Line: line})
	return err
}

// close handles an end tag. One that matches nothing is ignored.
func (p *ofxParser) close(t scan.Token) error {
	name := p.names.Upper(t.Name)
	p.tag = ""
	switch {
	case name == "STMTTRN" || name == "STMTTRNP":
		return p.finishTrn()
	case name == "LEDGERBAL":
		p.closeBalance()
	case name == "INVTRAN" && p.trade:
		p.trade = false
		if p.w.at >= 0 && !p.w.skip(p.tradeRow, "", "a trade of securities") {
			return errStopped
		}
	}
	if name == p.inside {
		p.inside = ""
	}
	return nil
}

// value handles the text after a start tag.
func (p *ofxParser) value(t scan.Token) {
	tag := p.tag
	p.tag = ""
	if p.inTrn {
		if !p.w.first || firstPassTags[tag] {
			p.trnValue(tag, cells.TrimBlanks(string(t.Text)), t)
		}
		return
	}
	text := cells.TrimBlanks(string(t.Text))
	if p.w.at < 0 || text == "" {
		return
	}
	s := p.w.current()
	switch p.inside {
	case "BANKACCTFROM", "CCACCTFROM", "INVACCTFROM":
		switch {
		case !p.own:
		case tag == "ACCTID":
			s.Account = text
		case tag == "BANKID" || tag == "BROKERID":
			s.Bank = text
		case tag == "ACCTTYPE":
			s.Type = text
		}
	case "LEDGERBAL":
		switch tag {
		case "BALAMT":
			p.balance[0] = text
		case "DTASOF":
			p.balance[1] = text
		}
		p.closeBalance()
	default:
		if tag == "CURDEF" {
			s.Currency = cells.CurrencyOf(text)
		}
	}
}

// closeBalance sets the balance when it is complete, because its end tag may be missing.
func (p *ofxParser) closeBalance() {
	if p.w.at < 0 || p.balance[0] == "" {
		return
	}
	s := p.w.current()
	n, _, err := p.w.amount(p.balance[0], p.m.Line)
	if err != nil {
		return
	}
	b := &Balance{Amount: n, Currency: s.Currency}
	b.Date, _ = ofxDate(p.balance[1]) // The date is optional.
	s.Closing = b
}

func (p *ofxParser) trnValue(tag, text string, t scan.Token) {
	if text == "" {
		return
	}
	p.trn.cut = p.trn.cut || t.Cut
	if !p.w.first && len(p.trn.raw) < RawMax {
		p.trn.raw = append(append(append(p.trn.raw, tag...), ": "...), text...)
		p.trn.raw = append(p.trn.raw, '\n')
	}
	switch p.inside {
	case "BANKACCTTO", "CCACCTTO":
		tag = "TO" + tag
	case "PAYEE":
		if tag == "NAME" {
			tag = "PAYEENAME"
		}
	}
	// If a value occurs twice, the first counts.
	if _, again := p.trn.values[tag]; !again && len(p.trn.values) < 64 {
		p.trn.values[tag] = text
	}
}

// finishTrn sends the transaction that was being read, if any.
func (p *ofxParser) finishTrn() error {
	if !p.inTrn {
		return nil
	}
	p.inTrn, p.inside = false, ""
	t, v := &p.trn, p.trn.values
	raw := string(bytes.TrimSuffix(t.raw, []byte{'\n'}))
	ok := true
	if e, warnings, why := p.entry(v); why != "" {
		ok = p.w.refuse(t.line, raw, why)
	} else {
		if t.cut {
			warnings = append(warnings, Warning{WarnTruncated, "A value was too long and was cut."})
		}
		ok = p.w.entry(t.line, raw, e, warnings)
	}
	if !ok {
		return errStopped
	}
	return nil
}

// entry reads the values of a transaction, or returns why they cannot be read.
func (p *ofxParser) entry(v map[string]string) (e Entry, warnings []Warning, why string) {
	date, err := ofxDate(cmp.Or(v["DTPOSTED"], v["DTTRAN"])) // Pending ones have DTTRAN.
	if err != nil {
		return e, nil, "the date of posting: " + err.Error()
	}
	amount, parts, err := p.w.amount(v["TRNAMT"], p.trn.line)
	if err != nil {
		return e, nil, "the amount: " + err.Error()
	}
	e = Entry{
		Date:         date,
		Amount:       amount,
		Name:         cmp.Or(v["NAME"], v["PAYEENAME"]),
		Memo:         v["MEMO"],
		BankID:       v["FITID"],
		Reference:    cmp.Or(v["CHECKNUM"], v["REFNUM"]),
		Counterparty: v["TOACCTID"],
		Category:     v["TRNTYPE"],
		Corrects:     v["CORRECTFITID"],
		Deletes:      strings.EqualFold(v["CORRECTACTION"], "DELETE"),
		Pending:      v["PENDING"] != "",
	}
	if e.Reference == "0" {
		e.Reference = cmp.Or(v["REFNUM"])
	}
	// DTAVAIL is when the money can be used, DTUSER when the person acted. VALUEDATE is not in the
	// standard, but some banks in Australia write it.
	for _, tag := range [...]string{"DTAVAIL", "VALUEDATE"} {
		if text := v[tag]; text != "" && e.ValueDate == "" {
			e.ValueDate, _ = ofxDate(text) // Invalid dates are ignored.
		}
	}
	if text := v["DTUSER"]; text != "" {
		e.AuthorisedDate, _ = ofxDate(text)
	}
	if sym := cells.CurrencyOf(v["CURSYM"]); sym != "" {
		if p.trn.origin {
			e.ForeignCurrency = sym
		} else {
			e.Currency = sym
		}
	} else if e.Currency = cells.CurrencyOf(parts.Currency); e.Currency == p.w.known().Currency {
		e.Currency = ""
	}
	if strings.EqualFold(v["TRNTYPE"], "DEBIT") && amount.Sign() > 0 ||
		strings.EqualFold(v["TRNTYPE"], "CREDIT") && amount.Sign() < 0 {
		warnings = append(warnings, Warning{WarnSign, fmt.Sprintf(
			"The kind is %s, but the amount is %s; the amount counts.", v["TRNTYPE"], amount)})
	}
	return e, warnings, ""
}

// ofxDate returns the day of a time such as 20200406000000[-03:EST]. It is the day as written; the
// zone is ignored.
func ofxDate(text string) (Date, error) {
	if text == "" {
		return "", errors.New("there is none")
	}
	if len(text) < 8 || !cells.AllDigits(text[:8]) {
		if d, ok := cells.SplitDate(text); ok && d.Fixed == cells.YearFirst {
			if date, ok := d.Read(cells.YearFirst); ok {
				return Date(date), nil
			}
		}
		return "", fmt.Errorf("%q is not a date", cells.Clip(text))
	}
	date, ok := cells.CompactDate(text[:8])
	if !ok {
		return "", fmt.Errorf("there is no such date as %q", cells.Clip(text))
	}
	return Date(date), nil
}
