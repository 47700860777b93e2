// Package reading decides what the columns of a table of payments mean. It gets a sample of the
// rows, taken apart cell by cell, and what is known already; it returns the most likely reading,
// and the other readings that nothing in the table rules out.
//
// # The argument
//
// A reading of the money is one column of amounts, or a pair of columns for money out and money
// in, with or without a column of balances. All readings that the cells allow are compared.
// Each gets points for what must hold in a right one, see score.go:
//
//   - The names of its columns say so, in any of the languages of names.go.
//   - The running balance of some column moves by its amounts, from row to row.
//   - Each row has one amount; in a pair, never both sides.
//   - Its cells look like money: decimals, signs, currencies; not serial numbers or dates.
//
// The reading with the most points is the winner if no reading that gives other amounts comes
// within Margin points of it. Otherwise a person must choose; see Result.Others.
//
// The words come next, see words.go. Each column with words gets a role by its name, by its cells,
// or else becomes text, so that nothing is lost because a bank uses a name that is not known here.
//
// The package knows nothing of files, encodings or questions; bankfile does.
package reading
