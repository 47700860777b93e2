package ledger

var (
	ErrGood  = Problems.Define(problem.Invalid, "leg_missing", "A leg is missing", "")
	ErrState = Problems.Define(problem.Invalid, "invalid_leg", "The leg is invalid", "")
	ErrForm  = Problems.Define(problem.Invalid, "Leg-Missing", "A leg is missing", "")
	ErrName  = Problems.Define(problem.Invalid, name, "A leg is missing", "")
	shared   = Problems.Share(problem.ErrContended, "")
)
