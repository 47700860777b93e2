package dynamo

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Kind is one of DynamoDB's ten types of a [Value]. The zero Kind is that of the zero Value, which
// means "absent".
type Kind uint8

// The ten types, named as in DynamoDB's type descriptors.
const (
	Absent   Kind = iota
	KindS         // string
	KindN         // number
	KindB         // binary
	KindBOOL      // boolean
	KindNULL      // null
	KindL         // list
	KindM         // map
	KindSS        // string set
	KindNS        // number set
	KindBS        // binary set
)

var kindNames = [...]string{"", "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"}

// String returns DynamoDB's type descriptor ("S", "BOOL", ...), or "" for Absent.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// KindOf returns the kind with the given type descriptor, or Absent for any other text.
func KindOf(descriptor string) Kind {
	for k, name := range kindNames {
		if name == descriptor && k > 0 {
			return Kind(k)
		}
	}
	return Absent
}

// Value is a DynamoDB attribute value. Values are immutable and may be copied. Compare them with
// [Value.Equal].
type Value struct {
	_ [0]func() // == would compare pointers, so it must not compile

	// meta contains the kind (8 bits), the checked bit, and the length of the data at ptr.
	meta uint64
	// ptr holds a pointer-shaped value (first element, or map), so that only the constructors of
	// slices and sets allocate.
	ptr any
}

type (
	bytePtr  *byte
	valuePtr *Value
	textPtr  *string
	bytesPtr *[]byte
)

const (
	kindShift  = 56
	checkedBit = 1 << 55 // the value is canonical and valid, including its elements
	lengthMask = checkedBit - 1
)

func meta(k Kind, length int) uint64 { return uint64(k)<<kindShift | uint64(length) }

// S returns a string value.
func S(s string) Value {
	return Value{meta: meta(KindS, len(s)) | checkedBit, ptr: bytePtr(unsafe.StringData(s))}
}

// N returns a number value from decimal text. The text is not validated here. A store refuses text
// that is not a number, has more than 38 significant digits or is out of range, and converts other
// numbers to canonical form (see [CanonicalNumber]).
func N(text string) Value {
	return Value{meta: meta(KindN, len(text)), ptr: bytePtr(unsafe.StringData(text))}
}

// CanonicalN returns a number value from canonical text, which the store need not validate. Use it
// only with text from [CanonicalNumber] or from [Value.N] of a stored value, because other text
// corrupts the stored data.
func CanonicalN(text string) Value {
	v := N(text)
	v.meta |= checkedBit
	return v
}

// Int returns a number value.
func Int(i int64) Value { return CanonicalN(strconv.FormatInt(i, 10)) }

// B returns a binary value that aliases b.
func B(b []byte) Value {
	return Value{meta: meta(KindB, len(b)) | checkedBit, ptr: bytePtr(unsafe.SliceData(b))}
}

// Bool returns a boolean value.
func Bool(b bool) Value {
	if b {
		return Value{meta: meta(KindBOOL, 1) | checkedBit}
	}
	return Value{meta: meta(KindBOOL, 0) | checkedBit}
}

// Null returns the null value.
func Null() Value { return Value{meta: meta(KindNULL, 0) | checkedBit} }

// L returns a list that aliases elems.
func L(elems ...Value) Value {
	return Value{meta: meta(KindL, len(elems)), ptr: valuePtr(unsafe.SliceData(elems))}
}

// M returns a map that aliases m.
func M(m map[string]Value) Value { return Value{meta: meta(KindM, len(m)), ptr: m} }

// SS returns a string set that aliases elems. A store refuses an empty set and a set with a
// duplicate.
func SS(elems ...string) Value {
	return Value{meta: meta(KindSS, len(elems)), ptr: textPtr(unsafe.SliceData(elems))}
}

// NS returns a number set from decimal texts; see [N] and [SS].
func NS(elems ...string) Value {
	return Value{meta: meta(KindNS, len(elems)), ptr: textPtr(unsafe.SliceData(elems))}
}

// BS returns a binary set; see [B] and [SS].
func BS(elems ...[]byte) Value {
	return Value{meta: meta(KindBS, len(elems)), ptr: bytesPtr(unsafe.SliceData(elems))}
}

// Kind returns the type of v, or Absent for the zero Value.
func (v Value) Kind() Kind { return Kind(v.meta >> kindShift) }

// IsAbsent reports whether v is the zero Value.
func (v Value) IsAbsent() bool { return v.meta == 0 }

func (v Value) length() int { return int(v.meta & lengthMask) }

func (v Value) text() string {
	p, _ := v.ptr.(bytePtr)
	return unsafe.String(p, v.length())
}

// S returns the string of a KindS value, or "" for other types.
func (v Value) S() string {
	if v.Kind() != KindS {
		return ""
	}
	return v.text()
}

// N returns the decimal text of a KindN value, or "" for other types. The text is the one that was
// passed to [N]; that of a value from a store is canonical.
func (v Value) N() string {
	if v.Kind() != KindN {
		return ""
	}
	return v.text()
}

// B returns the bytes of a KindB value, or nil for other types. They must not be changed.
func (v Value) B() []byte {
	if v.Kind() != KindB {
		return nil
	}
	p, _ := v.ptr.(bytePtr)
	return unsafe.Slice(p, v.length())
}

// Bool returns the boolean of a KindBOOL value, or false for other types.
func (v Value) Bool() bool { return v.Kind() == KindBOOL && v.length() == 1 }

// L returns the elements of a KindL value, or nil for other types. They must not be changed.
func (v Value) L() []Value {
	if v.Kind() != KindL {
		return nil
	}
	p, _ := v.ptr.(valuePtr)
	return unsafe.Slice(p, v.length())
}

// M returns the members of a KindM value, or nil for other types. They must not be changed.
func (v Value) M() map[string]Value {
	m, _ := v.ptr.(map[string]Value)
	return m
}

// SS returns the elements of a KindSS value, or nil for other types. They must not be changed.
func (v Value) SS() []string {
	if v.Kind() != KindSS {
		return nil
	}
	return v.texts()
}

// NS returns the elements of a KindNS value as decimal texts, or nil for other types.
func (v Value) NS() []string {
	if v.Kind() != KindNS {
		return nil
	}
	return v.texts()
}

func (v Value) texts() []string {
	p, _ := v.ptr.(textPtr)
	return unsafe.Slice(p, v.length())
}

// BS returns the elements of a KindBS value, or nil for other types. They must not be changed.
func (v Value) BS() [][]byte {
	if v.Kind() != KindBS {
		return nil
	}
	p, _ := v.ptr.(bytesPtr)
	return unsafe.Slice(p, v.length())
}

// Checked reports whether v is known to be canonical and valid, including its elements: numbers in
// canonical form and sets without duplicates. Stores do not validate such values again.
func (v Value) Checked() bool { return v.meta&checkedBit != 0 }

// MarkChecked returns v as checked; see [Value.Checked]. It is for stores that create values from
// data that they validated before.
func MarkChecked(v Value) Value {
	v.meta |= checkedBit
	return v
}

// Equal reports whether v and w are equal by DynamoDB's `=`: numbers by value, sets without order,
// lists and maps recursively. Values of different kinds are never equal, and neither are two absent
// values.
func (v Value) Equal(w Value) bool {
	k := v.Kind()
	if k != w.Kind() {
		return false
	}
	switch k {
	case KindS, KindB:
		return v.text() == w.text()
	case KindN:
		return equalNumbers(v, w)
	case KindBOOL:
		return v.length() == w.length()
	case KindNULL:
		return true
	case KindL:
		return slices.EqualFunc(v.L(), w.L(), Value.Equal)
	case KindM:
		return Item(v.M()).Equal(w.M())
	case KindSS:
		return sameElements(v.SS(), w.SS(), strings.Compare)
	case KindNS:
		return sameElements(v.canonicalNS(), w.canonicalNS(), strings.Compare)
	case KindBS:
		return sameElements(v.BS(), w.BS(), bytes.Compare)
	}
	return false
}

func equalNumbers(v, w Value) bool {
	if v.text() == w.text() {
		return true
	}
	if v.Checked() && w.Checked() {
		return false
	}
	a, errA := CanonicalNumber(v.text())
	b, errB := CanonicalNumber(w.text())
	return errA == nil && errB == nil && a == b
}

func (v Value) canonicalNS() []string {
	elems := v.texts()
	if v.Checked() {
		return elems
	}
	out := make([]string, len(elems))
	for i, e := range elems {
		out[i] = e
		if c, err := CanonicalNumber(e); err == nil {
			out[i] = c
		}
	}
	return out
}

func sameElements[E any](a, b []E, compare func(E, E) int) bool {
	if len(a) != len(b) {
		return false
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, compare)
	slices.SortFunc(b, compare)
	return slices.EqualFunc(a, b, func(x, y E) bool { return compare(x, y) == 0 })
}

// Compare compares two values of kind S, N or B: strings and binaries by their bytes, numbers by
// value. ok is false for every other pair, because DynamoDB does not order it. Both numbers must be
// canonical.
func (v Value) Compare(w Value) (order int, ok bool) {
	if v.Kind() != w.Kind() {
		return 0, false
	}
	switch v.Kind() {
	case KindS, KindB:
		return strings.Compare(v.text(), w.text()), true
	case KindN:
		return CompareNumbers(v.text(), w.text()), true
	}
	return 0, false
}

// String formats v in DynamoDB's JSON notation, for messages and debugging. Only the length of
// binary data is shown.
func (v Value) String() string {
	var b strings.Builder
	v.render(&b)
	return b.String()
}

func (v Value) render(b *strings.Builder) {
	b.WriteString(`{"` + v.Kind().String() + `":`)
	switch v.Kind() {
	case KindS, KindN:
		b.WriteString(strconv.Quote(v.text()))
	case KindB:
		b.WriteString("<" + strconv.Itoa(v.length()) + " bytes>")
	case KindBOOL:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case KindNULL:
		b.WriteString("true")
	case KindL:
		renderEach(b, "[", "]", v.L(), func(e Value) { e.render(b) })
	case KindM:
		Item(v.M()).render(b)
	case KindSS, KindNS:
		renderEach(b, "[", "]", v.texts(), func(e string) { b.WriteString(strconv.Quote(e)) })
	case KindBS:
		renderEach(b, "[", "]", v.BS(), func(e []byte) {
			b.WriteString("<" + strconv.Itoa(len(e)) + " bytes>")
		})
	default:
		b.WriteString("absent")
	}
	b.WriteByte('}')
}

func renderEach[E any](b *strings.Builder, open, closing string, elems []E, one func(E)) {
	b.WriteString(open)
	for i, e := range elems {
		if i > 0 {
			b.WriteByte(',')
		}
		one(e)
	}
	b.WriteString(closing)
}
