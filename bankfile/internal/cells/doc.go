// Package cells reads the values that one cell of a bank's file can hold: an amount, a date, a
// currency.
//
// A cell alone is often ambiguous: 1.234 can be a thousand or one, and 03/04/2026 can be a day of
// March or April. Reading therefore has two steps. [SplitAmount] and [SplitDate] split the cell
// into its parts without a decision. [Marks] and [Orders] collect the evidence of all cells of a
// file and decide once, and [Amount.Read] and [Date.Read] return the value for that decision.
package cells
