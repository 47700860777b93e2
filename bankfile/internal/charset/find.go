package charset

import (
	"io"
	"regexp"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
)

// Found is the encoding of a file and how it was found.
type Found struct {
	Encoding Encoding
	Skip     int64 // The length of the byte order mark.
	Sure     bool  // False if the bytes are valid in several encodings.

	// Sample is a line with letters in doubt, if Sure is false.
	Sample string
	// Word and Choices are set if the letters are of an alphabet that no choice of Encoding can
	// be made for: a word of the file as Windows-1252, and what it is in each possible encoding.
	Word    string
	Choices []Choice
}

// Choice is an encoding in which a word of the file has letters only.
type Choice struct {
	Encoding Encoding
	Word     string
}

// Find returns the encoding of a file of a given size that begins with head. Known is the encoding
// that a person chose, or empty.
func Find(r io.ReaderAt, size int64, head []byte, known Encoding) (Found, error) {
	e, skip, letters, err := detect(r, size, head)
	f := Found{Encoding: e, Skip: skip, Sure: true}
	if err != nil || letters == nil {
		return f, err
	}
	if known == Windows1250 || known == Windows1252 || isCodePage(known) {
		f.Encoding = known
		return f, nil
	}
	switch declared := declaredIn(head); {
	case declared == Windows1250 || isCodePage(declared):
		f.Encoding = declared
		return f, nil
	case declared == Windows1252:
		return f, nil
	}
	var page Encoding
	if page, f.Word, f.Choices = chooseCodePage(letters); page != "" {
		f.Encoding = page
		return f, nil
	}
	if f.Encoding, f.Sure = chooseSingleByte(letters); f.Sure {
		return f, nil
	}
	for line := range scan.SplitLines(Decode(letters, f.Encoding)) {
		if hasHigh(line) {
			f.Sample = cells.Clip(line)
			break
		}
	}
	return f, nil
}

var declaration = regexp.MustCompile(`(?i)(?:encoding="|encoding='|CHARSET:)\s*([a-z0-9_-]+)`)

// declaredIn returns the encoding that a file declares: in the declaration of XML or in the header
// of OFX, which names a code page in CHARSET if its ENCODING is USASCII.
func declaredIn(head []byte) Encoding {
	m := declaration.FindSubmatch(head[:min(len(head), 2048)])
	if m == nil {
		return ""
	}
	e, _ := Parse(string(m[1]))
	return e
}
