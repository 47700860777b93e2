package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Problems lists what the API itself can report, besides the problems of the systems behind it, in
// the order in which it finds them.
var Problems = problem.NewCatalogue("api")

// What is wrong with a request before anyone looks at what it asks for.
var (
	ErrHostRefused = Problems.Define(problem.Forbidden, "host_refused",
		"This server does not answer to the name {host}",
		"Use the address it listens on, or start it with this name among its hosts")
	ErrOriginRefused = Problems.Define(problem.Forbidden, "origin_refused",
		"Pages of {origin} may not call this server",
		"Call it from a program, or from a page of its own")
	ErrRouteNotFound = Problems.Define(problem.NotFound, "route_not_found",
		"There is nothing at {path}",
		"Read /docs for what there is")
	ErrMethodNotAllowed = Problems.Define(problem.Invalid, "method_not_allowed",
		"{path} does not know the method {method}",
		"Use one of {allowed}")
	ErrKeyMissing = Problems.Define(problem.Unauthenticated, "api_key_missing",
		"This server asks for an API key",
		"Send the header Authorization: Bearer and the key")
	ErrTokenMissing = Problems.Define(problem.Unauthenticated, "token_missing",
		"This operation is about a person's own data, and the request does not say whose",
		"Sign in and send the header Authorization: Bearer and the token, or a key bound to a person")
	ErrNotPersonal = Problems.Define(problem.Forbidden, "token_not_allowed",
		"A user's token reaches that user's own data, and this operation is not about it",
		"Use an API key with the scope that the operation asks for")
	ErrKeyWithoutPerson = Problems.Define(problem.Forbidden, "api_key_without_person",
		"The API key {key} is bound to no person, and this operation is about a person's own data",
		"Use a user's token, or create a key that is bound to the person")
	ErrUnsupportedMediaType = Problems.Define(problem.Invalid, "media_type_unsupported",
		"The body is {type}, and this operation reads application/json",
		"Send JSON with the header Content-Type: application/json")
)

// What only the store's side of the API can report.
var (
	ErrTableNotFound = Problems.Define(problem.NotFound, "table_not_found",
		"There is no table {table}",
		"List the tables, and create those that are missing")
	ErrPatternNotFound = Problems.Define(problem.NotFound, "pattern_not_found",
		"There is no access pattern {pattern}",
		"List the patterns")
	ErrPersonalPattern = Problems.Define(problem.Forbidden, "pattern_personal",
		"The access pattern {pattern} shows the data of persons, and no API key reaches everybody's",
		"Use the operations about the person, or run the pattern on the data directory itself")
	ErrInvalidInput = Problems.Define(problem.Invalid, "pattern_input_invalid",
		"The access pattern {pattern} cannot be run with these inputs: {reason}",
		"Read the pattern for its inputs and their types")
)

// What is no fault of the request.
var (
	ErrItemUnreadable = Problems.Define(problem.Conflict, "item_unreadable",
		"The stored item {key} in the table {table} cannot be read as {entity}: "+
			"attribute {attribute} {reason}",
		"Correct the item with the program that wrote it")
	ErrLayoutDiffers = Problems.Define(problem.Refused, "layout_differs",
		"This server was started with {setting} {given}, and the store has {stored}",
		"Leave the setting out: what is stored holds. {change}")
	ErrTableDiffers = Problems.Define(problem.Refused, "table_differs",
		"The table {table} is not as this operation needs it: {differences}",
		"Check the name of the table, or use the version that created it; exchequer tables check "+
			"compares all tables")
	ErrTimedOut = Problems.Define(problem.Unavailable, "timed_out",
		"The answer took longer than this server allows",
		"Send the same request with the same key again, or ask for less at once")
	ErrDraining = Problems.Define(problem.Unavailable, "draining",
		"The server is shutting down",
		"Use another one, or wait until it runs again")
	ErrStoreFailed = Problems.Define(problem.Unavailable, "store_failed",
		"The store has stopped, because its disk failed ({reason})",
		"Free space or repair the disk, start the server again, and send the same request with the "+
			"same key again")
	ErrBusy = Problems.Define(problem.Throttled, "busy",
		"The store is busy: it refuses requests for their rate",
		"Wait as long as Retry-After says and send the same request with the same key again")
	ErrStoreUnavailable = Problems.Define(problem.Unavailable, "store_unavailable",
		"The store does not answer",
		"Check that the store runs and can be reached, then send the same request with the same key "+
			"again")
	ErrItemContended = Problems.Define(problem.Unavailable, "item_contended",
		"Too many requests want {items} at once",
		"Wait a little and send the same request with the same key again")
	ErrOutcomeUnknown = Problems.Define(problem.Unavailable, "outcome_unknown",
		"The store failed while it wrote, and it is not known whether the request was carried out",
		"Look whether it was, or send it again: with the same key, if it has one, nothing is done twice")
)

// statuses is the one table from kinds to HTTP statuses.
var statuses = map[problem.Kind]int{
	problem.Invalid:         http.StatusBadRequest,
	problem.Unauthenticated: http.StatusUnauthorized,
	problem.Forbidden:       http.StatusForbidden,
	problem.NotFound:        http.StatusNotFound,
	problem.Conflict:        http.StatusConflict,
	problem.Changed:         http.StatusPreconditionFailed,
	problem.Refused:         http.StatusUnprocessableEntity,
	problem.TooLarge:        http.StatusRequestEntityTooLarge,
	problem.Throttled:       http.StatusTooManyRequests,
	problem.Unavailable:     http.StatusServiceUnavailable,
	problem.Internal:        http.StatusInternalServerError,
}

// ownStatuses are the problems for which HTTP has a status of its own.
var ownStatuses = map[problem.Code]int{
	ErrMethodNotAllowed.Code():     http.StatusMethodNotAllowed,
	ErrUnsupportedMediaType.Code(): http.StatusUnsupportedMediaType,
	payload.ErrTooSlow.Code():      http.StatusRequestTimeout,
}

// Status returns the HTTP status of a problem.
func Status(kind problem.Kind, code problem.Code) int {
	if status, ok := ownStatuses[code]; ok {
		return status
	}
	if status, ok := statuses[kind]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// changeText returns how a setting is changed that is stored with the data.
func changeText(e *singletable.LayoutError) string {
	if e.Change == "" {
		return "It cannot be changed"
	}
	return "It is changed with " + e.Change
}

// problemOf returns what to tell about an error: the problem it is, one for what the store and the
// clock can do to any request, or an internal one.
func problemOf(err error) *problem.Error {
	var e *problem.Error
	if reason, failed := singletable.StoreFailure(err); failed {
		return ErrStoreFailed.With("reason", reason).Wrap(err)
	}
	bad, unread := singletable.AsUnreadable(err)
	var layout *singletable.LayoutError
	var drift *singletable.DriftError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &layout):
		return ErrLayoutDiffers.With("setting", layout.Setting).With("given", layout.Given).
			With("stored", layout.Stored).With("change", changeText(layout)).Wrap(err)
	case errors.As(err, &drift):
		return ErrTableDiffers.With("table", drift.Table).
			With("differences", strings.Join(drift.Differences, "; ")).Wrap(err)
	case unread:
		return ErrItemUnreadable.With("entity", bad.Entity).With("table", bad.Table).
			With("key", bad.KeyText()).With("attribute", bad.Attribute).
			With("reason", bad.Reason.Error()).Wrap(err)
	case errors.Is(err, singletable.ErrUnreachable):
		return ErrStoreUnavailable.Wrap(err)
	case errors.Is(err, singletable.ErrThrottled):
		return ErrBusy.Wrap(err)
	case errors.Is(err, singletable.ErrContended):
		return ErrItemContended.With("items", singletable.ItemsOf(err)).Wrap(err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ErrTimedOut.Wrap(err)
	case errors.Is(err, singletable.ErrUnknown):
		return ErrOutcomeUnknown.Wrap(err)
	}
	return problem.From(err)
}
