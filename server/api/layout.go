package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/api/apikey"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// systemOf returns the name of the system that an operation belongs to, or "" for one of the server
// itself.
func systemOf(op operation) string {
	switch op.tag {
	case "Transactions", "Accounts", "Merchants", "Reconciliation":
		return "ledger"
	case tagPayments:
		return "payments"
	case locationsTag:
		return "locations"
	case tagRates:
		return "rates"
	case tagBankAccounts, tagBankTransactions, tagUploads, tagRules, tagReports:
		return "statements"
	}
	return ""
}

// layoutOperations show and change what is stored, so that a wrong setting does not stop them.
var layoutOperations = []string{
	"list-transaction-shards", "grow-transaction-shards",
	"list-payment-shards", "grow-payment-shards",
}

// laidOut returns why the system of an operation cannot be used as this server was started. Only
// the operations of that system are refused.
func (a *API) laidOut(op operation) error {
	system := systemOf(op)
	if system != "" && a.opts.Layout != nil && !slices.Contains(layoutOperations, op.id) {
		return a.opts.Layout(system)
	}
	return nil
}

// models returns the designs of all systems.
func (a *API) models() []*singletable.Model {
	return slices.Concat(
		[]*singletable.Model{a.deps.Ledger.Model(), a.deps.Locations.Model()}, a.deps.Models,
		a.deps.Personal, []*singletable.Model{a.deps.Payments.Model()})
}

// currentModels is models with the numbers of shards as they are now: one that is out of date would
// hide what is in newer shards. If they cannot be read, what is asked next fails for the same
// reason.
func (a *API) currentModels(ctx context.Context) []*singletable.Model {
	unmetered, _ := singletable.WithMeter(ctx)
	_, _ = a.deps.Ledger.Epochs(unmetered)
	_, _ = a.deps.Payments.Epochs(unmetered)
	_, _ = a.deps.Locations.Shards(unmetered)
	return a.models()
}

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
	register(a, operation{
		id: "list-transaction-shards", method: http.MethodGet, path: path,
		tag: tag, scope: apikey.LedgerRead,
		summary: "List over how many shards transactions are spread",
		description: "The earliest number first, each with the instant from which on it holds. Lists by " +
			"status ask the shards of all numbers.",
	}, a.ledgerShards)
	registerBody(a, operation{
		id: "grow-transaction-shards", method: http.MethodPost, path: path,
		tag: tag, scope: apikey.LedgerAdmin,
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
