package singletable

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// binding connects the parts of a key template with the inputs of a pattern.
type binding struct {
	k  *layout.KeyAttr
	in []int // the field of In for each part, -1 for none
}

// bind resolves all names of the definition.
func (c *patternCore) bind() {
	if c.indexName != "" {
		c.index = c.table.index(c.indexName)
		if c.index == nil {
			c.fault("there is no index %s in table %s", c.indexName, c.table.name)
			return
		}
	}
	c.keys = c.table.keys
	if c.index != nil {
		c.keys = c.index.keys
	}
	c.checkOptions()
	for _, m := range c.members {
		if m.table != c.table {
			c.fault("%s is in table %s, not %s", m.name, m.table.name, c.table.name)
			return
		}
		if len(m.problems) > 0 {
			return // the entity reports the error itself
		}
		if c.placementOf(m) == nil {
			c.fault("%s is not in index %s", m.name, c.indexName)
			return
		}
	}
	c.checkWhole()
	if c.rng != nil {
		c.bindRange()
	}
	if c.kind == kindScan {
		return
	}
	first := c.placementOf(c.members[0])
	c.hash = c.newBinding(first.Part)
	if first.Sort != nil {
		c.sort = c.newBinding(first.Sort)
	}
	if c.kind == kindCollection {
		c.bindCollection()
	}
	c.checkParts()
}

func (c *patternCore) checkOptions() {
	if c.consistent && c.index != nil && !c.index.local {
		c.fault("a global index cannot be read consistently")
	}
	if c.kind == kindLookup && (c.index != nil || c.rng != nil || c.descending) {
		c.fault("a lookup is by primary key alone")
	}
	if c.filterType != nil && c.filterType != c.inType {
		c.fault("FilterBy takes a %s, not a %s", c.filterType, c.inType)
	}
	for _, f := range c.filters {
		if err := f.firstErr(); err != nil {
			c.fault("filter: %v", err)
		}
	}
	if c.live && c.table.ttl == "" {
		c.fault("Live: table %s has no expiry", c.table.name)
	}
	if c.callsMax < 1 || c.segments < 1 {
		c.fault("CallsMax and Segments are at least 1")
	}
	if c.parallel < 1 {
		c.fault("Parallel is at least 1")
	}
	if c.hydrate && (c.index == nil || c.kind == kindCollection) {
		c.fault("Hydrate is for queries of one entity in an index")
	}
}

func (c *patternCore) newBinding(k *layout.KeyAttr) *binding {
	b := &binding{k: k, in: make([]int, len(k.Template.Parts))}
	for i := range k.Template.Parts {
		p := &k.Template.Parts[i]
		b.in[i] = -1
		if !p.IsField() {
			continue
		}
		f := &k.Template.Shape.Fields[p.Index]
		for _, name := range [...]string{f.Attr, f.GoName} {
			if at, ok := c.in.Lookup(name); ok {
				b.in[i] = at
			}
		}
		if b.in[i] >= 0 && c.in.Fields[b.in[i]].Form == layout.FormNone {
			c.fault("input %s cannot be part of a key", c.in.Fields[b.in[i]].GoName)
		}
	}
	return b
}

// bindRange finds the inputs of the range.
func (c *patternCore) bindRange() {
	r := c.rng
	find := func(name string) int {
		if name == "" {
			return -1
		}
		i, ok := c.in.Lookup(name)
		if !ok || c.in.Fields[i].Form == layout.FormNone {
			c.fault("range of %s: there is no input %s", r.attr, name)
			return -1
		}
		return i
	}
	r.fromIn, r.toIn, r.prefixIn = find(r.from), find(r.to), find(r.prefix)
	i, ok := c.members[0].shape.Lookup(r.attr)
	if !ok {
		c.fault("range: %s has no attribute %s", c.members[0].name, r.attr)
		return
	}
	r.field = i
}

// bindCollection finds the common part of the members' keys: the partition key, and the text with
// which all sort keys begin.
func (c *patternCore) bindCollection() {
	if c.rng != nil && c.rng.prefix == "" {
		c.fault("a collection has no range; use a query of one entity")
	}
	c.prefix = c.sortPrefix(c.members[0])
	for _, m := range c.members[1:] {
		pl := c.placementOf(m)
		if got, want := skeleton(pl.Part.Template), skeleton(c.hash.k.Template); got != want {
			c.fault("%s and %s do not share a partition: %q and %q", c.members[0].name, m.name,
				c.hash.k.Template.Text, pl.Part.Template.Text)
		}
		c.prefix = commonPrefix(c.prefix, c.sortPrefix(m))
	}
	c.sort = nil
}

func (c *patternCore) sortPrefix(m *core) string {
	if pl := c.placementOf(m); pl.Sort != nil {
		return pl.Sort.Template.LiteralPrefix()
	}
	return ""
}

// skeleton returns a template without the names of its fields.
func skeleton(t *layout.Template) string {
	var b strings.Builder
	for i := range t.Parts {
		p := &t.Parts[i]
		if !p.IsField() {
			b.WriteString(p.Literal)
			continue
		}
		fmt.Fprintf(&b, "<%s(%s)>", p.Format.Name, p.Arg)
	}
	return b.String()
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// checkParts checks that the inputs determine enough of the keys.
func (c *patternCore) checkParts() {
	for i, in := range c.hash.in {
		p := &c.hash.k.Template.Parts[i]
		if !p.IsField() || in >= 0 || p.Ring != nil {
			continue
		}
		if c.rng != nil && c.rng.prefix == "" && p.Index == c.rng.field && p.Format.Grain > 0 {
			c.rng.inHash = true
			continue
		}
		c.fault("no input gives part %s of the partition key", p.Source())
	}
	if c.kind == kindLookup && c.sort != nil {
		for i, in := range c.sort.in {
			if p := &c.sort.k.Template.Parts[i]; p.IsField() && in < 0 {
				c.fault("no input gives part %s of the sort key", p.Source())
			}
		}
	}
	if c.rng == nil || c.sort == nil {
		c.checkRangeUsed()
		return
	}
	open := slices.IndexFunc(c.sort.in, func(in int) bool { return in < 0 })
	for open >= 0 && open < len(c.sort.in) && !c.sort.k.Template.Parts[open].IsField() {
		next := slices.IndexFunc(c.sort.in[open+1:], func(in int) bool { return in < 0 })
		if next < 0 {
			open = len(c.sort.in)
			break
		}
		open += 1 + next
	}
	if open >= 0 && open < len(c.sort.in) && c.sort.k.Template.Parts[open].Index == c.rng.field {
		c.rng.inSort = true
		c.checkRangeOrder(&c.sort.k.Template.Parts[open], open == len(c.sort.in)-1)
	}
	c.checkRangeUsed()
}

func (c *patternCore) checkRangeUsed() {
	if r := c.rng; c.parallel > 1 && (r == nil || !r.inSort || !r.inHash) {
		c.fault("Parallel: a range must be over both the time buckets and the sort key")
	}
	if r := c.rng; r != nil && !r.inSort && !r.inHash {
		c.fault("range of %s: it is not the first part of the sort key that the inputs leave open",
			r.attr)
	}
}

func (c *patternCore) checkRangeOrder(p *layout.Piece, last bool) {
	if c.sort.k.Native >= 0 {
		return
	}
	order := p.Format.Order
	if last {
		order = p.Format.OrderLast
	}
	if order == 0 && c.rng.prefix == "" {
		c.fault("range of %s: the text of %s does not sort as its values do; use a fixed-width "+
			"format", c.rng.attr, p.Source())
	}
	if c.rng.prefix != "" && !strings.HasPrefix(p.Format.Name, "text") &&
		p.Format.Name != "plain" && p.Format.Name != "lower" && p.Format.Name != "upper" &&
		p.Format.Grain == 0 {
		c.fault("prefix of %s: %s is not text", c.rng.attr, p.Source())
	}
}

// MissingInputError reports a pattern that was called without a required input.
type MissingInputError struct {
	Pattern, Input string
}

// Error names the input.
func (e *MissingInputError) Error() string {
	return fmt.Sprintf("pattern %s needs the input %s", e.Pattern, e.Input)
}

// input reads an input for a field of the entity.
func (c *patternCore) input(in int, p unsafe.Pointer, f *layout.Field) (layout.Scalar, error) {
	v, err := c.in.Fields[in].Scalar(p)
	if err != nil || v.Missing {
		return v, err
	}
	v, err = v.Convert(f.Form)
	if err != nil {
		err = fmt.Errorf("pattern %s: input %s: %w", c.name, c.in.Fields[in].GoName, err)
	}
	return v, err
}

// rangeEnds are the ends of a range as scalars of the field; an open end is missing.
type rangeEnds struct {
	from, to layout.Scalar
}

func (c *patternCore) ends(p unsafe.Pointer) (e rangeEnds, err error) {
	e.from.Missing, e.to.Missing = true, true
	if c.rng == nil {
		return e, nil
	}
	f := &c.members[0].shape.Fields[c.rng.field]
	if c.rng.fromIn >= 0 {
		if e.from, err = c.input(c.rng.fromIn, p, f); err != nil {
			return e, err
		}
	}
	if c.rng.toIn >= 0 {
		e.to, err = c.input(c.rng.toIn, p, f)
	}
	return e, err
}

// instants returns the ends as times, zero if they are open or not times. The end is exclusive.
func (e rangeEnds) instants(closed bool) (from, to time.Time) {
	if !e.from.Missing {
		from, _ = e.from.Instant()
	}
	if !e.to.Missing {
		to, _ = e.to.Instant()
		if closed {
			to = to.Add(1)
		}
	}
	return from, to
}
