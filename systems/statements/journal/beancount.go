package journal

import (
	"bufio"
	"fmt"
	"strings"
	"unicode"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// beancount writes the language of Beancount, versions 2 and 3 ("Beancount Language Syntax").
type beancount struct{ w *bufio.Writer }

// beancountTagMax bounds a tag, and commodityMax the name of a commodity, which has 24 characters
// at most.
const (
	beancountTagMax = 60
	commodityMax    = 24
)

// name keeps letters and digits and joins them with dashes. A part of an account's name begins with
// a capital letter or a digit.
func (b *beancount) name(text string) string {
	name := dashed(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	first := []rune(name)
	if len(first) == 0 {
		return "X"
	}
	if up := unicode.ToUpper(first[0]); unicode.IsUpper(up) || unicode.IsDigit(up) {
		first[0] = up
		return string(first)
	}
	return "X" + name
}

// dashed keeps some characters and makes a dash of all between them.
func dashed(text string, keep func(r rune) bool) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !keep(r) }), "-")
}

func (b *beancount) join(r root, name string) string {
	return [...]string{"Assets", "Expenses", "Income", "Equity"}[r] + ":" + name
}

func (b *beancount) header(title string, currencies []money.Currency) error {
	fmt.Fprintf(b.w, "option \"title\" %s\n", quoted(title))
	for _, c := range currencies {
		fmt.Fprintf(b.w, "option \"operating_currency\" %s\n", quoted(beancountCommodity(c)))
	}
	return nil
}

// beancountDate reports whether a day is one that its lexer reads.
func beancountDate(d book.Date) bool { return d >= "1700-01-01" && d <= "2099-12-31" }

func (b *beancount) open(on book.Date, account string) error {
	_, err := fmt.Fprintf(b.w, "\n%s open %s", on, account)
	return err
}

func (b *beancount) commodity(money.Currency) error { return nil }

func (b *beancount) entry(e *journalEntry) error {
	flag := "*"
	if e.pending {
		flag = "!"
	}
	payee, narration := oneLine(e.payee), oneLine(e.narration)
	if payee == "" {
		payee, narration = narration, ""
	}
	fmt.Fprintf(b.w, "\n\n%s %s %s %s", e.date, flag, quoted(payee), quoted(narration))
	for _, tag := range e.tags {
		if name := beancountTag(tag); name != "" {
			fmt.Fprintf(b.w, " #%s", name)
		}
	}
	seen := map[string]int{}
	meta := func(name, value string) {
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, seen[name])
		}
		fmt.Fprintf(b.w, "\n  %s: %s", name, quoted(oneLine(value)))
	}
	for _, m := range e.meta {
		meta(m[0], m[1])
	}
	if len(e.tags) > 0 {
		meta("tags", strings.Join(e.tags, ", "))
	}
	for line := range strings.Lines(e.notes) {
		meta("notes", line)
	}
	for _, p := range e.postings {
		fmt.Fprintf(b.w, "\n  %s  %s %s", p.account, p.amount.Text(p.currency.Digits()),
			beancountCommodity(p.currency))
		if p.notes != "" {
			fmt.Fprintf(b.w, "\n    notes: %s", quoted(oneLine(p.notes)))
		}
	}
	return nil
}

func (b *beancount) flush() error { return b.w.WriteByte('\n') }

// quoted writes a text of one line in quotes.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// beancountTag keeps the characters that a tag may have; the metadata has the text as it is.
func beancountTag(text string) string {
	name := dashed(text, func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
	})
	return name[:min(len(name), beancountTagMax)]
}

// beancountCommodity makes a name of 2 to 24 capital letters of a currency. Those of ISO 4217 stay
// as they are.
func beancountCommodity(c money.Currency) string {
	if c.Known() || c.Retired() {
		return string(c)
	}
	name := "X" + dashed(strings.ToUpper(string(c)), func(r rune) bool {
		return r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}) + "X"
	return name[:min(len(name), commodityMax-1)]
}
