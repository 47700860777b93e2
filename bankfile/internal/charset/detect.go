package charset

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
)

// HeadMax is how many bytes of a file are read to find its encoding and its format.
const HeadMax = 64 << 10

// lettersBefore is how many bytes before the first byte that is not ASCII are read with it, to get
// the whole line.
const lettersBefore = 1 << 10

// detect finds the encoding from a byte order mark, from the zero bytes of UTF-16, or because the
// whole file is valid UTF-8. Otherwise letters is the part of the file with the first invalid byte,
// and Find decides by the declaration and the letters.
func detect(r io.ReaderAt, size int64, head []byte) (e Encoding, skip int64,
	letters []byte, err error) {
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		skip = 3
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return UTF16LE, 2, nil, nil
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return UTF16BE, 2, nil, nil
	default:
		if e, ok := Zeros(head); ok {
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
	// The beginning is ASCII, so it does not show the encoding.
	letters = make([]byte, HeadMax)
	n, err := r.ReadAt(letters, at-lettersBefore)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", 0, nil, err
	}
	return Windows1252, skip, letters[:n], nil
}

// Zeros returns the byte order of UTF-16 without a mark: half of the bytes are mostly zero.
func Zeros(head []byte) (Encoding, bool) {
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

// firstNotUTF8 returns the approximate offset of the first invalid byte, or -1 if all of r is
// UTF-8.
func firstNotUTF8(r io.Reader) (int64, error) {
	buf := make([]byte, HeadMax)
	kept, read := 0, int64(0)
	for {
		n, err := r.Read(buf[kept:])
		n += kept
		piece := buf[:n]
		kept = 0
		if err == nil {
			// The last character may be incomplete.
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
			// Return the first byte that is not ASCII, because the letters around it decide.
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

// chooseSingleByte returns Windows-1252 or Windows-1250, by the words and letters of the head. Such
// bytes prove nothing, so sure is false if neither has better evidence.
func chooseSingleByte(head []byte) (e Encoding, sure bool) {
	west, east := Decode(head, Windows1252), Decode(head, Windows1250)
	w, c := score(west, true), score(east, false)
	switch {
	case c > w:
		return Windows1250, true
	case w > c:
		return Windows1252, true
	}
	// If both give the same letters, it does not matter.
	return Windows1252, west == east
}

// score subtracts for signs within words, which the wrong encoding leaves in place of letters, and
// adds for known names of columns.
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

// sharper reports whether a name has letters of this encoding only, because č and è fold to the
// same letter.
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
