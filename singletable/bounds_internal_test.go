package singletable

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// TestNumberBelowIsTheGreatestBelow checks that nothing lies between a Number and the one below
// it: half of the way there cannot be told from either end with 38 digits.
func TestNumberBelowIsTheGreatestBelow(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, text string) {
		c, err := dynamo.CanonicalNumber(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		below, err := numberBelow(c)
		if err != nil || dynamo.CompareNumbers(below, c) >= 0 {
			t.Fatalf("below %s is %s, %v", c, below, err)
		}
		gap, err := dynamo.SubtractNumbers(c, below)
		if err != nil {
			t.Fatalf("%s - %s: %v", c, below, err)
		}
		// A tenth of the gap, added to the lower end, must not fit into 38 digits.
		tenth, err := dynamo.CanonicalNumber(gap + "e-1")
		if err != nil {
			return // the gap is the smallest Number there is
		}
		if between, err := dynamo.AddNumbers(below, tenth); err == nil {
			t.Fatalf("%s lies between %s and %s", between, below, c)
		}
	}
	for _, text := range []string{"1", "10", "100", "-1", "-10", "0.1", "-0.1", "99", "5.5",
		"12345678901234567890123456789012345678", "1e125", "1e-130", "9e-130"} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, fmt.Sprintf("%de%d", rapid.Int64Range(1, 1<<62).Draw(t, "digits"),
			rapid.IntRange(-80, 80).Draw(t, "exponent")))
	})
}
