package payments

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// The default names of the tables.
const (
	TableNameDefault        = "PaymentScheduler"
	HistoryTableNameDefault = "TransactionHistory"
)

// Projection is what the index by status has of a payment.
type Projection string

// The projections. See [Lives] for what each costs.
const (
	// ProjectNarrow is all but the payment's data: lists need no second read, and an entry is
	// written with one unit, as keys alone are.
	ProjectNarrow Projection = "INCLUDE"
	// ProjectAll is the whole payment.
	ProjectAll Projection = "ALL"
	// ProjectKeys is keys alone; lists read the payments one by one.
	ProjectKeys Projection = "KEYS_ONLY"
)

func (p Projection) option() []singletable.IndexOption {
	switch p {
	case ProjectAll:
		return nil
	case ProjectKeys:
		return []singletable.IndexOption{singletable.KeysOnly()}
	}
	return []singletable.IndexOption{singletable.Include(narrow...)}
}

// rows is what a list by the index needs in addition.
func (p Projection) rows() singletable.PatternOption {
	if p == ProjectKeys {
		return singletable.Hydrate()
	}
	return singletable.Rows(listRows)
}

// listRows is how many rows plans of lists assume.
const listRows = 1000

// Retry is how often a payment is tried that may pass later, as for want of funds.
type Retry struct {
	// Attempts is how many claims there are at the most; 0 means AttemptsDefault.
	Attempts int
	// First is the wait after the first attempt, which doubles up to Last; zeros mean WaitFirst
	// and WaitLast.
	First, Last time.Duration
}

// The default of Retry. Eight attempts span about two hours, in which a salary may come in.
const (
	AttemptsDefault = 8
	WaitFirst       = time.Minute
	WaitLast        = time.Hour
)

// Bounds and defaults of a scheduler.
const (
	// ShardsDefault is what a million payments of 8 KB in half an hour need at the least, if the
	// index had all of each: 4,445 write units a second, of which one partition takes 1,000.
	ShardsDefault = 5
	// LeaseDefault is how long a claim lasts: much longer than any settlement takes.
	LeaseDefault = time.Minute
	// refreshTime is how old the known numbers of shards may be when a payment is written.
	refreshTime = 10 * time.Second
	// accountsMax bounds the accounts whose currency and zone are remembered, about 10 MB.
	accountsMax = 100_000
)

// Options are the choices of a scheduler. The zero value is the seed's design with a narrow index.
type Options struct {
	// TableName and HistoryTableName are the tables' names; "" means the defaults.
	TableName, HistoryTableName string
	// Shards is over how many partitions the index by status is spread at first; 0 means
	// ShardsDefault. The first payment that is written stores it, and from then on the numbers in
	// the table hold, and another one here is ignored; see [Scheduler.CheckLayout] and
	// [Scheduler.Grow].
	Shards int
	// Projection is what the index has of a payment; "" means ProjectNarrow. It is fixed when the
	// tables are created; see [Options.Fit].
	Projection Projection
	// Lease is how long a claim lasts before the payment may be claimed again; 0 means
	// LeaseDefault.
	Lease time.Duration
	// ShardLease is how long a shard is a worker's own before it must be renewed; 0 means
	// ShardLeaseDefault. Other workers wait so long for the shards of one that was killed.
	ShardLease time.Duration
	Retry      Retry
	// Alone promises that this process holds the store exclusively, so that no other one can have a
	// lease or a claim. The first run then releases those of earlier processes, without a wait.
	Alone bool
	// Now is the clock; nil means the computer's.
	Now func() time.Time
	// NewID makes random ids; nil means random UUIDs.
	NewID func() string
}

func (o Options) withDefaults() (Options, error) {
	if o.TableName == "" {
		o.TableName = TableNameDefault
	}
	if o.HistoryTableName == "" {
		o.HistoryTableName = HistoryTableNameDefault
	}
	if o.Projection == "" {
		o.Projection = ProjectNarrow
	}
	if o.Lease == 0 {
		o.Lease = LeaseDefault
	}
	if o.ShardLease == 0 {
		o.ShardLease = ShardLeaseDefault
	}
	if o.Retry.Attempts == 0 {
		o.Retry.Attempts = AttemptsDefault
	}
	if o.Retry.First == 0 {
		o.Retry.First = WaitFirst
	}
	if o.Retry.Last == 0 {
		o.Retry.Last = WaitLast
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	var wrong []error
	if o.TableName == o.HistoryTableName {
		wrong = append(wrong, errors.New("both tables have the same name"))
	}
	if o.Shards < 0 || o.Shards > ShardsMax {
		wrong = append(wrong, fmt.Errorf("shards is %d, it must be 1 to %d", o.Shards, ShardsMax))
	}
	switch o.Projection {
	case ProjectNarrow, ProjectAll, ProjectKeys:
	default:
		wrong = append(wrong, fmt.Errorf("projection is %q, it must be %s, %s or %s", o.Projection,
			ProjectNarrow, ProjectAll, ProjectKeys))
	}
	if o.Lease < 0 || o.ShardLease < 0 || o.Retry.Attempts < 0 || o.Retry.First < 0 ||
		o.Retry.Last < o.Retry.First {
		wrong = append(wrong, errors.New("times and attempts must not be negative, nor the last "+
			"wait shorter than the first"))
	}
	if len(wrong) > 0 {
		return o, fmt.Errorf("payments: %w", errors.Join(wrong...))
	}
	return o, nil
}

// firstShards returns over how many partitions the index by status is spread if the table does not
// store it.
func (o Options) firstShards() int {
	if o.Shards == 0 {
		return ShardsDefault
	}
	return o.Shards
}

// Scheduler keeps scheduled payments and settles them through a ledger on the same store. It is
// safe for concurrent use, by several processes too.
type Scheduler struct {
	opts  Options
	store *singletable.Store
	books *ledger.Ledger

	model     atomic.Value // of *model: see modelOf
	refreshed atomic.Int64 // when the epochs were read last, in nanoseconds
	refresh   sync.Mutex
	found     atomic.Pointer[int] // what findShards has found

	alone alone

	accounts     sync.Map // ledger.AccountID to account
	accountCount atomic.Int64
}

// account is what of an account never changes.
type account struct {
	currency money.Currency
	zone     *time.Location
}

// zoneName returns the name that a payment has of the zone: "" for UTC.
func (a account) zoneName() string {
	if a.zone == time.UTC {
		return ""
	}
	return a.zone.String()
}

// New returns a scheduler on the store of a ledger. It does no I/O: create the tables first, see
// Scheduler.Model. The error names what is wrong with the options.
func New(store *singletable.Store, books *ledger.Ledger, opts Options) (*Scheduler, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Scheduler{opts: opts, store: store, books: books}
	s.alone.since = instant(opts.Now())
	s.model.Store(newModel(opts, []epoch{{Count: opts.firstShards()}}))
	return s, nil
}

// Model returns the tables and all access patterns as a catalogue.
func (s *Scheduler) Model() *singletable.Model { return modelOf(s).catalogue() }
