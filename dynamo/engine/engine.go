package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/partiql"
)

// Options configure a database. The zero value is a good default.
type Options struct {
	// CacheSize is the memory for blocks read from disk, in bytes; 256 MB by default (32 MB for
	// OpenMemory).
	CacheSize int64
	// MemTableSize is how much is kept in memory before it is written out, in bytes; 64 MB by
	// default (16 MB for OpenMemory). Usually there is one that fills and one being written out.
	MemTableSize int64
	// Region and AccountID appear in ARNs; "local" and twelve zeros by default.
	Region, AccountID string
	// Now is the clock that decides what has expired, by default time.Now.
	Now func() time.Time
	// SweepInterval is how often expired items are looked for; a minute by default, never when
	// negative.
	SweepInterval time.Duration
	// TableDelay is how long a table stays CREATING, UPDATING or DELETING, and a new index CREATING
	// before it is filled, by the clock; by default all is done at once.
	TableDelay time.Duration
	// TTLPause is how long after a change of a table's expiry another one is refused; the service
	// has an hour, the default is none.
	TTLPause time.Duration
	// ArchiveDir is the directory whose folders are the buckets of exports and imports, which
	// are refused without it.
	ArchiveDir string
	// StreamShards is how many shards a new stream begins with; 1 by default.
	StreamShards int
	// Faults are what goes wrong on purpose, for tests; nothing by default. See [DB.SetFaults].
	Faults Faults
	// Disk is a disk in memory that a test can take the power from, and that fails on command; by
	// default a database is in the file system of the computer.
	Disk *Disk
	// Logger is where work in the background and errors are logged; nothing is by default.
	Logger *slog.Logger

	fs vfs.FS // the disk; tests put a crashable one here
	// Tests show that they notice a missing sync and missing locks.
	noSync, noLocks bool
}

func (o Options) withDefaults(memory bool) Options {
	if o.CacheSize <= 0 {
		o.CacheSize = 256 << 20
		if memory {
			o.CacheSize = 32 << 20
		}
	}
	if o.MemTableSize <= 0 {
		o.MemTableSize = 64 << 20
		if memory {
			o.MemTableSize = 16 << 20
		}
	}
	if o.Region == "" {
		o.Region = "local"
	}
	if o.AccountID == "" {
		o.AccountID = "000000000000"
	}
	if o.StreamShards <= 0 {
		o.StreamShards = 1
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.SweepInterval == 0 {
		o.SweepInterval = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// DB is an open database. It implements [dynamo.DB] and [dynamo.Admin], and is safe for
// concurrent use.
type DB struct {
	opts    Options
	dir     string
	store   *pebble.DB
	owner   *owner   // nil in memory
	disk    *disk.FS // nil in memory
	synced  bool     // whether answers wait for the disk
	failure failure
	damaged sync.Map // the files that were found damaged, so that each is logged once

	hash     keyspace.Hasher
	parser   *expr.Parser
	locks    locks
	flights  flights
	tokens   tokens
	counters counters

	statements partiql.Parser
	streams    streams
	archives   archives
	faults     atomic.Pointer[faultPlan] // nil while nothing goes wrong on purpose

	// schema guards the tables and their indexes: held shared by every call while it reads or
	// writes rows, exclusively only while a table changes.
	schema sync.RWMutex
	tables map[string]*table
	ghosts map[string]ghost // tables that are being deleted
	nextID uint32

	weight []byte // tells the garbage collector how large the store is

	closed  atomic.Bool
	stop    context.CancelFunc
	running context.Context
	work    sync.WaitGroup
}

var (
	_ dynamo.DB    = (*DB)(nil)
	_ dynamo.Admin = (*DB)(nil)
	_ dynamo.Pager = (*DB)(nil)
)

// formatVersion is the newest on-disk format that this package reads and the one it writes.
const formatVersion = 1

// ErrNewerFormat reports a database that a later version of this package wrote.
var ErrNewerFormat = errors.New("the database was written by a newer version")

// ErrOlderFormat reports a database that an earlier version wrote in a form that is read no more.
var ErrOlderFormat = errors.New("the database was written by an earlier version, in a form that " +
	"is read no more")

// ErrClosed reports a call to a database after Close.
var ErrClosed = errors.New("the database is closed")

// Open opens the database in a directory, making it if it is missing. One process at a time may
// have it open; the error of a second says which process that is. Every write that returned is
// on the disk.
func Open(dir string, opts Options) (*DB, error) {
	opts = opts.withDefaults(false)
	switch {
	case opts.fs != nil:
	case opts.Disk != nil:
		opts.fs = opts.Disk.files()
	default:
		opts.fs = osDisk{vfs.Default}
	}
	owner, err := own(opts.fs, dir)
	if err != nil {
		return nil, err
	}
	if _, real := opts.fs.(osDisk); real {
		makePrivate(dir, opts.Logger)
	}
	db, err := open(dir, opts, owner)
	if err != nil {
		_ = owner.release() // the error of the opening is the one to return
		return nil, openError(dir, err)
	}
	return db, nil
}

// OpenMemory opens a new, empty database that lives in memory only: the same code over a file
// system in memory, for tests and for work that need not last.
func OpenMemory(opts Options) (*DB, error) {
	opts = opts.withDefaults(true)
	opts.fs = vfs.NewMem()
	return open("memory", opts, nil)
}

// openError says which database it is, if the error does not do that itself.
func openError(dir string, err error) error {
	var failed *dynamo.StoreFailedError
	if errors.As(err, &failed) {
		return failed
	}
	return fmt.Errorf("open database %s: %w", dir, err)
}

// open opens the store below. A database without an owner is in memory: nothing waits for it to
// be written.
func open(dir string, opts Options, owner *owner) (*DB, error) {
	db := newDB(dir, opts, owner)
	logged := true
	if owner != nil {
		var err error
		if logged, err = db.checkLogs(); err != nil {
			return nil, err
		}
	}
	po := db.storeOptions()
	if err := db.openStore(po); err != nil {
		return nil, err
	}
	plan, err := db.newFaultPlan(opts.Faults)
	if err != nil {
		return nil, errors.Join(err, db.closeStore())
	}
	db.faults.Store(plan)
	db.running, db.stop = context.WithCancel(context.Background())
	if err = db.load(); err == nil && !logged {
		err = db.beginLog()
	}
	if err = errors.Join(err, db.Failure()); err != nil {
		err = errors.Join(err, db.closeStore())
		if failed := db.Failure(); failed != nil {
			return nil, failed
		}
		return nil, err
	}
	db.background()
	return db, nil
}

func newDB(dir string, opts Options, owner *owner) *DB {
	db := &DB{
		opts: opts, dir: dir, owner: owner, synced: owner != nil && !opts.noSync,
		parser: expr.NewParser(), tables: map[string]*table{}, nextID: 1,
		ghosts:  map[string]ghost{},
		streams: streams{byID: map[uint32]*stream{}, nextID: 1},
		archives: archives{
			exports: map[string]*dynamo.ExportDescription{},
			imports: map[string]*dynamo.ImportDescription{},
		},
		failure: failure{done: make(chan struct{})},
	}
	db.flights.failed, db.streams.sequences.failed = db.failure.done, db.failure.done
	db.locks.off = opts.noLocks
	if owner != nil {
		db.weight = weight(opts.MemTableSize)
	}
	return db
}

// openStore opens the storage library. Its panics and its failures are those of the database.
func (db *DB) openStore(po *pebble.Options) (err error) {
	defer po.Cache.Unref()
	defer db.guard(&err)
	db.store, err = pebble.Open(db.dir, po)
	if failed := db.Failure(); failed != nil {
		if err == nil {
			_ = db.closeStore() // nothing of it reaches the disk any more
		}
		return failed
	}
	if err != nil && strings.Contains(err.Error(), "comparer name") {
		return fmt.Errorf("%w: %w", ErrOlderFormat, err)
	}
	return db.damagedOpening(err)
}

func (db *DB) closeStore() (err error) {
	defer db.guard(&err)
	return db.store.Close()
}

// storeOptions returns the options of the storage library.
func (db *DB) storeOptions() *pebble.Options {
	opts, owner := db.opts, db.owner
	// Pebble takes what is not written out yet from the cache's size. With nothing added to it, a
	// million payments found half of the cache gone, and with it the filters.
	cache := pebble.NewCache(opts.CacheSize + memTables*opts.MemTableSize)
	po := &pebble.Options{
		FS:                          opts.fs,
		Cache:                       cache,
		Comparer:                    keyspace.Comparer(),
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                uint64(opts.MemTableSize),
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       24,
		Logger:                      storeLog{db},
		EventListener:               db.events(),
	}
	if owner != nil {
		po.Lock = owner.lock
		db.watch(po)
	} else {
		po.DisableWAL = true
	}
	for i := range po.Levels {
		po.TargetFileSizes[i] = tableSize
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		po.Levels[i].FilterType = sstable.TableFilter
	}
	po.Experimental.SpanPolicyFunc = rowsInPlace
	po.Experimental.ValueSeparationPolicy = largeApart
	return po
}

const (
	// memTables is for how many memory tables the cache is made larger.
	memTables = 2
	// tableSize is how large the files of the store grow, the large rows that they point into
	// included. Pebble's own, 2 MB where rows arrive, made thousands of files out of a million
	// payments: with ones of 64 MB each insert took a fifth less of the processor.
	tableSize = 64 << 20
)

// rowsInPlace treats all rows of a partition alike. The store would else take them for versions of
// one thing and move all but the first out of the way, into blocks that each read of a partition
// would have to fetch, and that cost as much again to write.
func rowsInPlace([]byte) (policy pebble.SpanPolicy, end []byte, err error) {
	return pebble.SpanPolicy{DisableValueSeparationBySuffix: true}, nil, nil
}

// Bounds of large values that are kept apart.
const (
	// apartSize is from what size a row is kept apart: one that fills a block of its own anyway, so
	// that a read fetches as many blocks as before.
	apartSize = 4 << 10
	// apartDepth is how many overlapping files of values a table may point into, before they are
	// written anew in order. Keys are hashed, so a table points into nearly every file: with 60,
	// much of a million rows of 8 KB was written twice. The price is that large rows of a partition
	// lie where they were first written, not side by side.
	apartDepth = 400
	// apartGarbage is how much of such a file is gone before it is written anew, once it has the
	// age: rows that change often are gone by then.
	apartGarbage = 0.3
	apartAge     = time.Minute
)

// largeApart keeps large rows in files of their own, which a compaction points into and does not
// copy. Of 150,000 rows of 8 KB, 4.7 bytes were written for each byte when they were copied on
// their way down the levels, and 3.1 when they were not, the log included.
func largeApart() pebble.ValueSeparationPolicy {
	return pebble.ValueSeparationPolicy{
		Enabled: true, MinimumSize: apartSize, MaxBlobReferenceDepth: apartDepth,
		RewriteMinimumAge: apartAge, TargetGarbageRatio: apartGarbage,
	}
}

// load reads the format, the seed and the tables, and writes the first two to a new database.
func (db *DB) load() error {
	raw, ok, err := db.read(keyspace.Meta("format"))
	if err != nil {
		return err
	}
	if !ok {
		return db.initialise()
	}
	var format struct {
		Version int
		Seed    uint64
	}
	if err := json.Unmarshal(raw, &format); err != nil {
		return fmt.Errorf("read the format of the database: %w", err)
	}
	if format.Version > formatVersion {
		return fmt.Errorf("%w: its format is %d, this program reads up to %d; "+
			"use the version that wrote it, or a later one", ErrNewerFormat, format.Version,
			formatVersion)
	}
	db.hash = keyspace.NewHasher(format.Seed)
	if err := db.loadTables(); err != nil {
		return err
	}
	if err := errors.Join(db.loadStreams(), db.loadArchives()); err != nil {
		return err
	}
	return db.dropCounts()
}

func (db *DB) initialise() error {
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return err
	}
	format := struct {
		Version int
		Seed    uint64
	}{formatVersion, binary.BigEndian.Uint64(seed[:])}
	raw, err := json.Marshal(format)
	if err != nil {
		return err
	}
	db.hash = keyspace.NewHasher(format.Seed)
	return db.put(keyspace.Meta("format"), raw)
}

// read returns a copy of a row outside the tables.
func (db *DB) read(key []byte) (value []byte, ok bool, err error) {
	raw, closer, err := db.store.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append(value, raw...)
	return value, true, closer.Close()
}

// close ends all that Close waits for.
func (db *DB) close() error {
	db.stop()
	db.waitForSchema()
	db.work.Wait()
	db.schema.Lock() // calls in progress end first
	defer db.schema.Unlock()
	err := db.faults.Swap(nil).close()
	if db.Failure() == nil {
		err = errors.Join(err, db.saveCounts())
	}
	return errors.Join(err, db.closeStore(), db.owner.release())
}

// waitForSchema returns once no table is changing, so that no more work begins.
func (db *DB) waitForSchema() {
	db.schema.Lock()
	defer db.schema.Unlock()
}

// begin enters a call: it checks the context and that the database is open, and holds the
// tables as they are until end.
func (db *DB) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.usable(); err != nil {
		return err // before the lock, which a call that is stuck may hold
	}
	db.schema.RLock()
	if err := db.usable(); err != nil {
		db.schema.RUnlock()
		return err
	}
	return nil
}

// usable returns the reason why a database takes no more calls, nil while it does.
func (db *DB) usable() error {
	if db.closed.Load() {
		return ErrClosed
	}
	return db.Failure()
}

func (db *DB) end() { db.schema.RUnlock() }

// background starts what runs beside the calls: the sweep of expired items, unfinished
// backfills, and a count of the items after a crash.
func (db *DB) background() {
	// What is resumed for one table may be done, and the table replaced, before the next comes.
	db.schema.Lock()
	defer db.schema.Unlock()
	for _, t := range db.tables {
		db.resume(t)
	}
	if db.opts.SweepInterval > 0 {
		db.work.Go(db.sweepLoop)
	}
}

// storeLog logs the messages of the storage library.
type storeLog struct{ db *DB }

func (l storeLog) Infof(format string, args ...any) {
	log := l.db.opts.Logger
	if log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug("store", "message", fmt.Sprintf(format, args...))
	}
}

// Errorf logs an error, unless it is a consequence of a failure that was logged.
func (l storeLog) Errorf(format string, args ...any) {
	if l.db.Failure() == nil {
		l.db.opts.Logger.Error("store", "message", fmt.Sprintf(format, args...))
	}
}

// Fatalf is called by the storage library, often with its locks held, when it cannot go on. It
// returns: the process belongs to the program, which gets an error from each call instead.
func (l storeLog) Fatalf(format string, args ...any) {
	l.db.backgroundError(fmt.Errorf(format, args...))
}
