package layout

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

// The forms of a field in a key. FormNone is that of a type that keys do not support.
const (
	FormNone form = iota
	FormText
	FormInt
	FormNumber // decimal text
	FormTime
	FormBool
	formBytes
)

var formNames = [...]string{"no key part", "text", "an integer", "a number", "a time", "a boolean",
	"bytes"}

func (f form) String() string { return formNames[f] }

// Scalar is the value of a field in its form. A missing scalar is an empty or absent field. Zero is
// a value, unless the field is an empty `omitempty` one.
type Scalar struct {
	Form    form
	Missing bool
	Bool    bool
	Int     int64
	Text    string // of FormText, FormNumber and, as raw bytes, formBytes
	Time    time.Time
}

// timeAbsent reports whether t means that there is no time.
func timeAbsent(t time.Time) bool { return t.IsZero() }

// scalarReader returns the form of a type, and functions that read a scalar from, and write one to,
// a variable of the type.
func scalarReader(typ reflect.Type) (form, func(unsafe.Pointer) (Scalar, error),
	func(unsafe.Pointer, Scalar) error) {
	switch {
	case typ == timeType:
		return FormTime, readTime, writeTime
	case implements(typ, numberMarshalerType) && implements(typ, numberUnmarshalerType):
		return FormNumber, readNumber(typ), writeNumber(typ)
	case implements(typ, textMarshalerType) && implements(typ, textUnmarshalerType):
		return FormText, readText(typ), writeText(typ)
	}
	switch typ.Kind() {
	case reflect.String:
		return FormText, readString, writeString
	case reflect.Bool:
		return FormBool, readBool, writeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return FormInt, readInt(typ), writeInt(typ)
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return formBytes, readBytes, writeBytes
		}
	case reflect.Pointer:
		return pointerReader(typ.Elem())
	}
	return FormNone, nil, nil
}

func readString(p unsafe.Pointer) (Scalar, error) {
	s := *(*string)(p)
	return Scalar{Form: FormText, Text: s, Missing: s == ""}, nil
}

func writeString(p unsafe.Pointer, v Scalar) error {
	*(*string)(p) = v.Text
	return nil
}

func readBool(p unsafe.Pointer) (Scalar, error) {
	return Scalar{Form: FormBool, Bool: *(*bool)(p)}, nil
}

func writeBool(p unsafe.Pointer, v Scalar) error {
	*(*bool)(p) = v.Bool
	return nil
}

func readTime(p unsafe.Pointer) (Scalar, error) {
	t := *(*time.Time)(p)
	return Scalar{Form: FormTime, Time: t, Missing: timeAbsent(t)}, nil
}

func writeTime(p unsafe.Pointer, v Scalar) error {
	*(*time.Time)(p) = v.Time
	return nil
}

func readBytes(p unsafe.Pointer) (Scalar, error) {
	b := *(*[]byte)(p)
	return Scalar{Form: formBytes, Text: string(b), Missing: len(b) == 0}, nil
}

func writeBytes(p unsafe.Pointer, v Scalar) error {
	*(*[]byte)(p) = []byte(v.Text)
	return nil
}

func readInt(typ reflect.Type) func(unsafe.Pointer) (Scalar, error) {
	get := intGetter(typ.Kind())
	return func(p unsafe.Pointer) (Scalar, error) {
		i, err := get(p)
		return Scalar{Form: FormInt, Int: i}, err
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

func writeInt(typ reflect.Type) func(unsafe.Pointer, Scalar) error {
	return func(p unsafe.Pointer, v Scalar) error {
		return setIntText(reflect.NewAt(typ, p).Elem(), strconv.FormatInt(v.Int, 10))
	}
}

// numberMarshaler is implemented by types that are stored as Numbers.
type numberMarshaler interface{ MarshalNumber() (string, error) }

// numberUnmarshaler is its counterpart for reading.
type numberUnmarshaler interface{ UnmarshalNumber(text string) error }

func readNumber(typ reflect.Type) func(unsafe.Pointer) (Scalar, error) {
	return func(p unsafe.Pointer) (Scalar, error) {
		text, err := reflect.NewAt(typ, p).Interface().(numberMarshaler).MarshalNumber()
		if err != nil {
			return Scalar{}, err
		}
		text, err = dynamo.CanonicalNumber(text)
		return Scalar{Form: FormNumber, Text: text}, err
	}
}

func writeNumber(typ reflect.Type) func(unsafe.Pointer, Scalar) error {
	return func(p unsafe.Pointer, v Scalar) error {
		return reflect.NewAt(typ, p).Interface().(numberUnmarshaler).UnmarshalNumber(v.Text)
	}
}

func readText(typ reflect.Type) func(unsafe.Pointer) (Scalar, error) {
	return func(p unsafe.Pointer) (Scalar, error) {
		v := reflect.NewAt(typ, p)
		if v.Elem().IsZero() {
			return Scalar{Form: FormText, Missing: true}, nil
		}
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return Scalar{Form: FormText, Text: string(text), Missing: len(text) == 0}, err
	}
}

func writeText(typ reflect.Type) func(unsafe.Pointer, Scalar) error {
	return func(p unsafe.Pointer, v Scalar) error {
		u := reflect.NewAt(typ, p).Interface().(encoding.TextUnmarshaler)
		return u.UnmarshalText([]byte(v.Text))
	}
}

func pointerReader(elem reflect.Type) (form, func(unsafe.Pointer) (Scalar, error),
	func(unsafe.Pointer, Scalar) error) {
	f, read, write := scalarReader(elem)
	if f == FormNone || elem.Kind() == reflect.Pointer {
		return FormNone, nil, nil
	}
	return f, func(p unsafe.Pointer) (Scalar, error) {
			q := *(*unsafe.Pointer)(p)
			if q == nil {
				return Scalar{Form: f, Missing: true}, nil
			}
			v, err := read(q)
			if f == FormTime {
				v.Missing = false // a pointer itself shows whether there is a time
			}
			return v, err
		}, func(p unsafe.Pointer, v Scalar) error {
			q := reflect.New(elem)
			if err := write(q.UnsafePointer(), v); err != nil {
				return err
			}
			*(*unsafe.Pointer)(p) = q.UnsafePointer()
			return nil
		}
}

// AppendText formats a scalar without a format: as the input of a shard's hash, and for messages.
func AppendText(dst []byte, v Scalar) []byte {
	switch v.Form {
	case FormInt:
		return strconv.AppendInt(dst, v.Int, 10)
	case FormTime:
		return appendMillis(dst, v.Time)
	case FormBool:
		return strconv.AppendBool(dst, v.Bool)
	case formBytes:
		return hex.AppendEncode(dst, []byte(v.Text))
	}
	return append(dst, v.Text...)
}

// Convert converts a scalar to another form, for example a text input to a time field.
func (v Scalar) Convert(f form) (Scalar, error) {
	if v.Form == f {
		return v, nil
	}
	out := Scalar{Form: f, Missing: v.Missing, Text: v.Text, Int: v.Int, Time: v.Time, Bool: v.Bool}
	var err error
	switch f {
	case FormText:
		out.Text = string(AppendText(nil, v))
	case FormNumber:
		out.Text, err = dynamo.CanonicalNumber(string(AppendText(nil, v)))
	case FormTime:
		out.Time, err = v.Instant()
	case FormInt:
		var n Scalar
		n, err = parseDigits(string(AppendText(nil, v)))
		if err == nil && n.Form != FormInt {
			err = fmt.Errorf("%s is not an integer", n.Text)
		}
		out.Int = n.Int
	default:
		err = fmt.Errorf("%s is not %s", v.Form, f)
	}
	return out, err
}

// ConvertText is convert for text that a person entered, which may be of any form.
func (v Scalar) ConvertText(f form) (Scalar, error) {
	switch f {
	case FormBool:
		b, err := boolFormat().parse(v.Text)
		return b, err
	case formBytes:
		return hexFormat().parse(v.Text)
	}
	return v.Convert(f)
}
