package server

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// disk is the part of a file system that uploaded files are written through, so that tests can make
// each step of it fail.
type disk interface {
	// MkdirAll makes a directory that only this user can read, and those above it.
	MkdirAll(dir string) error
	// Create makes a file that does not exist yet.
	Create(path string) (diskFile, error)
	Rename(from, to string) error
	// Remove removes a file or an empty directory.
	Remove(path string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
	// Free returns the number of bytes that can still be written below a directory, and whether the
	// system reports it.
	Free(dir string) (bytes int64, known bool)
}

// diskFile is a file that is being written.
type diskFile interface {
	io.Writer
	Sync() error
	Close() error
}

// realDisk is the file system of the computer.
type realDisk struct{}

const (
	dirMode  = 0o700
	fileMode = 0o600
)

func (realDisk) MkdirAll(dir string) error { return os.MkdirAll(dir, dirMode) }

func (realDisk) Create(path string) (diskFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
}

func (realDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) Remove(path string) error { return os.Remove(path) }

func (realDisk) SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // A directory cannot be synced there.
		return nil
	}
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	err = d.Sync()
	if failed := d.Close(); err == nil {
		err = failed
	}
	return err
}

func (realDisk) Free(dir string) (int64, bool) { return freeBytes(dir) }
