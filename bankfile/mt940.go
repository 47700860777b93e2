package bankfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/bankfile/internal/swift"
)

// mtPart is a part of a message. Each part has its own legal tags.
type mtPart uint8

const (
	mtOutside mtPart = iota
	mtHeader         // From :20: to the opening balance.
	mtEntries        // Between the first :61: and the closing balance.
	mtFooter         // From the closing balance on.
)

// parseMT940 reads MT940 statements and MT942 interim reports, framed in any way.
func parseMT940(text io.Reader, w *walk) error {
	p := &mtParser{w: w, lines: scan.NewLines(text)}
	err := p.run()
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

type mtParser struct {
	w     *walk
	lines *scan.Lines

	part    mtPart
	begun   bool // The statement of the message was begun.
	account string
	number  string // The number of the statement, such as 19322 in :28C:19322/1.
	page    int    // The number of the page, 1 in that example, or 0.
	pages   mtPages
	moves   [2]mtMoves // Credits and debits of the message.
	tag     string     // The tag that a line without one continues.
	dash    bool       // The last line was a dash that may be text.

	entry     []string // The :61: and its supplementary lines.
	info      []string // The lines of :86:.
	entryLine int
	infoLine  int
	size      int // Of entry and info together.
	cut       bool
}

func (p *mtParser) run() error {
	for {
		raw, err := p.lines.Next()
		if errors.Is(err, io.EOF) {
			if !p.begun && p.w.at < 0 {
				return &FormatError{Why: "no message of MT940 or MT942 is complete"}
			}
			if err := p.endMessage(); err != nil {
				return err
			}
			return p.endPages()
		}
		if err != nil {
			return err
		}
		p.w.line = p.lines.Line
		p.cut = p.cut || p.lines.Cut
		if err := p.line(unframe(string(raw))); err != nil {
			return err
		}
	}
}

// unframe removes the frame of a message: control bytes, and the blocks of SWIFT.
func unframe(line string) string {
	line = strings.Trim(line, "\x00\x01\x02\x03\ufeff")
	if strings.HasPrefix(line, "{1:") || strings.HasPrefix(line, "{2:") ||
		strings.HasPrefix(line, "{4:") {
		_, line, _ = strings.Cut(line, "{4:")
	}
	return line
}

func (p *mtParser) line(line string) error {
	tag, rest := swift.CutTag(line)
	if p.dash {
		p.dash = false
		if strings.Contains(" 61 62F 62M 86 ", " "+tag+" ") {
			p.more("-")
		} else if err := p.endMessage(); err != nil {
			return err
		}
	}
	if p.endsMessage(line) {
		// Before the closing balance, a dash may be wrapped text; the next line decides.
		if p.part == mtEntries && strings.TrimRight(line, " ") == "-" {
			p.dash = true
			return nil
		}
		return p.endMessage()
	}
	if tag == "" || !p.legal(tag) {
		p.more(line)
		return nil
	}
	if tag == "NS" {
		p.tag = tag // A bank's own remarks may be anywhere.
		return nil
	}
	if tag != "86" || p.entry == nil {
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.tag = tag
	switch tag {
	case "20":
		if err := p.endMessage(); err != nil {
			return err
		}
		p.part, p.tag = mtHeader, tag
	case "25", "25P":
		p.account = strings.TrimSpace(rest)
	case "28", "28C":
		p.number, p.page = swift.CutNumber(strings.TrimSpace(rest))
	case "34F":
		return p.floorLimit(rest)
	case "60F", "60M":
		return p.opening(rest, tag == "60M")
	case "61":
		if err := p.begin(nil, false); err != nil {
			return err
		}
		p.part, p.entry, p.entryLine = mtEntries, []string{rest}, p.lines.Line
		p.size = len(rest)
	case "86":
		if p.info != nil { // Another text of the same entry.
			p.more(rest)
			break
		}
		p.info, p.infoLine = []string{rest}, p.lines.Line
		p.size += len(rest)
	case "62F", "62M":
		return p.closing(rest, tag == "62M")
	case "90C", "90D":
		p.part = mtFooter
		return p.checkMoves(rest, tag == "90D")
	}
	return nil
}

// endsMessage reports whether the line is the dash after a message. Within entries only a bare dash
// is, because lines of text may begin with one.
func (p *mtParser) endsMessage(line string) bool {
	line = strings.TrimRight(line, " ")
	if line == "-" || strings.HasPrefix(line, "-}") {
		return true
	}
	return p.part == mtFooter && strings.HasPrefix(line, "-")
}

// legal reports whether the tag is allowed here. A line with a tag that is not allowed is text.
func (p *mtParser) legal(tag string) bool {
	switch p.part {
	case mtEntries:
		return strings.Contains(" 61 86 62F 62M 64 65 90C 90D NS ", " "+tag+" ")
	case mtFooter:
		return strings.Contains(" 20 64 65 86 90C 90D 62F 62M NS ", " "+tag+" ")
	case mtHeader:
		return tag != "20" || p.begun || p.account != ""
	}
	return true
}

// more adds a line that continues the previous tag.
func (p *mtParser) more(line string) {
	if p.size+len(line) > RecordMax {
		p.cut = true
		return
	}
	switch {
	case p.tag == "61" && p.entry != nil:
		p.entry = append(p.entry, line)
		p.size += len(line) + 1 // Empty lines count too.
	case p.tag == "86" && p.info != nil:
		p.info = append(p.info, line)
		p.size += len(line) + 1 // Empty lines count too.
	}
}

func (p *mtParser) endMessage() error {
	if err := p.flush(); err != nil {
		return err
	}
	p.part, p.begun, p.account, p.number, p.page, p.tag = mtOutside, false, "", "", 0, ""
	p.moves = [2]mtMoves{}
	return nil
}

func (p *mtParser) opening(rest string, intermediate bool) error {
	p.begun = false
	b, bad := readBalance(rest)
	if err := p.begin(b, intermediate); err != nil {
		return err
	}
	p.part = mtHeader
	if bad != nil {
		return p.badBalance("opening", bad)
	}
	if s := p.w.current(); s.Opening == nil && !p.pages.chained() {
		s.Opening, s.Currency = b, b.Currency
	}
	return nil
}

func (p *mtParser) closing(rest string, intermediate bool) error {
	if err := p.begin(nil, false); err != nil {
		return err
	}
	p.part = mtFooter
	b, err := readBalance(rest)
	if err != nil {
		return p.badBalance("closing", err)
	}
	s := p.w.current()
	s.Closing = b
	if s.Currency == "" {
		s.Currency = b.Currency
	}
	return p.closePage(b, intermediate)
}

func (p *mtParser) badBalance(which string, err error) error {
	if !p.w.warn(p.lines.Line, fmt.Sprintf("The %s balance cannot be read: %v.", which, err)) {
		return errStopped
	}
	return nil
}

// floorLimit reads the currency of an interim report from :34F:PLN0.
func (p *mtParser) floorLimit(rest string) error {
	if err := p.begin(nil, false); err != nil {
		return err
	}
	// Only interim reports have a floor limit.
	s := p.w.current()
	s.Kind = Interim
	if s.Currency == "" && len(rest) >= 3 {
		s.Currency = cells.CurrencyOf(rest[:3])
	}
	return nil
}

// flush sends the entry that was being read, or the text about the whole statement.
func (p *mtParser) flush() error {
	entry, info, cut := p.entry, p.info, p.cut
	p.entry, p.info, p.size, p.cut = nil, nil, 0, false
	if entry == nil {
		if info != nil && p.begun && !p.w.skip(p.infoLine, strings.Join(info, "\n"),
			"a text about the whole statement") {
			return errStopped
		}
		return nil
	}
	raw := ""
	if !p.w.first { // The first pass does not need the texts.
		raw = ":61:" + strings.Join(entry, "\n")
		if info != nil {
			raw += "\n:86:" + strings.Join(info, "\n")
		}
	}
	line, err := swift.ReadLine(strings.TrimSpace(entry[0]))
	if err != nil {
		return stoppedUnless(p.w.refuse(p.entryLine, raw, err.Error()))
	}
	var warnings []Warning
	for _, text := range line.Doubts {
		warnings = append(warnings, Warning{WarnDate, text})
	}
	if cut {
		warnings = append(warnings, Warning{WarnTruncated, "A text was too long and was cut."})
	}
	e := Entry{
		Date: Date(line.Date), ValueDate: Date(line.ValueDate), Amount: line.Amount,
		BankID: line.BankID, Reversal: line.Reversal, Pending: line.Pending,
	}
	if !p.w.first {
		note := swift.Note{Category: line.Category, Reference: line.Reference}
		note.ReadInformation(info)
		note.ReadSupplement(entry[1:])
		e.setNote(&note)
	}
	p.move(e.Amount)
	return stoppedUnless(p.w.entry(p.entryLine, raw, e, warnings))
}

// setNote sets the texts and the amount before conversion.
func (e *Entry) setNote(n *swift.Note) {
	e.Name, e.Memo, e.Counterparty, e.Category = n.Name, n.Memo, n.Counterparty, n.Category
	e.Reference = swift.Reference(n.Reference)
	if n.ForeignCurrency == "" {
		return
	}
	e.Foreign, e.ForeignCurrency = n.Foreign, n.ForeignCurrency
	if e.Amount.Sign() < 0 {
		e.Foreign = e.Foreign.Neg()
	}
}

func readBalance(text string) (*Balance, error) {
	b, err := swift.ReadBalance(text)
	if err != nil {
		return nil, err
	}
	return &Balance{Amount: b.Amount, Currency: b.Currency, Date: Date(b.Date)}, nil
}
