package bankfile

import "github.com/exchequer-dev/exchequer/bankfile/internal/charset"

// Encoding is how the characters of a file are written as bytes. It is one of the constants or the
// name of a code page, such as "shift-jis"; see [ParseEncoding].
type Encoding string

// The most common encodings. Latin-1 is read as Windows-1252, because files that declare Latin-1
// are Windows-1252 in practice: they have the euro sign.
const (
	UTF8        = Encoding(charset.UTF8)
	UTF16LE     = Encoding(charset.UTF16LE)
	UTF16BE     = Encoding(charset.UTF16BE)
	Windows1252 = Encoding(charset.Windows1252)
	Windows1250 = Encoding(charset.Windows1250)
)

// ParseEncoding returns the encoding of a name as files and people write it, such as
// "ISO-8859-1", "cp1250" or "UTF8".
func ParseEncoding(name string) (Encoding, bool) {
	e, ok := charset.Parse(name)
	return Encoding(e), ok
}
