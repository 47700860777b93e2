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
	"github.com/exchequer-dev/exchequer/money"
)

// parseCAMT reads camt.052, camt.053 and camt.054. It uses the local names of elements, which all
// versions share; if versions differ (Sts or Sts/Cd, Dt or DtTm, Nm or Pty/Nm) both are read.
func parseCAMT(text io.Reader, w *walk) error {
	p := &camtParser{w: w, m: scan.NewMarkup(text)}
	return ignoreStopped(p.run())
}

type camtParser struct {
	w    *walk
	m    *scan.Markup
	path []string // Local names of the open elements.
	base int      // The number of open elements when the statement began, its own included.
	ccy  []string // Their Ccy attributes.

	bal     camtBalance
	opening string // The code of the opening balance: OPBD is preferred to PRCD.
	entry   *camtEntry
	detail  *camtDetail
	kept    camtEntry // The memory of entry and detail, reused for the next.

	keptDetail camtDetail
	text       []byte // Of the element that is open.
	raw        []byte // The values of the entry, for showing it again.
	seen       bool
	names      scan.Names
}

type camtBalance struct {
	code, amount, currency, sign, date string
}

// detailsKept is the maximum number of details whose memory is reused for the next entry.
const detailsKept = 64

// camtEntry is an Ntry as it is written.
type camtEntry struct {
	line                              int
	amount, currency, sign, status    string
	booked, value                     string
	reversal                          bool
	ref, servicer, info, domain, code string
	charges                           string
	details                           []camtDetail
	many, cut                         bool
	size                              int
}

// camtWords are elements whose texts the first pass does not need.
var camtWords = map[string]bool{
	"Nm": true, "Ustrd": true, "AddtlNtryInf": true, "AddtlTxInf": true, "AdrLine": true,
	"StrtNm": true, "TwnNm": true, "PstCd": true, "Ctry": true, "BICFI": true, "BIC": true,
}

// camtDetail is a TxDtls as it is written.
type camtDetail struct {
	line                              int
	amount, currency, sign            string
	txAmount, txCurrency              string
	instructed, instructedCcy         string
	endToEnd, txID, servicer, mandate string
	debtor, creditor                  string
	debtorAccount, creditorAccount    string
	reference, information, acted     string
	remittance                        []byte // Texts of Ustrd, separated by blanks.
}

// camtKinds are the elements with a statement.
var camtKinds = map[string]Kind{"Stmt": Final, "Rpt": Interim, "Ntfctn": Advice}

func (p *camtParser) run() error {
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
			if len(p.path) > 0 && len(p.text) < FieldMax {
				p.text = append(p.text, t.Text...)
				if t.Cut && p.entry != nil {
					p.entry.cut = true
				}
			}
		case scan.Start:
			err = p.open(p.names.Of(t.Name), t)
		case scan.Empty:
			if err = p.open(p.names.Of(t.Name), t); err == nil {
				err = p.close(p.names.Of(t.Name), t.Line)
			}
		case scan.End:
			err = p.close(p.names.Of(t.Name), t.Line)
		}
		if err != nil {
			return err
		}
	}
}

func (p *camtParser) end() error {
	p.w.line = p.m.Line
	if len(p.path) > 0 {
		return &FormatError{Line: p.m.Line, Why: "the file ends within <" +
			cells.Clip(p.path[len(p.path)-1]) + ">: it is incomplete"}
	}
	if !p.seen {
		return &FormatError{Why: "the message has no statement, report or notification"}
	}
	return nil
}

// open handles a start tag.
func (p *camtParser) open(name string, t scan.Token) error {
	if len(p.path) >= DepthMax {
		return &LimitError{Line: t.Line, What: "elements within each other", Limit: DepthMax}
	}
	p.text = p.text[:0]
	ccy := ""
	if len(t.Attributes) > 0 {
		ccy = t.Attribute("Ccy")
	}
	p.path, p.ccy = append(p.path, name), append(p.ccy, ccy)
	kind, isStatement := camtKinds[name]
	switch {
	case isStatement && p.entry == nil && strings.HasPrefix(p.parent(), "BkToCstmr"):
		p.seen, p.opening, p.base = true, "", len(p.path)
		_, err := p.w.begin(Statement{Kind: kind, Line: t.Line})
		return err
	case p.w.at < 0:
	case name == "Bal" && p.entry == nil:
		p.bal = camtBalance{}
	case name == "Ntry" && p.parent() != "Ntry" && p.entry == nil:
		details := p.kept.details[:0]
		if cap(details) > detailsKept {
			details = nil
		}
		p.kept = camtEntry{line: t.Line, details: details}
		p.entry, p.raw = &p.kept, p.raw[:0]
	case name == "TxDtls" && p.entry != nil && p.detail == nil:
		p.keptDetail = camtDetail{line: t.Line}
		p.detail = &p.keptDetail
	}
	return nil
}

func (p *camtParser) parent() string { return p.up(1) }

// up returns the name of the element n levels above the current one.
func (p *camtParser) up(n int) string {
	if at := len(p.path) - 1 - n; at >= 0 {
		return p.path[at]
	}
	return ""
}

// close handles an end tag, which must be that of the open element.
func (p *camtParser) close(name string, line int) error {
	if len(p.path) == 0 || p.path[len(p.path)-1] != name {
		return &FormatError{Line: line, Why: "</" + cells.Clip(name) + "> has no start tag"}
	}
	value := ""
	if p.w.first && p.entry != nil && camtWords[name] {
		p.entry.size += len(p.text) // The first pass needs only the size.
	} else {
		value = string(bytes.TrimSpace(p.text))
	}
	p.text = p.text[:0]
	var err error
	if p.w.at >= 0 {
		err = p.take(name, value)
	}
	p.path, p.ccy = p.path[:len(p.path)-1], p.ccy[:len(p.ccy)-1]
	return err
}

// take handles the end of an element with its text.
func (p *camtParser) take(name, value string) error {
	switch {
	case p.detail != nil:
		if name == "TxDtls" {
			p.addDetail()
			return nil
		}
		p.note(name, value)
		p.takeDetail(name, value)
	case p.entry != nil:
		if name == "Ntry" {
			return p.finishEntry()
		}
		p.note(name, value)
		p.takeEntry(name, value)
	case p.inside("Bal"):
		p.takeBalance(name, value)
	default:
		p.takeStatement(name, value)
	}
	return nil
}

// note keeps the entry's values, to be shown again.
func (p *camtParser) note(name, value string) {
	e := p.entry
	e.size += len(value)
	if value == "" || p.w.first || len(p.raw) >= RawMax {
		return
	}
	for _, text := range [...]string{p.parent(), "/", name, ": ", value, "\n"} {
		p.raw = append(p.raw, text...)
	}
}

func (p *camtParser) inside(name string) bool {
	for _, n := range p.path {
		if n == name {
			return true
		}
	}
	return false
}

func (p *camtParser) takeStatement(name, value string) {
	s := p.w.current()
	if value == "" {
		return
	}
	switch parent := p.parent(); {
	case name == "IBAN" && p.up(2) == "Acct" && len(p.path) == p.base+3:
		s.Account = value
	case name == "Id" && parent == "Othr" && p.up(3) == "Acct" && len(p.path) == p.base+4:
		s.Account = cmp.Or(s.Account, value)
	case name == "Ccy" && parent == "Acct":
		s.Currency = cells.CurrencyOf(value)
	case (name == "BIC" || name == "BICFI") && p.up(2) == "Svcr":
		s.Bank = value
	case name == "Id" && len(p.path) == p.base+1:
		s.ID = value
	}
}

func (p *camtParser) takeBalance(name, value string) {
	b := &p.bal
	switch {
	case name == "Bal":
		p.closeBalance()
	case name == "Cd" && p.parent() == "CdOrPrtry":
		b.code = value
	case name == "Amt" && p.parent() == "Bal":
		b.amount, b.currency = value, p.ccy[len(p.ccy)-1]
	case name == "CdtDbtInd" && p.parent() == "Bal":
		b.sign = value
	case (name == "Dt" || name == "DtTm") && value != "":
		b.date = value
	}
}

// closeBalance keeps the booked balances. Available and forward balances include amounts that are
// not in the entries.
func (p *camtParser) closeBalance() {
	b := p.bal
	amount, err := camtAmount(b.amount, b.sign)
	if err != nil {
		return
	}
	date, _ := camtDate(b.date)
	s := p.w.current()
	balance := &Balance{Amount: amount, Currency: cells.CurrencyOf(b.currency), Date: date}
	switch b.code {
	case "OPBD":
		s.Opening, p.opening = balance, b.code
	case "PRCD":
		if p.opening != "OPBD" {
			s.Opening, p.opening = balance, b.code
		}
	case "CLBD":
		s.Closing = balance
	}
	if s.Currency == "" {
		s.Currency = balance.Currency
	}
}

func (p *camtParser) takeEntry(name, value string) {
	e := p.entry
	switch parent := p.parent(); {
	case parent == "Ntry":
		switch name {
		case "Amt":
			e.amount, e.currency = value, p.ccy[len(p.ccy)-1]
		case "CdtDbtInd":
			e.sign = value
		case "RvslInd":
			e.reversal = value == "true" || value == "1"
		case "Sts":
			e.status = cmp.Or(e.status, value)
		case "AcctSvcrRef":
			e.servicer = value
		case "NtryRef":
			e.ref = value
		case "AddtlNtryInf":
			e.info = value
		}
	case parent == "Sts" && (name == "Cd" || name == "Prtry"):
		e.status = value
	case parent == "BookgDt":
		e.booked = value
	case parent == "ValDt":
		e.value = value
	case name == "SubFmlyCd":
		e.domain = value
	case name == "Cd" && parent == "Prtry":
		e.code = value
	case name == "TtlChrgsAndTaxAmt":
		e.charges = value
	}
}

func (p *camtParser) takeDetail(name, value string) {
	d := p.detail
	parent, ccy := p.parent(), p.ccy[len(p.ccy)-1]
	switch {
	case value == "":
	case name == "Amt" && parent == "TxDtls":
		d.amount, d.currency = value, ccy
	case name == "CdtDbtInd" && parent == "TxDtls":
		d.sign = value
	case name == "Amt" && parent == "TxAmt":
		d.txAmount, d.txCurrency = value, ccy
	case name == "Amt" && parent == "InstdAmt":
		d.instructed, d.instructedCcy = value, ccy
	case parent == "Refs":
		switch name {
		case "EndToEndId":
			d.endToEnd = value
		case "TxId":
			d.txID = value
		case "AcctSvcrRef":
			d.servicer = value
		case "MndtId":
			d.mandate = value
		}
	case name == "Nm" && (parent == "Dbtr" || parent == "Pty" && p.up(2) == "Dbtr"):
		d.debtor = value
	case name == "Nm" && (parent == "Cdtr" || parent == "Pty" && p.up(2) == "Cdtr"):
		d.creditor = value
	case name == "IBAN" && p.up(2) == "DbtrAcct", name == "Id" && p.up(3) == "DbtrAcct":
		d.debtorAccount = cmp.Or(d.debtorAccount, value)
	case name == "IBAN" && p.up(2) == "CdtrAcct", name == "Id" && p.up(3) == "CdtrAcct":
		d.creditorAccount = cmp.Or(d.creditorAccount, value)
	case name == "Ustrd":
		if len(d.remittance) > 0 {
			d.remittance = append(d.remittance, ' ')
		}
		d.remittance = append(
			d.remittance,
			cells.ClipTo(value, max(0, FieldMax-len(d.remittance)))...)
	case name == "Ref" && parent == "CdtrRefInf":
		d.reference = value
	case (name == "TxDtTm" || name == "AccptncDtTm") && parent == "RltdDts":
		d.acted = cmp.Or(d.acted, value)
	case name == "AddtlTxInf":
		d.information = value
	}
}

// addDetail keeps a detail, up to a limit. An entry with more of them is read as a whole.
func (p *camtParser) addDetail() {
	e, d := p.entry, *p.detail
	p.detail = nil
	if len(e.details) >= DetailsMax || e.size > 16*RecordMax {
		e.many, e.details = true, nil
	}
	if !e.many {
		e.details = append(e.details, d)
	}
}

// camtAmount reads an amount with its indicator. In XML the decimal mark is always a point.
func camtAmount(text, sign string) (money.Decimal, error) {
	if text == "" {
		return money.Decimal{}, errors.New("the amount: there is none")
	}
	n, err := money.ParseDecimal(strings.TrimPrefix(text, "+"))
	if err != nil {
		return n, fmt.Errorf("the amount: %q is not an amount", cells.Clip(text))
	}
	switch sign {
	case "CRDT":
		return n, nil
	case "DBIT":
		return n.Neg(), nil
	}
	return n, fmt.Errorf("%q means neither credit nor debit", cells.Clip(sign))
}

// camtDate returns the day of a date or of a time, as it is written.
func camtDate(text string) (Date, bool) {
	if len(text) < 10 || text[4] != '-' || text[7] != '-' ||
		!cells.AllDigits(text[:4]+text[5:7]+text[8:10]) {
		return "", false
	}
	day, ok := cells.CompactDate(text[:4] + text[5:7] + text[8:10])
	return Date(day), ok
}
