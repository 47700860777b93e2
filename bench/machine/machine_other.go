//go:build !linux

package machine

import "runtime"

// Resident returns Go's share of the system's memory, the nearest value that every system reports.
func Resident() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// Written is unknown on this system.
func Written() (uint64, bool) { return 0, false }

// Load is unknown on this system.
func Load() float64 { return 0 }

// MemoryBacked is unknown on this system.
func MemoryBacked(string) bool { return false }
