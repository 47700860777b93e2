package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// merchant is a merchant in an answer.
type merchant struct {
	ID                  ledger.MerchantID `json:"id" example:"coffee-shop"`
	Name                string            `json:"name" example:"Coffee Shop Inc"`
	Category            string            `json:"category,omitempty" example:"Restaurant"`
	SettlementAccountID ledger.AccountID  `json:"settlementAccountId,omitempty" doc:"The account that receives the merchant's payments" example:"coffee-shop-usd"`
	LocationID          ledger.LocationID `json:"locationId,omitempty" doc:"Where the merchant is, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
	CreatedAt           instant           `json:"createdAt,omitzero"`
}

func merchantOf(m ledger.Merchant) merchant {
	return merchant{
		ID: m.ID, Name: m.Name, Category: m.Category,
		SettlementAccountID: m.SettlementAccountID, LocationID: m.LocationID,
		CreatedAt: instant(m.CreatedAt),
	}
}

// newMerchant is the body that asks for a merchant.
type newMerchant struct {
	ID                  ledger.MerchantID `json:"id,omitempty" doc:"1 to 64 letters, digits and . _ : -; without it one is made" example:"coffee-shop"`
	Name                string            `json:"name" doc:"At most 200 bytes" example:"Coffee Shop Inc"`
	Category            string            `json:"category,omitempty" doc:"At most 100 bytes" example:"Restaurant"`
	SettlementAccountID ledger.AccountID  `json:"settlementAccountId,omitempty" doc:"The account that receives the merchant's payments; without it payments name one" example:"coffee-shop-usd"`
	LocationID          ledger.LocationID `json:"locationId,omitempty" doc:"Where the merchant is, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
}

// optionalKey is the parameter of requests that a key makes safe to repeat.
type optionalKey struct {
	WithBody
	IdempotencyKey string `header:"Idempotency-Key" doc:"1 to 255 characters that name this request for ever, so that a repeat is harmless; not needed if the body has an id"`
}

type merchantParams struct {
	Conditional
	ID ledger.MerchantID `path:"id" doc:"The merchant's id" example:"coffee-shop"`
}

func (a *API) registerMerchants() {
	registerBody(a.Router, operation{
		id: "create-merchant", method: http.MethodPost, path: "/v1/merchants", tag: "Merchants",
		scope: api.LedgerWrite, status: http.StatusCreated, repeats: true,
		summary: "Create a merchant",
		description: "Someone who is paid. The first answer has status 201. A repeat with the same id " +
			"or Idempotency-Key gets the first merchant, with status 200 and Idempotent-Replayed: " +
			"true; another request with the same id or key is a conflict that names the member. " +
			"Merchants are never changed nor removed.",
		example: newMerchant{
			ID: "coffee-shop", Name: "Coffee Shop Inc", Category: "Restaurant",
			SettlementAccountID: "coffee-shop-usd",
		},
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrInvalidIdempotencyKey,
			ledger.ErrIdempotencyConflict, ledger.ErrMerchantExists, ledger.ErrLocationNotFound,
			ledger.ErrAccountNotFound, ledger.ErrAccountClosed, ledger.ErrContended,
		},
	}, a.createMerchant)
	register(a.Router, operation{
		id: "get-merchant", method: http.MethodGet, path: "/v1/merchants/{id}", tag: "Merchants",
		scope: api.LedgerRead, summary: "Get a merchant",
		problems: []*problem.Definition{ledger.ErrMerchantNotFound},
	}, a.merchant)
}

func (a *API) createMerchant(
	ctx context.Context, in *optionalKey, body *newMerchant,
) (*repeatable[merchant], error) {
	m, err := a.deps.Ledger.CreateMerchant(ctx, ledger.NewMerchant{
		ID: body.ID, IdempotencyKey: in.IdempotencyKey, Name: body.Name,
		Category: body.Category, SettlementAccountID: body.SettlementAccountID,
		LocationID: body.LocationID,
	})
	if err != nil {
		return nil, err
	}
	return newRepeatable(m.Replayed, "/v1/merchants/"+string(m.ID), merchantOf(m.Merchant)), nil
}

func (a *API) merchant(ctx context.Context, in *merchantParams) (*tagged[merchant], error) {
	m, err := a.deps.Ledger.Merchant(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	// A merchant never changes, so its only version is the first.
	return newTagged(in.IfNoneMatch, "1", merchantOf(m)), nil
}
