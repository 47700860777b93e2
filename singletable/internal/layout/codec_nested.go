package layout

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func (b *shapeBuilder) pointerCodec(typ reflect.Type, opts tagOptions) (codec, error) {
	elem, err := b.newCodec(typ.Elem(), opts)
	if err != nil {
		return codec{}, err
	}
	return codec{
		Kind: elem.Kind,
		Encode: func(p unsafe.Pointer) (dynamo.Value, error) {
			q := *(*unsafe.Pointer)(p)
			if q == nil {
				return dynamo.Value{}, nil
			}
			return elem.Encode(q)
		},
		Decode: func(v dynamo.Value, p unsafe.Pointer) error {
			q := reflect.New(typ.Elem())
			*(*unsafe.Pointer)(p) = q.UnsafePointer()
			return elem.Decode(v, q.UnsafePointer())
		},
		Empty: func(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) == nil },
	}, nil
}

func (b *shapeBuilder) sliceCodec(typ reflect.Type, opts tagOptions) (codec, error) {
	elem := typ.Elem()
	length := func(p unsafe.Pointer) bool { return reflect.NewAt(typ, p).Elem().Len() == 0 }
	switch {
	case elem.Kind() == reflect.Uint8:
		return bytesCodec(), nil
	case opts.stringSet && elem.Kind() == reflect.String:
		return stringSetCodec(typ, length), nil
	case opts.stringSet, opts.numberSet, opts.binarySet:
		return b.setCodec(typ, opts, length)
	}
	each, err := b.newCodec(elem, tagOptions{})
	if err != nil {
		return codec{}, err
	}
	c := codec{Kind: dynamo.KindL, Empty: length}
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		s := reflect.NewAt(typ, p).Elem()
		if s.IsNil() {
			return dynamo.Value{}, nil
		}
		elems := make([]dynamo.Value, s.Len())
		for i := range elems {
			v, err := each.Encode(s.Index(i).Addr().UnsafePointer())
			if err != nil {
				return dynamo.Value{}, fmt.Errorf("element %d: %w", i, err)
			}
			elems[i] = orNull(v)
		}
		return dynamo.L(elems...), nil
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		elems := v.L()
		s := reflect.MakeSlice(typ, len(elems), len(elems))
		for i, e := range elems {
			if e.Kind() == dynamo.KindNULL {
				continue
			}
			if err := each.Decode(e, s.Index(i).Addr().UnsafePointer()); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		reflect.NewAt(typ, p).Elem().Set(s)
		return nil
	}
	return c, nil
}

// orNull stores a nil element of a list as null, so that the other elements keep their positions.
func orNull(v dynamo.Value) dynamo.Value {
	if v.IsAbsent() {
		return dynamo.Null()
	}
	return v
}

func bytesCodec() codec {
	c := codec{Kind: dynamo.KindB}
	c.Empty = func(p unsafe.Pointer) bool { return len(*(*[]byte)(p)) == 0 }
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		b := *(*[]byte)(p)
		if b == nil {
			return dynamo.Value{}, nil
		}
		return dynamo.B(b), nil
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if v.Kind() == dynamo.KindS { // other programs store text in binary attributes
			*(*[]byte)(p) = []byte(v.S())
			return nil
		}
		*(*[]byte)(p) = v.B()
		return c.expect(v)
	}
	return c
}

func stringSetCodec(typ reflect.Type, length func(unsafe.Pointer) bool) codec {
	c := codec{Kind: dynamo.KindSS, Empty: length}
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		s := reflect.NewAt(typ, p).Elem()
		if s.Len() == 0 {
			return dynamo.Value{}, nil // the store does not allow empty sets
		}
		elems := make([]string, s.Len())
		for i := range elems {
			elems[i] = s.Index(i).String()
		}
		return dynamo.SS(elems...), nil
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		elems := v.SS()
		s := reflect.MakeSlice(typ, len(elems), len(elems))
		for i, e := range elems {
			s.Index(i).SetString(e)
		}
		reflect.NewAt(typ, p).Elem().Set(s)
		return nil
	}
	return c
}

// setCodec returns the codec of sets other than those of plain strings. It uses the codec of the
// elements.
func (b *shapeBuilder) setCodec(
	typ reflect.Type, opts tagOptions, length func(unsafe.Pointer) bool,
) (codec, error) {
	want, set := dynamo.KindS, dynamo.KindSS
	switch {
	case opts.numberSet:
		want, set = dynamo.KindN, dynamo.KindNS
	case opts.binarySet:
		want, set = dynamo.KindB, dynamo.KindBS
	}
	each, err := b.newCodec(typ.Elem(), tagOptions{})
	if err != nil {
		return codec{}, err
	}
	if each.Kind != want {
		return codec{}, fmt.Errorf("%s cannot be the element of a set of type %s",
			typ.Elem(), set)
	}
	c := codec{Kind: set, Empty: length}
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		s := reflect.NewAt(typ, p).Elem()
		elems := make([]dynamo.Value, s.Len())
		for i := range elems {
			if elems[i], err = each.Encode(s.Index(i).Addr().UnsafePointer()); err != nil {
				return dynamo.Value{}, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return SetOf(set, elems), nil
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		elems := ElementsOf(v)
		s := reflect.MakeSlice(typ, len(elems), len(elems))
		for i, e := range elems {
			if err := each.Decode(e, s.Index(i).Addr().UnsafePointer()); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		reflect.NewAt(typ, p).Elem().Set(s)
		return nil
	}
	return c, nil
}

// SetOf returns the set of a kind with the elements, or the absent Value without elements, because
// there is no empty set.
func SetOf(kind dynamo.Kind, elems []dynamo.Value) dynamo.Value {
	if len(elems) == 0 {
		return dynamo.Value{}
	}
	var texts []string
	var bytes [][]byte
	for _, e := range elems {
		switch kind {
		case dynamo.KindSS:
			texts = append(texts, e.S())
		case dynamo.KindNS:
			texts = append(texts, e.N())
		default:
			bytes = append(bytes, e.B())
		}
	}
	switch kind {
	case dynamo.KindSS:
		return dynamo.SS(texts...)
	case dynamo.KindNS:
		return dynamo.NS(texts...)
	}
	return dynamo.BS(bytes...)
}

// ElementsOf returns the elements of a set as values.
func ElementsOf(v dynamo.Value) []dynamo.Value {
	var out []dynamo.Value
	for _, s := range v.SS() {
		out = append(out, dynamo.S(s))
	}
	for _, n := range v.NS() {
		out = append(out, dynamo.N(n))
	}
	for _, b := range v.BS() {
		out = append(out, dynamo.B(b))
	}
	return out
}

func (b *shapeBuilder) mapCodec(typ reflect.Type, _ tagOptions) (codec, error) {
	if typ.Key().Kind() != reflect.String {
		return codec{}, fmt.Errorf("the keys of a map must be strings, not %s", typ.Key())
	}
	each, err := b.newCodec(typ.Elem(), tagOptions{})
	if err != nil {
		return codec{}, err
	}
	c := codec{Kind: dynamo.KindM}
	c.Empty = func(p unsafe.Pointer) bool { return reflect.NewAt(typ, p).Elem().Len() == 0 }
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		m := reflect.NewAt(typ, p).Elem()
		if m.IsNil() {
			return dynamo.Value{}, nil
		}
		out := make(map[string]dynamo.Value, m.Len())
		for rows := m.MapRange(); rows.Next(); {
			elem := reflect.New(typ.Elem())
			elem.Elem().Set(rows.Value())
			v, err := each.Encode(elem.UnsafePointer())
			if err != nil {
				return dynamo.Value{}, fmt.Errorf("member %s: %w", rows.Key(), err)
			}
			out[rows.Key().String()] = orNull(v)
		}
		return dynamo.M(out), nil
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		m := reflect.MakeMapWithSize(typ, len(v.M()))
		for name, e := range v.M() {
			elem := reflect.New(typ.Elem())
			if e.Kind() != dynamo.KindNULL {
				if err := each.Decode(e, elem.UnsafePointer()); err != nil {
					return fmt.Errorf("member %s: %w", name, err)
				}
			}
			m.SetMapIndex(reflect.ValueOf(name).Convert(typ.Key()), elem.Elem())
		}
		reflect.NewAt(typ, p).Elem().Set(m)
		return nil
	}
	return c, nil
}

func (b *shapeBuilder) structCodec(typ reflect.Type) codec {
	sh := b.shapeOf(typ)
	c := codec{Kind: dynamo.KindM}
	c.Empty = func(p unsafe.Pointer) bool { return reflect.NewAt(typ, p).Elem().IsZero() }
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		m := make(map[string]dynamo.Value, len(sh.Fields))
		err := sh.EncodeInto(m, p)
		return dynamo.M(m), err
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		return sh.decodeFrom(v.M(), p)
	}
	return c
}

// anyCodec stores the types of JSON, with exact numbers: string, bool, nil, integers, [Number],
// []any and map[string]any.
func anyCodec() codec {
	return codec{
		Encode: func(p unsafe.Pointer) (dynamo.Value, error) {
			if *(*any)(p) == nil {
				return dynamo.Value{}, nil
			}
			return encodeAny(*(*any)(p))
		},
		Decode: func(v dynamo.Value, p unsafe.Pointer) error {
			*(*any)(p) = DecodeAny(v)
			return nil
		},
		Empty: func(p unsafe.Pointer) bool { return *(*any)(p) == nil },
	}
}

func encodeAny(x any) (dynamo.Value, error) {
	switch x := x.(type) {
	case nil:
		return dynamo.Null(), nil
	case string:
		return dynamo.S(x), nil
	case bool:
		return dynamo.Bool(x), nil
	case int:
		return dynamo.Int(int64(x)), nil
	case int64:
		return dynamo.Int(x), nil
	case []byte:
		return dynamo.B(x), nil
	case numberMarshaler:
		text, err := x.MarshalNumber()
		if err == nil {
			text, err = dynamo.CanonicalNumber(text)
		}
		return dynamo.CanonicalN(text), err
	case []any:
		elems := make([]dynamo.Value, len(x))
		for i, e := range x {
			var err error
			if elems[i], err = encodeAny(e); err != nil {
				return dynamo.Value{}, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return dynamo.L(elems...), nil
	case map[string]any:
		m := make(map[string]dynamo.Value, len(x))
		for name, e := range x {
			var err error
			if m[name], err = encodeAny(e); err != nil {
				return dynamo.Value{}, fmt.Errorf("member %s: %w", name, err)
			}
		}
		return dynamo.M(m), nil
	}
	return dynamo.Value{}, fmt.Errorf("a value of type %T cannot be stored", x)
}

// DecodeAny returns a value as plain Go: strings, numbers as text, lists and maps.
func DecodeAny(v dynamo.Value) any {
	switch v.Kind() {
	case dynamo.KindS:
		return v.S()
	case dynamo.KindN:
		return Number(v.N())
	case dynamo.KindB:
		return v.B()
	case dynamo.KindBOOL:
		return v.Bool()
	case dynamo.KindL:
		out := make([]any, len(v.L()))
		for i, e := range v.L() {
			out[i] = DecodeAny(e)
		}
		return out
	case dynamo.KindM:
		out := make(map[string]any, len(v.M()))
		for name, e := range v.M() {
			out[name] = DecodeAny(e)
		}
		return out
	case dynamo.KindSS, dynamo.KindNS, dynamo.KindBS:
		var out []any
		for _, e := range ElementsOf(v) {
			out = append(out, DecodeAny(e))
		}
		return out
	}
	return nil
}

// Number is an exact decimal as text, stored as a Number. It is for attributes of up to 38 digits
// without arithmetic, such as coordinates. The zero value is 0.
type Number string

// MarshalNumber returns the text.
func (n Number) MarshalNumber() (string, error) {
	if n == "" {
		return "0", nil
	}
	return string(n), nil
}

// UnmarshalNumber sets the text.
func (n *Number) UnmarshalNumber(text string) error {
	*n = Number(text)
	return nil
}

// MarshalJSON returns a JSON number with all its digits.
func (n Number) MarshalJSON() ([]byte, error) {
	text, err := dynamo.CanonicalNumber(string(n))
	if n == "" {
		return []byte("0"), nil
	}
	return []byte(text), err
}

// UnmarshalJSON parses a JSON number, or one in a string.
func (n *Number) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	text, err := dynamo.CanonicalNumber(text)
	*n = Number(text)
	return err
}
