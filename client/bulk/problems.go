package bulk

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists the errors of a row before it is sent. The server has additional ones.
var Problems = problem.NewCatalogue("bulk")

// ErrMalformedRow reports a row that cannot be parsed.
var ErrMalformedRow = Problems.Define(problem.Invalid, "malformed_row",
	"The row {wrong}",
	"Correct the row and import it again")
