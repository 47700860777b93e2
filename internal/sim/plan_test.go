package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// plan is what a round does. It follows from a seed, but any part of it can be left out, and what
// is left is a plan too: that is how a failing one is made shorter.
type plan struct {
	Seed   uint64
	Steps  []step
	Faults []fault
	// Without are the systems that no step is about. They are neither set up nor compared.
	Without []string
	// Pause is the longest time that a client waits before a step.
	Pause time.Duration
}

// lacks reports whether a system is none of the round's.
func (p *plan) lacks(system string) bool { return slices.Contains(p.Without, system) }

// step is one thing that a client does. Its arguments are names of things, by their number, so that
// a step means the same when others are left out.
type step struct {
	Client int
	Phase  int // After each phase all is quiet and everything is compared.
	ID     int // Different for each step of a plan.
	Do     string
	A      int // Which key, account or the like; each operation says.
	B      int
	C      int
	Hurry  bool // The first try is given up soon.
	// Stall, unless it is 0, is the call of the store, counted from 1 over all calls of the step's
	// requests, that takes StallFor milliseconds more: a request stalls in mid work.
	Stall, StallFor int
}

// String is how a history names a step.
func (s step) String() string {
	hurry := ""
	if s.Hurry {
		hurry = " hurry"
	}
	stall := ""
	if s.Stall > 0 {
		stall = fmt.Sprintf(" stalls at call %d for %d ms", s.Stall, s.StallFor)
	}
	return fmt.Sprintf("#%d client %d: %s %d %d %d%s%s", s.ID, s.Client, s.Do, s.A, s.B, s.C, hurry,
		stall)
}

// fault is one thing that goes wrong. At counts what its kind meets: requests, calls of the store,
// or syncs, of the phase.
type fault struct {
	Kind  string
	Phase int
	At    int
	N     int
}

func (f fault) String() string {
	return fmt.Sprintf("phase %d: %s at %d (%d)", f.Phase, f.Kind, f.At, f.N)
}

// The kinds of faults.
const (
	faultLostAnswer  = "answer lost"       // Of request At.
	faultLostRequest = "request lost"      // Request At.
	faultTwice       = "request twice"     // Request At, again after N milliseconds.
	faultStore       = "store"             // Fault N of storeFaults, while the phase lasts.
	faultSlow        = "slow store"        // Call At of the store takes N milliseconds.
	faultHalt        = "short halt"        // As above; a request goes on after it.
	faultKill        = "process killed"    // Process N, before call At of the store.
	faultPower       = "power cut"         // Before sync At; N percent of what is not synced stays.
	faultCut         = "power cut between" // Before call At of the store, as above.
	faultDisk        = "disk fails"        // At sync At; N chooses the failure of diskFaults.
	faultClock       = "clock of process"  // Process N is off by At milliseconds.
	faultJump        = "clocks jump"       // All clocks, at request At, to just before jump N.
	faultLease       = "leases run out"    // All clocks, at call At, by more than a lease.
)

const (
	phases       = 2
	clientsMax   = 8
	processCount = 2
)

// weights say how often each operation comes in a plan.
type weight struct {
	do string
	n  int
}

// newPlan draws a plan. A theme makes most rounds about one system or, if the seed is odd, about
// one thing, so that operations on it meet.
func newPlan(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := plan{Seed: seed}
	theme := themes[r.IntN(wideThemes)]
	if seed%2 == 1 {
		theme = themes[wideThemes+r.IntN(len(themes)-wideThemes)]
	}
	clients := theme.clients(r)
	each := 5 + r.IntN(8)
	p.Pause = theme.pause()
	firsts, seconds := theme.values(r), theme.values(r)
	id := 0
	for phase := range phases {
		for range each {
			for c := range clients {
				id++
				s := step{Client: c, Phase: phase, ID: id, Do: drawDeed(r, theme.deeds),
					Hurry: r.IntN(8) == 0, A: r.IntN(1000), B: r.IntN(1000), C: r.IntN(1000)}
				if len(firsts) > 0 {
					s.A, s.B = firsts[s.A%len(firsts)], seconds[s.B%len(seconds)]
				}
				if len(firsts) > 0 && r.IntN(4) == 0 {
					s.Stall, s.StallFor = 1+r.IntN(24), 1+r.IntN(2000)
				}
				p.Steps = append(p.Steps, s)
			}
		}
		p.Faults = append(p.Faults, newFaults(r, phase, clients*each)...)
		p.Faults = append(p.Faults, theme.newFaults(r, phase, clients*each)...)
	}
	for system, of := range systemDeeds {
		if !slices.ContainsFunc(p.Steps, func(s step) bool { return of[s.Do] != nil }) {
			p.Without = append(p.Without, system)
		}
	}
	slices.Sort(p.Without)
	return p
}

// drawDeed draws one of the operations of a theme.
func drawDeed(r *rand.Rand, deeds []weight) string {
	sum := 0
	for _, w := range deeds {
		sum += w.n
	}
	at := r.IntN(sum)
	for _, w := range deeds {
		if at < w.n {
			return w.do
		}
		at -= w.n
	}
	return ""
}

// newFaults draws the faults of a theme.
func (t theme) newFaults(r *rand.Rand, phase, steps int) (all []fault) {
	for _, w := range t.faults {
		for range r.IntN(w.n + 1) {
			at, n := steps, 1
			switch w.do {
			case faultHalt:
				at, n = steps*16, 6_000
			case faultKill, faultLease:
				at, n = steps*4, processCount
			}
			all = append(all, fault{w.do, phase, r.IntN(at), r.IntN(n)})
		}
	}
	if len(t.store) > 0 && r.IntN(4) > 0 {
		n := slices.Index(storeFaults, t.store[r.IntN(len(t.store))])
		all = append(all, fault{faultStore, phase, 0, n})
	}
	return all
}

func newFaults(r *rand.Rand, phase, steps int) []fault {
	var all []fault
	add := func(kind string, times, at, n int) {
		for range times {
			all = append(all, fault{kind, phase, r.IntN(max(1, at)), r.IntN(max(1, n))})
		}
	}
	if r.IntN(6) == 0 {
		return nil // Nothing goes wrong but that clients meet.
	}
	add(faultLostAnswer, r.IntN(6), steps, 1)
	add(faultLostRequest, r.IntN(3), steps, 1)
	add(faultTwice, r.IntN(6), steps, 500)
	add(faultStore, r.IntN(4), 1, len(storeFaults))
	add(faultSlow, r.IntN(4), steps*4, 90_000)
	add(faultKill, r.IntN(5)/3, steps*4, processCount)
	add(faultPower, r.IntN(5)/3, steps, 101)
	add(faultCut, r.IntN(5)/3, steps*4, 101)
	add(faultDisk, r.IntN(5)/3, steps, len(diskFaults))
	if r.IntN(3) == 0 {
		all = append(all, fault{faultClock, phase, r.IntN(4000) - 2000, r.IntN(processCount)})
	}
	if r.IntN(3) == 0 {
		add(faultJump, 1, steps, len(jumps))
	}
	return all
}

// storeFaults are rules of the engine's, of which a plan has some.
var storeFaults = []string{
	"conflict,rate=0.1",
	"conflict,rate=0.3",
	"throttle,rate=0.05",
	"throttle,op=TransactWriteItems,rate=0.2",
	"unprocessed,rate=0.3",
	"early-page,rate=0.5",
	"index-lag,rate=0.5,delay=200ms",
	"index-lag,rate=0.2,delay=200ms",
	"stale-read,rate=0.3,delay=100ms",
	"lost-answer,rate=0.05",
	"lost-answer,op=TransactWriteItems,rate=0.2",
}

// diskFaults are the failures of a disk, of which a plan has some.
var diskFaults = allDiskFaults()

func allDiskFaults() []engine.DiskFault {
	var all []engine.DiskFault
	for _, kind := range engine.DiskFaultKinds() {
		for _, once := range []bool{true, false} {
			// Most writes are to the log, and so are most of the failures.
			for _, f := range []engine.DiskFault{
				{N: 1}, {N: 3, Class: engine.DiskLog}, {N: 2, Class: engine.DiskTable},
				{N: 1, Class: engine.DiskManifest},
			} {
				f.Kind, f.Once = kind, once
				all = append(all, f)
			}
		}
	}
	return all
}

// leaseJump is by how much clocks jump so that claims and leases run out.
const leaseJump = 65 * time.Second

// lagMax is how far behind an index may be.
const lagMax = 250 * time.Millisecond

// jumps are instants to which clocks jump, a second before: midnights in UTC and in the zone of
// the accounts, both changes of its daylight saving, the ends of a month and of a year.
var jumps = []time.Time{
	time.Date(2026, 4, 4, 11, 0, 0, 0, time.UTC),
	time.Date(2026, 4, 4, 14, 0, 0, 0, time.UTC), // 3:00 in Auckland becomes 2:00.
	time.Date(2026, 4, 5, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC),
	time.Date(2026, 9, 26, 14, 0, 0, 0, time.UTC), // 2:00 in Auckland becomes 3:00.
	time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC),
}

// zone is that of half of the accounts.
const zone = "Pacific/Auckland"

// startOfTime is what the clocks show when a round begins.
var startOfTime = time.Date(2026, 4, 4, 10, 30, 0, 0, time.UTC)

// String lists a plan.
func (p plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", p.Seed)
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "  fault %v\n", f)
	}
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "  phase %d %v\n", s.Phase, s)
	}
	return b.String()
}
