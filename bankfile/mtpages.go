package bankfile

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/swift"
	"github.com/exchequer-dev/exchequer/money"
)

// Long statements of MT940 come in several messages, called pages. The pages have one account and
// one number, as in :28C:7/1 and :28C:7/2. All but the last end with an intermediate balance,
// :62M:, and the next page begins with the same balance, :60M:. They are read as one statement with
// the first and the last of these balances.

// mtPagesMax is the maximum number of statements that wait for their next page. Banks write the
// pages of a statement one after the other.
const mtPagesMax = 1000

// mtPages finds the page that a message continues.
type mtPages struct {
	now   *mtChain            // The message that is being read, or the last one.
	waits map[string]*mtChain // The statements that ended with an intermediate balance.
}

// mtChain is the pages of one statement that were read until now.
type mtChain struct {
	key     string // Account and number.
	at      int    // The statement.
	page    int    // The number of the last page.
	count   int
	opening *Balance      // Of the last page.
	before  money.Decimal // The sum of the entries before the last page.
	closing *Balance      // Of the last page.
	told    bool          // The last page was compared with its balances.
}

// chained reports whether the current page continues another one.
func (p *mtPages) chained() bool { return p.now != nil && p.now.count > 1 }

// before returns the pages that a page continues, or nil. A page that begins with a final balance
// continues only the previous message, and only with a higher number.
func (p *mtPages) before(key string, page int, intermediate bool) *mtChain {
	if c := p.waits[key]; c != nil && (intermediate || page > c.page) {
		return c
	}
	if c := p.now; c != nil && c.key == key && c.page > 0 && page > c.page {
		return c
	}
	return nil
}

// begin starts the statement of the message or continues the statement of an earlier page, once per
// message. Opening is nil if the message has no opening balance.
func (p *mtParser) begin(opening *Balance, intermediate bool) error {
	if p.begun {
		return nil
	}
	p.begun = true
	key := cells.ClipTo(p.account, NameMax) + "\x00" + cells.ClipTo(p.number, NameMax)
	chain := p.pages.before(key, p.page, intermediate)
	if chain == nil {
		_, err := p.w.begin(Statement{
			Kind: Final, Account: p.account, ID: p.number, Line: p.lines.Line,
		})
		if err != nil {
			return err
		}
		p.pages.now = &mtChain{key: strings.Clone(key), at: p.w.at, page: p.page, count: 1,
			opening: opening}
		if intermediate {
			return p.warn("The statement %s begins with an intermediate balance: the previous "+
				"page is missing.", cells.Clip(p.number))
		}
		return nil
	}
	last := *chain
	p.w.resume(chain.at)
	p.waitFor(chain, false)
	chain.page, chain.opening, chain.closing = max(chain.page, p.page), opening, nil
	chain.count++
	if !p.w.first {
		chain.before = p.w.totals[chain.at].Sum
	}
	p.pages.now = chain
	return p.tellGap(&last, opening)
}

// tellGap warns if a page does not continue the last one.
func (p *mtParser) tellGap(last *mtChain, opening *Balance) error {
	missing := ""
	switch {
	case last.page > 0 && p.page > last.page+2:
		missing = fmt.Sprintf("the pages %d to %d are missing", last.page+1, p.page-1)
	case last.page > 0 && p.page == last.page+2:
		missing = fmt.Sprintf("the page %d is missing", last.page+1)
	}
	gap := opening != nil && last.closing != nil && opening.Amount != last.closing.Amount
	switch {
	case gap && missing != "":
		return p.warn("In the statement %s %s: a page begins with %s, and the previous one ended "+
			"with %s.", cells.Clip(p.number), missing, opening.Amount, last.closing.Amount)
	case gap:
		return p.warn("A page of the statement %s begins with %s, but the previous one ended with "+
			"%s: a page may be missing.", cells.Clip(p.number), opening.Amount, last.closing.Amount)
	case missing != "":
		return p.warn("In the statement %s %s.", cells.Clip(p.number), missing)
	}
	return nil
}

// closePage sets the closing balance of a page and compares it with its entries. A statement of one
// message is only compared as a whole.
func (p *mtParser) closePage(closing *Balance, intermediate bool) error {
	c := p.pages.now
	c.closing, c.told = closing, false
	p.waitFor(c, intermediate)
	if p.w.first || c.opening == nil || c.count == 1 && !intermediate ||
		c.opening.Currency != closing.Currency {
		return nil
	}
	entries, err1 := p.w.totals[c.at].Sum.Sub(c.before)
	want, err2 := c.opening.Amount.Add(entries)
	if err1 != nil || err2 != nil || want == closing.Amount {
		return nil
	}
	c.told = true
	return p.warn("A page of the statement %s begins with %s, and its entries of %s make %s, but "+
		"it ends with %s.", cells.Clip(p.number), c.opening.Amount, entries, want, closing.Amount)
}

// waitFor sets whether another page of the statement must come.
func (p *mtParser) waitFor(c *mtChain, wait bool) {
	if !wait {
		delete(p.pages.waits, c.key)
		delete(p.w.waits, c.at)
		return
	}
	if len(p.pages.waits) >= mtPagesMax {
		return
	}
	if p.pages.waits == nil {
		p.pages.waits, p.w.waits = make(map[string]*mtChain), make(map[int]bool)
	}
	p.pages.waits[c.key], p.w.waits[c.at] = c, true
}

// endPages ends the statements that still wait for a page, in their order.
func (p *mtParser) endPages() error {
	if p.w.first || p.w.stopped {
		return nil
	}
	p.w.finish()
	byStatement := make(map[int]*mtChain, len(p.pages.waits))
	for _, c := range p.pages.waits {
		byStatement[c.at] = c
	}
	for at := range p.w.totals {
		c := byStatement[at]
		if c == nil {
			continue
		}
		p.w.at = at
		p.waitFor(c, false)
		number := p.w.known().ID
		err := p.warn("The statement %s ends with an intermediate balance: the next page is "+
			"missing.", cells.Clip(number))
		if err != nil {
			return err
		}
		// A warning about a single page was already sent.
		if c.told && c.count == 1 {
			p.w.totals[at].Checked = true
		}
		p.w.finish()
	}
	return nil
}

// warn sends a warning about a page.
func (p *mtParser) warn(format string, args ...any) error {
	return stoppedUnless(p.w.warn(p.lines.Line, fmt.Sprintf(format, args...)))
}

// mtMoves counts the entries of a message on one side.
type mtMoves struct {
	count int
	sum   money.Decimal
	over  bool // The sum has too many digits.
}

// move counts an entry.
func (p *mtParser) move(amount money.Decimal) {
	m := &p.moves[0]
	if amount.Sign() < 0 {
		m, amount = &p.moves[1], amount.Neg()
	}
	sum, err := m.sum.Add(amount)
	m.count, m.over = m.count+1, m.over || err != nil
	m.sum = sum
}

// checkMoves compares :90D:2PLN100,00 with the debits of the message, or :90C: with its credits.
// Interim reports have these in place of balances.
func (p *mtParser) checkMoves(text string, debits bool) error {
	m, side := p.moves[0], "credits"
	if debits {
		m, side = p.moves[1], "debits"
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits == 0 || digits > 5 || len(text) < digits+4 || m.over {
		return nil // The line is invalid or cannot be compared.
	}
	count := 0
	for i := range digits {
		count = count*10 + int(text[i]-'0')
	}
	sum, err := swift.ReadAmount(text[digits+3:])
	if err != nil || count == m.count && sum == m.sum {
		return nil
	}
	return p.warn("The bank counts %d %s of %s, but there are %d of %s.", count, side, sum,
		m.count, m.sum)
}
