package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// BankTransactionID identifies a transaction of a bank account.
type BankTransactionID string

// BankTransaction is one transaction of a bank account.
type BankTransaction struct {
	ID        BankTransactionID `json:"id"`
	AccountID BankAccountID     `json:"accountId"`
	// Date is the booking date of the bank, unless the person changed it.
	Date Date `json:"date"`
	// Amount is the change of the balance; money out is negative.
	Amount   money.Decimal  `json:"amount"`
	Currency money.Currency `json:"currency"`
	Merchant string         `json:"merchant,omitempty"`
	// Tags are the texts of the tags in TagIDs, in the same order.
	TagIDs      []TagID      `json:"tagIds"`
	Tags        []string     `json:"tags"`
	Notes       string       `json:"notes,omitempty"`
	Annotations []Annotation `json:"annotations"`
	// Splits add up to the amount. A split transaction has the tags of its splits.
	Splits []BankSplit `json:"splits"`
	// Transfer reports whether it moves money between the person's own accounts.
	Transfer bool `json:"transfer,omitempty"`

	// The fields as the bank wrote them.
	Text         string `json:"text,omitempty"`
	ValueDate    Date   `json:"valueDate,omitempty"`
	Counterparty string `json:"counterparty,omitempty"`
	Reference    string `json:"reference,omitempty"`
	Category     string `json:"category,omitempty"`
	// Details are the words of other columns of the bank's file.
	Details         string         `json:"details,omitempty"`
	BankID          string         `json:"bankId,omitempty"`
	ForeignAmount   *money.Decimal `json:"foreignAmount,omitempty"`
	ForeignCurrency money.Currency `json:"foreignCurrency,omitempty"`
	Pending         bool           `json:"pending,omitempty"`
	Reversal        bool           `json:"reversal,omitempty"`

	// Source is bank or person.
	Source   string   `json:"source,omitempty"`
	UploadID UploadID `json:"uploadId,omitempty"`
	Line     int      `json:"line,omitempty"` // of the row in the file

	// Edited are the fields that a person set. Ruled are those that a rule set, with its id.
	Edited    []string          `json:"edited"`
	Ruled     map[string]RuleID `json:"ruled,omitempty"`
	Version   uint64            `json:"version"`
	CreatedAt time.Time         `json:"createdAt,omitzero"`
	UpdatedAt time.Time         `json:"updatedAt,omitzero"`
}

// Annotation is a note on a transaction.
type Annotation struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	Type      string    `json:"type,omitempty"`
	Author    string    `json:"author,omitempty"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
}

// BankSplit is one part of a transaction.
type BankSplit struct {
	Amount money.Decimal `json:"amount"`
	TagIDs []TagID       `json:"tagIds"`
	Tags   []string      `json:"tags"`
	Notes  string        `json:"notes,omitempty"`
}

// NewBankSplit is a part of a split transaction.
type NewBankSplit struct {
	Amount money.Decimal `json:"amount"`
	TagIDs []TagID       `json:"tagIds,omitempty"`
	Notes  string        `json:"notes,omitempty"`
}

// NewBankTransaction is a transaction that a person enters by hand.
type NewBankTransaction struct {
	// IdempotencyKey makes the request safe to repeat. If it is empty, the client generates one.
	IdempotencyKey string `json:"-"`
	Date           Date   `json:"date"`
	// Amount is negative for money out.
	Amount money.Decimal `json:"amount"`
	// Currency is that of the account if it is empty.
	Currency money.Currency `json:"currency,omitempty"`
	Merchant string         `json:"merchant,omitempty"`
	Notes    string         `json:"notes,omitempty"`
	TagIDs   []TagID        `json:"tagIds,omitempty"`
	Transfer bool           `json:"transfer,omitempty"`
	Splits   []NewBankSplit `json:"splits,omitempty"`
}

// BankTransactionChange is a change of a transaction; nil fields are unchanged.
type BankTransactionChange struct {
	Date *Date `json:"date,omitempty"`
	// Amount can be changed only if the transaction was entered by hand.
	Amount   *money.Decimal `json:"amount,omitempty"`
	Merchant *string        `json:"merchant,omitempty"`
	Notes    *string        `json:"notes,omitempty"`
	TagIDs   *[]TagID       `json:"tagIds,omitempty"`
	Transfer *bool          `json:"transfer,omitempty"`
	// Splits split the amount; an empty list removes the splits.
	Splits *[]NewBankSplit `json:"splits,omitempty"`
	// Reset are fields that get back their values from the bank and the rules.
	Reset []string `json:"reset,omitempty"`
}

// NewAnnotation is a request to add a note to a transaction.
type NewAnnotation struct {
	// ID makes the request safe to repeat. If it is empty, the server generates one.
	ID     string `json:"id,omitempty"`
	Text   string `json:"text"`
	Type   string `json:"type,omitempty"`
	Author string `json:"author,omitempty"`
}

// AnnotationChange is a change of an annotation; nil fields are unchanged.
type AnnotationChange struct {
	Text *string `json:"text,omitempty"`
	Type *string `json:"type,omitempty"`
}

// DaysQuery selects transactions of an account by day.
type DaysQuery struct {
	// From and To are days, both included.
	From, To Date
	// Latest returns the latest first.
	Latest bool
	PageQuery
}

// setNewest asks for the newest rows first.
func setNewest(v url.Values, newest bool) {
	if newest {
		v.Set("order", "newest")
	}
}

func (q DaysQuery) values() url.Values {
	v := pageValues(q.PageQuery, nil)
	v.Set("from", string(q.From))
	v.Set("to", string(q.To))
	setNewest(v, q.Latest)
	return v
}

func setTrue(v url.Values, name string, yes bool) {
	if yes {
		v.Set(name, "true")
	}
}

// setEach adds a parameter that may occur several times.
func setEach[T ~string](v url.Values, name string, values []T) {
	for _, value := range values {
		v.Add(name, string(value))
	}
}

// BankTransactions returns a page of the transactions of an account.
func (c *Client) BankTransactions(
	ctx context.Context, account BankAccountID, q DaysQuery,
) (Page[BankTransaction], error) {
	return answer[Page[BankTransaction]](ctx,
		c.get(bankPath(account)+"/transactions", q.values()))
}

// AllBankTransactions returns the transactions of an account from all pages.
func (c *Client) AllBankTransactions(
	ctx context.Context, account BankAccountID, q DaysQuery,
) iter.Seq2[BankTransaction, error] {
	return allFrom(q.PageQuery, func(page PageQuery) (Page[BankTransaction], error) {
		q.PageQuery = page
		return c.BankTransactions(ctx, account, q)
	})
}

// BankSearch selects transactions of several accounts. Empty fields are ignored; all others must
// match.
type BankSearch struct {
	// From and To are days, both included.
	From, To Date
	// Accounts are the accounts to search; none means all.
	Accounts []BankAccountID
	// Text is words that must all occur; see the API's description for quotes, - and OR.
	Text string
	// AmountFrom and AmountTo are the bounds of the amount, both included. Unsigned ignores its
	// sign.
	AmountFrom, AmountTo *money.Decimal
	Unsigned             bool
	Currency             money.Currency
	// Tags are the tags of a row: all of them or, with AnyTag, at least one.
	Tags     []TagID
	AnyTag   bool
	Untagged bool
	Merchant string // the exact name
	Upload   UploadID
	Source   string // bank or person
	Pending  *bool
	Transfer *bool
	// Latest returns the latest first.
	Latest bool
	PageQuery
}

func (q BankSearch) values() url.Values {
	v := pageValues(q.PageQuery, nil)
	v.Set("from", string(q.From))
	v.Set("to", string(q.To))
	setEach(v, "account", q.Accounts)
	setEach(v, "tag", q.Tags)
	for name, text := range map[string]string{
		"text": q.Text, "currency": string(q.Currency), "merchant": q.Merchant,
		"upload": string(q.Upload), "source": q.Source,
	} {
		setText(v, name, text)
	}
	for name, amount := range map[string]*money.Decimal{
		"amountFrom": q.AmountFrom, "amountTo": q.AmountTo,
	} {
		if amount != nil {
			v.Set(name, amount.String())
		}
	}
	for name, yes := range map[string]*bool{"pending": q.Pending, "transfer": q.Transfer} {
		if yes != nil {
			v.Set(name, strconv.FormatBool(*yes))
		}
	}
	setTrue(v, "unsigned", q.Unsigned)
	setTrue(v, "anyTag", q.AnyTag)
	setTrue(v, "untagged", q.Untagged)
	setNewest(v, q.Latest)
	return v
}

// SearchBankTransactions returns a page of the transactions that match. It may be short or empty
// although there is a next page.
func (c *Client) SearchBankTransactions(
	ctx context.Context, q BankSearch,
) (Page[BankTransaction], error) {
	return answer[Page[BankTransaction]](ctx, c.get("/v1/me/transactions", q.values()))
}

// AllFound returns the transactions that match from all pages.
func (c *Client) AllFound(ctx context.Context, q BankSearch) iter.Seq2[BankTransaction, error] {
	return allFrom(q.PageQuery, func(page PageQuery) (Page[BankTransaction], error) {
		q.PageQuery = page
		return c.SearchBankTransactions(ctx, q)
	})
}

func rowPath(account BankAccountID, id BankTransactionID) string {
	return bankPath(account) + "/transactions/" + segment(id)
}

// BankTransaction returns a transaction of an account.
func (c *Client) BankTransaction(
	ctx context.Context, account BankAccountID, id BankTransactionID,
) (BankTransaction, error) {
	return answer[BankTransaction](ctx, c.get(rowPath(account, id), nil))
}

// BankTransactionReceipt is the response to the creation of a transaction.
type BankTransactionReceipt struct {
	BankTransaction
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
	Replayed bool `json:"-"`
}

// AddBankTransaction adds a transaction that a person enters by hand.
func (c *Client) AddBankTransaction(
	ctx context.Context, account BankAccountID, n NewBankTransaction,
) (BankTransactionReceipt, error) {
	r := c.post(bankPath(account)+"/transactions", n)
	if r.key = n.IdempotencyKey; r.key == "" {
		r.key = newKey()
	}
	r.safe = true
	made, replayed, err := repeatable[BankTransaction](ctx, r)
	return BankTransactionReceipt{made, replayed}, err
}

// ChangeBankTransaction changes a transaction. A version other than 0 must be the current one.
func (c *Client) ChangeBankTransaction(
	ctx context.Context, account BankAccountID, id BankTransactionID, version uint64,
	change BankTransactionChange,
) (BankTransaction, error) {
	r := c.guarded(http.MethodPatch, rowPath(account, id), version, change)
	r.safe = version == 0
	return answer[BankTransaction](ctx, r)
}

// DeleteBankTransaction permanently deletes a transaction: no later file restores it. A version
// other than 0 must be the current one.
func (c *Client) DeleteBankTransaction(
	ctx context.Context, account BankAccountID, id BankTransactionID, version uint64,
) error {
	return done(ctx, c.guarded(http.MethodDelete, rowPath(account, id), version, nil))
}

// AnnotationReceipt is the response to the creation of an annotation.
type AnnotationReceipt struct {
	BankTransaction
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
	Replayed bool `json:"-"`
}

// Annotate adds an annotation to a transaction and returns the transaction.
func (c *Client) Annotate(
	ctx context.Context, account BankAccountID, id BankTransactionID, n NewAnnotation,
) (AnnotationReceipt, error) {
	r := c.post(rowPath(account, id)+"/annotations", n)
	r.safe = n.ID != ""
	made, replayed, err := repeatable[BankTransaction](ctx, r)
	return AnnotationReceipt{made, replayed}, err
}

// ChangeAnnotation changes an annotation and returns the transaction.
func (c *Client) ChangeAnnotation(
	ctx context.Context, account BankAccountID, id BankTransactionID, annotation string,
	change AnnotationChange,
) (BankTransaction, error) {
	r := c.guarded(http.MethodPatch, rowPath(account, id)+"/annotations/"+segment(annotation), 0,
		change)
	r.safe = true
	return answer[BankTransaction](ctx, r)
}

// RemoveAnnotation removes an annotation and returns the transaction.
func (c *Client) RemoveAnnotation(
	ctx context.Context, account BankAccountID, id BankTransactionID, annotation string,
) (BankTransaction, error) {
	r := c.guarded(http.MethodDelete, rowPath(account, id)+"/annotations/"+segment(annotation), 0,
		nil)
	r.safe = true
	return answer[BankTransaction](ctx, r)
}
