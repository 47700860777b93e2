package cells

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// At is a text of the file with its line.
type At struct {
	Line int
	Text string
}

// String returns the text with its line: `line 7: "03/04/2026"`.
func (c At) String() string { return fmt.Sprintf("line %d: %q", c.Line, c.Text) }

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

func isMinus(r rune) bool {
	return r == '-' || r == '−' || r == '–' || r == '‐' || r == '‑' || r == '﹣' || r == '－'
}

// IsDashes reports whether a cell consists of dashes.
func IsDashes(cell string) bool {
	return cell != "" && strings.IndexFunc(cell, func(r rune) bool {
		return !isMinus(r) && r != '—'
	}) < 0
}

// isBlank reports whether r is a blank, including the no-break and thin spaces that separate
// thousands.
func isBlank(r rune) bool {
	return r == ' ' || r == '\t' || r == '\r' || r == '\n' || r > 0x7f && unicode.IsSpace(r) ||
		r == '\u202f' || r == '\u2007' || r == '\u200b' || r == '\ufeff'
}

// TrimBlanks removes blanks at both ends.
func TrimBlanks(text string) string {
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

// exampleMax is the maximum number of bytes of a cell in questions, refusals and warnings.
const exampleMax = 80

// Clip shortens a text to be shown, between two runes.
func Clip(text string) string {
	if len(text) <= exampleMax {
		return text
	}
	end := exampleMax
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// ClipTo shortens a text to at most limit bytes, between two runes.
func ClipTo(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// Collapse replaces every run of blanks by one blank and removes those at both ends.
func Collapse(text string) string {
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

// AllDigits reports whether a text consists of ASCII digits and is not empty.
func AllDigits(text string) bool {
	for i := range len(text) {
		if !IsDigit(text[i]) {
			return false
		}
	}
	return text != ""
}
