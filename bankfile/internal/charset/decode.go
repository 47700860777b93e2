package charset

import (
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Decode returns bytes of an encoding as text.
func Decode(data []byte, e Encoding) string {
	text, _ := io.ReadAll(Reader(bytes.NewReader(data), e))
	return string(text)
}

// Reader returns the text of r as UTF-8. Bytes that are invalid in the encoding become U+FFFD.
func Reader(r io.Reader, e Encoding) io.Reader {
	switch e {
	case UTF8:
		return r
	case UTF16LE:
		return decoded(r, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM))
	case UTF16BE:
		return decoded(r, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM))
	case Windows1250:
		return &reader8{src: r, table: upperHalf(charmap.Windows1250), in: make([]byte, 8<<10)}
	}
	for _, page := range codePages {
		if page.name == e {
			return decoded(r, page.of)
		}
	}
	return &reader8{src: r, table: upperHalf(charmap.Windows1252), in: make([]byte, 8<<10)}
}

func decoded(r io.Reader, e encoding.Encoding) io.Reader { return e.NewDecoder().Reader(r) }

// upperHalf returns the runes of the bytes from 0x80 on. Unlike the library's decoder, it keeps
// bytes that the encoding leaves undefined as control characters, because files in the code pages
// of DOS have letters there, and the keys of their entries must stay different.
func upperHalf(page *charmap.Charmap) (table [128]rune) {
	for i := range table {
		table[i] = page.DecodeByte(byte(0x80 + i))
		if table[i] == utf8.RuneError {
			table[i] = rune(0x80 + i)
		}
	}
	return table
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

// Read implements io.Reader.
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
