package bankfile

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
)

// codePage is an encoding that is recognised by known names of columns alone, or asked for.
type codePage struct {
	name Encoding
	of   encoding.Encoding
	// Latin is whether its letters are mostly those of Windows-1252, so that a name which is known
	// with it alone is no chance.
	latin bool
}

// codePages are in the order in which they are tried and offered.
var codePages = []codePage{
	{"windows-1251", charmap.Windows1251, false}, {"windows-1253", charmap.Windows1253, false},
	{"shift-jis", japanese.ShiftJIS, false}, {"gb18030", simplifiedchinese.GB18030, false},
	{
		"euc-kr",
		korean.EUCKR,
		false,
	}, {"koi8-r", charmap.KOI8R, false}, {"big5", traditionalchinese.Big5, false},
	{"euc-jp", japanese.EUCJP, false}, {"windows-1255", charmap.Windows1255, false},
	{"windows-1256", charmap.Windows1256, false}, {"windows-1254", charmap.Windows1254, true},
	{"windows-1257", charmap.Windows1257, true}, {"macintosh", charmap.Macintosh, false},
}

// codePageOf returns the encoding of a name, or nil.
func codePageOf(e Encoding) encoding.Encoding {
	for _, page := range codePages {
		if page.name == e {
			return page.of
		}
	}
	return nil
}

// parseCodePage returns the code page of a plain name: lower case without hyphens.
func parseCodePage(plain string) (Encoding, bool) {
	switch plain {
	case "sjis", "cp932", "windows31j", "932":
		plain = "shiftjis"
	case "gbk", "gb2312", "cp936", "936":
		plain = "gb18030"
	case "cp949", "949":
		plain = "euckr"
	case "koi8":
		plain = "koi8r"
	case "macroman", "mac":
		plain = "macintosh"
	}
	plain = strings.TrimPrefix(strings.TrimPrefix(plain, "cp"), "windows")
	for _, page := range codePages {
		name := strings.ReplaceAll(string(page.name), "-", "")
		if plain == strings.TrimPrefix(name, "windows") {
			return page.name, true
		}
	}
	return "", false
}

// chooseCodePage looks for a code page in which the file has names of columns that are known, while
// it has none as Windows-1252. Where its words are of letters beyond ASCII and nothing decides, it
// returns a question.
func chooseCodePage(letters []byte) (e Encoding, ask *Question) {
	if e := kanaPage(letters); e != "" {
		return e, nil
	}
	west := decodeBytes(letters, Windows1252)
	best, most := Encoding(""), max(knownNames(west), knownNames(decodeBytes(letters, Windows1250)))
	for _, page := range codePages {
		n := knownNames(decodeBytes(letters, page.name))
		if n > most && (n > 1 || page.latin) {
			best, most = page.name, n
		}
	}
	sample := foreignWords(west)
	if best != "" || sample == "" {
		return best, nil
	}
	q := &Question{Topic: AskEncoding, Text: "In which encoding are the characters of this file?",
		Examples: []string{clip(sample)}}
	line := lineOf(letters, sample)
	for _, page := range codePages {
		if text := foreignWords(decodeBytes(line, page.name)); allLetters(text) {
			q.Choices = append(q.Choices, Choice{Value: string(page.name), Meaning: clip(text)})
		}
	}
	q.Choices = append(q.Choices, Choice{Value: string(Windows1252), Meaning: clip(sample)})
	return "", q
}

// lineOf returns the line of a file in which a text is that was read as Windows-1252. In some code
// pages the second byte of a letter is one of ASCII, so the text alone is not enough.
func lineOf(letters []byte, sample string) []byte {
	raw := []byte(encodeWest(sample))
	for line := range bytes.SplitSeq(letters, []byte("\n")) {
		if bytes.Contains(line, raw) {
			return bytes.TrimRight(line, "\r")
		}
	}
	return raw
}

// kanaMin is how many kana show that a text is Japanese. In a wrong reading they are rare, because
// their first bytes are signs in all other code pages.
const kanaMin = 2

// kanaPage returns the code page of a Japanese text: the one in which all its bytes are letters and
// some of them are kana.
func kanaPage(letters []byte) Encoding {
	if at := bytes.LastIndexByte(letters, '\n'); at > 0 {
		letters = letters[:at] // The last line may be cut within a letter.
	}
	for _, page := range [...]Encoding{"shift-jis", "euc-jp"} {
		kana := 0
		text := decodeBytes(letters, page)
		for _, r := range text {
			if unicode.In(r, unicode.Hiragana, unicode.Katakana) && r < 0xFF00 {
				kana++
			}
		}
		if kana >= kanaMin && !strings.ContainsRune(text, utf8.RuneError) {
			return page
		}
	}
	return ""
}

// encodeWest returns the bytes of a text that was read as Windows-1252.
func encodeWest(text string) string {
	raw, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		return ""
	}
	return raw
}

// namesLines is in how many lines from the beginning names of columns are looked for.
const namesLines = 20

// knownNames counts the cells of the first lines that are known names with letters beyond ASCII.
func knownNames(text string) int {
	count, lines := 0, 0
	for line := range splitLines(text) {
		if lines++; lines > namesLines {
			break
		}
		for _, cell := range strings.FieldsFunc(line, func(r rune) bool {
			return strings.ContainsRune(";,\t|\"", r)
		}) {
			if hasHigh(cell) && reading.Known(cell) {
				count++
			}
		}
	}
	return count
}

// foreignRun is how many letters beyond ASCII in a row no language of Windows-1252 has.
const foreignRun = 4

// foreignWords returns the first word of a text with so many letters beyond ASCII in a row that it
// is of another alphabet.
func foreignWords(text string) string {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r < utf8.RuneSelf
	}) {
		if utf8.RuneCountInString(word) >= foreignRun {
			return word
		}
	}
	return ""
}

// allLetters reports whether a text has letters and nothing else.
func allLetters(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) || r == utf8.RuneError
	}) < 0
}
