package main

import (
	"math/rand/v2"
	"time"

	"github.com/exchequer-dev/exchequer/systems/payments"
)

// Figures of the model.
const (
	// shardUnits is the limit of one partition key in write units per second, and shardBurst the
	// seconds of unused units that it saves. DynamoDB may save more, up to 300 seconds, but does
	// not promise it. See its developer guide, on partitions and on burst capacity.
	shardUnits = 1000
	shardBurst = time.Second
	// The seed's day: a million payments in half an hour.
	heatPayments = 1_000_000
	heatWindow   = 30 * time.Minute
	// claimAfter and settleAfter are when the status of a payment changes, after its insertion:
	// the run keeps pace with what comes in.
	claimAfter  = time.Minute
	settleAfter = claimAfter + time.Second
)

// cost is what the index by status takes of the steps of a payment's life, in write units.
type cost struct {
	insert, claim, settle float64
}

// scene is one case of the model: how the index is made, and what is done.
type scene struct {
	projection payments.Projection
	shards     int
	flips      bool // the status changes too
	cost       cost
}

// heat is the result of a scene.
type heat struct {
	scene
	// demand is what the fullest shard was asked for, in units a second over the window.
	demand float64
	// all is what was asked of the index, in units a second over the window.
	all float64
	// writes is how many writes there were, throttled how many found no units left.
	writes, throttled int
	// hot is how many shards throttled.
	hot int
	// backlog is how long the fullest shard takes after the last write to catch up.
	backlog time.Duration
	// wait is the longest that a write had to wait.
	wait time.Duration
}

// shard is a partition key of the index: a bucket of units that fills at a steady rate.
type shard struct {
	// paid is when what was taken so far is paid for, in seconds. A bucket that is full is paid for
	// a burst ago.
	paid      float64
	units     float64
	throttled int
}

// take takes units at a time, or later when there are none left, and returns how much later. A
// write that waits is tried again until it fits, in order.
func (s *shard) take(at, units float64) (wait float64) {
	if wait = s.paid - shardBurst.Seconds() - at; wait > 0 {
		s.throttled++
	}
	s.paid = max(s.paid, at) + units/shardUnits
	s.units += units
	return max(wait, 0)
}

// arrivals are the times of payments, in seconds, by chance around a steady rate.
type arrivals struct {
	random *rand.Rand
	rate   float64
	number int
	at     float64
}

func newArrivals(count int, window time.Duration) *arrivals {
	return &arrivals{
		random: rand.New(rand.NewPCG(seed, 0)), rate: float64(count) / window.Seconds(), number: -1,
	}
}

func (a *arrivals) next() {
	a.number++
	a.at += a.random.ExpFloat64() / a.rate
}

// simulate sends a load to all scenes at once. It keeps no payment: the three steps of lives are
// three readings of the same arrivals, each later than the one before.
func simulate(w workload, count int, window time.Duration, scenes []scene) []heat {
	out := make([]heat, len(scenes))
	shards := make([][]shard, len(scenes))
	for i, s := range scenes {
		out[i].scene, shards[i] = s, make([]shard, s.shards)
	}
	steps := [...]struct {
		*arrivals
		after time.Duration
		cost  func(cost) float64
		flip  bool
	}{
		{newArrivals(count, window), 0, func(c cost) float64 { return c.insert }, false},
		{newArrivals(count, window), claimAfter, func(c cost) float64 { return c.claim }, true},
		{newArrivals(count, window), settleAfter, func(c cost) float64 { return c.settle }, true},
	}
	for i := range steps {
		steps[i].next()
	}
	last := make([]float64, len(scenes))
	for {
		first, at := -1, 0.0
		for i := range steps {
			if when := steps[i].at + steps[i].after.Seconds(); steps[i].number < count &&
				(first < 0 || when < at) {
				first, at = i, when
			}
		}
		if first < 0 {
			break
		}
		step := &steps[first]
		id := w.order(step.number).id()
		for i := range scenes {
			if step.flip && !scenes[i].flips {
				continue
			}
			s := &shards[i][payments.ShardOf(id, scenes[i].shards)]
			wait := time.Duration(s.take(at, step.cost(scenes[i].cost)) * float64(time.Second))
			out[i].wait = max(out[i].wait, wait)
			out[i].writes++
			last[i] = at
		}
		step.next()
	}
	for i := range out {
		out[i].sum(shards[i], window, last[i])
	}
	return out
}

// sum adds up the results of the shards of a scene.
func (h *heat) sum(shards []shard, window time.Duration, last float64) {
	for _, s := range shards {
		perSecond := s.units / window.Seconds()
		h.demand = max(h.demand, perSecond)
		h.all += perSecond
		h.throttled += s.throttled
		if s.throttled > 0 {
			h.hot++
		}
		behind := s.paid - shardBurst.Seconds() - last
		h.backlog = max(h.backlog, time.Duration(behind*float64(time.Second)))
	}
}
