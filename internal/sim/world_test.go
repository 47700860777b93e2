package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// world is all that there is in a round: a disk, a store on it, processes that serve from it,
// clients, and what is known of what they did.
type world struct {
	plan      plan
	ctx       context.Context
	dir       string // Of the key that signs cursors.
	machine   atomic.Pointer[machine]
	processes []*process
	files     *fileStore

	calls, requests, syncs atomic.Int64 // Of the phase.
	phase                  atomic.Int64 // quiet, while no client works.
	jumped                 atomic.Int64 // How far the clocks have jumped, in nanoseconds.
	began                  time.Time
	background             tasks         // Restarts, and requests that were sent twice.
	restarting             chan struct{} // Held by the task that stops and starts processes.

	mu      sync.Mutex // Never held while anything waits.
	random  *rand.Rand
	ids     uint64
	events  []event
	failure error
	created map[string]int // 201s by the path and the key of their request.
	tally   map[string]int // How often each thing came out in which way.
	reads   *answered      // While all was quiet; nil unless a test asks.
	models
}

// models are what is known of each system.
type models struct {
	ledger    *ledgerModel
	payments  *paymentModel
	locations *locationModel
	rates     *rateModel
	bank      *bankModel
}

// quiet is the phase in which nothing goes wrong.
const quiet = -1

// event is a line of a history.
type event struct {
	at   time.Duration
	text string
}

// run plays a plan and returns what is wrong, with the history that led there. It adds to a tally,
// unless that is nil.
func run(t *testing.T, p plan, tally map[string]int) (history string, failure error) {
	return play(t, p, nil, tally)
}

// play is run, which also notes what was read while all was quiet.
func play(
	t *testing.T, p plan, reads *answered, tally map[string]int,
) (history string, failure error) {
	cryptotest.SetGlobalRandom(t, p.Seed)
	dir := t.TempDir()
	synctest.Test(t, func(*testing.T) {
		w := &world{
			plan: p, ctx: context.Background(), dir: dir, began: time.Now(),
			random: rand.New(rand.NewPCG(p.Seed, 2)), created: map[string]int{},
			tally: map[string]int{}, reads: reads,
			files: newFileStore(), restarting: make(chan struct{}, 1),
		}
		w.phase.Store(quiet)
		failure = w.play()
		history = w.history()
		for what, n := range w.tally {
			if tally != nil {
				tally[what] += n
			}
		}
	})
	return history, failure
}

// play runs all phases.
func (w *world) play() (err error) {
	w.newModels()
	for n := range processCount {
		w.processes = append(w.processes, &process{w: w, number: n})
	}
	if err := w.powerOn(engine.NewDisk()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.powerOff()) }()
	if err := w.setUp(); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	for phase := range phases {
		if err := w.playPhase(phase); err != nil {
			return fmt.Errorf("phase %d: %w", phase, err)
		}
	}
	return w.tamper(w.newCaller(-1))
}

// playPhase lets the clients work, waits until all is quiet, and compares.
func (w *world) playPhase(phase int) error {
	w.calls.Store(0)
	w.requests.Store(0)
	w.syncs.Store(0)
	if err := w.setFaults(phase); err != nil {
		return err
	}
	for _, f := range w.plan.Faults {
		if f.Kind == faultClock && f.Phase == phase {
			w.processes[f.N%processCount].skew.Store(int64(f.At) * int64(time.Millisecond))
		}
	}
	scripts := map[int][]step{}
	for _, s := range w.plan.Steps {
		if s.Phase == phase {
			scripts[s.Client] = append(scripts[s.Client], s)
		}
	}
	w.phase.Store(int64(phase))
	var clients sync.WaitGroup
	for number := range clientsMax {
		script := scripts[number]
		if len(script) == 0 {
			continue
		}
		clients.Go(func() {
			c := w.newCaller(number)
			for _, s := range script {
				time.Sleep(w.draw(w.plan.Pause))
				c.do(s)
			}
		})
	}
	clients.Wait()
	if err := w.calm(); err != nil {
		return err
	}
	if err := w.failed(); err != nil {
		return err
	}
	w.event("all is quiet")
	return w.compare()
}

// calm turns all faults off and waits for what still goes on: requests whose clients have left,
// restarts, and claims of workers that died.
func (w *world) calm() error {
	w.phase.Store(quiet)
	w.machine.Load().disk.Heal()
	w.background.Wait()
	for _, p := range w.processes {
		p.skew.Store(0)
	}
	if err := w.setFaults(quiet); err != nil {
		return err
	}
	time.Sleep(calmTime)
	w.background.Wait()
	return w.db().CatchUp()
}

// calmTime is longer than any request is worked on, and than any claim lasts.
const calmTime = 3 * time.Minute

// draw returns a time up to most.
func (w *world) draw(most time.Duration) time.Duration {
	return time.Duration(w.drawInt(int64(most)))
}

func (w *world) drawInt(n int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.Int64N(n)
}

// newID is the maker of ids of all processes.
func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", w.ids)
}

// faultsAt returns the faults of a kind that come now.
func (w *world) faultsAt(kind string, at int) []fault {
	phase := int(w.phase.Load())
	if phase == quiet {
		return nil
	}
	var found []fault
	for _, f := range w.plan.Faults {
		if f.Kind == kind && f.Phase == phase && f.At+1 == at {
			found = append(found, f)
			w.event("%s (%d)", f.Kind, f.N)
		}
	}
	return found
}

// now is what a clock without skew shows.
func (w *world) now() time.Time {
	return startOfTime.Add(time.Since(w.began) + time.Duration(w.jumped.Load()))
}

// steady is the clock of the store, which does not jump: the store knows the token of a transaction
// for ten minutes, and what is sent again after that is another transaction.
func (w *world) steady() time.Time { return startOfTime.Add(time.Since(w.began)) }

// jump moves all clocks to a second before an instant, unless that is past.
func (w *world) jump(to time.Time) {
	if by := to.Add(-time.Second).Sub(w.now()); by > 0 {
		w.jumped.Add(int64(by))
	}
}

// event adds a line to the history.
func (w *world) event(form string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event{time.Since(w.began), fmt.Sprintf(form, args...)})
}

// count adds to the tally of a round.
func (w *world) count(what, how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally[strings.TrimSpace(what+" "+how)]++
}

// fail notes the first thing that is wrong.
func (w *world) fail(form string, args ...any) {
	err := fmt.Errorf(form, args...)
	w.event("FAILED: %v", err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure == nil {
		w.failure = err
	}
}

func (w *world) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

func (w *world) history() string {
	var b strings.Builder
	for _, e := range w.events {
		fmt.Fprintf(&b, "%12s  %s\n", e.at.Round(time.Microsecond), e.text)
	}
	return b.String()
}
