package locations

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// TableNameDefault is the table's name unless Options or TableNameEnv name another one.
const TableNameDefault = "aolfclub-entities"

// TableNameEnv is the environment variable that names the table, as the seed of this design has it.
const TableNameEnv = "DYNAMODB_TABLE_NAME"

// Bounds of a directory.
const (
	// shardsMax bounds how many queries one list may become.
	shardsMax = 64
	// cacheTimeDefault is how long a list is served without a look at the table: a change by
	// another process shows at the latest then.
	cacheTimeDefault = time.Minute
	// directoryMax bounds the cached list, about 20 MB.
	directoryMax = 20_000
)

// Options are the choices of a directory. The zero value is the seed's own design.
type Options struct {
	// TableName is the name of the table; "" means the variable DYNAMODB_TABLE_NAME or, without
	// it, TableNameDefault.
	TableName string
	// Now is the clock; nil means the computer's.
	Now func() time.Time
	// NewID makes the ids of locations, which must be ULIDs; nil means random ones of the clock.
	NewID func() string

	// Shards puts a shard into the key, LOCATION#<shard>#<id>, and spreads the lists of indexes
	// over as many partitions, for more than 1,000 writes a second. 0 means the seed's own key. At
	// most 64. The first location stores it in the table, and from then on the stored number holds;
	// see [Directory.CheckLayout].
	Shards int
	// CreatedIndex adds the seed's GSI1, by itemType and createdAt: the list in order of creation.
	// Items that are there already are in it as soon as the table has the index.
	CreatedIndex bool
	// CodeIndex and NameIndex add sparse indexes with nothing but locations in them, GSI2 by code
	// and GSI3 by name: lists in that order, and by prefix. Reindex takes in items that were there
	// before.
	CodeIndex, NameIndex bool
	// CellIndex adds GSI4 by cells of the earth's surface, so that what is near is found without a
	// list of everything.
	CellIndex bool

	// CacheTime is how long the cached list is served; 0 means a minute.
	CacheTime time.Duration
}

// withDefaults returns complete options, or what is wrong with them.
func (o Options) withDefaults() (Options, error) {
	if o.TableName == "" {
		o.TableName = os.Getenv(TableNameEnv)
	}
	if o.TableName == "" {
		o.TableName = TableNameDefault
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		now := o.Now
		o.NewID = func() string { return newID(now()) }
	}
	if o.CacheTime == 0 {
		o.CacheTime = cacheTimeDefault
	}
	if o.Shards < 0 || o.Shards > shardsMax {
		return o, fmt.Errorf("locations: %d shards, outside 0 to %d", o.Shards, shardsMax)
	}
	if o.CacheTime < 0 {
		return o, fmt.Errorf("locations: a list cannot be kept for %s", o.CacheTime)
	}
	return o, nil
}

// Directory keeps locations in one table. It is safe for concurrent use, by several processes too.
type Directory struct {
	opts  Options
	store *singletable.Store
	model atomic.Value // of *model: see modelOf
	cache cache

	known    atomic.Int32 // what is known of the number of shards: see settleShards
	settling sync.Mutex
}

// New returns a directory on a store. It does no I/O: create the table first, see Directory.Table.
// The error names what is wrong with the options.
func New(store *singletable.Store, opts Options) (*Directory, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Directory{opts: opts, store: store}
	d.model.Store(newModel(opts, opts.Shards))
	return d, nil
}

// Table returns the design of the table, which can create it and compare it with one that exists.
func (d *Directory) Table() *singletable.Table { return modelOf(d).table }

// Model returns the table and all access patterns as a catalogue: to list, explain, run and check.
func (d *Directory) Model() *singletable.Model { return modelOf(d).catalogue() }
