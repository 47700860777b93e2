package journal

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// hledger writes a journal of hledger ("hledger manual", Journal).
type hledger struct{ w *bufio.Writer }

// hledgerNames are characters that end an account's name, divide it, or begin a comment.
var hledgerNames = strings.NewReplacer(":", "-", ";", ",", "(", "-", ")", "-", "[", "-", "]", "-",
	"*", "-", "!", "-", "|", "-", "\"", "'", "=", "-", "@", "-", "{", "-", "}", "-", "#", "-")

// hledgerTexts are characters that begin a comment, divide payee and note, or are read as a code.
var hledgerTexts = strings.NewReplacer(";", ",", "|", "/", "(", "[", ")", "]")

// hledgerComments are characters that would make a tag or a date of what a person typed.
var hledgerComments = strings.NewReplacer(":", " ", "[", "(", "]", ")")

func (h *hledger) name(text string) string {
	name := strings.Trim(oneLine(hledgerNames.Replace(text)), "- ")
	if name == "" {
		return "x"
	}
	return name
}

func (h *hledger) join(r root, name string) string {
	return [...]string{"assets", "expenses", "income", "equity"}[r] + ":" + name
}

func (h *hledger) header(title string, _ []money.Currency) error {
	_, err := fmt.Fprintf(h.w, "; %s\n", oneLine(title))
	return err
}

func (h *hledger) open(_ book.Date, account string) error {
	_, err := fmt.Fprintf(h.w, "\naccount %s", account)
	return err
}

// commodity returns how many digits there are; the point shows that it is no comma.
func (h *hledger) commodity(c money.Currency) error {
	sample := money.DecimalFromInt(1000).Text(c.Digits())
	if c.Digits() == 0 {
		sample += "."
	}
	_, err := fmt.Fprintf(h.w, "\ncommodity %s %s", sample, hledgerCommodity(c))
	return err
}

func (h *hledger) entry(e *journalEntry) error {
	flag := "*"
	if e.pending {
		flag = "!"
	}
	text := hledgerTexts.Replace(oneLine(e.payee))
	if note := hledgerTexts.Replace(oneLine(e.narration)); text == "" {
		text = note
	} else if note != "" {
		text += " | " + note
	}
	fmt.Fprintf(h.w, "\n\n%s %s %s", e.date, flag, text)
	tag := func(name, value string) {
		fmt.Fprintf(h.w, "\n    ; %s: %s", name,
			hledgerComments.Replace(strings.ReplaceAll(oneLine(value), ",", " ")))
	}
	for _, m := range e.meta {
		tag(m[0], m[1])
	}
	for _, t := range e.tags {
		tag("tag", t)
	}
	for line := range strings.Lines(e.notes) {
		fmt.Fprintf(h.w, "\n    ; %s", hledgerComments.Replace(oneLine(line)))
	}
	for _, p := range e.postings {
		fmt.Fprintf(h.w, "\n    %s  %s %s", p.account, p.amount.Text(p.currency.Digits()),
			hledgerCommodity(p.currency))
		if p.notes != "" {
			fmt.Fprintf(h.w, "  ; %s", hledgerComments.Replace(oneLine(p.notes)))
		}
	}
	return nil
}

func (h *hledger) flush() error { return h.w.WriteByte('\n') }

// hledgerCommodity puts names in quotes that are not letters alone.
func hledgerCommodity(c money.Currency) string {
	if c.Known() || c.Retired() {
		return string(c)
	}
	return `"` + strings.NewReplacer(`"`, "", ";", "", "\n", "").Replace(oneLine(string(c))) + `"`
}
