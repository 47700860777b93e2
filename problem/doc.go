// Package problem defines the errors of all parts of Exchequer.
//
// # Words
//
// A [Definition] declares a problem once: its [Kind] (the category, from a short list), its [Code]
// (the exact problem), a sentence, and a hint that names the next step. A [Catalogue] is a system's
// list of definitions, in order of precedence. An [Error] is one occurrence of a problem, with the
// details in its sentence, the invalid input fields, and its cause.
//
// [Shared] is the catalogue of the problems that several systems report, such as an invalid cursor.
// Each has one code, and its detail [DetailSystem] names the system that reported it.
//
// # Promises
//
// Kinds and codes are only ever added: a program may store them and depend on them. Sentences and
// hints are for people and may change.
//
// An error can be tested independent of its origin. [errors.Is] with a definition compares codes,
// so it also matches an error that was wrapped, or one that a client decoded from JSON. [errors.As]
// with an *[Error] finds the occurrence. [KindOf] returns the kind of any error.
//
// A client receives the kind, the code, the sentence, the hint, the details and the fields. It
// never receives the cause, which is only logged.
//
// # Use
//
// A system declares its problems in one file, in order of precedence:
//
//	var Problems = problem.NewCatalogue("ledger")
//
//	var (
//		ErrAccountNotFound = Problems.Define(problem.NotFound, "account_not_found",
//			"There is no account {account}",
//			"List the accounts of the user to find its id")
//		ErrInsufficientFunds = Problems.Define(problem.Refused, "insufficient_funds",
//			"Account {account} has {available}, but {needed} is needed",
//			"Deposit money first, or let the account go negative")
//	)
//
// and returns them with the details that the reader needs:
//
//	return ErrInsufficientFunds.
//		With("account", id).With("available", balance).With("needed", amount)
//
// The package of a protocol maps kinds to its own terms, such as HTTP statuses or exit codes. With
// [Kinds] its test can check that the mapping is complete.
package problem
