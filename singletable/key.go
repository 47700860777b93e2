package singletable

import (
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Limits on the length of keys in bytes ("Quotas in Amazon DynamoDB").
const (
	// PartitionKeyMax is the greatest length of a partition key.
	PartitionKeyMax = 2048
	// SortKeyMax is the greatest length of a sort key.
	SortKeyMax = 1024
)

// keyAttr is one attribute of an entity's key in its table or in an index, and how it is made.
type keyAttr struct {
	attr string
	kind dynamo.Kind
	max  int
	t    *template
	// native is the field whose stored value is the whole key, -1 when the key is text made by
	// the template. own means that the attribute is the field's own.
	native int
	own    bool
	// base means that the attribute is part of the primary key too, shared that another index
	// of the entity uses it as well.
	base, shared bool
	needs        fieldSet
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

// newKeyAttr binds a template to a key attribute. A template that is one field and nothing else
// stores the field's own value, where the attribute is the field's or is no string.
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
	if k.kind != dynamo.KindS {
		bad = append(bad, fmt.Sprintf("key attribute %s is of type %s and takes one field, not "+
			"the template %q", attr, k.kind, text))
	}
	if i, ok := c.shape.byName[attr]; ok && c.shape.fields[i].attr == attr {
		f := &c.shape.fields[i]
		if !f.opts.keyOnly {
			bad = append(bad, fmt.Sprintf("attribute %s is both field %s and a key made by %q: "+
				"mark the field keyonly, or give it another name", attr, f.goName, text))
		}
	}
	return k, bad
}

// value makes the key attribute for the struct at p. missing names the field that is empty.
func (k *keyAttr) value(p unsafe.Pointer) (v dynamo.Value, missing string, err error) {
	if k.native >= 0 {
		f := &k.t.sh.fields[k.native]
		v, err := f.value(p)
		if err == nil && (v.IsAbsent() || v.Size() == 0) {
			return v, f.attr, nil
		}
		return v, "", k.checked(v, err)
	}
	var buf [128]byte
	out, at, err := k.t.append(buf[:0], p)
	if err != nil {
		return dynamo.Value{}, "", err
	}
	if at >= 0 {
		return dynamo.Value{}, k.missingField(at, p), nil
	}
	if len(out) == 0 {
		return dynamo.Value{}, k.attr, nil
	}
	v = dynamo.S(string(out))
	return v, "", k.checked(v, nil)
}

func (k *keyAttr) missingField(at int, p unsafe.Pointer) string {
	part := &k.t.parts[at]
	f := &k.t.sh.fields[part.idx]
	if v, err := f.scalar(p); err == nil && !v.missing && part.ring != nil {
		return part.ring.by
	}
	return f.attr
}

func (k *keyAttr) checked(v dynamo.Value, err error) error {
	if err == nil && v.Kind() != dynamo.KindN && v.Size() > k.max {
		err = fmt.Errorf("key %s is %d bytes long, more than %d", k.attr, v.Size(), k.max)
	}
	return err
}

// restore sets those fields of the struct at p that live in the key alone, or that all allows.
func (k *keyAttr) restore(v dynamo.Value, p unsafe.Pointer, want func(f *field) bool) error {
	if k.native >= 0 {
		if f := &k.t.sh.fields[k.native]; want(f) {
			return f.codec.decode(v, f.at(p))
		}
		return nil
	}
	ok, err := k.t.parse(v.S(), func(part *part, text string) error {
		if part.ring != nil {
			return nil
		}
		f := &k.t.sh.fields[part.idx]
		if !part.format.lossless && !(f.opts.keyOnly && part.format.grain > 0) || !want(f) {
			return nil
		}
		s, err := part.format.parse(text)
		if err != nil {
			return err
		}
		return f.write(f.at(p), s.as(f.form))
	})
	if err == nil && !ok {
		err = fmt.Errorf("%q does not fit the template %q", v.S(), k.t.text)
	}
	if err != nil {
		return fmt.Errorf("key %s: %w", k.attr, err)
	}
	return nil
}

// as gives a parsed scalar the fields of another form: times may be text in the struct.
func (v scalar) as(f form) scalar {
	if f == formText && v.text == "" && v.form == formTime {
		v.text = string(appendMillis(nil, v.t))
	}
	v.form = f
	return v
}

// placement is where an entity's items stand in their table (index "") or in an index.
type placement struct {
	index  string
	keys   KeyNames
	part   *keyAttr
	sort   *keyAttr // nil without a sort key
	sparse bool
	when   *sparseRule
	needs  fieldSet

	templates []string // as written, bound by NewEntity
}

// sparseRule keeps an item in an index while an attribute has one of some values.
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

// addTo adds the placement's key attributes for the struct at p to an item. in is false when the
// item does not belong into the sparse index; nothing is added then.
func (pl *placement) addTo(
	item dynamo.Item, c *core, p unsafe.Pointer,
) (in bool, err error) {
	part, sort, in, err := pl.values(c, p)
	if err != nil || !in {
		return false, err
	}
	item[pl.part.attr] = part
	if pl.sort != nil {
		item[pl.sort.attr] = sort
	}
	return true, nil
}

// values makes the placement's key.
func (pl *placement) values(
	c *core, p unsafe.Pointer,
) (part, sort dynamo.Value, in bool, err error) {
	if pl.when != nil {
		if in, err := pl.when.holds(c.shape, p); err != nil || !in {
			return part, sort, false, err
		}
	}
	part, missing, err := pl.part.value(p)
	k := pl.part
	if err == nil && missing == "" && pl.sort != nil {
		k = pl.sort
		sort, missing, err = k.value(p)
	}
	switch {
	case err != nil:
		return part, sort, false, fmt.Errorf("%s: %w", c.name, err)
	case missing == "":
		return part, sort, true, nil
	case pl.sparse:
		return part, sort, false, nil
	}
	return part, sort, false, &MissingPartError{
		Entity: c.name, Index: pl.index, Template: k.t.text, Field: missing,
	}
}
