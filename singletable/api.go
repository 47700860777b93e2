package singletable

import (
	"context"
	"errors"
	"iter"
)

var errUnfinished = errors.New("singletable: not available in this build")

// PatternOption is a part of a pattern's definition.
type PatternOption interface{ pattern() }

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
