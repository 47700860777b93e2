// Package money holds exact amounts of money.
//
// # Words
//
// A [Decimal] is an exact decimal number: a rate, a share, a step. A [Currency] is a code of ISO
// 4217. An [Amount] is a decimal number of a currency's major units: 5.50 USD is five dollars and
// fifty cents. An amount fits its currency when it has no more fraction digits than the currency
// has; banks and rates bring amounts that do not fit, and they are kept as they are until somebody
// rounds them.
//
// # Promises
//
// No number is ever a float. An operation is exact, or it is named after its rounding, or it
// returns an error.
//
// Both types are small values without pointers. Equal numbers have equal representations, so ==,
// map keys and switch statements work: 5.5, 5.50 and 5.500 are one and the same.
//
// Their zero values are useful. Decimal{} is 0. Amount{} is nothing in no currency: adding it to
// any amount gives that amount, so it is where a sum begins.
//
// Amounts of two currencies never mix; the error names both.
//
// # Texts
//
// Texts are plain decimals such as "5.50", "-12" or ".5", with a point and without an exponent,
// grouping or currency signs. What people write in files is read where files are read.
//
// Decimal and Amount.Decimal write the shortest text, 5.5; Amount.Text and Amount.String write at
// least the digits that the currency has, 5.50. JSON has numbers as strings, for most programs read
// JSON's numbers as floats. A decimal is stored as a DynamoDB Number.
//
// # Limits
//
// A number has at most 38 significant digits, as many as a DynamoDB Number holds. Digits before the
// point all count, and there are at most 38 after it. Whatever would need more is a *[LimitError].
package money
