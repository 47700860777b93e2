package rest

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// streamed is an answer that writes itself.
type streamed struct {
	Body func(huma.Context)
}

// MissingKey returns the problem of a request without the key that it needs.
func MissingKey() error {
	e := ledger.ErrInvalidIdempotencyKey.Field(headerIdempotencyKey, "is missing")
	e.Sentence = "The header Idempotency-Key is missing"
	return e
}

// AccountPath is the parameter that names an account. Like the other parts of parameters it is
// exported because the framework looks into those only.
type AccountPath struct {
	ID ledger.AccountID `path:"id" doc:"The account's id" example:"alice-usd"`
}

// AccountPageParams ask for a page of what an account has.
type AccountPageParams struct {
	PageParams
	AccountPath
}

// TransactionPath is the parameter that names a transaction.
type TransactionPath struct {
	ID ledger.TransactionID `path:"id" doc:"The transaction's id" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
}
