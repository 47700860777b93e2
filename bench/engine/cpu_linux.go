package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is the number of units of CPU time per second in the kernel's reports (proc(5), USER_HZ).
const ticks = 100

// cpu returns the CPU time that the process has used, or 0 if it is unknown.
func (c *child) cpu() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.command.Process.Pid))
	if err != nil {
		return 0
	}
	// The name of the program is in parentheses and may contain spaces.
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12 // counted from the field after the name
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.ParseInt(fields[user], 10, 64)
	s, _ := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(u+s) * time.Second / ticks
}

// memory returns how much memory the process has and had at most, in bytes.
func (c *child) memory() (now, most int64) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.command.Process.Pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSuffix(strings.TrimSpace(value), " kB")
		kilobytes, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "VmRSS":
			now = kilobytes << 10
		case "VmHWM":
			most = kilobytes << 10
		}
	}
	return now, most
}
