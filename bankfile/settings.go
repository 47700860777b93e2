package bankfile

import "github.com/exchequer-dev/exchequer/money"

// Options are what the caller knows about a file. The zero Options are good for most files.
type Options struct {
	// Mapping is how earlier files of the bank were read, and the answers to questions. May be nil.
	Mapping *Mapping
	// Remembered is whether Mapping was kept of earlier files of the account. It is ignored if it
	// does not fit, because this file may be of a different kind: a mapping with columns is about
	// CSV files that have them.
	Remembered bool
	// Currency is the account's, for files without one.
	Currency money.Currency
	// Exact is whether only the columns of Mapping are read, in order to read a file again exactly
	// as before. Otherwise, a Mapping without a column of text is completed.
	Exact bool
}

// settings decide how a file is read. The first pass completes the mapping.
type settings struct {
	mapping  Mapping
	currency money.Currency // Options.Currency
	exact    bool           // Options.Exact
}

// defaultCurrency returns the currency of entries for which the file names none.
func (s *settings) defaultCurrency() money.Currency {
	if s.mapping.Currency != "" {
		return s.mapping.Currency
	}
	return s.currency
}
