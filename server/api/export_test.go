package api

// Decode lets tests read a body as if it were that of a posting.
func Decode(body []byte) (Posting, error) {
	var p Posting
	err := shapesOf(typeOf[Posting]()).decode(body, &p)
	return p, err
}

// Posting is the body that asks for a transaction.
type Posting = posting

// Faults is the greatest number of wrong fields that are told.
const Faults = faultsMax
