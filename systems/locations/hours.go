package locations

import (
	"fmt"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// Bounds of opening hours.
const (
	periodsMax = 70  // of a week: ten a day
	specialMax = 100 // days ahead that differ
	noteMax    = 200 // bytes
)

// Hours are opening hours, by the clock of the location's time zone.
type Hours struct {
	// Weekly are the periods of an ordinary week; a day without one is closed.
	Weekly []Period `dynamodbav:"weekly"`
	// Special are days that differ: they replace the periods that would begin on that day.
	Special []SpecialDay `dynamodbav:"special,omitempty"`
	// Note is for what rules cannot express, such as "by appointment".
	Note string `dynamodbav:"note,omitempty"`
}

// Period is a time of opening. A Close that is not after Open is on the next day: 18:00 to 02:00.
type Period struct {
	// Day is the day on which it begins: monday to sunday. Periods of a special day have none.
	Day string `dynamodbav:"day,omitempty"`
	// Open is from 00:00 to 23:59, Close to 24:00.
	Open  string `dynamodbav:"open"`
	Close string `dynamodbav:"close"`
}

// SpecialDay is a day that differs; without periods it is closed.
type SpecialDay struct {
	Date    string   `dynamodbav:"date"` // 2026-12-25
	Periods []Period `dynamodbav:"periods"`
	Note    string   `dynamodbav:"note,omitempty"`
}

// dateLayout is ISO 8601's form of a day.
const dateLayout = "2006-01-02"

// minutesDay is how many minutes a day has by the clock.
const minutesDay = 24 * 60

var weekdays = map[string]time.Weekday{
	"sunday": time.Sunday, "monday": time.Monday, "tuesday": time.Tuesday,
	"wednesday": time.Wednesday, "thursday": time.Thursday, "friday": time.Friday,
	"saturday": time.Saturday,
}

// clock reads "18:00" as minutes of the day.
func clock(text string) (int, bool) {
	if len(text) != 5 || text[2] != ':' {
		return 0, false
	}
	h, err := strconv.ParseUint(text[:2], 10, 8)
	if err != nil {
		return 0, false
	}
	m, err := strconv.ParseUint(text[3:], 10, 8)
	return int(h*60 + m), err == nil && h <= 24 && m < 60 && h*60+m <= minutesDay
}

func (p Period) check(wrong *problem.Fields, field string, needDay bool) {
	if _, ok := weekdays[p.Day]; ok != needDay || !needDay && p.Day != "" {
		if needDay {
			wrong.Add(field+".day", "must be monday to sunday")
		} else {
			wrong.Add(field+".day", "must be left out")
		}
	}
	if open, ok := clock(p.Open); !ok || open == minutesDay {
		wrong.Add(field+".open", "must be from 00:00 to 23:59")
	}
	if _, ok := clock(p.Close); !ok {
		wrong.Add(field+".close", "must be from 00:00 to 24:00")
	}
}

func (h *Hours) check(wrong *problem.Fields) {
	if len(h.Weekly) > periodsMax {
		wrong.Addf("hours.weekly", "must be at most %d", periodsMax)
	}
	for i, p := range h.Weekly {
		p.check(wrong, fmt.Sprintf("hours.weekly[%d]", i), true)
	}
	if len(h.Special) > specialMax {
		wrong.Addf("hours.special", "must be at most %d", specialMax)
	}
	for i, day := range h.Special {
		field := fmt.Sprintf("hours.special[%d]", i)
		if _, err := time.Parse(dateLayout, day.Date); err != nil {
			wrong.Add(field+".date", "must be a day such as 2026-12-25")
		}
		for j, p := range day.Periods {
			p.check(wrong, fmt.Sprintf("%s.periods[%d]", field, j), false)
		}
		if len(day.Note) > noteMax {
			wrong.Addf(field+".note", "must have at most %d bytes", noteMax)
		}
	}
	if len(h.Note) > noteMax {
		wrong.Addf("hours.note", "must have at most %d bytes", noteMax)
	}
}

// Open reports whether the location is open at an instant, by its own clock. known is false when it
// has no hours, or ones that make no sense: then nothing should be shown, since a wrong "closed" is
// worse than none.
func (d Details) Open(at time.Time) (open, known bool) {
	if d.Hours == nil || d.TimeZone == "" {
		return false, false
	}
	zone, err := time.LoadLocation(d.TimeZone)
	if err != nil {
		return false, false
	}
	local := at.In(zone)
	// What is open now began today or, past midnight, yesterday.
	for back := range 2 {
		day := time.Date(local.Year(), local.Month(), local.Day()-back, 0, 0, 0, 0, zone)
		for _, p := range d.Hours.on(day) {
			from, ok1 := clock(p.Open)
			to, ok2 := clock(p.Close)
			if !ok1 || !ok2 {
				return false, false
			}
			if to <= from {
				to += minutesDay
			}
			if !at.Before(minute(day, from)) && at.Before(minute(day, to)) {
				open = true
			}
		}
	}
	return open, true
}

// on returns the periods that begin on a day.
func (h *Hours) on(day time.Time) []Period {
	date := day.Format(dateLayout)
	for _, s := range h.Special {
		if s.Date == date {
			return s.Periods
		}
	}
	var periods []Period
	for _, p := range h.Weekly {
		if weekdays[p.Day] == day.Weekday() {
			periods = append(periods, p)
		}
	}
	return periods
}

// minute returns the instant at which the clock of a day, or of the one after it, shows a time. Of
// a time that the change of clocks leaves out it is the instant that time would have been.
func minute(day time.Time, minutes int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), 0, minutes, 0, 0, day.Location())
}
