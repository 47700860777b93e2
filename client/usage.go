package client

import (
	"context"
	"net/http"
	"strconv"
)

// Usage is the cost of calls as the server measured it.
type Usage struct {
	// Requests is the number of responses, and Calls the number of the server's calls to its store.
	Requests, Calls int
	// ReadUnits and WriteUnits are capacity units of DynamoDB.
	ReadUnits, WriteUnits float64
	// RequestID is that of the last response.
	RequestID string
}

type usageKey struct{}

// WithUsage makes the calls with a context add their cost to u. The calls must not run
// concurrently.
func WithUsage(ctx context.Context, u *Usage) context.Context {
	return context.WithValue(ctx, usageKey{}, u)
}

// The headers with the cost of a request.
const (
	headerCalls = "Exchequer-Calls"
	headerRead  = "Exchequer-Read-Units"
	headerWrite = "Exchequer-Write-Units"
)

// count adds the cost of a response to the context's Usage, if there is one.
func count(ctx context.Context, h http.Header) {
	u, ok := ctx.Value(usageKey{}).(*Usage)
	if !ok {
		return
	}
	u.Requests++
	u.Calls += int(units(h.Get(headerCalls)))
	u.ReadUnits += units(h.Get(headerRead))
	u.WriteUnits += units(h.Get(headerWrite))
	u.RequestID = h.Get(headerRequestID)
}

// units parses a header with a number of units.
func units(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}
