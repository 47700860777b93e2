//go:build !linux && !darwin && !freebsd

package machine

import "time"

// FreeDisk is unknown on this system.
func FreeDisk(string) (uint64, bool) { return 0, false }

// ProcessorTime is unknown on this system.
func ProcessorTime() time.Duration { return 0 }
