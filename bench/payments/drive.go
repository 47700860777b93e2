package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// sample is what one case of one round measured.
type sample struct {
	perSecond float64
	p50, p99  time.Duration
	// acknowledged counts every call that returned well, those of the warm-up included.
	acknowledged int
}

// errNoCall means that a case was too short for a single call.
var errNoCall = errors.New("no call finished within the measured time: give a longer -duration")

// pace is how long a case runs.
type pace struct {
	callers  int
	warmUp   time.Duration
	duration time.Duration
}

// drive runs callers goroutines that repeat their call until the time is up, and measures the calls
// that ended after the warm-up. It waits for calls in progress at the end and never cancels them,
// because a payment without an answer could not be checked afterwards. newCall returns the call of
// each caller.
func drive(
	ctx context.Context, p pace, newCall func(caller int) func(context.Context) error,
) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	calls := make([]func(context.Context) error, p.callers)
	for i := range calls {
		calls[i] = newCall(i)
	}
	taken := make([][]time.Duration, p.callers)
	acknowledged := make([]int, p.callers)
	from := time.Now().Add(p.warmUp)
	until := from.Add(p.duration)

	var callers sync.WaitGroup
	for i, call := range calls {
		callers.Go(func() {
			begin := time.Now()
			for begin.Before(until) && ctx.Err() == nil {
				if err := call(ctx); err != nil {
					cancel(err)
					return
				}
				end := time.Now()
				acknowledged[i]++
				if end.After(from) && !end.After(until) {
					taken[i] = append(taken[i], end.Sub(begin))
				}
				begin = end
			}
		})
	}
	callers.Wait()
	if err := context.Cause(ctx); err != nil {
		return sample{}, err
	}
	return summarize(slices.Concat(taken...), acknowledged, p.duration)
}

func summarize(taken []time.Duration, acknowledged []int, d time.Duration) (sample, error) {
	if len(taken) == 0 {
		return sample{}, errNoCall
	}
	slices.Sort(taken)
	s := sample{
		perSecond: float64(len(taken)) / d.Seconds(),
		p50:       taken[len(taken)/2],
		p99:       taken[len(taken)*99/100],
	}
	for _, n := range acknowledged {
		s.acknowledged += n
	}
	return s, nil
}

// median returns the middle of values, and the mean of the two middle ones when they are even.
func median[T float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
