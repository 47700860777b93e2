package bankfile

import "github.com/exchequer-dev/exchequer/money"

// Kind says how final a statement is.
type Kind string

// The kinds of statements. What an interim report or an advice tells comes again in the final
// statement; they must not be booked beside it.
const (
	Final   Kind = "final"   // OFX, QIF, CSV, MT940, camt.053.
	Interim Kind = "interim" // MT942, camt.052.
	Advice  Kind = "advice"  // camt.054.
)

// Statement is what a file says about one account.
type Statement struct {
	Kind     Kind
	Account  string // As written; an IBAN where the bank gives one. Empty if the file has none.
	Bank     string // The bank's code, where it is apart from the account.
	Type     string // The type of account, where the file names it, such as CHECKING or bank.
	ID       string // The statement's own number, without that of a page.
	Currency money.Currency
	Opening  *Balance // Nil where the file has none.
	Closing  *Balance // Nil where the file has none.
	Line     int      // Where it begins.
}

// Balance is the booked balance of an account.
type Balance struct {
	Amount   money.Decimal
	Currency money.Currency // Empty where the file does not name it.
	Date     Date           // May be empty.
}

// Total is what the rows of one statement add up to.
type Total struct {
	Read    int // Entries, pending ones included.
	Pending int
	Skipped int
	Refused int
	Sum     money.Decimal // Of the booked entries in the statement's currency.
	// Foreign is how many booked entries are in another currency, so that Sum is without them.
	Foreign int
	Checked bool // The statement has both balances, so that they could be compared.
	Agrees  bool // Opening balance and entries make the closing balance.
	// Opening and Closing are those of the statement, or what the balances beside the rows of a
	// CSV file make where they agree. Either may be nil.
	Opening *Balance
	Closing *Balance
}
