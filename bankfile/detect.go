package bankfile

import (
	"regexp"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/charset"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/bankfile/internal/swift"
)

// Format is the kind of a file.
type Format string

// The formats that are read. QFX is OFX with fields of one program; MT940 includes MT942, and CAMT
// is camt.052, camt.053 and camt.054.
const (
	OFX   Format = "ofx"
	QIF   Format = "qif"
	CSV   Format = "csv"
	MT940 Format = "mt940"
	CAMT  Format = "camt"
)

// whyRates is about tables of exchange rates, which people who use several currencies keep next to
// their statements.
const whyRates = "these are exchange rates, not a statement"

// ofxRoot is the root of OFX in upper case. As XML it may have a prefix and attributes.
var ofxRoot = regexp.MustCompile(`<(?:\w+:)?OFX[\s>]`)

// beginsOFX reports whether the upper-case text is OFX.
func beginsOFX(upper string) bool {
	root := ofxRoot.FindString(upper)
	return beginsLine(upper, "OFXHEADER") || root != "" && beginsLine(upper, root)
}

// detectFormat returns the format, by the beginning of the text.
func detectFormat(text string) (Format, error) {
	upper := strings.ToUpper(text)
	markup := beginsMarkup(text)
	switch {
	case beginsOFX(upper):
		return OFX, nil
	case markup && (strings.Contains(text, "<Document") || strings.Contains(text, ":Document") ||
		strings.Contains(text, "<BkToCstmr") || strings.Contains(text, ":BkToCstmr")):
		return CAMT, camtMessage(text)
	case markup && isWebPage(upper):
		return "", &FormatError{Why: whyWebPage}
	case looksLikeMT940(text):
		return MT940, nil
	case looksLikeQIF(text):
		return QIF, nil
	}
	if markup && strings.Contains(text, "eurofxref") {
		return "", &FormatError{Why: whyRates}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<?xml") {
		return "", &FormatError{Why: "this is XML, but neither camt nor OFX"}
	}
	return CSV, nil
}

// whyWebPage is about the page that a bank shows in place of a file.
const whyWebPage = "this is a web page, not a statement; perhaps the session with the bank had " +
	"ended"

// isWebPage reports whether the upper-case beginning of a file is that of a web page.
func isWebPage(upper string) bool {
	head := upper[:min(len(upper), 1024)]
	return strings.Contains(head, "<HTML") || strings.Contains(head, "<!DOCTYPE HTML")
}

// beginsMarkup reports whether a text begins with a tag. Within the rows of other formats, tags are
// text.
func beginsMarkup(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n\ufeff"), "<")
}

// beginsLine reports whether a mark is at the beginning of a line or, if the mark is a tag, after
// other tags only. Elsewhere it may be part of a payment's text.
func beginsLine(text, mark string) bool {
	for {
		at := strings.Index(text, mark)
		if at < 0 {
			return false
		}
		line := text[strings.LastIndexAny(text[:at], "\r\n")+1 : at]
		line = strings.TrimLeft(line, " \t\ufeff")
		if line == "" || line[0] == '<' && mark[0] == '<' {
			return true
		}
		end := strings.IndexAny(text[at:], "\r\n")
		if end < 0 {
			return false
		}
		text = text[at+end:]
	}
}

// camtMessage refuses ISO 20022 messages that are not statements, and names their type.
func camtMessage(text string) error {
	for _, root := range []string{"BkToCstmrStmt", "BkToCstmrAcctRpt", "BkToCstmrDbtCdtNtfctn"} {
		if strings.Contains(text, root) {
			return nil
		}
	}
	const scheme = "tech:xsd:"
	if at := strings.Index(text, scheme); at >= 0 {
		name := text[at+len(scheme):]
		if end := strings.IndexAny(name, "\"' >"); end > 0 && end < 20 {
			return &FormatError{Why: "this is a message " + name[:end] +
				", not a statement (camt.052, camt.053 or camt.054)"}
		}
	}
	return &FormatError{Why: "this is XML, but not a camt statement"}
}

// looksLikeMT940 reports whether a text has two lines with tags of a statement, or one with its
// number or balance.
func looksLikeMT940(text string) bool {
	found := 0
	for line := range scan.SplitLines(text) {
		tag, _ := swift.CutTag(strings.TrimLeft(line, "\x01\x03 "))
		switch tag {
		case "20", "25", "28", "28C", "61":
			found++
		case "60F", "60M", "62F", "62M", "34F":
			found += 2
		}
		if found >= 2 {
			return true
		}
	}
	return false
}

// looksLikeQIF reports whether a text has a header of QIF, or records that end with a caret.
func looksLikeQIF(text string) bool {
	dated, amount := false, false
	for line := range scan.SplitLines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		upper := strings.ToUpper(line)
		for _, h := range []string{"!TYPE:", "!ACCOUNT", "!OPTION:", "!CLEAR:"} {
			if strings.HasPrefix(upper, h) {
				return true
			}
		}
		if strings.IndexByte("DTUCNPMALSE$^%I QYO", line[0]) < 0 {
			return false
		}
		dated = dated || line[0] == 'D'
		amount = amount || line[0] == 'T' || line[0] == 'U'
		if line == "^" {
			return dated && amount
		}
	}
	return false
}

// foreign recognises files that people confuse with statements, and returns what to do.
func foreign(head []byte) string {
	text := string(head[:min(len(head), 1024)])
	switch {
	case strings.HasPrefix(text, "%PDF"):
		return "this is a PDF; ask the bank for CSV, OFX or camt.053"
	case strings.HasPrefix(text, "PK\x03\x04"), strings.HasPrefix(text, "\xD0\xCF\x11\xE0"):
		return "this is a spreadsheet or an archive; save the sheet as CSV, or unpack it"
	case strings.HasPrefix(text, "\x1f\x8b"):
		return "this is a compressed file; unpack it"
	}
	wide := strings.HasPrefix(text, "\xFF\xFE") || strings.HasPrefix(text, "\xFE\xFF")
	if _, zeroed := charset.Zeros(head); strings.IndexByte(text, 0) >= 0 && !zeroed && !wide {
		return "the file is not text"
	}
	if beginsMarkup(text) && isWebPage(strings.ToUpper(text)) {
		return whyWebPage
	}
	return ""
}
