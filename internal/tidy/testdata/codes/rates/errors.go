package rates

var (
	ErrTwice = Problems.Define(problem.Invalid, "leg_missing", "A leg is missing", "")
	ErrEnd   = Problems.Define(problem.Invalid, "rate_", "The rate", "")
)
