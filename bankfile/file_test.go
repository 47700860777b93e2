package bankfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
)

func TestFilesThatAreNoStatements(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":    {"", "empty"},
		"blanks":     {" \r\n\n", "empty"},
		"a PDF":      {"%PDF-1.7\n", "PDF"},
		"a workbook": {"PK\x03\x04\x14\x00", "spreadsheet"},
		"gzip":       {"\x1f\x8b\x08\x00", "compressed"},
		"a web page": {"<!DOCTYPE html><html><body>Sorry</body></html>", "web page"},
		"a letter":   {"Dear customer,\nwe are closed.\n", "no row"},
		"rates in XML": {`<?xml version="1.0"?><Envelope xmlns="http://example.org/` +
			`eurofxref"><Cube currency="USD" rate="1.1"/></Envelope>`, "exchange rates"},
		"rates in CSV": {table("Date, USD, JPY, CZK, DKK, GBP,", "13 April 2026, 1.16, 186.2, "+
			"24.3, 7.47, 0.87,"), "exchange rates"},
		"other XML": {"<?xml version=\"1.0\"?><rates/>", "XML"},
		"a payment": {`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"/>`,
			"pain.001"},
		"bare bytes":   {"\x00\x01\x02\x03\x00\xff\xfe\x00abc", "not text"},
		"cut-off camt": {camtStatement("1.00")[:500], "incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.text, bankfile.Options{})
			var format *bankfile.FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}
