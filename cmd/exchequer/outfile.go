package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/internal/tempfile"
)

// into writes to the file that was named, or to standard output.
func (a *app) into(args []string, write func(io.Writer) error) error {
	if len(args) == 0 || args[0] == "-" {
		return write(a.out)
	}
	if err := writeFile(args[0], write); err != nil {
		return err
	}
	a.remark("written to %s", grid.Plain(args[0]))
	return nil
}

const (
	// partialPattern is the pattern of the names of files that are being written.
	partialPattern = ".exchequer-*"
	// partialAge is when such a file was left by a kill: another process writes to its own all the
	// time, because an answer that stalls for half a minute is an error.
	partialAge = time.Hour
)

// writeFile writes a file as a whole: to a temporary file in the same folder, which is synced and
// then renamed. An existing file is replaced only by a complete one. Nothing is left after an
// error, and the next writing in the folder removes what a kill left. The file is private unless an
// existing file has another mode. A path that is no regular file, such as a pipe or /dev/stdout, is
// written directly.
func writeFile(path string, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return writeDirect(path, write)
	default:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	tempfile.Clean(filepath.Dir(path), partialPattern, partialAge)
	file, err := os.CreateTemp(filepath.Dir(path), partialPattern)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // the error of the writing is the one to return
		}
	}()
	if err = write(file); err == nil {
		err = errors.Join(file.Chmod(mode), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// writeDirect writes to a pipe or a device.
func writeDirect(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}
