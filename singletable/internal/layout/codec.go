package layout

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

var (
	timeType              = reflect.TypeFor[time.Time]()
	valueType             = reflect.TypeFor[dynamo.Value]()
	anyType               = reflect.TypeFor[any]()
	numberMarshalerType   = reflect.TypeFor[numberMarshaler]()
	numberUnmarshalerType = reflect.TypeFor[numberUnmarshaler]()
	textMarshalerType     = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func implements(typ, iface reflect.Type) bool {
	return typ.Kind() != reflect.Interface && reflect.PointerTo(typ).Implements(iface)
}

// Codec converts variables of one Go type to values and back. encode returns the absent Value for
// Values that are not stored: nil pointers, slices and maps, zero times and empty sets.
type codec struct {
	Kind   dynamo.Kind // Absent if it depends on the value
	Encode func(p unsafe.Pointer) (dynamo.Value, error)
	Decode func(v dynamo.Value, p unsafe.Pointer) error
	// Empty reports whether an `omitempty` field is not stored.
	Empty func(p unsafe.Pointer) bool
}

// mismatch returns the error of a stored value of the wrong type.
func mismatch(want dynamo.Kind, v dynamo.Value) error {
	return fmt.Errorf("is of type %s, not %s", v.Kind(), want)
}

func (c codec) expect(v dynamo.Value) error {
	if v.Kind() != c.Kind {
		return mismatch(c.Kind, v)
	}
	return nil
}

// tagOptions are the options of a `dynamodbav` tag.
type tagOptions struct {
	OmitEmpty, stringSet, numberSet, binarySet, UnixTime, seconds, day bool
	// A KeyOnly field is stored only in the primary key. A KeyText field is a string that is set to
	// the text of a key attribute as it was found. An item without a required field cannot be read,
	// and neither can an item that has only some of the fields with the option together.
	KeyOnly, KeyText, Required, Together bool
	// MayBeEmpty allows a required text to be empty.
	MayBeEmpty bool
	// Rest is a Rest, which holds attributes that the entity does not define.
	Rest bool
}

// newCodec returns the codec of a type, or an error if the type is not supported.
func (b *shapeBuilder) newCodec(typ reflect.Type, opts tagOptions) (codec, error) {
	switch {
	case typ == timeType:
		return timeCodec(opts), nil
	case typ == valueType:
		return rawCodec(), nil
	case typ == anyType:
		return anyCodec(), nil
	case implements(typ, numberMarshalerType) && implements(typ, numberUnmarshalerType):
		return numberCodec(typ), nil
	case implements(typ, textMarshalerType) && implements(typ, textUnmarshalerType):
		return textCodec(typ), nil
	}
	switch typ.Kind() {
	case reflect.String:
		return stringCodec(), nil
	case reflect.Bool:
		return boolCodec(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return intCodec(typ), nil
	case reflect.Float32, reflect.Float64:
		return codec{}, fmt.Errorf("a float cannot hold decimals exactly: use an integer, " +
			"Number, or a type with MarshalNumber and UnmarshalNumber")
	case reflect.Pointer:
		return b.pointerCodec(typ, opts)
	case reflect.Slice:
		return b.sliceCodec(typ, opts)
	case reflect.Map:
		return b.mapCodec(typ, opts)
	case reflect.Struct:
		return b.structCodec(typ), nil
	}
	return codec{}, fmt.Errorf("values of type %s cannot be stored", typ)
}

func stringCodec() codec {
	c := codec{Kind: dynamo.KindS}
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) { return dynamo.S(*(*string)(p)), nil }
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		*(*string)(p) = v.S()
		return c.expect(v)
	}
	c.Empty = func(p unsafe.Pointer) bool { return *(*string)(p) == "" }
	return c
}

func boolCodec() codec {
	c := codec{Kind: dynamo.KindBOOL}
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) { return dynamo.Bool(*(*bool)(p)), nil }
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		*(*bool)(p) = v.Bool()
		return c.expect(v)
	}
	c.Empty = func(p unsafe.Pointer) bool { return !*(*bool)(p) }
	return c
}

func intCodec(typ reflect.Type) codec {
	c := codec{Kind: dynamo.KindN}
	if typ.Kind() >= reflect.Uint && typ.Kind() <= reflect.Uint64 {
		get := uintGetter(typ.Kind())
		c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
			return dynamo.CanonicalN(strconv.FormatUint(get(p), 10)), nil
		}
		c.Empty = func(p unsafe.Pointer) bool { return get(p) == 0 }
	} else {
		get := intGetter(typ.Kind())
		c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
			i, _ := get(p)
			return dynamo.Int(i), nil
		}
		c.Empty = func(p unsafe.Pointer) bool { i, _ := get(p); return i == 0 }
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		if typ.Kind() == reflect.Int64 {
			i, err := strconv.ParseInt(v.N(), 10, 64)
			*(*int64)(p) = i
			return err
		}
		return setIntText(reflect.NewAt(typ, p).Elem(), v.N())
	}
	return c
}

// setIntText sets an integer variable from decimal text and refuses values out of range.
func setIntText(v reflect.Value, text string) error {
	if v.CanUint() {
		u, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s does not fit %s", text, v.Type())
		}
		v.SetUint(u)
		return nil
	}
	i, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil {
		return fmt.Errorf("%s does not fit %s", text, v.Type())
	}
	v.SetInt(i)
	return nil
}

func timeCodec(opts tagOptions) codec {
	c := codec{Kind: dynamo.KindS}
	c.Empty = func(p unsafe.Pointer) bool { return timeAbsent(*(*time.Time)(p)) }
	if opts.UnixTime {
		return unixCodec(c)
	}
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		t := *(*time.Time)(p)
		if timeAbsent(t) {
			return dynamo.Value{}, nil
		}
		if err := checkYear(t); err != nil {
			return dynamo.Value{}, err
		}
		var buf [len(layoutMillis)]byte
		switch {
		case opts.day:
			return dynamo.S(string(appendDay(buf[:0], t))), nil
		case opts.seconds:
			return dynamo.S(string(appendInstant(buf[:0], t, 0))), nil
		}
		return dynamo.S(string(appendMillis(buf[:0], t))), nil
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		t, err := ParseInstant(v.S())
		*(*time.Time)(p) = t
		return err
	}
	return c
}

// unixCodec stores a time as a Number of seconds since 1970, as TTL attributes require.
func unixCodec(c codec) codec {
	c.Kind = dynamo.KindN
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		t := *(*time.Time)(p)
		if timeAbsent(t) {
			return dynamo.Value{}, nil
		}
		return dynamo.Int(t.Unix()), nil
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		whole, _, _ := strings.Cut(v.N(), ".")
		seconds, err := strconv.ParseInt(whole, 10, 64)
		*(*time.Time)(p) = time.Unix(seconds, 0).UTC()
		return err
	}
	return c
}

func numberCodec(typ reflect.Type) codec {
	c := codec{Kind: dynamo.KindN}
	read := readNumber(typ)
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		v, err := read(p)
		return dynamo.CanonicalN(v.Text), err
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		return reflect.NewAt(typ, p).Interface().(numberUnmarshaler).UnmarshalNumber(v.N())
	}
	c.Empty = isZero(typ)
	return c
}

// isZero uses the IsZero method of a type if it has one.
func isZero(typ reflect.Type) func(unsafe.Pointer) bool {
	if implements(typ, reflect.TypeFor[interface{ IsZero() bool }]()) {
		return func(p unsafe.Pointer) bool {
			return reflect.NewAt(typ, p).Interface().(interface{ IsZero() bool }).IsZero()
		}
	}
	return func(p unsafe.Pointer) bool { return reflect.NewAt(typ, p).Elem().IsZero() }
}

func textCodec(typ reflect.Type) codec {
	c := codec{Kind: dynamo.KindS}
	c.Encode = func(p unsafe.Pointer) (dynamo.Value, error) {
		text, err := reflect.NewAt(typ, p).Interface().(encoding.TextMarshaler).MarshalText()
		return dynamo.S(string(text)), err
	}
	c.Decode = func(v dynamo.Value, p unsafe.Pointer) error {
		if err := c.expect(v); err != nil {
			return err
		}
		u := reflect.NewAt(typ, p).Interface().(encoding.TextUnmarshaler)
		return u.UnmarshalText([]byte(v.S()))
	}
	c.Empty = isZero(typ)
	return c
}

func rawCodec() codec {
	return codec{
		Encode: func(p unsafe.Pointer) (dynamo.Value, error) { return *(*dynamo.Value)(p), nil },
		Decode: func(v dynamo.Value, p unsafe.Pointer) error {
			*(*dynamo.Value)(p) = v
			return nil
		},
		Empty: func(p unsafe.Pointer) bool { return (*dynamo.Value)(p).IsAbsent() },
	}
}
