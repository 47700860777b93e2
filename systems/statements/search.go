package statements

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
)

// Search asks for transactions of several accounts. What is left empty does not matter; all that
// is set must hold.
type Search struct {
	// Accounts are the accounts to look at; none means all.
	Accounts []string
	// From and To are days, both included, at most MonthsMax months apart.
	From, To Date
	// Text is words that are found, in any case, in the merchant, the bank's text, notes,
	// references, the other side's account, annotations or tags. All words must be there. "Words in
	// quotes" must stand together, a word behind a - must not be there, and OR between two words
	// wants one of them.
	Text string
	// AmountFrom and AmountTo bound the amount, both included. Unsigned compares it without sign.
	AmountFrom, AmountTo *money.Decimal
	Unsigned             bool
	Currency             money.Currency
	// TagIDs are tags that a row, or a part of it, has: all of them, or, with AnyTag, one.
	TagIDs []string
	AnyTag bool
	// Untagged wants rows without any tag.
	Untagged bool
	Merchant string // The exact name.
	UploadID string
	Source   Source
	Pending  *bool
	Transfer *bool
	// Latest gives the latest first.
	Latest bool
}

// Found is a page of a search.
type Found struct {
	Transactions []Transaction
	// Next is the cursor of the next page; empty at the end. A page may be short though there is a
	// next one, when much was read and little found.
	Next string
	// Read is how many rows were looked at for the page.
	Read int
}

// Search returns a page of what is found in several accounts, by date, id and account. Without any
// condition it lists their transactions as one list. Size is 1 to PageMax; the cursor is the Next
// of the page before, of the same search. The error is ErrInvalidRange, ErrInvalid, ErrNoAccount
// or ErrInvalidCursor.
func (p *Person) Search(ctx context.Context, s Search, size int, cursor string) (Found, error) {
	return Found{}, errUnbuilt
}
