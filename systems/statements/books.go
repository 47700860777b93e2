package statements

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// TableNameDefault is the table's name by default.
const TableNameDefault = "PuteaMatai"

// NoVersion is the version that a caller has seen of what another program wrote, which has none
// until it is changed here. Where a request names a version, 0 means any.
const NoVersion = math.MaxUint64

// isSeen reports whether something with a version is still what a caller has seen.
func isSeen(seen, version uint64) bool {
	return seen == 0 || seen == version || seen == NoVersion && version == 0
}

// Quote is the rate of two currencies that holds for a day.
type Quote struct {
	// Rate is how many units of the currency asked for one unit of the other is.
	Rate money.Decimal
	// Above / Below is the exact rate where Rate is cut to some digits, as a derived one is; both
	// are zero where Rate is exact.
	Above, Below money.Decimal
	// Of is the day whose rate it is, which is an earlier one at weekends.
	Of Date
}

// RateOf returns the rate of a pair on a day. ErrNoRate reports that there is none.
type RateOf func(ctx context.Context, from, to money.Currency, on Date) (Quote, error)

// Files is where the files that people upload are kept. Keys are those of the seed,
// "uploads/<user>/<account>/<name>". It is safe for concurrent use.
type Files interface {
	// Put keeps what a reader gives under a key, all or nothing.
	Put(ctx context.Context, key string, r io.Reader) error
	// Open returns a file for reading; ErrFileMissing if there is none.
	Open(ctx context.Context, key string) (File, error)
	// Delete removes a file. A file that is not there is no error.
	Delete(ctx context.Context, key string) error
}

// File is an open file of Files.
type File interface {
	io.ReaderAt
	io.Closer
	// Size is its length in bytes.
	Size() int64
}

// Options are the choices of Books.
type Options struct {
	// TableName is the name of the table; "" means TableNameDefault.
	TableName string
	// Files keeps uploaded files. Without it nothing can be uploaded.
	Files Files
	// Quota bounds the uploaded files of each user.
	Quota Quota
	// Rate returns exchange rates. Without it nothing is converted to a home currency.
	Rate RateOf
	// Now is the clock; nil means the computer's.
	Now func() time.Time
	// NewID makes ids that no other process makes; nil means random ULIDs in lower case.
	NewID func() string
}

// Books keep everybody's statements in one table. They are safe for concurrent use, by several
// processes too.
type Books struct {
	opts  Options
	store *singletable.Store
	model any // a *model: see modelOf
}

// New returns books on a store. It does no I/O: create the table first, see Books.Model.
func New(store *singletable.Store, opts Options) (*Books, error) {
	if opts.TableName == "" {
		opts.TableName = TableNameDefault
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = func() string {
			return strings.ToLower(ulid.MustNew(ulid.Timestamp(opts.Now()), rand.Reader).String())
		}
	}
	opts.Quota = opts.Quota.withDefaults()
	b := &Books{opts: opts, store: store, model: newModel(opts.TableName)}
	if err := b.Model().Check().Err(); err != nil {
		return nil, fmt.Errorf("statements: %w", err)
	}
	return b, nil
}

// Model returns the table and all access patterns as a catalogue: to create, list, explain, run
// and check.
func (b *Books) Model() *singletable.Model { return b.model.(*model).catalogue() }

// Person is the part of the books that belongs to one user. Everything that it does stays within
// that user's keys.
type Person struct {
	books *Books
	id    string
}

// Person returns the part of a user, who is the subject of a token: 1 to UserMax bytes without
// control characters.
func (b *Books) Person(user string) (*Person, error) {
	if user == "" || len(user) > UserMax || strings.ContainsFunc(user, book.IsControl) {
		return nil, ErrInvalidUser
	}
	return &Person{books: b, id: user}, nil
}

// ID returns the user.
func (p *Person) ID() string { return p.id }

func (p *Person) store() *singletable.Store { return p.books.store }
func (p *Person) newID(kind string) string  { return kind + "-" + p.books.opts.NewID() }

// now is cut to what the table keeps of a time.
func (p *Person) now() time.Time { return p.books.opts.Now().UTC().Truncate(time.Millisecond) }

// newToken returns a token for one attempt to write. The store remembers tokens for all of its
// tables, so they are random with any maker of ids.
func newToken() string { return rand.Text() }
