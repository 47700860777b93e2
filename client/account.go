package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
)

// AccountID identifies an account. The ids of system accounts begin with "@".
type AccountID string

// UserID identifies the owner of accounts.
type UserID string

// AccountStatus is the state of an account.
type AccountStatus string

// The states of an account. Only an active account accepts postings; closed is final.
const (
	AccountActive AccountStatus = "active"
	AccountFrozen AccountStatus = "frozen"
	AccountClosed AccountStatus = "closed"
)

// Account is a balance in one currency. A credit increases it and a debit decreases it.
type Account struct {
	ID AccountID
	// UserID is empty for system accounts.
	UserID      UserID
	AccountType string
	Status      AccountStatus
	Balance     money.Amount
	// OverdraftLimit is how far the balance may go below zero. It is ignored if Unlimited is set.
	OverdraftLimit money.Amount
	Unlimited      bool
	// Zone is the time zone of the account's calendar days; empty means that of the server.
	Zone string
	// LocationID is the location of the account; it may be empty.
	LocationID LocationID
	// Version is the number of legs that were posted to the account.
	Version uint64
	// LastPostedAt is the time of the newest leg, or zero if there is none.
	LastPostedAt time.Time
	CreatedAt    time.Time
}

// NewAccount is a request to open an account.
type NewAccount struct {
	// ID is the id to use. Empty means one derived from the IdempotencyKey, or a random one.
	ID AccountID
	// IdempotencyKey makes the request safe to repeat. If it is empty, the client generates one,
	// unless ID is given, which also makes a repeat safe.
	IdempotencyKey string
	UserID         UserID
	// AccountType is one word chosen by the caller, such as "checking".
	AccountType string
	Currency    money.Currency
	// OverdraftLimit is how far the balance may go below zero.
	OverdraftLimit money.Amount
	// Unlimited allows the balance to go below zero without limit.
	Unlimited bool
	// Zone is the time zone of the account's calendar days, such as Pacific/Auckland; empty means
	// that of the server.
	Zone string
	// LocationID is the location of the account; it may be empty.
	LocationID LocationID
}

// AccountReceipt is the response to the creation of an account.
type AccountReceipt struct {
	Account
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
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
	r.safe = true // a repeat returns the first result, because of the id or the key
	made, replayed, err := repeatable[Account](ctx, r)
	return AccountReceipt{made, replayed}, err
}

// Account returns an account by its id.
func (c *Client) Account(ctx context.Context, id AccountID) (Account, error) {
	return answer[Account](ctx, c.get("/v1/accounts/"+segment(id), nil))
}

// Accounts returns a page of all accounts in no particular order.
func (c *Client) Accounts(ctx context.Context, q PageQuery) (Page[Account], error) {
	return answer[Page[Account]](ctx, c.get("/v1/accounts", pageValues(q, nil)))
}

// AllAccounts returns all accounts in no particular order.
func (c *Client) AllAccounts(ctx context.Context) iter.Seq2[Account, error] {
	return all(func(q PageQuery) (Page[Account], error) { return c.Accounts(ctx, q) })
}

// AccountsOfUser returns a page of a user's accounts, by account id.
func (c *Client) AccountsOfUser(
	ctx context.Context, user UserID, q PageQuery,
) (Page[Account], error) {
	path := "/v1/users/" + segment(user) + "/accounts"
	return answer[Page[Account]](ctx, c.get(path, pageValues(q, nil)))
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

// CloseAccount permanently closes an account whose balance is zero. It is refused if payments are
// scheduled from or to the account.
func (c *Client) CloseAccount(ctx context.Context, id AccountID) (Account, error) {
	return c.changeAccount(ctx, id, "close")
}

// CloseAccountWithPayments is CloseAccount for an account with scheduled payments, which will fail.
func (c *Client) CloseAccountWithPayments(ctx context.Context, id AccountID) (Account, error) {
	r := c.post("/v1/accounts/"+segment(id)+"/close", nil)
	r.values = url.Values{"withOpenPayments": {"true"}}
	r.safe = true // setting a status is idempotent
	return answer[Account](ctx, r)
}

func (c *Client) changeAccount(
	ctx context.Context, id AccountID, deed string,
) (Account, error) {
	r := c.post("/v1/accounts/"+segment(id)+"/"+deed, nil)
	r.safe = true // setting a status is idempotent
	return answer[Account](ctx, r)
}

// SetOverdraft sets how far an account may go below zero, or removes the limit.
func (c *Client) SetOverdraft(
	ctx context.Context, id AccountID, limit money.Amount, unlimited bool,
) (Account, error) {
	text := optionalText(limit)
	if text == "" && !unlimited {
		text = "0" // the zero Amount means no overdraft, which the API requires explicitly
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
	return answer[Page[Leg]](ctx, c.get("/v1/accounts/"+segment(id)+"/legs", pageValues(q, nil)))
}

// LegsOfAccountBetween returns the legs that were posted in [from, to). A zero bound is open.
func (c *Client) LegsOfAccountBetween(
	ctx context.Context, id AccountID, from, to time.Time, q PageQuery,
) (Page[Leg], error) {
	values := url.Values{}
	setTime(values, "from", from)
	setTime(values, "to", to)
	return answer[Page[Leg]](ctx, c.get("/v1/accounts/"+segment(id)+"/legs", pageValues(q, values)))
}

// AllLegsOfAccount returns all legs of an account, newest first.
func (c *Client) AllLegsOfAccount(ctx context.Context, id AccountID) iter.Seq2[Leg, error] {
	return all(func(q PageQuery) (Page[Leg], error) { return c.LegsOfAccount(ctx, id, q) })
}

// Date is a calendar day, written 2026-01-31.
type Date = api.Date

// StatementQuery selects the legs of an account over calendar days of its zone, both included. An
// empty To is today in that zone, and an empty From is 30 days before To.
type StatementQuery struct {
	AccountID AccountID
	From, To  Date
	PageQuery
}

// Statement is a page of an account's legs, newest first, each with the balance after it.
type Statement struct {
	AccountID AccountID
	From, To  Date
	// Opening is the balance before the days, and Closing the balance after them. They are the same
	// on every page.
	Opening, Closing money.Amount
	Legs             []Leg
	// Next is the cursor of the next page; empty on the last page.
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
	return answer[Statement](ctx, c.get(path, pageValues(q.PageQuery, values)))
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
