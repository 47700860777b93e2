//go:build !linux

package machine

import "runtime"

// Resident is what Go has of the system's memory, the nearest that can be told everywhere.
func Resident() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// Written cannot be told on this system.
func Written() (uint64, bool) { return 0, false }

// Load cannot be told on this system.
func Load() float64 { return 0 }

// MemoryBacked cannot be told on this system.
func MemoryBacked(string) bool { return false }
