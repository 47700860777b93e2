package feed

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/systems/rates"
)

// dateForms are the two ways in which the European Central Bank writes days in CSV: that of the
// history and that of the daily file.
var dateForms = []string{"2006-01-02", "2 January 2006"}

// CSV reads a file of the European Central Bank: a first column Date, and a column for each
// currency. Blanks around values, a comma at the end of lines and N/A for no rate belong to the
// form.
func CSV(data []byte) ([]rates.Day, error) {
	reader := csv.NewReader(bytes.NewReader(data))
	reader.FieldsPerRecord = -1
	reader.TrimLeadingSpace = true
	reader.ReuseRecord = true
	header, err := reader.Read()
	if err != nil {
		return nil, unreadable("it is not CSV: %v", err)
	}
	codes := make([]string, len(header))
	for i, name := range header {
		codes[i] = strings.TrimSpace(name)
	}
	if codes[0] != "Date" {
		return nil, unreadable("it begins with %q, not with a column Date", short(codes[0]))
	}
	var p page
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return p.sorted()
		}
		if err != nil {
			return nil, unreadable("it is not CSV: %v", err)
		}
		line, _ := reader.FieldPos(0)
		if err := p.row(codes, record, line); err != nil {
			return nil, err
		}
	}
}

// row adds a line of a file.
func (p *page) row(codes, record []string, line int) error {
	where := fmt.Sprintf("line %d", line)
	date, ok := day(strings.TrimSpace(record[0]))
	if !ok {
		return unreadable("%s: %q is no day", where, short(record[0]))
	}
	if len(record) > len(codes) {
		return unreadable("%s has more columns than the first line", where)
	}
	if p.days[date] != nil {
		return unreadable("%s: %s is there twice", where, date)
	}
	// A line that was cut off in the middle would lose currencies without a word.
	named := len(codes)
	if codes[named-1] == "" {
		named--
	}
	if len(record) < named {
		return unreadable("%s has fewer columns than the first line", where)
	}
	for i := 1; i < len(record); i++ {
		found, ok, err := price(codes[i], record[i], where)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := p.add(rates.Day{Date: date, Base: "EUR", Source: SourceECB}, found); err != nil {
			return err
		}
	}
	return nil
}

func day(text string) (rates.Date, bool) {
	for _, form := range dateForms {
		if t, err := time.Parse(form, text); err == nil {
			return rates.DateOf(t), true
		}
	}
	return "", false
}

// short cuts text that is echoed.
func short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
