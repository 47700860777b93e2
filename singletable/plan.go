package singletable

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Plan describes an operation before it is executed: the exact requests, the number of calls, and
// the capacity units.
type Plan struct {
	// Name is the name of the pattern, or the verb and the name of the entity.
	Name     string
	Requests []Request
	// Calls is the number of calls without retries.
	Calls Span
	// Read and Write are capacity units.
	Read, Write Span
	// Notes are the assumptions of the figures, and warnings.
	Notes []string
}

// Span is the minimum, typical and maximum value of a figure. The maximum assumes items of the
// maximum size. It is an upper bound that is seldom reached.
type Span struct {
	Least, Typical, Most float64
}

// String formats one number if all three are equal.
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

// Request is one call, or one action of a transaction, as it is sent to the store.
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

// IndexKey is the effect of a write on an item's place in an index.
type IndexKey struct {
	Index string
	// Key holds the written attributes. It is nil if the item is removed from the index or is not
	// in it.
	Key dynamo.Item
}

// String formats the plan as lines of text.
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

// String formats the request with its placeholders replaced.
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

// filled replaces placeholders by their names and values, the longest first, because one may be a
// prefix of another.
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

// typicalDefault is the assumed size in bytes of an item without a Typical option.
const typicalDefault = 512

func (c *core) typicalSize() int {
	if c.typical > 0 {
		return c.typical
	}
	return typicalDefault
}

// pageUnitsMax returns the maximum cost of one read: a page of 1 MB.
func pageUnitsMax(consistent bool) float64 {
	return dynamo.ReadUnits(dynamo.PageSizeMax, consistent)
}

// PlanGet returns the plan of Get.
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

// Plan returns the plan of Page for a page of size rows, or with size 0 that of All.
func (p *Pattern[In, Out]) Plan(s *Store, in In, size int) (Plan, error) {
	return p.c.plan(s, addressOf(&in), size)
}
