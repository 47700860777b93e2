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
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// Options configure a database. The zero value is a good default.
type Options struct {
	// CacheSize is the size of the cache for blocks from the disk, in bytes. Default: 256 MB, for
	// OpenMemory 32 MB.
	CacheSize int64
	// MemTableSize is the size of a memory table before it is flushed, in bytes. Default: 64 MB,
	// for OpenMemory 16 MB. Usually one is filled while another is flushed.
	MemTableSize int64
	// Region and AccountID appear in ARNs. Default: "local" and twelve zeros.
	Region, AccountID string
	// Now is the clock that decides what has expired. Default: time.Now.
	Now func() time.Time
	// SweepInterval is the time between two sweeps of expired items. Default: one minute. A
	// negative value turns the sweep off.
	SweepInterval time.Duration
	// TableDelay is the time that a table stays CREATING, UPDATING or DELETING, and a new index
	// CREATING before its backfill, by the clock Now. Default: no delay.
	TableDelay time.Duration
	// TTLPause is the minimum time between two changes of a table's expiry setting. The service has
	// one hour. Default: none.
	TTLPause time.Duration
	// ArchiveDir is the directory whose folders are the buckets of exports and imports. Without it
	// exports and imports are refused.
	ArchiveDir string
	// StreamShards is the number of shards of a new stream. Default: 1.
	StreamShards int
	// Faults are the errors and delays to inject, for tests. Default: none. See [DB.SetFaults].
	Faults Faults
	// Disk is a disk in memory, for tests of power cuts and disk failures. Default: the file system
	// of the operating system.
	Disk *Disk
	// Logger receives errors and the progress of background work. Default: nothing is logged.
	Logger *slog.Logger

	fs vfs.FS // the file system; internal tests replace it
	// Tests turn off syncs or locks to show that other tests would notice.
	noSync, noLocks bool
}

// withDefaults returns the options with defaults. A database in memory has smaller caches.
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
	synced  bool     // whether calls wait for the disk
	failure failure

	hash     keyspace.Hasher
	parser   *expr.Parser
	locks    locks
	syncs    syncQueue
	tokens   tokens
	counters counters

	// The parts of the database that have work of their own. Each refers to the database.
	streams   streams
	archives  archives
	backfills backfills
	sweeper   sweeper
	phases    phases
	opening   opening
	faults    faulting
	requests  requests
	writer    writer
	catalog   catalog

	// schema guards the tables and their indexes. Every call holds it shared while it reads or
	// writes rows; only a change of a table holds it exclusively.
	schema sync.RWMutex
	tables map[string]*table
	nextID uint32

	weight []byte // makes the size of the store visible to the garbage collector

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

// formatVersion is the format that this package writes, and the newest that it reads.
const formatVersion = 1

// ErrNewerFormat reports a database that was written by a newer version of this package.
var ErrNewerFormat = errors.New("the database was written by a newer version")

// ErrOlderFormat reports a database that was written in an older format that is no longer
// supported.
var ErrOlderFormat = errors.New("the database was written by an earlier version, in a form that " +
	"is no longer supported")

// ErrClosed reports a call to a database after Close.
var ErrClosed = errors.New("the database is closed")

// Open opens the database in a directory, and creates it if it does not exist. Only one process at
// a time can open it; a second one gets an [InUseError] that names the first. Every write that
// returns is on the disk.
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
		_ = owner.release() // return the error of open, not of the cleanup
		return nil, openError(dir, err)
	}
	return db, nil
}

// OpenMemory opens a new, empty database in memory. It runs the same code on a file system in
// memory, for tests and for data that need not survive the process.
func OpenMemory(opts Options) (*DB, error) {
	opts = opts.withDefaults(true)
	opts.fs = vfs.NewMem()
	return open("memory", opts, nil)
}

// openError adds the directory to an error that does not name it.
func openError(dir string, err error) error {
	var failed *dynamo.StoreFailedError
	if errors.As(err, &failed) {
		return failed
	}
	return fmt.Errorf("open database %s: %w", dir, err)
}

// open opens the storage library. A database without an owner is in memory: no call waits for a
// sync.
func open(dir string, opts Options, owner *owner) (*DB, error) {
	db := newDB(dir, opts, owner)
	logged := true
	if owner != nil {
		err := db.opening.checkManifest()
		if err == nil {
			logged, err = db.opening.checkLogs()
		}
		if err != nil {
			return nil, err
		}
	}
	po := db.storeOptions()
	if err := db.openStore(po); err != nil {
		return nil, err
	}
	plan, err := db.faults.newPlan(opts.Faults)
	if err != nil {
		return nil, errors.Join(err, db.closeStore())
	}
	db.faults.plan.Store(plan)
	db.running, db.stop = context.WithCancel(context.Background())
	if err = db.load(); err == nil && owner != nil {
		err = db.opening.checkApart()
	}
	if err == nil && !logged {
		err = db.opening.beginLog()
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

// newDB returns a database that has not read its store yet. owner is nil for a database in memory,
// which never syncs.
func newDB(dir string, opts Options, owner *owner) *DB {
	db := &DB{
		opts: opts, dir: dir, owner: owner, synced: owner != nil && !opts.noSync,
		parser: expr.NewParser(), tables: map[string]*table{}, nextID: 1,
		streams: streams{byID: map[uint32]*stream{}, nextID: 1},
		archives: archives{
			exports: map[string]*dynamo.ExportDescription{},
			imports: map[string]*dynamo.ImportDescription{},
		},
		failure: failure{done: make(chan struct{})},
	}
	db.streams.db, db.archives.db, db.backfills.db, db.sweeper.db = db, db, db, db
	db.phases.db, db.phases.deleted = db, map[string]deletedTable{}
	db.requests.db, db.writer.db, db.catalog.db = db, db, db
	db.opening.db, db.faults.db, db.tokens.db, db.failure.db = db, db, db, db
	db.syncs.failed, db.streams.sequences.failed = db.failure.done, db.failure.done
	db.locks.off = opts.noLocks
	if owner != nil {
		db.weight = weight(opts.MemTableSize)
	}
	return db
}

// openStore opens the storage library. A panic or failure in it becomes the failure of the
// database.
func (db *DB) openStore(po *pebble.Options) (err error) {
	defer po.Cache.Unref()
	defer db.failure.guard(&err)
	db.store, err = pebble.Open(db.dir, po)
	if failed := db.Failure(); failed != nil {
		if err == nil {
			_ = db.closeStore() // its files are not changed after a failure
		}
		return failed
	}
	if err != nil && strings.Contains(err.Error(), "comparer name") {
		return fmt.Errorf("%w: %w", ErrOlderFormat, err)
	}
	return db.opening.failed(err)
}

func (db *DB) closeStore() (err error) {
	defer db.failure.guard(&err)
	return db.store.Close()
}

// storeOptions returns the options of the storage library.
func (db *DB) storeOptions() *pebble.Options {
	opts, owner := db.opts, db.owner
	// Pebble subtracts the memory tables from the cache. Without this addition a load of a million
	// payments lost half of the cache, and with it the blocks of filters.
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
		EventListener:               db.failure.events(),
	}
	if owner != nil {
		po.Lock = owner.lock
		db.failure.watch(po)
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
	// memTables is the number of memory tables that are added to the size of the cache.
	memTables = 2
	// tableSize is the size of the store's files, including the large rows that they refer to.
	// Pebble's default of 2 MB in the first level made thousands of files of a million payments.
	// With 64 MB an insert needs a fifth less CPU time.
	tableSize = 64 << 20
)

// rowsInPlace turns off the separation of values by suffix. Otherwise Pebble would treat the rows
// of a partition as versions of one key and move all but the first to separate blocks. Each read of
// a partition would have to fetch those, and writing them costs as much again.
func rowsInPlace([]byte) (policy pebble.SpanPolicy, end []byte, err error) {
	return pebble.SpanPolicy{DisableValueSeparationBySuffix: true}, nil, nil
}

// Limits for large values, which are stored in separate files.
const (
	// apartSize is the minimum size of a row that is stored separately. Such a row fills a block
	// anyway, so a read fetches as many blocks as before.
	apartSize = 4 << 10
	// apartDepth is the maximum number of overlapping value files that a table may refer to before
	// they are rewritten in order. Keys are hashed, so a table refers to nearly every file: with a
	// limit of 60, much of a million rows of 8 KB was written twice. The price is that the large
	// rows of a partition are not adjacent on the disk.
	apartDepth = 400
	// apartGarbage is the share of unused data above which a value file is rewritten, once it has
	// the age apartAge. Rows that change often are deleted before that age.
	apartGarbage = 0.3
	apartAge     = time.Minute
)

// largeApart stores large rows in files that a compaction refers to and does not copy. For 150,000
// rows of 8 KB, including the log, 4.7 bytes were written for each byte with copies and 3.1
// without.
func largeApart() pebble.ValueSeparationPolicy {
	return pebble.ValueSeparationPolicy{
		Enabled: true, MinimumSize: apartSize, MaxBlobReferenceDepth: apartDepth,
		RewriteMinimumAge: apartAge, TargetGarbageRatio: apartGarbage,
	}
}

// load reads the format, the hash seed and the tables. A new database gets a format and a seed.
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
	if err := db.catalog.loadTables(); err != nil {
		return err
	}
	if err := errors.Join(db.streams.load(), db.archives.load()); err != nil {
		return err
	}
	return db.catalog.dropCounts()
}

// initialise writes the format of a new database. The random seed of the partition hash gives each
// database its own order of a Scan.
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

// read returns a copy of a row that does not belong to a table, such as a descriptor.
func (db *DB) read(key []byte) (value []byte, ok bool, err error) {
	defer db.reading(&err)
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

// close ends background work and calls in progress, and closes the store.
func (db *DB) close() error {
	db.stop()
	db.waitForSchema()
	db.work.Wait()
	db.schema.Lock() // wait for calls in progress
	defer db.schema.Unlock()
	err := db.faults.plan.Swap(nil).close()
	if db.Failure() == nil {
		err = errors.Join(err, db.catalog.saveCounts())
	}
	return errors.Join(err, db.closeStore(), db.owner.release())
}

// waitForSchema returns when no table is being changed, so that no change starts further background
// work.
func (db *DB) waitForSchema() {
	db.schema.Lock()
	defer db.schema.Unlock()
}

// begin enters a call. It checks the context and that the database is usable, and locks the schema
// shared until end.
func (db *DB) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.usable(); err != nil {
		return err // checked before locking, because a call that is stuck may hold the lock
	}
	db.schema.RLock()
	if err := db.usable(); err != nil {
		db.schema.RUnlock()
		return err
	}
	return nil
}

// usable returns the error for calls to a database that is closed or has failed, or nil.
func (db *DB) usable() error {
	if db.closed.Load() {
		return ErrClosed
	}
	return db.Failure()
}

func (db *DB) end() { db.schema.RUnlock() }

// background starts the sweep of expired items, unfinished backfills, and the counting of items
// after a crash.
func (db *DB) background() {
	// The lock is needed because the first resumed backfill may already replace its table in the
	// map.
	db.schema.Lock()
	defer db.schema.Unlock()
	for _, t := range db.tables {
		db.backfills.resume(t)
	}
	if db.opts.SweepInterval > 0 {
		db.work.Go(db.sweeper.loop)
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

// Errorf logs an error unless it is a consequence of a failure that is already logged.
func (l storeLog) Errorf(format string, args ...any) {
	if l.db.Failure() == nil {
		l.db.opts.Logger.Error("store", "message", fmt.Sprintf(format, args...))
	}
}

// Fatalf is called by the storage library when it cannot continue, often while it holds its locks.
// It returns instead of ending the process, because the process belongs to the program. Each call
// to the database then returns an error.
func (l storeLog) Fatalf(format string, args ...any) {
	l.db.failure.backgroundError(fmt.Errorf(format, args...))
}
