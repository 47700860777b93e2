package singletable

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
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
	k      *layout.KeyAttr
	fields []int
}

// bindSources finds the fields that keys restore, and the fields that an item must have.
func (c *core) bindSources() {
	gives := func(k *layout.KeyAttr) []int {
		var out []int
		if k.Native >= 0 {
			if !k.Own {
				out = append(out, k.Native)
			}
			return out
		}
		for i := range k.Template.Parts {
			if p := &k.Template.Parts[i]; p.IsField() && p.Index >= 0 && p.Ring == nil &&
				p.Format.Lossless {
				out = append(out, p.Index)
			}
		}
		return out
	}
	c.keyed = layout.NewFieldSet(len(c.shape.Fields))
	_ = c.base.Attrs(func(k *layout.KeyAttr) error {
		for _, i := range gives(k) {
			c.keyed.Add(i)
		}
		return nil
	})
	for _, pl := range c.on {
		_ = pl.Attrs(func(k *layout.KeyAttr) error {
			src := keySource{k: k}
			for _, i := range gives(k) {
				if !c.keyed.Has(i) && !c.shape.Fields[i].Options.KeyOnly {
					src.fields = append(src.fields, i)
				}
			}
			if len(src.fields) > 0 {
				c.sources = append(c.sources, src)
			}
			return nil
		})
	}
	for i := range c.shape.Fields {
		if c.shape.Fields[i].Options.Required && !c.lookup {
			c.required = append(c.required, i)
		}
		if c.shape.Fields[i].Options.Together {
			c.together = append(c.together, i)
		}
	}
	for _, s := range c.sound {
		if s.typ != c.shape.Type {
			c.fault("Sound checks a %s, not a %s", s.typ, c.shape.Type)
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
	reflect.NewAt(c.shape.Type, p).Elem().SetZero()
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
	for i := range sh.Fields {
		f := &sh.Fields[i]
		if f.Options.KeyText {
			f.SetKeyText(p, c.keyTextOf(f, item))
			continue
		}
		if f.Options.Rest {
			c.decodeRest(f, item, p)
			continue
		}
		v, ok := item[f.Attr]
		if !ok || f.Options.KeyOnly || v.Kind() == dynamo.KindNULL {
			continue
		}
		if err := f.Codec.Decode(v, f.At(p)); err != nil {
			f.Clear(p)
			if !c.keyed.Has(i) {
				return &AttributeError{Attribute: f.Attr, Reason: err}
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
		if f := &c.shape.Fields[i]; !f.Options.KeyOnly && !seen(f.Attr) {
			return false
		}
	}
	return true
}

// decodeKeys sets the fields that keys contain: those of the primary key always, because it
// identifies the item, and those of index keys if the item has no attribute for them.
func (c *core) decodeKeys(item dynamo.Item, p unsafe.Pointer) error {
	err := c.base.Attrs(func(k *layout.KeyAttr) error {
		if len(c.keyOnly) == 0 && k.Agrees(item[k.Attr], p) {
			return nil
		}
		if err := k.Restore(item[k.Attr], p, func(*layout.Field) bool { return true }); err != nil {
			return &AttributeError{Attribute: k.Attr, Reason: err}
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
	v, ok := item[src.k.Attr]
	if !wanted || !ok || v.Kind() != src.k.Kind {
		return
	}
	_ = src.k.RestoreWhere(v, p, func(f *layout.Field, s layout.Scalar) bool {
		if !slices.ContainsFunc(src.fields, func(i int) bool { return &c.shape.Fields[i] == f }) {
			return false // the primary key has it and takes precedence
		}
		own, present := item[f.Attr]
		return !present || own.Kind() == dynamo.KindNULL || abbreviates(own.S(), s.Text)
	})
}

// lacks reports whether an item has no value for a field, or an abbreviated one.
func (c *core) lacks(item dynamo.Item, i int) bool {
	v, ok := item[c.shape.Fields[i].Attr]
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
		f := &c.shape.Fields[i]
		if f.Options.KeyOnly || seen != nil && !seen(f.Attr) {
			continue
		}
		v, present := item[f.Attr]
		present = present && v.Kind() != dynamo.KindNULL
		empty := f.IsEmpty(p)
		switch {
		case !empty:
		case !present:
			return &AttributeError{Attribute: f.Attr, Reason: layout.ErrAbsent}
		case !f.Options.MayBeEmpty && (f.Form == layout.FormText || f.Form == layout.FormTime):
			return &AttributeError{Attribute: f.Attr, Reason: layout.ErrEmpty}
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
		attr := c.shape.Fields[i].Attr
		if v, ok := item[attr]; ok && v.Kind() != dynamo.KindNULL {
			has = attr
		} else {
			lacks = attr
		}
	}
	if has != "" && lacks != "" {
		return &AttributeError{
			Attribute: lacks,
			Reason:    fmt.Errorf("is absent although %s is present", has),
		}
	}
	return nil
}

// sortKeyText is the name of a field with the option keytext that holds the sort key of the table,
// under any attribute name. Other names are those of key attributes.
const sortKeyText = "@sort"

func (c *core) keyTextOf(f *layout.Field, item dynamo.Item) dynamo.Value {
	if f.Attr == sortKeyText {
		return item[c.table.keys.Sort]
	}
	return item[f.Attr]
}

func (c *core) decodeRest(f *layout.Field, item dynamo.Item, p unsafe.Pointer) {
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
	*(*Rest)(f.At(p)) = rest
}

func (c *core) checkEnumsRead(p unsafe.Pointer) error {
	for _, e := range c.enumFields {
		f := &c.shape.Fields[e.idx]
		v, err := f.Scalar(p)
		if err != nil {
			return &AttributeError{Attribute: f.Attr, Reason: err}
		}
		if !v.Missing && !slices.Contains(e.values, v.Text) {
			return &AttributeError{
				Attribute: f.Attr,
				Reason: fmt.Errorf("is %q, not one of %s", v.Text,
					strings.Join(e.values, ", ")),
			}
		}
	}
	return nil
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
	_ = c.base.Attrs(func(k *layout.KeyAttr) error {
		v := item[k.Attr]
		if k.Native >= 0 {
			return nil
		}
		begins = begins && v.Kind() == k.Kind &&
			strings.HasPrefix(v.S(), k.Template.LiteralPrefix())
		if !k.Matches(v.S()) && fits {
			fits, bad.Attribute = false, k.Attr
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
	return c.unreadable(
		item,
		&AttributeError{
			Attribute: c.table.keys.Partition,
			Reason:    errors.New("is the key of another entity's item"),
		},
	)
}
