package bankfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
)

// mtTags are the tags of MT940 and MT942 messages. Nothing else that begins with a colon and two
// digits is one: purposes are wrapped, and a line of them may begin with ":26:37".
const mtTags = " 13 13D 20 21 25 25P 28 28C 34F 60F 60M 61 62F 62M 64 65 86 90C 90D NS "

// mtTag splits a line into its tag and the rest, or returns no tag.
func mtTag(line string) (tag, rest string) {
	if len(line) < 4 || line[0] != ':' {
		return "", line
	}
	end := strings.IndexByte(line[1:min(len(line), 5)], ':')
	if end < 2 || !strings.Contains(mtTags, " "+line[1:1+end]+" ") {
		return "", line
	}
	return line[1 : 1+end], line[2+end:]
}

// mtPart is where in a message a line stands. Each part has its own legal tags.
type mtPart uint8

const (
	mtOutside mtPart = iota
	mtHeader         // From :20: to the opening balance.
	mtEntries        // Between the first :61: and the closing balance.
	mtFooter         // From the closing balance on.
)

// parseMT940 reads MT940 statements and MT942 interim reports, framed in any way.
func parseMT940(_ *File, text io.Reader, w *walk) error {
	p := &mtParser{w: w, lines: newLines(text)}
	err := p.run()
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

type mtParser struct {
	w     *walk
	lines *lines

	part    mtPart
	begun   bool // The statement of the message was begun.
	account string
	number  string // Of the statement, such as 19322 in :28C:19322/1.
	page    int    // 1 in that example, or 0.
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
		raw, err := p.lines.next()
		if errors.Is(err, io.EOF) {
			if !p.begun && p.w.at < 0 {
				return &FormatError{Why: "no message of MT940 or MT942 is whole"}
			}
			if err := p.endMessage(); err != nil {
				return err
			}
			return p.endPages()
		}
		if err != nil {
			return err
		}
		p.w.line = p.lines.line
		p.cut = p.cut || p.lines.cut
		if err := p.line(unframe(string(raw))); err != nil {
			return err
		}
	}
}

// unframe strips what carries a message: control bytes, and the blocks of SWIFT.
func unframe(line string) string {
	line = strings.Trim(line, "\x00\x01\x02\x03\ufeff")
	if strings.HasPrefix(line, "{1:") || strings.HasPrefix(line, "{2:") ||
		strings.HasPrefix(line, "{4:") {
		_, line, _ = strings.Cut(line, "{4:")
	}
	return line
}

func (p *mtParser) line(line string) error {
	tag, rest := mtTag(line)
	if p.dash {
		p.dash = false
		if strings.Contains(" 61 62F 62M 86 ", " "+tag+" ") {
			p.more("-")
		} else if err := p.endMessage(); err != nil {
			return err
		}
	}
	if p.endsMessage(line) {
		// Before the closing balance, a dash may be text that was wrapped: the next line tells.
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
		p.tag = tag // A bank's own remarks, wherever they stand.
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
		p.number, p.page = mtNumber(strings.TrimSpace(rest))
	case "34F":
		return p.floorLimit(rest)
	case "60F", "60M":
		return p.opening(rest, tag == "60M")
	case "61":
		if err := p.begin(nil, false); err != nil {
			return err
		}
		p.part, p.entry, p.entryLine = mtEntries, []string{rest}, p.lines.line
		p.size = len(rest)
	case "86":
		if p.info != nil { // Another text of the same entry.
			p.more(rest)
			break
		}
		p.info, p.infoLine = []string{rest}, p.lines.line
		p.size += len(rest)
	case "62F", "62M":
		return p.closing(rest, tag == "62M")
	case "90C", "90D":
		p.part = mtFooter
		return p.checkMoves(rest, tag == "90D")
	}
	return nil
}

// endsMessage tells whether the line is the dash behind a message. Within entries only a bare
// dash is, for lines of text may begin with one.
func (p *mtParser) endsMessage(line string) bool {
	line = strings.TrimRight(line, " ")
	if line == "-" || strings.HasPrefix(line, "-}") {
		return true
	}
	return p.part == mtFooter && strings.HasPrefix(line, "-")
}

// legal tells whether the tag may stand here. A line that looks like a tag but may not is text.
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

// more takes a line that continues the tag before it.
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
	b, bad := mtBalance(rest)
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
	b, err := mtBalance(rest)
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
	if !p.w.warn(p.lines.line, fmt.Sprintf("The %s balance cannot be read: %v.", which, err)) {
		return errStopped
	}
	return nil
}

// floorLimit takes the currency of an interim report from :34F:PLN0.
func (p *mtParser) floorLimit(rest string) error {
	if err := p.begin(nil, false); err != nil {
		return err
	}
	// Only interim reports have a floor limit.
	s := p.w.current()
	s.Kind = Interim
	if s.Currency == "" && len(rest) >= 3 {
		s.Currency = currencyOf(rest[:3])
	}
	return nil
}

// mtBalance reads C110522EUR3236,28.
func mtBalance(text string) (*Balance, error) {
	text = strings.TrimSpace(text)
	if len(text) < 11 || text[0] != 'C' && text[0] != 'D' {
		return nil, fmt.Errorf("%q is not a balance", clip(text))
	}
	b := &Balance{Currency: currencyOf(text[7:10])}
	if allDigits(text[1:7]) {
		b.Date, _ = compactDate("20" + text[1:7])
	}
	if b.Currency == "" {
		return nil, fmt.Errorf("%q has no currency", clip(text))
	}
	n, err := mtAmount(text[10:])
	if err != nil {
		return nil, err
	}
	b.Amount = n
	if text[0] == 'D' {
		b.Amount = n.Neg()
	}
	return b, nil
}

// mtAmount reads an amount of SWIFT: the mark is a comma, the digits behind it are optional, and
// there may be zeros in front. Some banks write a point.
func mtAmount(text string) (money.Decimal, error) {
	a, err := splitAmount(text)
	if err != nil || a.negative {
		return money.Decimal{}, fmt.Errorf("%q is not an amount", clip(text))
	}
	mark := byte(markComma)
	if strings.IndexByte(text, markComma) < 0 {
		mark = markPoint
	}
	return a.read(mark)
}

// flush hands out the entry that was being read, or the text of the whole statement.
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
	if !p.w.first { // The words do not matter before.
		raw = ":61:" + strings.Join(entry, "\n")
		if info != nil {
			raw += "\n:86:" + strings.Join(info, "\n")
		}
	}
	e, warnings, why := readStatementLine(strings.TrimSpace(entry[0]))
	if why != "" {
		if !p.w.refuse(p.entryLine, raw, why) {
			return errStopped
		}
		return nil
	}
	if cut {
		warnings = append(warnings, Warning{WarnTruncated, "A text was too long and was cut."})
	}
	if !p.w.first {
		readInformation(info, &e)
		if len(entry) > 1 {
			readSupplement(entry[1:], &e)
		}
		e.Reference = mtReference(e.Reference)
	}
	p.move(e.Amount)
	return stoppedUnless(p.w.entry(p.entryLine, raw, e, warnings))
}

// mtDate reads six digits, of this century.
func mtDate(digits string) (Date, bool) { return compactDate("20" + digits) }

// two reads two digits.
func two(digits string) int { return int(digits[0]-'0')*10 + int(digits[1]-'0') }

// readSupplement reads what stands below the first line of a :61: and is not :86:: often a text,
// at Rabobank the other side's account, in the standard the amount before its conversion.
func readSupplement(lines []string, e *Entry) {
	text := collapse(strings.Join(lines, ""))
	if _, rest, ok := strings.Cut(text, "/OCMT/"); ok {
		amount, _, _ := strings.Cut(rest, "/")
		setForeign(e, amount)
		return
	}
	if looksLikeIBAN(text) {
		e.Counterparty = first(e.Counterparty, text)
		return
	}
	e.Memo = first(e.Memo, text)
}

// setForeign takes an amount such as USD12,50 with the sign of the entry.
func setForeign(e *Entry, text string) {
	if len(text) < 4 {
		return
	}
	currency := currencyOf(text[:3])
	n, err := mtAmount(text[3:])
	if err != nil || currency == "" {
		return
	}
	if e.Amount.Sign() < 0 {
		n = n.Neg()
	}
	e.Foreign, e.ForeignCurrency = n, currency
}

// looksLikeIBAN tells whether the text is two letters, two digits and 11 to 30 more of either.
func looksLikeIBAN(text string) bool {
	if len(text) < 15 || len(text) > 34 || !allDigits(text[2:4]) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !isDigit(c) && (c < 'A' || c > 'Z') || i < 2 && isDigit(c) {
			return false
		}
	}
	return true
}

// mtReference drops the words that stand where there is no reference.
func mtReference(text string) string {
	switch text {
	case "NONREF", "NOREF", "NOTPROVIDED", "EREF", "MREF", "PREF", "KREF+", "EREF+":
		return ""
	}
	return text
}
