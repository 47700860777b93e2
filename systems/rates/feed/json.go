package feed

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// answer has the members of all forms of JSON answers, as far as they matter here.
type answer struct {
	// Frankfurter's; a range has start_date and rates by day.
	Amount *json.Number `json:"amount"`
	Date   string       `json:"date"`
	Start  string       `json:"start_date"`
	// Open Exchange Rates', and of those who have copied them.
	Timestamp int64 `json:"timestamp"`
	// Both.
	Base  string                     `json:"base"`
	Rates map[string]json.RawMessage `json:"rates"`
	// What comes in place of rates.
	Error       any    `json:"error"`
	Message     string `json:"message"`
	Description string `json:"description"`
}

// JSON reads an answer of Frankfurter, for one day or a range, or of Open Exchange Rates.
func JSON(data []byte) ([]rates.Day, error) {
	if data[0] == '[' {
		return rows(data)
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, unreadable("it is not JSON of rates: %v", err)
	}
	if a.Rates == nil {
		for _, said := range []string{a.Description, a.Message} {
			if said != "" {
				return nil, unreadable("it says %q", short(said))
			}
		}
		return nil, unreadable("it has no member rates")
	}
	if !isCode(a.Base) {
		return nil, unreadable("its base is %q", short(a.Base))
	}
	if a.Amount != nil {
		var amount money.Decimal
		if err := amount.UnmarshalNumber(a.Amount.String()); err != nil ||
			amount != money.DecimalFromInt(1) {
			return nil, unreadable("its rates are for an amount of %s, not of 1", *a.Amount)
		}
	}
	if a.Start != "" {
		return a.span()
	}
	d := rates.Day{
		Base: money.Currency(a.Base), Source: SourceFrankfurter, Date: rates.Date(a.Date),
	}
	if a.Timestamp != 0 {
		d.Source, d.At = SourceOpen, time.Unix(a.Timestamp, 0).UTC()
		if a.Date == "" {
			d.Date = rates.DateOf(d.At)
		}
	}
	if !d.Date.Valid() {
		return nil, unreadable("its date is %q", short(a.Date))
	}
	var p page
	if err := p.members(d, a.Rates); err != nil {
		return nil, err
	}
	return p.sorted()
}

// span reads the rates of a range of days.
func (a answer) span() ([]rates.Day, error) {
	var p page
	for date, raw := range a.Rates {
		d := rates.Day{
			Base: money.Currency(a.Base), Source: SourceFrankfurter, Date: rates.Date(date),
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil || !d.Date.Valid() {
			return nil, unreadable("%q has no rates by currency", short(date))
		}
		if err := p.members(d, members); err != nil {
			return nil, err
		}
	}
	return p.sorted()
}

// members adds the rates of a day, in the order of the codes.
func (p *page) members(d rates.Day, members map[string]json.RawMessage) error {
	codes := make([]string, 0, len(members))
	for code := range members {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	for _, code := range codes {
		text := string(bytes.Trim(members[code], `"`))
		// Some publishers have entries of their own, for metals or for other markets.
		if text == "null" || !isCode(code) {
			continue
		}
		found, ok, err := price(code, text, string(d.Date))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := p.add(d, found); err != nil {
			return err
		}
	}
	return nil
}

// rows reads the second form of Frankfurter: a row for each pair and day.
func rows(data []byte) ([]rates.Day, error) {
	var list []struct {
		Date  string      `json:"date"`
		Base  string      `json:"base"`
		Quote string      `json:"quote"`
		Rate  json.Number `json:"rate"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, unreadable("it is not JSON of rates: %v", err)
	}
	var p page
	for _, row := range list {
		d := rates.Day{
			Base: money.Currency(row.Base), Source: SourceFrankfurter, Date: rates.Date(row.Date),
		}
		if !isCode(row.Base) || !d.Date.Valid() {
			return nil, unreadable("a row is of base %q and date %q", short(row.Base),
				short(row.Date))
		}
		found, ok, err := price(row.Quote, row.Rate.String(), row.Date)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if err := p.add(d, found); err != nil {
			return nil, err
		}
	}
	return p.sorted()
}
