package bankfile

import (
	"github.com/exchequer-dev/exchequer/money"
)

// Outcome says what became of a row of the file.
type Outcome uint8

// The outcomes of a row. Every row that is not blank has one.
const (
	Read    Outcome = iota // Row.Entry is an entry of a statement.
	Skipped                // The row is no entry; Row.Why says what it is.
	Refused                // The row seems to be an entry but cannot be read; Row.Why says why.
	Warned                 // No row at all: Row.Why tells of something that does not add up.
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
	Statement int    // Index in File.Statements, or -1 for what belongs to none.
	Why       string // A sentence for people; empty for entries.
	Raw       string // The row as it is written in the file, at most RawMax bytes.
	Entry     Entry  // Set where Outcome is Read.
	// Warnings are doubts about an entry that was read all the same.
	Warnings []Warning
}

// Warning is a doubt about one entry.
type Warning struct {
	Code WarningCode
	Text string // A sentence for people.
}

// WarningCode tells programs what a warning is about.
type WarningCode string

// The doubts that there are.
const (
	WarnDecimals  WarningCode = "decimals"   // More decimals than the currency has.
	WarnCurrency  WarningCode = "currency"   // A currency that ISO 4217 does not have.
	WarnDate      WarningCode = "date"       // A date that does not exist was replaced.
	WarnSign      WarningCode = "sign"       // Two parts of the entry differ about the sign.
	WarnID        WarningCode = "id"         // The bank's id stands at several entries.
	WarnQuotes    WarningCode = "quotes"     // Quotation marks are missing.
	WarnDetails   WarningCode = "details"    // Details do not add up to the entry.
	WarnTruncated WarningCode = "truncated"  // A value was too long and was cut.
	WarnText      WarningCode = "characters" // Bytes that are no characters of the encoding.
)

// Entry is one movement on an account, as the bank wrote it.
type Entry struct {
	// Date is the day on which it was booked. Every entry has one.
	Date Date
	// ValueDate is the day from which it bears interest. It may be empty.
	ValueDate Date
	// AuthorisedDate is the day on which a person bought or ordered it, where the bank gives that
	// day beside the others.
	AuthorisedDate Date

	// Amount is what the account gained; money out is negative. It keeps all decimals that the
	// bank wrote, be they more than the currency has.
	Amount money.Decimal
	// Currency is upper case. It is empty where neither the file nor Options say it.
	Currency money.Currency
	// Foreign is the amount before it was converted, with the sign of Amount. It is set where
	// ForeignCurrency is and the bank gives the amount.
	Foreign         money.Decimal
	ForeignCurrency money.Currency
	// Balance is the account's balance behind the entry, where HasBalance says so.
	Balance    money.Decimal
	HasBalance bool

	// Name is the other side: a merchant, a person. Where it is empty, Memo is all that there is.
	Name         string
	Memo         string // What the movement is for.
	Counterparty string // The other side's account number, often an IBAN.
	Reference    string // A reference that the customer gave or a document's number.
	Category     string // The bank's or the other program's own category, or kind of movement.
	// Details are the words of all other columns, as "Header: words; Header: words". They are no
	// part of the identity of an entry.
	Details string

	// BankID is the bank's own id of the entry, scoped to the account. UniqueID tells whether it
	// stands only once in the file for that account: an id that repeats is not an id.
	BankID   string
	UniqueID bool

	Reversal bool // It takes back an earlier entry; Amount has its true sign.
	Pending  bool // It is not booked yet, and the balances do not contain it.

	// Corrects is the BankID of an earlier entry that this one replaces or, where Deletes says so,
	// removes.
	Corrects string
	Deletes  bool

	// Splits divide the amount, where the file does so.
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
