// Package bankfile reads the statements that banks give to their customers: OFX 1 and 2, QFX, QIF,
// CSV of any bank, MT940, MT942, camt.052, camt.053 and camt.054. It takes bytes and gives values;
// it opens no file and keeps nothing.
//
// # Words
//
// A [File] holds one or more statements, a [Statement] belongs to one account, an [Entry] is one
// movement on it. A [Row] is what a file has in one place: an entry, or something that was
// skipped or refused, with its line and the reason. A [Mapping] says how the files of one account
// are read.
//
// # Promises
//
// What holds for a whole file is decided once, in a first pass: format, encoding, delimiter and
// header, the order of day and month, the decimal mark, the habit of signs. What nothing in the
// file decides is asked, by an [UndecidedError] with the choices and a cell that shows them, and
// never guessed row by row.
//
// No row is lost in silence: each one that is not blank is read, skipped or refused. Opening
// balance, entries and closing balance are compared, and a row with the outcome [Warned] tells
// where they do not add up.
//
// The pages of a statement of MT940 are read as one, compared with their balances one by one and
// as a whole; a page that is missing is told of.
//
// Money out is negative in every format. An amount is the exact decimal that the bank wrote, and
// a date is the calendar day that it wrote; no time zone ever moves it.
//
// No input makes this package panic or wait, and memory is bounded by the limits below, whatever
// the size of the file: about 2 MB of buffers, 64 MB at most while the first pass compares the
// bank's ids ([IDsMax]), and the balances of the statements. Before it collects garbage, the heap
// may have twice that.
//
// # Profiles
//
// Files of the banks in [Profiles] are known by their headers, and nothing is asked of whoever has
// one. For all others, the mapping that [File.Mapping] returns is kept per account, or given away
// as JSON; it reads the next file of the account in the same way.
//
// # Identity
//
// A [Keys] names each entry so that a file can be imported again, or one that overlaps it: by the
// bank's id where it stands only once, and always by content and occurrence, so that the second
// of two equal coffees of a day is neither lost nor doubled.
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
