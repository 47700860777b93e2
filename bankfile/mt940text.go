package bankfile

import (
	"fmt"
	"strings"
	"unicode"
)

// readStatementLine reads the first line of a :61:, which is
//
//	value date, entry date, mark, third letter of the currency, amount, type, reference//bank's
//
// as in 1105240524D9,N192NONREF. Entry date, letter and bank's reference may be missing.
func readStatementLine(line string) (e Entry, warnings []Warning, why string) {
	if len(line) < 6 || !allDigits(line[:6]) {
		return e, nil, fmt.Sprintf("%q has no value date", clip(line))
	}
	value, valueOK := mtDate(line[:6])
	year := 2000 + two(line[:2])
	rest := line[6:]
	entryDate, hasEntry := Date(""), false
	if len(rest) > 4 && allDigits(rest[:4]) {
		entryDate, hasEntry = nearest(year, value, two(rest[:2]), two(rest[2:]))
		if !hasEntry {
			warnings = append(warnings, Warning{WarnDate, fmt.Sprintf(
				"There is no such entry date as %q; the value date counts.", rest[:4])})
		}
		rest = rest[4:]
	}
	switch {
	case !valueOK && !hasEntry:
		return e, nil, fmt.Sprintf("there is no such date as %q", line[:6])
	case !valueOK:
		warnings = append(warnings, Warning{WarnDate, fmt.Sprintf(
			"There is no such value date as %q; the entry date counts.", line[:6])})
		e.Date = entryDate
	case hasEntry:
		e.Date, e.ValueDate = entryDate, value
	default:
		e.Date, e.ValueDate = value, value
	}
	mark, rest, ok := cutMark(rest)
	if !ok {
		return e, nil, fmt.Sprintf("%q does not say debit or credit", clip(line))
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != ',' && r != '.' && (r < '0' || r > '9')
	})
	if end < 0 {
		end = len(rest)
	}
	amount, err := mtAmount(rest[:end])
	if err != nil {
		return e, nil, "the amount: " + err.Error()
	}
	// A reversed credit takes money out, a reversed debit brings it back.
	if mark == "D" || mark == "RC" || mark == "ED" {
		amount = amount.Neg()
	}
	e.Amount = amount
	e.Reversal = mark[0] == 'R'
	e.Pending = mark[0] == 'E'
	rest = rest[end:]
	if len(rest) >= 4 {
		e.Category, rest = rest[:4], rest[4:]
	} else {
		e.Category, rest = rest, ""
	}
	reference, bank, _ := strings.Cut(rest, "//")
	if reference = strings.TrimSpace(reference); reference != "NONREF" {
		e.Reference = reference
	}
	e.BankID = strings.TrimSpace(bank)
	return e, warnings, ""
}

// cutMark takes the mark of debit or credit, and the letter of the currency behind it.
func cutMark(text string) (mark, rest string, ok bool) {
	for _, m := range []string{"RC", "RD", "EC", "ED", "C", "D"} {
		if strings.HasPrefix(text, m) {
			rest = text[len(m):]
			if rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
				rest = rest[1:]
			}
			return m, rest, rest != ""
		}
	}
	return "", text, false
}

// nearest gives a month and a day the year in which they are nearest to the value date.
func nearest(year int, value Date, month, day int) (Date, bool) {
	best, found := Date(""), false
	bestGap := 0
	for y := year - 1; y <= year+1; y++ {
		d, ok := makeDate(y, month, day)
		if !ok {
			continue
		}
		gap := 0
		if value != "" {
			gap = abs(dayNumber(d) - dayNumber(value))
		} else {
			gap = abs(y - year)
		}
		if !found || gap < bestGap {
			best, bestGap, found = d, gap, true
		}
	}
	return best, found
}

// dayNumber counts days roughly: it serves to compare years, not days.
func dayNumber(d Date) int {
	return (int(d[0]-'0')*1000+int(d[1]-'0')*100+two(string(d[2:4])))*372 +
		two(string(d[5:7]))*31 + two(string(d[8:10]))
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// readInformation reads a :86: by what it begins with: a code with subfields, codes between
// slashes, or free text.
func readInformation(body []string, e *Entry) {
	joined := strings.Join(body, "")
	switch {
	case len(joined) > 5 && allDigits(joined[:3]) && isSeparator(joined[3]) &&
		allDigits(joined[4:6]):
		readSubfields(joined[3:], joined[3], e)
	case strings.HasPrefix(joined, "/") && slashCode(joined) != "":
		readSlashCodes(joinWrapped(body), e)
	default:
		e.Memo = joinText(body)
		if keywordAt(joined) != "" {
			readKeywords(joined, e)
		}
	}
}

// isSeparator tells whether a byte may begin a subfield. What may stand within an amount, a date
// or a time may not: free text may begin with one of those.
func isSeparator(c byte) bool {
	return c < 0x80 && !isDigit(c) && !unicode.IsLetter(rune(c)) && !strings.ContainsRune(" /-.,:",
		rune(c))
}

// readSubfields reads ?00…?63, the German form. The lines are joined already, for banks break
// them even within a code.
func readSubfields(text string, sep byte, e *Entry) {
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
			e.Category = strings.TrimSpace(value)
		case code >= "20" && code <= "29" || code >= "60" && code <= "63":
			purpose.WriteString(value)
		case code == "31":
			account = strings.TrimSpace(value)
		case code == "32" || code == "33":
			name.WriteString(value)
		}
	}
	e.Name = collapse(name.String())
	e.Counterparty = account
	memo := purpose.String()
	if !readKeywords(memo, e) {
		e.Memo = collapse(memo)
	}
}

func nextSubfield(text string, sep byte) int {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == sep && isDigit(text[i+1]) && isDigit(text[i+2]) {
			return i
		}
	}
	return len(text)
}

// sepaKeywords are the words that SEPA texts glue together, as in EREF+…SVWZ+….
var sepaKeywords = []string{
	"EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+",
	"COAM+", "OAMT+", "PURP+", "MTLG:",
}

func keywordAt(text string) string {
	// All have their mark behind three or four letters.
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

// readKeywords splits a SEPA text and takes what it says. It returns false for other texts.
func readKeywords(text string, e *Entry) bool {
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
		value := collapse(text[p.start:p.end])
		switch p.word {
		case "SVWZ+":
			memo = value
		case "MTLG:":
			memo = first(memo, value)
		case "EREF+", "KREF+":
			if value != "" && value != "NOTPROVIDED" {
				e.Reference = first(mtReference(e.Reference), value)
			}
		case "IBAN+":
			e.Counterparty = first(e.Counterparty, value)
		case "ABWA+", "ABWE+":
			e.Name = first(e.Name, value)
		}
	}
	if memo == "" {
		memo = collapse(text)
	}
	e.Memo = memo
	return true
}

// slashCodes are the codes of the form /EREF/…/REMI/…. Others between slashes are text.
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
func readSlashCodes(text string, e *Entry) {
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
		value := collapse(text[:end])
		text = text[end:]
		switch code {
		case "NAME":
			e.Name = first(e.Name, value)
		case "REMI":
			e.Memo = first(e.Memo, strings.TrimPrefix(value, "USTD//"))
		case "EREF":
			if value != "NOTPROVIDED" && (e.Reference == "" || e.Reference == "EREF") {
				e.Reference = value
			}
		case "IBAN":
			e.Counterparty = first(e.Counterparty, value)
		case "CNTP":
			parts := strings.Split(value, "/")
			e.Counterparty = first(e.Counterparty, parts[0])
			if len(parts) > 2 {
				e.Name = first(e.Name, parts[2])
			}
		case "TRTP":
			e.Category = value
		}
	}
}

// wrapWidth is where SWIFT's lines end; a shorter line ended on its own.
const wrapWidth = 60

// joinWrapped joins lines that were cut at their greatest width, and parts others by a blank.
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
func joinText(body []string) string { return collapse(strings.Join(body, " ")) }

// collapse makes every run of blanks one blank, and takes those at the ends away.
func collapse(text string) string {
	blank := true // The beginning counts as one.
	for i := range len(text) {
		c := text[i]
		if c > '~' || c < ' ' || c == ' ' && blank {
			return strings.Join(strings.FieldsFunc(text, isBlank), " ")
		}
		blank = c == ' '
	}
	return strings.TrimSuffix(text, " ")
}
