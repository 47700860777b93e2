package bankfile

import "strings"

// whyRates is about tables of exchange rates, which people who follow several currencies have
// beside their statements.
const whyRates = "these are exchange rates, not a statement"

// detectFormat tells the format by the beginning of the text.
func detectFormat(text string) (Format, error) {
	upper := strings.ToUpper(text)
	switch {
	case strings.Contains(upper, "<OFX>") || strings.Contains(upper, "OFXHEADER"):
		return OFX, nil
	case strings.Contains(text, "<Document") || strings.Contains(text, ":Document") ||
		strings.Contains(text, "<BkToCstmr"):
		return CAMT, camtMessage(text)
	case strings.Contains(upper[:min(len(upper), 1024)], "<HTML"),
		strings.Contains(upper[:min(len(upper), 1024)], "<!DOCTYPE HTML"):
		return "", &FormatError{Why: "this is a web page, not a statement; " +
			"the bank may have shown an error instead of the file"}
	case looksLikeMT940(text):
		return MT940, nil
	case looksLikeQIF(text):
		return QIF, nil
	}
	if strings.Contains(text, "eurofxref") {
		return "", &FormatError{Why: whyRates}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<?xml") {
		return "", &FormatError{Why: "this is XML, but neither camt nor OFX"}
	}
	return CSV, nil
}

// camtMessage refuses ISO 20022 messages that are no statements, by their names.
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

// looksLikeMT940 looks for two lines with tags of a statement, or for one with its number or
// balance.
func looksLikeMT940(text string) bool {
	found := 0
	for line := range splitLines(text) {
		tag, _ := mtTag(strings.TrimLeft(line, "\x01\x03 "))
		switch tag {
		case "20", "25", "28", "28C", "61":
			found++
		case "60F", "60M", "62F", "62M", "34F":
			found += 2
		}
		if strings.HasPrefix(line, "{1:F01") {
			found++
		}
		if found >= 2 {
			return true
		}
	}
	return false
}

// looksLikeQIF looks for a header of QIF, or for records that end with a caret.
func looksLikeQIF(text string) bool {
	dated, amount := false, false
	for line := range splitLines(text) {
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

// splitLines yields the lines of a text with any line end.
func splitLines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			line := text
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				line, text = text[:end], text[end+1:]
			} else {
				text = ""
			}
			if line != "" && !yield(line) {
				return
			}
		}
	}
}
