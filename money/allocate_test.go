package money_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
)

func TestAllocate(t *testing.T) {
	for _, c := range []struct {
		name    string
		a       money.Amount
		weights []int64
		want    string
	}{
		{"equal weights: the first gets the cent", usd("1"), []int64{1, 1, 1}, "0.34 0.33 0.33"},
		{"two odd cents go to the first two", usd("0.05"), []int64{1, 1, 1}, "0.02 0.02 0.01"},
		{"the greatest loss gets the cent", usd("1"), []int64{0, 1, 2}, "0.00 0.33 0.67"},
		{"no weight, no cent", usd("0.01"), []int64{0, 1, 0, 1}, "0.00 0.01 0.00 0.00"},
		{"a negative amount mirrors", usd("-1"), []int64{1, 1, 1}, "-0.34 -0.33 -0.33"},
		{"whole yen", jpy("100"), []int64{1, 1, 1}, "34 33 33"},
		{"three digits", bhd("1"), []int64{1, 1, 1}, "0.334 0.333 0.333"},
		{"an amount that does not fit", usd("0.005"), []int64{1, 1}, "0.003 0.002"},
		{"nothing", usd("0"), []int64{1, 2}, "0.00 0.00"},
		{"one part", usd("5.5"), []int64{7}, "5.50"},
		{"huge weights", usd("1"), []int64{math.MaxInt64, math.MaxInt64}, "0.50 0.50"},
		{"a huge amount", jpy(nines), []int64{1, 1},
			"5" + strings.Repeat("0", 37) + " 4" + nines[:37]},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.a.Allocate(c.weights...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, texts(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllocateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		weights []int64
		want    error
	}{
		"no weights":       {nil, money.ErrParts},
		"negative weights": {[]int64{1, -1}, money.ErrWeights},
		"only zeros":       {[]int64{0, 0}, money.ErrWeights},
		"too many":         {make([]int64, money.PartsMax+1), money.ErrParts},
	} {
		if got, err := usd("1").Allocate(c.weights...); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	for _, n := range []int{0, -1, money.PartsMax + 1, math.MaxInt} {
		if got, err := usd("1").Split(n); !errors.Is(err, money.ErrParts) {
			t.Errorf("%d parts: got %v, %v", n, got, err)
		}
	}
	// Half of an odd amount of 38 digits needs a cent, which is the 40th digit.
	var limit *money.LimitError
	if got, err := usd(nines).Split(2); !errors.As(err, &limit) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSplit(t *testing.T) {
	got, err := usd("0.10").Split(4)
	if err != nil || texts(got) != "0.03 0.03 0.02 0.02" {
		t.Errorf("got %s, %v", texts(got), err)
	}
	got, err = jpy("-7").Split(3)
	if err != nil || texts(got) != "-3 -2 -2" {
		t.Errorf("got %s, %v", texts(got), err)
	}
}

func texts(amounts []money.Amount) string {
	all := make([]string, len(amounts))
	for i, a := range amounts {
		all[i] = a.Text()
	}
	return strings.Join(all, " ")
}
