package bulk

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists what can be wrong with a row before it is sent. What the server says about a row
// comes on top.
var Problems = problem.NewCatalogue("bulk")

// ErrMalformedRow says that a row cannot be understood.
var ErrMalformedRow = Problems.Define(problem.Invalid, "malformed_row",
	"The row {wrong}",
	"Correct the row and import it again")
