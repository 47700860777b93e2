package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// AccountID identifies an account. The ids of the ledger's own accounts begin with "@".
type AccountID string

// UserID identifies the owner of accounts.
type UserID string

// AccountStatus says whether an account can be posted to.
type AccountStatus string

// The life of an account. Only an active account can be posted to; closed is final.
const (
	AccountActive AccountStatus = "active"
	AccountFrozen AccountStatus = "frozen"
	AccountClosed AccountStatus = "closed"
)

// Account is a balance in one currency. A credit raises it and a debit lowers it.
type Account struct {
	ID AccountID
	// UserID is empty for the ledger's own accounts.
	UserID      UserID
	AccountType string
	Status      AccountStatus
	Balance     money.Amount
	// OverdraftLimit says how far the balance may go below zero; it has no meaning where
	// Unlimited is set.
	OverdraftLimit money.Amount
	Unlimited      bool
	// Zone is where the account's calendar days begin; empty means the server's own zone.
	Zone string
	// LocationID is where the account is kept; it may be empty.
	LocationID LocationID
	// Version is the number of legs that were ever posted to the account.
	Version uint64
	// LastPostedAt is when the newest leg was posted; zero when there is none.
	LastPostedAt time.Time
	CreatedAt    time.Time
}

// NewAccount asks for an account.
type NewAccount struct {
	// ID is the id to use. Empty means one derived from the IdempotencyKey, or else a random one.
	ID AccountID
	// IdempotencyKey makes the request safe to repeat. Empty means that the client makes one up,
	// unless ID is given, which makes a repeat safe as well.
	IdempotencyKey string
	UserID         UserID
	// AccountType is one word in the caller's own language, such as "checking".
	AccountType string
	Currency    money.Currency
	// OverdraftLimit says how far the balance may go below zero; zero means not at all.
	OverdraftLimit money.Amount
	// Unlimited lets the balance go below zero without limit.
	Unlimited bool
	// Zone is where the account's calendar days begin, a name such as Pacific/Auckland; empty means
	// the server's own zone.
	Zone string
	// LocationID is where the account is kept; it may be empty.
	LocationID LocationID
}

// AccountReceipt is the answer to a request for an account.
type AccountReceipt struct {
	Account
	// Replayed reports whether an earlier, equal request created it, which is as it is now.
	Replayed bool `json:"-"`
}

// OpenAccount opens an account with a balance of zero.
func (c *Client) OpenAccount(ctx context.Context, n NewAccount) (AccountReceipt, error) {
	r := c.post("/v1/accounts", newAccountJSON{
		ID: n.ID, UserID: n.UserID, AccountType: n.AccountType, Currency: n.Currency,
		OverdraftLimit: optionalText(n.OverdraftLimit), Unlimited: n.Unlimited,
		Zone: n.Zone, LocationID: n.LocationID,
	})
	r.key = n.IdempotencyKey
	if r.key == "" && n.ID == "" {
		r.key = newKey()
	}
	r.safe = true // The id or the key makes a repeat find the first answer.
	made, replayed, err := repeatable[Account](ctx, r)
	return AccountReceipt{made, replayed}, err
}

// Account returns an account by its id.
func (c *Client) Account(ctx context.Context, id AccountID) (Account, error) {
	return answer[Account](ctx, c.get("/v1/accounts/"+segment(id), nil))
}

// Accounts returns a page of all accounts, in no order that means anything.
func (c *Client) Accounts(ctx context.Context, q PageQuery) (Page[Account], error) {
	return answer[Page[Account]](ctx, c.get("/v1/accounts", q.values(nil)))
}

// AllAccounts returns all accounts, in no order that means anything.
func (c *Client) AllAccounts(ctx context.Context) iter.Seq2[Account, error] {
	return all(func(q PageQuery) (Page[Account], error) { return c.Accounts(ctx, q) })
}

// AccountsOfUser returns a page of a user's accounts, by account id.
func (c *Client) AccountsOfUser(
	ctx context.Context, user UserID, q PageQuery,
) (Page[Account], error) {
	path := "/v1/users/" + segment(user) + "/accounts"
	return answer[Page[Account]](ctx, c.get(path, q.values(nil)))
}

// AllAccountsOfUser returns all accounts of a user, by account id.
func (c *Client) AllAccountsOfUser(
	ctx context.Context, user UserID,
) iter.Seq2[Account, error] {
	return all(func(q PageQuery) (Page[Account], error) { return c.AccountsOfUser(ctx, user, q) })
}

// FreezeAccount makes an active account refuse postings.
func (c *Client) FreezeAccount(ctx context.Context, id AccountID) (Account, error) {
	return c.changeAccount(ctx, id, "freeze")
}

// UnfreezeAccount makes a frozen account active again.
func (c *Client) UnfreezeAccount(ctx context.Context, id AccountID) (Account, error) {
	return c.changeAccount(ctx, id, "unfreeze")
}

// CloseAccount closes an account whose balance is zero, for ever.
func (c *Client) CloseAccount(ctx context.Context, id AccountID) (Account, error) {
	return c.changeAccount(ctx, id, "close")
}

func (c *Client) changeAccount(
	ctx context.Context, id AccountID, deed string,
) (Account, error) {
	r := c.post("/v1/accounts/"+segment(id)+"/"+deed, nil)
	r.safe = true // The deed sets a status, so doing it twice is doing it once.
	return answer[Account](ctx, r)
}

// SetOverdraft changes how far an account may go below zero: to a limit, or without one.
func (c *Client) SetOverdraft(
	ctx context.Context, id AccountID, limit money.Amount, unlimited bool,
) (Account, error) {
	text := optionalText(limit)
	if text == "" && !unlimited {
		text = "0" // The zero Amount is no overdraft, which the API wants to be told.
	}
	r := c.post("/v1/accounts/"+segment(id)+"/overdraft",
		overdraftJSON{Limit: text, Currency: limit.Currency(), Unlimited: unlimited})
	r.method, r.safe = http.MethodPut, true
	return answer[Account](ctx, r)
}

// LegsOfAccount returns a page of an account's legs, newest first.
func (c *Client) LegsOfAccount(
	ctx context.Context, id AccountID, q PageQuery,
) (Page[Leg], error) {
	return answer[Page[Leg]](ctx, c.get("/v1/accounts/"+segment(id)+"/legs", q.values(nil)))
}

// LegsOfAccountBetween is LegsOfAccount for the legs that were posted within [from, to). A zero
// bound is open.
func (c *Client) LegsOfAccountBetween(
	ctx context.Context, id AccountID, from, to time.Time, q PageQuery,
) (Page[Leg], error) {
	values := url.Values{}
	setTime(values, "from", from)
	setTime(values, "to", to)
	return answer[Page[Leg]](ctx, c.get("/v1/accounts/"+segment(id)+"/legs", q.values(values)))
}

// AllLegsOfAccount returns all legs of an account, newest first.
func (c *Client) AllLegsOfAccount(ctx context.Context, id AccountID) iter.Seq2[Leg, error] {
	return all(func(q PageQuery) (Page[Leg], error) { return c.LegsOfAccount(ctx, id, q) })
}

// Date is a calendar day, written 2026-01-31.
type Date string

// StatementQuery asks for the legs of an account over calendar days of its zone, both included. An
// empty To is today in that zone, and an empty From 30 days before To.
type StatementQuery struct {
	AccountID AccountID
	From, To  Date
	PageQuery
}

// Statement is a page of an account's legs, newest first, each with the balance after it.
type Statement struct {
	AccountID AccountID
	From, To  Date
	// Opening is the balance before the days, Closing that after them. Both are the same on every
	// page.
	Opening, Closing money.Amount
	Legs             []Leg
	// Next is the cursor of the next page; empty on the last.
	Next string
}

// Statement returns a page of an account's statement.
func (c *Client) Statement(ctx context.Context, q StatementQuery) (Statement, error) {
	values := url.Values{}
	if q.From != "" {
		values.Set("from", string(q.From))
	}
	if q.To != "" {
		values.Set("to", string(q.To))
	}
	path := "/v1/accounts/" + segment(q.AccountID) + "/statement"
	return answer[Statement](ctx, c.get(path, q.PageQuery.values(values)))
}

// StatementPages returns the pages of an account's statement.
func (c *Client) StatementPages(
	ctx context.Context, q StatementQuery,
) iter.Seq2[Statement, error] {
	return func(yield func(Statement, error) bool) {
		for {
			s, err := c.Statement(ctx, q)
			if !yield(s, err) || err != nil || s.Next == "" {
				return
			}
			q.From, q.To, q.Cursor = s.From, s.To, s.Next
		}
	}
}
