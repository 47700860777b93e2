package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// statusShards is a number of shards of the transactions, and since when it holds.
type statusShards struct {
	Count int     `json:"count" doc:"Over how many shards the transactions of one status are spread" example:"4"`
	From  instant `json:"from,omitzero" doc:"For transactions that are created from then on; absent on the first"`
}

// moreStatusShards is the body that grows the number of shards.
type moreStatusShards struct {
	Count int    `json:"count" doc:"More than there are; at most 64" example:"4"`
	From  string `json:"from,omitempty" format:"date-time" doc:"The instant from which on it holds; now without it" example:"2026-02-01T00:00:00Z"`
}

func (a *API) registerLedgerShards() {
	const tag, path = "Transactions", "/v1/transactions/shards"
	register(a.Router, operation{
		id: "list-transaction-shards", method: http.MethodGet, path: path,
		tag: tag, scope: api.LedgerRead,
		summary: "List over how many shards transactions are spread",
		description: "The earliest number first, each with the instant from which on it holds. Lists by " +
			"status ask the shards of all numbers.",
	}, a.ledgerShards)
	registerBody(a.Router, operation{
		id: "grow-transaction-shards", method: http.MethodPost, path: path,
		tag: tag, scope: api.LedgerAdmin,
		summary: "Spread transactions over more shards from an instant on",
		description: "Nothing that is stored is rewritten, and nothing is hidden: lists by status ask the " +
			"shards of all numbers. Growing to the last number again changes nothing.",
		example: moreStatusShards{Count: 4},
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrInvalidStatusShards, ledger.ErrStatusEpochTooEarly,
		},
	}, a.growLedgerShards)
}

func statusShardsOf(epochs []ledger.Epoch) *answer[list[statusShards]] {
	return &answer[list[statusShards]]{Body: list[statusShards]{
		Items: convertAll(epochs, func(e ledger.Epoch) statusShards {
			return statusShards{Count: e.Count, From: instant(e.From)}
		}),
	}}
}

func (a *API) ledgerShards(
	ctx context.Context, _ *struct{},
) (*answer[list[statusShards]], error) {
	epochs, err := a.deps.Ledger.Epochs(ctx)
	if err != nil {
		return nil, err
	}
	return statusShardsOf(epochs), nil
}

func (a *API) growLedgerShards(
	ctx context.Context, _ *WithBody, body *moreStatusShards,
) (*answer[list[statusShards]], error) {
	var from time.Time
	var wrong problem.Fields
	if body.From != "" {
		from = readInstant(&wrong, "from", body.From)
	}
	if err := wrong.Err(ledger.ErrInvalidRequest); err != nil {
		return nil, err
	}
	epochs, err := a.deps.Ledger.Grow(ctx, body.Count, from)
	if err != nil {
		return nil, err
	}
	return statusShardsOf(epochs), nil
}
