package singletable

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// SourcesMax is the maximum number of partitions that one pattern reads: shards times buckets.
const SourcesMax = 1000

// query is a pattern with its inputs: the partitions to read and the conditions for each.
type query struct {
	c      *patternCore
	stages [][]*source // read in the pattern's order; the sources of one are merged
	empty  bool        // no row can match
	back   bool        // the store reads in descending order
	inputs []byte      // the inputs to which cursors are bound
	key    dynamo.Key  // of a lookup, whose filter is applied here, because a Get has none
	filter *cond
}

// source is one partition, or one segment of a scan.
type source struct {
	hash    dynamo.Value
	label   string // its name in errors
	segment int
	keyCond string
	filter  string
	ph      dynamo.Expressions
}

// prepare returns the query for the inputs at p.
func (c *patternCore) prepare(s *Store, p unsafe.Pointer) (*query, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	q := &query{c: c, back: c.descending}
	var err error
	if q.inputs, err = c.inputBytes(p); err != nil {
		return nil, err
	}
	filter, err := c.filter(s, p)
	if err != nil {
		return nil, err
	}
	if c.kind == kindLookup {
		q.filter = filter
		return q, c.prepareLookup(q, p)
	}
	if c.kind == kindScan {
		c.prepareScan(q, filter)
		return q, nil
	}
	ends, err := c.ends(p)
	if err != nil {
		return nil, err
	}
	sc, err := c.sortCondition(p, ends)
	if err != nil {
		return nil, err
	}
	q.empty = sc.empty
	if filter, err = c.rangeFilter(filter, ends); err != nil {
		return nil, err
	}
	stages, err := c.partitions(p, ends)
	if err != nil {
		return nil, err
	}
	for _, hashes := range stages {
		stage := make([]*source, len(hashes))
		for i, h := range hashes {
			stage[i] = c.newSource(h, sc, filter)
		}
		q.stages = append(q.stages, stage)
	}
	if c.bucketsDescend() {
		slices.Reverse(q.stages)
	}
	if c.parallel > 1 {
		q.stages = joinStages(q.stages, c.parallel)
	}
	return q, nil
}

// joinStages joins each n consecutive stages into one.
func joinStages(stages [][]*source, n int) [][]*source {
	var wide [][]*source
	for some := range slices.Chunk(stages, n) {
		wide = append(wide, slices.Concat(some...))
	}
	return wide
}

// inputBytes encodes the inputs. Equal inputs have equal bytes.
func (c *patternCore) inputBytes(p unsafe.Pointer) ([]byte, error) {
	item := dynamo.Item{}
	if err := c.in.EncodeInto(item, p); err != nil {
		return nil, fmt.Errorf("pattern %s: %w", c.name, err)
	}
	return []byte(item.String()), nil
}

// bucketsDescend reports whether rows are read from the latest time to the earliest.
func (c *patternCore) bucketsDescend() bool {
	down := c.descending
	if c.sort != nil && c.rng != nil && c.rng.inSort {
		for i := range c.sort.k.Template.Parts {
			p := &c.sort.k.Template.Parts[i]
			if p.IsField() && p.Index == c.rng.field && p.Format.Order < 0 {
				down = !down
			}
		}
	}
	return down
}

func (c *patternCore) prepareLookup(q *query, p unsafe.Pointer) error {
	q.key = dynamo.Key{}
	for _, b := range [...]*binding{c.hash, c.sort} {
		if b == nil {
			continue
		}
		v, err := c.wholeKey(b, p)
		if err != nil {
			return err
		}
		q.key[b.k.Attr] = v
	}
	return nil
}

// lookUp reads the item of a lookup. It returns nil if the item does not exist or the filter drops
// it.
func (q *query) lookUp(ctx context.Context, s *Store) (dynamo.Item, error) {
	item, err := q.c.members[0].getItem(ctx, s, q.key, readOptions{q.c.consistent})
	if item != nil && q.filter != nil && !q.filter.holds(item) {
		item = nil
	}
	return item, err
}

// wholeKey formats a key attribute all of whose parts are inputs.
func (c *patternCore) wholeKey(b *binding, p unsafe.Pointer) (dynamo.Value, error) {
	if b.k.Native >= 0 {
		f := &b.k.Template.Shape.Fields[b.k.Native]
		v, err := c.input(b.in[0], p, f)
		if err == nil && v.Missing {
			err = &MissingInputError{c.name, f.GoName}
		}
		if err != nil {
			return dynamo.Value{}, err
		}
		return f.FromScalar(v, c.members[0].zero())
	}
	texts, err := c.texts(b, p, rangeEnds{})
	if err != nil {
		return dynamo.Value{}, err
	}
	return dynamo.S(texts[0][0]), nil
}

// partitions returns the partition keys to read, grouped by bucket.
func (c *patternCore) partitions(p unsafe.Pointer, e rangeEnds) ([][]dynamo.Value, error) {
	if c.hash.k.Native >= 0 {
		v, err := c.wholeKey(c.hash, p)
		return [][]dynamo.Value{{v}}, err
	}
	texts, err := c.texts(c.hash, p, e)
	if err != nil {
		return nil, err
	}
	out := make([][]dynamo.Value, len(texts))
	n := 0
	for i, stage := range texts {
		for _, text := range stage {
			out[i] = append(out[i], dynamo.S(text))
		}
		n += len(stage)
	}
	if n > SourcesMax {
		return nil,
			fmt.Errorf("pattern %s would read %d partitions, more than %d: narrow the range",
				c.name, n, SourcesMax)
	}
	return out, nil
}

// texts formats a key for every bucket and every shard that the inputs leave open.
func (c *patternCore) texts(b *binding, p unsafe.Pointer, e rangeEnds) ([][]string, error) {
	stages := [][]string{{""}}
	each := func(appendTo func(text string) (string, error)) error {
		for i := range stages {
			for j := range stages[i] {
				text, err := appendTo(stages[i][j])
				if err != nil {
					return err
				}
				stages[i][j] = text
			}
		}
		return nil
	}
	for i := range b.k.Template.Parts {
		part := &b.k.Template.Parts[i]
		var err error
		switch {
		case !part.IsField():
			err = each(func(text string) (string, error) { return text + part.Literal, nil })
		case part.Ring != nil:
			var labels []string
			if labels, err = c.shardLabels(b, i, p, e); err == nil {
				stages = spread(stages, labels, false)
			}
		case b.in[i] >= 0:
			var v layout.Scalar
			v, err = c.input(b.in[i], p, &b.k.Template.Shape.Fields[part.Index])
			if err == nil && v.Missing {
				err = &MissingInputError{c.name, c.in.Fields[b.in[i]].GoName}
			}
			if err == nil {
				err = each(func(text string) (string, error) {
					out, err := part.AppendValue([]byte(text), v)
					return string(out), err
				})
			}
		default:
			var buckets []string
			if buckets, err = c.buckets(part, e); err == nil {
				stages = spread(stages, buckets, true)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return stages, nil
}

// spread combines keys with the texts of one part: as more stages, or as more keys of each stage.
func spread(stages [][]string, texts []string, apart bool) [][]string {
	var out [][]string
	if apart {
		for _, text := range texts {
			for _, stage := range stages {
				out = append(out, appendEach(nil, stage, text))
			}
		}
		return out
	}
	for _, stage := range stages {
		var wide []string
		for _, text := range texts {
			wide = appendEach(wide, stage, text)
		}
		out = append(out, wide)
	}
	return out
}

func appendEach(dst, keys []string, text string) []string {
	for _, k := range keys {
		dst = append(dst, k+text)
	}
	return dst
}

// shardLabels returns the shards to read: all that may have rows of the range or, if the hashed
// field is an input, only those of that field.
func (c *patternCore) shardLabels(
	b *binding, i int, p unsafe.Pointer, e rangeEnds,
) ([]string, error) {
	part := &b.k.Template.Parts[i]
	r := part.Ring
	var from, to time.Time
	if c.rng != nil && r.ByIndex >= 0 && c.rng.field == r.ByIndex {
		from, to = e.instants(c.rng.closed)
	}
	if b.in[i] >= 0 {
		v, err := c.input(b.in[i], p, &b.k.Template.Shape.Fields[part.Index])
		if err != nil {
			return nil, err
		}
		if !v.Missing {
			return r.LabelsOf(layout.AppendText(nil, v), from, to), nil
		}
	}
	return r.Labels(from, to), nil
}

// buckets returns the texts of the time buckets of the range, the earliest first.
func (c *patternCore) buckets(part *layout.Piece, e rangeEnds) ([]string, error) {
	for _, end := range [...]struct {
		v    layout.Scalar
		name string
	}{{e.from, c.rng.from}, {e.to, c.rng.to}} {
		if end.v.Missing {
			name := end.name
			if name == "" {
				name = "for the other end of the range of " + c.rng.attr
			}
			return nil, &MissingInputError{c.name, name}
		}
	}
	from, to := e.instants(c.rng.closed)
	g := part.Format.Grain
	var out []string
	for t := g.Truncate(from); t.Before(to); t = g.Next(t) {
		text, err := part.Format.Append(
			nil,
			layout.Scalar{Form: layout.FormTime, Time: t},
			part.Escape,
		)
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
		if len(out) > SourcesMax {
			return nil,
				fmt.Errorf("pattern %s: more than %d buckets from %s to %s: narrow the range",
					c.name, SourcesMax, from.Format(time.RFC3339), to.Format(time.RFC3339))
		}
	}
	return out, nil
}

// newSource formats the conditions for one partition.
func (c *patternCore) newSource(hash dynamo.Value, sc sortCond, filter *cond) *source {
	x := expressions{known: c.members[0].names}
	src := &source{hash: hash, label: hash.S()}
	src.keyCond = x.name(c.keys.Partition) + " = " + x.value(c.keys.Partition, hash)
	if sc.op != opTrue {
		n := &cond{op: sc.op, attr: c.keys.Sort, vals: []dynamo.Value{sc.a}}
		if sc.op == opWithin {
			n.vals = append(n.vals, sc.b)
		}
		src.keyCond += " AND " + x.condition(n)
	}
	src.filter = x.condition(filter)
	src.ph = x.placeholders()
	return src
}

// filter returns the conditions on rows other than those on keys.
func (c *patternCore) filter(s *Store, p unsafe.Pointer) (*cond, error) {
	conds := slices.Clone(c.filters)
	for _, f := range c.filterBy {
		conds = append(conds, f(p))
	}
	if c.live {
		attr := c.table.ttl
		conds = append(conds, &cond{op: opOr, kids: []*cond{
			{op: opMissing, attr: attr},
			{op: opMore, attr: attr, vals: []dynamo.Value{dynamo.Int(s.opts.Now().Unix())}}}})
	}
	n := all(conds)
	if err := n.firstErr(); err != nil || n == nil {
		return n, err
	}
	return c.orUnreadable(n), nil
}

// orUnreadable makes a filter keep rows that cannot be evaluated, because they lack a required
// attribute that the filter uses, or because it has an unknown value. These rows are reported as
// unreadable; the filter alone would hide them.
func (c *patternCore) orUnreadable(n *cond) *cond {
	kept := []*cond{n}
	seen := map[string]bool{}
	n.eachAttr(func(attr string) {
		i, ok := c.members[0].shape.Lookup(attr)
		if !ok || seen[attr] {
			return
		}
		seen[attr] = true
		for _, e := range c.members[0].enumFields {
			if e.idx != i {
				continue
			}
			in := &cond{op: opIn, attr: attr}
			for _, v := range e.values {
				in.vals = append(in.vals, dynamo.S(v))
			}
			kept = append(kept, &cond{op: opNot, kids: []*cond{in}})
			return
		}
		if c.members[0].shape.Fields[i].Options.Required {
			kept = append(kept, &cond{op: opMissing, attr: attr})
		}
	})
	if len(kept) == 1 {
		return n
	}
	return &cond{op: opOr, kids: kept}
}

// eachAttr calls f with the attributes in a condition.
func (n *cond) eachAttr(f func(attr string)) {
	if n.attr != "" {
		f(n.attr)
	}
	for _, kid := range n.kids {
		kid.eachAttr(f)
	}
}

// rangeFilter adds the range to the filter if the key is less precise than the attribute: the
// partition of a month has rows of the whole month.
func (c *patternCore) rangeFilter(filter *cond, e rangeEnds) (*cond, error) {
	if c.rng == nil || c.rng.prefix != "" {
		return filter, nil
	}
	f := &c.members[0].shape.Fields[c.rng.field]
	g := c.rangeGrain()
	if f.Options.KeyOnly || g <= max(f.StoredGrain(), layout.GrainMilli) {
		return filter, nil
	}
	conds := []*cond{filter}
	for i, end := range [...]layout.Scalar{e.from, e.to} {
		if end.Missing {
			continue
		}
		t, err := end.Instant()
		if err != nil {
			return nil, fmt.Errorf("pattern %s: %w", c.name, err)
		}
		if t.Equal(g.Truncate(t)) {
			continue
		}
		v, err := f.FromScalar(end, c.members[0].zero())
		if err != nil {
			return nil, err
		}
		op := opAtLeast
		if i == 1 {
			op = opLess
			if c.rng.closed {
				op = opAtMost
			}
		}
		conds = append(conds, &cond{op: op, attr: f.Attr, vals: []dynamo.Value{v}})
	}
	return all(conds), nil
}

// rangeGrain returns the precision with which the keys distinguish rows of the range.
func (c *patternCore) rangeGrain() layout.Grain {
	if c.rng.inSort {
		if c.sort.k.Native >= 0 {
			return layout.GrainNone
		}
		for i := range c.sort.k.Template.Parts {
			if p := &c.sort.k.Template.Parts[i]; p.IsField() && p.Index == c.rng.field {
				return p.Format.Grain
			}
		}
	}
	for i := range c.hash.k.Template.Parts {
		if p := &c.hash.k.Template.Parts[i]; p.IsField() && p.Index == c.rng.field &&
			c.hash.in[i] < 0 {
			return p.Format.Grain
		}
	}
	return layout.GrainNone
}

// prepareScan creates one stage for each segment. The entity's items are identified by their
// discriminator or by the prefix of their partition keys.
func (c *patternCore) prepareScan(q *query, filter *cond) {
	m := c.members[0]
	// An item whose key begins like the entity's is read with any discriminator.
	var own []*cond
	if m.disc != "" {
		own = append(own, &cond{op: opEqual, attr: m.disc,
			vals: []dynamo.Value{dynamo.S(m.discVal)}})
	}
	if prefix := m.base.Part.Template.LiteralPrefix(); prefix != "" {
		own = append(own, &cond{op: opBeginsWith, attr: c.table.keys.Partition,
			vals: []dynamo.Value{dynamo.S(prefix)}})
	}
	conds := []*cond{}
	switch len(own) {
	case 1:
		conds = own
	case 2:
		conds = []*cond{{op: opOr, kids: own}}
	}
	x := expressions{known: m.names}
	text := x.condition(all(append(conds, filter)))
	for i := range c.segments {
		q.stages = append(q.stages, []*source{{segment: i, filter: text,
			ph: x.placeholders(), label: fmt.Sprintf("segment %d", i)}})
	}
}
