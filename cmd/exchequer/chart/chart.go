// Package chart draws series of amounts as text for a terminal and as pictures. It knows nothing of
// where they come from, and draws the same chart the same way each time.
package chart

import (
	"strconv"

	"github.com/exchequer-dev/exchequer/money"
)

// Chart is what is drawn: series of values over categories, which are months most often.
type Chart struct {
	Title string
	// Unit stands at the axis of values: a currency, most often.
	Unit string
	// Categories name the places of the values of all series.
	Categories []string
	Series     []Series
	// Line, if set, is drawn over the bars of a picture: what remains, most often. Text has it as
	// one more bar.
	Line *Series
	// Stacked puts the bars of a picture on each other in place of side by side.
	Stacked bool
	// Digits is how many digits after the point values have at least, 2 for most currencies.
	Digits int
}

// Series is one colour of a chart. It has a value for each category; those that are missing are
// zero.
type Series struct {
	Label  string
	Values []money.Decimal
}

func (s Series) at(i int) money.Decimal {
	if i < len(s.Values) {
		return s.Values[i]
	}
	return money.Decimal{}
}

// float is a value as a length on a picture; figures are written from the decimal itself.
func float(d money.Decimal) float64 {
	f, _ := strconv.ParseFloat(d.String(), 64) // The text of a decimal is always one of a float.
	return f
}
