package statements

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile"
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

// merchantOf makes a readable merchant of what a bank wrote: the name of the other side, else the
// memo, without what is certainly no part of it. It has at most NameMax bytes.
func merchantOf(e *bankfile.Entry) string {
	if name := merchantName(e.Name); name != "" {
		return name
	}
	return merchantName(e.Memo)
}

// textOf joins what a bank wrote about a row: the name, and the memo where it has more. It has at
// most TextMax bytes, and merchantOfText finds the merchant in it again.
func textOf(e *bankfile.Entry) string {
	name, memo := plainLine(e.Name), plainLine(e.Memo)
	switch {
	case name == "":
		name = memo
	case memo != "" && !strings.Contains(name, memo):
		name += textJoint + memo
	}
	return cut(name, TextMax)
}

// merchantOfText is merchantOf for a row that is stored already.
func merchantOfText(text string) string {
	name, _, _ := strings.Cut(text, textJoint)
	return merchantName(name)
}

func merchantName(text string) string {
	text = plainLine(text)
	name := plainLine(dateAtEnd.ReplaceAllString(maskedCard.ReplaceAllString(text, " "), ""))
	if name == "" {
		name = text // A row is better known by its card number than by nothing.
	}
	return cut(name, NameMax)
}

// typedPayee shortens a name to what entries remember of it.
func typedPayee(name string) string {
	return strings.TrimSpace(cut(strings.ToLower(plainLine(name)), typedPayeeMax))
}

// plainLine makes one line of a text: valid, without control characters and doubled blanks.
func plainLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// cut shortens a text to a count of bytes without cutting a character in two.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
