package bankfile

import "github.com/exchequer-dev/exchequer/money"

// Options say what a file does not. The zero Options are good for most files.
type Options struct {
	// Mapping is what is known of the bank's files, and answers to questions. May be nil.
	Mapping *Mapping
	// Currency is the account's, for files that name none.
	Currency money.Currency
	// Exact is whether only the columns of Mapping are read, as when a file is read again in the
	// way in which an earlier one was. Otherwise, a Mapping without a column of text is completed.
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
