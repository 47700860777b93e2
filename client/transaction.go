package client

import (
	"context"
	"iter"
	"net/url"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// TransactionID identifies a transaction.
type TransactionID string

// LegID identifies a leg.
type LegID string

// TransactionType is the purpose of a transaction: one word of lower-case letters, digits and
// underscores. The ledger treats all types alike.
type TransactionType string

// The types that the ledger itself uses.
const (
	Payment    TransactionType = "payment"
	Transfer   TransactionType = "transfer"
	Deposit    TransactionType = "deposit"
	Withdrawal TransactionType = "withdrawal"
	Reversal   TransactionType = "reversal"
)

// TransactionStatus is the state of a transaction.
type TransactionStatus string

// The states of a transaction.
const (
	Pending   TransactionStatus = "pending"
	Completed TransactionStatus = "completed"
	Failed    TransactionStatus = "failed"
	Reversed  TransactionStatus = "reversed"
)

// LegType is the direction of a leg.
type LegType string

// A debit decreases the account's balance, a credit increases it.
const (
	Debit  LegType = "debit"
	Credit LegType = "credit"
)

// Transaction is one movement of money with two or more legs.
type Transaction struct {
	ID             TransactionID
	IdempotencyKey string
	Type           TransactionType
	Status         TransactionStatus
	MerchantID     MerchantID
	Description    string
	// Amount is the sum of the debits in its currency.
	Amount   money.Amount
	Metadata map[string]string
	// ReversalOf is the transaction that this one reverses, and ReversedBy the one that reverses
	// it.
	ReversalOf, ReversedBy TransactionID
	CreatedAt              time.Time
}

// Leg is one account's side of a transaction.
type Leg struct {
	ID            LegID
	TransactionID TransactionID
	AccountID     AccountID
	Type          LegType
	Amount        money.Amount
	// BalanceAfter is the account's balance after this leg was posted.
	BalanceAfter money.Amount
	// AccountVersion is the number of the leg in its account, from 1 and without gaps.
	AccountVersion uint64
	CreatedAt      time.Time
}

// Entry is a transaction with all its legs.
type Entry struct {
	Transaction Transaction
	Legs        []Leg
}

// Posting is a request to create a transaction. The movement is given either by Legs or, for one
// debit and one credit, by From, To and Amount.
type Posting struct {
	// IdempotencyKey makes the request safe to repeat at any time. If it is empty, the client
	// generates one, so that an equal request is another transaction.
	IdempotencyKey string
	Type           TransactionType
	MerchantID     MerchantID
	Description    string
	Metadata       map[string]string
	// Currency is that of the transaction's Amount if the legs have several. The zero value means
	// that of the first leg.
	Currency money.Currency
	Legs     []PostingLeg
	// From is debited and To is credited. An empty From of a deposit, or To of a withdrawal, means
	// the system account for it. An empty To with a MerchantID means the merchant's account.
	From, To AccountID
	Amount   money.Amount
}

// PostingLeg is one side of a Posting.
type PostingLeg struct {
	AccountID AccountID
	Type      LegType
	Amount    money.Amount
}

// Receipt is the response to a Posting.
type Receipt struct {
	Entry
	// Replayed reports whether an earlier, equal request created the transaction.
	Replayed bool
}

// Post creates a transaction, exactly once for its idempotency key.
func (c *Client) Post(ctx context.Context, p Posting) (Receipt, error) {
	r := c.post("/v1/transactions", p.json())
	r.key, r.safe = p.IdempotencyKey, true
	if r.key == "" {
		r.key = newKey()
	}
	return receipt(ctx, r)
}

// Reversing is a request to reverse a transaction.
type Reversing struct {
	TransactionID TransactionID `json:"-"`
	// Description of the reversal; empty means that of the original.
	Description string            `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Reverse reverses a completed transaction by another transaction. It happens once: an equal second
// request returns the first result, with Replayed set.
func (c *Client) Reverse(ctx context.Context, v Reversing) (Receipt, error) {
	r := c.post("/v1/transactions/"+segment(v.TransactionID)+"/reverse", v)
	r.safe = true // a transaction has only one reversal, so a repeat finds it
	return receipt(ctx, r)
}

// Transaction returns the header of a transaction.
func (c *Client) Transaction(ctx context.Context, id TransactionID) (Transaction, error) {
	return answer[Transaction](ctx, c.get("/v1/transactions/"+segment(id), nil))
}

// Entry returns a transaction with its legs, which the server reads in one query.
func (c *Client) Entry(ctx context.Context, id TransactionID) (Entry, error) {
	values := url.Values{"legs": {"true"}}
	return answer[Entry](ctx, c.get("/v1/transactions/"+segment(id), values))
}

// LegsOfTransaction returns the legs of a transaction.
func (c *Client) LegsOfTransaction(ctx context.Context, id TransactionID) ([]Leg, error) {
	page, err := answer[Page[Leg]](ctx, c.get("/v1/transactions/"+segment(id)+"/legs", nil))
	return page.Rows(err)
}

// TransactionByKey returns the transaction with an idempotency key from the store's index. On a
// store with index lag it may miss the newest transactions.
func (c *Client) TransactionByKey(ctx context.Context, key string) (Transaction, error) {
	values := url.Values{"idempotencyKey": {key}}
	return only[Transaction](ctx, c.get("/v1/transactions", values))
}

// EntryByKey returns the transaction with an idempotency key and its legs, up to date.
func (c *Client) EntryByKey(ctx context.Context, key string) (Entry, error) {
	values := url.Values{"idempotencyKey": {key}, "legs": {"true"}}
	return only[Entry](ctx, c.get("/v1/transactions", values))
}

// StatusQuery selects the transactions of one status that were created in [From, To). A zero bound
// is open.
type StatusQuery struct {
	Status   TransactionStatus
	From, To time.Time
	// NewestFirst reverses the order.
	NewestFirst bool
	PageQuery
}

// TransactionsByStatus returns a page of the transactions of one status by time.
func (c *Client) TransactionsByStatus(
	ctx context.Context, q StatusQuery,
) (Page[Transaction], error) {
	values := url.Values{"status": {string(q.Status)}}
	setTime(values, "from", q.From)
	setTime(values, "to", q.To)
	if q.NewestFirst {
		values.Set("order", "newest")
	}
	return answer[Page[Transaction]](
		ctx,
		c.get("/v1/transactions", pageValues(q.PageQuery, values)),
	)
}

// AllTransactionsByStatus returns all transactions of one status by time, beginning with q's page.
func (c *Client) AllTransactionsByStatus(
	ctx context.Context, q StatusQuery,
) iter.Seq2[Transaction, error] {
	return allFrom(q.PageQuery, func(p PageQuery) (Page[Transaction], error) {
		q.PageQuery = p
		return c.TransactionsByStatus(ctx, q)
	})
}

// StatusShards is a number of shards of the transactions of one status and its start.
type StatusShards struct {
	Count int `json:"count"`
	// From is zero for the first.
	From time.Time `json:"from,omitzero"`
}

// StatusShards returns the numbers of shards of the transactions of one status, the earliest first.
func (c *Client) StatusShards(ctx context.Context) ([]StatusShards, error) {
	page, err := answer[Page[StatusShards]](ctx, c.get("/v1/transactions/shards", nil))
	return page.Rows(err)
}

// GrowStatusShards increases the number of shards for transactions that are created from an instant
// on; the zero time means now.
func (c *Client) GrowStatusShards(
	ctx context.Context, count int, from time.Time,
) ([]StatusShards, error) {
	r := c.post("/v1/transactions/shards", struct {
		Count int       `json:"count"`
		From  time.Time `json:"from,omitzero"`
	}{count, from})
	r.safe = true // growing again to the same number changes nothing
	page, err := answer[Page[StatusShards]](ctx, r)
	return page.Rows(err)
}
