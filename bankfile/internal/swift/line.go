package swift

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/money"
)

// Line is the first line of a :61:.
type Line struct {
	Date, ValueDate string // ValueDate may be empty.
	Amount          money.Decimal
	Reversal        bool // The entry reverses an earlier one.
	Pending         bool // The entry is expected, not booked.
	Category        string
	Reference       string // The customer's.
	BankID          string // The bank's reference.
	Doubts          []string
}

// ReadLine reads the first line of a :61:, which has the parts
//
//	value date, entry date, mark, third letter of the currency, amount, type, reference//bank's
//
// as in 1105240524D9,N192NONREF. The entry date, the letter and the bank's reference are optional.
func ReadLine(line string) (l Line, err error) {
	if len(line) < 6 || !cells.AllDigits(line[:6]) {
		return l, fmt.Errorf("%q has no value date", cells.Clip(line))
	}
	value, valueOK := readDate(line[:6])
	year := 2000 + two(line[:2])
	rest := line[6:]
	entryDate, hasEntry := "", false
	if len(rest) > 4 && cells.AllDigits(rest[:4]) {
		entryDate, hasEntry = nearest(year, value, two(rest[:2]), two(rest[2:]))
		if !hasEntry {
			l.Doubts = append(l.Doubts, fmt.Sprintf(
				"There is no such entry date as %q; the value date counts.", rest[:4]))
		}
		rest = rest[4:]
	}
	switch {
	case !valueOK && !hasEntry:
		return l, fmt.Errorf("there is no such date as %q", line[:6])
	case !valueOK:
		l.Doubts = append(l.Doubts, fmt.Sprintf(
			"There is no such value date as %q; the entry date counts.", line[:6]))
		l.Date = entryDate
	case hasEntry:
		l.Date, l.ValueDate = entryDate, value
	default:
		l.Date, l.ValueDate = value, value
	}
	mark, rest, ok := cutMark(rest)
	if !ok {
		return l, fmt.Errorf("%q has no mark of debit or credit", cells.Clip(line))
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != ',' && r != '.' && (r < '0' || r > '9')
	})
	if end < 0 {
		end = len(rest)
	}
	amount, err := ReadAmount(rest[:end])
	if err != nil {
		return l, fmt.Errorf("the amount: %w", err)
	}
	// A reversed credit takes money out, a reversed debit brings it back.
	if mark == "D" || mark == "RC" || mark == "ED" {
		amount = amount.Neg()
	}
	l.Amount = amount
	l.Reversal = mark[0] == 'R'
	l.Pending = mark[0] == 'E'
	rest = rest[end:]
	if len(rest) >= 4 {
		l.Category, rest = rest[:4], rest[4:]
	} else {
		l.Category, rest = rest, ""
	}
	reference, bank, _ := strings.Cut(rest, "//")
	if reference = strings.TrimSpace(reference); reference != "NONREF" {
		l.Reference = reference
	}
	l.BankID = strings.TrimSpace(bank)
	return l, nil
}

// cutMark splits off the mark of debit or credit and the letter of the currency after it.
func cutMark(text string) (mark, rest string, ok bool) {
	for _, m := range []string{"RC", "RD", "EC", "ED", "C", "D"} {
		if strings.HasPrefix(text, m) {
			rest = text[len(m):]
			if rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
				rest = rest[1:]
			}
			return m, rest, rest != ""
		}
	}
	return "", text, false
}

// nearest returns the date with a month and a day that is nearest to the value date, because an
// entry date has no year.
func nearest(year int, value string, month, day int) (string, bool) {
	best, found := "", false
	bestGap := 0
	for y := year - 1; y <= year+1; y++ {
		d, ok := cells.MakeDate(y, month, day)
		if !ok {
			continue
		}
		gap := 0
		if value != "" {
			gap = abs(dayNumber(d) - dayNumber(value))
		} else {
			gap = abs(y - year)
		}
		if !found || gap < bestGap {
			best, bestGap, found = d, gap, true
		}
	}
	return best, found
}

// dayNumber numbers the days with gaps between months, which is enough to compare years.
func dayNumber(d string) int {
	return (int(d[0]-'0')*1000+int(d[1]-'0')*100+two(string(d[2:4])))*372 +
		two(string(d[5:7]))*31 + two(string(d[8:10]))
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
