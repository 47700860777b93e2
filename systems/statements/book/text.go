package book

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// Limits of a transaction.
const (
	// NameMax bounds names of accounts, tags, rules and merchants, in bytes.
	NameMax = 200
	// TextMax bounds what is kept of the bank's own text of a row, in bytes.
	TextMax = 2 << 10
	// SplitsMax is into how many parts a transaction may be divided.
	SplitsMax = 50
)

// textJoint separates the name and the memo in Transaction.Text.
const textJoint = " / "

// typedPayeeMax bounds Entry.Payee in bytes: enough to distinguish two shops, and short, since
// every row has one.
const typedPayeeMax = 40

// What banks add to a name that is certainly not part of it: a masked card number, and a whole date
// at the end. Anything less certain stays, since "7/11" is a shop and "Bar 1234" may be one.
var (
	maskedCard = regexp.MustCompile(
		`(?i)(^|\s)(\d{4,6}[- ]?)?([*x]{4,12}[- ]?){1,4}\d{3,4}(\s|$)`)
	dateAtEnd = regexp.MustCompile(
		`\s(\d{1,2}[/.-]\d{1,2}[/.-]\d{4}|\d{4}-\d{2}-\d{2})([ T]\d{1,2}:\d{2}(:\d{2})?)?$`)
)

// MerchantOf makes a readable merchant of what a bank wrote: the name of the other side, else the
// memo, without what is certainly no part of it. It has at most NameMax bytes.
func MerchantOf(e *bankfile.Entry) string {
	if name := merchantName(e.Name); name != "" {
		return name
	}
	return merchantName(e.Memo)
}

// TextOf joins what a bank wrote about a row: the name, and the memo where it has more. It has at
// most TextMax bytes, and MerchantOfText finds the merchant in it again.
func TextOf(e *bankfile.Entry) string {
	name, memo := PlainLine(e.Name), PlainLine(e.Memo)
	switch {
	case name == "":
		name = memo
	case memo != "" && !strings.Contains(name, memo):
		name += textJoint + memo
	}
	return Cut(name, TextMax)
}

// MerchantOfText is MerchantOf for a row that is stored already.
func MerchantOfText(text string) string {
	name, _, _ := strings.Cut(text, textJoint)
	return merchantName(name)
}

func merchantName(text string) string {
	text = PlainLine(text)
	name := PlainLine(dateAtEnd.ReplaceAllString(maskedCard.ReplaceAllString(text, " "), ""))
	if name == "" {
		name = text // A row is better known by its card number than by nothing.
	}
	return Cut(name, NameMax)
}

// ShortPayee shortens a name to what entries remember of it.
func ShortPayee(name string) string {
	return strings.TrimSpace(Cut(strings.ToLower(PlainLine(name)), typedPayeeMax))
}

// PlainLine makes one line of a text: valid, without control characters and doubled blanks.
func PlainLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// Cut shortens a text to a count of bytes without cutting a character in two.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// ClipText cuts a text to some bytes without breaking a character, and makes characters that have
// no place on a line blanks.
func ClipText(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most])
}

// IsControl reports whether a character is one of ASCII that controls something.
func IsControl(r rune) bool { return r < ' ' || r == 0x7f }
