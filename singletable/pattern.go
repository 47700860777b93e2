package singletable

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// Pattern is a named access pattern: from inputs, the fields of the struct In, to rows of type Out.
// If a key template of the entity names a field, In can have a field of the same name (its Go name
// or its `dynamodbav` name), which is then the value of that part of the key.
//
// The partition key must be determined, except for shards and, in a range, time buckets: a pattern
// reads all of those that may have rows, merges shards in order and reads buckets one after
// another. Inputs fix parts of the sort key from the left; the first open part may have a range.
type Pattern[In, Out any] struct {
	c      *patternCore
	decode func(c *patternCore, item dynamo.Item, out *Out) (bool, error)
}

type patternKind uint8

const (
	kindLookup patternKind = iota
	kindQuery
	kindCollection
	kindScan
)

func (k patternKind) String() string {
	return [...]string{"lookup", "query", "collection", "scan"}[k]
}

// patternCore is the part of a pattern that does not depend on its Go types.
type patternCore struct {
	name, note string
	kind       patternKind
	table      *Table
	index      *Index // nil for the table itself
	keys       KeyNames
	members    []*core
	in         *layout.Shape
	hash, sort *binding // sort is nil without a sort key, or without a common template
	prefix     string   // of a collection: the common prefix of its sort keys
	rng        *rangeSpec
	descending bool
	consistent bool
	hydrate    bool
	live       bool
	segments   int
	filters    []*cond
	filterBy   []func(in unsafe.Pointer) *cond
	filterType reflect.Type
	callsMax   int
	parallel   int // buckets that are read in parallel
	rows       int // typical number of rows, for plans
	problems   []string
	indexName  string
	inType     reflect.Type
}

// rangeSpec is a range over one attribute: inputs from and to, or a prefix.
type rangeSpec struct {
	attr           string
	from, to       string
	prefix         string // the input with a prefix; from and to are then empty
	closed         bool   // to is included
	fromIn, toIn   int    // fields of In, -1 for none
	prefixIn       int
	field          int // of the first member
	inSort, inHash bool
}

// PatternOption is a part of a pattern's definition.
type PatternOption interface{ applyPattern(*patternCore) }

type patternOption func(*patternCore)

func (o patternOption) applyPattern(c *patternCore) { o(c) }

func (ConsistentOption) applyPattern(c *patternCore) { c.consistent = true }

// Describe sets the pattern's sentence for the catalogue.
func Describe(sentence string) PatternOption {
	return patternOption(func(c *patternCore) { c.note = sentence })
}

// UseIndex selects the index to read from.
func UseIndex(name string) PatternOption {
	return patternOption(func(c *patternCore) { c.indexName = name })
}

// Between keeps rows whose attribute is in [from, to): from is included and to is not. from and to
// are the names of inputs. An empty input leaves its end open. The attribute is the first part of
// the sort key that no input fixes, the time bucket of the partition key, or both.
//
// An input of type time.Time is empty if it is the zero time, which is also a valid instant: the
// first one of the year 1. If that instant must be possible, use the type *time.Time: then only nil
// leaves the end open.
func Between(attribute, from, to string) PatternOption {
	return patternOption(func(c *patternCore) {
		c.rng = &rangeSpec{attr: attribute, from: from, to: to}
	})
}

// Through is Between with to included, for calendar days.
func Through(attribute, from, to string) PatternOption {
	return patternOption(func(c *patternCore) {
		c.rng = &rangeSpec{attr: attribute, from: from, to: to, closed: true}
	})
}

// Since keeps rows whose attribute is at least the input.
func Since(attribute, from string) PatternOption { return Between(attribute, from, "") }

// Until keeps rows whose attribute is less than the input.
func Until(attribute, to string) PatternOption { return Between(attribute, "", to) }

// BeginsWith keeps rows whose attribute, the first part of the sort key that no input fixes, begins
// with the input.
func BeginsWith(attribute, input string) PatternOption {
	return patternOption(func(c *patternCore) {
		c.rng = &rangeSpec{attr: attribute, prefix: input}
	})
}

// Descending reads from the largest sort key down.
func Descending() PatternOption {
	return patternOption(func(c *patternCore) { c.descending = true })
}

// Filter keeps rows that satisfy a condition. The store also reads, and charges for, the other
// rows.
func Filter(p Predicate) PatternOption {
	return patternOption(func(c *patternCore) { c.filters = append(c.filters, p.condition()) })
}

// FilterBy is a Filter that depends on the inputs. A nil Predicate filters nothing.
func FilterBy[In any](f func(in In) Predicate) PatternOption {
	return patternOption(func(c *patternCore) {
		c.filterType = reflect.TypeFor[In]()
		c.filterBy = append(c.filterBy, func(p unsafe.Pointer) *cond {
			if pred := f(*(*In)(p)); pred != nil {
				return pred.condition()
			}
			return nil
		})
	})
}

// Live omits items that have expired but that the store has not deleted.
func Live() PatternOption { return patternOption(func(c *patternCore) { c.live = true }) }

// Hydrate reads the whole item for each row of an index that does not project everything.
func Hydrate() PatternOption { return patternOption(func(c *patternCore) { c.hydrate = true }) }

// CallsMax is the maximum number of calls to fill one page if a filter drops rows or time buckets
// are empty. Default: 20, and at least one for each shard. A page that reaches the maximum is
// short, and its Next continues.
func CallsMax(n int) PatternOption { return patternOption(func(c *patternCore) { c.callsMax = n }) }

// Parallel reads n time buckets concurrently and merges them, instead of one after another. A whole
// range is faster, but a page that one bucket could fill costs more. The rows must be sorted by the
// time of the buckets.
func Parallel(n int) PatternOption { return patternOption(func(c *patternCore) { c.parallel = n }) }

// Segments divides a scan into parts that are read in parallel.
func Segments(n int) PatternOption { return patternOption(func(c *patternCore) { c.segments = n }) }

// Rows sets the typical number of rows of the pattern, for plans.
func Rows(n int) PatternOption { return patternOption(func(c *patternCore) { c.rows = n }) }

// callsMaxDefault limits the cost of a request, and is far more than a person pages through.
const callsMaxDefault = 20

// NewLookup defines a pattern that returns one item by its primary key.
func NewLookup[In, T any](e *Entity[T], name string, opts ...PatternOption) *Pattern[In, T] {
	return newEntityPattern[In](kindLookup, e, name, opts)
}

// NewQuery defines a pattern that reads items of one entity.
func NewQuery[In, T any](e *Entity[T], name string, opts ...PatternOption) *Pattern[In, T] {
	return newEntityPattern[In](kindQuery, e, name, opts)
}

// NewScan defines a pattern that reads a whole table or index and keeps the items of the entity. It
// has no order, and its cost grows with the table.
func NewScan[In, T any](e *Entity[T], name string, opts ...PatternOption) *Pattern[In, T] {
	return newEntityPattern[In](kindScan, e, name, opts)
}

func newEntityPattern[In, T any](
	kind patternKind, e *Entity[T], name string, opts []PatternOption,
) *Pattern[In, T] {
	c := newPatternCore(kind, name, reflect.TypeFor[In](), []*core{e.c}, opts)
	return &Pattern[In, T]{c: c, decode: func(c *patternCore, item dynamo.Item, out *T) (bool,
		error) {
		if !e.c.owns(item) {
			return false, c.stranger(item)
		}
		return true, c.unmarshal(e.c, item, unsafe.Pointer(out))
	}}
}

// Member is one entity of a collection.
type Member[Out any] struct {
	c   *core
	put func(pc *patternCore, item dynamo.Item, out *Out) error
}

// Into defines how an item of the entity is stored in an Out.
func Into[T, Out any](e *Entity[T], put func(out *Out, v T)) Member[Out] {
	return Member[Out]{c: e.c, put: func(pc *patternCore, item dynamo.Item, out *Out) error {
		var v T
		if err := pc.unmarshal(e.c, item, unsafe.Pointer(&v)); err != nil {
			return err
		}
		put(out, v)
		return nil
	}}
}

// NewCollection defines a pattern that reads items of several entities with one partition key in
// one request. Each item is passed to the member that owns it; other items are ignored.
// [Pattern.Collect] puts all rows into one Out; All and Page return an Out for each.
func NewCollection[In, Out any](
	name string, members []Member[Out], opts ...PatternOption,
) *Pattern[In, Out] {
	cores := make([]*core, len(members))
	for i, m := range members {
		cores[i] = m.c
	}
	c := newPatternCore(kindCollection, name, reflect.TypeFor[In](), cores, opts)
	return &Pattern[In, Out]{c: c, decode: func(
		c *patternCore, item dynamo.Item, out *Out,
	) (bool, error) {
		for _, m := range members {
			if m.c.owns(item) {
				return true, m.put(c, item, out)
			}
		}
		return false, c.stranger(item)
	}}
}

func newPatternCore(
	kind patternKind, name string, in reflect.Type, members []*core, opts []PatternOption,
) *patternCore {
	c := &patternCore{kind: kind, name: name, members: members, in: layout.ShapeFor(in), inType: in,
		callsMax: callsMaxDefault, segments: 1, parallel: 1}
	c.problems = append(c.problems, c.in.Problems...)
	for _, opt := range opts {
		opt.applyPattern(c)
	}
	if len(members) == 0 {
		c.fault("a collection without members")
		return c
	}
	c.table = members[0].table
	c.bind()
	return c
}

func (c *patternCore) fault(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *patternCore) err() error {
	if len(c.problems) > 0 {
		return &ModelError{Subject: "pattern " + c.name, Problems: c.problems}
	}
	for _, m := range c.members {
		if err := m.err(); err != nil {
			return fmt.Errorf("pattern %s: %w", c.name, err)
		}
	}
	return nil
}

// unmarshal decodes an item, or a part of one if the index projects a part.
func (c *patternCore) unmarshal(e *core, item dynamo.Item, p unsafe.Pointer) error {
	if c.index != nil && c.index.projection.ProjectionType != dynamo.ProjectAll && !c.hydrate {
		if err := e.unmarshalSeen(item, p, c.projects); err != nil {
			return err
		}
		c.markPart(e, p)
		return nil
	}
	return e.unmarshal(item, p)
}

// placementOf returns a member's placement in the pattern's table or index.
func (c *patternCore) placementOf(m *core) *layout.Placement {
	if c.index == nil {
		return m.base
	}
	for _, pl := range m.on {
		if pl.Index == c.index.name {
			return pl
		}
	}
	return nil
}

// Name returns the pattern's name.
func (p *Pattern[In, Out]) Name() string { return p.c.name }

func (p *Pattern[In, Out]) core() *patternCore { return p.c }
