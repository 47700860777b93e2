package statements

import "github.com/exchequer-dev/exchequer/systems/statements/book"

// Limits. A transaction with all that it may have stays under the 400 KB of an item, and so does
// the sheet of a month: TagsMax and MerchantsMax bound what a sheet lists.
const (
	// UserMax is the maximum length of a user's id in bytes; issuers promise at most 255.
	UserMax = 255
	// NotesMax bounds the notes of a transaction in bytes.
	NotesMax = 8 << 10
	// AnnotationMax bounds the text of an annotation in bytes, AnnotationsMax their number on one
	// transaction: 200 KB at most.
	AnnotationMax  = 2 << 10
	AnnotationsMax = 100
	// AnnotationTypeMax bounds the type of an annotation in bytes.
	AnnotationTypeMax = 64
	// TagsOfOneMax is how many tags one transaction, or one part of it, may have.
	TagsOfOneMax = 50
	// TagsOfPartsMax bounds the tags of all parts of one transaction together, so that each tag can
	// be checked in the write that brings it, among the 100 actions that a write may have.
	TagsOfPartsMax = 80
	// SplitsMax is into how many parts a transaction may be divided.
	SplitsMax = book.SplitsMax
	// AccountsMax and TagsMax bound what a user has, so that an app starts with one query.
	AccountsMax = 500
	TagsMax     = 2_000
	// RulesMax bounds a user's rules: each is tried on every row.
	RulesMax = 500
	// ConditionsMax bounds the conditions of a rule, RegexpMax an expression in bytes.
	ConditionsMax = 20
	RegexpMax     = 500
	// JobsMax bounds a user's jobs that are not done: those about one tag are changed together.
	JobsMax = 50
	// PreviewMax is how many rows a preview of rules lists.
	PreviewMax = 500
	// MerchantsMax is how many merchants the sheet of a month lists; those beyond are summed
	// up together.
	MerchantsMax = 800
	// MonthsMax bounds a range that is read as one: ten years.
	MonthsMax = 120
	// PageMax bounds a page of rows.
	PageMax = 1_000
	// FileSizeMax bounds an uploaded file in bytes; it takes time but little memory to read one.
	FileSizeMax = 1 << 30
	// RowsMax bounds the rows of one file: of each an import holds about 30 bytes.
	RowsMax = 1_000_000
	// KnownMax bounds the stored rows of the months of a file, of which it holds about 150 bytes
	// each.
	KnownMax = 2_000_000
	// MonthsOfFileMax bounds the months of one file, which its upload lists: a century.
	MonthsOfFileMax = 1_200
	// OutcomesMax bounds the rows whose outcomes are kept.
	OutcomesMax = 100_000
	// EditedMax bounds the edited rows that the plan of an undo names.
	EditedMax = 1_000
)
