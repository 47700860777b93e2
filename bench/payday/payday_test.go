package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/bench/machine"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

func TestADayIsInsertedRunArchivedAndChecked(t *testing.T) {
	dir := t.TempDir()
	count := "2000"
	if testing.Short() {
		count = "400"
	}
	s, err := parse([]string{"--payments", count, "--payers", "200", "--data", dir}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := measure(t.Context(), s, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		floorName(false), floorName(true), phaseInsert, phaseRun, phaseArchive,
		"all " + count + " payments are in the history",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestADiskThatIsTooSmallIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	dir := t.TempDir()
	if _, known := machine.FreeDisk(dir); !known {
		t.Skip("how much of a disk is free cannot be told here")
	}
	var progress bytes.Buffer
	code := run(t.Context(), []string{"--payments", "1000000000000", "--data", dir}, io.Discard,
		&progress)
	if code != exitFailed || !strings.Contains(progress.String(), "fewer -payments") {
		t.Errorf("exit code %d:\n%s", code, progress.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files were made, %v", len(left), err)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--payments", "0"}, {"--callers", "0"}, {"--inserters", "0"}, {"--payers", "-1"},
		{"more"}, {"--nothing"},
	} {
		if code := run(t.Context(), args, io.Discard, io.Discard); code != exitUsage {
			t.Errorf("%v ends with %d, want %d", args, code, exitUsage)
		}
	}
}

func TestAPaymentIsMadeFromItsNumberAlone(t *testing.T) {
	w := workload{payers: 50, day: time.Date(2019, 9, 25, 0, 0, 0, 0, time.UTC)}
	kinds := map[payeeKind]int{}
	for i := range 1000 {
		o := w.order(i)
		if again := w.order(i); again != o {
			t.Fatalf("order %d is %+v and then %+v", i, o, again)
		}
		if o.to == toPayer && o.payee == o.payer {
			t.Fatalf("order %d pays the payer", i)
		}
		if o.due.Before(w.day) || !o.due.Before(w.day.Add(24*time.Hour)) {
			t.Fatalf("order %d is due at %s, on another day", i, o.due)
		}
		kinds[o.to]++
	}
	if kinds[toHot] == 0 || kinds[toMerchant] == 0 || kinds[toPayer] == 0 {
		t.Errorf("of 1,000 orders the payees are %v", kinds)
	}
}

func TestWrongBooksAreFound(t *testing.T) {
	s, err := parse([]string{"--payments", "50", "--payers", "10"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDay(t.Context(), s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.pass(t.Context(), &report{settings: s}, io.Discard); err != nil {
		t.Fatal(err)
	}
	balances := d.newBalances()
	for i := range s.payments {
		balances.pay(d.order(i))
	}
	balances.hot[0].Add(1)
	if err := balances.compare(t.Context(), d.books); err == nil {
		t.Error("a cent too much is not found")
	}
	o := d.order(7)
	if err := d.checkOne(t.Context(), o); err != nil {
		t.Errorf("the payment as it was made is refused: %v", err)
	}
	o.minor++
	if err := d.checkOne(t.Context(), o); err == nil {
		t.Error("a payment of another amount is not found")
	}
	if err := d.checkOne(t.Context(), d.order(s.payments)); err == nil {
		t.Error("a payment that was never made is not missed")
	}
	if err := d.checkMoved(payments.MovedDay{Moved: true, Copied: 50, Removed: 49}); err == nil {
		t.Error("a day that was not moved whole is not found")
	}
}

// heatOf runs the model over a hundred seconds at the seed's rate.
func heatOf(t *testing.T, scenes ...scene) []heat {
	t.Helper()
	const window = 100 * time.Second
	count := int(heatPayments / (heatWindow / window))
	w := workload{payers: 1000, day: time.Date(2019, 9, 25, 0, 0, 0, 0, time.UTC)}
	return simulate(w, count, window, scenes)
}

func TestTheSeedsFiveShardsTakeItsInsertsAndOneDoesNot(t *testing.T) {
	whole := cost{insert: 8, claim: 16, settle: 16}
	got := heatOf(t, scene{payments.ProjectAll, 1, false, whole},
		scene{payments.ProjectAll, 5, false, whole})
	one, five := got[0], got[1]
	if five.all < 4_445*0.97 || five.all > 4_445*1.03 {
		t.Errorf("inserts take %.0f units a second, the seed's figure is 4,445", five.all)
	}
	if one.throttled < one.writes/2 || one.hot != 1 || one.backlog < time.Minute {
		t.Errorf("one shard takes 4,445 units a second: %+v", one)
	}
	// A shard that fills at a quarter of the demand is behind by what it did not take.
	if want := time.Duration((one.demand/shardUnits - 1) * float64(100*time.Second)); one.backlog <
		want-5*time.Second || one.backlog > want+time.Second {
		t.Errorf("the backlog takes %v, want about %v", one.backlog, want)
	}
	if five.throttled > 0 || five.backlog > 0 || five.demand > shardUnits {
		t.Errorf("five shards throttle: %+v", five)
	}
}

func TestChangesOfStatusNeedMoreShardsOrANarrowIndex(t *testing.T) {
	whole, narrow := cost{insert: 8, claim: 16, settle: 16}, cost{insert: 1, claim: 2, settle: 2}
	got := heatOf(t, scene{payments.ProjectAll, 5, true, whole},
		scene{payments.ProjectNarrow, 1, true, narrow},
		scene{payments.ProjectNarrow, 5, true, narrow})
	if got[0].hot != 5 || got[1].hot != 1 || got[2].hot != 0 {
		t.Errorf("shards that throttle are %d, %d and %d; want 5, 1 and 0", got[0].hot, got[1].hot,
			got[2].hot)
	}
	if got[0].writes%3 != 0 || got[2].writes != got[0].writes {
		t.Errorf("writes are %d and %d", got[0].writes, got[2].writes)
	}
}

func TestAShardSavesOneSecondOfUnitsAndNoMore(t *testing.T) {
	s := shard{}
	for i := range 1000 {
		if wait := s.take(10, 1); wait > 0 {
			t.Fatalf("unit %d of a full bucket waits", i)
		}
	}
	if wait := s.take(10, 1); s.throttled != 0 || wait != 0 {
		t.Fatalf("the last unit waits %v", wait)
	}
	if wait := s.take(10, 1); s.throttled != 1 || wait <= 0 || wait > 0.01 {
		t.Errorf("a unit too many waits %v s, %d throttled", wait, s.throttled)
	}
	if wait := s.take(11.5, 1); wait != 0 || s.throttled != 1 {
		t.Errorf("a second and a half later a unit waits %v", wait)
	}
}

func TestTheUnitsOfAPaymentAreMeasured(t *testing.T) {
	for projection, want := range map[payments.Projection]cost{
		payments.ProjectAll: {8, 16, 16}, payments.ProjectNarrow: {1, 2, 2},
	} {
		got, err := measureCost(t.Context(), projection)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s takes %v, want %v", projection, got, want)
		}
	}
}
