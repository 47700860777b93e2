package bankfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/money"
)

// parseQIF reads Quicken's interchange format: records of lines, each with its meaning in the first
// letter, and a caret at the end. It names no currency and has no ids, so it is the least reliable
// format.
func parseQIF(text io.Reader, w *walk) error {
	p := &qifParser{w: w, l: scan.NewLines(text), section: "bank"}
	for {
		line, err := p.l.Next()
		if errors.Is(err, io.EOF) {
			return ignoreStopped(p.record())
		}
		if err != nil {
			return err
		}
		if err := p.take(string(line)); err != nil {
			return ignoreStopped(err)
		}
	}
}

type qifParser struct {
	w *walk
	l *scan.Lines

	section string // The kind of the records: an account's type in lower case, "account", a list.
	account string // The name in !Account for the transactions that follow.
	fresh   bool   // The account has no statement yet.
	rec     qifRecord
}

// qifRecord is a record as it is written. The lines of splits keep their order.
type qifRecord struct {
	line   int
	size   int
	cut    bool
	fields [128]string
	splits []qifSplit
	raw    strings.Builder
}

type qifSplit struct{ category, memo, amount string }

func (p *qifParser) take(line string) error {
	line = strings.TrimRight(strings.Trim(line, "\ufeff\x1a"), " \t")
	trimmed := strings.TrimLeft(line, " \t")
	switch {
	case trimmed == "":
		return nil
	case trimmed[0] == '!':
		if err := p.record(); err != nil {
			return err
		}
		return p.header(trimmed)
	case trimmed[0] == '^':
		return p.record()
	}
	if p.rec.line == 0 {
		p.rec.line = p.l.Line
	}
	if p.rec.size += len(trimmed); p.rec.size > RecordMax || p.l.Cut {
		p.rec.cut = true
		return nil
	}
	if p.rec.raw.Len() < RawMax {
		p.rec.raw.WriteString(trimmed)
		p.rec.raw.WriteByte('\n')
	}
	p.field(trimmed[0], strings.TrimSpace(trimmed[1:]))
	return nil
}

// field reads one line of a record.
func (p *qifParser) field(code byte, value string) {
	r := &p.rec
	switch code {
	case 'S':
		if len(r.splits) >= DetailsMax {
			r.cut = true
			return
		}
		r.splits = append(r.splits, qifSplit{category: value})
	case 'E', '$':
		if len(r.splits) == 0 {
			if code == '$' {
				r.fields[code] = value
			}
			return
		}
		last := &r.splits[len(r.splits)-1]
		if code == 'E' {
			last.memo = value
		} else {
			last.amount = value
		}
	default:
		if code < 128 {
			r.fields[code] = value
		}
	}
}

// header reads a line such as !Type:Bank, !Account or !Option:AutoSwitch.
func (p *qifParser) header(line string) error {
	lower := strings.ToLower(strings.TrimSpace(line))
	switch {
	case lower == "!account":
		p.section = "account"
	case strings.HasPrefix(lower, "!type:"):
		p.section = strings.TrimSpace(strings.TrimPrefix(lower, "!type:"))
		if p.isAccount() {
			return p.begin()
		}
	}
	return nil
}

// isAccount reports whether the records of the section are transactions with amounts of money.
func (p *qifParser) isAccount() bool {
	switch p.section {
	case "bank", "ccard", "cash", "oth a", "oth l", "invoice":
		return true
	}
	return strings.HasPrefix(p.section, "bank") // Some write !Type:Bank Account.
}

func (p *qifParser) begin() error {
	p.fresh = false
	_, err := p.w.begin(Statement{
		Kind: Final, Account: p.account, Type: p.section, Line: max(1, p.l.Line),
	})
	return err
}

// record ends a record.
func (p *qifParser) record() error {
	r := p.rec
	p.rec = qifRecord{}
	if r.line == 0 {
		return nil
	}
	raw := strings.TrimSuffix(r.raw.String(), "\n")
	ok := true
	switch {
	case p.section == "account":
		p.account = r.fields['N']
		return nil
	case p.section == "invst":
		if p.w.at < 0 {
			if err := p.begin(); err != nil {
				return err
			}
		}
		ok = p.w.skip(r.line, raw, "a trade of securities")
	case !p.isAccount():
		ok = p.w.skip(r.line, raw, "a record of the list "+cells.Clip(p.section))
	default:
		if p.w.at < 0 {
			if err := p.begin(); err != nil {
				return err
			}
		}
		ok = p.transaction(&r, raw)
	}
	if !ok {
		return errStopped
	}
	return nil
}

// transaction reads a record of an account.
func (p *qifParser) transaction(r *qifRecord, raw string) bool {
	if r.cut {
		return p.w.refuse(r.line, raw, "the record is too long")
	}
	if r.fields['D'] == "" {
		return p.w.refuse(r.line, raw, "the date: there is none")
	}
	date, _, err := p.w.date(r.fields['D'], r.line)
	if err != nil {
		return p.w.refuse(r.line, raw, "the date: "+err.Error())
	}
	amount, _, err := p.w.amount(cmp.Or(r.fields['T'], r.fields['U'], r.fields['$']), r.line)
	if err != nil {
		return p.w.refuse(r.line, raw, "the amount: "+err.Error())
	}
	if p.w.set.mapping.Invert {
		amount = amount.Neg()
	}
	category := r.fields['L']
	if strings.EqualFold(r.fields['P'], "Opening Balance") {
		if account, ok := qifTransfer(category); ok {
			s := p.w.current()
			s.Opening = &Balance{Amount: amount, Date: date}
			if s.Account == "" {
				s.Account = account
			}
			return p.w.skip(r.line, raw, "the opening balance")
		}
	}
	e := Entry{
		Date: date, Amount: amount,
		Name: r.fields['P'], Memo: r.fields['M'], Reference: r.fields['N'],
	}
	if account, ok := qifTransfer(category); ok {
		e.Counterparty = account
	} else {
		e.Category = category
	}
	warnings, why := p.splits(r, &e)
	if why != "" {
		return p.w.refuse(r.line, raw, why)
	}
	return p.w.entry(r.line, raw, e, warnings)
}

// qifTransfer returns the account of a category such as [Savings].
func qifTransfer(category string) (string, bool) {
	name, ok := strings.CutPrefix(category, "[")
	if !ok {
		return "", false
	}
	name, _, ok = strings.Cut(name, "]")
	return name, ok
}

// splits reads the parts of a record, and warns if their sum is not the amount.
func (p *qifParser) splits(r *qifRecord, e *Entry) (warnings []Warning, why string) {
	var sum money.Decimal
	for _, s := range r.splits {
		if s.amount == "" {
			continue
		}
		n, _, err := p.w.amount(s.amount, r.line)
		if err != nil {
			return nil, "the amount of a split: " + err.Error()
		}
		if p.w.set.mapping.Invert {
			n = n.Neg()
		}
		if sum, err = sum.Add(n); err != nil {
			return nil, "the amount of a split: " + err.Error()
		}
		e.Splits = append(e.Splits, Split{Amount: n, Category: s.category, Memo: s.memo})
	}
	if len(e.Splits) > 0 && sum != e.Amount && !p.w.first {
		warnings = append(warnings, Warning{WarnDetails, fmt.Sprintf(
			"The splits make %s, but the amount is %s.", sum, e.Amount)})
	}
	return warnings, ""
}
