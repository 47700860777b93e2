//go:build linux || darwin

package server

import "syscall"

// freeBytes returns what an ordinary user may still write to the file system of a directory.
func freeBytes(dir string) (bytes int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
