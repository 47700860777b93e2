package ring

import (
	"maps"
	"slices"
)

// f03 reaches the next file through a field of a result of a generic function.
func f03(all map[string]link) {
	for _, l := range slices.Collect(maps.Values(all)) {
		l.f04()
	}
}
