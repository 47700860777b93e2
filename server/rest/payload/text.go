package payload

import (
	"strings"
	"unicode"
)

// What CheckLine and CheckText complete: a sentence that begins with the name of a field.
const (
	faultControl   = "must not have control characters"
	faultDirection = "must not have characters that override the direction of text"
	faultSurrogate = "must not have half of a surrogate pair"
)

// CheckLine returns what is wrong with a text of one line, "" if nothing is. Control characters
// make one text look like another in logs and on screens, and so do characters that override the
// direction in which text is shown (Unicode TR 36, 3.3).
func CheckLine(text string) string { return check(text, "") }

// CheckText is CheckLine for a text that may have several lines.
func CheckText(text string) string { return check(text, "\t\n\r") }

func check(text, allowed string) string {
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Cc, r) && !strings.ContainsRune(allowed, r):
			return faultControl
		case '\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
			return faultDirection
		}
	}
	return ""
}

// plain reports whether a JSON string, with its quotes, has nothing that CheckText could refuse: it
// is ASCII without escapes.
func plain(quoted []byte) bool {
	for _, c := range quoted {
		if c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// halfPair reports whether a JSON string has an escape of half a surrogate pair, which
// encoding/json replaces by another character without an error.
func halfPair(quoted []byte) bool {
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		i++
		if quoted[i] != 'u' {
			continue
		}
		switch first := hex(quoted[i+1:]); {
		case 0xdc00 <= first && first <= 0xdfff:
			return true
		case 0xd800 <= first && first <= 0xdbff:
			rest := quoted[i+5:]
			if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' ||
				hex(rest[2:])&0xfc00 != 0xdc00 {
				return true
			}
			i += 6
		}
		i += 4
	}
	return false
}

// hex returns the number of four hexadecimal digits, which well-formed JSON has after \u.
func hex(digits []byte) (n int) {
	for _, c := range digits[:4] {
		n <<= 4
		switch {
		case c <= '9':
			n |= int(c - '0')
		default:
			n |= int(c|0x20-'a') + 10
		}
	}
	return n
}
