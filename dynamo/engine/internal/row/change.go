package row

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Change is the new value of an attribute. An absent value removes it.
type Change struct {
	Name  string
	Value dynamo.Value
}

// ChangesMax is the maximum number of changes of With, which has one bit for each in a word.
const ChangesMax = 64

// With returns a view of the item after changes of at most ChangesMax different attributes, whose
// values must be checked. Unchanged attributes are copied in encoded form, which takes a fraction
// of the time of decoding and encoding the item.
func (v View) With(changes []Change) (View, error) {
	const front = binary.MaxVarintLen64
	room := front + len(v.body)
	for i := range changes {
		room += 2*changes[i].size() + binary.MaxVarintLen64 // a number takes twice its size
	}
	out := make([]byte, front, room)
	size, count := v.size, 0
	var made uint64
	d := decoder{rest: v.body}
	for range d.count() {
		from := d.rest
		name := d.text()
		i := indexOf(changes, name)
		if i < 0 {
			d.skip(0)
			out = append(out, from[:len(from)-len(d.rest)]...)
			count++
			continue
		}
		made |= 1 << i
		size -= len(name) + d.value(0).Size()
		if c := &changes[i]; !c.Value.IsAbsent() {
			out, size, count = c.append(out), size+c.size(), count+1
		}
	}
	if d.err != nil {
		return View{}, fmt.Errorf("change item: %w", d.err)
	}
	for i := range changes {
		if c := &changes[i]; made&(1<<i) == 0 && !c.Value.IsAbsent() {
			out, size, count = c.append(out), size+c.size(), count+1
		}
	}
	// The count is known only now. It is written right before the attributes.
	var number [front]byte
	n := binary.PutUvarint(number[:], uint64(count))
	out = out[front-n:]
	copy(out, number[:n])
	return View{body: unsafe.String(unsafe.SliceData(out), len(out)), size: size}, nil
}

func indexOf(changes []Change, name string) int {
	for i := range changes {
		if changes[i].Name == name {
			return i
		}
	}
	return -1
}

func (c *Change) append(dst []byte) []byte { return appendValue(appendText(dst, c.Name), c.Value) }

func (c *Change) size() int { return len(c.Name) + c.Value.Size() }

// Append appends the row of the item.
func (v View) Append(dst []byte) []byte {
	dst = append(dst, formatV1)
	dst = binary.AppendUvarint(dst, uint64(v.size))
	return append(dst, v.body...)
}

// Len returns the number of bytes of the view.
func (v View) Len() int { return len(v.body) }
