package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// transaction is a transaction in an answer.
type transaction struct {
	ID             ledger.TransactionID     `json:"id" doc:"Follows from the idempotency key" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
	IdempotencyKey string                   `json:"idempotencyKey,omitempty" doc:"Absent where another program wrote none" example:"order-1"`
	Type           ledger.TransactionType   `json:"type" example:"payment"`
	Status         ledger.TransactionStatus `json:"status" enum:"pending,completed,failed,reversed"`
	MerchantID     ledger.MerchantID        `json:"merchantId,omitempty" example:"coffee-shop"`
	Description    string                   `json:"description,omitempty" example:"Coffee purchase"`
	Amount         string                   `json:"amount" doc:"The sum of the debits in the currency" example:"5.50"`
	Currency       money.Currency           `json:"currency" example:"USD"`
	Metadata       map[string]string        `json:"metadata,omitempty"`
	ReversalOf     ledger.TransactionID     `json:"reversalOf,omitempty" doc:"The transaction that this one reverses"`
	ReversedBy     ledger.TransactionID     `json:"reversedBy,omitempty" doc:"The transaction that reverses this one"`
	CreatedAt      instant                  `json:"createdAt,omitzero"`
	Legs           []leg                    `json:"legs,omitempty" nullable:"false" doc:"All legs, where they were asked for"`
}

// leg is a leg in an answer.
type leg struct {
	ID             ledger.LegID         `json:"id" example:"00000000-0001-8000-9f1c-0f6d4f3f3c55"`
	TransactionID  ledger.TransactionID `json:"transactionId" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
	AccountID      ledger.AccountID     `json:"accountId" example:"alice-usd"`
	Type           ledger.LegType       `json:"type" enum:"debit,credit"`
	Amount         string               `json:"amount" example:"5.50"`
	Currency       money.Currency       `json:"currency" example:"USD"`
	BalanceAfter   string               `json:"balanceAfter,omitempty" doc:"The account's balance once the leg was posted; absent where another program wrote the leg" example:"94.50"`
	AccountVersion uint64               `json:"accountVersion,omitempty" doc:"Counts the legs of the account, from 1 and without gaps; absent where another program wrote the leg" example:"2"`
	CreatedAt      instant              `json:"createdAt,omitzero"`
}

func transactionOf(t ledger.Transaction) transaction {
	return transaction{
		ID: t.ID, IdempotencyKey: t.IdempotencyKey, Type: t.Type, Status: t.Status,
		MerchantID: t.MerchantID, Description: t.Description, Amount: t.Amount.Text(),
		Currency: t.Amount.Currency(), Metadata: t.Metadata, ReversalOf: t.ReversalOf,
		ReversedBy: t.ReversedBy, CreatedAt: instant(t.CreatedAt),
	}
}

func entryOf(e ledger.Entry) transaction {
	t := transactionOf(e.Transaction)
	t.Legs = convertAll(e.Legs, legOf)
	return t
}

func legOf(l ledger.Leg) leg {
	return leg{
		ID: l.ID, TransactionID: l.TransactionID, AccountID: l.AccountID, Type: l.Type,
		Amount: l.Amount.Text(), Currency: l.Amount.Currency(),
		BalanceAfter: optionalText(l.BalanceAfter), AccountVersion: l.AccountVersion,
		CreatedAt: instant(l.CreatedAt),
	}
}

// TransactionPath is the parameter that names a transaction.
type TransactionPath struct {
	ID ledger.TransactionID `path:"id" doc:"The transaction's id" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
}

type (
	transactionParams struct {
		Conditional
		TransactionPath
		Legs bool `query:"legs" doc:"Whether to answer all legs too, in the same query of the store"`
	}
	transactionsParams struct {
		PageParams
		Status         ledger.TransactionStatus `query:"status" enum:"pending,completed,failed,reversed" doc:"The status to look for; required unless idempotencyKey is given"`
		From           bound                    `query:"from" doc:"The first instant of the range; open without it" example:"2026-01-01T00:00:00Z"`
		To             bound                    `query:"to" doc:"The instant at which the range has ended; open without it" example:"2026-02-01T00:00:00Z"`
		Order          string                   `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first"`
		IdempotencyKey string                   `query:"idempotencyKey" doc:"The one transaction that was posted with this key" example:"order-1"`
		Legs           bool                     `query:"legs" doc:"With idempotencyKey: whether to answer all legs too, read as of now"`
	}
)

func (a *API) registerTransactions() {
	const tag = "Transactions"
	register(a.Router, operation{
		id: "list-transactions", method: http.MethodGet, path: "/v1/transactions", tag: tag,
		scope: api.LedgerRead, summary: "Find transactions",
		description: "Those of one status, created within [from, to), by time. Or, with " +
			"idempotencyKey, the one that was posted with this key, as a list of one.",
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrInvalidCursor, ledger.ErrInvalidIdempotencyKey,
			ledger.ErrTransactionNotFound,
		},
	}, a.transactions)
	register(a.Router, operation{
		id: "get-transaction", method: http.MethodGet, path: "/v1/transactions/{id}", tag: tag,
		scope: api.LedgerRead, summary: "Get a transaction",
		problems: []*problem.Definition{ledger.ErrTransactionNotFound},
	}, a.transaction)
	register(a.Router, operation{
		id: "list-legs-of-transaction", method: http.MethodGet,
		path: "/v1/transactions/{id}/legs", tag: tag, scope: api.LedgerRead,
		summary:     "List the legs of a transaction",
		description: "All of them, by id.",
		problems:    []*problem.Definition{ledger.ErrTransactionNotFound},
	}, a.legsOfTransaction)
}

func (a *API) transaction(
	ctx context.Context, in *transactionParams,
) (*tagged[transaction], error) {
	if in.Legs {
		e, err := a.deps.Ledger.Entry(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return newTagged(in.IfNoneMatch, string(e.Transaction.Status), entryOf(e)), nil
	}
	t, err := a.deps.Ledger.Transaction(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	// Nothing of a transaction ever changes but its status, and whatever comes with that.
	return newTagged(in.IfNoneMatch, string(t.Status), transactionOf(t)), nil
}

func (a *API) legsOfTransaction(
	ctx context.Context, in *TransactionPath,
) (*answer[list[leg]], error) {
	e, err := a.deps.Ledger.Entry(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &answer[list[leg]]{Body: list[leg]{Items: convertAll(e.Legs, legOf)}}, nil
}

func (a *API) transactions(
	ctx context.Context, in *transactionsParams,
) (*answer[list[transaction]], error) {
	if in.IdempotencyKey != "" {
		return a.transactionByKey(ctx, in)
	}
	var wrong problem.Fields
	if in.Status == "" {
		wrong.Add("status", "is missing")
	}
	if in.Legs {
		wrong.Add("legs", "must be left out without idempotencyKey")
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return nil, err
	}
	page, err := a.deps.Ledger.TransactionsByStatus(ctx, ledger.StatusQuery{
		Status: in.Status, From: in.From.instant(), To: in.To.instant(),
		NewestFirst: in.Order == newestFirst,
		PageQuery:   in.query(),
	})
	if err != nil {
		return nil, err
	}
	return convert(page, transactionOf), nil
}

func (a *API) transactionByKey(
	ctx context.Context, in *transactionsParams,
) (*answer[list[transaction]], error) {
	var wrong problem.Fields
	if in.Status != "" || in.From.Given() || in.To.Given() || in.Cursor != "" {
		wrong.Add("idempotencyKey", "stands alone: it names one transaction")
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return nil, err
	}
	var found transaction
	if in.Legs {
		e, err := a.deps.Ledger.EntryByKey(ctx, in.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		found = entryOf(e)
	} else {
		t, err := a.deps.Ledger.TransactionByKey(ctx, in.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		found = transactionOf(t)
	}
	return &answer[list[transaction]]{
		Body: list[transaction]{Items: []transaction{found}},
	}, nil
}
