// Package tempfile makes temporary files that no process leaves behind, however it ends.
package tempfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// File is a temporary file. Only this process can open it, because it has no name: it is removed
// from its directory as soon as it exists, so that the system frees its space with the last reader,
// even after a kill. A system that cannot do that, such as Windows, removes it on Close.
type File struct {
	*os.File
	named bool
}

// Create makes a file for reading and writing in a directory; "" is the one for temporary files. A
// pattern is a name in which the last * becomes a random text.
func Create(dir, pattern string) (*File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &File{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Close closes the file, which frees its space.
func (f *File) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Clean removes the files of a pattern that a killed process left in a directory, if they were last
// written at least age ago. Files of other users stay, and so do open files on a system that does
// not remove them.
func Clean(dir, pattern string, age time.Duration) {
	if dir == "" {
		dir = os.TempDir()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // Without the directory there is nothing to remove; its next use returns the error.
	}
	oldest := time.Now().Add(-age)
	for _, e := range entries {
		if ours, err := filepath.Match(pattern, e.Name()); err != nil || !ours {
			continue
		}
		about, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !about.Mode().IsRegular() {
			continue
		}
		if err == nil && !about.ModTime().After(oldest) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // It may be another user's.
		}
	}
}
