package locations

import (
	"fmt"
	"strings"
)

// CodeMax is the maximum length of a code. A longer one is refused and never cut, since cutting
// makes two codes of one.
const CodeMax = 64

// Code reads a code as people type and paste it, and returns the form that is shown and the form
// that decides which codes are equal. Blanks around it are taken off, full-width characters become
// plain ones, and every dash becomes "-"; the shown form keeps its case and its zeros, the other is
// in lower case. A code consists of 1 to CodeMax letters of ASCII, digits and the characters - . _
// and begins with a letter or a digit.
func Code(text string) (shown, key string, err error) {
	refuse := func(format string, args ...any) (string, string, error) {
		return "", "", ErrInvalidCode.With("code", text).
			With("reason", fmt.Sprintf(format, args...)).Field("code", "is not a code")
	}
	var b strings.Builder
	for _, r := range strings.TrimSpace(text) {
		c, ok := plain(r)
		if !ok {
			return refuse("it must not have %q", r)
		}
		b.WriteByte(c)
		if b.Len() > CodeMax {
			return refuse("it has more than %d characters", CodeMax)
		}
	}
	shown = b.String()
	switch {
	case shown == "":
		return refuse("it is empty")
	case strings.IndexByte("-._", shown[0]) >= 0:
		return refuse("it must begin with a letter or a digit")
	}
	return shown, strings.ToLower(shown), nil
}

// plain returns the character of a code that replaces a rune.
func plain(r rune) (byte, bool) {
	switch {
	case r >= '\uff01' && r <= '\uff5e': // The full-width forms of ASCII.
		r -= 0xfee0
	case r >= '\u2010' && r <= '\u2015', r == '\u2212', r == '\u00ad', r == '\ufe63':
		r = '-' // Hyphens and dashes of all lengths, the minus sign, the soft hyphen.
	}
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9',
		r == '-', r == '.', r == '_':
		return byte(r), true
	}
	return 0, false
}

// keyOf returns the form that decides which codes are equal, of a code that was stored, which
// another program may have written by other rules.
func keyOf(code string) string { return strings.ToLower(code) }
