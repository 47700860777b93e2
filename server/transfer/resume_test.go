package transfer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/transfer"
)

// patient is longer than any test.
const patient = time.Hour

func TestNothingIsLostByAStoreThatPutsWorkOff(t *testing.T) {
	from := filled(t, 120)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	to := &moody{DB: memory(t), seed: seed}
	results, err := transfer.Copy(t.Context(), from, to, transfer.Options{}.Hasty(patient))
	if err != nil || results[0].Items != 120 {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestBothSidesMayBeAsUnkindAsTheServiceCanBe(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	from, to := filled(t, 150), memory(t)
	for i, db := range []*engine.DB{from, to} {
		faults := engine.Strict()
		faults.Seed = seed + uint64(i)
		faults.Rules = append(faults.Rules, engine.Fault{Kind: engine.FaultThrottle, Rate: 0.1,
			Table: table}, engine.Fault{Kind: engine.FaultLostAnswer, Rate: 0.1})
		if err := db.SetFaults(faults); err != nil {
			t.Fatal(err)
		}
	}
	opts := transfer.Options{Segments: 3, Overwrite: true}.Hasty(patient)
	results, err := transfer.Copy(t.Context(), from, to, opts)
	if err != nil || results[0].Items != 150 {
		t.Errorf("%+v, %v", results, err)
	}
	_, found, err := transfer.Verify(t.Context(), from, to, opts, 9)
	if err != nil || len(found) > 0 {
		t.Errorf("they differ in %v, %v", found, err)
	}
}

func TestACopyGoesOnWhereItWasStopped(t *testing.T) {
	from := filled(t, 400)
	// Many pages, so that it stops in the middle of segments.
	if err := from.SetFaults(engine.Faults{Rules: []engine.Fault{
		{Kind: engine.FaultEarlyPage, Operation: "Scan", Rate: 1, Items: 12},
	}}); err != nil {
		t.Fatal(err)
	}
	before := int64(0)
	for round := range rounds(t, 3) {
		seed := rand.Uint64()
		t.Logf("round %d: seed %d", round, seed)
		r := rand.New(rand.NewPCG(seed, 0))
		opts := transfer.Options{
			Segments: 1 + r.IntN(6), From: "here", To: "there",
			State: filepath.Join(t.TempDir(), "state.json"),
		}
		to := &moody{DB: memory(t), seed: seed}
		stops := 0
		for {
			to.lasts = to.calls.Load() + 1 + r.Int64N(40)
			if stops == 4 {
				to.lasts = 0
			}
			results, err := transfer.Copy(t.Context(), from, to, opts.Hasty(patient))
			if err == nil {
				before += results[0].CopiedBefore
				if results[0].Items != 400 {
					t.Errorf("after %d stops %+v", stops, results)
				}
				break
			}
			if !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			stops++
		}
		if _, err := os.Stat(opts.State); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the state file is left: %v", err)
		}
	}
	if before == 0 {
		t.Error("no run found what another one had copied")
	}
}

// counted counts the pages that are read of a store.
type counted struct {
	*engine.DB
	scans atomic.Int64
}

func (c *counted) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	c.scans.Add(1)
	return c.DB.Scan(ctx, in)
}

func TestPagesThatAreCopiedAreNotReadAgain(t *testing.T) {
	from := &counted{DB: memory(t)}
	create(t, from.DB, "Large", dynamo.HashKey("PK"), "PK")
	const pages = 6 // of one segment, of 1 MB each
	for i := range pages * 4 {
		if _, err := from.Put(t.Context(), &dynamo.PutInput{TableName: "Large", Item: dynamo.Item{
			"PK": dynamo.S(string(rune('a' + i))), "data": dynamo.B(make([]byte, 300<<10)),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	to := memory(t)
	opts := transfer.Options{
		Segments: 1, From: "here", To: "there", State: filepath.Join(t.TempDir(), "dir", "state"),
	}
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	opts.Progress = func(p transfer.Progress) {
		if p.Items >= 12 {
			stop(stopped)
		}
	}
	if _, err := transfer.Copy(ctx, from, to, opts); !errors.Is(err, stopped) {
		t.Fatalf("the copy ends with %v", err)
	}
	whole := from.scans.Load()
	opts.Progress = nil
	if results, err := transfer.Copy(t.Context(), from, to, opts); err != nil ||
		results[0].CopiedBefore < 12 {
		t.Fatalf("%+v, %v", results, err)
	}
	// The second run reads what was left, and all of it for the check.
	if got := from.scans.Load(); got > 2*pages+3 || whole < 3 {
		t.Errorf("%d pages were read by the first run, %d by both", whole, got)
	}
}

func TestATableInTheWayIsFoundBeforeAnythingIsCopied(t *testing.T) {
	from, to := &counted{DB: filled(t, 10)}, memory(t)
	create(t, from.DB, "ZLast", dynamo.HashKey("PK"), "PK")
	create(t, to, "ZLast", dynamo.HashKey("id"), "id")
	var refused *transfer.RefusedError
	_, err := transfer.Copy(t.Context(), from, to, transfer.Options{})
	if !errors.As(err, &refused) {
		t.Errorf("the second table is not refused: %v", err)
	}
	list, err := to.ListTables(t.Context(), &dynamo.ListTablesInput{})
	if err != nil || len(list.TableNames) != 1 || from.scans.Load() != 0 {
		t.Errorf("%d pages were read, there are %v, %v", from.scans.Load(), list, err)
	}
}

// drifting is a source that someone writes to as soon as a page of it was read.
type drifting struct {
	*engine.DB
	t     *testing.T
	wrote atomic.Bool
}

func (d *drifting) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	out, err := d.DB.Scan(ctx, in)
	if !d.wrote.Swap(true) {
		changed := thing(0)
		changed["n"] = dynamo.N("77")
		put(d.t, d.DB, changed)
	}
	return out, err
}

func TestASourceThatIsWrittenToIsNoticed(t *testing.T) {
	from, to := &drifting{DB: filled(t, 10), t: t}, memory(t)
	opts := transfer.Options{
		Segments: 1, From: "here", To: "there", State: filepath.Join(t.TempDir(), "state"),
	}
	if _, err := transfer.Copy(t.Context(), from, to, opts); !errors.Is(err, transfer.ErrDiffers) {
		t.Fatalf("Copy says %v", err)
	}
	// To go on would change nothing, so the way out is to begin anew.
	var refused *transfer.RefusedError
	if _, err := transfer.Copy(t.Context(), from, to, opts); !errors.As(err, &refused) {
		t.Errorf("the second time Copy says %v", err)
	}
	opts.Overwrite = true
	if results, err := transfer.Copy(t.Context(), from, to, opts); err != nil ||
		results[0].Items != 10 {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestOverwriteBeginsAnewWhatBeganWithout(t *testing.T) {
	from := filled(t, 300)
	to := &moody{DB: memory(t), lasts: 9}
	opts := transfer.Options{
		Segments: 2, From: "here", To: "there", State: filepath.Join(t.TempDir(), "state"),
	}
	if _, err := transfer.Copy(t.Context(), from, to, opts.Hasty(patient)); err == nil {
		t.Fatal("a store that fails takes it all")
	}
	put(t, to.DB, thing(1000))
	to.lasts, opts.Overwrite = 0, true
	results, err := transfer.Copy(t.Context(), from, to, opts.Hasty(patient))
	if err != nil || results[0].CopiedBefore != 0 || results[0].Items != 300 {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestACopyOfSomeTablesLeavesTheStateOfOthers(t *testing.T) {
	from := filled(t, 10)
	create(t, from, "Other", dynamo.HashKey("PK"), "PK")
	to := &moody{DB: memory(t), lasts: 1} // one of the batches of the segments
	opts := transfer.Options{
		From: "here", To: "there", State: filepath.Join(t.TempDir(), "state"),
		Tables: []string{table},
	}
	if _, err := transfer.Copy(t.Context(), from, to, opts.Hasty(patient)); err == nil {
		t.Fatal("a store that fails takes it all")
	}
	to.lasts, opts.Tables = 0, []string{"Other"}
	if _, err := transfer.Copy(t.Context(), from, to, opts.Hasty(patient)); err != nil {
		t.Fatal(err)
	}
	opts.Tables = []string{table}
	results, err := transfer.Copy(t.Context(), from, to, opts.Hasty(patient))
	if err != nil || results[0].Items != 10 { // else it is refused, for there are items
		t.Errorf("%+v, %v", results, err)
	}
	if _, err := os.Stat(opts.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state file is left: %v", err)
	}
}

// busy is a store that never has time.
type busy struct{ *engine.DB }

func (busy) BatchWrite(_ context.Context, in *dynamo.BatchWriteInput) (
	*dynamo.BatchWriteOutput, error,
) {
	return &dynamo.BatchWriteOutput{UnprocessedItems: in.RequestItems}, nil
}

func TestAStoreThatDoesNothingIsGivenUp(t *testing.T) {
	waited := false
	opts := transfer.Options{Progress: func(p transfer.Progress) {
		waited = waited || errors.Is(p.Waiting, dynamo.ErrThrottling)
	}}
	opts = opts.Hasty(time.Millisecond)
	_, err := transfer.Copy(t.Context(), filled(t, 3), busy{memory(t)}, opts)
	if !errors.Is(err, dynamo.ErrThrottling) || !waited {
		t.Errorf("Copy says %v, waiting was told: %t", err, waited)
	}
}
