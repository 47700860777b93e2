// Package digest hashes requests, so that a token that was issued for a request is not accepted for
// a different one.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Hash is the hash of the parts of a request that were added. Maps are sorted, so that equal
// requests have equal hashes, and texts have their length, so that different requests differ.
type Hash struct{ h hash.Hash }

// New returns the hash of nothing.
func New() Hash { return Hash{sha256.New()} }

// Sum returns the SHA-256 of all parts.
func (p Hash) Sum() []byte { return p.h.Sum(nil) }

// Action adds one action of a transaction.
func (p Hash) Action(kind byte, table string, item dynamo.Item, update, condition string,
	e dynamo.Expressions,
) {
	p.Number(int(kind))
	p.Text(table)
	p.Text(update)
	p.Text(condition)
	p.Item(item)
	p.Number(len(e.ExpressionAttributeNames))
	for _, name := range slices.Sorted(maps.Keys(e.ExpressionAttributeNames)) {
		p.Text(name)
		p.Text(e.ExpressionAttributeNames[name])
	}
	p.Item(e.ExpressionAttributeValues)
}

// Number adds a number in a fixed width.
func (p Hash) Number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	_, _ = p.h.Write(b[:]) // a hash never fails to write
}

// Text adds a text and its length.
func (p Hash) Text(s string) {
	p.Number(len(s))
	_, _ = p.h.Write([]byte(s))
}

// Item adds the attributes of an item, sorted by name.
func (p Hash) Item(item map[string]dynamo.Value) {
	p.Number(len(item))
	for _, name := range slices.Sorted(maps.Keys(item)) {
		p.Text(name)
		p.Value(item[name])
	}
}

// Value adds a value and its kind. The elements of a set are sorted, because sets have no order.
func (p Hash) Value(v dynamo.Value) {
	p.Number(int(v.Kind()))
	switch v.Kind() {
	case dynamo.KindS:
		p.Text(v.S())
	case dynamo.KindN:
		p.Text(v.N())
	case dynamo.KindB:
		p.Text(string(v.B()))
	case dynamo.KindBOOL:
		p.Text(v.String())
	case dynamo.KindL:
		p.Number(len(v.L()))
		for _, e := range v.L() {
			p.Value(e)
		}
	case dynamo.KindM:
		p.Item(v.M())
	case dynamo.KindSS, dynamo.KindNS:
		elems := slices.Clone(append(v.SS(), v.NS()...))
		slices.Sort(elems)
		p.Number(len(elems))
		for _, e := range elems {
			p.Text(e)
		}
	case dynamo.KindBS:
		p.Number(len(v.BS()))
		for _, e := range slices.SortedFunc(slices.Values(v.BS()), slices.Compare[[]byte]) {
			p.Text(string(e))
		}
	}
}
