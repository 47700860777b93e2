package cells

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
)

// Order is the order of day, month and year in the dates of one file.
type Order string

// The orders that a file can have. Year-first dates and dates with a month's name show their own.
const (
	DayFirst   Order = "day-month-year"
	MonthFirst Order = "month-day-year"
	YearFirst  Order = "year-month-day"
)

// Two-digit years from pivotYear on are in the last century, because there are no files of
// statements from before 1970, and a date far in the future is more often read in the wrong order.
const pivotYear = 70

// The years that a statement can have. A number outside is more likely part of a reference.
const (
	yearMin = 1900
	yearMax = 2199
)

// Date is a date as it is written, split into three numbers. Their order is decided by the whole
// file.
type Date struct {
	a, b, c int
	short   bool  // The year has one or two digits.
	points  bool  // The numbers are separated by points.
	Fixed   Order // Set if the date shows its own order.
	Rest    string
}

// SplitDate splits a cell into the parts of a date, or returns false if it has none. Rest is the
// text after the date: a time or a second date.
func SplitDate(cell string) (Date, bool) {
	// Spreadsheets keep a text unchanged after an apostrophe.
	text := strings.TrimPrefix(TrimBlanks(cell), "'")
	if len(text) < 4 {
		return Date{}, false
	}
	if !IsDigit(text[0]) {
		return splitNamed(text)
	}
	var nums [3]int
	var lens [3]int
	pos, sep := 0, byte(0)
	for i := range 3 {
		start := pos
		for pos < len(text) && IsDigit(text[pos]) {
			if pos-start < 8 {
				nums[i] = nums[i]*10 + int(text[pos]-'0')
			}
			pos++
		}
		lens[i] = pos - start
		if lens[i] == 0 {
			if i == 1 {
				return splitNamed(text)
			}
			return Date{}, false
		}
		if i == 0 && lens[0] >= 8 {
			return splitCompact(text, lens[0])
		}
		if i == 2 {
			break
		}
		next, ok := separator(text, &pos)
		if !ok {
			if i == 0 {
				return splitNamed(text)
			}
			return Date{}, false
		}
		if i == 0 {
			sep = next
		} else if next != sep && next != '\'' {
			return Date{}, false
		}
	}
	return numbered(nums, lens, sep, text[pos:])
}

// separator skips the separator between two numbers of a date. Quicken writes 6/ 4'18.
func separator(text string, pos *int) (byte, bool) {
	if *pos >= len(text) {
		return 0, false
	}
	c := text[*pos]
	if c != '/' && c != '-' && c != '.' && c != '\'' {
		return 0, false
	}
	*pos++
	for *pos < len(text) && text[*pos] == ' ' {
		*pos++
	}
	return c, true
}

func numbered(nums, lens [3]int, sep byte, rest string) (Date, bool) {
	d := Date{a: nums[0], b: nums[1], c: nums[2], points: sep == '.', Rest: rest}
	switch {
	case lens[0] == 4 && lens[1] <= 2 && lens[2] <= 2:
		d.Fixed = YearFirst
	case lens[0] <= 2 && lens[1] <= 2 && lens[2] == 4:
	case lens[0] <= 2 && lens[1] <= 2 && lens[2] <= 2:
		d.short = true
	default:
		return Date{}, false
	}
	return d, restIsTime(rest)
}

// splitCompact reads 20260131, with or without a time after it.
func splitCompact(text string, digits int) (Date, bool) {
	if digits != 8 && digits != 12 && digits != 14 {
		return Date{}, false
	}
	y, _ := strconv.Atoi(text[:4])
	m, _ := strconv.Atoi(text[4:6])
	d, _ := strconv.Atoi(text[6:8])
	date := Date{a: y, b: m, c: d, Fixed: YearFirst, Rest: text[digits:]}
	if y < yearMin || y > yearMax || m > 12 || d > 31 {
		return Date{}, false
	}
	return date, digits > 8 || restIsTime(date.Rest)
}

// splitNamed reads dates with a month's name: 29-Jun-22, 01 NOV 2021, Jun 29, 2022.
func splitNamed(text string) (Date, bool) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return isBlank(r) || strings.ContainsRune("-/.,'", r)
	})
	if len(words) > 3 && monthOf(words[0]) == 0 && unicode.IsLetter(rune(words[0][0])) {
		words = words[1:] // The name of a weekday.
	}
	if len(words) < 3 {
		return Date{}, false
	}
	d := Date{Fixed: DayFirst, short: len(words[2]) <= 2}
	day, month := words[0], monthOf(words[1])
	if month == 0 {
		day, month = strings.TrimRight(words[1], "stndrh"), monthOf(words[0])
	}
	var err1, err2 error
	d.a, err1 = strconv.Atoi(day)
	d.c, err2 = strconv.Atoi(words[2])
	d.b = month
	if err1 != nil || err2 != nil || month == 0 || len(day) > 2 || len(words[2]) > 4 {
		return Date{}, false
	}
	if at := strings.LastIndex(text, words[2]); at >= 0 {
		d.Rest = text[at+len(words[2]):]
	}
	return d, true
}

// restIsTime reports whether a text may follow a date: nothing, a time, a point, a second date. A
// cell with another text is not a date.
func restIsTime(rest string) bool {
	if rest == "" || rest == "." {
		return true
	}
	text := strings.TrimLeft(rest, "., \tTt")
	switch {
	case len(text) == len(rest):
		return rest[0] == '['
	case text == "":
		return true
	case !IsDigit(text[0]):
		lower := strings.ToLower(text)
		return strings.HasPrefix(lower, "as of ") || strings.HasPrefix(lower, "at ")
	}
	digits := 1
	for digits < len(text) && IsDigit(text[digits]) {
		digits++
	}
	if digits == len(text) {
		return digits == 4 || digits == 6
	}
	return digits <= 2 && (text[digits] == ':' || text[digits] == 'h' ||
		text[digits] == '.' && rest[0] == ' ') || digits == 6 || digits == 4
}

// Possible reports whether the date exists in this order.
func (d Date) Possible(o Order) bool { return realDay(d.parts(o)) }

// Read returns the date in this order, or in its own order if it shows one.
func (d Date) Read(o Order) (string, bool) { return MakeDate(d.parts(o)) }

func (d Date) parts(o Order) (year, month, day int) {
	if d.Fixed != "" {
		o = d.Fixed
	}
	switch o {
	case YearFirst:
		year, month, day = d.a, d.b, d.c
	case MonthFirst:
		month, day, year = d.a, d.b, d.c
	default:
		day, month, year = d.a, d.b, d.c
	}
	if d.short {
		if year >= pivotYear {
			year += 1900
		} else {
			year += 2000
		}
	}
	return year, month, day
}

// MakeDate returns the calendar day, if there is such a day.
func MakeDate(year, month, day int) (string, bool) {
	if !realDay(year, month, day) {
		return "", false
	}
	var b [10]byte
	b[0], b[1] = '0'+byte(year/1000), '0'+byte(year/100%10)
	b[2], b[3] = '0'+byte(year/10%10), '0'+byte(year%10)
	b[4], b[7] = '-', '-'
	b[5], b[6] = '0'+byte(month/10), '0'+byte(month%10)
	b[8], b[9] = '0'+byte(day/10), '0'+byte(day%10)
	return string(b[:]), true
}

// realDay reports whether there is such a day, in a year that a statement can have.
func realDay(year, month, day int) bool {
	return year >= yearMin && year <= yearMax && month >= 1 && month <= 12 && day >= 1 &&
		(day <= 28 || day <= daysOf(year, month))
}

func daysOf(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// SecondDate returns the second date of a cell such as "04/17/2023 as of 04/15/2023".
func (d Date) SecondDate(o Order) string {
	const mark = "as of "
	// Do not convert to lower case, because that changes the length of some letters.
	for at := range d.Rest {
		if end := at + len(mark); end <= len(d.Rest) && strings.EqualFold(d.Rest[at:end], mark) {
			other, _ := SplitDate(d.Rest[end:])
			date, _ := other.Read(o)
			return date
		}
	}
	return ""
}

// Orders collects the evidence of all dates of a file about their order.
type Orders struct {
	seen           int
	Open           bool // A date was seen that does not show its own order.
	unpointed      bool // One such date is written without points.
	NoDay, NoMonth int  // The number of such dates that do not exist in that order.
	noYear         int
	heads, tails   [100]bool // The first and third numbers of those with short years.
	First          Date      // The first such date,
	Example        At        // and as it is shown.
}

// Add adds the evidence of a date.
func (o *Orders) Add(d Date, cell string, line int) {
	o.seen++
	if d.Fixed != "" {
		return
	}
	day, month := d.Possible(DayFirst), d.Possible(MonthFirst)
	year := d.Possible(YearFirst)
	if !day && !month && !year {
		return // The row is refused, so it is no evidence.
	}
	if !o.Open {
		o.Open, o.First, o.Example = true, d, At{Line: line, Text: Clip(cell)}
		o.First.Rest = "" // Because it would keep the whole row in memory.
	}
	if !day {
		o.NoDay++
	}
	if !month {
		o.NoMonth++
	}
	if !year {
		o.noYear++
	}
	o.unpointed = o.unpointed || !d.points
	if d.short {
		o.heads[d.a], o.tails[d.c] = true, true
	}
}

// Decide returns the order of the file; ask is true if the dates do not decide it. If no order fits
// every date, it is the order that fits more of them, and the other rows are refused.
//
// Dates with points have the day first, because no known bank does otherwise. Such a file needs no
// question, and Decide returns no order for it: its dates are read with the day first anyway.
func (o *Orders) Decide() (order Order, ask bool) {
	order, ask = o.byEvidence()
	return order, ask && o.unpointed
}

// byEvidence decides by the orders that are possible, regardless of the separator.
func (o *Orders) byEvidence() (order Order, ask bool) {
	switch {
	case !o.Open:
		return "", false // Every date shows its own order.
	case o.NoDay == 0 && o.NoMonth > 0 && o.YearsFirst():
		return "", true
	case o.NoDay == 0 && o.NoMonth > 0:
		return DayFirst, false
	case o.NoMonth == 0 && o.NoDay > 0:
		return MonthFirst, false
	case o.NoDay > 0 && o.noYear == 0:
		return YearFirst, false
	case o.NoDay < o.NoMonth:
		return DayFirst, false
	case o.NoMonth < o.NoDay:
		return MonthFirst, false
	}
	return "", true
}

// YearsFirst reports whether a short year seems to be first: every date allows it, and the first
// number has fewer values than the third, because a statement has fewer years than days.
func (o *Orders) YearsFirst() bool {
	heads, tails := 0, 0
	for i := range o.heads {
		if o.heads[i] {
			heads++
		}
		if o.tails[i] {
			tails++
		}
	}
	return o.noYear == 0 && heads < tails
}

// monthNames are the beginnings of the names of months in the languages of known files, without
// accents. Each is long enough to name only one month.
var monthNames = [12][]string{
	{"jan", "ene", "gen", "sty"},
	{"feb", "fev", "lut"},
	{"mar", "maa", "mrt", "mae", "mrz"},
	{"apr", "avr", "abr", "kwi"},
	{"may", "mai", "mei", "mag", "maj"},
	{"jun", "juin", "giu", "cze"},
	{"jul", "juil", "lug", "lip"},
	{"aug", "aou", "ago", "sie"},
	{"sep", "set", "wrz"},
	{"oct", "okt", "ott", "out", "paz"},
	{"nov", "lis"},
	{"dec", "dez", "dic", "des", "gru"},
}

// monthOf returns the month that a word names, or 0.
func monthOf(word string) int {
	if len(word) < 3 || word[0] < 'A' {
		return 0
	}
	w := reading.Fold(word)
	if strings.HasPrefix(w, "juil") {
		return 7
	}
	for i, names := range monthNames {
		for _, name := range names {
			if strings.HasPrefix(w, name) {
				return i + 1
			}
		}
	}
	return 0
}

// IsDate reports whether a cell is a date.
func IsDate(cell string) bool {
	d, ok := SplitDate(cell)
	return ok && (d.Possible(DayFirst) || d.Possible(MonthFirst))
}

// CompactDate reads eight digits: year, month and day.
func CompactDate(digits string) (string, bool) {
	n := 0
	for i := range 8 {
		n = n*10 + int(digits[i]-'0')
	}
	return MakeDate(n/10000, n/100%100, n%100)
}
