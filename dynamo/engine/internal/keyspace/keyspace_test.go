package keyspace_test

import (
	"bytes"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
)

func addPairs(f *testing.F) {
	for _, a := range []string{"", "a", "ab", "\x00", "\x00\x00", "a\x00", "a\x00b", "\x00\xff",
		"\xff", "\xff\xff", "\x01", "\x00\x01"} {
		f.Add([]byte(a), []byte("a"), []byte("\x00\x01rest"))
		f.Add([]byte("a\x00"), []byte(a), []byte(""))
	}
}

func FuzzEndedSortKeysKeepTheirOrder(f *testing.F) {
	addPairs(f)
	f.Fuzz(func(t *testing.T, a, b, rest []byte) {
		x := keyspace.AppendEnded([]byte("before"), a)
		y := keyspace.AppendEnded([]byte("before"), b)
		// Whatever follows, the order is that of the keys themselves.
		followed := append(bytes.Clone(x), rest...)
		if want := bytes.Compare(a, b); bytes.Compare(x, y) != want ||
			want != 0 && bytes.Compare(followed, y) != want {
			t.Fatalf("%q and %q become %q and %q", a, b, x, y)
		}
		if !bytes.Equal(a, b) && bytes.HasPrefix(x, y) {
			t.Fatalf("%q begins with %q", x, y)
		}
		key, left, ok := keyspace.CutEnded(followed[len("before"):])
		if !ok || !bytes.Equal(key, a) || !bytes.Equal(left, rest) {
			t.Fatalf("%q reads back as %q, %q, %v", a, key, left, ok)
		}
		open := keyspace.AppendOpen([]byte("before"), b)
		if bytes.HasPrefix(x, open) != bytes.HasPrefix(a, b) {
			t.Fatalf("%q begins with %q, %q with %q", a, b, x, open)
		}
	})
}

func FuzzAnyBytesCutOrFail(f *testing.F) {
	addPairs(f)
	f.Fuzz(func(t *testing.T, a, b, _ []byte) {
		if key, rest, ok := keyspace.CutEnded(a); ok {
			if again := append(keyspace.AppendEnded(nil, key), rest...); !bytes.Equal(again, a) {
				t.Fatalf("%q was read as %q and %q", a, key, rest)
			}
		}
		if partition, rest, ok := keyspace.CutSized(a); ok {
			if len(partition)+len(rest)+2 != len(a) {
				t.Fatalf("%q was cut into %q and %q", a, partition, rest)
			}
		}
		for _, prefix := range [][]byte{
			nil, keyspace.Items(1), keyspace.Expiries(1), keyspace.Index(1, 2, false),
		} {
			key := append(bytes.Clone(prefix), a...)
			if n := keyspace.Split(key); n < 0 || n > len(key) {
				t.Fatalf("%q is split at %d", key, n)
			}
		}
		keyspace.CutExpiry(a, 1)
		if after := keyspace.After(a); after != nil &&
			(bytes.Compare(append(bytes.Clone(a), b...), after) >= 0 ||
				bytes.Compare(a, after) >= 0) {
			t.Fatalf("%q is after %q", after, a)
		}
	})
}

// FuzzPartitionsAreSplitFromTheirRows checks what the store's filters rely on: an item is known by
// its whole key, and rows of one partition of an index have one prefix, whatever their sort keys,
// and those of another have another.
func FuzzPartitionsAreSplitFromTheirRows(f *testing.F) {
	addPairs(f)
	h := keyspace.NewHasher(7)
	compare := keyspace.Comparer()
	f.Fuzz(func(t *testing.T, a, b, sort []byte) {
		if len(a) > 2048 || len(b) > 2048 {
			return
		}
		for _, prefix := range [][]byte{
			keyspace.Items(3), keyspace.Index(3, 4, false), keyspace.Index(3, 4, true),
		} {
			bare := keyspace.AppendPartition(bytes.Clone(prefix), h, a)
			row := append(bytes.Clone(bare), sort...)
			other := keyspace.AppendPartition(bytes.Clone(prefix), h, b)
			if n := keyspace.Split(row); n != len(bare) {
				t.Fatalf("%q is split at %d, not %d", row, n, len(bare))
			}
			known := len(bare)
			if bytes.Equal(prefix, keyspace.Items(3)) {
				known = len(row)
			}
			if n := compare.Split(row); n != known {
				t.Fatalf("filters know %d bytes of %q, not %d", n, row, known)
			}
			if bytes.Equal(a, b) != bytes.HasPrefix(row, other) && len(sort) == 0 {
				t.Fatalf("%q and %q: rows %q and %q", a, b, row, other)
			}
			next := compare.ImmediateSuccessor(nil, bare)
			if compare.Compare(bare, next) >= 0 {
				t.Fatalf("%q comes after %q", bare, next)
			}
		}
		item := append(keyspace.AppendPartition(keyspace.Items(3), h, a), sort...)
		row := keyspace.AppendExpiry(nil, 3, 1_800_000_000, item)
		epoch, key, ok := keyspace.CutExpiry(row, 3)
		if !ok || epoch != 1_800_000_000 || !bytes.Equal(key, item) {
			t.Fatalf("%q reads back as %d, %q, %v", row, epoch, key, ok)
		}
		earlier := keyspace.AppendExpiry(nil, 3, 1_799_999_999, item)
		if bytes.Compare(earlier, row) >= 0 {
			t.Fatal("an earlier expiry stands after a later one")
		}
	})
}

func TestEachDatabaseScansInAnOrderOfItsOwn(t *testing.T) {
	one, two := keyspace.NewHasher(1), keyspace.NewHasher(1<<40)
	differ := false
	for _, pair := range [][2]string{{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}, {"i", "j"}} {
		x, y := []byte(pair[0]), []byte(pair[1])
		differ = differ || (one.Hash(x) < one.Hash(y)) != (two.Hash(x) < two.Hash(y))
	}
	if !differ {
		t.Error("two seeds give one order")
	}
}
