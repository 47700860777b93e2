// Package match decides what each row of a bank's file becomes: a new transaction, one that is
// known, part of one that was pending or typed in, or nothing. It is pure: rows of a file and
// [KnownRows] in, decisions out.
//
// A row is known by the bank's own id if the bank keeps its ids, else by its content and its place
// among equal rows of the day. If neither is known, a pending or typed row of about the same day
// and amount may be the same movement. A [Plan] decides the same each time, also if some of its
// rows were written in the meantime, so an import that was stopped can be repeated.
package match
