package rates_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// What was read before a write is not kept after it: the cache never serves what was replaced.
func TestARateThatWasReadDuringAWriteIsNotKept(t *testing.T) {
	var hooked *storetest.Hooked
	b := openOn(t, rates.Options{CacheFor: time.Hour},
		func(db storetest.Database) storetest.Database {
			hooked = storetest.Hook(db)
			return hooked
		})
	b.save("USD/JPY", "150")
	hooked.After(func() error {
		b.save("USD/JPY", "151")
		return nil
	}, "GetItem", "BatchGetItem")
	b.quote("USD/JPY") // It may be either: the two went on side by side.
	if hooked.Waiting() {
		t.Fatal("nothing was saved while the rate was read")
	}
	if q := b.quote("USD/JPY"); q.Rate.String() != "151" {
		t.Errorf("the rate is %s after 151 was saved", q.Rate)
	}
}

// A derived rate is a quotient until an amount is converted, which is rounded once: what twelve
// digits of the rate would give differs for large amounts.
func TestAConversionByACrossRateIsRoundedOnce(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	b := open(t, rates.Options{})
	differs := 0
	for range storetest.Rounds(100) {
		first := fmt.Sprintf("%d.%04d", random.IntN(3), 1+random.IntN(9999))
		second := fmt.Sprintf("%d.%03d", random.IntN(300), 1+random.IntN(999))
		b.save("EUR/USD", first)
		b.save("EUR/GBP", second)
		q := b.quote("USD/GBP")
		cents := 1 + random.Int64N(1_000_000_000_000_000_000)
		amount, err := money.New(decimal(fmt.Sprintf("%d.%02d", cents/100, cents%100)), "USD")
		if err != nil {
			t.Fatal(err)
		}
		got := must[money.Amount](t)(q.Convert(amount, money.HalfUp))
		exact := new(big.Rat).Mul(rat(amount.Units()), rat(decimal(second)))
		exact.Quo(exact, rat(decimal(first)))
		if want := exact.FloatString(2); got.Units() != decimal(want) {
			t.Errorf(
				"seed %d: %s at %s / %s is %s, want %s",
				seed,
				amount,
				second,
				first,
				got,
				want,
			)
		}
		if cut := new(big.Rat).Mul(rat(amount.Units()), rat(q.Rate)); cut.FloatString(2) !=
			exact.FloatString(2) {
			differs++
		}
	}
	if differs == 0 {
		t.Error("no conversion shows the difference between the quotient and its digits")
	}
}

// rat returns a decimal as a quotient of integers.
func rat(d money.Decimal) *big.Rat {
	r, ok := new(big.Rat).SetString(d.String())
	if !ok {
		panic(d)
	}
	return r
}
