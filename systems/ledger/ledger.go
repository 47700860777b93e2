package ledger

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/singletable"
)

// TableNameDefault is the default of Options.TableName.
const TableNameDefault = "FinancialTransactions"

// TenantDefault is the default of Options.Tenant.
const TenantDefault = "default"

// Bounds of a ledger.
const (
	// tenantMax keeps the tenant and the longest idempotency key within one key of the store.
	tenantMax = 64
	// merchantsMax bounds the merchants that are remembered, about 3 MB.
	merchantsMax = 10_000
)

// ClockSkewMax is how far the last instant of an account may be ahead of the clock. Servers whose
// clocks differ by less post to the same accounts, each leg at or after the one before it. A
// difference of more is a wrong clock, and postings are refused.
const ClockSkewMax = 5 * time.Second

// Options are the choices of a ledger. The zero value is the seed's own design.
type Options struct {
	// TableName is the name of the table; "" means TableNameDefault.
	TableName string
	// Tenant is the scope of idempotency keys; "" means TenantDefault. The keys of another tenant
	// name other transactions. It is the scope of nothing else: accounts, lists, statements and
	// reconciliations are those of the whole table. It consists of letters,
	// digits, dots, dashes and underscores.
	Tenant string
	// Now is the clock; nil means the computer's.
	Now func() time.Time
	// NewID makes random ids; nil means random UUIDs.
	NewID func() string
	// Zone is where the calendar days of statements and reconciliations begin; nil means UTC.
	Zone *time.Location
	// StatusShards spreads the transactions of one status over that many partitions of GSI1,
	// because one partition of DynamoDB takes 1,000 writes a second. 1 means one partition with
	// exactly the key STATUS#completed; n means STATUS#completed#0 and on, up to ShardsMax. The
	// first posting stores the number, and from then on the numbers in the table hold and
	// another one here is ignored; see [Ledger.Grow] and [Ledger.CheckLayout]. 0 means the stored
	// one, or 1.
	StatusShards int
	// LocationExists reports whether there is a location, deleted ones too; nil means that the
	// ids of locations are taken as they are.
	LocationExists func(ctx context.Context, id LocationID) (bool, error)
	// SoleWriter promises that no other program writes transactions to the table. Without it each
	// posting with a key of the caller's first looks in GSI2 for a transaction of another program
	// that holds the key, which takes half a read unit and one call. A transaction that another
	// program wrote a moment ago can be missed, because an index follows its table; one that this
	// package wrote never is.
	SoleWriter bool
	// Unbatched turns off the joining of postings that share an account into one write.
	Unbatched bool
}

// withDefaults returns complete options, or what is wrong with them.
func (o Options) withDefaults() (Options, error) {
	if o.TableName == "" {
		o.TableName = TableNameDefault
	}
	if o.Tenant == "" {
		o.Tenant = TenantDefault
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if len(o.Tenant) > tenantMax || !plainID(o.Tenant) || strings.HasPrefix(o.Tenant, "@") {
		return o, fmt.Errorf("ledger: tenant %q is not 1 to %d letters, digits or . _ : -",
			o.Tenant, tenantMax)
	}
	if o.StatusShards < 0 || o.StatusShards > ShardsMax {
		return o, fmt.Errorf("ledger: %d status shards, outside 1 to %d",
			o.StatusShards, ShardsMax)
	}
	return o, nil
}

// Ledger posts to, and reads, the books in one table. It is safe for concurrent use, by several
// processes too.
type Ledger struct {
	opts  Options
	store *singletable.Store
	lanes *lanes
	turns turns

	model     atomic.Value // of *model: see modelOf
	refresh   sync.Mutex
	refreshed atomic.Int64            // when the numbers of shards were read last, in nanoseconds
	found     atomic.Pointer[[]epoch] // see findShards

	drafts drafts

	merchants     sync.Map // MerchantID to Merchant
	merchantCount atomic.Int64
}

// New returns a ledger on a store. It does no I/O: create the table first, see Ledger.Table. The
// error names what is wrong with the options.
func New(store *singletable.Store, opts Options) (*Ledger, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Ledger{opts: opts, store: store, lanes: newLanes()}
	l.model.Store(newModel(opts, shardsItem{Epochs: []epoch{{Count: max(1, opts.StatusShards)}}}))
	return l, nil
}

// Table returns the design of the table, which can create it and compare it with one that exists.
func (l *Ledger) Table() *singletable.Table { return modelOf(l).table }

// Model returns the table and all access patterns as a catalogue: to list, explain, run and check.
func (l *Ledger) Model() *singletable.Model { return modelOf(l).catalogue() }
