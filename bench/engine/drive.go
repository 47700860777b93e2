package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// sample is what one case measured.
type sample struct {
	perSecond float64
	p50, p99  time.Duration
	// serverCPU and clientCPU are for one call; both are in clientCPU if the store is in this
	// process. serverCPU is 0 if it is unknown.
	serverCPU, clientCPU time.Duration
	// broken counts calls that the client library lost although the server answered.
	broken int64
}

// pace is how long a case runs.
type pace struct {
	callers          int
	warmUp, duration time.Duration
}

// drive repeats a call until the time is up, and measures what ended after the warm-up.
func drive(ctx context.Context, t *target, k kase, p pace, seed uint64) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	taken := make([][]time.Duration, p.callers)
	var broken atomic.Int64
	from := time.Now().Add(p.warmUp)
	until := from.Add(p.duration)
	before := make(chan usage, 1)
	go func() {
		time.Sleep(time.Until(from))
		before <- t.usage()
	}()
	var callers sync.WaitGroup
	for i := range p.callers {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			begin := time.Now()
			for begin.Before(until) && ctx.Err() == nil {
				err := k.call(ctx, t.db, r)
				end := time.Now()
				switch {
				case lost(err):
					broken.Add(1)
				case err != nil:
					cancel(err)
					return
				case end.After(from) && !end.After(until):
					taken[i] = append(taken[i], end.Sub(begin))
				}
				begin = end
			}
		})
	}
	callers.Wait()
	after := t.usage()
	if err := context.Cause(ctx); err != nil {
		return sample{}, err
	}
	all := slices.Concat(taken...)
	if len(all) == 0 {
		return sample{}, errors.New("no call finished in time: give a longer -duration")
	}
	slices.Sort(all)
	used := after.since(<-before)
	n := time.Duration(len(all))
	return sample{
		perSecond: float64(len(all)) / p.duration.Seconds(),
		p50:       all[len(all)/2], p99: all[len(all)*99/100],
		serverCPU: used.server / n, clientCPU: used.client / n, broken: broken.Load(),
	}, nil
}

// lost recognises a race of the SDK with Go's HTTP transport: a server that answers before the
// request's body is closed makes it fail some calls. They are counted apart, and not held against
// the server.
func lost(err error) bool {
	var known *dynamo.Error
	return err != nil && !errors.As(err, &known) &&
		strings.Contains(err.Error(), "use of closed network connection")
}

// median takes each figure's median over the rounds.
func median(rounds []sample) sample {
	pick := func(of func(sample) float64) float64 {
		values := make([]float64, len(rounds))
		for i, s := range rounds {
			values[i] = of(s)
		}
		slices.Sort(values)
		return (values[len(values)/2] + values[(len(values)-1)/2]) / 2
	}
	span := func(of func(sample) time.Duration) time.Duration {
		return time.Duration(pick(func(s sample) float64 { return float64(of(s)) }))
	}
	m := sample{
		perSecond: pick(func(s sample) float64 { return s.perSecond }),
		p50:       span(func(s sample) time.Duration { return s.p50 }),
		p99:       span(func(s sample) time.Duration { return s.p99 }),
		serverCPU: span(func(s sample) time.Duration { return s.serverCPU }),
		clientCPU: span(func(s sample) time.Duration { return s.clientCPU }),
	}
	for _, s := range rounds {
		m.broken += s.broken
	}
	return m
}
