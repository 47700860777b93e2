package ledger

import (
	"time"

	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/singletable"
)

// TableNameDefault is the table's name unless Options say otherwise.
const TableNameDefault = "FinancialTransactions"

// TenantDefault is the scope of idempotency keys unless Options say otherwise.
const TenantDefault = "default"

// statusShardsMax bounds how many queries one question by status may become.
const statusShardsMax = 64

// Options are the choices of a ledger. The zero value is the seed's own design.
type Options struct {
	// TableName is the name of the table; "" means TableNameDefault.
	TableName string
	// Tenant is the scope of idempotency keys; "" means TenantDefault. The keys of another tenant
	// than that name other transactions, in the same table or in another.
	Tenant string
	// Now is the clock; nil means the computer's.
	Now func() time.Time
	// NewID makes random ids; nil means random UUIDs.
	NewID func() string
	// Zone is where the calendar days of statements and reconciliations begin; nil means UTC.
	Zone *time.Location
	// StatusShards spreads the transactions of one status over that many partitions of GSI1,
	// since one partition of DynamoDB takes 1,000 writes a second. 0 and 1 mean one partition with
	// exactly the key STATUS#completed; n means STATUS#completed#0 and on. It may be raised for a
	// table in use, never lowered. At most 64.
	StatusShards int
	// Unbatched turns off the joining of postings that share an account into one write.
	Unbatched bool
}

// Ledger posts to, and reads, the books in one table. It is safe for concurrent use, by several
// processes too.
type Ledger struct {
	opts  Options
	store *singletable.Store
}

// New returns a ledger on a store. It does no I/O: create the table of Model first.
func New(store *singletable.Store, opts Options) (*Ledger, error) {
	_ = uuid.Nil
	return nil, nil
}
