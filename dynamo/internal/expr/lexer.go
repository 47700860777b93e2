package expr

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd        tokenKind = iota
	tokenIdentifier           // a letter, then letters, digits and underscores
	tokenName                 // #placeholder
	tokenValue                // :placeholder
	tokenNumber               // digits
	tokenSymbol               // an operator, a bracket, or any other single character
)

// endText represents the end of the text in a syntax error.
const endText = "<EOF>"

// token is a part of the source text.
type token struct {
	kind       tokenKind
	start, end int
	text       string
}

// is reports whether the token is the given operator or bracket.
func (t token) is(symbol string) bool { return t.kind == tokenSymbol && t.text == symbol }

// keyword reports whether the token is the given keyword, in any letter case.
func (t token) keyword(word string) bool {
	return t.kind == tokenIdentifier && len(t.text) == len(word) && strings.EqualFold(t.text, word)
}

// scan returns the first token at or after a position. It never fails: a character that begins no
// token is a symbol, which the parser does not expect.
func scan(source string, from int) token {
	start := from
	for start < len(source) && isSpace(source[start]) {
		start++
	}
	if start >= len(source) {
		return token{kind: tokenEnd, start: start, end: start, text: endText}
	}
	kind, length := tokenSymbol, 1
	switch c := source[start]; {
	case isLetter(c):
		kind, length = tokenIdentifier, wordLength(source[start:])
	case isDigit(c):
		kind = tokenNumber
		for start+length < len(source) && isDigit(source[start+length]) {
			length++
		}
	case c == '#' || c == ':':
		// Unlike a name, a placeholder may begin with a digit or an underscore.
		if n := wordLength(source[start+1:]); n > 0 {
			length += n
			kind = tokenName
			if c == ':' {
				kind = tokenValue
			}
		}
	case c == '<' || c == '>':
		if rest := source[start+1:]; strings.HasPrefix(rest, "=") ||
			c == '<' && strings.HasPrefix(rest, ">") {
			length = 2
		}
	case c >= utf8.RuneSelf:
		_, length = utf8.DecodeRuneInString(source[start:])
	}
	return token{kind: kind, start: start, end: start + length, text: source[start : start+length]}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// wordLength returns the number of letters, digits and underscores at the beginning of text.
func wordLength(text string) int {
	for i := range len(text) {
		if c := text[i]; !isLetter(c) && !isDigit(c) && c != '_' {
			return i
		}
	}
	return len(text)
}
