package book

import (
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// Date is a calendar day, "2026-01-31". The empty Date is none.
type Date = bankfile.Date

// Source is where a transaction came from.
type Source string

// The sources.
const (
	FromBank   Source = "bank"   // A file brought it.
	FromPerson Source = "person" // A person typed it in.
)

// The fields of a transaction that people and rules may set, as they are named in
// Transaction.Edited and Transaction.Ruled.
const (
	FieldDate     = "date"
	FieldAmount   = "amount"
	FieldMerchant = "merchant"
	FieldNotes    = "notes"
	FieldTags     = "tags"
	FieldSplits   = "splits"
	FieldTransfer = "transfer"
)

// Transaction is one movement on an account.
type Transaction struct {
	UserID    string `dynamodbav:"userId,keyonly"`
	AccountID string `dynamodbav:"accountId,keyonly"`
	ID        string `dynamodbav:"transactionId,keyonly"`
	// Date is the day on which the bank booked it, unless a person set another one.
	Date Date `dynamodbav:"date,required"`
	// Amount is what the account gained; money out is negative.
	Amount   money.Decimal  `dynamodbav:"amount,required"`
	Currency money.Currency `dynamodbav:"currency,required"`
	Merchant string         `dynamodbav:"merchant,omitempty"`
	// TagIDs are the truth, Tags their texts for reading, in the same order.
	TagIDs      []string     `dynamodbav:"tagIds,omitempty"`
	Tags        []string     `dynamodbav:"tags,omitempty"`
	Notes       string       `dynamodbav:"notes,omitempty"`
	Annotations []Annotation `dynamodbav:"annotations,omitempty"`
	// Splits divide the amount; they add up to it. The tags of a divided transaction are theirs.
	Splits []Split `dynamodbav:"splits,omitempty"`
	// Transfer reports that it moves money between the person's own accounts, so that it is neither
	// spent nor earned.
	Transfer bool `dynamodbav:"transfer,omitempty"`

	// What the bank wrote. It is never changed, so that rules can be tried again.
	Text      string `dynamodbav:"text,omitempty"`
	ValueDate Date   `dynamodbav:"valueDate,omitempty"`
	// AuthorisedDate is the day on which a person bought or ordered it, where the bank has it.
	AuthorisedDate Date   `dynamodbav:"authorisedDate,omitempty"`
	Counterparty   string `dynamodbav:"counterparty,omitempty"`
	Reference      string `dynamodbav:"reference,omitempty"`
	Category       string `dynamodbav:"category,omitempty"`
	// Details are the words of other columns of the bank's file, with the names of the columns.
	Details         string         `dynamodbav:"details,omitempty"`
	BankID          string         `dynamodbav:"bankId,omitempty"`
	Foreign         money.Decimal  `dynamodbav:"foreignAmount,omitempty"`
	ForeignCurrency money.Currency `dynamodbav:"foreignCurrency,omitempty"`
	Pending         bool           `dynamodbav:"pending,omitempty"`
	Reversal        bool           `dynamodbav:"reversal,omitempty"`

	Source   Source `dynamodbav:"source,omitempty"`
	UploadID string `dynamodbav:"uploadId,omitempty"`
	Line     int    `dynamodbav:"line,omitempty"` // Of the row in the file.

	// Edited are the fields that a person set; no rule and no file changes them any more.
	Edited []string `dynamodbav:"edited,stringset,omitempty"`
	// Ruled are the fields that a rule set, with the rule's id.
	Ruled     map[string]string `dynamodbav:"ruled,omitempty"`
	CreatedAt time.Time         `dynamodbav:"createdAt"`
	UpdatedAt time.Time         `dynamodbav:"updatedAt"`
	// Version counts the writes. An item of another program has none until it is changed here.
	Version uint64 `dynamodbav:"version,omitempty"`
}

// Annotation is what a person or a program remarks on a transaction.
type Annotation struct {
	ID        string    `dynamodbav:"annotationId,required"`
	Text      string    `dynamodbav:"text,present"`
	Type      string    `dynamodbav:"type,omitempty"`
	Author    string    `dynamodbav:"author,omitempty"`
	CreatedAt time.Time `dynamodbav:"createdAt,seconds"`
}

// Split is one part of a transaction.
type Split struct {
	Amount money.Decimal `dynamodbav:"amount,required"`
	TagIDs []string      `dynamodbav:"tagIds,omitempty"`
	Tags   []string      `dynamodbav:"tags,omitempty"`
	Notes  string        `dynamodbav:"notes,omitempty"`
}

// EntryState is the state of a row that a bank wrote.
type EntryState string

// The states of an entry.
const (
	// Live is a row whose transaction is there.
	Live EntryState = "live"
	// Merged is a row that was found to be a transaction which was there before: one that a person
	// typed in, or one that had been pending.
	Merged EntryState = "merged"
	// Deleted is a row whose transaction a person deleted: no file brings it back.
	Deleted EntryState = "deleted"
	// Undone is a row whose import was undone: the next file with it brings it back.
	Undone EntryState = "undone"
)

// Entry is what is remembered for good of a row that a bank wrote, or a person.
type Entry struct {
	UserID    string `dynamodbav:"userId,keyonly"`
	AccountID string `dynamodbav:"accountId,keyonly"`
	Month     string `dynamodbav:"month,keyonly"` // "2026-01", or "-" for ids that have none
	ID        string `dynamodbav:"transactionId,keyonly"`

	State EntryState `dynamodbav:"state"`
	// Date is where the transaction is now, also after it was moved to another month.
	Date     Date           `dynamodbav:"date"`
	Amount   money.Decimal  `dynamodbav:"amount"`
	Currency money.Currency `dynamodbav:"currency"`
	Pending  bool           `dynamodbav:"pending,omitempty"`
	Source   Source         `dynamodbav:"source"`
	UploadID string         `dynamodbav:"uploadId,omitempty"`
	// BankKey and Content are hashes of bankfile.Key: what the row is known by in other files.
	BankKey string `dynamodbav:"bankKey,omitempty"`
	Content string `dynamodbav:"content,omitempty"`
	// Payee is the beginning of the other side's name in lower case, to find likely matches.
	Payee string `dynamodbav:"payee,omitempty"`
	// Of is the id of the transaction that a merged row became part of, and Before that
	// transaction as it was, in JSON, for undoing.
	Of      string `dynamodbav:"of,omitempty"`
	Before  string `dynamodbav:"before,omitempty"`
	Version uint64 `dynamodbav:"version,omitempty"`
}
