package sim

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Bounds of the search for a shorter plan.
const (
	shrinkTime  = 60 * time.Second
	shrinkTries = 2 // Of each shorter plan, because not every one fails each time.
)

// shrink returns the shortest plan that it finds which fails in the same way: it leaves out
// clients, faults and steps.
func shrink(t *testing.T, p plan, failure error) plan {
	deadline := time.Now().Add(shrinkTime)
	fails := func(p plan) bool {
		for range shrinkTries {
			if time.Now().After(deadline) {
				return false
			}
			if _, other := run(t, p, nil); other != nil && shape(other) == shape(failure) {
				return true
			}
		}
		return false
	}
	keep := func(shorter plan) bool {
		if len(shorter.Steps)+len(shorter.Faults) == len(p.Steps)+len(p.Faults) || !fails(shorter) {
			return false
		}
		p = shorter
		return true
	}
	// A later phase is of no use where the first one fails.
	keep(
		p.without(
			func(s step) bool { return s.Phase > 0 },
			func(f fault) bool { return f.Phase > 0 },
		),
	)
	keep(p.without(nil, func(fault) bool { return true }))
	for number := range clientsMax {
		keep(p.without(func(s step) bool { return s.Client == number }, nil))
	}
	for changed := true; changed; {
		changed = false
		for size := len(p.Steps) / 2; size > 0; size /= 2 {
			for at := 0; at < len(p.Steps); {
				shorter := p
				end := min(at+size, len(p.Steps))
				shorter.Steps = slices.Concat(p.Steps[:at], p.Steps[end:])
				if keep(shorter) {
					changed = true
				} else {
					at += size
				}
			}
		}
		for at := 0; at < len(p.Faults); {
			shorter := p
			shorter.Faults = slices.Concat(p.Faults[:at], p.Faults[at+1:])
			if keep(shorter) {
				changed = true
			} else {
				at++
			}
		}
		changed = changed && time.Now().Before(deadline)
	}
	return p
}

// shape is what two failures of one cause have in common: the words without names.
func shape(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	var words []string
	for _, word := range strings.Fields(text) {
		if !strings.ContainsAny(word, "0123456789\"[{") && len(words) < 12 {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// without returns a plan without some steps and faults.
func (p plan) without(steps func(step) bool, faults func(fault) bool) plan {
	if steps != nil {
		p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), steps)
	}
	if faults != nil {
		p.Faults = slices.DeleteFunc(slices.Clone(p.Faults), faults)
	}
	return p
}
