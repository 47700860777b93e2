package engine_test

import (
	"os"
	"strconv"
	"testing"
	"time"
)

const pollTime = 50 * time.Microsecond

// waitUntil returns when a condition holds. The deadline only ends a test that would hang.
func waitUntil(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(pollTime) {
		if time.Now().After(deadline) {
			t.Fatal("waited for a minute")
		}
	}
}

// roundsUsual is the EXCHEQUER_ROUNDS that the counts in these tests are made for.
const roundsUsual = 100

// rounds returns how often a random test repeats its work: as often as usual, or in proportion
// to EXCHEQUER_ROUNDS, which is how many cases a property tries. Short runs do a quarter.
func rounds(t testing.TB, usual int) int {
	t.Helper()
	if text := os.Getenv("EXCHEQUER_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("EXCHEQUER_ROUNDS=%q is no count", text)
		}
		return max(1, usual*n/roundsUsual)
	}
	if testing.Short() {
		return max(1, usual/4)
	}
	return usual
}
