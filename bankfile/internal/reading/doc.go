// Package reading decides what the columns of a table of payments mean. It gets a sample of the
// rows, cell by cell, and what is already known; it returns the most likely reading, and the other
// readings that nothing in the table rules out.
//
// # The argument
//
// A reading of the money is one column of amounts, or a pair of columns for money out and money
// in, with or without a column of balances. All readings that the cells allow are compared.
// Each gets points for evidence that it is right, see score.go:
//
//   - The names of its columns mean so, in any of the languages of names.go.
//   - The balance in some column changes by its amounts, from row to row.
//   - Each row has one amount; in a pair, never both sides.
//   - Its cells look like money: decimals, signs, currencies; not serial numbers or dates.
//
// The reading with the most points is chosen if no reading with other amounts is within Margin
// points of it. Otherwise a person must choose; see Result.Others.
//
// The words come next, see words.go. Each column with words gets a role by its name, by its cells,
// or else becomes text, so that nothing is lost because a bank uses a name that is not known here.
//
// Files, encodings and questions are in package bankfile.
package reading
