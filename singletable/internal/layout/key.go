package layout

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

// KeyAttr is one attribute of an entity's key in its table or in an index, with its template.
type KeyAttr struct {
	Attr     string
	Kind     dynamo.Kind
	Max      int
	Template *Template
	// Native is the field whose stored value is the whole key, -1 if the template builds the key as
	// Text. own reports that the attribute is the field's own.
	Native int
	Own    bool
	// also are templates of keys that can be read but are never written.
	also []*Template
	// Base reports that the attribute is also part of the primary key, shared that another index of
	// the entity uses it as well.
	Base, Shared bool
	// fixed is the value of a key without fields.
	fixed dynamo.Value
	Needs FieldSet
}

// FieldSet is a set of fields of a struct.
type FieldSet []uint64

// NewFieldSet returns an empty set for n fields.
func NewFieldSet(n int) FieldSet { return make(FieldSet, (n+63)/64) }

// Add adds field i.
func (s FieldSet) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Has reports whether the set contains field i.
func (s FieldSet) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// AddAll adds the fields of a set.
func (s FieldSet) AddAll(o FieldSet) {
	for i := range o {
		s[i] |= o[i]
	}
}

// Meets reports whether two sets have a field in common.
func (s FieldSet) Meets(o FieldSet) bool {
	for i := range o {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// NewKeyAttr binds a template to a key attribute. A template with only one field stores the field's
// Own value if the attribute is the field's or is not a string.
//
// Kind is the type of the attribute, and also are other forms of it.
func NewKeyAttr(attr, text string, kind dynamo.Kind, max int, sh *Shape, rings []Ring,
	also []string,
) (*KeyAttr, []string) {
	k := &KeyAttr{Attr: attr, Kind: kind, Max: max, Native: -1}
	var bad []string
	k.Template, bad = newTemplate(text, sh, rings)
	k.Needs = NewFieldSet(len(sh.Fields))
	for i := range k.Template.Parts {
		p := &k.Template.Parts[i]
		if p.IsField() && p.Index >= 0 {
			k.Needs.Add(p.Index)
		}
		if p.Ring != nil && p.Ring.ByIndex >= 0 && len(p.Ring.Epochs) > 1 {
			k.Needs.Add(p.Ring.ByIndex)
		}
	}
	if len(bad) > 0 {
		return k, bad
	}
	if len(k.Template.Parts) == 1 && k.Template.Parts[0].IsField() &&
		k.Template.Parts[0].form == "" {
		f := &sh.Fields[k.Template.Parts[0].Index]
		if f.Attr == attr || k.Kind != dynamo.KindS {
			k.Native, k.Own = k.Template.Parts[0].Index, f.Attr == attr
			if f.Codec.Kind != k.Kind {
				bad = append(bad, fmt.Sprintf("key attribute %s is of type %s, but field %s of %s",
					attr, k.Kind, f.GoName, f.Codec.Kind))
			}
			return k, bad
		}
	}
	if len(k.Template.Parts) == 1 && !k.Template.Parts[0].IsField() {
		k.fixed = dynamo.S(text)
	}
	for _, form := range also {
		t, wrong := newTemplate(form, sh, rings)
		k.also, bad = append(k.also, t), append(bad, wrong...)
	}
	if k.Kind != dynamo.KindS {
		bad = append(bad, fmt.Sprintf("key attribute %s is of type %s and takes one field, not "+
			"the template %q", attr, k.Kind, text))
	}
	if i, ok := sh.ByName[attr]; ok && sh.Fields[i].Attr == attr {
		f := &sh.Fields[i]
		if !f.Options.KeyOnly && !f.Options.KeyText {
			bad = append(bad, fmt.Sprintf("attribute %s is both field %s and a key made by %q: "+
				"mark the field keyonly, or give it another name", attr, f.GoName, text))
		}
	}
	return k, bad
}

// Value returns the key attribute for the struct at p. missing names an empty field.
func (k *KeyAttr) Value(p unsafe.Pointer) (v dynamo.Value, missing string, err error) {
	var buf [128]byte
	out, v, missing, err := k.append(buf[:0], p)
	if err != nil || missing != "" || !v.IsAbsent() {
		return v, missing, err
	}
	return dynamo.S(string(out)), "", nil
}

// Append returns the key attribute for the struct at p: as a value if it is a field's own or
// constant, otherwise as text at the end of dst.
func (k *KeyAttr) append(
	dst []byte, p unsafe.Pointer,
) (out []byte, v dynamo.Value, missing string, err error) {
	if k.Native >= 0 {
		f := &k.Template.Shape.Fields[k.Native]
		v, err := f.Value(p)
		if err == nil && (v.IsAbsent() || v.Size() == 0) {
			return dst, v, f.Attr, nil
		}
		if err == nil && v.Kind() != dynamo.KindN {
			err = k.checkLength(v.Size())
		}
		return dst, v, "", err
	}
	if !k.fixed.IsAbsent() {
		return dst, k.fixed, "", nil
	}
	out, at, err := k.Template.append(dst, p)
	switch {
	case err != nil:
		return out, v, "", err
	case at >= 0:
		return out, v, k.missingField(at, p), nil
	case len(out) == len(dst):
		return out, v, k.Attr, nil
	}
	return out, v, "", k.checkLength(len(out) - len(dst))
}

func (k *KeyAttr) missingField(at int, p unsafe.Pointer) string {
	part := &k.Template.Parts[at]
	f := &k.Template.Shape.Fields[part.Index]
	if v, err := f.Scalar(p); err == nil && !v.Missing && part.Ring != nil {
		return part.Ring.By
	}
	return f.Attr
}

func (k *KeyAttr) checkLength(n int) error {
	if n > k.Max {
		return fmt.Errorf("key %s is %d bytes long, more than %d", k.Attr, n, k.Max)
	}
	return nil
}

// KeyTexts collects the text keys of an item in one buffer, which becomes one string that all keys
// share. An item has up to eight such keys, and a separate string for each would be an allocation.
type KeyTexts struct {
	Buf  []byte
	Ends []KeyEnd
}

// KeyEnd is the end of one key in the buffer of a KeyTexts.
type KeyEnd struct {
	Attr string
	End  int
}

// Restore sets the fields of the struct at p that the key contains and for which want returns true.
func (k *KeyAttr) Restore(v dynamo.Value, p unsafe.Pointer, want func(f *Field) bool) error {
	return k.RestoreWhere(v, p, func(f *Field, _ Scalar) bool { return want(f) })
}

// RestoreWhere is restore with the value in the key as an argument of want.
func (k *KeyAttr) RestoreWhere(
	v dynamo.Value, p unsafe.Pointer, want func(f *Field, s Scalar) bool,
) error {
	if v.Kind() != k.Kind {
		return mismatch(k.Kind, v)
	}
	if k.Native >= 0 {
		if f := &k.Template.Shape.Fields[k.Native]; !k.Own && want(f, Scalar{}) {
			return f.Codec.Decode(v, f.At(p))
		}
		return nil
	}
	t := k.formOf(v.S())
	if t == nil {
		return fmt.Errorf("is %q, which does not fit the template %q", v.S(), k.Template.Text)
	}
	_, err := t.parse(v.S(), func(part *Piece, text string) error {
		if part.Ring != nil || part.Format.parse == nil {
			return nil
		}
		f := &k.Template.Shape.Fields[part.Index]
		if !part.Format.Lossless && !(f.Options.KeyOnly && part.Format.Grain > 0) {
			return nil
		}
		s, err := part.Format.parse(text)
		if err != nil {
			return err
		}
		if s = s.as(f.Form); !want(f, s) {
			return nil
		}
		return f.Write(f.At(p), s)
	})
	return err
}

// formOf returns the template that a key matches: the one with which keys are written, or one that
// only keys of other programs have. It is nil if there is none.
func (k *KeyAttr) formOf(text string) *Template {
	if k.Template.matches(text) {
		return k.Template
	}
	for _, t := range k.also {
		if t.matches(text) {
			return t
		}
	}
	return nil
}

// Matches reports whether a key could belong to the entity.
func (k *KeyAttr) Matches(text string) bool { return k.formOf(text) != nil }

// as converts a parsed scalar to the form of a field: times may be text in the struct.
func (v Scalar) as(f form) Scalar {
	if f == FormText && v.Text == "" && v.Form == FormTime {
		v.Text = string(appendMillis(nil, v.Time))
	}
	v.Form = f
	return v
}

// Placement is the place of an entity's items in their table (index "") or in an index.
type Placement struct {
	Index  string
	Keys   KeyNames
	Part   *KeyAttr
	Sort   *KeyAttr // nil without a sort key
	Sparse bool
	When   *SparseRule
	Needs  FieldSet

	Templates []string // as written; NewEntity binds them
}

// SparseRule keeps an item in an index while an attribute has one of several values.
type SparseRule struct {
	Attr   string
	Index  int
	Values []string
}

// Holds reports whether the struct at p belongs in the index.
func (r *SparseRule) Holds(sh *Shape, p unsafe.Pointer) (bool, error) {
	v, err := sh.Fields[r.Index].Scalar(p)
	if err != nil || v.Missing {
		return false, err
	}
	var buf [64]byte
	text := AppendText(buf[:0], v)
	for _, w := range r.Values {
		if string(text) == w {
			return true, nil
		}
	}
	return false, nil
}

// Attrs calls f for each key attribute of the placement.
func (pl *Placement) Attrs(f func(*KeyAttr) error) error {
	if err := f(pl.Part); err != nil || pl.Sort == nil {
		return err
	}
	return f(pl.Sort)
}

// AddTo adds the placement's key attributes for the struct at p to an item, or to the text keys of
// it. in is false if the item is not in the sparse index; nothing is added then.
func (pl *Placement) AddTo(
	keys *KeyTexts, item dynamo.Item, entity string, sh *Shape, p unsafe.Pointer,
) (in bool, err error) {
	if pl.When != nil {
		if in, err := pl.When.Holds(sh, p); err != nil || !in {
			return false, err
		}
	}
	buf := keys.Buf
	attrs := [...]*KeyAttr{pl.Part, pl.Sort}
	var vals [len(attrs)]dynamo.Value
	var ends [len(attrs)]int
	for i, k := range attrs {
		if k == nil {
			continue
		}
		out, v, missing, err := k.append(buf, p)
		switch {
		case err != nil:
			return false, fmt.Errorf("%s: %w", entity, err)
		case missing != "" && pl.Sparse:
			return false, nil
		case missing != "":
			return false, &MissingPartError{
				Entity: entity, Index: pl.Index, Template: k.Template.Text, Field: missing}
		}
		buf, vals[i], ends[i] = out, v, len(out)
	}
	keys.Buf = buf
	for i, k := range attrs {
		switch {
		case k == nil || k.Own && pl.Index != "": // an own attribute already exists
		case vals[i].IsAbsent():
			keys.Ends = append(keys.Ends, KeyEnd{k.Attr, ends[i]})
		default:
			item[k.Attr] = vals[i]
		}
	}
	return true, nil
}

// Agrees reports whether the struct at p has the key of its item.
func (k *KeyAttr) Agrees(v dynamo.Value, p unsafe.Pointer) bool {
	if k.Native >= 0 {
		return k.Own
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

// TemplateOf returns template i as it was written, or "" without one.
func (pl *Placement) TemplateOf(i int) string {
	if i < len(pl.Templates) {
		return pl.Templates[i]
	}
	return ""
}

// KeyNames are the names of the attributes of a key. Sort is empty for a key without a sort key.
type KeyNames struct {
	Partition, Sort string
}
