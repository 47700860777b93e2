package singletable

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// This file holds the signatures that the rest of the package fills in, one section at a time.

var errUnfinished = errors.New("singletable: not available in this build")

type problems []string

type entityInfo any

// --- entity.go ---

// Entity is a kind of item in a table, decoded to and from T, a struct without any key fields:
// attribute names come from `dynamodbav` tags. Make it with [NewEntity].
//
// Wherever a verb takes `at T` it looks only at the fields that the templates of the primary key
// name: Accounts.Get(ctx, store, Account{ID: "a1"}).
type Entity[T any] struct {
	table *Table
	name  string
}

// EntityOption is a part of an entity's definition.
type EntityOption func(*entityDef)

type entityDef struct{}

// OnOption is a part of what an entity does in an index.
type OnOption func(*placement)

type placement struct{}

// NewEntity defines an entity of a table. Mistakes are reported by [Model.Check] and by every
// verb.
func NewEntity[T any](t *Table, name string, opts ...EntityOption) *Entity[T] {
	return &Entity[T]{table: t, name: name}
}

// Primary gives the templates of the table's partition key and, unless the table has none, of its
// sort key.
func Primary(templates ...string) EntityOption { return nil }

// On places the entity in an index: the templates of the index's partition key and sort key ("" for
// an index without one). A missing part is an error unless the placement is sparse.
func On(index, partition, sort string, opts ...OnOption) EntityOption { return nil }

// Sparse leaves an item out of the index when a part of its key there is missing.
func Sparse() OnOption { return nil }

// SparseWhen leaves an item in the index only while the attribute has one of the values.
func SparseWhen(attribute string, values ...string) OnOption { return nil }

// Discriminator is the attribute, and its value, that tells the entity's items from others.
func Discriminator(attribute, value string) EntityOption { return nil }

// Versioned names a Number attribute, an int64 field of T, that Create sets to 1 and every Update
// and Replace raises by one. Replace demands the version of the value it is given.
func Versioned(attribute string) EntityOption { return nil }

// Typical says how large an item usually is, in bytes, for [Plan].
func Typical(bytes int) EntityOption { return nil }

// --- read.go ---

// ReadOption changes how a read is done.
type ReadOption interface{ read() }

// PatternOption is a part of a pattern's definition.
type PatternOption interface{ pattern() }

// ConsistentOption is what [Consistent] returns: a ReadOption and a PatternOption.
type ConsistentOption struct{}

func (ConsistentOption) read()    {}
func (ConsistentOption) pattern() {}

// Consistent reads what was written by every write that has returned. It costs twice as much and
// is not possible on a global index.
func Consistent() ConsistentOption { return ConsistentOption{} }

// Get reads the item at the key of `at` and reports whether there is one.
func (e *Entity[T]) Get(
	ctx context.Context, s *Store, at T, opts ...ReadOption,
) (v T, found bool, err error) {
	return v, false, errUnfinished
}

// GetMany reads the items at the given keys, any number of them, in batches of 100. The answer
// has one element for each key in the same order, nil where there is no item.
func (e *Entity[T]) GetMany(
	ctx context.Context, s *Store, at []T, opts ...ReadOption,
) ([]*T, error) {
	return nil, errUnfinished
}

// --- write.go ---

// Create writes an item that must not exist yet; otherwise errors.Is(err, ErrExists).
func (e *Entity[T]) Create(ctx context.Context, s *Store, v T, conds ...Cond[T]) error {
	return errUnfinished
}

// Put writes an item whether it exists or not.
func (e *Entity[T]) Put(ctx context.Context, s *Store, v T, conds ...Cond[T]) error {
	return errUnfinished
}

// Replace writes a whole item over one that exists and, for a versioned entity, still has the
// version of v: ErrMissing or ErrChanged otherwise. It returns v with its new version.
func (e *Entity[T]) Replace(ctx context.Context, s *Store, v T, conds ...Cond[T]) (T, error) {
	return v, errUnfinished
}

// Delete removes an item. A missing item is no error unless a condition demands it.
func (e *Entity[T]) Delete(ctx context.Context, s *Store, at T, conds ...Cond[T]) error {
	return errUnfinished
}

// Take removes an item and returns what it was.
func (e *Entity[T]) Take(
	ctx context.Context, s *Store, at T, conds ...Cond[T],
) (v T, found bool, err error) {
	return v, false, errUnfinished
}

// Update changes the item at the key of `at`, which must exist (see [Entity.Upsert]), and returns
// it as it is afterwards. Steps are changes ([Field.Set], [Field.Add], ...), conditions ([If],
// [Field.AtLeast], ...) and the options of the entity ([Entity.WithKnown], [Entity.ReadFirst]).
// Index keys that depend on a changed field are changed, or removed, in the same request.
func (e *Entity[T]) Update(
	ctx context.Context, s *Store, at T, steps ...Step[T],
) (T, error) {
	return at, errUnfinished
}

// PutAll writes any number of items in batches of 25, each on its own and without conditions.
func (e *Entity[T]) PutAll(ctx context.Context, s *Store, vs []T) error { return errUnfinished }

// CreateTx adds a Create to a transaction. The handle says which action it is when the
// transaction fails. A mistake, such as an empty part of a key, is kept and returned by Commit.
func (e *Entity[T]) CreateTx(tx *Tx, v T, conds ...Cond[T]) Action { return 0 }

// PutTx adds a Put to a transaction.
func (e *Entity[T]) PutTx(tx *Tx, v T, conds ...Cond[T]) Action { return 0 }

// ReplaceTx adds a Replace to a transaction.
func (e *Entity[T]) ReplaceTx(tx *Tx, v T, conds ...Cond[T]) Action { return 0 }

// DeleteTx adds a Delete to a transaction.
func (e *Entity[T]) DeleteTx(tx *Tx, at T, conds ...Cond[T]) Action { return 0 }

// UpdateTx adds an Update to a transaction. Two updates of one item become one.
func (e *Entity[T]) UpdateTx(tx *Tx, at T, steps ...Step[T]) Action { return 0 }

// CheckTx makes a transaction depend on conditions of an item it does not change; with no
// condition the item must exist.
func (e *Entity[T]) CheckTx(tx *Tx, at T, conds ...Cond[T]) Action { return 0 }

// MoveTx adds a change of primary key to a transaction: from is deleted, to is created. Both
// are whole items; conditions are about from, which must exist.
func (e *Entity[T]) MoveTx(tx *Tx, from, to T, conds ...Cond[T]) Action { return 0 }

// --- patch.go, cond.go ---

// Step is a part of an update of a T: a [Change], a [Cond] or an option of the entity.
type Step[T any] interface{ step(*T) }

// Change is one change of an item.
type Change[T any] struct{}

func (Change[T]) step(*T) {}

// Cond is a condition on an item as it is before the write.
type Cond[T any] struct{}

func (Cond[T]) step(*T) {}

// Field is a handle to one field of an entity, made once by [FieldOf].
type Field[T, V any] struct{}

// FieldOf makes a handle from a function that returns the address of the field:
//
//	var balance = singletable.FieldOf(accounts, func(a *Account) *money.Amount { return &a.Balance })
func FieldOf[T, V any](e *Entity[T], at func(*T) *V) Field[T, V] { return Field[T, V]{} }

// Set gives the field a value; an empty value removes an `omitempty` attribute.
func (f Field[T, V]) Set(v V) Change[T] { return Change[T]{} }

// SetIfAbsent gives the field a value unless it has one.
func (f Field[T, V]) SetIfAbsent(v V) Change[T] { return Change[T]{} }

// Add adds to a Number (an absent one counts as zero), or elements to a set.
func (f Field[T, V]) Add(v V) Change[T] { return Change[T]{} }

// Subtract subtracts from a Number, or takes elements out of a set.
func (f Field[T, V]) Subtract(v V) Change[T] { return Change[T]{} }

// Remove removes the attribute.
func (f Field[T, V]) Remove() Change[T] { return Change[T]{} }

// ListAppend appends the elements of v to a list, which is created where it is absent.
func (f Field[T, V]) ListAppend(v V) Change[T] { return Change[T]{} }

// Equals and the other comparisons are false for an absent attribute, but NotEquals.
func (f Field[T, V]) Equals(v V) Cond[T] { return Cond[T]{} }

// NotEquals is true for an absent attribute too.
func (f Field[T, V]) NotEquals(v V) Cond[T] { return Cond[T]{} }

// LessThan means field < v.
func (f Field[T, V]) LessThan(v V) Cond[T] { return Cond[T]{} }

// AtMost means field <= v.
func (f Field[T, V]) AtMost(v V) Cond[T] { return Cond[T]{} }

// MoreThan means field > v.
func (f Field[T, V]) MoreThan(v V) Cond[T] { return Cond[T]{} }

// AtLeast means field >= v.
func (f Field[T, V]) AtLeast(v V) Cond[T] { return Cond[T]{} }

// Within means low <= field <= high.
func (f Field[T, V]) Within(low, high V) Cond[T] { return Cond[T]{} }

// In means that the field has one of up to 100 values.
func (f Field[T, V]) In(vs ...V) Cond[T] { return Cond[T]{} }

// Exists means that the attribute is present.
func (f Field[T, V]) Exists() Cond[T] { return Cond[T]{} }

// Missing means that the attribute is absent.
func (f Field[T, V]) Missing() Cond[T] { return Cond[T]{} }

// BeginsWith means that the text starts with prefix.
func (f Field[T, V]) BeginsWith(prefix string) Cond[T] { return Cond[T]{} }

// If is [And], for conditions among the steps of an update.
func If[T any](conds ...Cond[T]) Cond[T] { return Cond[T]{} }

// And is true when all conditions are.
func And[T any](conds ...Cond[T]) Cond[T] { return Cond[T]{} }

// Or is true when one of the conditions is.
func Or[T any](conds ...Cond[T]) Cond[T] { return Cond[T]{} }

// Not is true when the condition is not.
func Not[T any](c Cond[T]) Cond[T] { return Cond[T]{} }

// Exists means that there is an item at the key.
func (e *Entity[T]) Exists() Cond[T] { return Cond[T]{} }

// Missing means that there is no item at the key.
func (e *Entity[T]) Missing() Cond[T] { return Cond[T]{} }

// AtVersion means that a versioned item has that version.
func (e *Entity[T]) AtVersion(version int64) Cond[T] { return Cond[T]{} }

// WithKnown gives an update the item as the caller knows it, from which the kit takes the fields
// that an index key needs besides those changed. The update demands that they are still so.
func (e *Entity[T]) WithKnown(v T) Step[T] { return Change[T]{} }

// ReadFirst lets an update read the item for the fields that an index key needs, and demands that
// they (or the version, if the entity has one) did not change in between; it tries again if they
// did. Not for transactions.
func (e *Entity[T]) ReadFirst() Step[T] { return Change[T]{} }

// Upsert lets an update create the item where there is none.
func (e *Entity[T]) Upsert() Step[T] { return Change[T]{} }

// Old decodes the item that a failure found, if it is one of the entity's.
func Old[T any](e *Entity[T], f Failure) (v T, ok bool) { return v, false }

// --- store.go ---

// Options of a [Store]. The zero value works.
type Options struct {
	// Now is the clock; time.Now by default.
	Now func() time.Time
	// CursorKey signs cursors. Without one a key is made up, and cursors end with the process.
	CursorKey []byte
	// Retry says how long to try again.
	Retry Retry
	// Fanout is how many shards a pattern reads at the same time; 8 by default.
	Fanout int
	// OnCall, if set, is told of every call to the store.
	OnCall func(Call)
}

// Retry says how throttled, conflicting and unprocessed calls are tried again. A failed condition
// never is. The zero value stands for the defaults.
type Retry struct {
	// Attempts bounds the number of tries; 0 means no bound but the time.
	Attempts int
	// Base and Max bound the wait before a retry, which doubles from one to the other and is
	// then drawn at random between zero and itself; 5 ms and 1 s by default.
	Base, Max time.Duration
	// Budget bounds the time when the context has no deadline; 10 s by default.
	Budget time.Duration
}

// Call describes one call to the store, after it.
type Call struct {
	Operation, Table, Index string
	// Pattern is the name of the pattern that made the call, if one did.
	Pattern     string
	Attempt     int
	Read, Write float64
	Took        time.Duration
	Err         error
}

// Store runs verbs, patterns and transactions on a database.
type Store struct {
	db   dynamo.DB
	opts Options
}

// NewStore returns a Store on db. It is safe for concurrent use.
func NewStore(db dynamo.DB, opts Options) *Store { return &Store{db: db, opts: opts} }

// --- tx.go ---

// Tx collects actions on items of any entities and tables, which [Tx.Commit] carries out all or
// none. Actions on one item are merged so that the outcome is what it would be one after the
// other: changes add up, conditions hold together. What cannot be merged is an error that names
// the attribute. A Tx is not safe for concurrent use and cannot be committed twice.
type Tx struct{}

// Action is the handle of an action in a Tx.
type Action int

// NewTx returns an empty transaction.
func (s *Store) NewTx() *Tx { return &Tx{} }

// SetToken makes Commit safe to repeat for ten minutes: a second Commit with the same token and
// the same actions does nothing and succeeds. Up to 36 characters.
func (tx *Tx) SetToken(token string) {}

// Err returns the first mistake so far.
func (tx *Tx) Err() error { return errUnfinished }

// Len returns the number of actions that Commit would send, at most 100.
func (tx *Tx) Len() int { return 0 }

// Size returns the size of the request in bytes, at most 4 MB.
func (tx *Tx) Size() int { return 0 }

// Join adds the actions of other, as if they had been added here after those that are, or
// returns an error (ErrTooLarge among them) and changes nothing. Handles of other's actions are
// offset by the number returned.
func (tx *Tx) Join(other *Tx) (offset Action, err error) { return 0, errUnfinished }

// Commit carries the actions out. An empty transaction does nothing. Conflicts and throttles are
// retried; what fails for good is a [*WriteError] whose failures name the actions.
func (tx *Tx) Commit(ctx context.Context) error { return errUnfinished }

// --- pattern.go ---

// Pattern is a named access pattern: from inputs, the fields of In, to Outs. Where a key template
// of the entity names a field, In has a field of the same name.
type Pattern[In, Out any] struct{}

// NewLookup defines the pattern that gets one item by its primary key.
func NewLookup[In, T any](e *Entity[T], name string, opts ...PatternOption) *Pattern[In, T] {
	return nil
}

// NewQuery defines a pattern that reads items of one entity from one partition of the table or,
// with [Index], of an index; from several partitions where the partition key has a shard or a
// time bucket that the inputs leave open.
func NewQuery[In, T any](e *Entity[T], name string, opts ...PatternOption) *Pattern[In, T] {
	return nil
}

// NewScan defines a pattern that reads a whole table and keeps the items of the entity.
func NewScan[In, T any](e *Entity[T], name string, opts ...PatternOption) *Pattern[In, T] {
	return nil
}

// NewCollection defines a pattern that reads items of several entities that share a partition, in
// one request: each item is given to the member that knows it.
func NewCollection[In, Out any](
	name string, members []Member[Out], opts ...PatternOption,
) *Pattern[In, Out] {
	return nil
}

// Member is one entity of a collection.
type Member[Out any] struct{}

// Into says how an item of the entity goes into an Out.
func Into[T, Out any](e *Entity[T], put func(*Out, T)) Member[Out] { return Member[Out]{} }

// Describe gives a pattern its sentence for the catalogue.
func Describe(sentence string) PatternOption { return nil }

// UseIndex reads from an index.
func UseIndex(name string) PatternOption { return nil }

// Between keeps rows whose attribute, a part of the sort key, lies in [from, to): the inputs named
// by from and to. An input that is zero leaves its end open.
func Between(attribute, from, to string) PatternOption { return nil }

// Through is Between with both ends included, for calendar days.
func Through(attribute, from, to string) PatternOption { return nil }

// BeginsWith keeps rows where the attribute, the next part of the sort key, begins with an input.
func BeginsWith(attribute, input string) PatternOption { return nil }

// Descending reads from the greatest sort key down.
func Descending() PatternOption { return nil }

// Page is a page of rows.
type Page[Out any] struct {
	Items []Out
	// Next continues after the last row; empty when there are no more.
	Next string
	// Prev goes back to the page before; empty on the first.
	Prev string
	// Resume continues after the last row even at the end, to ask later for what is new.
	Resume string
	// Calls and Read are the number of calls and the read units that the page took. Units are
	// known only under [WithMeter].
	Calls int
	Read  float64
}

// All returns every row. It yields an error once, at the end, if there is one.
func (p *Pattern[In, Out]) All(ctx context.Context, s *Store, in In) iter.Seq2[Out, error] {
	return nil
}

// Page returns up to size rows after cursor, the Next, Prev or Resume of another page of the same
// pattern with the same inputs, or "" for the first.
func (p *Pattern[In, Out]) Page(
	ctx context.Context, s *Store, in In, size int, cursor string,
) (Page[Out], error) {
	return Page[Out]{}, errUnfinished
}

// First returns the first row and whether there is one.
func (p *Pattern[In, Out]) First(
	ctx context.Context, s *Store, in In, opts ...ReadOption,
) (out Out, found bool, err error) {
	return out, false, errUnfinished
}

// Collect puts all rows of a collection into one Out and reports whether there were any.
func (p *Pattern[In, Out]) Collect(
	ctx context.Context, s *Store, in In, opts ...ReadOption,
) (out Out, found bool, err error) {
	return out, false, errUnfinished
}

// Count returns the number of rows.
func (p *Pattern[In, Out]) Count(ctx context.Context, s *Store, in In) (int, error) {
	return 0, errUnfinished
}
