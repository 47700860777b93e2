package feed

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/exchequer-dev/exchequer/systems/rates"
)

// XML reads a file of the European Central Bank: elements Cube with a time, and in them elements
// Cube with a currency and a rate. All other elements are passed over.
func XML(data []byte) ([]rates.Day, error) {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	var p page
	var date rates.Date
	dated := 0 // The depth at which the element of the day was opened.
	for depth, first := 0, true; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unreadable("it is not XML: %v", err)
		}
		switch element := token.(type) {
		case xml.EndElement:
			if depth == dated {
				date, dated = "", 0
			}
			depth--
		case xml.StartElement:
			depth++
			if first && element.Name.Local != "Envelope" {
				return nil, unreadable("it begins with <%s>, not with an envelope of rates",
					element.Name.Local)
			}
			first = false
			if element.Name.Local != "Cube" {
				continue
			}
			if time := attribute(element, "time"); time != "" {
				if date, dated = rates.Date(time), depth; !date.Valid() {
					return nil, unreadable("%q is no day", time)
				}
			}
			if err := p.cube(element, date, decoder); err != nil {
				return nil, err
			}
		}
	}
	return p.sorted()
}

// cube adds the rate that an element has of a currency, if any.
func (p *page) cube(element xml.StartElement, date rates.Date, decoder *xml.Decoder) error {
	code := attribute(element, "currency")
	if code == "" {
		return nil
	}
	line, _ := decoder.InputPos()
	where := fmt.Sprintf("line %d", line)
	if date == "" {
		return unreadable("%s: a rate without a day", where)
	}
	found, ok, err := price(code, attribute(element, "rate"), where)
	if err != nil || !ok {
		return err
	}
	return p.add(rates.Day{Date: date, Base: "EUR", Source: SourceECB}, found)
}

func attribute(element xml.StartElement, name string) string {
	for _, a := range element.Attr {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}
