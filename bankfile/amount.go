package bankfile

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/money"
)

// The marks that part whole units from cents. A file has one of them; see marks.
const (
	markPoint = '.'
	markComma = ','
)

// evidence is what one amount says about the decimal mark of its file.
type evidence uint8

const (
	saysNothing   evidence = iota // No mark at all.
	saysPoint                     // The point parts the cents.
	saysComma                     // The comma does.
	saysEither                    // 1.234 or 1,234: a group of thousands or three decimals.
	saysBothMarks                 // Never for a single cell: two cells contradict each other.
)

// amountText is an amount as it was written, taken apart but not yet read: which of its marks is
// the decimal one is the file's to say.
type amountText struct {
	digits   string // ASCII digits with the marks . and , in their places.
	negative bool
	grouped  bool // Blanks or apostrophes stand between its digits.
	side     int  // -1 for a word such as DR beside it, 1 for one such as CR.
	currency string
}

var (
	errNoAmount  = errors.New("no amount")
	errNotAmount = errors.New("not an amount")
	errMarks     = errors.New("the marks of this amount cannot be read in one way")
)

// splitAmount takes a cell apart. It understands signs before and after, doubled signs,
// parentheses, currency codes and symbols, words such as DR, blanks and apostrophes between
// thousands, and a dash in place of cents.
func splitAmount(cell string) (amountText, error) {
	var a amountText
	text := trimBlanks(cell)
	if text == "" {
		return a, errNoAmount
	}
	if plainAmount(text) {
		if text[0] == '-' {
			a.negative, text = true, text[1:]
		}
		a.digits = text
		return a, nil
	}
	s := amountScanner{out: make([]byte, 0, len(text))}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		n, ok := s.take(r, text[i:])
		if !ok {
			return a, errNotAmount
		}
		i += max(n, size)
	}
	if s.open || !s.any || looksLikeDigit(s.currency) {
		return a, errNotAmount
	}
	a.digits, a.negative, a.grouped = string(s.out), s.negative, s.grouped
	a.currency, a.side = s.currency, s.side
	return a, nil
}

// looksLikeDigit reports whether a word beside an amount has only letters that are taken for
// digits: 7,5O is no seven and a half. Other words may be money: banks write kr, lei and BTC.
func looksLikeDigit(word string) bool {
	return word != "" && strings.Trim(word, "OolIi") == ""
}

// plainAmount tells whether the text is digits with at most one mark and a sign before them,
// which nearly all amounts of machine-made files are.
func plainAmount(text string) bool {
	marks, digits := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == markPoint || c == markComma:
			marks++
		case c == '-' && i == 0:
		default:
			return false
		}
	}
	return digits > 0 && marks <= 1
}

// amountScanner reads an amount rune by rune.
type amountScanner struct {
	out      []byte
	any      bool // A digit was seen.
	ended    bool // Something after the digits was seen: no digit may follow.
	gap      bool // A blank or an apostrophe was the last thing seen after a digit.
	open     bool // A parenthesis is open.
	negative bool
	grouped  bool
	side     int    // -1 after a word such as DR, 1 after one such as CR.
	currency string // The other word before or behind the digits.
}

// take reads the rune r that rest begins with. It returns how many bytes it took, or 0 for the
// rune alone.
func (s *amountScanner) take(r rune, rest string) (int, bool) {
	switch {
	case r >= '0' && r <= '9':
		if s.ended {
			return 0, false
		}
		if s.gap {
			s.gap, s.grouped = false, true
		}
		s.any = true
		s.out = append(s.out, byte(r))
	case r == markPoint || r == markComma:
		if s.ended || s.gap {
			return 0, false
		}
		s.out = append(s.out, byte(r))
	case isBlank(r) || r == '\'' || r == '’':
		s.gap = s.any && !s.ended
	case isMinus(r):
		return 0, s.minus()
	case r == '+':
		s.ended = s.any
	case r == '(':
		if s.any || s.open {
			return 0, false
		}
		s.open, s.negative = true, !s.negative
	case r == ')':
		if !s.open {
			return 0, false
		}
		s.open, s.ended = false, true
	case unicode.IsLetter(r) || unicode.Is(unicode.Sc, r):
		return s.word(rest)
	default:
		return 0, false
	}
	return 0, true
}

// minus turns the sign, unless the dash stands for cents, as in 1.000,- or 5.--.
func (s *amountScanner) minus() bool {
	if s.any && len(s.out) > 0 && !isDigit(s.out[len(s.out)-1]) {
		s.ended = true
		return true
	}
	s.negative = !s.negative
	s.ended = s.any
	return true
}

// currencyWordMax is the greatest length in bytes of a currency's code or sign, such as NZ$.
const currencyWordMax = 8

// pointedWords are abbreviations of currencies that are written with a point, folded.
var pointedWords = []string{
	"cr", "dr", "db", "rs", "kr", "fr", "sfr", "re", "tk", "din", "dh", "dhs", "bs", "kc", "zl",
	"ft", "pts",
	"ptas", "руб", "р", "грн", "лв", "esc", "dkr", "skr", "nkr", "ikr",
}

// word takes a currency's code or sign, or what says debit or credit. There may be one of each,
// before the digits or behind them.
func (s *amountScanner) word(rest string) (int, bool) {
	end := len(rest)
	for i, r := range rest {
		if !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) {
			end = i
			break
		}
	}
	word := rest[:end]
	if len(word) > currencyWordMax {
		return 0, false
	}
	// Rs. and kr. carry a point of their own; behind a sign or a code it is the decimal mark.
	if end < len(rest) && rest[end] == '.' && !s.any && len(s.out) == 0 &&
		slices.Contains(pointedWords, fold(word)) {
		end++
	}
	s.ended = s.any
	again := s.currency != ""
	switch strings.ToUpper(word) {
	case "C", "CR":
		s.side, again = 1, s.side != 0
	case "D", "DR", "DB":
		s.side, again, s.negative = -1, s.side != 0, !s.negative
	default:
		s.currency = word
	}
	return end, !again
}

// evidence says what the amount tells about its file's decimal mark.
func (a amountText) evidence() evidence {
	point, comma := strings.Count(a.digits, "."), strings.Count(a.digits, ",")
	switch {
	case point == 0 && comma == 0:
		return saysNothing
	case point > 0 && comma > 0:
		if strings.LastIndexByte(a.digits, '.') > strings.LastIndexByte(a.digits, ',') {
			return saysPoint
		}
		return saysComma
	case point > 1:
		return saysComma
	case comma > 1:
		return saysPoint
	}
	at := strings.IndexAny(a.digits, ".,")
	says := saysPoint
	if comma == 1 {
		says = saysComma
	}
	// A head of thousands has one to three digits and does not begin with 0.
	head := a.digits[:at]
	if len(a.digits)-at-1 != 3 || at == 0 || at > 3 || head[0] == '0' || a.grouped {
		return says
	}
	return saysEither
}

// read returns the number, by the decimal mark of its file. With no mark known, the amount alone
// must decide.
func (a amountText) read(decimal byte) (money.Decimal, error) {
	if decimal == 0 {
		switch a.evidence() {
		case saysPoint, saysNothing:
			decimal = markPoint
		case saysComma:
			decimal = markComma
		default:
			return money.Decimal{}, errMarks
		}
	}
	plain := a.digits
	if decimal == markComma || strings.IndexByte(plain, ',') >= 0 {
		whole, cents, _ := strings.Cut(plain, string(rune(decimal)))
		if strings.ContainsAny(cents, ".,") {
			return money.Decimal{}, errMarks
		}
		joined, ok := joinGroups(whole)
		if !ok {
			return money.Decimal{}, errMarks
		}
		plain = joined + "." + cents
	} else if strings.Count(plain, ".") > 1 {
		return money.Decimal{}, errMarks
	}
	if a.negative {
		plain = "-" + plain
	}
	d, err := money.ParseDecimal(plain)
	if err != nil {
		var limit *money.LimitError
		if errors.As(err, &limit) {
			return money.Decimal{}, errors.New("more digits than an amount may have")
		}
		return money.Decimal{}, errNotAmount
	}
	return d, nil
}

// joinGroups removes the marks between groups of digits. Groups have three digits, or two as in
// India, where only the last has three; anything else was not written as thousands.
func joinGroups(whole string) (string, bool) {
	if !strings.ContainsAny(whole, ".,") {
		return whole, true
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r == '.' || r == ',' })
	if strings.Count(whole, ".") > 0 && strings.Count(whole, ",") > 0 || len(groups) == 0 {
		return "", false
	}
	if len(groups)-1 != strings.Count(whole, ".")+strings.Count(whole, ",") {
		return "", false
	}
	for i, g := range groups {
		last := i == len(groups)-1
		if i == 0 && len(g) > 3 || last && len(g) != 3 || i > 0 && !last && len(g)&^1 != 2 {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// marks gathers the evidence of all amounts of a file.
type marks struct {
	point, comma, either bool
	first                amountText // The first amount that may be read in two ways.
	example              cellAt     // That amount as it is shown.
	// Short and long are how many amounts have no mark, and fewer or more than four digits.
	short, long int
}

func (m *marks) add(a amountText, cell string, line int) {
	switch a.evidence() {
	case saysNothing:
		switch n := len(a.digits); {
		case n > 3:
			m.long++
		case n > 0 && strings.Trim(a.digits, "0") != "":
			m.short++
		}
	case saysPoint:
		m.point = true
	case saysComma:
		m.comma = true
	case saysEither:
		if !m.either {
			a.digits, a.currency = strings.Clone(a.digits), strings.Clone(a.currency)
			m.either, m.first = true, a
			m.example = cellAt{Line: line, Text: clip(cell)}
		}
	}
}

// decide returns the decimal mark, or 0 when each amount must speak for itself. It asks only if
// an amount can be read in two ways and no other amount says which.
func (m *marks) decide(currencyDigits int, currencyKnown bool) (mark byte, ask bool) {
	switch {
	case m.point && m.comma:
		return 0, false
	case m.point:
		return markPoint, false
	case m.comma:
		return markComma, false
	case !m.either:
		return 0, false // No amount has a mark, or each speaks for itself.
	case currencyKnown && currencyDigits == 0,
		currencyKnown && currencyDigits < 3 && m.short > 0 && m.long == 0:
		// Without cents, a mark can only separate thousands; the other one is the decimal mark.
		// A bank that writes "240" and "12,297" writes no cents.
		if strings.IndexByte(m.first.digits, ',') >= 0 {
			return markPoint, false
		}
		return markComma, false
	}
	return 0, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isMinus(r rune) bool {
	return r == '-' || r == '−' || r == '–' || r == '‐' || r == '‑' || r == '﹣' || r == '－'
}

// isDashes tells whether a cell has dashes and nothing else.
func isDashes(cell string) bool {
	return cell != "" && strings.IndexFunc(cell, func(r rune) bool {
		return !isMinus(r) && r != '—'
	}) < 0
}

// isBlank takes in the no-break and thin spaces that stand between thousands.
func isBlank(r rune) bool {
	return r == ' ' || r == '\t' || r == '\r' || r == '\n' || r > 0x7f && unicode.IsSpace(r) ||
		r == '\u202f' || r == '\u2007' || r == '\u200b' || r == '\ufeff'
}

func trimBlanks(text string) string {
	if text == "" || text[0] > ' ' && text[0] < 0x80 &&
		text[len(text)-1] > ' ' && text[len(text)-1] < 0x80 {
		return text
	}
	text = strings.Trim(text, " \t\r\n")
	if text == "" || text[0] < 0x80 && text[len(text)-1] < 0x80 {
		return text
	}
	return strings.TrimFunc(text, isBlank)
}

// exampleMax is how many bytes of a cell are shown in questions, refusals and warnings.
const exampleMax = 80

// clip shortens a text for showing, at a rune's edge.
func clip(text string) string {
	if len(text) <= exampleMax {
		return text
	}
	end := exampleMax
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
