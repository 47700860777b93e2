package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Resident is the memory that the process has now.
func Resident() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}

// Written returns the number of bytes that the process has sent to the disk, and whether it is
// known.
func Written() (uint64, bool) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(line, []byte(": "))
		if string(name) == "write_bytes" {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Load returns the average number of threads that wanted a core in the last minute, or 0 if it is
// unknown.
func Load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var minute float64
	if _, err := fmt.Sscan(string(text), &minute); err != nil {
		return 0
	}
	return minute
}

// MemoryBacked reports whether dir is on a file system in memory, where a sync costs nothing and
// durability proves nothing.
func MemoryBacked(dir string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6 // statfs(2)
	var info syscall.Statfs_t
	if err := syscall.Statfs(dir, &info); err != nil {
		return false
	}
	kind := uint32(info.Type)
	return kind == tmpfs || kind == ramfs
}
