package api

import (
	"io"
	"net/http"
	"time"
)

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

// FileBody returns the body of a file as it is read for a connection.
func FileBody(
	from io.Reader, limit int64, patience time.Duration, w http.ResponseWriter,
) io.Reader {
	return &fileBody{
		from: from, left: limit, limit: limit, patience: patience,
		connection: http.NewResponseController(w),
	}
}
