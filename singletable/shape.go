package singletable

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// shape describes a struct type: its fields, their attributes and how to read and write them by
// address. It is created once, so that calls do not pay for reflection on types.
type shape struct {
	typ      reflect.Type
	fields   []field
	byName   map[string]int // by attribute name, and by Go name unless that is an attribute
	problems []string
	part     *uintptr // offset of the field of type Part, nil without one
}

// field is one field of a struct.
type field struct {
	attr, goName string
	offset       uintptr
	typ          reflect.Type
	opts         tagOptions
	codec        codec
	form         form
	read         func(unsafe.Pointer) (scalar, error)
	write        func(unsafe.Pointer, scalar) error
}

// at returns the address of the field in the struct at p.
func (f *field) at(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(p, f.offset) }

// scalar reads the field for a key.
func (f *field) scalar(p unsafe.Pointer) (scalar, error) {
	v, err := f.read(f.at(p))
	if err == nil && f.opts.omitEmpty && f.codec.empty(f.at(p)) {
		v.missing = true
	}
	return v, err
}

// value encodes the field. It returns the absent Value if the field is not stored.
func (f *field) value(p unsafe.Pointer) (dynamo.Value, error) {
	q := f.at(p)
	if f.opts.omitEmpty && f.codec.empty(q) {
		return dynamo.Value{}, nil
	}
	v, err := f.codec.encode(q)
	if err != nil {
		return v, fmt.Errorf("attribute %s: %w", f.attr, err)
	}
	return v, nil
}

// encodeInto adds the attributes of the struct at p to an item.
func (sh *shape) encodeInto(item map[string]dynamo.Value, p unsafe.Pointer) error {
	for i := range sh.fields {
		f := &sh.fields[i]
		if f.opts.keyOnly || f.opts.keyText {
			continue
		}
		if f.opts.rest {
			f.encodeRest(item, p)
			continue
		}
		v, err := f.value(p)
		if err != nil {
			return err
		}
		if !v.IsAbsent() {
			item[f.attr] = v
		}
	}
	return nil
}

// decodeFrom sets the fields of the zero struct at p from the attributes of an item. Unknown
// attributes are ignored, and so are NULLs unless the field is required.
func (sh *shape) decodeFrom(item map[string]dynamo.Value, p unsafe.Pointer) error {
	for i := range sh.fields {
		f := &sh.fields[i]
		v, ok := item[f.attr]
		ok = ok && v.Kind() != dynamo.KindNULL
		if !ok && f.opts.required {
			return &AttributeError{f.attr, errAbsent}
		}
		if !ok || f.opts.keyOnly || f.opts.keyText || f.opts.rest {
			continue
		}
		if err := f.codec.decode(v, f.at(p)); err != nil {
			return &AttributeError{f.attr, err}
		}
		if f.opts.required && !f.opts.mayBeEmpty && f.form == formText && f.isEmpty(p) {
			return &AttributeError{f.attr, errEmpty}
		}
	}
	return nil
}

// lookup finds a field by attribute name or Go name.
func (sh *shape) lookup(name string) (int, bool) {
	i, ok := sh.byName[name]
	return i, ok
}

// kindOf returns the kind of a field's type.
func (sh *shape) kindOf(i int) reflect.Kind {
	if i >= len(sh.fields) {
		return reflect.Invalid
	}
	return sh.fields[i].typ.Kind()
}

// shapeBuilder creates shapes. It keeps those that it has begun, because a type may contain itself.
type shapeBuilder struct {
	shapes map[reflect.Type]*shape
}

// shapeFor returns the shape of a struct type.
func shapeFor(typ reflect.Type) *shape {
	b := &shapeBuilder{shapes: map[reflect.Type]*shape{}}
	return b.shapeOf(typ)
}

func (b *shapeBuilder) shapeOf(typ reflect.Type) *shape {
	if sh, ok := b.shapes[typ]; ok {
		return sh
	}
	sh := &shape{typ: typ, byName: map[string]int{}}
	b.shapes[typ] = sh
	if typ.Kind() != reflect.Struct {
		sh.problems = append(sh.problems, fmt.Sprintf("%s is not a struct", typ))
		return sh
	}
	b.addFields(sh, typ, 0)
	for i, f := range sh.fields {
		if _, taken := sh.byName[f.goName]; !taken {
			sh.byName[f.goName] = i
		}
	}
	return sh
}

func (b *shapeBuilder) addFields(sh *shape, typ reflect.Type, base uintptr) {
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
			sh.part = &at
			continue
		}
		if name == "" {
			name = sf.Name
		}
		if bad != "" {
			sh.problems = append(sh.problems, fmt.Sprintf("field %s: unknown tag option %q",
				sf.Name, bad))
		}
		b.addField(sh, sf, field{attr: name, goName: sf.Name, offset: base + sf.Offset,
			typ: sf.Type, opts: opts})
	}
}

func (b *shapeBuilder) addField(sh *shape, sf reflect.StructField, f field) {
	var err error
	switch {
	case f.opts.rest && sf.Type != reflect.TypeFor[Rest]():
		sh.problems = append(sh.problems, fmt.Sprintf("field %s: rest needs a Rest", sf.Name))
		return
	case f.opts.keyText && sf.Type.Kind() != reflect.String:
		sh.problems = append(sh.problems, fmt.Sprintf("field %s: keytext needs a string", sf.Name))
		return
	}
	if f.codec, err = b.newCodec(sf.Type, f.opts); err != nil {
		sh.problems = append(sh.problems, fmt.Sprintf("field %s: %v", sf.Name, err))
		return
	}
	f.form, f.read, f.write = scalarReader(sf.Type)
	if nested := b.shapes[underlying(sf.Type)]; nested != nil && nested != sh {
		for _, p := range nested.problems {
			sh.problems = append(sh.problems, fmt.Sprintf("field %s: %s", sf.Name, p))
		}
	}
	if _, taken := sh.byName[f.attr]; taken {
		sh.problems = append(sh.problems, fmt.Sprintf("two fields have the attribute %s", f.attr))
		return
	}
	sh.byName[f.attr] = len(sh.fields)
	sh.fields = append(sh.fields, f)
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
			opts.omitEmpty = true
		case "stringset":
			opts.stringSet = true
		case "numberset":
			opts.numberSet = true
		case "binaryset":
			opts.binarySet = true
		case "unixtime":
			opts.unixTime = true
		case "seconds":
			opts.seconds = true
		case "day":
			opts.day = true
		case "keyonly":
			opts.keyOnly = true
		case "keytext":
			opts.keyText = true
		case "required":
			opts.required = true
		case "present":
			opts.required, opts.mayBeEmpty = true, true
		case "together":
			opts.together = true
		case "rest":
			opts.rest = true
		default:
			bad = opt
		}
	}
	return name, opts, bad
}

// typeIs reports whether a field is of type V.
func typeIs[V any](f *field) bool { return f.typ == reflect.TypeFor[V]() }

// zero returns a new T.
func (c *core) zero() unsafe.Pointer { return reflect.New(c.shape.typ).UnsafePointer() }
