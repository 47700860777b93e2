package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"
)

// DamagedError reports that a file of a database was changed, truncated or removed by something
// other than the database. It is the cause of a [dynamo.StoreFailedError]. Restore a copy of the
// directory.
type DamagedError struct {
	// File is the path of the file, or "" if only Reason names it.
	File string
	// Offset is the position at which the damage begins, or -1 if that is unknown.
	Offset int64
	Reason error
}

// Error names the file and the offset.
func (e *DamagedError) Error() string {
	where := "a file"
	if e.File != "" {
		where = "the file " + e.File
	}
	if e.Offset >= 0 {
		where += fmt.Sprintf(", from byte %d on", e.Offset)
	}
	return fmt.Sprintf("the directory is damaged: %s: %v", where, e.Reason)
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Reason }

// errLost is the reason of a log in which acknowledged writes are missing.
var errLost = errors.New("writes that were on the disk are missing or changed")

// checkLogs refuses a log in which writes are missing that were already on the disk. A write that
// was in progress when the process or the machine stopped is not damage, because it was not
// acknowledged. It reports whether any log exists.
func (db *DB) checkLogs() (found bool, err error) {
	names, err := db.opts.fs.List(db.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		found = true
		file := db.opts.fs.PathJoin(db.dir, name)
		tail, err := disk.ReadTail(db.opts.fs, file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return true, &dynamo.StoreFailedError{Store: db.dir, Cause: err}
		case tail.Damaged:
			return true, &dynamo.StoreFailedError{Store: db.dir, Cause: &DamagedError{
				File: file, Offset: tail.Offset, Reason: errLost}}
		case tail.Torn > 0:
			db.opts.Logger.Warn("the log ends with an incomplete write, which is ignored",
				"directory", db.dir, "file", file, "bytes", tail.Torn)
		}
	}
	return found, nil
}

// beginLog starts a second log in a new database. The storage library writes the first log in an
// older format that does not record how far the log was synced, and checkLogs needs that record.
func (db *DB) beginLog() (err error) {
	defer db.guard(&err)
	return db.store.Flush()
}

// damagedOpening returns an error of the storage library while it opens a directory. If the error
// was caused by its files, it is returned as the error of a damaged directory.
func (db *DB) damagedOpening(err error) error {
	if err == nil || !pebble.IsCorruptionError(err) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &dynamo.StoreFailedError{Store: db.dir,
		Cause: &DamagedError{Offset: -1, Reason: err}}
}

// corruption is called when a call or background work reads a damaged file.
func (db *DB) corruption(info pebble.DataCorruptionInfo) {
	if _, logged := db.damaged.LoadOrStore(info.Path, true); !logged {
		db.opts.Logger.Error("a file of the database is damaged: restore a copy of the directory",
			"directory", db.dir, "file", info.Path, "error", info.Details)
	}
}
