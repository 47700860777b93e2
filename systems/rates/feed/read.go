package feed

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// The names of sources.
const (
	SourceECB         = "ecb"
	SourceFrankfurter = "frankfurter"
	SourceOpen        = "openexchangerates"
)

// SizeMax is the maximum size in bytes of what is read, zipped or not: ten times the European
// Central Bank's file of all time.
const SizeMax = 64 << 20

// Read reads rates in any of the forms that the package knows, which it recognises by their
// beginning.
func Read(data []byte) ([]rates.Day, error) {
	if len(data) > SizeMax {
		return nil, unreadable("it has more than %d bytes", SizeMax)
	}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		inner, err := unzip(data)
		if err != nil {
			return nil, err
		}
		return Read(inner)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	switch {
	case len(text) == 0:
		return nil, rates.ErrNoData.New()
	case text[0] == '<':
		return XML(text)
	case text[0] == '{' || text[0] == '[':
		return JSON(text)
	}
	return CSV(text)
}

// unzip returns the one file in an archive.
func unzip(data []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, unreadable("the archive is damaged: %v", err)
	}
	if len(archive.File) != 1 {
		return nil, unreadable("the archive has %d files, it must have one", len(archive.File))
	}
	file, err := archive.File[0].Open()
	if err != nil {
		return nil, unreadable("the archive is damaged: %v", err)
	}
	defer file.Close()
	inner, err := io.ReadAll(io.LimitReader(file, SizeMax+1))
	switch {
	case err != nil:
		return nil, unreadable("the archive is damaged: %v", err)
	case bytes.HasPrefix(inner, []byte("PK\x03\x04")):
		return nil, unreadable("there is an archive within the archive")
	}
	return inner, nil
}

func unreadable(format string, args ...any) error {
	return rates.ErrUnreadable.With("format", "rates").With("reason", fmt.Sprintf(format, args...))
}

// page gathers days, each once.
type page struct {
	days map[rates.Date]*rates.Day
}

// add adds the rate of a currency to a day. The same rate may be there twice, another may not.
func (p *page) add(day rates.Day, price rates.Price) error {
	if p.days == nil {
		p.days = map[rates.Date]*rates.Day{}
	}
	d := p.days[day.Date]
	if d == nil {
		d = &day
		p.days[day.Date] = d
	}
	if d.Base != day.Base {
		return unreadable("%s has rates of %s and of %s", day.Date, d.Base, day.Base)
	}
	for _, known := range d.Prices {
		if known.Currency != price.Currency {
			continue
		}
		if known.Value != price.Value {
			return unreadable("%s has two rates of %s", day.Date, price.Currency)
		}
		return nil
	}
	d.Prices = append(d.Prices, price)
	return nil
}

// sorted returns the days, the oldest first.
func (p *page) sorted() ([]rates.Day, error) {
	if len(p.days) == 0 {
		return nil, rates.ErrNoData.New()
	}
	all := make([]rates.Day, 0, len(p.days))
	for _, d := range p.days {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b rates.Day) int { return cmp.Compare(a.Date, b.Date) })
	return all, nil
}

// price reads a rate as it is written; there is none where it is empty or N/A.
func price(code, text, where string) (p rates.Price, ok bool, err error) {
	code, text = strings.TrimSpace(code), strings.TrimSpace(text)
	if text == "" || text == "N/A" {
		return p, false, nil
	}
	if !isCode(code) {
		return p, false, unreadable("%s: %q is no currency", where, code)
	}
	p.Currency = money.Currency(code)
	if err := p.Value.UnmarshalNumber(text); err != nil {
		return p, false, unreadable("%s: the rate of %s is %q", where, code, text)
	}
	return p, true, nil
}

func isCode(code string) bool {
	return len(code) == 3 && strings.IndexFunc(code, func(r rune) bool {
		return r < 'A' || r > 'Z'
	}) < 0
}
