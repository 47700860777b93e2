package charset

import "strings"

// Encoding is how the characters of a file are written as bytes.
type Encoding string

// The encodings other than the code pages. Latin-1 is read as Windows-1252, because files that
// declare Latin-1 are Windows-1252 in practice: they have the euro sign.
const (
	UTF8        Encoding = "utf-8"
	UTF16LE     Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
	Windows1252 Encoding = "windows-1252"
	Windows1250 Encoding = "windows-1250"
)

// Parse returns the encoding of a name as files and people write it, such as
// "ISO-8859-1", "cp1250" or "UTF8".
func Parse(name string) (Encoding, bool) {
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

// Known reports whether e is an encoding that can be read.
func Known(e Encoding) bool {
	switch e {
	case UTF8, UTF16LE, UTF16BE, Windows1250, Windows1252:
		return true
	}
	return isCodePage(e)
}
