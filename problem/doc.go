// Package problem is how every part of Exchequer says what went wrong.
//
// # Words
//
// A [Definition] declares a problem once: its [Kind] (what sort of trouble, from a short list), its
// [Code] (which trouble exactly), a sentence, and a hint that says what to try next. A [Catalogue]
// is a system's list of definitions, in order of precedence. An [Error] is one occurrence of a
// problem, with the details that fill its sentence, the input fields that are wrong, and its cause.
//
// # Promises
//
// Kinds and codes are only ever added: a program may store them and branch on them. Sentences and
// hints are for people and may change.
//
// An error can be asked questions wherever it was made. [errors.Is] with a definition compares
// codes, so it holds for an error that was wrapped, and for one that a client rebuilt from JSON.
// [errors.As] with an *[Error] finds the occurrence. [KindOf] answers for any error at all.
//
// What is sent to a client is the kind, the code, the sentence, the hint, the details and the
// fields. The cause stays at home, for the log.
//
// # Use
//
// A system declares its problems in one file, the most important first:
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
// and returns them with what the reader needs to know:
//
//	return ErrInsufficientFunds.
//		With("account", id).With("available", balance).With("needed", amount)
//
// What a kind means to a protocol, such as an HTTP status or an exit code, is for the protocol's
// own package to say; [Kinds] lets it prove that its table is complete.
package problem
