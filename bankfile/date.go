package bankfile

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/exchequer-dev/exchequer/bankfile/internal/reading"
)

// Date is a calendar day as the bank wrote it: "2026-01-31". It is never an instant and never
// passes through a time zone. The empty Date is no date.
type Date string

// Order is the order of day, month and year in the dates of one file.
type Order string

// The orders that a file can have. Year-first and dates with a month's name settle themselves.
const (
	DayFirst   Order = "day-month-year"
	MonthFirst Order = "month-day-year"
	YearFirst  Order = "year-month-day"
)

// Two-digit years from pivotYear on belong to the last century. Statements of before 1970 do not
// exist as files, and a date far in the future is more often a wrong reading.
const pivotYear = 70

// The years that a statement can have. A number outside is not a year but a misread reference.
const (
	yearMin = 1900
	yearMax = 2199
)

// dateText is a date as it was written, taken apart: three numbers whose roles the file decides.
type dateText struct {
	a, b, c int
	short   bool  // The year has one or two digits.
	points  bool  // Points stand between the numbers.
	fixed   Order // Set where the date itself says its order.
	rest    string
}

// splitDate takes a cell apart, or says that it holds no date. What follows the date, a time or a
// second date, is in rest.
func splitDate(cell string) (dateText, bool) {
	// Spreadsheets keep a text as it is behind an apostrophe.
	text := strings.TrimPrefix(trimBlanks(cell), "'")
	if len(text) < 4 {
		return dateText{}, false
	}
	if !isDigit(text[0]) {
		return splitNamed(text)
	}
	var nums [3]int
	var lens [3]int
	pos, sep := 0, byte(0)
	for i := range 3 {
		start := pos
		for pos < len(text) && isDigit(text[pos]) {
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
			return dateText{}, false
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
			return dateText{}, false
		}
		if i == 0 {
			sep = next
		} else if next != sep && next != '\'' {
			return dateText{}, false
		}
	}
	return numbered(nums, lens, sep, text[pos:])
}

// separator passes over what stands between two numbers of a date. Quicken writes 6/ 4'18.
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

func numbered(nums, lens [3]int, sep byte, rest string) (dateText, bool) {
	d := dateText{a: nums[0], b: nums[1], c: nums[2], points: sep == '.', rest: rest}
	switch {
	case lens[0] == 4 && lens[1] <= 2 && lens[2] <= 2:
		d.fixed = YearFirst
	case lens[0] <= 2 && lens[1] <= 2 && lens[2] == 4:
	case lens[0] <= 2 && lens[1] <= 2 && lens[2] <= 2:
		d.short = true
	default:
		return dateText{}, false
	}
	return d, restIsTime(rest)
}

// splitCompact reads 20260131, alone or with a time behind it.
func splitCompact(text string, digits int) (dateText, bool) {
	if digits != 8 && digits != 12 && digits != 14 {
		return dateText{}, false
	}
	y, _ := strconv.Atoi(text[:4])
	m, _ := strconv.Atoi(text[4:6])
	d, _ := strconv.Atoi(text[6:8])
	date := dateText{a: y, b: m, c: d, fixed: YearFirst, rest: text[digits:]}
	if y < yearMin || y > yearMax || m > 12 || d > 31 {
		return dateText{}, false
	}
	return date, digits > 8 || restIsTime(date.rest)
}

// splitNamed reads dates with a month's name: 29-Jun-22, 01 NOV 2021, Jun 29, 2022.
func splitNamed(text string) (dateText, bool) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return isBlank(r) || strings.ContainsRune("-/.,'", r)
	})
	if len(words) > 3 && monthOf(words[0]) == 0 && unicode.IsLetter(rune(words[0][0])) {
		words = words[1:] // The name of a weekday.
	}
	if len(words) < 3 {
		return dateText{}, false
	}
	d := dateText{fixed: DayFirst, short: len(words[2]) <= 2}
	day, month := words[0], monthOf(words[1])
	if month == 0 {
		day, month = strings.TrimRight(words[1], "stndrh"), monthOf(words[0])
	}
	var err1, err2 error
	d.a, err1 = strconv.Atoi(day)
	d.c, err2 = strconv.Atoi(words[2])
	d.b = month
	if err1 != nil || err2 != nil || month == 0 || len(day) > 2 || len(words[2]) > 4 {
		return dateText{}, false
	}
	if at := strings.LastIndex(text, words[2]); at >= 0 {
		d.rest = text[at+len(words[2]):]
	}
	return d, true
}

// restIsTime tells whether what follows a date may follow one: nothing, a time, a point, a second
// date. Anything else, and the cell is no date.
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
	case !isDigit(text[0]):
		lower := strings.ToLower(text)
		return strings.HasPrefix(lower, "as of ") || strings.HasPrefix(lower, "at ")
	}
	digits := 1
	for digits < len(text) && isDigit(text[digits]) {
		digits++
	}
	if digits == len(text) {
		return digits == 4 || digits == 6
	}
	return digits <= 2 && (text[digits] == ':' || text[digits] == 'h' ||
		text[digits] == '.' && rest[0] == ' ') || digits == 6 || digits == 4
}

// possible tells whether the date exists when read in this order.
func (d dateText) possible(o Order) bool { return realDay(d.parts(o)) }

// read returns the date in this order; the date's own order, where it has one, wins.
func (d dateText) read(o Order) (Date, bool) { return makeDate(d.parts(o)) }

func (d dateText) parts(o Order) (year, month, day int) {
	if d.fixed != "" {
		o = d.fixed
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

// makeDate returns the calendar day, if there is such a day.
func makeDate(year, month, day int) (Date, bool) {
	if !realDay(year, month, day) {
		return "", false
	}
	var b [10]byte
	b[0], b[1] = '0'+byte(year/1000), '0'+byte(year/100%10)
	b[2], b[3] = '0'+byte(year/10%10), '0'+byte(year%10)
	b[4], b[7] = '-', '-'
	b[5], b[6] = '0'+byte(month/10), '0'+byte(month%10)
	b[8], b[9] = '0'+byte(day/10), '0'+byte(day%10)
	return Date(b[:]), true
}

// realDay tells whether there is such a day, in a year that a statement can have.
func realDay(year, month, day int) bool {
	return year >= yearMin && year <= yearMax && month >= 1 && month <= 12 && day >= 1 &&
		(day <= 28 || day <= daysOf(year, month))
}

func daysOf(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// secondDate reads the other date of "04/17/2023 as of 04/15/2023".
func (d dateText) secondDate(o Order) Date {
	const mark = "as of "
	// Lower case would not do: there, some letters take more bytes or fewer.
	for at := range d.rest {
		if end := at + len(mark); end <= len(d.rest) && strings.EqualFold(d.rest[at:end], mark) {
			other, _ := splitDate(d.rest[end:])
			date, _ := other.read(o)
			return date
		}
	}
	return ""
}

// orders gathers what all dates of a file say about their order.
type orders struct {
	seen           int
	open           bool // A date was seen that does not say its own order.
	unpointed      bool // One such date is written without points.
	noDay, noMonth int  // How many such dates are impossible when read so.
	noYear         int
	heads, tails   [100]bool // The first and third numbers of those with short years.
	first          dateText  // The first such date,
	example        cellAt    // and as it is shown.
}

func (o *orders) add(d dateText, cell string, line int) {
	o.seen++
	if d.fixed != "" {
		return
	}
	day, month := d.possible(DayFirst), d.possible(MonthFirst)
	year := d.possible(YearFirst)
	if !day && !month && !year {
		return // The row is refused; it says nothing about the others.
	}
	if !o.open {
		o.open, o.first, o.example = true, d, cellAt{Line: line, Text: clip(cell)}
		o.first.rest = "" // Which would hold the whole row.
	}
	if !day {
		o.noDay++
	}
	if !month {
		o.noMonth++
	}
	if !year {
		o.noYear++
	}
	o.unpointed = o.unpointed || !d.points
	if d.short {
		o.heads[d.a], o.tails[d.c] = true, true
	}
}

// decide returns the one order of the file, or asks. A file in which neither order fits every
// date has the order that fits more of them; the others are refused, each with its line.
//
// Where dates are written with points, the day comes first: no bank is known that does otherwise.
// They are not asked about, and nothing is decided by them: they are read so without an order.
func (o *orders) decide() (order Order, ask bool) {
	order, ask = o.settle()
	return order, ask && o.unpointed
}

// settle decides by which orders are possible, however the dates are written.
func (o *orders) settle() (order Order, ask bool) {
	switch {
	case !o.open:
		return "", false // Every date says its own.
	case o.noDay == 0 && o.noMonth > 0 && o.yearsFirst():
		return "", true
	case o.noDay == 0 && o.noMonth > 0:
		return DayFirst, false
	case o.noMonth == 0 && o.noDay > 0:
		return MonthFirst, false
	case o.noDay > 0 && o.noYear == 0:
		return YearFirst, false
	case o.noDay < o.noMonth:
		return DayFirst, false
	case o.noMonth < o.noDay:
		return MonthFirst, false
	}
	return "", true
}

// yearsFirst tells whether a short year seems to come first: it may in every date, and there the
// first number differs less than the third. The dates of a statement have fewer years than days.
func (o *orders) yearsFirst() bool {
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

// monthNames are beginnings of months' names in the languages of the files we know, without
// accents. Each is long enough to name one month only.
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

// fold makes letters plain: lower case without accents.
func fold(text string) string { return reading.Fold(text) }

// monthOf returns the month that a word names, or 0.
func monthOf(word string) int {
	if len(word) < 3 || word[0] < 'A' {
		return 0
	}
	w := fold(word)
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
