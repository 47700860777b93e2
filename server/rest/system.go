package rest

// API is the HTTP API of the systems. Make it with New.
type API struct {
	*Router
	deps Deps
}

// New returns an API.
func New(deps Deps, opts Options) *API {
	a := &API{Router: newRouter(deps.Keys, opts), deps: deps}
	a.registerMerchants()
	a.registerLocations()
	a.registerRates()
	a.registerExchanges()
	a.registerAccounts()
	a.registerPostings()
	a.registerTransactions()
	a.registerLedgerShards()
	a.registerLedgerDates()
	a.registerReconciliation()
	a.registerPayments()
	a.registerTables()
	a.registerPatterns()
	a.registerMe()
	a.registerBooks()
	a.registerKeys()
	a.finish()
	return a
}
