package sim

import (
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"
)

// roundsByDefault take a few seconds. They begin at another seed each time, which a failure prints.
const (
	roundsByDefault = 8
	roundsOfShort   = 3 // with the race detector a round takes ten times as long
)

func TestRounds(t *testing.T) {
	// One thread makes a seed's history the same each time, or nearly.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // A round is over before it needs much.
	usual := roundsByDefault
	if testing.Short() {
		usual = roundsOfShort
	}
	rounds := number(t, "EXCHEQUER_ROUNDS", usual)
	first := uint64(time.Now().UnixNano())
	if seed := os.Getenv("EXCHEQUER_SEED"); seed != "" {
		first = uint64(number(t, "EXCHEQUER_SEED", 0))
		rounds = number(t, "EXCHEQUER_ROUNDS", 1)
	}
	began, told := time.Now(), time.Now()
	tally := map[string]int{}
	for n := range rounds {
		p := newPlan(first + uint64(n))
		history, failure := run(t, p, tally)
		if failure != nil {
			report(t, p, failure, history)
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			t.Logf("%d rounds of %d in %v", n+1, rounds, time.Since(began).Round(time.Second))
		}
	}
	t.Logf("%d rounds from seed %d", rounds, first)
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%8d  %s", tally[what], what)
	}
}

// report fails the test with the shortest history that it finds.
func report(t *testing.T, p plan, failure error, history string) {
	t.Helper()
	t.Logf("seed %d fails: %v\n%d steps, %d faults; looking for a shorter plan that fails too",
		p.Seed, failure, len(p.Steps), len(p.Faults))
	shorter := shrink(t, p, failure)
	for range shrinkTries {
		if short, again := run(t, shorter, nil); again != nil {
			failure, history = again, short
			break
		}
	}
	t.Fatalf("seed %d: %v\n%v%s\nEXCHEQUER_SEED=%d plays the round again", p.Seed, failure, shorter,
		history, p.Seed)
}

// number returns a number of the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s is %q, not a number", name, text)
	}
	return n
}
