package rest

// API is the HTTP API of the systems. Make it with New.
type API struct {
	*Router
	deps Deps
}

// New adds the operations of the systems to a router and finishes it.
func New(router *Router, deps Deps) *API {
	a := &API{Router: router, deps: deps}
	a.registerLocations()
	a.registerPayments()
	a.registerTables()
	a.registerPatterns()
	a.registerMe()
	a.registerBooks()
	a.registerKeys()
	a.finish()
	return a
}
