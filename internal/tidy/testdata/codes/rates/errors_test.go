package rates

var ErrTest = Problems.Define(problem.Invalid, "invalid_in_a_test", "A test", "")
