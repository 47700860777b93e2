// Package bankfile reads the statements that banks give to their customers: OFX 1 and 2, QFX, QIF,
// CSV of any bank, MT940, MT942, camt.052, camt.053 and camt.054. It reads bytes and returns
// values; it opens no file and keeps nothing.
//
// # Words
//
// A [File] holds one or more statements, a [Statement] belongs to one account, an [Entry] is one
// movement on it. A [Row] is one place of a file: an entry, or a text that was skipped or refused,
// with its line and the reason. A [Mapping] is how the files of one account are read.
//
// # Promises
//
// Everything that is the same for a whole file is decided once, in a first pass: format, encoding,
// delimiter and header, the order of day and month, the decimal mark, the meaning of signs. If
// nothing in the file decides it, Open returns an [UndecidedError] with the choices and a cell that
// shows them. Nothing is guessed row by row.
//
// No row is lost silently: each one that is not blank is read, skipped or refused. Opening balance,
// entries and closing balance are compared, and a row with the outcome [Warned] reports a
// difference.
//
// The pages of an MT940 statement are read as one statement. They are compared with their balances
// one by one and as a whole, and a missing page is reported.
//
// Money out is negative in every format. An amount is the exact decimal that the bank wrote, and a
// date is the calendar day that it wrote; no time zone changes it.
//
// No input makes this package panic or wait, and memory is bounded by the limits below for files of
// any size: about 2 MB of buffers, at most 64 MB while the first pass compares the bank's ids
// ([IDsMax]), and the balances of the statements. Between two garbage collections the heap can be
// twice as large.
//
// # Profiles
//
// Files of the banks in [Profiles] are recognised by their headers, and Open asks nothing about
// them. For all others, keep the mapping that [File.Mapping] returns with the account, or share it
// as JSON; it reads the next file of the account in the same way.
//
// # Identity
//
// A [Keys] names each entry so that a file can be imported again, and so that overlapping files can
// be imported: by the bank's id if it is unique in the file, and always by content and occurrence,
// so that the second of two equal coffees of a day is neither lost nor duplicated.
//
// # Use
//
//	file, err := bankfile.Open(r, size, bankfile.Options{})
//	var ask *bankfile.UndecidedError
//	if errors.As(err, &ask) {
//		// Show ask.Questions, then open again with ask.Mapping and the answers.
//	}
//	for row, err := range file.Rows() {
//		// …
//	}
package bankfile

//go:generate go test . -run TestBanksPage -update
