package bankfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
)

// Encoding is how the characters of a file are written as bytes.
type Encoding string

// The encodings that are read. Latin-1 is read as Windows-1252, which is what files that claim
// Latin-1 are in practice: there the euro sign is a character.
const (
	UTF8        Encoding = "utf-8"
	UTF16LE     Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
	Windows1252 Encoding = "windows-1252"
	Windows1250 Encoding = "windows-1250"
)

// ParseEncoding returns the encoding of a name as files and people write it, such as
// "ISO-8859-1", "cp1250" or "UTF8".
func ParseEncoding(name string) (Encoding, bool) {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	switch plain {
	case "utf8", "unicode", "unicode11utf8":
		return UTF8, true
	case "utf16le", "utf16":
		return UTF16LE, true
	case "utf16be":
		return UTF16BE, true
	case "windows1252", "cp1252", "1252", "iso88591", "latin1", "iso885915", "usascii", "ascii",
		"88591":
		return Windows1252, true
	case "windows1250", "cp1250", "1250", "iso88592", "latin2":
		return Windows1250, true
	}
	return parseCodePage(plain)
}

// Upper halves of the two single-byte encodings. Windows-1252 is Latin-1 from 0xA0 on.
const (
	upper1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	upper1250 = "€\u0081‚\u0083„…†‡\u0088‰Š‹ŚŤŽŹ\u0090‘’“”•–—\u0098™š›śťžź" +
		"\u00a0ˇ˘Ł¤Ą¦§¨©Ş«¬\u00ad®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż" +
		"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙"
)

// upperHalf returns the runes of the bytes from 0x80 on.
func upperHalf(e Encoding) (table [128]rune) {
	text := upper1252
	if e == Windows1250 {
		text = upper1250
	}
	for i := range table {
		table[i] = rune(0x80 + i)
	}
	i := 0
	for _, r := range text {
		table[i] = r
		i++
	}
	return table
}

// headMax is how much of a file is looked at to tell its encoding and its format.
const headMax = 64 << 10

// lettersBefore is how much before the first byte that is not ASCII is looked at with it: the line
// that it stands in.
const lettersBefore = 1 << 10

// detectEncoding finds the encoding from a byte order mark, from the zeros that UTF-16 has, or
// from the whole file being valid UTF-8. Where it is none of these, letters is the part of the
// file with the first byte that says so, and declared names and the letters themselves decide; see
// chooseSingleByte.
func detectEncoding(r io.ReaderAt, size int64, head []byte) (e Encoding, skip int64,
	letters []byte, err error) {
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		skip = 3
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return UTF16LE, 2, nil, nil
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return UTF16BE, 2, nil, nil
	default:
		if e, ok := zeros(head); ok {
			return e, 0, nil, nil
		}
	}
	at, err := firstNotUTF8(io.NewSectionReader(r, skip, size-skip))
	if err != nil || at < 0 {
		return UTF8, skip, nil, err
	}
	if at += skip; at < int64(len(head)) {
		return Windows1252, skip, head, nil
	}
	// The beginning is plain; what can be told apart stands further on.
	letters = make([]byte, headMax)
	n, err := r.ReadAt(letters, at-lettersBefore)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", 0, nil, err
	}
	return Windows1252, skip, letters[:n], nil
}

// zeros recognises UTF-16 without a mark: the halves of its characters are mostly zero.
func zeros(head []byte) (Encoding, bool) {
	even, odd := 0, 0
	for i := 0; i+1 < len(head); i += 2 {
		if head[i] == 0 {
			even++
		}
		if head[i+1] == 0 {
			odd++
		}
	}
	pairs := len(head) / 2
	switch {
	case pairs < 2:
		return "", false
	case odd > pairs/2 && even < pairs/10+1:
		return UTF16LE, true
	case even > pairs/2 && odd < pairs/10+1:
		return UTF16BE, true
	}
	return "", false
}

// firstNotUTF8 reads r in pieces up to the first one that is not UTF-8, and returns about where
// it stands, or -1 if all of r is UTF-8.
func firstNotUTF8(r io.Reader) (int64, error) {
	buf := make([]byte, headMax)
	kept, read := 0, int64(0)
	for {
		n, err := r.Read(buf[kept:])
		n += kept
		piece := buf[:n]
		kept = 0
		if err == nil {
			// A character may be cut at the end of the piece.
			for back := 1; back < utf8.UTFMax && back <= n; back++ {
				if utf8.RuneStart(piece[n-back]) {
					if !utf8.FullRune(piece[n-back:]) {
						kept = back
					}
					break
				}
			}
		}
		if whole := piece[:n-kept]; !utf8.Valid(whole) {
			// The letters around the first high byte are those to look at.
			return read + int64(bytes.IndexFunc(whole, isHigh)), nil
		}
		if errors.Is(err, io.EOF) {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		read += int64(n - kept)
		copy(buf, piece[n-kept:])
	}
}

func isHigh(r rune) bool { return r >= utf8.RuneSelf }

// chooseSingleByte tells Windows-1252 from Windows-1250 by the words and letters of the head.
// Nothing in such bytes proves it; sure is false where neither has better evidence.
func chooseSingleByte(head []byte) (e Encoding, sure bool) {
	west, east := decodeBytes(head, Windows1252), decodeBytes(head, Windows1250)
	w, c := score(west, true), score(east, false)
	switch {
	case c > w:
		return Windows1250, true
	case w > c:
		return Windows1252, true
	}
	// Where both read the same letters, it does not matter.
	return Windows1252, west == east
}

// score counts signs within words, which the wrong reading of a letter leaves, against it, and
// known names of columns for it.
func score(text string, west bool) int {
	points := 0
	var before rune
	for i, r := range text {
		if r >= 0x80 && before != 0 && isLatinLetter(before) {
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			switch {
			case !isLatinLetter(r) && isLatinLetter(next):
				points -= 2
			case isLatinLetter(r) && isLatinLetter(next) && next < 0x80 && !west &&
				strings.ContainsRune("őűłąęćńśźżěščřžýůťďňŐŰŁ", r):
				points++
			case isLatinLetter(r) && west && strings.ContainsRune("ãñåèùêâîûëïæø", r):
				points++
			}
		}
		before = r
	}
	first := text
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		first = text[:at]
	}
	for _, cell := range strings.FieldsFunc(first, func(r rune) bool {
		return strings.ContainsRune(";,\t|\"", r)
	}) {
		if hasHigh(cell) && reading.Known(cell) && sharper(cell, west) {
			points += 5
		}
	}
	return points
}

// sharper tells whether a header's letters belong to this side: č and è fold to the same.
func sharper(cell string, west bool) bool {
	for _, r := range cell {
		switch {
		case r < 0x80:
		case strings.ContainsRune("őűłąęćńśźżěščřžýůťďňČŠŽŘŁŐŰ", r):
			return !west
		case strings.ContainsRune("èêàâùûîïëøåæãñìò¢", r):
			return west
		}
	}
	return false
}

func hasHigh(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x80 {
			return true
		}
	}
	return false
}

func isLatinLetter(r rune) bool {
	return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= 0xC0 && r < 0x250 && r != '×' && r != '÷'
}

// decodeBytes returns bytes of any encoding as text.
func decodeBytes(data []byte, e Encoding) string {
	text, _ := io.ReadAll(decoder(bytes.NewReader(data), e))
	return string(text)
}

// decoder returns the text of r as UTF-8. It holds one small buffer. Bytes that are none of the
// encoding become U+FFFD.
func decoder(r io.Reader, e Encoding) io.Reader {
	switch e {
	case UTF8:
		return r
	case UTF16LE, UTF16BE:
		return &reader16{src: r, big: e == UTF16BE, in: make([]byte, 8<<10)}
	}
	if page := codePageOf(e); page != nil {
		return page.NewDecoder().Reader(r)
	}
	return &reader8{src: r, table: upperHalf(e), in: make([]byte, 8<<10)}
}

// reader8 decodes a single-byte encoding.
type reader8 struct {
	src   io.Reader
	table [128]rune
	in    []byte
	out   []byte
	spare []byte
	err   error
}

func (d *reader8) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		var n int
		n, d.err = d.src.Read(d.in)
		d.out = d.spare[:0]
		for _, c := range d.in[:n] {
			if c < utf8.RuneSelf {
				d.out = append(d.out, c)
			} else {
				d.out = utf8.AppendRune(d.out, d.table[c-0x80])
			}
		}
		d.spare = d.out
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// reader16 decodes UTF-16 of either byte order.
type reader16 struct {
	src   io.Reader
	big   bool
	in    []byte
	kept  int    // Bytes at the beginning of in that wait for more.
	high  uint16 // The first half of a pair.
	out   []byte
	spare []byte
	err   error
}

func (d *reader16) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		var n int
		n, d.err = d.src.Read(d.in[d.kept:])
		n += d.kept
		d.out = d.spare[:0]
		i := 0
		for ; i+1 < n; i += 2 {
			unit := uint16(d.in[i]) | uint16(d.in[i+1])<<8
			if d.big {
				unit = unit<<8 | unit>>8
			}
			d.unit(unit)
		}
		d.kept = copy(d.in, d.in[i:n])
		if d.err != nil && (d.kept > 0 || d.high != 0) {
			d.out = utf8.AppendRune(d.out, utf8.RuneError)
			d.kept, d.high = 0, 0
		}
		d.spare = d.out
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

func (d *reader16) unit(u uint16) {
	if d.high != 0 {
		r := utf16.DecodeRune(rune(d.high), rune(u))
		d.high = 0
		d.out = utf8.AppendRune(d.out, r)
		if r != utf8.RuneError {
			return
		}
	}
	if u >= 0xD800 && u < 0xDC00 {
		d.high = u
		return
	}
	d.out = utf8.AppendRune(d.out, rune(u))
}
