package singletable

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// This file converts items to structs. Items may have been written by other programs. An absent
// attribute is taken from a key that contains it. A field that is part of the primary key has the
// value in the key. An item that cannot be understood is an error that names the attribute.

// soundCheck is a check that was passed to Sound, for the struct at p.
type soundCheck struct {
	typ   reflect.Type
	check func(p unsafe.Pointer) *AttributeError
}

func newSoundCheck[T any](check func(v *T) *AttributeError) soundCheck {
	return soundCheck{reflect.TypeFor[T](),
		func(p unsafe.Pointer) *AttributeError { return check((*T)(p)) }}
}

// keySource is a key of an index from which fields can be restored.
type keySource struct {
	k      *keyAttr
	fields []int
}

// bindSources finds the fields that keys restore, and the fields that an item must have.
func (c *core) bindSources() {
	gives := func(k *keyAttr) []int {
		var out []int
		if k.native >= 0 {
			if !k.own {
				out = append(out, k.native)
			}
			return out
		}
		for i := range k.t.parts {
			if p := &k.t.parts[i]; p.isField() && p.idx >= 0 && p.ring == nil && p.format.lossless {
				out = append(out, p.idx)
			}
		}
		return out
	}
	c.keyed = newFieldSet(len(c.shape.fields))
	_ = c.base.attrs(func(k *keyAttr) error {
		for _, i := range gives(k) {
			c.keyed.add(i)
		}
		return nil
	})
	for _, pl := range c.on {
		_ = pl.attrs(func(k *keyAttr) error {
			src := keySource{k: k}
			for _, i := range gives(k) {
				if !c.keyed.has(i) && !c.shape.fields[i].opts.keyOnly {
					src.fields = append(src.fields, i)
				}
			}
			if len(src.fields) > 0 {
				c.sources = append(c.sources, src)
			}
			return nil
		})
	}
	for i := range c.shape.fields {
		if c.shape.fields[i].opts.required && !c.lookup {
			c.required = append(c.required, i)
		}
		if c.shape.fields[i].opts.together {
			c.together = append(c.together, i)
		}
	}
	for _, s := range c.sound {
		if s.typ != c.shape.typ {
			c.fault("Sound checks a %s, not a %s", s.typ, c.shape.typ)
		}
	}
}

// unmarshal fills the zero struct at p from an item.
func (c *core) unmarshal(item dynamo.Item, p unsafe.Pointer) error {
	return c.unmarshalSeen(item, p, nil)
}

// unmarshalSeen is unmarshal for an item of an index, which has only some of the attributes. A nil
// seen means all.
func (c *core) unmarshalSeen(
	item dynamo.Item, p unsafe.Pointer, seen func(attr string) bool,
) error {
	err := c.decode(item, p, seen)
	if err == nil {
		return nil
	}
	reflect.NewAt(c.shape.typ, p).Elem().SetZero()
	return c.unreadable(item, err)
}

// unreadable adds the item and the attribute to an error of decode.
func (c *core) unreadable(item dynamo.Item, err error) error {
	bad := &UnreadableError{Table: c.table.name, Key: c.keyOf(item), Entity: c.name, Reason: err}
	var attr *AttributeError
	if errors.As(err, &attr) {
		bad.Attribute, bad.Reason = attr.Attribute, attr.Reason
	}
	return bad
}

func (c *core) decode(item dynamo.Item, p unsafe.Pointer, seen func(attr string) bool) error {
	sh := c.shape
	for i := range sh.fields {
		f := &sh.fields[i]
		if f.opts.keyText {
			f.setKeyText(p, c.keyTextOf(f, item))
			continue
		}
		if f.opts.rest {
			c.decodeRest(f, item, p)
			continue
		}
		v, ok := item[f.attr]
		if !ok || f.opts.keyOnly || v.Kind() == dynamo.KindNULL {
			continue
		}
		if err := f.codec.decode(v, f.at(p)); err != nil {
			f.clear(p)
			if !c.keyed.has(i) {
				return &AttributeError{f.attr, err}
			}
		}
	}
	if err := c.decodeKeys(item, p); err != nil {
		return err
	}
	if err := c.checkRequired(item, p, seen); err != nil {
		return err
	}
	if c.lookup {
		return nil
	}
	if err := c.checkEnumsRead(p); err != nil {
		return err
	}
	if seen != nil && !c.seesEnough(seen) {
		return nil
	}
	for _, s := range c.sound {
		if err := s.check(p); err != nil {
			return err
		}
	}
	return nil
}

// seesEnough reports whether a row has all attributes that a check of the whole item may use.
func (c *core) seesEnough(seen func(attr string) bool) bool {
	for _, i := range slices.Concat(c.required, c.together) {
		if f := &c.shape.fields[i]; !f.opts.keyOnly && !seen(f.attr) {
			return false
		}
	}
	return true
}

// decodeKeys sets the fields that keys contain: those of the primary key always, because it
// identifies the item, and those of index keys if the item has no attribute for them.
func (c *core) decodeKeys(item dynamo.Item, p unsafe.Pointer) error {
	err := c.base.attrs(func(k *keyAttr) error {
		if len(c.keyOnly) == 0 && k.agrees(item[k.attr], p) {
			return nil
		}
		if err := k.restore(item[k.attr], p, func(*field) bool { return true }); err != nil {
			return &AttributeError{k.attr, err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, src := range c.sources {
		c.decodeSource(src, item, p)
	}
	return nil
}

// decodeSource sets fields from an index key. A key that does not match the template is ignored; a
// required attribute is then reported as missing.
func (c *core) decodeSource(src keySource, item dynamo.Item, p unsafe.Pointer) {
	wanted := false
	for _, i := range src.fields {
		wanted = wanted || c.lacks(item, i)
	}
	v, ok := item[src.k.attr]
	if !wanted || !ok || v.Kind() != src.k.kind {
		return
	}
	_ = src.k.restoreWhere(v, p, func(f *field, s scalar) bool {
		if !slices.ContainsFunc(src.fields, func(i int) bool { return &c.shape.fields[i] == f }) {
			return false // the primary key has it and takes precedence
		}
		own, present := item[f.attr]
		return !present || own.Kind() == dynamo.KindNULL || abbreviates(own.S(), s.text)
	})
}

// lacks reports whether an item has no value for a field, or an abbreviated one.
func (c *core) lacks(item dynamo.Item, i int) bool {
	v, ok := item[c.shape.fields[i].attr]
	return !ok || v.Kind() == dynamo.KindNULL || strings.HasSuffix(v.S(), ellipsis)
}

// ellipsis is the end of an abbreviated id, as in the examples of published designs:
// ACCOUNT#660f... in one place and the whole id in another. The whole id is used.
const ellipsis = "..."

// abbreviates reports whether a text is an abbreviation of another one.
func abbreviates(text, whole string) bool {
	short, ok := strings.CutSuffix(text, ellipsis)
	return ok && short != "" && strings.HasPrefix(whole, short)
}

// checkRequired checks that an item has all required attributes.
func (c *core) checkRequired(
	item dynamo.Item, p unsafe.Pointer, seen func(attr string) bool,
) error {
	for _, i := range c.required {
		f := &c.shape.fields[i]
		if f.opts.keyOnly || seen != nil && !seen(f.attr) {
			continue
		}
		v, present := item[f.attr]
		present = present && v.Kind() != dynamo.KindNULL
		empty := f.isEmpty(p)
		switch {
		case !empty:
		case !present:
			return &AttributeError{f.attr, errAbsent}
		case !f.opts.mayBeEmpty && (f.form == formText || f.form == formTime):
			return &AttributeError{f.attr, errEmpty}
		}
	}
	if seen != nil {
		return nil
	}
	return c.checkTogether(item)
}

// checkTogether checks that an item has all attributes with the option together, or none.
func (c *core) checkTogether(item dynamo.Item) error {
	has, lacks := "", ""
	for _, i := range c.together {
		attr := c.shape.fields[i].attr
		if v, ok := item[attr]; ok && v.Kind() != dynamo.KindNULL {
			has = attr
		} else {
			lacks = attr
		}
	}
	if has != "" && lacks != "" {
		return &AttributeError{lacks, fmt.Errorf("is absent although %s is present", has)}
	}
	return nil
}

// isEmpty reports whether the field of the struct at p is its zero value.
func (f *field) isEmpty(p unsafe.Pointer) bool {
	if f.codec.empty != nil {
		return f.codec.empty(f.at(p))
	}
	return reflect.NewAt(f.typ, f.at(p)).Elem().IsZero()
}

// clear sets the field to its zero value.
func (f *field) clear(p unsafe.Pointer) { reflect.NewAt(f.typ, f.at(p)).Elem().SetZero() }

// sortKeyText is the name of a field with the option keytext that holds the sort key of the table,
// under any attribute name. Other names are those of key attributes.
const sortKeyText = "@sort"

func (c *core) keyTextOf(f *field, item dynamo.Item) dynamo.Value {
	if f.attr == sortKeyText {
		return item[c.table.keys.Sort]
	}
	return item[f.attr]
}

// Rest holds the attributes of an item that its entity does not define, which other programs wrote.
// A field of this type with the tag option rest preserves them when the item is written again.
type Rest map[string]dynamo.Value

func (c *core) decodeRest(f *field, item dynamo.Item, p unsafe.Pointer) {
	var rest Rest
	for name, v := range item {
		if _, known := c.names[name]; known {
			continue
		}
		if rest == nil {
			rest = Rest{}
		}
		rest[name] = v
	}
	*(*Rest)(f.at(p)) = rest
}

func (f *field) encodeRest(item map[string]dynamo.Value, p unsafe.Pointer) {
	for name, v := range *(*Rest)(f.at(p)) {
		if _, taken := item[name]; !taken {
			item[name] = v
		}
	}
}

func (f *field) setKeyText(p unsafe.Pointer, v dynamo.Value) {
	*(*string)(f.at(p)) = v.S()
}

func (c *core) checkEnumsRead(p unsafe.Pointer) error {
	for _, e := range c.enumFields {
		f := &c.shape.fields[e.idx]
		v, err := f.scalar(p)
		if err != nil {
			return &AttributeError{f.attr, err}
		}
		if !v.missing && !slices.Contains(e.values, v.text) {
			return &AttributeError{f.attr, fmt.Errorf("is %q, not one of %s", v.text,
				strings.Join(e.values, ", "))}
		}
	}
	return nil
}

// agrees reports whether the struct at p has the key of its item.
func (k *keyAttr) agrees(v dynamo.Value, p unsafe.Pointer) bool {
	if k.native >= 0 {
		return k.own
	}
	var buf [160]byte
	out, fixed, missing, err := k.append(buf[:0], p)
	if err != nil || missing != "" {
		return false
	}
	if !fixed.IsAbsent() {
		return fixed.S() == v.S()
	}
	return string(out) == v.S()
}

// stranger returns the error of a row that no entity of the table owns although its key begins like
// that of a member. It returns nil for a row of another entity.
func (c *patternCore) stranger(item dynamo.Item) error {
	for _, e := range c.table.entities {
		if e.owns(item) {
			return nil
		}
	}
	for _, m := range c.members {
		if err := m.claim(item); err != nil {
			return err
		}
	}
	return nil
}

// claim returns the error of an item that does not belong to the entity although its key begins
// like the entity's.
func (c *core) claim(item dynamo.Item) error {
	begins, fits := true, true
	bad := &AttributeError{Reason: errors.New("does not have the form of this entity's keys")}
	_ = c.base.attrs(func(k *keyAttr) error {
		v := item[k.attr]
		if k.native >= 0 {
			return nil
		}
		begins = begins && v.Kind() == k.kind && strings.HasPrefix(v.S(), k.t.literalPrefix())
		if !k.matches(v.S()) && fits {
			fits, bad.Attribute = false, k.attr
		}
		return nil
	})
	if !begins {
		return nil
	}
	if fits {
		bad.Attribute = c.disc
		bad.Reason = fmt.Errorf("is %s, not %q", item[c.disc], c.discVal)
	}
	return c.unreadable(item, bad)
}

// foreign returns the error of an item that was found by key and belongs to another entity.
func (c *core) foreign(item dynamo.Item) error {
	if err := c.claim(item); err != nil {
		return err
	}
	return c.unreadable(item, &AttributeError{c.table.keys.Partition,
		errors.New("is the key of another entity's item")})
}
