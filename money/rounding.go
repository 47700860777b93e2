package money

import "github.com/cockroachdb/apd/v3"

// Rounding says which of two neighbours a number between them becomes. Negative numbers are
// rounded like positive ones: the same digits, with the sign in front.
type Rounding int

// The ways to round.
const (
	// HalfUp takes the nearer neighbour, and of two equally near ones the one away from zero:
	// 24.785 to cents is 24.79. It is the commercial way, and that of the euro's legal rules.
	HalfUp Rounding = iota
	// HalfEven takes the nearer neighbour, and of two equally near ones the even one: 24.785 to
	// cents is 24.78. Sums of many rounded amounts do not drift with it.
	HalfEven
	// Down takes the neighbour toward zero.
	Down
	// Up takes the neighbour away from zero.
	Up
)

// String returns the rounding's name.
func (r Rounding) String() string {
	switch r {
	case HalfEven:
		return "half even"
	case Down:
		return "down"
	case Up:
		return "up"
	}
	return "half up"
}

// up tells whether to take the neighbour away from zero. The other one is odd or not; the number
// is exactly that one or not; and it compares with the middle as half says.
func (r Rounding) up(odd, exact bool, half int) bool {
	switch {
	case exact:
		return false
	case r == Down:
		return false
	case r == Up:
		return true
	case r == HalfEven && half == 0:
		return odd
	}
	return half >= 0
}

// cmpHalf compares rest / by with one half, for rest < by.
func cmpHalf(rest, by uint64) int {
	// by - rest does not overflow, as twice the rest would.
	return cmp128(0, rest, 0, by-rest)
}

// quoRound sets above to above / below, rounded, and returns it. Neither is negative.
func quoRound(above, below *apd.BigInt, rounding Rounding) *apd.BigInt {
	var rest apd.BigInt
	var quotient apd.BigInt
	quotient.QuoRem(above, below, &rest)
	exact := rest.Sign() == 0
	half := rest.Lsh(&rest, 1).Cmp(below)
	if rounding.up(quotient.Bit(0) == 1, exact, half) {
		var one apd.BigInt
		quotient.Add(&quotient, one.SetInt64(1))
	}
	return above.Set(&quotient)
}
