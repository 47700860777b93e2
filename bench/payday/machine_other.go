//go:build !linux

package main

import "runtime"

// residentBytes is what Go has of the system's memory, the nearest that can be told everywhere.
func residentBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// writtenBytes cannot be told on this system.
func writtenBytes() (uint64, bool) { return 0, false }

// load cannot be told on this system.
func load() float64 { return 0 }
