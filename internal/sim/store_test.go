package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// errDead is what the calls of a process get once it is dead. No client sees it.
var errDead = errors.New("this process is dead")

// gate is the store as one process sees it: each call takes a while before and after it does its
// work, so that the calls of all requests interleave as the seed says, and a process can die at
// each of these places.
type gate struct {
	*engine.DB
	l *life
}

// through makes a call. Its caller may give up before or after the store did its work.
func through[In, Out any](
	ctx context.Context, g gate, f func(context.Context, In) (Out, error), in In,
) (Out, error) {
	var none Out
	if err := g.l.before(ctx); err != nil {
		return none, err
	}
	out, err := f(context.WithoutCancel(ctx), in)
	if err := g.l.after(ctx); err != nil {
		return none, err
	}
	return out, err
}

func (g gate) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	return through(ctx, g, g.DB.Get, in)
}

func (g gate) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	return through(ctx, g, g.DB.Put, in)
}

func (g gate) Update(ctx context.Context, in *dynamo.UpdateInput) (*dynamo.UpdateOutput, error) {
	return through(ctx, g, g.DB.Update, in)
}

func (g gate) Delete(ctx context.Context, in *dynamo.DeleteInput) (*dynamo.DeleteOutput, error) {
	return through(ctx, g, g.DB.Delete, in)
}

func (g gate) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	return through(ctx, g, g.DB.Query, in)
}

func (g gate) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	return through(ctx, g, g.DB.Scan, in)
}

func (g gate) BatchGet(
	ctx context.Context, in *dynamo.BatchGetInput,
) (*dynamo.BatchGetOutput, error) {
	return through(ctx, g, g.DB.BatchGet, in)
}

func (g gate) BatchWrite(
	ctx context.Context, in *dynamo.BatchWriteInput,
) (*dynamo.BatchWriteOutput, error) {
	return through(ctx, g, g.DB.BatchWrite, in)
}

func (g gate) TransactGet(
	ctx context.Context, in *dynamo.TransactGetInput,
) (*dynamo.TransactGetOutput, error) {
	return through(ctx, g, g.DB.TransactGet, in)
}

func (g gate) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	return through(ctx, g, g.DB.TransactWrite, in)
}

// before waits before a call does its work.
func (l *life) before(ctx context.Context) error {
	w := l.w
	n := int(w.calls.Add(1))
	for _, f := range w.faultsAt(faultKill, n) {
		w.processes[f.N%processCount].kill()
	}
	for _, f := range w.faultsAt(faultCut, n) {
		w.cutPower(w.machine.Load().disk, f)
	}
	if len(w.faultsAt(faultLease, n)) > 0 {
		w.jumped.Add(int64(leaseJump))
	}
	wait := w.draw(3 * time.Millisecond)
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	if a != nil && a.calls.Add(1) == a.stall && w.phase.Load() != quiet {
		w.event("%v stalls at call %d for %v", a.s, a.stall, a.stallFor)
		w.count("stall in mid work", "")
		wait += a.stallFor
	}
	for _, f := range append(w.faultsAt(faultSlow, n), w.faultsAt(faultHalt, n)...) {
		wait += time.Duration(f.N) * time.Millisecond
	}
	return l.pass(ctx, wait)
}

// after waits before the answer of a call arrives.
func (l *life) after(ctx context.Context) error {
	return l.pass(ctx, l.w.draw(2*time.Millisecond))
}

func (l *life) pass(ctx context.Context, wait time.Duration) error {
	if l.dead.Load() {
		return errDead
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.dead.Load() {
		return errDead
	}
	return nil
}

// setFaults gives the store the faults of a phase.
func (w *world) setFaults(phase int) error {
	faults := engine.Faults{}
	if phase >= 0 {
		var texts []string
		for _, f := range w.plan.Faults {
			if f.Kind == faultStore && f.Phase == phase {
				texts = append(texts, storeFaults[f.N%len(storeFaults)])
			}
		}
		var err error
		if faults, err = engine.ParseFaults(texts...); err != nil {
			return fmt.Errorf("faults of the store: %w", err)
		}
		faults.Seed = w.plan.Seed
	}
	return w.db().SetFaults(faults)
}

// hasFault reports whether the store has a fault of a kind in this phase.
func (w *world) hasFault(kind string) bool {
	return slices.ContainsFunc(w.plan.Faults, func(f fault) bool {
		return f.Kind == faultStore && int64(f.Phase) == w.phase.Load() &&
			strings.HasPrefix(storeFaults[f.N%len(storeFaults)], kind)
	})
}
