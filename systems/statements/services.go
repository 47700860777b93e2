package statements

// The verbs of a Person are in services, one for each part of the books. A service has everything
// that its Person has.
type (
	// uploader reads, previews and imports the files of banks.
	uploader struct{ *Person }
	// rulebook has the rules.
	rulebook struct{ *Person }
	// checker compares month totals with rows.
	checker struct{ *Person }
	// monthReader reads rows, entries and totals by months.
	monthReader struct{ *Person }
	// tagger changes the tags of rows.
	tagger struct{ *Person }
	// rowStore writes rows together with the totals of their months.
	rowStore struct{ *Person }
)

func (p *Person) files() uploader     { return uploader{p} }
func (p *Person) rules() rulebook     { return rulebook{p} }
func (p *Person) checker() checker    { return checker{p} }
func (p *Person) months() monthReader { return monthReader{p} }
func (p *Person) tagger() tagger      { return tagger{p} }
func (p *Person) rows() rowStore      { return rowStore{p} }
