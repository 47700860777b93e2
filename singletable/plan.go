package singletable

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Plan says what an operation will do before it does it: the exact requests, how many calls, and
// the capacity units they take.
type Plan struct {
	// Name is the pattern's, or the verb and the entity's.
	Name     string
	Requests []Request
	// Calls is the number of calls; retries are not counted.
	Calls Span
	// Read and Write are capacity units.
	Read, Write Span
	// Notes say what the figures assume and what to watch.
	Notes []string
}

// Span is the least, the typical and the greatest value of something. The greatest is for items of
// the greatest size there is; it bounds what can happen, and seldom does.
type Span struct {
	Least, Typical, Most float64
}

// String shows one number where all three agree.
func (s Span) String() string {
	if s.Least == s.Most {
		return number(s.Least)
	}
	return number(s.Least) + " to " + number(s.Most) + ", typically " + number(s.Typical)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (s Span) plus(o Span) Span {
	return Span{s.Least + o.Least, s.Typical + o.Typical, s.Most + o.Most}
}

func exactly(f float64) Span { return Span{f, f, f} }

// Request is one call, or one action of a transaction, as the store gets it.
type Request struct {
	// Operation is the store's name for it, such as "Query" or, for an action of a transaction,
	// "Put".
	Operation    string
	Table, Index string
	// Key is the item of a read, update, deletion or check, Item the item of a put.
	Key  dynamo.Key
	Item dynamo.Item
	// The expressions, with their placeholders in Names and Values.
	KeyCondition, Filter, Update, Condition string
	Names                                   map[string]string
	Values                                  map[string]dynamo.Value
	Limit                                   int
	Descending, Consistent                  bool
	// IndexKeys are the index keys that a write sets or removes.
	IndexKeys []IndexKey
}

// IndexKey is what a write does to an item's place in an index.
type IndexKey struct {
	Index string
	// Key holds the attributes that are written; nil when the item is taken out of the index, or
	// is not in it.
	Key dynamo.Item
}

// String shows the plan in lines of text.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.Name)
	for i, r := range p.Requests {
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.ReplaceAll(r.String(), "\n", "\n   "))
	}
	fmt.Fprintf(&b, "calls: %s\n", p.Calls)
	if p.Read != (Span{}) {
		fmt.Fprintf(&b, "read units: %s\n", p.Read)
	}
	if p.Write != (Span{}) {
		fmt.Fprintf(&b, "write units: %s\n", p.Write)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

// String shows the request with its placeholders filled in.
func (r Request) String() string {
	var b strings.Builder
	b.WriteString(r.Operation + " " + r.Table)
	if r.Index != "" {
		b.WriteString(" index " + r.Index)
	}
	if r.Key != nil {
		b.WriteString(" " + keyText(r.Key))
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s: %s", name, r.filled(text))
		}
	}
	if r.Item != nil {
		line("item", r.Item.String())
	}
	line("where", r.KeyCondition)
	line("filter", r.Filter)
	line("update", r.Update)
	line("if", r.Condition)
	if r.Descending {
		b.WriteString("\norder: descending")
	}
	if r.Limit > 0 {
		fmt.Fprintf(&b, "\nlimit: %d", r.Limit)
	}
	if r.Consistent {
		b.WriteString("\nconsistent")
	}
	for _, x := range r.IndexKeys {
		if x.Key == nil {
			fmt.Fprintf(&b, "\nindex %s: not in it", x.Index)
			continue
		}
		fmt.Fprintf(&b, "\nindex %s: %s", x.Index, x.Key)
	}
	return b.String()
}

// filled replaces placeholders by what they stand for, longest first, as one may begin with
// another.
func (r Request) filled(text string) string {
	var pairs []string
	byLength := func(a, b string) int { return len(b) - len(a) }
	for _, ph := range slices.SortedFunc(maps.Keys(r.Names), byLength) {
		pairs = append(pairs, ph, r.Names[ph])
	}
	for _, ph := range slices.SortedFunc(maps.Keys(r.Values), byLength) {
		pairs = append(pairs, ph, strings.ReplaceAll(r.Values[ph].String(), `\U0010ffff`, "…"))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func (r *Request) fill(ph dynamo.Expressions) {
	r.Names, r.Values = ph.ExpressionAttributeNames, ph.ExpressionAttributeValues
}

// typicalDefault is the size that plans assume of an item of which nothing is said, in bytes.
const typicalDefault = 512

func (c *core) typicalSize() int {
	if c.typical > 0 {
		return c.typical
	}
	return typicalDefault
}

// pageUnitsMax is what one call can read at the most: a page of 1 MB, read consistently.
func pageUnitsMax(consistent bool) float64 {
	return dynamo.ReadUnits(dynamo.PageSizeMax, consistent)
}

// PlanGet says what Get does.
func (e *Entity[T]) PlanGet(at T, opts ...ReadOption) (Plan, error) {
	key, err := e.Key(at)
	if err != nil {
		return Plan{}, err
	}
	return e.c.planGet("get "+e.c.name, key, readOptionsOf(opts)), nil
}

func (c *core) planGet(name string, key dynamo.Key, o readOptions) Plan {
	return Plan{Name: name, Calls: exactly(1),
		Requests: []Request{{Operation: "GetItem", Table: c.table.name, Key: key,
			Consistent: o.consistent}},
		Read: Span{dynamo.ReadUnits(0, o.consistent),
			dynamo.ReadUnits(c.typicalSize(), o.consistent),
			dynamo.ReadUnits(dynamo.ItemSizeMax, o.consistent)},
		Notes: []string{c.sizeNote()}}
}

func (c *core) sizeNote() string {
	return fmt.Sprintf("a typical %s has %d bytes", c.name, c.typicalSize())
}

// Plan says what Page does for a page of size rows, or, with size 0, what All does.
func (p *Pattern[In, Out]) Plan(s *Store, in In, size int) (Plan, error) {
	return p.c.plan(s, addressOf(&in), size)
}
