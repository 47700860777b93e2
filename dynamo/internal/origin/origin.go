// Package origin marks the calls that execute PartiQL statements. The service measures them
// differently from calls of the same operation by a client: an update counts without its actions,
// and client request tokens are separate. A store that does not look for the mark executes such a
// call like any other.
package origin

import "context"

type statement struct{}

// Statement returns a context for calls that execute a statement.
func Statement(ctx context.Context) context.Context {
	return context.WithValue(ctx, statement{}, true)
}

// IsStatement reports whether a call executes a statement.
func IsStatement(ctx context.Context) bool { return ctx.Value(statement{}) != nil }
