package rest

import (
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

const tagRates = "Exchange rates"

// roundings are the names of ways to round in parameters.
var roundings = map[string]money.Rounding{
	"half-up": money.HalfUp, "half-even": money.HalfEven, "down": money.Down, "up": money.Up,
}

// quoteProblems are those of every question for a rate.
func quoteProblems(more ...*problem.Definition) []*problem.Definition {
	return append([]*problem.Definition{
		rates.ErrInvalid, rates.ErrFutureDate, rates.ErrNotFound,
		rates.ErrNotFresh, rates.ErrLegsApart, rates.ErrUnavailable, rates.ErrSourceDown,
	}, more...)
}
