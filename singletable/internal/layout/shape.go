package layout

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Shape describes a struct type: its fields, their attributes and how to read and write them by
// address. It is created once, so that calls do not pay for reflection on types.
type Shape struct {
	Type     reflect.Type
	Fields   []Field
	ByName   map[string]int // by attribute name, and by Go name unless that is an attribute
	Problems []string
	PartAt   *uintptr // offset of the field of type Part, nil without one
}

// Name is one field of a struct.
type Field struct {
	Attr, GoName string
	Offset       uintptr
	Type         reflect.Type
	Options      tagOptions
	Codec        codec
	Form         form
	read         func(unsafe.Pointer) (Scalar, error)
	Write        func(unsafe.Pointer, Scalar) error
}

// At returns the address of the field in the struct at p.
func (f *Field) At(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(p, f.Offset) }

// Scalar reads the field for a key.
func (f *Field) Scalar(p unsafe.Pointer) (Scalar, error) {
	v, err := f.read(f.At(p))
	if err == nil && f.Options.OmitEmpty && f.Codec.Empty(f.At(p)) {
		v.Missing = true
	}
	return v, err
}

// Value encodes the field. It returns the absent Value if the field is not stored.
func (f *Field) Value(p unsafe.Pointer) (dynamo.Value, error) {
	q := f.At(p)
	if f.Options.OmitEmpty && f.Codec.Empty(q) {
		return dynamo.Value{}, nil
	}
	v, err := f.Codec.Encode(q)
	if err != nil {
		return v, fmt.Errorf("attribute %s: %w", f.Attr, err)
	}
	return v, nil
}

// EncodeInto adds the attributes of the struct at p to an item.
func (sh *Shape) EncodeInto(item map[string]dynamo.Value, p unsafe.Pointer) error {
	for i := range sh.Fields {
		f := &sh.Fields[i]
		if f.Options.KeyOnly || f.Options.KeyText {
			continue
		}
		if f.Options.Rest {
			f.encodeRest(item, p)
			continue
		}
		v, err := f.Value(p)
		if err != nil {
			return err
		}
		if !v.IsAbsent() {
			item[f.Attr] = v
		}
	}
	return nil
}

// decodeFrom sets the fields of the zero struct at p from the attributes of an item. Unknown
// attributes are ignored, and so are NULLs unless the field is required.
func (sh *Shape) decodeFrom(item map[string]dynamo.Value, p unsafe.Pointer) error {
	for i := range sh.Fields {
		f := &sh.Fields[i]
		v, ok := item[f.Attr]
		ok = ok && v.Kind() != dynamo.KindNULL
		if !ok && f.Options.Required {
			return &AttributeError{f.Attr, ErrAbsent}
		}
		if !ok || f.Options.KeyOnly || f.Options.KeyText || f.Options.Rest {
			continue
		}
		if err := f.Codec.Decode(v, f.At(p)); err != nil {
			return &AttributeError{f.Attr, err}
		}
		if f.Options.Required && !f.Options.MayBeEmpty && f.Form == FormText && f.IsEmpty(p) {
			return &AttributeError{f.Attr, ErrEmpty}
		}
	}
	return nil
}

// PartOf returns the field of type Part in the struct at p. The shape must have one.
func (sh *Shape) PartOf(p unsafe.Pointer) *Part { return (*Part)(unsafe.Add(p, *sh.PartAt)) }

// Lookup finds a field by attribute name or Go name.
func (sh *Shape) Lookup(name string) (int, bool) {
	i, ok := sh.ByName[name]
	return i, ok
}

// KindOf returns the kind of a field's type.
func (sh *Shape) KindOf(i int) reflect.Kind {
	if i >= len(sh.Fields) {
		return reflect.Invalid
	}
	return sh.Fields[i].Type.Kind()
}

// shapeBuilder creates shapes. It keeps those that it has begun, because a type may contain itself.
type shapeBuilder struct {
	shapes map[reflect.Type]*Shape
}

// ShapeFor returns the shape of a struct type.
func ShapeFor(typ reflect.Type) *Shape {
	b := &shapeBuilder{shapes: map[reflect.Type]*Shape{}}
	return b.shapeOf(typ)
}

func (b *shapeBuilder) shapeOf(typ reflect.Type) *Shape {
	if sh, ok := b.shapes[typ]; ok {
		return sh
	}
	sh := &Shape{Type: typ, ByName: map[string]int{}}
	b.shapes[typ] = sh
	if typ.Kind() != reflect.Struct {
		sh.Problems = append(sh.Problems, fmt.Sprintf("%s is not a struct", typ))
		return sh
	}
	b.addFields(sh, typ, 0)
	for i, f := range sh.Fields {
		if _, taken := sh.ByName[f.GoName]; !taken {
			sh.ByName[f.GoName] = i
		}
	}
	return sh
}

func (b *shapeBuilder) addFields(sh *Shape, typ reflect.Type, base uintptr) {
	for i := range typ.NumField() {
		sf := typ.Field(i)
		tag := sf.Tag.Get("dynamodbav")
		if tag == "-" {
			continue
		}
		name, opts, bad := parseTag(tag)
		if sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct &&
			sf.Type != timeType {
			b.addFields(sh, sf.Type, base+sf.Offset)
			continue
		}
		if !sf.IsExported() {
			continue
		}
		if sf.Type == partType {
			at := base + sf.Offset
			sh.PartAt = &at
			continue
		}
		if name == "" {
			name = sf.Name
		}
		if bad != "" {
			sh.Problems = append(sh.Problems, fmt.Sprintf("field %s: unknown tag option %q",
				sf.Name, bad))
		}
		b.addField(sh, sf, Field{Attr: name, GoName: sf.Name, Offset: base + sf.Offset,
			Type: sf.Type, Options: opts})
	}
}

func (b *shapeBuilder) addField(sh *Shape, sf reflect.StructField, f Field) {
	var err error
	switch {
	case f.Options.Rest && sf.Type != reflect.TypeFor[Rest]():
		sh.Problems = append(sh.Problems, fmt.Sprintf("field %s: rest needs a Rest", sf.Name))
		return
	case f.Options.KeyText && sf.Type.Kind() != reflect.String:
		sh.Problems = append(sh.Problems, fmt.Sprintf("field %s: keytext needs a string", sf.Name))
		return
	}
	if f.Codec, err = b.newCodec(sf.Type, f.Options); err != nil {
		sh.Problems = append(sh.Problems, fmt.Sprintf("field %s: %v", sf.Name, err))
		return
	}
	f.Form, f.read, f.Write = scalarReader(sf.Type)
	if nested := b.shapes[underlying(sf.Type)]; nested != nil && nested != sh {
		for _, p := range nested.Problems {
			sh.Problems = append(sh.Problems, fmt.Sprintf("field %s: %s", sf.Name, p))
		}
	}
	if _, taken := sh.ByName[f.Attr]; taken {
		sh.Problems = append(sh.Problems, fmt.Sprintf("two fields have the attribute %s", f.Attr))
		return
	}
	sh.ByName[f.Attr] = len(sh.Fields)
	sh.Fields = append(sh.Fields, f)
}

// underlying removes pointers, slices and maps from a type.
func underlying(typ reflect.Type) reflect.Type {
	for {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			typ = typ.Elem()
		default:
			return typ
		}
	}
}

// parseTag splits a `dynamodbav` tag. The options are those of the AWS SDK for Go, and these of
// this package: seconds, day, keyonly, keytext, required, present, together and rest.
func parseTag(tag string) (name string, opts tagOptions, bad string) {
	name, rest, _ := strings.Cut(tag, ",")
	for opt := range strings.SplitSeq(rest, ",") {
		switch opt {
		case "", "omitemptyelem", "nullempty", "nullemptyelem", "string":
		case "omitempty":
			opts.OmitEmpty = true
		case "stringset":
			opts.stringSet = true
		case "numberset":
			opts.numberSet = true
		case "binaryset":
			opts.binarySet = true
		case "unixtime":
			opts.UnixTime = true
		case "seconds":
			opts.seconds = true
		case "day":
			opts.day = true
		case "keyonly":
			opts.KeyOnly = true
		case "keytext":
			opts.KeyText = true
		case "required":
			opts.Required = true
		case "present":
			opts.Required, opts.MayBeEmpty = true, true
		case "together":
			opts.Together = true
		case "rest":
			opts.Rest = true
		default:
			bad = opt
		}
	}
	return name, opts, bad
}

// TypeIs reports whether a field is of type V.
func TypeIs[V any](f *Field) bool { return f.Type == reflect.TypeFor[V]() }

// FromScalar returns the value that the field would store.
func (f *Field) FromScalar(v Scalar, scratch unsafe.Pointer) (dynamo.Value, error) {
	if err := f.Write(f.At(scratch), v.as(f.Form)); err != nil {
		return dynamo.Value{}, err
	}
	return f.Codec.Encode(f.At(scratch))
}

// IsEmpty reports whether the field of the struct at p is its zero value.
func (f *Field) IsEmpty(p unsafe.Pointer) bool {
	if f.Codec.Empty != nil {
		return f.Codec.Empty(f.At(p))
	}
	return reflect.NewAt(f.Type, f.At(p)).Elem().IsZero()
}

// Clear sets the field to its zero value.
func (f *Field) Clear(p unsafe.Pointer) { reflect.NewAt(f.Type, f.At(p)).Elem().SetZero() }

// Rest holds the attributes of an item that its entity does not define, which other programs wrote.
// A field of this type with the tag option rest preserves them when the item is written again.
type Rest map[string]dynamo.Value

func (f *Field) encodeRest(item map[string]dynamo.Value, p unsafe.Pointer) {
	for name, v := range *(*Rest)(f.At(p)) {
		if _, taken := item[name]; !taken {
			item[name] = v
		}
	}
}

// SetKeyText sets a field with the option keytext to the text of its key.
func (f *Field) SetKeyText(p unsafe.Pointer, v dynamo.Value) {
	*(*string)(f.At(p)) = v.S()
}

// Part marks a value that was read from an index with only some of its attributes. A struct with an
// exported field of this type can be read in part: the kit sets the field, copies of the value keep
// it, and writing the whole value is refused with [ErrPart]. Without such a field a pattern with
// such an index must [Hydrate], or use an entity with a smaller struct.
//
// The zero value means that the value is whole. It is never stored.
type Part struct {
	// Index is the index from which the value was read; "" for a whole value.
	Index string
}

var partType = reflect.TypeFor[Part]()
