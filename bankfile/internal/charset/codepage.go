package charset

import (
	"bytes"
	"slices"
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
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
)

// codePage is an encoding that is chosen only by known names of columns or by a person.
type codePage struct {
	name Encoding
	of   encoding.Encoding
	// Latin is true if most of its letters are the same in Windows-1252. A name that is known in
	// this code page only is then no coincidence.
	latin bool
}

// codePages is in the order in which they are tried and offered.
var codePages = []codePage{
	{"windows-1251", charmap.Windows1251, false},
	{"windows-1253", charmap.Windows1253, false},
	{"shift-jis", japanese.ShiftJIS, false},
	{"gb18030", simplifiedchinese.GB18030, false},
	{"euc-kr", korean.EUCKR, false},
	{"koi8-r", charmap.KOI8R, false},
	{"big5", traditionalchinese.Big5, false},
	{"euc-jp", japanese.EUCJP, false},
	{"windows-1255", charmap.Windows1255, false},
	{"windows-1256", charmap.Windows1256, false},
	{"windows-1254", charmap.Windows1254, true},
	{"windows-1257", charmap.Windows1257, true},
	{"macintosh", charmap.Macintosh, false},
}

// isCodePage reports whether an encoding is one of codePages.
func isCodePage(e Encoding) bool {
	return slices.ContainsFunc(codePages, func(page codePage) bool { return page.name == e })
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

// chooseCodePage returns the code page in which the file has known names of columns that it does
// not have as Windows-1252. If its words have letters beyond ASCII and no name is known, it returns
// the first such word as Windows-1252, and the code pages in which that word has letters only.
func chooseCodePage(letters []byte) (e Encoding, word string, choices []Choice) {
	if e := kanaPage(letters); e != "" {
		return e, "", nil
	}
	west := Decode(letters, Windows1252)
	best, most := Encoding(""), max(knownNames(west), knownNames(Decode(letters, Windows1250)))
	for _, page := range codePages {
		n := knownNames(Decode(letters, page.name))
		if n > most && (n > 1 || page.latin) {
			best, most = page.name, n
		}
	}
	word = foreignWord(west)
	if best != "" || word == "" {
		return best, "", nil
	}
	line := lineOf(letters, word)
	for _, page := range codePages {
		if text := foreignWord(Decode(line, page.name)); allLetters(text) {
			choices = append(choices, Choice{page.name, text})
		}
	}
	return "", word, append(choices, Choice{Windows1252, word})
}

// lineOf returns the line of a file that contains a word, which was decoded as Windows-1252. The
// word alone is not enough, because in some code pages the second byte of a letter is ASCII.
func lineOf(letters []byte, sample string) []byte {
	raw := []byte(encodeWest(sample))
	for line := range bytes.SplitSeq(letters, []byte("\n")) {
		if bytes.Contains(line, raw) {
			return bytes.TrimRight(line, "\r")
		}
	}
	return raw
}

// kanaMin is the number of kana that show that a text is Japanese. They are rare in a text of
// another encoding, because their first bytes are not letters there.
const kanaMin = 2

// kanaPage returns the code page of a Japanese text: all bytes are valid in it, and some are kana.
func kanaPage(letters []byte) Encoding {
	if at := bytes.LastIndexByte(letters, '\n'); at > 0 {
		letters = letters[:at] // The last line may end within a letter.
	}
	for _, page := range [...]Encoding{"shift-jis", "euc-jp"} {
		kana := 0
		text := Decode(letters, page)
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

// encodeWest returns the bytes of a text that was decoded as Windows-1252.
func encodeWest(text string) string {
	raw, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		return ""
	}
	return raw
}

// namesLines is the number of lines from the beginning in which names of columns are searched.
const namesLines = 20

// knownNames counts the cells of the first lines that are known names with letters beyond ASCII.
func knownNames(text string) int {
	count, lines := 0, 0
	for line := range scan.SplitLines(text) {
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

// foreignRun is a number of consecutive letters beyond ASCII that no language of Windows-1252 has.
const foreignRun = 4

// foreignWord returns the first run of at least foreignRun letters beyond ASCII, or "". It is a
// word of another alphabet.
func foreignWord(text string) string {
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
