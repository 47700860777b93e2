package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strconv"
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

// NextStep returns what to do.
func (e *DamagedError) NextStep() string { return "restore a copy of the directory" }

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Reason }

// errLost is the reason of a log in which acknowledged writes are missing.
var errLost = errors.New("writes that were on the disk are missing or changed")

// The names of files of a database.
const (
	markerPrefix  = "marker.manifest." // behind it a number, a dot and the name of the manifest
	optionsPrefix = "OPTIONS-"
	tableSuffix   = ".sst"
	apartSuffix   = ".blob"
	logSuffix     = ".log"
)

// opening checks the files of a database before the storage library opens them.
type opening struct{ db *DB }

// checkManifest refuses a manifest that is damaged, or that was removed together with what names
// it, and a directory that lacks the oldest log that is needed. The storage library would take such
// a directory for an older state of it, or for a new one.
func (o *opening) checkManifest() error {
	names, err := o.db.opts.fs.List(o.db.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	damaged := func(name string, offset int64, reason error) error {
		return &dynamo.StoreFailedError{Store: o.db.dir, Cause: &DamagedError{
			File: o.db.opts.fs.PathJoin(o.db.dir, name), Offset: offset, Reason: reason}}
	}
	name, found := manifestName(names)
	if !found {
		// A process that made the database may have been stopped before there was anything in it.
		if slices.ContainsFunc(names, hasItems) {
			return damaged(markerPrefix+"*", -1, fs.ErrNotExist)
		}
		return nil
	}
	m, err := disk.ReadManifest(o.db.opts.fs, o.db.opts.fs.PathJoin(o.db.dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return damaged(name, -1, fs.ErrNotExist)
	case err != nil:
		return &dynamo.StoreFailedError{Store: o.db.dir, Cause: err}
	case m.Damaged:
		return damaged(name, m.Offset, errLost)
	}
	if log := missingLog(names, numberIn(name), m.Log); log != "" {
		return damaged(
			log,
			-1,
			fmt.Errorf("%w, and the manifest %s needs it", fs.ErrNotExist, name),
		)
	}
	return nil
}

// missingLog returns the name of a log that must exist and does not, or "". The files of a database
// are numbered in the order in which they are made. An opening makes a manifest if there was
// something to write, a log, and the options at its end; oldest is the first log number that is
// needed, which an opening sets to one below that of its log.
func missingLog(names []string, manifest, oldest uint64) string {
	options := uint64(0)
	var logs []uint64
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, optionsPrefix):
			options = max(options, numberIn(name))
		case strings.HasSuffix(name, logSuffix):
			logs = append(logs, numberIn(name))
		}
	}
	switch {
	case options == 0: // the first opening did not end
	case manifest > options: // the last opening did not end: it may have written all logs out
	case len(logs) == 0:
		return "*" + logSuffix
	case oldest > options:
		if !slices.Contains(logs, oldest) {
			return fmt.Sprintf("%06d%s", oldest, logSuffix)
		}
	case !slices.ContainsFunc(logs, func(n uint64) bool { return oldest <= n && n < options }):
		return fmt.Sprintf("%06d to %06d%s", oldest, options, logSuffix)
	}
	return ""
}

// numberIn returns the number in the name of a file.
func numberIn(name string) uint64 {
	digits := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-.logstb")
	n, _ := strconv.ParseUint(digits, 10, 64)
	return n
}

// hasItems reports whether a file is one that only a database has that was in use.
func hasItems(name string) bool {
	return strings.HasPrefix(name, optionsPrefix) || strings.HasSuffix(name, tableSuffix) ||
		strings.HasSuffix(name, apartSuffix)
}

// manifestName returns the name of the manifest, which the newest of some markers has.
func manifestName(names []string) (name string, found bool) {
	newest := -1
	for _, n := range names {
		rest, ok := strings.CutPrefix(n, markerPrefix)
		number, of, whole := strings.Cut(rest, ".")
		if i, err := strconv.Atoi(number); ok && whole && err == nil && i > newest {
			newest, name = i, of
		}
	}
	return name, newest >= 0
}

// checkApart refuses a directory that lacks files of large rows that are in use, or in which one of
// them was cut. The storage library would find out when it reads a row of it, and break off.
func (o *opening) checkApart() error {
	const looks = 10
	for range looks {
		before := o.db.store.Metrics().BlobFiles
		names, err := o.db.opts.fs.List(o.db.dir)
		if err != nil {
			return err
		}
		count, size, broken := uint64(0), uint64(0), ""
		for _, name := range names {
			if !strings.HasSuffix(name, apartSuffix) {
				continue
			}
			n, whole, err := disk.ApartSize(o.db.opts.fs, o.db.opts.fs.PathJoin(o.db.dir, name))
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return &dynamo.StoreFailedError{Store: o.db.dir, Cause: err}
			case whole:
				count, size = count+1, size+uint64(n)
			default:
				broken = o.db.opts.fs.PathJoin(
					o.db.dir,
					name,
				) // in use, or left by a stopped process
			}
		}
		after := o.db.store.Metrics().BlobFiles
		if after.LiveCount != before.LiveCount || after.LiveSize != before.LiveSize {
			continue // files came and went in the meantime
		}
		if count < after.LiveCount || size < after.LiveSize {
			return &dynamo.StoreFailedError{Store: o.db.dir, Cause: &DamagedError{
				File: broken, Offset: -1, Reason: fmt.Errorf(
					"%d files of large rows have %d bytes, and %d with %d bytes are in use",
					count, size, after.LiveCount, after.LiveSize)}}
		}
		return nil
	}
	return nil // a read that meets such a file fails the database
}

// checkLogs refuses a log in which writes are missing that were already on the disk. A write that
// was in progress when the process or the machine stopped is not damage, because it was not
// acknowledged. It reports whether any log exists.
func (o *opening) checkLogs() (found bool, err error) {
	names, err := o.db.opts.fs.List(o.db.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasSuffix(name, logSuffix) {
			continue
		}
		found = true
		file := o.db.opts.fs.PathJoin(o.db.dir, name)
		tail, err := disk.ReadTail(o.db.opts.fs, file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return true, &dynamo.StoreFailedError{Store: o.db.dir, Cause: err}
		case tail.Damaged:
			return true, &dynamo.StoreFailedError{Store: o.db.dir, Cause: &DamagedError{
				File: file, Offset: tail.Offset, Reason: errLost}}
		case tail.Torn > 0:
			o.db.opts.Logger.Warn("the log ends with an incomplete write, which is ignored",
				"directory", o.db.dir, "file", file, "bytes", tail.Torn)
		}
	}
	return found, nil
}

// beginLog starts a second log in a new database. The storage library writes the first log in an
// older format that does not record how far the log was synced, and checkLogs needs that record.
func (o *opening) beginLog() (err error) {
	defer o.db.failure.guard(&err)
	return o.db.store.Flush()
}

// failed returns the error of the storage library that could not open a directory as the
// error of a damaged directory, unless the system refused an operation on a file.
func (o *opening) failed(err error) error {
	_, refused := errors.AsType[*fs.PathError](err)
	if err == nil || refused && !errors.Is(err, fs.ErrNotExist) && !pebble.IsCorruptionError(err) {
		return err
	}
	return &dynamo.StoreFailedError{Store: o.db.dir,
		Cause: &DamagedError{Offset: -1, Reason: err}}
}

// corruption is called when a file turns out to be damaged while it is read, by a call or by work
// in the background, with locks of the store held. The database fails, because no answer can be
// trusted to be whole.
func (db *DB) corruption(info pebble.DataCorruptionInfo) {
	db.failure.set(&DamagedError{File: info.Path, Offset: -1, Reason: info.Details})
	if db.disk != nil {
		go db.disk.CutOff() // it waits for operations that may wait for those locks
	}
}

// reading makes the error of a read that met a damaged file, or a panic of the storage library
// because of one, a failure of the database. It is deferred where the library is called to read.
func (db *DB) reading(err *error) {
	if p := recover(); p != nil {
		db.opts.Logger.Error("the storage library broke off", "panic", fmt.Sprint(p),
			"stack", string(debug.Stack()))
		db.failure.breakDown(&DamagedError{Offset: -1,
			Reason: fmt.Errorf("a read broke off: %v", p)})
		*err = db.Failure()
		return
	}
	if *err == nil || !pebble.IsCorruptionError(*err) {
		return
	}
	reason := *err
	if joined, ok := reason.(interface{ Unwrap() []error }); ok {
		reason = joined.Unwrap()[0] // the others are its consequences
	}
	db.failure.breakDown(&DamagedError{Offset: -1, Reason: reason})
	*err = db.Failure()
}
