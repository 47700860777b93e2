package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// residentBytes is the memory that the process has now.
func residentBytes() uint64 {
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

// writtenBytes is what the process has sent to the disk, and whether that can be told.
func writtenBytes() (uint64, bool) {
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

// load returns how many threads wanted a core in the last minute, on average, or 0 if that cannot
// be told.
func load() float64 {
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
