//go:build linux || darwin || freebsd

package machine

import (
	"syscall"
	"time"
)

// FreeDisk returns the free space on the disk of a directory, and whether it is known.
func FreeDisk(dir string) (uint64, bool) {
	var info syscall.Statfs_t
	if err := syscall.Statfs(dir, &info); err != nil {
		return 0, false
	}
	return uint64(info.Bavail) * uint64(info.Bsize), true
}

// ProcessorTime is what the process has used of the processors.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
