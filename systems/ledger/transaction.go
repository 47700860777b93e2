package ledger

import (
	"maps"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// TransactionID identifies a transaction: a UUID, derived from the idempotency key of the request.
type TransactionID string

// LegID identifies a leg: a UUID whose first 12 hexadecimal digits are the account's version.
type LegID string

// TransactionType is the purpose of a transaction. The ledger treats all types alike.
type TransactionType string

// The types that this package makes. Callers may use others: one word of lower-case letters, digits
// and underscores.
const (
	Payment    TransactionType = "payment"
	Transfer   TransactionType = "transfer"
	Deposit    TransactionType = "deposit"
	Withdrawal TransactionType = "withdrawal"
	Reversal   TransactionType = "reversal"
)

// TransactionStatus is the state of a transaction. See the life cycle in the package's description.
type TransactionStatus string

// The states of a transaction.
const (
	Pending   TransactionStatus = "pending"
	Completed TransactionStatus = "completed"
	Failed    TransactionStatus = "failed"
	Reversed  TransactionStatus = "reversed"
)

// Known reports whether s is one of the states.
func (s TransactionStatus) Known() bool {
	switch s {
	case Pending, Completed, Failed, Reversed:
		return true
	}
	return false
}

// LegType is the direction of a leg.
type LegType string

// A debit lowers the account's balance, a credit raises it.
const (
	Debit  LegType = "debit"
	Credit LegType = "credit"
)

// Transaction is one movement of money: the header of two or more legs.
type Transaction struct {
	ID TransactionID
	// IdempotencyKey is the request's, or a random one where it had none.
	IdempotencyKey string
	Type           TransactionType
	Status         TransactionStatus
	MerchantID     MerchantID
	Description    string
	// Amount is the sum of the debits in its currency.
	Amount   money.Amount
	Metadata map[string]string
	// ReversalOf is the transaction that this one reverses.
	ReversalOf TransactionID
	// ReversedBy is the transaction that reverses this one.
	ReversedBy TransactionID
	CreatedAt  time.Time
	// requestHash is what the request was, for comparison with a repeat.
	requestHash string
}

// Leg is one account's side of a transaction.
type Leg struct {
	ID            LegID
	TransactionID TransactionID
	AccountID     AccountID
	Type          LegType
	Amount        money.Amount
	// BalanceAfter is the account's balance once this leg was posted.
	BalanceAfter money.Amount
	// AccountVersion counts the legs of the account; the first has 1, and there are no gaps.
	AccountVersion uint64
	CreatedAt      time.Time
}

// Posting asks for a transaction.
type Posting struct {
	// IdempotencyKey makes the request safe to repeat at any time: 1 to 255 characters. Empty means
	// that an equal request is another transaction.
	IdempotencyKey string
	Type           TransactionType
	// MerchantID is who is paid; it may be empty.
	MerchantID  MerchantID
	Description string
	Metadata    map[string]string
	// Currency is that of the transaction's Amount. Its zero value means that of the first leg.
	Currency money.Currency
	// Legs are at least two. In each currency debits equal credits. An account may appear in
	// several; its rules are applied to the sum of them.
	Legs []PostingLeg
}

// PostingLeg is one side of a Posting.
type PostingLeg struct {
	// AccountID is an account, the name of one of the ledger's own, or MerchantSettlement.
	AccountID AccountID
	Type      LegType
	Amount    money.Amount
}

// MerchantSettlement in a leg is replaced by the settlement account of the posting's merchant.
const MerchantSettlement AccountID = "@merchant"

// PayMerchant returns the posting of a payment to a merchant's settlement account.
func PayMerchant(from AccountID, to MerchantID, amount money.Amount) Posting {
	p := move(Payment, from, MerchantSettlement, amount)
	p.MerchantID = to
	return p
}

// TransferBetween returns the posting of a transfer.
func TransferBetween(from, to AccountID, amount money.Amount) Posting {
	return move(Transfer, from, to, amount)
}

// DepositInto returns the posting of money that comes into the books.
func DepositInto(to AccountID, amount money.Amount) Posting {
	return move(Deposit, Deposits, to, amount)
}

// WithdrawFrom returns the posting of money that leaves the books.
func WithdrawFrom(from AccountID, amount money.Amount) Posting {
	return move(Withdrawal, from, Withdrawals, amount)
}

func move(kind TransactionType, from, to AccountID, amount money.Amount) Posting {
	return Posting{Type: kind, Legs: []PostingLeg{
		{AccountID: from, Type: Debit, Amount: amount},
		{AccountID: to, Type: Credit, Amount: amount},
	}}
}

// Entry is a transaction with all its legs, in the order of the item collection: by id.
type Entry struct {
	Transaction Transaction
	Legs        []Leg
}

// clone returns an entry that shares nothing with e.
func (e Entry) clone() Entry {
	e.Legs = slices.Clone(e.Legs)
	e.Transaction.Metadata = maps.Clone(e.Transaction.Metadata)
	return e
}

// Receipt is the answer to a Posting.
type Receipt struct {
	Entry
	// Replayed reports that an earlier, equal request made the transaction.
	Replayed bool
}
