package wire

import (
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"strconv"
	"time"
	"unicode/utf8"
)

// writer appends one JSON text to a buffer. It needs no other state: the last byte shows whether a
// comma is needed, because a value never ends with an opening bracket or a colon.
type writer struct {
	b []byte
}

// comma appends a comma unless the next value is the first in its object or list.
func (w *writer) comma() {
	if n := len(w.b); n > 0 {
		switch w.b[n-1] {
		case '{', '[', ':':
		default:
			w.b = append(w.b, ',')
		}
	}
}

// open begins an object or a list, given by its bracket, as the next value.
func (w *writer) open(bracket byte) {
	w.comma()
	w.b = append(w.b, bracket)
}

// close ends an object or a list.
func (w *writer) close(bracket byte) { w.b = append(w.b, bracket) }

// key begins a member whose name needs no escapes; its value follows.
func (w *writer) key(name string) {
	w.comma()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

// name begins a member with any name.
func (w *writer) name(name string) {
	w.comma()
	w.b = appendText(w.b, name)
	w.b = append(w.b, ':')
}

// string appends a string.
func (w *writer) string(s string) {
	w.comma()
	w.b = appendText(w.b, s)
}

// bool appends true or false.
func (w *writer) bool(v bool) {
	w.comma()
	w.b = strconv.AppendBool(w.b, v)
}

// int appends a whole number.
func (w *writer) int(n int64) {
	w.comma()
	w.b = strconv.AppendInt(w.b, n, 10)
}

// float appends a number in plain notation, for example capacity units. It always has a fraction,
// as on the service.
func (w *writer) float(f float64) {
	w.comma()
	start := len(w.b)
	w.b = strconv.AppendFloat(w.b, f, 'f', -1, 64)
	for _, c := range w.b[start:] {
		if c == '.' {
			return
		}
	}
	w.b = append(w.b, ".0"...)
}

// time appends a time as seconds since 1970, with milliseconds as the fraction.
func (w *writer) time(t time.Time) {
	w.comma()
	ms := t.UnixMilli()
	w.b = strconv.AppendFloat(w.b, float64(ms)/1000, 'f', -1, 64)
}

// binary appends bytes in base64.
func (w *writer) binary(b []byte) {
	w.comma()
	w.b = append(w.b, '"')
	w.b = base64.StdEncoding.AppendEncode(w.b, b)
	w.b = append(w.b, '"')
}

// member appends a string member. An empty one is omitted.
func (w *writer) member(name, value string) {
	if value != "" {
		w.key(name)
		w.string(value)
	}
}

// strings appends a list of strings.
func (w *writer) strings(list []string) {
	w.open('[')
	for _, s := range list {
		w.string(s)
	}
	w.close(']')
}

const hexDigits = "0123456789abcdef"

// appendText appends s as a JSON string. Invalid UTF-8, which a store can only get from a caller in
// the same process, is replaced by the replacement character.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for start, at := 0, 0; ; {
		at = plainTextEnd(s, at)
		if at == len(s) {
			b = append(b, s[start:]...)
			break
		}
		c := s[at]
		if c >= utf8.RuneSelf {
			char, width := utf8.DecodeRuneInString(s[at:])
			if char == utf8.RuneError && width == 1 {
				b = append(b, s[start:at]...)
				b = utf8.AppendRune(b, utf8.RuneError)
				start = at + 1
			}
			at += width
			continue
		}
		b = append(b, s[start:at]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		at++
		start = at
	}
	return append(b, '"')
}

// plainTextEnd returns the position of the first byte of s, from a position on, that is a quote, a
// backslash, a control character or not ASCII.
func plainTextEnd(s string, from int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for from+8 <= len(s) {
		w := binary.LittleEndian.Uint64([]byte(s[from : from+8]))
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w | w) & highs
		if found != 0 {
			return from + bits.TrailingZeros64(found)/8
		}
		from += 8
	}
	for from < len(s) {
		if c := s[from]; c >= utf8.RuneSelf || c < ' ' || c == '"' || c == '\\' {
			break
		}
		from++
	}
	return from
}
