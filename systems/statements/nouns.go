package statements

import "github.com/exchequer-dev/exchequer/systems/statements/book"

// The nouns that package book holds, because its rules need no store.
type (
	// Date is a calendar day, "2026-01-31". The empty Date is none.
	Date = book.Date
	// Transaction is one movement on an account.
	Transaction = book.Transaction
	// Annotation is what a person or a program remarks on a transaction.
	Annotation = book.Annotation
	// Split is one part of a transaction.
	Split = book.Split
	// Source is where a transaction came from.
	Source = book.Source
	// Entry is what is remembered for good of a row that a bank wrote, or a person.
	Entry = book.Entry
	// EntryState is the state of a row that a bank wrote.
	EntryState = book.EntryState
)

// The sources.
const (
	FromBank   = book.FromBank   // A file brought it.
	FromPerson = book.FromPerson // A person typed it in.
)

// The states of an entry; see package book.
const (
	Live    = book.Live
	Merged  = book.Merged
	Deleted = book.Deleted
	Undone  = book.Undone
)

// The fields of a transaction that people and rules may set, as they are named in
// Transaction.Edited and Transaction.Ruled.
const (
	FieldDate     = book.FieldDate
	FieldAmount   = book.FieldAmount
	FieldMerchant = book.FieldMerchant
	FieldNotes    = book.FieldNotes
	FieldTags     = book.FieldTags
	FieldSplits   = book.FieldSplits
	FieldTransfer = book.FieldTransfer
)

// Limits of texts of transactions.
const (
	// NameMax bounds names of accounts, tags, rules and merchants, in bytes.
	NameMax = book.NameMax
	// TextMax bounds what is kept of the bank's own text of a row, in bytes.
	TextMax = book.TextMax
)
