package server

import (
	"context"
	"fmt"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// buildStatements makes the books of bank statements. Rates come from the board, so it is built
// after that.
func (s *Server) buildStatements(ctx context.Context, store *singletable.Store) (err error) {
	opts := s.opts.Statements
	if opts.Files == nil {
		if s.files, err = openFiles(ctx, s.opts); err != nil {
			return err
		}
		if s.files != nil {
			opts.Files = s.files
		}
	}
	opts.Now = s.opts.Now
	if opts.Rate == nil {
		opts.Rate = s.rateOfDay
	}
	s.statements, err = statements.New(store, opts)
	return err
}

// noRate reports that there is no rate of a day.
func noRate(from, to money.Currency, on statements.Date) *problem.Error {
	pair := rates.Pair{Base: from, Target: to}
	return statements.ErrNoRate.With("pair", pair).With("date", on).
		With("reason", fmt.Sprintf("none is stored for %s or shortly before", on))
}

// rateOfDay returns the value of one unit of a currency in another on a day: the rate of that day,
// or of the previous working day. If the board has no answer for any reason, there is no rate; only
// an unreadable store is an error.
func (s *Server) rateOfDay(
	ctx context.Context, from, to money.Currency, on statements.Date,
) (statements.Quote, error) {
	q, err := s.rates.Quote(ctx, rates.Ask{Base: from, Target: to, On: rates.Date(on)})
	if err != nil {
		switch problem.KindOf(err) {
		case problem.Invalid, problem.NotFound, problem.Refused:
			return statements.Quote{}, noRate(from, to, on).Wrap(err)
		}
		return statements.Quote{}, err
	}
	made := statements.Quote{
		Rate: q.Rate, Above: q.Ratio.Above, Below: q.Ratio.Below, Of: statements.Date(q.Date),
	}
	if made.Of == "" { // A fixed rate is of every day.
		made.Of = on
	}
	return made, nil
}
