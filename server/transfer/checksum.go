package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Checksum is the checksum of a set of items: the sum of a hash of each, modulo 2 to the power of
// 128. It does not depend on the order of items, attributes and set members, nor on the form of
// numbers.
type Checksum struct {
	Items     int64
	high, low uint64
}

// Add adds an item.
func (c *Checksum) Add(item dynamo.Item) {
	sum := sha256.Sum256(appendItem(nil, item))
	var carry uint64
	c.low, carry = bits.Add64(c.low, binary.BigEndian.Uint64(sum[8:]), 0)
	c.high, _ = bits.Add64(c.high, binary.BigEndian.Uint64(sum[:]), carry)
	c.Items++
}

// merge adds the items of another.
func (c *Checksum) merge(o Checksum) {
	var carry uint64
	c.low, carry = bits.Add64(c.low, o.low, 0)
	c.high, _ = bits.Add64(c.high, o.high, carry)
	c.Items += o.Items
}

// String returns 32 hexadecimal digits.
func (c Checksum) String() string { return fmt.Sprintf("%016x%016x", c.high, c.low) }

// appendItem writes an item in one way only.
func appendItem(dst []byte, item dynamo.Item) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(item)))
	for _, name := range slices.Sorted(maps.Keys(item)) {
		dst = appendText(dst, name)
		dst = appendValue(dst, item[name])
	}
	return dst
}

func appendText[T string | []byte](dst []byte, s T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendValue(dst []byte, v dynamo.Value) []byte {
	dst = append(dst, byte(v.Kind()))
	switch v.Kind() {
	case dynamo.KindS:
		return appendText(dst, v.S())
	case dynamo.KindN:
		return appendText(dst, number(v.N()))
	case dynamo.KindB:
		return appendText(dst, v.B())
	case dynamo.KindBOOL:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case dynamo.KindL:
		dst = binary.AppendUvarint(dst, uint64(len(v.L())))
		for _, e := range v.L() {
			dst = appendValue(dst, e)
		}
		return dst
	case dynamo.KindM:
		return appendItem(dst, v.M())
	case dynamo.KindSS:
		return appendSet(dst, slices.Sorted(slices.Values(v.SS())))
	case dynamo.KindNS:
		numbers := make([]string, len(v.NS()))
		for i, n := range v.NS() {
			numbers[i] = number(n)
		}
		slices.Sort(numbers)
		return appendSet(dst, numbers)
	case dynamo.KindBS:
		return appendSet(dst, slices.SortedFunc(slices.Values(v.BS()), slices.Compare))
	}
	return dst
}

func appendSet[T string | []byte](dst []byte, elems []T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(elems)))
	for _, e := range elems {
		dst = appendText(dst, e)
	}
	return dst
}

// check reads both sides, of about so many items each, and compares their checksums.
func (c *copier) check(ctx context.Context, items int64) (Checksum, error) {
	c.stage(Checking, 2*items, 0)
	var sums [2]Checksum
	err := together(ctx, len(sums), func(ctx context.Context, side int) (err error) {
		sums[side], err = c.sum(ctx, []Store{c.from, c.to}[side])
		return err
	})
	if err != nil {
		return Checksum{}, err
	}
	if sums[0] != sums[1] {
		return Checksum{}, fmt.Errorf("%w: the source has %d items (checksum %s), the other side "+
			"%d (%s)", ErrDiffers, sums[0].Items, sums[0], sums[1].Items, sums[1])
	}
	return sums[0], nil
}

// sum reads a side.
func (c *copier) sum(ctx context.Context, s Store) (Checksum, error) {
	parts := make([]Checksum, c.opts.Segments)
	err := c.scanAll(ctx, s, dynamo.ScanInput{},
		func(_ context.Context, segment int, items []dynamo.Item) error {
			for _, item := range items {
				parts[segment].Add(item)
			}
			return nil
		})
	var total Checksum
	for _, p := range parts {
		total.merge(p)
	}
	return total, err
}

// number returns the canonical form of a number. Text that is not a number is returned unchanged.
func number(text string) string {
	canonical, err := dynamo.CanonicalNumber(text)
	if err != nil {
		return text
	}
	return canonical
}
