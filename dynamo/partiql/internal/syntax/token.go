package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pos is a position in the text of a statement: the line, the character in the line, both from 1,
// and the length in characters.
type Pos struct{ Line, Column, Length int }

// String formats the position as in the service's messages.
func (p Pos) String() string { return fmt.Sprintf("%d:%d:%d", p.Line, p.Column, p.Length) }

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenName             // an identifier, or a keyword
	tokenQuoted           // an identifier in double quotes, which is not a keyword
	tokenString           // a string in single quotes
	tokenNumber
	tokenSymbol // an operator, a bracket, a comma, a question mark
)

// token is a part of a statement. The text of a quoted token is without its quotes.
type token struct {
	kind    tokenKind
	text    string
	keyword string // in lower case, if it is a keyword
	pos     Pos
}

func (t token) is(symbol string) bool { return t.kind == tokenSymbol && t.text == symbol }

func (t token) isWord(keyword string) bool { return t.keyword == keyword }

// symbols are the symbols of more than one character. A symbol comes before its own prefixes.
var symbols = [...]string{"<<", ">>", "<=", ">=", "<>", "!=", "||"}

const singleSymbols = "<>=()[]{},.:*+-;/%?"

// lexer splits a statement into tokens.
type lexer struct {
	text string
	at   int
	line int
	// columns is the number of characters of the line before the offset counted.
	columns, counted int
}

// tokenize splits a whole statement into tokens, the last of which is a tokenEnd. It reports false
// if the text has an invalid character or ends within a token.
func tokenize(text string) ([]token, bool) {
	l := &lexer{text: text, line: 1}
	tokens := make([]token, 0, len(text)/5+2)
	for {
		if !l.space() {
			return nil, false
		}
		t := token{pos: Pos{Line: l.line, Column: l.column(l.at)}}
		start := l.at
		if start == len(text) {
			return append(tokens, t), true
		}
		if !l.next(&t) {
			return nil, false
		}
		t.pos.Length = utf8.RuneCountInString(text[start:l.at])
		tokens = append(tokens, t)
	}
}

// column returns the number of the character at an offset of the current line.
func (l *lexer) column(at int) int {
	l.columns += utf8.RuneCountInString(l.text[l.counted:at])
	l.counted = at
	return l.columns + 1
}

func (l *lexer) newline(at int) {
	l.line++
	l.columns, l.counted = 0, at
}

// space skips blanks and comments. It reports false for a comment without an end.
func (l *lexer) space() bool {
	for l.at < len(l.text) {
		switch rest := l.text[l.at:]; {
		case rest[0] == '\n':
			l.at++
			l.newline(l.at)
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			l.at++
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return false
			}
			l.pass(l.at + end + 4)
		default:
			return true
		}
	}
	return true
}

// pass moves to an offset and counts the lines before it.
func (l *lexer) pass(to int) {
	for ; l.at < to; l.at++ {
		if l.text[l.at] == '\n' {
			l.newline(l.at + 1)
		}
	}
}

func (l *lexer) next(t *token) bool {
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case isLetter(c):
		t.kind, t.text = tokenName, rest[:wordLength(rest)]
		if word := strings.ToLower(t.text); keywords[word] {
			t.keyword = word
		}
		l.at += len(t.text)
		return true
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		t.kind, t.text = tokenNumber, rest[:numberLength(rest)]
		l.at += len(t.text)
		whole := l.at == len(l.text) || !isLetter(l.text[l.at])
		return whole && readableNumber(t.text)
	case c == '\'':
		t.kind = tokenString
		return l.quoted(t, c)
	case c == '"':
		t.kind = tokenQuoted
		return l.quoted(t, c)
	}
	t.kind = tokenSymbol
	for _, symbol := range symbols {
		if strings.HasPrefix(rest, symbol) {
			t.text = symbol
			l.at += len(symbol)
			return true
		}
	}
	if strings.IndexByte(singleSymbols, rest[0]) < 0 {
		return false
	}
	t.text = rest[:1]
	l.at++
	return true
}

// quoted reads a quoted text, in which a quote is written twice.
func (l *lexer) quoted(t *token, quote byte) bool {
	var b strings.Builder
	from := l.at + 1
	for {
		end := strings.IndexByte(l.text[from:], quote)
		if end < 0 {
			return false
		}
		end += from
		if end+1 == len(l.text) || l.text[end+1] != quote {
			b.WriteString(l.text[from:end])
			t.text = b.String()
			l.pass(end + 1)
			return true
		}
		b.WriteString(l.text[from : end+1])
		from = end + 2
	}
}

func isLetter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func wordLength(text string) int {
	for i := range len(text) {
		if !isLetter(text[i]) && !isDigit(text[i]) {
			return i
		}
	}
	return len(text)
}

func digits(text string) int {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return i
		}
	}
	return len(text)
}

// numberLength returns the length of the number at the beginning of a text: digits with at most one
// point, and an exponent.
func numberLength(text string) int {
	n := digits(text)
	if strings.HasPrefix(text[n:], ".") {
		n++
		n += digits(text[n:])
	}
	if n == len(text) || text[n]|0x20 != 'e' {
		return n
	}
	e := n + 1
	if e < len(text) && (text[e] == '+' || text[e] == '-') {
		e++
	}
	if count := digits(text[e:]); count > 0 {
		return e + count
	}
	return n
}

// readableNumber reports whether the service can parse a number: the exponent, and the digits after
// the point minus the exponent, must each fit in 32 bits.
func readableNumber(text string) bool {
	scale, ok := scaleOf(text)
	return ok && scale >= math.MinInt32 && scale <= math.MaxInt32
}

// scaleOf returns the number of digits after the point of a number without exponent. It is negative
// if the number ends with that many zeros.
func scaleOf(text string) (scale int64, ok bool) {
	mantissa, exponent := text, int64(0)
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		mantissa = text[:e]
		n, err := strconv.ParseInt(text[e+1:], 10, 32)
		if err != nil {
			return 0, false
		}
		exponent = n
	}
	if point := strings.IndexByte(mantissa, '.'); point >= 0 {
		scale = int64(len(mantissa) - point - 1)
	}
	return scale - exponent, true
}
