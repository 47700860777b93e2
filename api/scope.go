package api

// Scope is something that an API key allows.
type Scope string

// The scopes.
const (
	// LedgerRead reads merchants, accounts, transactions, statements and reconciliations.
	LedgerRead Scope = "ledger:read"
	// LedgerWrite creates merchants, opens accounts, posts and reverses transactions.
	LedgerWrite Scope = "ledger:write"
	// LedgerAdmin freezes, unfreezes and closes accounts, changes overdrafts and repairs dates.
	LedgerAdmin Scope = "ledger:admin"
	// PaymentsRead reads scheduled payments, their shards and how far days are moved.
	PaymentsRead Scope = "payments:read"
	// PaymentsWrite schedules, changes, cancels, replays and settles payments, moves days into the
	// history and adds shards.
	PaymentsWrite Scope = "payments:write"
	// LocationsRead reads locations.
	LocationsRead Scope = "locations:read"
	// LocationsWrite creates, changes, deletes, restores and imports locations.
	LocationsWrite Scope = "locations:write"
	// LocationsAdmin releases codes, and repairs the directory.
	LocationsAdmin Scope = "locations:admin"
	// RatesRead reads exchange rates and converts amounts.
	RatesRead Scope = "rates:read"
	// RatesWrite saves, deletes, loads and fetches exchange rates.
	RatesWrite Scope = "rates:write"
	// StatementsRead reads the bank statements, tags and totals of the person that a key is bound
	// to.
	StatementsRead Scope = "statements:read"
	// StatementsWrite imports, changes and deletes them.
	StatementsWrite Scope = "statements:write"
	// StoreRead describes tables, and lists and runs access patterns, which shows all data.
	StoreRead Scope = "store:read"
	// StoreAdmin creates tables.
	StoreAdmin Scope = "store:admin"
	// KeysAdmin creates, lists and revokes API keys, and so can give itself every other scope.
	KeysAdmin Scope = "keys:admin"
	// MetricsRead reads the server's measurements.
	MetricsRead Scope = "metrics:read"
)

// PersonalScopes returns the scopes that are about one person's data. The person has all of them.
func PersonalScopes() []Scope { return []Scope{StatementsRead, StatementsWrite} }

// Scopes returns all scopes.
func Scopes() []Scope {
	return []Scope{
		LedgerRead, LedgerWrite, LedgerAdmin,
		PaymentsRead, PaymentsWrite,
		LocationsRead, LocationsWrite, LocationsAdmin,
		RatesRead, RatesWrite,
		StatementsRead, StatementsWrite,
		StoreRead, StoreAdmin, KeysAdmin, MetricsRead,
	}
}
