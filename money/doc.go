// Package money represents exact amounts of money.
//
// # Words
//
// A [Decimal] is an exact decimal number: a rate, a share, a step. A [Currency] is an ISO 4217
// code. An [Amount] is a decimal number of a currency's major units: 5.50 USD is five dollars and
// fifty cents. An amount fits its currency if it has no more fraction digits than the currency.
// Banks and rates produce amounts that do not fit. They keep their digits until the caller rounds
// them.
//
// # Promises
//
// No number is ever a float. An operation is exact, or has a parameter for its rounding, or returns
// an error.
//
// Both types are small values without pointers. Equal numbers have equal representations, so ==,
// map keys and switch statements work: 5.5, 5.50 and 5.500 are the same number.
//
// Their zero values are useful. Decimal{} is 0. Amount{} is zero without a currency: its sum with
// any amount is that amount, so a sum can begin with it.
//
// Amounts of two currencies never mix; the error names both.
//
// # Texts
//
// Texts are plain decimals such as "5.50", "-12" or ".5", with a point and without an exponent,
// grouping or currency signs. Other notations in files are parsed by the packages that read these
// files.
//
// Decimal and Amount.Decimal return the shortest text, 5.5. Amount.Text and Amount.String return at
// least the digits of the currency, 5.50. In JSON, numbers are strings, because most programs parse
// JSON numbers as floats. A decimal is stored as a DynamoDB Number.
//
// # Limits
//
// A number has at most 38 significant digits, as a DynamoDB Number does. All digits before the
// point count, and there are at most 38 after it. An operation that would need more returns a
// *[LimitError].
package money
