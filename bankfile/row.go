package bankfile

import (
	"github.com/exchequer-dev/exchequer/money"
)

// Outcome is what a row of the file was read as.
type Outcome uint8

// The outcomes of a row. Every row that is not blank has one.
const (
	Read    Outcome = iota // Row.Entry is an entry of a statement.
	Skipped                // The row is not an entry; Row.Why is the reason.
	Refused                // The row seems to be an entry but cannot be read; see Row.Why.
	Warned                 // Not a row: Row.Why is a sentence about totals that differ.
)

// String returns the outcome in lower case: "read", "skipped", "refused" or "warned".
func (o Outcome) String() string {
	switch o {
	case Read:
		return "read"
	case Skipped:
		return "skipped"
	case Refused:
		return "refused"
	}
	return "warned"
}

// Row is one row of a file, in the file's order.
type Row struct {
	Outcome   Outcome
	Line      int    // Where the row begins, from 1.
	Statement int    // Index in File.Statements, or -1 if it belongs to none.
	Why       string // A sentence for people; empty for entries.
	Raw       string // The row as it is written in the file, at most RawMax bytes.
	Entry     Entry  // Set if Outcome is Read.
	// Warnings are doubts about an entry that was read anyway.
	Warnings []Warning
}

// Warning is a doubt about one entry.
type Warning struct {
	Code WarningCode
	Text string // A sentence for people.
}

// WarningCode identifies a kind of warning for programs.
type WarningCode string

// The kinds of warnings.
const (
	WarnDecimals  WarningCode = "decimals"   // More decimals than the currency has.
	WarnCurrency  WarningCode = "currency"   // A currency that ISO 4217 does not have.
	WarnDate      WarningCode = "date"       // A date that does not exist was replaced.
	WarnSign      WarningCode = "sign"       // Two parts have different signs.
	WarnID        WarningCode = "id"         // The bank's id is at several entries.
	WarnQuotes    WarningCode = "quotes"     // Quotation marks are missing.
	WarnDetails   WarningCode = "details"    // The sum of the details is not the amount.
	WarnTruncated WarningCode = "truncated"  // A value was too long and was cut.
	WarnText      WarningCode = "characters" // Bytes that are invalid in the encoding.
)

// Entry is one movement on an account, as the bank wrote it.
type Entry struct {
	// Date is the day on which it was booked. Every entry has one.
	Date Date
	// ValueDate is the day from which it bears interest. It may be empty.
	ValueDate Date
	// AuthorisedDate is the day on which a person made the purchase or gave the order, if the bank
	// gives that day in addition to the others.
	AuthorisedDate Date

	// Amount is positive for money in and negative for money out. It keeps all decimals that the
	// bank wrote, even if the currency has fewer.
	Amount money.Decimal
	// Currency is in upper case. It is empty if neither the file nor Options have one.
	Currency money.Currency
	// Foreign is the amount before it was converted, with the sign of Amount. It is set if
	// ForeignCurrency is set and the bank gives the amount.
	Foreign         money.Decimal
	ForeignCurrency money.Currency
	// Balance is the account's balance after the entry, if HasBalance is true.
	Balance    money.Decimal
	HasBalance bool

	// Name is the other side: a merchant, a person. If it is empty, Memo is all that there is.
	Name         string
	Memo         string // The purpose of the movement.
	Counterparty string // The other side's account number, often an IBAN.
	Reference    string // A reference that the customer gave or a document's number.
	Category     string // The bank's or the other program's own category, or kind of movement.
	// Details are the texts of all other columns, as "Header: words; Header: words". They are not
	// part of the identity of an entry.
	Details string

	// BankID is the bank's own id of the entry, scoped to the account. UniqueID reports whether it
	// is unique in the file for that account; an id that repeats does not identify an entry.
	BankID   string
	UniqueID bool

	Reversal bool // It reverses an earlier entry; Amount has its true sign.
	Pending  bool // It is not booked yet, and the balances do not contain it.

	// Corrects is the BankID of an earlier entry that this one replaces or, if Deletes is true,
	// removes.
	Corrects string
	Deletes  bool

	// Splits are the parts of the amount, if the file has them.
	Splits []Split
}

// Date is a calendar day as the bank wrote it: "2026-01-31". It is never an instant, and no time
// zone changes it. The empty Date is no date.
type Date string

// Split is a part of an entry.
type Split struct {
	Amount   money.Decimal
	Category string
	Memo     string
}
