package api

import (
	"net/http"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

var transactionsChapter = &Chapter{
	Name: "Transactions", System: "ledger", Description: "Movements of money, and their legs",
}

type (
	// TransactionID identifies a transaction.
	TransactionID string
	// LegID identifies a leg.
	LegID string
	// TransactionType is the purpose of a transaction: one word of lower-case letters, digits and
	// underscores. The ledger treats all types alike.
	TransactionType string
	// TransactionStatus is the state of a transaction.
	TransactionStatus string
	// LegType is the direction of a leg.
	LegType string
)

// The types that the ledger itself uses.
const (
	TypePayment    TransactionType = "payment"
	TypeTransfer   TransactionType = "transfer"
	TypeDeposit    TransactionType = "deposit"
	TypeWithdrawal TransactionType = "withdrawal"
	TypeReversal   TransactionType = "reversal"
)

// The states of a transaction.
const (
	Pending   TransactionStatus = "pending"
	Completed TransactionStatus = "completed"
	Failed    TransactionStatus = "failed"
	Reversed  TransactionStatus = "reversed"
)

// A debit decreases the account's balance, a credit increases it.
const (
	Debit  LegType = "debit"
	Credit LegType = "credit"
)

// Transaction is one movement of money with two or more legs.
type Transaction struct {
	ID             TransactionID     `json:"id" doc:"Follows from the idempotency key" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
	IdempotencyKey string            `json:"idempotencyKey,omitempty" doc:"Absent where another program wrote none" example:"order-1"`
	Type           TransactionType   `json:"type" example:"payment"`
	Status         TransactionStatus `json:"status" enum:"pending,completed,failed,reversed"`
	MerchantID     MerchantID        `json:"merchantId,omitempty" example:"coffee-shop"`
	Description    string            `json:"description,omitempty" example:"Coffee purchase"`
	Amount         Amount            `json:"amount" doc:"The sum of the debits in the currency" example:"5.50"`
	Currency       money.Currency    `json:"currency" example:"USD"`
	Metadata       map[string]string `json:"metadata,omitempty"`
	ReversalOf     TransactionID     `json:"reversalOf,omitempty" doc:"The transaction that this one reverses"`
	ReversedBy     TransactionID     `json:"reversedBy,omitempty" doc:"The transaction that reverses this one"`
	CreatedAt      Instant           `json:"createdAt,omitzero"`
	Legs           []Leg             `json:"legs,omitempty" nullable:"false" doc:"All legs, where they were asked for"`
}

// Leg is one account's side of a transaction.
type Leg struct {
	ID             LegID          `json:"id" example:"00000000-0001-8000-9f1c-0f6d4f3f3c55"`
	TransactionID  TransactionID  `json:"transactionId" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
	AccountID      AccountID      `json:"accountId" example:"alice-usd"`
	Type           LegType        `json:"type" enum:"debit,credit"`
	Amount         Amount         `json:"amount" example:"5.50"`
	Currency       money.Currency `json:"currency" example:"USD"`
	BalanceAfter   Amount         `json:"balanceAfter,omitempty" doc:"The account's balance once the leg was posted; absent where another program wrote the leg" example:"94.50"`
	AccountVersion uint64         `json:"accountVersion,omitempty" doc:"Counts the legs of the account, from 1 and without gaps; absent where another program wrote the leg" example:"2"`
	CreatedAt      Instant        `json:"createdAt,omitzero"`
}

// Posting is the body that posts a transaction: with legs, or with from, to, amount and currency.
type Posting struct {
	Type        TransactionType   `json:"type" doc:"What it is for: payment, transfer, deposit, withdrawal, or a word of the caller's" example:"payment"`
	MerchantID  MerchantID        `json:"merchantId,omitempty" doc:"Who is paid" example:"coffee-shop"`
	Description string            `json:"description,omitempty" doc:"At most 1,024 bytes" example:"Coffee purchase"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"At most 50 pairs and 4,096 bytes"`
	Legs        []PostingLeg      `json:"legs,omitempty" nullable:"false" doc:"Two or more; in each currency debits equal credits. Instead of them, from, to, amount and currency say the same for one debit and one credit"`
	From        AccountID         `json:"from,omitempty" doc:"The account to debit; a deposit needs none" example:"alice-usd"`
	To          AccountID         `json:"to,omitempty" doc:"The account to credit; neither a withdrawal nor a payment to a merchant with a settlement account needs one"`
	Amount      Amount            `json:"amount,omitempty" doc:"How much moves, without legs" example:"5.50"`
	Currency    money.Currency    `json:"currency,omitempty" doc:"That of the amount; with legs of several currencies, the one of the transaction's amount" example:"USD"`
}

// PostingLeg is one leg of a posting.
type PostingLeg struct {
	AccountID AccountID      `json:"accountId" doc:"An account, the name of one of the ledger's own such as @deposits, or @merchant for the merchant's settlement account" example:"alice-usd"`
	Type      LegType        `json:"type" enum:"debit,credit" doc:"A debit lowers the balance, a credit raises it"`
	Amount    Amount         `json:"amount" example:"5.50"`
	Currency  money.Currency `json:"currency" doc:"That of the account" example:"USD"`
}

// NewReversal is the body that reverses a transaction.
type NewReversal struct {
	Description string            `json:"description,omitempty" doc:"At most 1,024 bytes; without it that of the original" example:"Returned goods"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"At most 50 pairs and 4,096 bytes"`
}

// The requests.
type (
	// PostRequest posts a transaction.
	PostRequest struct {
		IdempotencyKey string  `header:"Idempotency-Key" doc:"1 to 255 characters that name this request for ever; required" example:"order-1"`
		Posting        Posting `body:""`
	}

	// TransactionPath names a transaction.
	TransactionPath struct {
		ID TransactionID `path:"id" doc:"The transaction's id" example:"0b0c6e4e-6c4b-5b52-9f1c-0f6d4f3f3c55"`
	}

	// ReverseRequest reverses a transaction.
	ReverseRequest struct {
		TransactionPath
		Reversal NewReversal `body:""`
	}

	// TransactionQuery selects one transaction, with its legs on request.
	TransactionQuery struct {
		TransactionPath
		Legs bool `query:"legs" doc:"Whether to answer all legs too, in the same query of the store"`
	}

	// TransactionsQuery selects the transactions of one status that were created in [From, To), or
	// the one with an idempotency key.
	TransactionsQuery struct {
		Page
		Status         TransactionStatus `query:"status" enum:"pending,completed,failed,reversed" doc:"The status to look for; required unless idempotencyKey is given"`
		From           Instant           `query:"from" doc:"The first instant of the range; open without it" example:"2026-01-01T00:00:00Z"`
		To             Instant           `query:"to" doc:"The instant at which the range has ended; open without it" example:"2026-02-01T00:00:00Z"`
		Order          string            `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first"`
		IdempotencyKey string            `query:"idempotencyKey" doc:"The one transaction that was posted with this key" example:"order-1"`
		Legs           bool              `query:"legs" doc:"With idempotencyKey: whether to answer all legs too, read as of now"`
	}
)

// postingProblems are those of every posting, in order of precedence.
func postingProblems(more ...problem.Code) []problem.Code {
	return append([]problem.Code{
		"request_invalid", "idempotency_key_invalid", "description_too_long",
		"metadata_too_large", "too_few_legs", "too_many_legs", "amount_not_positive",
		"too_many_fraction_digits", "amount_too_large", "transaction_unbalanced",
		"idempotency_conflict", "merchant_not_found", "settlement_account_missing",
		"account_not_found", "currency_mismatch", "account_closed", "account_frozen",
		"balance_too_large", "insufficient_funds", "account_from_future", "contended",
	}, more...)
}

// The operations.
var (
	PostTransaction = op[PostRequest, Transaction](Operation{
		ID: "post-transaction", Method: http.MethodPost, Path: "/v1/transactions",
		Chapter: transactionsChapter, Scope: LedgerWrite, Status: http.StatusCreated,
		Replays: true, NeedsKey: true, Summary: "Post a transaction",
		Description: "Moves money exactly once for its Idempotency-Key, however often, however late " +
			"and by however many callers at once it is sent. The first answer has status 201; an " +
			"equal request gets the same body with status 200 and Idempotent-Replayed: true, but for " +
			"its status, which is reversed if it was reversed since; " +
			"another request with the same key is a conflict. A refusal writes nothing, and its " +
			"key may be tried again. Where several problems apply, the first of this list is told.",
		Example: Posting{
			Type: TypePayment, MerchantID: "coffee-shop", Description: "Coffee purchase",
			From: "alice-usd", Amount: "5.50", Currency: "USD",
		},
		Problems: postingProblems(),
		Safe:     always, // The key makes it so.
	})
	ReverseTransaction = op[ReverseRequest, Transaction](Operation{
		ID: "reverse-transaction", Method: http.MethodPost,
		Path: "/v1/transactions/{id}/reverse", Chapter: transactionsChapter, Scope: LedgerWrite,
		Status: http.StatusCreated, Replays: true, Summary: "Reverse a transaction",
		Description: "Reverses a completed transaction, whole, by another one with the same legs, " +
			"each in the other direction. It happens once: an " +
			"equal second request gets the first answer, with status 200 and " +
			"Idempotent-Replayed: true. The body may be {}.",
		Example: NewReversal{Description: "Returned goods"},
		Problems: []problem.Code{
			"request_invalid", "description_too_long", "metadata_too_large",
			"transaction_not_found", "transaction_is_reversal", "transaction_already_reversed",
			"transaction_not_completed", "account_closed", "account_frozen",
			"balance_too_large", "insufficient_funds", "account_from_future", "contended",
		},
		Safe: always, // A transaction has only one reversal, so a repeat finds it.
	})
	ListTransactions = op[TransactionsQuery, List[Transaction]](Operation{
		ID: "list-transactions", Method: http.MethodGet, Path: "/v1/transactions",
		Chapter: transactionsChapter, Scope: LedgerRead, Summary: "Find transactions",
		Description: "Those of one status, created within [from, to), by time. Or, with " +
			"idempotencyKey, the one that was posted with this key, as a list of one.",
		Problems: []problem.Code{
			"request_invalid", "cursor_invalid", "idempotency_key_invalid",
			"transaction_not_found",
		},
	})
	GetTransaction = op[TransactionQuery, Transaction](Operation{
		ID: "get-transaction", Method: http.MethodGet, Path: "/v1/transactions/{id}",
		Chapter: transactionsChapter, Scope: LedgerRead, Versioned: true,
		Summary: "Get a transaction", Problems: []problem.Code{"transaction_not_found"},
	})
	ListLegsOfTransaction = op[TransactionPath, List[Leg]](Operation{
		ID: "list-legs-of-transaction", Method: http.MethodGet,
		Path: "/v1/transactions/{id}/legs", Chapter: transactionsChapter, Scope: LedgerRead,
		Summary: "List the legs of a transaction", Description: "All of them, by id.",
		Problems: []problem.Code{"transaction_not_found"},
	})
)
