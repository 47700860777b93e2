package swift

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/money"
)

// Note is what the free texts of an entry contain: :86: and the lines after the first of a :61:.
type Note struct {
	Name, Memo, Counterparty, Reference, Category string
	// Foreign is the amount before it was converted, without a sign. It is set if ForeignCurrency
	// is.
	Foreign         money.Decimal
	ForeignCurrency money.Currency
}

// ReadInformation reads a :86: according to its beginning: a code with subfields, codes between
// slashes, or free text.
func (n *Note) ReadInformation(body []string) {
	joined := strings.Join(body, "")
	switch {
	case len(joined) > 5 && cells.AllDigits(joined[:3]) && isSeparator(joined[3]) &&
		cells.AllDigits(joined[4:6]):
		n.readSubfields(joined[3:], joined[3])
	case strings.HasPrefix(joined, "/") && slashCode(joined) != "":
		n.readSlashCodes(joinWrapped(body))
	default:
		n.Memo = joinText(body)
		if keywordAt(joined) != "" {
			n.ReadKeywords(joined)
		}
	}
}

// isSeparator reports whether a byte may begin a subfield. Bytes of amounts, dates and times may
// not, because free text may begin with one of those.
func isSeparator(c byte) bool {
	return c < 0x80 && !cells.IsDigit(c) && !unicode.IsLetter(rune(c)) &&
		!strings.ContainsRune(" /-.,:", rune(c))
}

// readSubfields reads ?00…?63, the German form. The lines are joined before, because banks break
// them even within a code.
func (n *Note) readSubfields(text string, sep byte) {
	var purpose, name strings.Builder
	var account string
	for len(text) >= 3 {
		code := text[1:3]
		text = text[3:]
		end := nextSubfield(text, sep)
		value := text[:end]
		text = text[end:]
		switch {
		case code == "00":
			n.Category = strings.TrimSpace(value)
		case code >= "20" && code <= "29" || code >= "60" && code <= "63":
			purpose.WriteString(value)
		case code == "31":
			account = strings.TrimSpace(value)
		case code == "32" || code == "33":
			name.WriteString(value)
		}
	}
	n.Name = cells.Collapse(name.String())
	n.Counterparty = account
	memo := purpose.String()
	if !n.ReadKeywords(memo) {
		n.Memo = cells.Collapse(memo)
	}
}

func nextSubfield(text string, sep byte) int {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == sep && cells.IsDigit(text[i+1]) && cells.IsDigit(text[i+2]) {
			return i
		}
	}
	return len(text)
}

// sepaKeywords are the words that mark the parts of SEPA texts, as in EREF+…SVWZ+….
var sepaKeywords = []string{
	"EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+",
	"COAM+", "OAMT+", "PURP+", "MTLG:",
}

// HasKeywords reports whether a text begins with a keyword of SEPA.
func HasKeywords(text string) bool { return keywordAt(text) != "" }

// keywordAt returns the keyword that a text begins with, or "".
func keywordAt(text string) string {
	// All have their mark after three or four letters.
	if len(text) < 4 || text[3] != '+' && (len(text) < 5 || text[4] != '+' && text[4] != ':') {
		return ""
	}
	for _, k := range sepaKeywords {
		if strings.HasPrefix(text, k) {
			return k
		}
	}
	return ""
}

// ReadKeywords sets the fields of a SEPA text. It returns false for other texts.
func (n *Note) ReadKeywords(text string) bool {
	type part struct {
		word       string
		start, end int
	}
	var parts []part
	for i := 0; i < len(text); i++ {
		if k := keywordAt(text[i:]); k != "" {
			if n := len(parts); n > 0 {
				parts[n-1].end = i
			}
			parts = append(parts, part{k, i + len(k), len(text)})
			i += len(k) - 1
		}
	}
	if len(parts) == 0 {
		return false
	}
	memo := ""
	for _, p := range parts {
		value := cells.Collapse(text[p.start:p.end])
		switch p.word {
		case "SVWZ+":
			memo = value
		case "MTLG:":
			memo = cmp.Or(memo, value)
		case "EREF+", "KREF+":
			if value != "" && value != "NOTPROVIDED" {
				n.Reference = cmp.Or(Reference(n.Reference), value)
			}
		case "IBAN+":
			n.Counterparty = cmp.Or(n.Counterparty, value)
		case "ABWA+", "ABWE+":
			n.Name = cmp.Or(n.Name, value)
		}
	}
	if memo == "" {
		memo = cells.Collapse(text)
	}
	n.Memo = memo
	return true
}

// slashCodes are the codes of the form /EREF/…/REMI/…. Other words between slashes are text.
var slashCodes = []string{
	"EREF", "BENM", "ORDP", "NAME", "REMI", "IBAN", "BIC", "ISDT", "TRTP", "CNTP", "MARF", "CSID",
	"PREF", "TRCD", "PURP", "ULTD", "ULTC", "ULTB", "RTRN", "SVCL", "ADDR", "ID", "EXCH", "CHGS",
}

func slashCode(text string) string {
	for _, c := range slashCodes {
		if len(text) > len(c)+1 && text[1:1+len(c)] == c && text[1+len(c)] == '/' {
			return c
		}
	}
	return ""
}

// readSlashCodes reads /BENM//NAME/JOHN DOE/REMI/Reference.
func (n *Note) readSlashCodes(text string) {
	for len(text) > 0 {
		code := slashCode(text)
		if code == "" {
			break
		}
		text = text[len(code)+2:]
		end := len(text)
		for i := range len(text) {
			if text[i] == '/' && slashCode(text[i:]) != "" {
				end = i
				break
			}
		}
		value := cells.Collapse(text[:end])
		text = text[end:]
		switch code {
		case "NAME":
			n.Name = cmp.Or(n.Name, value)
		case "REMI":
			n.Memo = cmp.Or(n.Memo, strings.TrimPrefix(value, "USTD//"))
		case "EREF":
			if value != "NOTPROVIDED" && (n.Reference == "" || n.Reference == "EREF") {
				n.Reference = value
			}
		case "IBAN":
			n.Counterparty = cmp.Or(n.Counterparty, value)
		case "CNTP":
			parts := strings.Split(value, "/")
			n.Counterparty = cmp.Or(n.Counterparty, parts[0])
			if len(parts) > 2 {
				n.Name = cmp.Or(n.Name, parts[2])
			}
		case "TRTP":
			n.Category = value
		}
	}
}

// wrapWidth is the length from which a line was probably wrapped; a shorter line was ended by the
// bank.
const wrapWidth = 60

// joinWrapped joins wrapped lines directly and other lines with a blank.
func joinWrapped(body []string) string {
	var b strings.Builder
	for i, line := range body {
		if i > 0 && len(body[i-1]) < wrapWidth {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// joinText joins lines of free text.
func joinText(body []string) string { return cells.Collapse(strings.Join(body, " ")) }

// ReadSupplement reads the lines between the first line of a :61: and :86:. They are usually a
// text, at Rabobank the account number of the other side, and in the standard the amount before
// conversion.
func (n *Note) ReadSupplement(lines []string) {
	text := cells.Collapse(strings.Join(lines, ""))
	if _, rest, ok := strings.Cut(text, "/OCMT/"); ok {
		amount, _, _ := strings.Cut(rest, "/")
		n.Foreign, n.ForeignCurrency = readForeign(amount)
		return
	}
	if looksLikeIBAN(text) {
		n.Counterparty = cmp.Or(n.Counterparty, text)
		return
	}
	n.Memo = cmp.Or(n.Memo, text)
}

// readForeign reads an amount such as USD12,50. It returns no currency for other texts.
func readForeign(text string) (money.Decimal, money.Currency) {
	if len(text) < 4 {
		return money.Decimal{}, ""
	}
	n, err := ReadAmount(text[3:])
	if err != nil {
		return money.Decimal{}, ""
	}
	return n, cells.CurrencyOf(text[:3])
}

// looksLikeIBAN reports whether the text is two letters, two digits and 11 to 30 more of either.
func looksLikeIBAN(text string) bool {
	if len(text) < 15 || len(text) > 34 || !cells.AllDigits(text[2:4]) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !cells.IsDigit(c) && (c < 'A' || c > 'Z') || i < 2 && cells.IsDigit(c) {
			return false
		}
	}
	return true
}

// Reference returns a reference, or "" for the words that mean that there is none.
func Reference(text string) string {
	switch text {
	case "NONREF", "NOREF", "NOTPROVIDED", "EREF", "MREF", "PREF", "KREF+", "EREF+":
		return ""
	}
	return text
}
