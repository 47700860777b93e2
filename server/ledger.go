package server

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	ledgerapi "github.com/exchequer-dev/exchequer/server/ledger"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// ledgerOptions returns what the operations of the ledger need of other systems.
func (s *Server) ledgerOptions() ledgerapi.Options {
	return ledgerapi.Options{
		Posted: s.metrics.posted,
		OpenPayments: func(ctx context.Context, id ledger.AccountID) error {
			waiting, err := s.payments.OpenPayments(ctx, id)
			if err != nil {
				return err
			}
			return waiting.Err(id)
		},
		Quote: func(ctx context.Context, q api.RateQuery) (ledger.ExchangeRate, error) {
			found, err := s.rates.Quote(ctx, rates.Ask{
				Base: q.Base, Target: q.Target, On: rates.Date(q.On), FreshOnly: q.Fresh,
			})
			if err != nil {
				return ledger.ExchangeRate{}, err
			}
			made := ledger.ExchangeRate{
				Above: found.Ratio.Above, Below: found.Ratio.Below, AsOf: string(found.Date),
				Source: found.Source,
			}
			if !found.AsOf.IsZero() {
				made.AsOf = found.AsOf.Format(time.RFC3339)
			}
			return made, nil
		},
	}
}
