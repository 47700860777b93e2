package rest

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// account is an account in an answer.
type account struct {
	ID             ledger.AccountID     `json:"id" example:"alice-usd"`
	UserID         ledger.UserID        `json:"userId,omitempty" doc:"The owner; absent for the ledger's own accounts" example:"alice"`
	AccountType    string               `json:"accountType" example:"checking"`
	Status         ledger.AccountStatus `json:"status" enum:"active,frozen,closed"`
	Currency       money.Currency       `json:"currency" example:"USD"`
	Balance        string               `json:"balance" doc:"In the account's currency" example:"1500.00"`
	OverdraftLimit string               `json:"overdraftLimit" doc:"How far the balance may go below zero" example:"0.00"`
	Unlimited      bool                 `json:"unlimited" doc:"Whether the balance may go below zero without limit"`
	Zone           string               `json:"zone,omitempty" doc:"Where the account's calendar days begin; absent for the server's own zone" example:"Pacific/Auckland"`
	LocationID     ledger.LocationID    `json:"locationId,omitempty" doc:"Where the account is kept, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
	Version        uint64               `json:"version" doc:"The number of legs that were ever posted to the account" example:"3"`
	LastPostedAt   instant              `json:"lastPostedAt,omitzero" doc:"When the newest leg was posted"`
	CreatedAt      instant              `json:"createdAt,omitzero"`
}

func accountOf(a ledger.Account) account {
	return account{
		ID: a.ID, UserID: a.UserID, AccountType: a.AccountType, Status: a.Status,
		Currency: a.Currency(), Balance: a.Balance.Text(), OverdraftLimit: a.OverdraftLimit.Text(),
		Unlimited: a.Unlimited, Zone: a.Zone, LocationID: a.LocationID,
		Version: a.Version, LastPostedAt: instant(a.LastPostedAt), CreatedAt: instant(a.CreatedAt),
	}
}

// versionOf changes with every change of an account: version counts its legs, revision the rest.
func versionOf(a ledger.Account) string {
	return strconv.FormatUint(a.Version, 10) + "." + strconv.FormatUint(a.Revision, 10)
}

// accountTypeDefault is the kind of an account of which the caller says none.
const accountTypeDefault = "checking"

// newAccount is the body that asks for an account.
type newAccount struct {
	ID             ledger.AccountID  `json:"id,omitempty" doc:"1 to 64 letters, digits and . _ : -; without it one is made" example:"alice-usd"`
	UserID         ledger.UserID     `json:"userId" doc:"The owner, at most 255 bytes" example:"alice"`
	AccountType    string            `json:"accountType,omitempty" doc:"What kind of account it is, in the caller's own words; checking without it" example:"checking"`
	Currency       money.Currency    `json:"currency" doc:"A code of ISO 4217" example:"USD"`
	OverdraftLimit payload.Decimal   `json:"overdraftLimit,omitempty" doc:"How far the balance may go below zero; not at all without it" example:"100.00"`
	Unlimited      bool              `json:"unlimited,omitempty" doc:"Lets the balance go below zero without limit"`
	Zone           string            `json:"zone,omitempty" doc:"Where the account's calendar days begin, a name of the IANA database; the server's own zone without it" example:"Pacific/Auckland"`
	LocationID     ledger.LocationID `json:"locationId,omitempty" doc:"Where the account is kept, a location's id" example:"01ARZ3NDEKTSV4RRFFQ69G5FAV"`
}

// overdraft is the body that changes how far an account may go below zero.
type overdraft struct {
	OverdraftLimit *payload.Decimal `json:"overdraftLimit,omitempty" doc:"How far the balance may go below zero: 0 for not at all. Needed unless unlimited is true" example:"100.00"`
	Currency       money.Currency   `json:"currency,omitempty" doc:"That of the account, if given, as a check" example:"USD"`
	Unlimited      bool             `json:"unlimited,omitempty" doc:"Lets the balance go below zero without limit"`
}

// limit returns the limit that a body gives, and adds what is wrong with it: a change without a
// limit must not remove the present one.
func (o *overdraft) limit(
	wrong *problem.Fields, currency money.Currency,
) (limit money.Amount) {
	limit, _ = money.New(money.Decimal{}, currency) // An unknown currency has its own check.
	switch {
	case o.OverdraftLimit != nil:
		limit = readAmount(wrong, "overdraftLimit", *o.OverdraftLimit, currency)
	case !o.Unlimited:
		wrong.Add("overdraftLimit", "is missing: give 0 for no overdraft, or unlimited")
	}
	return limit
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

type (
	deedParams struct {
		Guarded
		AccountPath
	}
	closeParams struct {
		Guarded
		AccountPath
		WithOpenPayments bool `query:"withOpenPayments" doc:"Close the account although scheduled payments from or to it will fail"`
	}
	accountParams struct {
		Conditional
		AccountPath
	}
	overdraftParams struct {
		WithBody
		Guarded
		AccountPath
	}
	userAccountsParams struct {
		PageParams
		User ledger.UserID `path:"user" doc:"The owner of the accounts" example:"alice"`
	}
	legsParams struct {
		AccountPageParams
		From bound `query:"from" doc:"The first instant of the range; open without it" example:"2026-01-01T00:00:00Z"`
		To   bound `query:"to" doc:"The instant at which the range has ended; open without it" example:"2026-02-01T00:00:00Z"`
	}
)

func (a *API) registerAccounts() {
	const tag = "Accounts"
	registerBody(a.Router, operation{
		id: "open-account", method: http.MethodPost, path: "/v1/accounts", tag: tag,
		scope: api.LedgerWrite, status: http.StatusCreated, repeats: true,
		summary: "Open an account",
		description: "A balance of a user in one currency, zero at first. The first answer has status " +
			"201. A repeat with the same id or Idempotency-Key gets the account as it is by then, " +
			"with status 200 and Idempotent-Replayed: true; another request with the same id or key " +
			"is a conflict that names the member, which is id for a key that has opened another " +
			"account.",
		example: newAccount{
			ID: "alice-usd", UserID: "alice", AccountType: "checking", Currency: "USD",
		},
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrInvalidIdempotencyKey,
			ledger.ErrTooManyFractionDigits, ledger.ErrAmountTooLarge,
			ledger.ErrIdempotencyConflict, ledger.ErrAccountExists, ledger.ErrLocationNotFound,
			ledger.ErrContended,
		},
	}, a.openAccount)
	register(a.Router, operation{
		id: "list-accounts", method: http.MethodGet, path: "/v1/accounts", tag: tag,
		scope: api.LedgerRead, summary: "List all accounts",
		description: "In no order that means anything; the ledger's own accounts, whose ids begin " +
			"with @, are among them.",
		problems: []*problem.Definition{ledger.ErrInvalidCursor},
	}, a.accounts)
	register(a.Router, operation{
		id: "get-account", method: http.MethodGet, path: "/v1/accounts/{id}", tag: tag,
		scope: api.LedgerRead, summary: "Get an account",
		description: "As of now: an answer reflects every posting that was answered before.",
		problems:    []*problem.Definition{ledger.ErrAccountNotFound},
	}, a.account)
	register(a.Router, operation{
		id: "list-accounts-of-user", method: http.MethodGet, path: "/v1/users/{user}/accounts",
		tag: tag, scope: api.LedgerRead, summary: "List the accounts of a user",
		description: "By account id. A user without accounts has an empty list.",
		problems:    []*problem.Definition{ledger.ErrInvalidRequest, ledger.ErrInvalidCursor},
	}, a.accountsOfUser)
	a.registerDeed("freeze", "Freeze an account",
		"A frozen account refuses postings in either direction. Freezing it again changes nothing.",
		a.deps.Ledger.FreezeAccount, ledger.ErrAccountClosed)
	a.registerDeed("unfreeze", "Unfreeze an account",
		"The account takes postings again. Unfreezing an active account changes nothing.",
		a.deps.Ledger.UnfreezeAccount, ledger.ErrAccountClosed)
	register(a.Router, operation{
		id: "close-account", method: http.MethodPost, path: "/v1/accounts/{id}/close", tag: tag,
		scope: api.LedgerAdmin, summary: "Close an account",
		description: "Permanently; its balance must be zero. Closing it again changes nothing. An " +
			"account that pays or receives scheduled payments, also as the account that a merchant " +
			"settles to, is not closed unless withOpenPayments is true, because they would fail.",
		problems: []*problem.Definition{
			ledger.ErrAccountNotEmpty, ledger.ErrAccountNotFound, ledger.ErrSystemAccount,
			ledger.ErrAccountChanged, ledger.ErrContended, payments.ErrWaiting,
			payments.ErrWaitingUnknown,
		},
	}, a.closeAccount)
	registerBody(a.Router, operation{
		id: "set-overdraft", method: http.MethodPut, path: "/v1/accounts/{id}/overdraft", tag: tag,
		scope: api.LedgerAdmin, summary: "Change how far an account may go below zero",
		description: "A balance that is below the new limit stays, and can only rise.",
		example:     overdraft{OverdraftLimit: new(payload.Decimal("100.00"))},
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrTooManyFractionDigits, ledger.ErrAmountTooLarge,
			ledger.ErrAccountNotFound, ledger.ErrAccountClosed, ledger.ErrSystemAccount,
			ledger.ErrAccountChanged,
			ledger.ErrContended,
		},
	}, a.setOverdraft)
	register(a.Router, operation{
		id: "list-legs-of-account", method: http.MethodGet, path: "/v1/accounts/{id}/legs",
		tag: tag, scope: api.LedgerRead, summary: "List the legs of an account",
		description: "Those posted within [from, to), the newest first.",
		problems: []*problem.Definition{
			ledger.ErrInvalidRequest, ledger.ErrInvalidCursor, ledger.ErrAccountNotFound,
		},
	}, a.legsOfAccount)
	a.registerStatement()
}

// registerDeed adds an operation that changes the status of an account.
func (a *API) registerDeed(
	deed, summary, description string,
	do func(context.Context, ledger.AccountID, ...ledger.Account) (ledger.Account, error),
	problems ...*problem.Definition,
) {
	register(a.Router, operation{
		id: deed + "-account", method: http.MethodPost, path: "/v1/accounts/{id}/" + deed,
		tag: "Accounts", scope: api.LedgerAdmin, summary: summary, description: description,
		problems: append(problems,
			ledger.ErrAccountNotFound, ledger.ErrSystemAccount,
			ledger.ErrAccountChanged,
			ledger.ErrContended),
	}, func(ctx context.Context, in *deedParams) (*tagged[account], error) {
		found, err := do(ctx, in.ID, in.known()...)
		if err != nil {
			return nil, err
		}
		return newTagged("", versionOf(found), accountOf(found)), nil
	})
}

func (a *API) closeAccount(ctx context.Context, in *closeParams) (*tagged[account], error) {
	// What the ledger refuses, and an account that is closed, needs no look at payments.
	found, err := a.deps.Ledger.Account(ctx, in.ID)
	if err == nil && !in.WithOpenPayments && !found.System() && found.Balance.IsZero() &&
		found.Status != ledger.AccountClosed {
		waiting, err := a.deps.Payments.OpenPayments(ctx, in.ID)
		if err == nil {
			err = waiting.Err(in.ID)
		}
		if err != nil {
			return nil, err
		}
	}
	found, err = a.deps.Ledger.CloseAccount(ctx, in.ID, in.known()...)
	if err != nil {
		return nil, err
	}
	return newTagged("", versionOf(found), accountOf(found)), nil
}

// known returns the account that a change expects, nothing where any will do.
func (g Guarded) known() []ledger.Account {
	if g.IfMatch == "" {
		return nil
	}
	version, revision, _ := strings.Cut(g.tag(), ".")
	var a ledger.Account
	// The ETag is that of the account as it is: both are numbers.
	a.Version, _ = strconv.ParseUint(version, 10, 64)
	a.Revision, _ = strconv.ParseUint(revision, 10, 64)
	return []ledger.Account{a}
}

func (a *API) openAccount(
	ctx context.Context, in *optionalKey, body *newAccount,
) (*repeatable[account], error) {
	var wrong problem.Fields
	if body.Currency != "" {
		checkCurrency(&wrong, "currency", body.Currency)
	}
	limit := money.Amount{}
	if body.OverdraftLimit != "" {
		limit = readAmount(&wrong, "overdraftLimit", body.OverdraftLimit, body.Currency)
	}
	if err := refused(wrong, ledger.ErrInvalidRequest); err != nil {
		return nil, err
	}
	opened, err := a.deps.Ledger.OpenAccount(ctx, ledger.NewAccount{
		ID: body.ID, IdempotencyKey: in.IdempotencyKey, UserID: body.UserID,
		AccountType: cmp.Or(body.AccountType, accountTypeDefault), Currency: body.Currency,
		OverdraftLimit: limit,
		Unlimited:      body.Unlimited, Zone: body.Zone, LocationID: body.LocationID,
	})
	if err != nil {
		return nil, err
	}
	return newRepeatable(opened.Replayed, "/v1/accounts/"+string(opened.ID),
		accountOf(opened.Account)), nil
}

func (a *API) account(ctx context.Context, in *accountParams) (*tagged[account], error) {
	found, err := a.deps.Ledger.Account(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return newTagged(in.IfNoneMatch, versionOf(found), accountOf(found)), nil
}

func (a *API) accounts(ctx context.Context, in *PageParams) (*answer[list[account]], error) {
	page, err := a.deps.Ledger.Accounts(ctx, in.query())
	if err != nil {
		return nil, err
	}
	return convert(page, accountOf), nil
}

func (a *API) accountsOfUser(
	ctx context.Context, in *userAccountsParams,
) (*answer[list[account]], error) {
	page, err := a.deps.Ledger.AccountsOfUser(ctx, in.User, in.query())
	if err != nil {
		return nil, err
	}
	return convert(page, accountOf), nil
}

func (a *API) setOverdraft(
	ctx context.Context, in *overdraftParams, body *overdraft,
) (*tagged[account], error) {
	// The ledger takes a limit in the account's currency, which the body need not repeat.
	currency := body.Currency
	if currency == "" {
		found, err := a.deps.Ledger.Account(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		currency = found.Currency()
	}
	var wrong problem.Fields
	checkCurrency(&wrong, "currency", currency)
	limit := body.limit(&wrong, currency)
	if err := refused(wrong, ledger.ErrInvalidRequest); err != nil {
		return nil, err
	}
	changed, err := a.deps.Ledger.SetOverdraft(ctx, in.ID, limit, body.Unlimited, in.known()...)
	if err != nil {
		return nil, err
	}
	return newTagged("", versionOf(changed), accountOf(changed)), nil
}

func (a *API) legsOfAccount(
	ctx context.Context, in *legsParams,
) (*answer[list[leg]], error) {
	page, err := a.deps.Ledger.LegsOfAccount(ctx, ledger.LegsQuery{
		AccountID: in.ID, From: in.From.instant(), To: in.To.instant(), PageQuery: in.query(),
	})
	if err != nil {
		return nil, err
	}
	return convert(page, legOf), nil
}
