package api

import (
	"net/http"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

var accountsChapter = &Chapter{
	Name: "Accounts", System: "ledger",
	Description: "Balances of users, their legs and statements",
}

type (
	// AccountID identifies an account. The ids of system accounts begin with "@".
	AccountID string
	// UserID identifies the owner of accounts.
	UserID string
	// LocationID identifies a location.
	LocationID string
	// AccountStatus is the state of an account.
	AccountStatus string
)

// The states of an account. Only an active account accepts postings; closed is final.
const (
	AccountActive AccountStatus = "active"
	AccountFrozen AccountStatus = "frozen"
	AccountClosed AccountStatus = "closed"
)

// Account is a balance in one currency. A credit increases it and a debit decreases it.
type Account struct {
	ID             AccountID      `json:"id" example:"alice-usd"`
	UserID         UserID         `json:"userId,omitempty" doc:"The owner; absent for the ledger's own accounts" example:"alice"`
	AccountType    string         `json:"accountType" example:"checking"`
	Status         AccountStatus  `json:"status" enum:"active,frozen,closed"`
	Currency       money.Currency `json:"currency" example:"USD"`
	Balance        Amount         `json:"balance" doc:"In the account's currency" example:"1500.00"`
	OverdraftLimit Amount         `json:"overdraftLimit" doc:"How far the balance may go below zero" example:"0.00"`
	Unlimited      bool           `json:"unlimited" doc:"Whether the balance may go below zero without limit"`
	Zone           string         `json:"zone,omitempty" doc:"Where the account's calendar days begin; absent for the server's own zone" example:"Pacific/Auckland"`
	LocationID     LocationID     `json:"locationId,omitempty" doc:"Where the account is kept, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
	Version        uint64         `json:"version" doc:"The number of legs that were ever posted to the account" example:"3"`
	LastPostedAt   Instant        `json:"lastPostedAt,omitzero" doc:"When the newest leg was posted"`
	CreatedAt      Instant        `json:"createdAt,omitzero"`
}

// NewAccount is the body that opens an account.
type NewAccount struct {
	ID             AccountID      `json:"id,omitempty" doc:"1 to 64 letters, digits and . _ : -; without it one is made" example:"alice-usd"`
	UserID         UserID         `json:"userId" doc:"The owner, at most 255 bytes" example:"alice"`
	AccountType    string         `json:"accountType,omitempty" doc:"What kind of account it is, in the caller's own words; checking without it" example:"checking"`
	Currency       money.Currency `json:"currency" doc:"A code of ISO 4217" example:"USD"`
	OverdraftLimit Amount         `json:"overdraftLimit,omitempty" doc:"How far the balance may go below zero; not at all without it" example:"100.00"`
	Unlimited      bool           `json:"unlimited,omitempty" doc:"Lets the balance go below zero without limit"`
	Zone           string         `json:"zone,omitempty" doc:"Where the account's calendar days begin, a name of the IANA database; the server's own zone without it" example:"Pacific/Auckland"`
	LocationID     LocationID     `json:"locationId,omitempty" doc:"Where the account is kept, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
}

// NewOverdraft is the body that changes how far an account may go below zero.
type NewOverdraft struct {
	OverdraftLimit Amount         `json:"overdraftLimit,omitempty" doc:"How far the balance may go below zero: 0 for not at all. Needed unless unlimited is true" example:"100.00"`
	Currency       money.Currency `json:"currency,omitempty" doc:"That of the account, if given, as a check" example:"USD"`
	Unlimited      bool           `json:"unlimited,omitempty" doc:"Lets the balance go below zero without limit"`
}

// AccountStatement is a page of an account's legs over calendar days.
type AccountStatement struct {
	AccountID AccountID      `json:"accountId" example:"alice-usd"`
	From      Date           `json:"from" format:"date" example:"2026-01-01"`
	To        Date           `json:"to" format:"date" example:"2026-01-31"`
	Currency  money.Currency `json:"currency" example:"USD"`
	Opening   Amount         `json:"opening" doc:"The balance before the days" example:"100.00"`
	Closing   Amount         `json:"closing" doc:"The balance after the days, as of the first page" example:"94.50"`
	Legs      []Leg          `json:"legs" nullable:"false" doc:"The newest first, each with the balance after it"`
	Next      string         `json:"next,omitempty" doc:"The cursor of the next page; absent on the last"`
}

// The requests.
type (
	// AccountPath names an account.
	AccountPath struct {
		ID AccountID `path:"id" doc:"The account's id" example:"alice-usd"`
	}

	// OpenAccountRequest opens an account with a balance of zero.
	OpenAccountRequest struct {
		OptionalKey
		Account NewAccount `body:""`
	}

	// ChangeAccountRequest changes the status of an account.
	ChangeAccountRequest struct {
		Guarded
		AccountPath
	}

	// CloseAccountRequest closes an account permanently.
	CloseAccountRequest struct {
		Guarded
		AccountPath
		WithOpenPayments bool `query:"withOpenPayments" doc:"Close the account although scheduled payments from or to it will fail"`
	}

	// SetOverdraftRequest changes how far an account may go below zero.
	SetOverdraftRequest struct {
		Guarded
		AccountPath
		Overdraft NewOverdraft `body:""`
	}

	// UserAccountsQuery selects the accounts of a user.
	UserAccountsQuery struct {
		Page
		User UserID `path:"user" doc:"The owner of the accounts" example:"alice"`
	}

	// LegsQuery selects the legs of an account that were posted in [From, To).
	LegsQuery struct {
		Page
		AccountPath
		From Instant `query:"from" doc:"The first instant of the range; open without it" example:"2026-01-01T00:00:00Z"`
		To   Instant `query:"to" doc:"The instant at which the range has ended; open without it" example:"2026-02-01T00:00:00Z"`
	}

	// AccountStatementQuery selects the legs of an account over calendar days of its zone, both
	// included. Without To it is today in that zone, and without From it is 30 days before To.
	AccountStatementQuery struct {
		Page
		AccountPath
		From Date `query:"from" doc:"The first day; without it 30 days before to" example:"2026-01-01"`
		To   Date `query:"to" doc:"The last day, which is included; without it today in the account's zone" example:"2026-01-31"`
	}
)

// statusProblems are those of changes of an account's status.
func statusProblems(more ...problem.Code) []problem.Code {
	return append(more, "account_not_found", "account_is_system", "account_changed", "contended")
}

// The operations.
var (
	OpenAccount = op[OpenAccountRequest, Account](Operation{
		ID: "open-account", Method: http.MethodPost, Path: "/v1/accounts", Chapter: accountsChapter,
		Scope: LedgerWrite, Status: http.StatusCreated, Replays: true, Summary: "Open an account",
		Description: "A balance of a user in one currency, zero at first. The first answer has status " +
			"201. A repeat with the same id or Idempotency-Key gets the account as it is by then, " +
			"with status 200 and Idempotent-Replayed: true; another request with the same id or key " +
			"is a conflict that names the member, which is id for a key that has opened another " +
			"account.",
		Example: NewAccount{
			ID: "alice-usd", UserID: "alice", AccountType: "checking", Currency: "USD",
		},
		Problems: []problem.Code{
			"request_invalid", "idempotency_key_invalid", "too_many_fraction_digits",
			"amount_too_large", "idempotency_conflict", "account_exists", "location_not_found",
			"contended",
		},
		Safe: always, // A repeat returns the first result, because of the id or the key.
	})
	ListAccounts = op[Page, List[Account]](Operation{
		ID: "list-accounts", Method: http.MethodGet, Path: "/v1/accounts",
		Chapter: accountsChapter, Scope: LedgerRead, Summary: "List all accounts",
		Description: "In no order that means anything; the ledger's own accounts, whose ids begin " +
			"with @, are among them.",
		Problems: []problem.Code{"cursor_invalid"},
	})
	GetAccount = op[AccountPath, Account](Operation{
		ID: "get-account", Method: http.MethodGet, Path: "/v1/accounts/{id}",
		Chapter: accountsChapter, Scope: LedgerRead, Versioned: true, Summary: "Get an account",
		Description: "As of now: an answer reflects every posting that was answered before.",
		Problems:    []problem.Code{"account_not_found"},
	})
	ListAccountsOfUser = op[UserAccountsQuery, List[Account]](Operation{
		ID: "list-accounts-of-user", Method: http.MethodGet, Path: "/v1/users/{user}/accounts",
		Chapter: accountsChapter, Scope: LedgerRead, Summary: "List the accounts of a user",
		Description: "By account id. A user without accounts has an empty list.",
		Problems:    []problem.Code{"request_invalid", "cursor_invalid"},
	})
	FreezeAccount = op[ChangeAccountRequest, Account](Operation{
		ID: "freeze-account", Method: http.MethodPost, Path: "/v1/accounts/{id}/freeze",
		Chapter: accountsChapter, Scope: LedgerAdmin, Versioned: true, Summary: "Freeze an account",
		Description: "A frozen account refuses postings in either direction. Freezing it again changes " +
			"nothing.",
		Problems: statusProblems("account_closed"),
		Safe:     always, // Setting a status again changes nothing.
	})
	UnfreezeAccount = op[ChangeAccountRequest, Account](Operation{
		ID: "unfreeze-account", Method: http.MethodPost, Path: "/v1/accounts/{id}/unfreeze",
		Chapter: accountsChapter, Scope: LedgerAdmin, Versioned: true,
		Summary: "Unfreeze an account",
		Description: "The account takes postings again. Unfreezing an active account changes " +
			"nothing.",
		Problems: statusProblems("account_closed"),
		Safe:     always,
	})
	CloseAccount = op[CloseAccountRequest, Account](Operation{
		ID: "close-account", Method: http.MethodPost, Path: "/v1/accounts/{id}/close",
		Chapter: accountsChapter, Scope: LedgerAdmin, Versioned: true, Summary: "Close an account",
		Description: "Permanently; its balance must be zero. Closing it again changes nothing. An " +
			"account that pays or receives scheduled payments, also as the account that a merchant " +
			"settles to, is not closed unless withOpenPayments is true, because they would fail.",
		Problems: append([]problem.Code{"account_not_empty"},
			statusProblems("payments_waiting", "payments_undecided")...),
		Safe: always,
	})
	SetOverdraft = op[SetOverdraftRequest, Account](Operation{
		ID: "set-overdraft", Method: http.MethodPut, Path: "/v1/accounts/{id}/overdraft",
		Chapter: accountsChapter, Scope: LedgerAdmin, Versioned: true,
		Summary:     "Change how far an account may go below zero",
		Description: "A balance that is below the new limit stays, and can only rise.",
		Example:     NewOverdraft{OverdraftLimit: "100.00"},
		Problems: []problem.Code{
			"request_invalid", "too_many_fraction_digits", "amount_too_large",
			"account_not_found", "account_closed", "account_is_system", "account_changed",
			"contended",
		},
	})
	ListLegsOfAccount = op[LegsQuery, List[Leg]](Operation{
		ID: "list-legs-of-account", Method: http.MethodGet, Path: "/v1/accounts/{id}/legs",
		Chapter: accountsChapter, Scope: LedgerRead, Summary: "List the legs of an account",
		Description: "Those posted within [from, to), the newest first.",
		Problems:    []problem.Code{"request_invalid", "cursor_invalid", "account_not_found"},
	})
	GetAccountStatement = op[AccountStatementQuery, AccountStatement](Operation{
		ID: "get-statement", Method: http.MethodGet, Path: "/v1/accounts/{id}/statement",
		Chapter: accountsChapter, Scope: LedgerRead, Summary: "Get a statement",
		Description: "The legs of an account over calendar days, both included, with the opening " +
			"and the closing balance, which are the same on every page. Legs that are posted while " +
			"a reader turns the pages neither repeat nor hide a row. The days are those of the account's " +
			"zone. If they are left out, the answer has them; give them with the cursor.",
		Problems: []problem.Code{
			"request_invalid", "cursor_invalid", "account_not_found", "statement_incomplete",
		},
	})
)
