// Package row encodes items for the engine's store. An item is one row: its size, followed by its
// attributes as tagged, length-prefixed values.
//
// A row begins with a format byte and the item's size (dynamo.Item.Size) as a uvarint, so that
// capacity and page limits need no decoding. The attributes follow in any order, each as name and
// value. Decoding copies the row once; every string of the item aliases that copy.
package row

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// formatV1 is the first byte of rows of the first format. Another format needs another byte, so
// that both can be stored in one database.
const formatV1 = 1

// Tags of values. They are stored, so they must never change.
const (
	tagS byte = iota + 1
	tagN
	tagB
	tagTrue
	tagFalse
	tagNull
	tagL
	tagM
	tagSS
	tagNS
	tagBS
)

// ErrCorrupt reports a row that no version of this package wrote.
var ErrCorrupt = errors.New("row: corrupt")

// Append appends the row of an item of the given size (item.Size()). Its values must be checked,
// because numbers are stored as they are written.
func Append(dst []byte, item dynamo.Item, size int) []byte {
	dst = append(dst, formatV1)
	dst = binary.AppendUvarint(dst, uint64(size))
	return appendMembers(dst, item)
}

func appendMembers(dst []byte, item dynamo.Item) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(item)))
	for name, v := range item {
		dst = appendText(dst, name)
		dst = appendValue(dst, v)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendValue(dst []byte, v dynamo.Value) []byte {
	switch v.Kind() {
	case dynamo.KindS:
		return appendText(append(dst, tagS), v.S())
	case dynamo.KindN:
		return appendText(append(dst, tagN), v.N())
	case dynamo.KindB:
		return appendBytes(append(dst, tagB), v.B())
	case dynamo.KindBOOL:
		if v.Bool() {
			return append(dst, tagTrue)
		}
		return append(dst, tagFalse)
	case dynamo.KindL:
		dst = binary.AppendUvarint(append(dst, tagL), uint64(len(v.L())))
		for _, e := range v.L() {
			dst = appendValue(dst, e)
		}
		return dst
	case dynamo.KindM:
		return appendMembers(append(dst, tagM), v.M())
	case dynamo.KindSS:
		return appendTexts(append(dst, tagSS), v.SS())
	case dynamo.KindNS:
		return appendTexts(append(dst, tagNS), v.NS())
	case dynamo.KindBS:
		dst = binary.AppendUvarint(append(dst, tagBS), uint64(len(v.BS())))
		for _, e := range v.BS() {
			dst = appendBytes(dst, e)
		}
		return dst
	}
	return append(dst, tagNull)
}

func appendBytes(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

func appendTexts(dst []byte, elems []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(elems)))
	for _, e := range elems {
		dst = appendText(dst, e)
	}
	return dst
}

// Size returns the size of the item in a row, without decoding it.
func Size(raw []byte) (int, error) {
	if len(raw) == 0 || raw[0] != formatV1 {
		return 0, ErrCorrupt
	}
	size, n := binary.Uvarint(raw[1:])
	if n <= 0 || size > 2*dynamo.ItemSizeMax {
		return 0, ErrCorrupt
	}
	return int(size), nil
}

// View is an item that is decoded on access. It aliases its row and is valid as long as the row is
// not changed. The zero View is an empty item.
type View struct {
	body string // attributes, from their count on
	size int
}

// NewView returns a view of a copy of the row. The caller may then change the row.
func NewView(raw []byte) (View, error) {
	v, err := AliasView(raw)
	v.body = strings.Clone(v.body)
	return v, err
}

// AliasView returns a view of the row itself. The view and its values must not be used after the
// row is changed.
func AliasView(raw []byte) (View, error) {
	size, err := Size(raw)
	if err != nil {
		return View{}, err
	}
	_, n := binary.Uvarint(raw[1:])
	body := raw[1+n:]
	return View{body: unsafe.String(unsafe.SliceData(body), len(body)), size: size}, nil
}

// Size returns the item's size in bytes, or 0 for the zero View.
func (v View) Size() int { return v.size }

// Exists reports whether the view has an item.
func (v View) Exists() bool { return v.body != "" }

// Attribute returns one top-level attribute. A corrupt row has no attributes; Item returns the
// error.
func (v View) Attribute(name string) (dynamo.Value, bool) {
	if v.body == "" {
		return dynamo.Value{}, false
	}
	d := decoder{rest: v.body}
	for range d.count() {
		found := d.text() == name
		if found && d.err == nil {
			value := d.value(0)
			return value, d.err == nil
		}
		d.skip(0)
		if d.err != nil {
			break
		}
	}
	return dynamo.Value{}, false
}

// Item decodes the whole item. It returns nil for the zero View.
func (v View) Item() (dynamo.Item, error) {
	if v.body == "" {
		return nil, nil
	}
	d := decoder{rest: v.body}
	item := d.members(0)
	if d.err == nil && d.rest != "" {
		d.err = ErrCorrupt
	}
	if d.err != nil {
		return nil, fmt.Errorf("decode item: %w", d.err)
	}
	return item, nil
}

// Each calls yield with each top-level attribute, until yield returns false.
func (v View) Each(yield func(name string, v dynamo.Value) bool) error {
	if v.body == "" {
		return nil
	}
	d := decoder{rest: v.body}
	for range d.count() {
		name := d.text()
		value := d.value(0)
		if d.err != nil || !yield(name, value) {
			break
		}
	}
	if d.err != nil {
		return fmt.Errorf("decode item: %w", d.err)
	}
	return nil
}

// depthMax limits the recursion on corrupt rows. Items have at most 32 levels.
const depthMax = 64

type decoder struct {
	rest string
	err  error
}

func (d *decoder) fail() { d.err, d.rest = ErrCorrupt, "" }

// count reads the number of elements, each of which has at least one byte. It fails if the number
// is larger than the rest of the row, so that a corrupt row cannot cause a large allocation.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) uvarint() uint64 {
	if len(d.rest) > 0 && d.rest[0] < 0x80 {
		n := uint64(d.rest[0])
		d.rest = d.rest[1:]
		return n
	}
	var n uint64
	for i := range min(len(d.rest), binary.MaxVarintLen64) {
		b := d.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.fail()
	return 0
}

func (d *decoder) text() string {
	n := d.count()
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) bytes() []byte {
	s := d.text()
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

func (d *decoder) texts() []string {
	elems := make([]string, d.count())
	for i := range elems {
		elems[i] = d.text()
	}
	return elems
}

func (d *decoder) members(depth int) dynamo.Item {
	n := d.count()
	item := make(dynamo.Item, n)
	for range n {
		name := d.text()
		item[name] = d.value(depth)
		if d.err != nil {
			return nil
		}
	}
	return item
}

func (d *decoder) tag() byte {
	if d.rest == "" {
		d.fail()
		return 0
	}
	tag := d.rest[0]
	d.rest = d.rest[1:]
	return tag
}

func (d *decoder) value(depth int) dynamo.Value {
	if depth > depthMax {
		d.fail()
		return dynamo.Value{}
	}
	switch d.tag() {
	case tagS:
		return dynamo.S(d.text())
	case tagN:
		return dynamo.CanonicalN(d.text())
	case tagB:
		return dynamo.B(d.bytes())
	case tagTrue:
		return dynamo.Bool(true)
	case tagFalse:
		return dynamo.Bool(false)
	case tagNull:
		return dynamo.Null()
	case tagL:
		elems := make([]dynamo.Value, d.count())
		for i := range elems {
			elems[i] = d.value(depth + 1)
		}
		return dynamo.MarkChecked(dynamo.L(elems...))
	case tagM:
		return dynamo.MarkChecked(dynamo.M(d.members(depth + 1)))
	case tagSS:
		return dynamo.MarkChecked(dynamo.SS(d.texts()...))
	case tagNS:
		return dynamo.MarkChecked(dynamo.NS(d.texts()...))
	case tagBS:
		elems := make([][]byte, d.count())
		for i := range elems {
			elems[i] = d.bytes()
		}
		return dynamo.MarkChecked(dynamo.BS(elems...))
	}
	d.fail()
	return dynamo.Value{}
}

func (d *decoder) skip(depth int) {
	if depth > depthMax {
		d.fail()
		return
	}
	switch d.tag() {
	case tagS, tagN, tagB:
		d.text()
	case tagTrue, tagFalse, tagNull:
	case tagL:
		for range d.count() {
			d.skip(depth + 1)
		}
	case tagM:
		for range d.count() {
			d.text()
			d.skip(depth + 1)
		}
	case tagSS, tagNS, tagBS:
		for range d.count() {
			d.text()
		}
	default:
		d.fail()
	}
}
