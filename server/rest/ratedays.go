package rest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// read reads the days of a body. What it leaves to the board to find wrong is everything but texts.
func (d *newDays) read() ([]rates.Day, error) {
	var wrong problem.Fields
	days := make([]rates.Day, 0, len(d.Days))
	for i, given := range d.Days {
		days = append(days, given.read(&wrong, fmt.Sprintf("days[%d].", i)))
		if len(wrong) >= payload.FaultsMax {
			break
		}
	}
	return days, wrong.Err(rates.ErrInvalid)
}

func (d newDay) read(wrong *problem.Fields, path string) rates.Day {
	day := rates.Day{Date: d.Date, Base: d.Base, Source: d.Source}
	if d.At != "" {
		day.At = readInstant(wrong, path+"at", d.At)
	}
	for _, code := range slices.Sorted(maps.Keys(d.Rates)) {
		value, err := money.ParseDecimal(d.Rates[code])
		if err != nil {
			wrong.Add(path+"rates."+code, `must be a plain decimal such as "0.85": `+err.Error())
			continue
		}
		day.Prices = append(day.Prices, rates.Price{Currency: money.Currency(code), Value: value})
	}
	return day
}
