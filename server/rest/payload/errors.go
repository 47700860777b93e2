package payload

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists what can be wrong with a body, in the order in which it is found.
var Problems = problem.NewCatalogue("bodies")

// What is wrong with a body before anyone looks at what it asks for.
var (
	ErrTooSlow = Problems.Define(problem.Unavailable, "body_too_slow",
		"The body did not arrive in time",
		"Send the same request again")
	ErrMalformed = Problems.Define(problem.Invalid, "body_malformed",
		"The body is not JSON, at byte {offset}: {reason}",
		"Correct the body and send it again")
)
