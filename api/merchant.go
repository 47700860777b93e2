package api

import (
	"net/http"

	"github.com/exchequer-dev/exchequer/problem"
)

var merchantsChapter = &Chapter{
	Name: "Merchants", System: "ledger", Description: "Who is paid",
}

// MerchantID identifies a merchant.
type MerchantID string

// Merchant is a payee. Merchants are never changed or deleted.
type Merchant struct {
	ID                  MerchantID `json:"id" example:"coffee-shop"`
	Name                string     `json:"name" example:"Coffee Shop Inc"`
	Category            string     `json:"category,omitempty" example:"Restaurant"`
	SettlementAccountID AccountID  `json:"settlementAccountId,omitempty" doc:"The account that receives the merchant's payments" example:"coffee-shop-usd"`
	LocationID          LocationID `json:"locationId,omitempty" doc:"Where the merchant is, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
	CreatedAt           Instant    `json:"createdAt,omitzero"`
}

// NewMerchant is the body that creates a merchant.
type NewMerchant struct {
	ID                  MerchantID `json:"id,omitempty" doc:"1 to 64 letters, digits and . _ : -; without it one is made" example:"coffee-shop"`
	Name                string     `json:"name" doc:"At most 200 bytes" example:"Coffee Shop Inc"`
	Category            string     `json:"category,omitempty" doc:"At most 100 bytes" example:"Restaurant"`
	SettlementAccountID AccountID  `json:"settlementAccountId,omitempty" doc:"The account that receives the merchant's payments; without it payments name one" example:"coffee-shop-usd"`
	LocationID          LocationID `json:"locationId,omitempty" doc:"Where the merchant is, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
}

// OptionalKey is embedded in requests that an idempotency key, or an id in the body, makes safe to
// repeat.
type OptionalKey struct {
	IdempotencyKey string `header:"Idempotency-Key" doc:"1 to 255 characters that name this request for ever, so that a repeat is harmless; not needed if the body has an id"`
}

// The requests.
type (
	// CreateMerchantRequest creates a merchant.
	CreateMerchantRequest struct {
		OptionalKey
		Merchant NewMerchant `body:""`
	}

	// MerchantPath names a merchant.
	MerchantPath struct {
		ID MerchantID `path:"id" doc:"The merchant's id" example:"coffee-shop"`
	}
)

// The operations.
var (
	CreateMerchant = op[CreateMerchantRequest, Merchant](Operation{
		ID: "create-merchant", Method: http.MethodPost, Path: "/v1/merchants",
		Chapter: merchantsChapter, Scope: LedgerWrite, Status: http.StatusCreated, Replays: true,
		Summary: "Create a merchant",
		Description: "Someone who is paid. The first answer has status 201. A repeat with the same id " +
			"or Idempotency-Key gets the first merchant, with status 200 and Idempotent-Replayed: " +
			"true; another request with the same id or key is a conflict that names the member. " +
			"Merchants are never changed nor removed.",
		Example: NewMerchant{
			ID: "coffee-shop", Name: "Coffee Shop Inc", Category: "Restaurant",
			SettlementAccountID: "coffee-shop-usd",
		},
		Problems: []problem.Code{
			"request_invalid", "idempotency_key_invalid", "idempotency_conflict",
			"merchant_exists", "location_not_found", "account_not_found", "account_closed",
			"contended",
		},
		Safe: always, // A repeat returns the first result, because of the id or the key.
	})
	GetMerchant = op[MerchantPath, Merchant](Operation{
		ID: "get-merchant", Method: http.MethodGet, Path: "/v1/merchants/{id}",
		Chapter: merchantsChapter, Scope: LedgerRead, Versioned: true, Summary: "Get a merchant",
		Problems: []problem.Code{"merchant_not_found"},
	})
)
