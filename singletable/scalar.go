package singletable

import (
	"encoding"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// form is the kind of a field as a part of a key. The formats of templates apply to forms.
type form uint8

const (
	formNone form = iota
	formText
	formInt
	formNumber // decimal text
	formTime
	formBool
	formBytes
)

var formNames = [...]string{"no key part", "text", "an integer", "a number", "a time", "a boolean",
	"bytes"}

func (f form) String() string { return formNames[f] }

// scalar is the value of a field in its form. A missing scalar is an empty or absent field. Zero is
// a value, unless the field is an empty `omitempty` one.
type scalar struct {
	form    form
	missing bool
	b       bool
	i       int64
	text    string // of formText, formNumber and, as raw bytes, formBytes
	t       time.Time
}

// timeAbsent reports whether t means that there is no time.
func timeAbsent(t time.Time) bool { return t.IsZero() }

// scalarReader returns the form of a type, and functions that read a scalar from, and write one to,
// a variable of the type.
func scalarReader(typ reflect.Type) (form, func(unsafe.Pointer) (scalar, error),
	func(unsafe.Pointer, scalar) error) {
	switch {
	case typ == timeType:
		return formTime, readTime, writeTime
	case implements(typ, numberMarshalerType) && implements(typ, numberUnmarshalerType):
		return formNumber, readNumber(typ), writeNumber(typ)
	case implements(typ, textMarshalerType) && implements(typ, textUnmarshalerType):
		return formText, readText(typ), writeText(typ)
	}
	switch typ.Kind() {
	case reflect.String:
		return formText, readString, writeString
	case reflect.Bool:
		return formBool, readBool, writeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return formInt, readInt(typ), writeInt(typ)
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return formBytes, readBytes, writeBytes
		}
	case reflect.Pointer:
		return pointerReader(typ.Elem())
	}
	return formNone, nil, nil
}

func readString(p unsafe.Pointer) (scalar, error) {
	s := *(*string)(p)
	return scalar{form: formText, text: s, missing: s == ""}, nil
}

func writeString(p unsafe.Pointer, v scalar) error {
	*(*string)(p) = v.text
	return nil
}

func readBool(p unsafe.Pointer) (scalar, error) {
	return scalar{form: formBool, b: *(*bool)(p)}, nil
}

func writeBool(p unsafe.Pointer, v scalar) error {
	*(*bool)(p) = v.b
	return nil
}

func readTime(p unsafe.Pointer) (scalar, error) {
	t := *(*time.Time)(p)
	return scalar{form: formTime, t: t, missing: timeAbsent(t)}, nil
}

func writeTime(p unsafe.Pointer, v scalar) error {
	*(*time.Time)(p) = v.t
	return nil
}

func readBytes(p unsafe.Pointer) (scalar, error) {
	b := *(*[]byte)(p)
	return scalar{form: formBytes, text: string(b), missing: len(b) == 0}, nil
}

func writeBytes(p unsafe.Pointer, v scalar) error {
	*(*[]byte)(p) = []byte(v.text)
	return nil
}

func readInt(typ reflect.Type) func(unsafe.Pointer) (scalar, error) {
	get := intGetter(typ.Kind())
	return func(p unsafe.Pointer) (scalar, error) {
		i, err := get(p)
		return scalar{form: formInt, i: i}, err
	}
}

// intGetter returns a function that reads integers of a kind as int64. An unsigned integer above
// its range cannot be part of a key.
func intGetter(k reflect.Kind) func(unsafe.Pointer) (int64, error) {
	switch k {
	case reflect.Int:
		return func(p unsafe.Pointer) (int64, error) { return int64(*(*int)(p)), nil }
	case reflect.Int8:
		return func(p unsafe.Pointer) (int64, error) { return int64(*(*int8)(p)), nil }
	case reflect.Int16:
		return func(p unsafe.Pointer) (int64, error) { return int64(*(*int16)(p)), nil }
	case reflect.Int32:
		return func(p unsafe.Pointer) (int64, error) { return int64(*(*int32)(p)), nil }
	case reflect.Int64:
		return func(p unsafe.Pointer) (int64, error) { return *(*int64)(p), nil }
	}
	get := uintGetter(k)
	return func(p unsafe.Pointer) (int64, error) {
		u := get(p)
		if u > 1<<63-1 {
			return 0, fmt.Errorf("%d is beyond 63 bits, too large for a key", u)
		}
		return int64(u), nil
	}
}

func uintGetter(k reflect.Kind) func(unsafe.Pointer) uint64 {
	switch k {
	case reflect.Uint8:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*uint8)(p)) }
	case reflect.Uint16:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*uint16)(p)) }
	case reflect.Uint32:
		return func(p unsafe.Pointer) uint64 { return uint64(*(*uint32)(p)) }
	case reflect.Uint64:
		return func(p unsafe.Pointer) uint64 { return *(*uint64)(p) }
	}
	return func(p unsafe.Pointer) uint64 { return uint64(*(*uint)(p)) }
}

func writeInt(typ reflect.Type) func(unsafe.Pointer, scalar) error {
	return func(p unsafe.Pointer, v scalar) error {
		return setIntText(reflect.NewAt(typ, p).Elem(), strconv.FormatInt(v.i, 10))
	}
}

// numberMarshaler is implemented by types that are stored as Numbers.
type numberMarshaler interface{ MarshalNumber() (string, error) }

// numberUnmarshaler is its counterpart for reading.
type numberUnmarshaler interface{ UnmarshalNumber(text string) error }

func readNumber(typ reflect.Type) func(unsafe.Pointer) (scalar, error) {
	return func(p unsafe.Pointer) (scalar, error) {
		text, err := reflect.NewAt(typ, p).Interface().(numberMarshaler).MarshalNumber()
		if err != nil {
			return scalar{}, err
		}
		text, err = dynamo.CanonicalNumber(text)
		return scalar{form: formNumber, text: text}, err
	}
}

func writeNumber(typ reflect.Type) func(unsafe.Pointer, scalar) error {
	return func(p unsafe.Pointer, v scalar) error {
		return reflect.NewAt(typ, p).Interface().(numberUnmarshaler).UnmarshalNumber(v.text)
	}
}

func readText(typ reflect.Type) func(unsafe.Pointer) (scalar, error) {
	return func(p unsafe.Pointer) (scalar, error) {
		v := reflect.NewAt(typ, p)
		if v.Elem().IsZero() {
			return scalar{form: formText, missing: true}, nil
		}
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return scalar{form: formText, text: string(text), missing: len(text) == 0}, err
	}
}

func writeText(typ reflect.Type) func(unsafe.Pointer, scalar) error {
	return func(p unsafe.Pointer, v scalar) error {
		u := reflect.NewAt(typ, p).Interface().(encoding.TextUnmarshaler)
		return u.UnmarshalText([]byte(v.text))
	}
}

func pointerReader(elem reflect.Type) (form, func(unsafe.Pointer) (scalar, error),
	func(unsafe.Pointer, scalar) error) {
	f, read, write := scalarReader(elem)
	if f == formNone || elem.Kind() == reflect.Pointer {
		return formNone, nil, nil
	}
	return f, func(p unsafe.Pointer) (scalar, error) {
			q := *(*unsafe.Pointer)(p)
			if q == nil {
				return scalar{form: f, missing: true}, nil
			}
			v, err := read(q)
			if f == formTime {
				v.missing = false // a pointer itself shows whether there is a time
			}
			return v, err
		}, func(p unsafe.Pointer, v scalar) error {
			q := reflect.New(elem)
			if err := write(q.UnsafePointer(), v); err != nil {
				return err
			}
			*(*unsafe.Pointer)(p) = q.UnsafePointer()
			return nil
		}
}

// appendScalar formats a scalar without a format: as the input of a shard's hash, and for messages.
func appendScalar(dst []byte, v scalar) []byte {
	switch v.form {
	case formInt:
		return strconv.AppendInt(dst, v.i, 10)
	case formTime:
		return appendMillis(dst, v.t)
	case formBool:
		return strconv.AppendBool(dst, v.b)
	case formBytes:
		return hex.AppendEncode(dst, []byte(v.text))
	}
	return append(dst, v.text...)
}
