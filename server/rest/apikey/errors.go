package apikey

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists everything that can be wrong with an API key.
var Problems = problem.NewCatalogue("keys")

var (
	// ErrKeyRefused does not tell which of its reasons applies: whoever guesses learns nothing.
	ErrKeyRefused = Problems.Define(problem.Unauthenticated, "api_key_invalid",
		"The API key is not valid",
		"Check that it is complete, and neither revoked nor expired")
	// ErrScopeMissing names the scope that was needed.
	ErrScopeMissing = Problems.Define(problem.Forbidden, "api_key_scope_missing",
		"The API key lacks the scope {scope}",
		"Use a key with this scope")
	// ErrKeyNotFound reports that no key has the id.
	ErrKeyNotFound = Problems.Define(problem.NotFound, "api_key_not_found",
		"There is no API key {key}",
		"List the keys")
)
