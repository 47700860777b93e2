//go:build !linux && !darwin && !freebsd

package main

import "time"

// freeDisk cannot be told on this system.
func freeDisk(string) (uint64, bool) { return 0, false }

// processorTime cannot be told on this system.
func processorTime() time.Duration { return 0 }
