package payments

import (
	"context"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// RunOptions are the choices of one run.
type RunOptions struct {
	// Worker names this worker among all; "" means a random name.
	Worker string
	// Callers is how many payments are settled in parallel; 0 means CallersDefault.
	Callers int
	// Units bounds what the run takes from the store, in write units a second; 0 means no bound.
	Units float64
	// Lease is how long a shard is this worker's own before it must be renewed; 0 means
	// that of the Options.
	Lease time.Duration
	// Progress, if set, is called after every payment and before each wait for another worker, one
	// call at a time.
	Progress func(Report)
}

// Defaults of a run.
const (
	// CallersDefault keeps the store's flushes shared without holding many payments in memory.
	CallersDefault    = 64
	ShardLeaseDefault = 30 * time.Second
	// shardsAtOnce bounds the shards that a worker reads in parallel.
	shardsAtOnce = 8
	// busyWait is how long to wait for a shard that another worker has.
	busyWait = 100 * time.Millisecond
)

// Report is the result of a run.
type Report struct {
	// Paid, Failed and Postponed count results of payments; Elsewhere those that another worker
	// had or changed first.
	Paid, Failed, Postponed, Elsewhere int
	// Waiting counts payments that were left alone in the last pass because their wait for the next
	// attempt lasts.
	Waiting int
	// Claimed counts payments that were left alone in the last pass because another worker has
	// claimed them; the last of these claims ends at ClaimedUntil. If the worker lives, it settles
	// them; if it does not, the first run after that instant does.
	Claimed      int
	ClaimedUntil time.Time
	// Shards counts the shards that another worker had in the last pass, and that the run waits
	// for; the last of these leases ends at ShardsUntil, unless it is renewed.
	Shards      int
	ShardsUntil time.Time
	// Unreadable are the due payments that cannot be read or that only another program can execute,
	// as they were met in the last pass; nil if there are none.
	Unreadable *singletable.UnreadableList
	// Oldest is when the payment that was due longest, of those that were met last, was due.
	Oldest time.Time
	// Units are the write units that were taken, if the run was paced.
	Units float64
}

func (r *Report) add(o Outcome) {
	switch o {
	case Paid:
		r.Paid++
	case Refused:
		r.Failed++
	case Postponed:
		r.Postponed++
	case Elsewhere:
		r.Elsewhere++
	}
}

// settled counts the payments that this run did something about.
func (r *Report) settled() int { return r.Paid + r.Failed + r.Postponed }

// Run settles all payments that are due, those of earlier days too, and those whose claim or wait
// is over, until there are none. Any number of workers may run at a time, here and elsewhere: they
// share the shards by leases, and lose nothing when one of them is killed. When ctx ends, the
// payments in hand are finished and no others begun.
func (s *Scheduler) Run(ctx context.Context, opts RunOptions) (Report, error) {
	if opts.Worker == "" {
		opts.Worker = s.opts.NewID()
	}
	if opts.Callers <= 0 {
		opts.Callers = CallersDefault
	}
	if opts.Lease <= 0 {
		opts.Lease = s.opts.ShardLease
	}
	w := &worker{s: s, opts: opts, slots: make(chan struct{}, opts.Callers)}
	w.pace.rate = opts.Units
	m, err := current(ctx, s)
	if err != nil {
		return Report{}, err
	}
	if err := s.release(ctx, m); err != nil {
		return Report{}, err
	}
	for {
		before := w.report.settled()
		busy, err := w.pass(ctx)
		switch {
		case err != nil:
			return w.report, err
		case w.report.settled() > before:
			continue
		case !busy:
			return w.report, nil
		}
		w.progress()
		if err := pause(ctx, busyWait); err != nil {
			return w.report, err
		}
	}
}

// worker is a run in hand.
type worker struct {
	s     *Scheduler
	opts  RunOptions
	slots chan struct{}
	pace  pace

	mu     sync.Mutex
	report Report
}

// progress shows the report as it is.
func (w *worker) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opts.Progress != nil {
		w.opts.Progress(w.report)
	}
}

// pass looks through all shards once. It reports whether some were another worker's.
func (w *worker) pass(ctx context.Context) (busy bool, err error) {
	m, err := current(ctx, w.s)
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	w.report.Waiting, w.report.Oldest = 0, time.Time{}
	w.report.Claimed, w.report.ClaimedUntil = 0, time.Time{}
	w.report.Shards, w.report.ShardsUntil = 0, time.Time{}
	w.report.Unreadable = nil
	w.mu.Unlock()
	until := w.s.opts.Now().Add(time.Millisecond) // What is due at this very millisecond is due.
	names := m.shardNames(&until)
	for i := len(names) - 1; i > 0; i-- {
		j := w.s.store.Draw(int64(i) + 1)
		names[i], names[j] = names[j], names[i]
	}
	next := make(chan string, len(names))
	for _, name := range names {
		next <- name
	}
	close(next)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := min(shardsAtOnce, len(names))
	errs, taken := make([]error, workers), make([]bool, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for name := range next {
				mine, err := w.shard(ctx, m, name, until)
				taken[i] = taken[i] || !mine
				if errs[i] = err; err != nil {
					cancel()
					return
				}
			}
		})
	}
	all.Wait()
	for _, t := range taken {
		busy = busy || t
	}
	return busy, firstCause(errs)
}

// shard settles what is due in a shard. It returns false when the shard is another worker's, or was
// lost to one.
func (w *worker) shard(
	ctx context.Context, m *model, name string, until time.Time,
) (mine bool, err error) {
	mine, err = m.takeLease(ctx, w.s, name, w.opts.Worker, w.opts.Lease)
	if err != nil {
		return false, err
	}
	if !mine {
		return false, w.held(ctx, m, name)
	}
	held, lost := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { m.keepLease(held, w.s, name, w.opts.Worker, w.opts.Lease, lost) })
	err = w.due(held, m, name, until)
	gone := held.Err() != nil && ctx.Err() == nil
	lost()
	keeper.Wait()
	if gone {
		return false, nil
	}
	if dropped := m.dropLease(context.WithoutCancel(ctx), w.s, name, w.opts.Worker); err == nil {
		err = dropped
	}
	return true, err
}

// due settles what is scheduled in a shard, and then what is pending too long: a claim whose worker
// is gone, or a wait that is over.
func (w *worker) due(ctx context.Context, m *model, name string, until time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	defer all.Wait()
	for _, status := range [...]Status{Scheduled, Pending} {
		in := InShard{Shard: name, Status: status, To: &until}
		for row, err := range m.due.All(ctx, w.s.store, in) {
			if bad, unread := singletable.AsUnreadable(err); unread {
				w.unreadable(bad)
				continue
			}
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx) // The failed attempt, which has ended this read too.
			}
			if err != nil {
				return failed("read shard", name, err)
			}
			if row.ID == "" {
				w.unreadable(m.heldUp(row.AccountID, row.Key))
				continue
			}
			if status == Pending && row.Until.After(w.s.opts.Now()) {
				w.waiting(row)
				continue
			}
			units, err := w.take(ctx)
			if err != nil {
				return err
			}
			all.Go(func() {
				defer func() { <-w.slots }()
				if err := w.settle(ctx, row, units); err != nil {
					cancel(err)
				}
			})
		}
	}
	all.Wait()
	return context.Cause(ctx)
}

// take waits for a free caller and for the pace, of which it takes some units.
func (w *worker) take(ctx context.Context) (units float64, err error) {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if units, err = w.pace.take(ctx); err != nil {
		<-w.slots
		return 0, context.Cause(ctx)
	}
	return units, nil
}

func (w *worker) waiting(row dueItem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if row.Attempt == "" {
		w.report.Waiting++
	} else {
		w.report.Claimed++
		if row.Until.After(w.report.ClaimedUntil) {
			w.report.ClaimedUntil = row.Until
		}
	}
	w.oldest(row.At)
}

// held notes a shard that another worker has, and until when.
func (w *worker) held(ctx context.Context, m *model, name string) error {
	lease, _, err := m.leases.Get(ctx, w.s.store, leaseItem{Shard: name})
	if err != nil {
		return failed("read the lease of shard", name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Shards++
	if lease.Until.After(w.report.ShardsUntil) {
		w.report.ShardsUntil = lease.Until
	}
	return nil
}

// unreadable notes a payment that cannot be settled because of what is stored. The others are.
func (w *worker) unreadable(bad *singletable.UnreadableError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.report.Unreadable == nil {
		w.report.Unreadable = &singletable.UnreadableList{}
	}
	w.report.Unreadable.Add(bad)
}

func (w *worker) oldest(at time.Time) {
	if w.report.Oldest.IsZero() || at.Before(w.report.Oldest) {
		w.report.Oldest = at
	}
}

// settle makes an attempt. What was begun is finished when the run is stopped: a claim that is
// left lying would have to be waited for.
func (w *worker) settle(ctx context.Context, row dueItem, units float64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.s.opts.Lease)
	defer cancel()
	m, err := writing(ctx, w.s) // A claim writes the payment's shard too.
	if err != nil {
		return err
	}
	var meter *singletable.Meter
	if w.opts.Units > 0 {
		ctx, meter = singletable.WithMeter(ctx)
	}
	key := paymentItem{AccountID: row.AccountID, At: row.At, ID: row.ID}
	_, outcome, err := m.attempt(ctx, w.s, key)
	if bad, unread := singletable.AsUnreadable(err); unread {
		w.unreadable(bad)
		return nil
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.add(outcome)
	w.oldest(row.At)
	if meter != nil {
		w.report.Units += meter.Write()
		w.pace.settle(units, meter.Write())
	}
	if w.opts.Progress != nil {
		w.opts.Progress(w.report)
	}
	return nil
}

// pace spreads write units over time. A caller that is about to take some waits until those before
// are paid for, and takes what the last one took; what it takes more or less is settled afterwards.
type pace struct {
	rate float64 // units a second; 0 for no bound
	mu   sync.Mutex
	each float64   // what the last one took
	free time.Time // when what was taken is paid for
}

// paceFirst is what the first is thought to take, in write units: a settlement of a small payment.
const paceFirst = 50

// take waits, and returns what it took.
func (p *pace) take(ctx context.Context) (units float64, err error) {
	if p.rate <= 0 {
		return 0, nil
	}
	p.mu.Lock()
	if p.each == 0 {
		p.each = paceFirst
	}
	now := time.Now()
	if p.free.Before(now) {
		p.free = now
	}
	units, wait := p.each, p.free.Sub(now)
	p.spend(units)
	p.mu.Unlock()
	if wait <= 0 {
		return units, nil
	}
	return units, pause(ctx, wait)
}

// settle corrects how many units a caller took in the end.
func (p *pace) settle(units, taken float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each = taken
	p.spend(taken - units)
}

func (p *pace) spend(units float64) {
	p.free = p.free.Add(time.Duration(units / p.rate * float64(time.Second)))
}
