package cells_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
)

func TestMarksDecideOnceForAllAmounts(t *testing.T) {
	for name, c := range map[string]struct {
		amounts []string
		digits  int // of the currency, or -1 if it is unknown
		mark    byte
		ask     bool
	}{
		"no mark":                       {[]string{"1", "20"}, 2, 0, false},
		"one clear amount decides":      {[]string{"1.234", "5,50"}, 2, cells.MarkComma, false},
		"groups are clear":              {[]string{"1.234.567"}, 2, cells.MarkComma, false},
		"both marks in one amount":      {[]string{"1,234.50"}, 2, cells.MarkPoint, false},
		"nothing decides":               {[]string{"1.234"}, -1, 0, true},
		"a currency without cents":      {[]string{"1.234"}, 0, cells.MarkComma, false},
		"amounts without cents":         {[]string{"240", "12,297"}, 2, cells.MarkPoint, false},
		"contradictions decide nothing": {[]string{"1.50", "1,50"}, 2, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var m cells.Marks
			for i, text := range c.amounts {
				a, err := cells.SplitAmount(text)
				if err != nil {
					t.Fatal(err)
				}
				m.Add(a, text, i+1)
			}
			mark, ask := m.Decide(max(c.digits, 0), c.digits >= 0)
			if mark != c.mark || ask != c.ask {
				t.Errorf("mark %q, ask %t; want %q, %t", mark, ask, c.mark, c.ask)
			}
		})
	}
}

func TestOrdersDecideOnceForAllDates(t *testing.T) {
	for name, c := range map[string]struct {
		dates []string
		order cells.Order
		ask   bool
	}{
		"day after the twelfth": {[]string{"03/04/2026", "13/04/2026"}, cells.DayFirst, false},
		"month in front":        {[]string{"03/04/2026", "03/14/2026"}, cells.MonthFirst, false},
		"nothing decides":       {[]string{"03/04/2026"}, "", true},
		"points: the day first": {[]string{"03.04.2026"}, "", false},
		"dates with orders":     {[]string{"2026-04-03", "3 April 2026"}, "", false},
		"order of most dates": {[]string{"13/04/2026", "14/04/2026", "04/13/2026"},
			cells.DayFirst, false},
	} {
		t.Run(name, func(t *testing.T) {
			var o cells.Orders
			for i, text := range c.dates {
				d, ok := cells.SplitDate(text)
				if !ok {
					t.Fatalf("%q is not a date", text)
				}
				o.Add(d, text, i+1)
			}
			order, ask := o.Decide()
			if order != c.order || ask != c.ask {
				t.Errorf("order %q, ask %t; want %q, %t", order, ask, c.order, c.ask)
			}
		})
	}
}
