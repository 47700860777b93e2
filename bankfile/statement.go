package bankfile

import "github.com/exchequer-dev/exchequer/money"

// Kind is how final a statement is.
type Kind string

// The kinds of statements. The entries of an interim report or an advice come again in the final
// statement, so do not book both.
const (
	Final   Kind = "final"   // OFX, QIF, CSV, MT940, camt.053.
	Interim Kind = "interim" // MT942, camt.052.
	Advice  Kind = "advice"  // camt.054.
)

// Statement is the part of a file about one account.
type Statement struct {
	Kind     Kind
	Account  string // As written; an IBAN if the bank gives one. Empty if the file has none.
	Bank     string // The bank's code, if it is separate from the account.
	Type     string // The type of account, if the file has it, such as CHECKING or bank.
	ID       string // The number of the statement, without that of a page.
	Currency money.Currency
	Opening  *Balance // Nil where the file has none.
	Closing  *Balance // Nil where the file has none.
	Line     int      // Where it begins.
}

// Balance is the booked balance of an account.
type Balance struct {
	Amount   money.Decimal
	Currency money.Currency // Empty if the file does not name it.
	Date     Date           // May be empty.
}

// Total is the result of the rows of one statement.
type Total struct {
	Read    int // Entries, pending ones included.
	Pending int
	Skipped int
	Refused int
	Sum     money.Decimal // Of the booked entries in the statement's currency.
	// Foreign is the number of booked entries in another currency, which are not in Sum.
	Foreign int
	Checked bool // Opening and closing balance are known and were compared.
	Agrees  bool // Opening balance plus entries is the closing balance.
	// Opening and Closing are those of the statement or, for a CSV file, computed from the balances
	// next to its rows if those agree. Either may be nil.
	Opening *Balance
	Closing *Balance
}
