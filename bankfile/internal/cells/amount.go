package cells

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
	"github.com/exchequer-dev/exchequer/money"
)

// The decimal marks. A file has one of them; see Marks.
const (
	MarkPoint = '.'
	MarkComma = ','
)

// Evidence is what one amount shows about the decimal mark of its file.
type Evidence uint8

// The evidence of one amount.
const (
	NoMark       Evidence = iota // No mark at all.
	PointDecimal                 // The point is the decimal mark.
	CommaDecimal                 // The comma is.
	Ambiguous                    // 1.234 or 1,234: a group of thousands or three decimals.
)

// Amount is an amount as it is written, split into its parts. Its decimal mark is decided by the
// whole file.
type Amount struct {
	Digits   string // ASCII digits and the marks . and ,
	Negative bool
	grouped  bool // Blanks or apostrophes are between its digits.
	Side     int  // -1 for a word such as DR next to it, 1 for one such as CR.
	Currency string
}

// The errors of amounts. Callers add the cell to ErrNotAmount.
var (
	ErrNoAmount  = errors.New("no amount")
	ErrNotAmount = errors.New("not an amount")
	errMarks     = errors.New("the marks of this amount cannot be read in one way")
)

// SplitAmount splits a cell into the parts of an amount. It reads signs before and after the
// digits, doubled signs, parentheses, currency codes and symbols, words such as DR, blanks and
// apostrophes between thousands, and a dash in place of cents.
func SplitAmount(cell string) (Amount, error) {
	var a Amount
	text := TrimBlanks(cell)
	if text == "" {
		return a, ErrNoAmount
	}
	if plainAmount(text) {
		if text[0] == '-' {
			a.Negative, text = true, text[1:]
		}
		a.Digits = text
		return a, nil
	}
	s := amountScanner{out: make([]byte, 0, len(text))}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		n, ok := s.take(r, text[i:])
		if !ok {
			return a, ErrNotAmount
		}
		i += max(n, size)
	}
	if s.open || !s.any || looksLikeDigit(s.currency) {
		return a, ErrNotAmount
	}
	a.Digits, a.Negative, a.grouped = string(s.out), s.negative, s.grouped
	a.Currency, a.Side = s.currency, s.side
	return a, nil
}

// looksLikeDigit reports whether a word next to an amount has only letters that look like digits,
// as in 7,5O. Such a cell is not an amount. Other words can be currencies, because banks write kr,
// lei and BTC.
func looksLikeDigit(word string) bool {
	return word != "" && strings.Trim(word, "OolIi") == ""
}

// plainAmount reports whether the text is digits with at most one mark, and a sign before them.
// Nearly all amounts of files that programs write are, so they are read without amountScanner.
func plainAmount(text string) bool {
	marks, digits := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == MarkPoint || c == MarkComma:
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
	currency string // The other word before or after the digits.
}

// take reads the rune r, which is the first of rest. It returns the number of bytes that it read,
// or 0 for the rune alone.
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
	case r == MarkPoint || r == MarkComma:
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

// minus inverts the sign, unless the dash means no cents, as in 1.000,- or 5.--.
func (s *amountScanner) minus() bool {
	if s.any && len(s.out) > 0 && !IsDigit(s.out[len(s.out)-1]) {
		s.ended = true
		return true
	}
	s.negative = !s.negative
	s.ended = s.any
	return true
}

// currencyWordMax is the maximum length in bytes of a currency's code or sign, such as NZ$.
const currencyWordMax = 8

// pointedWords are abbreviations of currencies that are written with a point, folded.
var pointedWords = []string{
	"cr", "dr", "db", "rs", "kr", "fr", "sfr", "re", "tk", "din", "dh", "dhs", "bs", "kc", "zl",
	"ft", "pts",
	"ptas", "руб", "р", "грн", "лв", "esc", "dkr", "skr", "nkr", "ikr",
}

// word reads a currency's code or sign, or a word for debit or credit. There may be one of each,
// before the digits or after them.
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
	// The point of Rs. and kr. belongs to the word; after a sign or a code it is the decimal mark.
	if end < len(rest) && rest[end] == '.' && !s.any && len(s.out) == 0 &&
		slices.Contains(pointedWords, reading.Fold(word)) {
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

// Evidence returns what the amount shows about its file's decimal mark.
func (a Amount) Evidence() Evidence {
	point, comma := strings.Count(a.Digits, "."), strings.Count(a.Digits, ",")
	switch {
	case point == 0 && comma == 0:
		return NoMark
	case point > 0 && comma > 0:
		if strings.LastIndexByte(a.Digits, '.') > strings.LastIndexByte(a.Digits, ',') {
			return PointDecimal
		}
		return CommaDecimal
	case point > 1:
		return CommaDecimal
	case comma > 1:
		return PointDecimal
	}
	at := strings.IndexAny(a.Digits, ".,")
	says := PointDecimal
	if comma == 1 {
		says = CommaDecimal
	}
	// The first group of thousands has one to three digits and does not begin with 0.
	head := a.Digits[:at]
	if len(a.Digits)-at-1 != 3 || at == 0 || at > 3 || head[0] == '0' || a.grouped {
		return says
	}
	return Ambiguous
}

// Read returns the number for the decimal mark of its file. If decimal is 0, the mark must follow
// from the amount itself.
func (a Amount) Read(decimal byte) (money.Decimal, error) {
	if decimal == 0 {
		switch a.Evidence() {
		case PointDecimal, NoMark:
			decimal = MarkPoint
		case CommaDecimal:
			decimal = MarkComma
		default:
			return money.Decimal{}, errMarks
		}
	}
	plain := a.Digits
	if decimal == MarkComma || strings.IndexByte(plain, ',') >= 0 {
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
	if a.Negative {
		plain = "-" + plain
	}
	d, err := money.ParseDecimal(plain)
	if err != nil {
		var limit *money.LimitError
		if errors.As(err, &limit) {
			return money.Decimal{}, errors.New("more digits than an amount may have")
		}
		return money.Decimal{}, ErrNotAmount
	}
	return d, nil
}

// joinGroups removes the marks between groups of digits. Groups have three digits, or two as in
// India, where only the last has three. It returns false for other groups, because they are not
// thousands.
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

// Marks collects the evidence of all amounts of a file.
type Marks struct {
	Point, Comma, Either bool
	First                Amount // The first ambiguous amount,
	Example              At     // and as it is shown.
	// Short and long count the amounts without a mark: those of up to three digits, and longer
	// ones.
	Short, Long int
}

// Add adds the evidence of an amount.
func (m *Marks) Add(a Amount, cell string, line int) {
	switch a.Evidence() {
	case NoMark:
		switch n := len(a.Digits); {
		case n > 3:
			m.Long++
		case n > 0 && strings.Trim(a.Digits, "0") != "":
			m.Short++
		}
	case PointDecimal:
		m.Point = true
	case CommaDecimal:
		m.Comma = true
	case Ambiguous:
		if !m.Either {
			a.Digits, a.Currency = strings.Clone(a.Digits), strings.Clone(a.Currency)
			m.Either, m.First = true, a
			m.Example = At{Line: line, Text: Clip(cell)}
		}
	}
}

// Decide returns the decimal mark, or 0 if each amount must be read by its own marks. Ask is true
// if an amount is ambiguous and no other amount decides.
func (m *Marks) Decide(currencyDigits int, currencyKnown bool) (mark byte, ask bool) {
	switch {
	case m.Point && m.Comma:
		return 0, false
	case m.Point:
		return MarkPoint, false
	case m.Comma:
		return MarkComma, false
	case !m.Either:
		return 0, false // No amount is ambiguous.
	case currencyKnown && currencyDigits == 0,
		currencyKnown && currencyDigits < 3 && m.Short > 0 && m.Long == 0:
		// Without cents, a mark can only separate thousands, so the other one is the decimal mark.
		// A bank that writes "240" and "12,297" writes no cents.
		if strings.IndexByte(m.First.Digits, ',') >= 0 {
			return MarkPoint, false
		}
		return MarkComma, false
	}
	return 0, true
}

// IsAmount reports whether a cell is an amount.
func IsAmount(cell string) bool {
	a, err := SplitAmount(cell)
	return err == nil && a.Digits != ""
}
