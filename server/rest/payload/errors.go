package payload

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists what can be wrong with a body, in the order in which it is found.
var Problems = problem.NewCatalogue("bodies")

// What is wrong with a body before anyone looks at what it asks for.
var (
	ErrTooLarge = Problems.Define(problem.TooLarge, "body_too_large",
		"The body has more than {limit} bytes",
		"Send less at once")
	ErrTooSlow = Problems.Define(problem.Unavailable, "body_too_slow",
		"The body did not arrive in time",
		"Send the same request again")
	ErrMalformed = Problems.Define(problem.Invalid, "malformed_json",
		"The body is not JSON, at byte {offset}: {reason}",
		"Correct the body and send it again")
	ErrInvalid = Problems.Define(problem.Invalid, "invalid_body",
		"The body has not the form that this operation reads",
		"Correct the fields named and send it again")
)
