package money

import "github.com/cockroachdb/apd/v3"

// Rounding selects one of the two neighbours of a number. Negative numbers are rounded like
// positive ones: the same digits, with the sign in front.
type Rounding int

// The rounding modes.
const (
	// HalfUp selects the nearer neighbour, and in the middle the one away from zero: 24.785 to
	// cents is 24.79. It is the usual commercial rounding, and that of the legal rules of the euro.
	HalfUp Rounding = iota
	// HalfEven selects the nearer neighbour, and in the middle the even one: 24.785 to cents is
	// 24.78. It introduces no bias in sums of many rounded amounts.
	HalfEven
	// Down selects the neighbour toward zero.
	Down
	// Up selects the neighbour away from zero.
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

// up reports whether to select the neighbour away from zero. odd reports whether the other
// neighbour is odd, exact whether the number is the other neighbour, and half compares the number
// with the middle.
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
	// by - rest does not overflow, as twice the rest could.
	return cmp128(0, rest, 0, by-rest)
}

// quoRound sets above to above / below, rounded, and returns it. Neither may be negative.
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
