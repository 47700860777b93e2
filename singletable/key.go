package singletable

import (
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Limits on the length of keys in bytes ("Quotas in Amazon DynamoDB").
const (
	// PartitionKeyMax is the maximum length of a partition key.
	PartitionKeyMax = 2048
	// SortKeyMax is the maximum length of a sort key.
	SortKeyMax = 1024
)

// keyAttr is one attribute of an entity's key in its table or in an index, with its template.
type keyAttr struct {
	attr string
	kind dynamo.Kind
	max  int
	t    *template
	// native is the field whose stored value is the whole key, -1 if the template builds the key as
	// text. own reports that the attribute is the field's own.
	native int
	own    bool
	// also are templates of keys that can be read but are never written.
	also []*template
	// base reports that the attribute is also part of the primary key, shared that another index of
	// the entity uses it as well.
	base, shared bool
	// fixed is the value of a key without fields.
	fixed dynamo.Value
	needs fieldSet
}

// fieldSet is a set of fields of a struct.
type fieldSet []uint64

func newFieldSet(n int) fieldSet { return make(fieldSet, (n+63)/64) }

func (s fieldSet) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s fieldSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s fieldSet) addAll(o fieldSet) {
	for i := range o {
		s[i] |= o[i]
	}
}

func (s fieldSet) meets(o fieldSet) bool {
	for i := range o {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// newKeyAttr binds a template to a key attribute. A template with only one field stores the field's
// own value if the attribute is the field's or is not a string.
func newKeyAttr(attr, text string, max int, c *core) (*keyAttr, []string) {
	k := &keyAttr{attr: attr, kind: c.table.keyKind(attr), max: max, native: -1}
	var bad []string
	k.t, bad = newTemplate(text, c.shape, c.rings)
	k.needs = newFieldSet(len(c.shape.fields))
	for i := range k.t.parts {
		p := &k.t.parts[i]
		if p.isField() && p.idx >= 0 {
			k.needs.add(p.idx)
		}
		if p.ring != nil && p.ring.byIdx >= 0 && len(p.ring.epochs) > 1 {
			k.needs.add(p.ring.byIdx)
		}
	}
	if len(bad) > 0 {
		return k, bad
	}
	if len(k.t.parts) == 1 && k.t.parts[0].isField() && k.t.parts[0].form == "" {
		f := &c.shape.fields[k.t.parts[0].idx]
		if f.attr == attr || k.kind != dynamo.KindS {
			k.native, k.own = k.t.parts[0].idx, f.attr == attr
			if f.codec.kind != k.kind {
				bad = append(bad, fmt.Sprintf("key attribute %s is of type %s, but field %s of %s",
					attr, k.kind, f.goName, f.codec.kind))
			}
			return k, bad
		}
	}
	if len(k.t.parts) == 1 && !k.t.parts[0].isField() {
		k.fixed = dynamo.S(text)
	}
	for _, form := range c.readAs[attr] {
		t, wrong := newTemplate(form, c.shape, c.rings)
		k.also, bad = append(k.also, t), append(bad, wrong...)
	}
	if k.kind != dynamo.KindS {
		bad = append(bad, fmt.Sprintf("key attribute %s is of type %s and takes one field, not "+
			"the template %q", attr, k.kind, text))
	}
	if i, ok := c.shape.byName[attr]; ok && c.shape.fields[i].attr == attr {
		f := &c.shape.fields[i]
		if !f.opts.keyOnly && !f.opts.keyText {
			bad = append(bad, fmt.Sprintf("attribute %s is both field %s and a key made by %q: "+
				"mark the field keyonly, or give it another name", attr, f.goName, text))
		}
	}
	return k, bad
}

// value returns the key attribute for the struct at p. missing names an empty field.
func (k *keyAttr) value(p unsafe.Pointer) (v dynamo.Value, missing string, err error) {
	var buf [128]byte
	out, v, missing, err := k.append(buf[:0], p)
	if err != nil || missing != "" || !v.IsAbsent() {
		return v, missing, err
	}
	return dynamo.S(string(out)), "", nil
}

// append returns the key attribute for the struct at p: as a value if it is a field's own or
// constant, otherwise as text at the end of dst.
func (k *keyAttr) append(
	dst []byte, p unsafe.Pointer,
) (out []byte, v dynamo.Value, missing string, err error) {
	if k.native >= 0 {
		f := &k.t.sh.fields[k.native]
		v, err := f.value(p)
		if err == nil && (v.IsAbsent() || v.Size() == 0) {
			return dst, v, f.attr, nil
		}
		if err == nil && v.Kind() != dynamo.KindN {
			err = k.checkLength(v.Size())
		}
		return dst, v, "", err
	}
	if !k.fixed.IsAbsent() {
		return dst, k.fixed, "", nil
	}
	out, at, err := k.t.append(dst, p)
	switch {
	case err != nil:
		return out, v, "", err
	case at >= 0:
		return out, v, k.missingField(at, p), nil
	case len(out) == len(dst):
		return out, v, k.attr, nil
	}
	return out, v, "", k.checkLength(len(out) - len(dst))
}

func (k *keyAttr) missingField(at int, p unsafe.Pointer) string {
	part := &k.t.parts[at]
	f := &k.t.sh.fields[part.idx]
	if v, err := f.scalar(p); err == nil && !v.missing && part.ring != nil {
		return part.ring.by
	}
	return f.attr
}

func (k *keyAttr) checkLength(n int) error {
	if n > k.max {
		return fmt.Errorf("key %s is %d bytes long, more than %d", k.attr, n, k.max)
	}
	return nil
}

// keyTexts collects the text keys of an item in one buffer, which becomes one string that all keys
// share. An item has up to eight such keys, and a separate string for each would be an allocation.
type keyTexts struct {
	buf  []byte
	ends []keyEnd
}

type keyEnd struct {
	attr string
	end  int
}

// newKeyTexts returns a buffer from the pool, or a new one.
func (c *core) newKeyTexts() *keyTexts {
	if t, ok := c.spare.Get().(*keyTexts); ok {
		return t
	}
	return &keyTexts{buf: make([]byte, 0, 512), ends: make([]keyEnd, 0, 8)}
}

// flush adds the keys to the item and returns the buffer to the pool.
func (c *core) flush(t *keyTexts, item dynamo.Item) {
	if len(t.ends) > 0 {
		text := string(t.buf)
		start := 0
		for _, e := range t.ends {
			item[e.attr] = dynamo.S(text[start:e.end])
			start = e.end
		}
	}
	t.buf, t.ends = t.buf[:0], t.ends[:0]
	c.spare.Put(t)
}

// restore sets the fields of the struct at p that the key contains and for which want returns true.
func (k *keyAttr) restore(v dynamo.Value, p unsafe.Pointer, want func(f *field) bool) error {
	return k.restoreWhere(v, p, func(f *field, _ scalar) bool { return want(f) })
}

// restoreWhere is restore with the value in the key as an argument of want.
func (k *keyAttr) restoreWhere(
	v dynamo.Value, p unsafe.Pointer, want func(f *field, s scalar) bool,
) error {
	if v.Kind() != k.kind {
		return mismatch(k.kind, v)
	}
	if k.native >= 0 {
		if f := &k.t.sh.fields[k.native]; !k.own && want(f, scalar{}) {
			return f.codec.decode(v, f.at(p))
		}
		return nil
	}
	t := k.formOf(v.S())
	if t == nil {
		return fmt.Errorf("is %q, which does not fit the template %q", v.S(), k.t.text)
	}
	_, err := t.parse(v.S(), func(part *part, text string) error {
		if part.ring != nil || part.format.parse == nil {
			return nil
		}
		f := &k.t.sh.fields[part.idx]
		if !part.format.lossless && !(f.opts.keyOnly && part.format.grain > 0) {
			return nil
		}
		s, err := part.format.parse(text)
		if err != nil {
			return err
		}
		if s = s.as(f.form); !want(f, s) {
			return nil
		}
		return f.write(f.at(p), s)
	})
	return err
}

// formOf returns the template that a key matches: the one with which keys are written, or one that
// only keys of other programs have. It is nil if there is none.
func (k *keyAttr) formOf(text string) *template {
	if k.t.matches(text) {
		return k.t
	}
	for _, t := range k.also {
		if t.matches(text) {
			return t
		}
	}
	return nil
}

// matches reports whether a key could belong to the entity.
func (k *keyAttr) matches(text string) bool { return k.formOf(text) != nil }

// as converts a parsed scalar to the form of a field: times may be text in the struct.
func (v scalar) as(f form) scalar {
	if f == formText && v.text == "" && v.form == formTime {
		v.text = string(appendMillis(nil, v.t))
	}
	v.form = f
	return v
}

// placement is the place of an entity's items in their table (index "") or in an index.
type placement struct {
	index  string
	keys   KeyNames
	part   *keyAttr
	sort   *keyAttr // nil without a sort key
	sparse bool
	when   *sparseRule
	needs  fieldSet

	templates []string // as written; NewEntity binds them
}

// sparseRule keeps an item in an index while an attribute has one of several values.
type sparseRule struct {
	attr   string
	idx    int
	values []string
}

func (r *sparseRule) holds(sh *shape, p unsafe.Pointer) (bool, error) {
	v, err := sh.fields[r.idx].scalar(p)
	if err != nil || v.missing {
		return false, err
	}
	var buf [64]byte
	text := appendScalar(buf[:0], v)
	for _, w := range r.values {
		if string(text) == w {
			return true, nil
		}
	}
	return false, nil
}

// attrs calls f for each key attribute of the placement.
func (pl *placement) attrs(f func(*keyAttr) error) error {
	if err := f(pl.part); err != nil || pl.sort == nil {
		return err
	}
	return f(pl.sort)
}

// addTo adds the placement's key attributes for the struct at p to an item, or to the text keys of
// it. in is false if the item is not in the sparse index; nothing is added then.
func (pl *placement) addTo(
	keys *keyTexts, item dynamo.Item, c *core, p unsafe.Pointer,
) (in bool, err error) {
	if pl.when != nil {
		if in, err := pl.when.holds(c.shape, p); err != nil || !in {
			return false, err
		}
	}
	buf := keys.buf
	attrs := [...]*keyAttr{pl.part, pl.sort}
	var vals [len(attrs)]dynamo.Value
	var ends [len(attrs)]int
	for i, k := range attrs {
		if k == nil {
			continue
		}
		out, v, missing, err := k.append(buf, p)
		switch {
		case err != nil:
			return false, fmt.Errorf("%s: %w", c.name, err)
		case missing != "" && pl.sparse:
			return false, nil
		case missing != "":
			return false, &MissingPartError{
				Entity: c.name, Index: pl.index, Template: k.t.text, Field: missing}
		}
		buf, vals[i], ends[i] = out, v, len(out)
	}
	keys.buf = buf
	for i, k := range attrs {
		switch {
		case k == nil || k.own && pl.index != "": // an own attribute already exists
		case vals[i].IsAbsent():
			keys.ends = append(keys.ends, keyEnd{k.attr, ends[i]})
		default:
			item[k.attr] = vals[i]
		}
	}
	return true, nil
}

// values returns the placement's key.
func (pl *placement) values(
	c *core, p unsafe.Pointer,
) (part, sort dynamo.Value, in bool, err error) {
	item := dynamo.Item{}
	keys := c.newKeyTexts()
	in, err = pl.addTo(keys, item, c, p)
	c.flush(keys, item)
	if err != nil || !in {
		return part, sort, false, err
	}
	part, sort = item[pl.part.attr], dynamo.Value{}
	if pl.sort != nil {
		sort = item[pl.sort.attr]
	}
	return part, sort, true, nil
}
