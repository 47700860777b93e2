package client

import (
	"context"
	"net/http"
	"strconv"
)

// Usage sums up what calls took, as the server measured it.
type Usage struct {
	// Requests counts the answers, Calls the server's calls to its store.
	Requests, Calls int
	// ReadUnits and WriteUnits are capacity units as DynamoDB counts them.
	ReadUnits, WriteUnits float64
	// RequestID is that of the last answer.
	RequestID string
}

type usageKey struct{}

// WithUsage makes the calls under a context add to u what they took. The calls must not run at the
// same time.
func WithUsage(ctx context.Context, u *Usage) context.Context {
	return context.WithValue(ctx, usageKey{}, u)
}

// The headers in which the server tells what a request took.
const (
	headerCalls = "Exchequer-Calls"
	headerRead  = "Exchequer-Read-Units"
	headerWrite = "Exchequer-Write-Units"
)

// count adds what an answer took to the context's Usage, if there is one.
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

// units reads a header that has a number of units.
func units(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}
