package bankfile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
)

// Key identifies an entry of an account in every file that contains it, so that an import can be
// repeated.
type Key struct {
	// ID is the bank's own id if it is reliable, else empty.
	ID string
	// Content identifies the entry by its content and its occurrence: the second coffee of a day
	// ends with ".2". It is set for every entry, because banks change their ids.
	Content string
}

// Keys returns the keys of the entries of one file, which must come in the file's order. It uses
// about 40 bytes for each different entry. The zero value is ready for use.
type Keys struct {
	seen map[uint64]uint32
}

// Of returns the keys of an entry of an account. They do not depend on anything that a person may
// change, such as a mapping of names, nor on an id that the bank numbers per file.
func (k *Keys) Of(account string, e Entry) Key {
	sum := contentHash(account, e)
	if k.seen == nil {
		k.seen = make(map[uint64]uint32)
	}
	short := binary.BigEndian.Uint64(sum[:8])
	k.seen[short]++
	key := Key{
		Content: hex.EncodeToString(sum[:16]) + "." +
			strconv.FormatUint(uint64(k.seen[short]), 10),
	}
	if e.UniqueID {
		key.ID = e.BankID
	}
	return key
}

// contentHash hashes the bank's texts of an entry. Blanks and the case of letters are ignored,
// because banks change them between two downloads.
func contentHash(account string, e Entry) [sha256.Size]byte {
	buf := make([]byte, 0, 512)
	for _, part := range [...]string{
		account, string(e.Date), e.Amount.String(), string(e.Currency),
		e.Name, e.Memo, e.Counterparty, e.Reference,
	} {
		buf = appendPlain(buf, part)
		buf = append(buf, 0)
	}
	return sha256.Sum256(buf)
}

func appendPlain(buf []byte, text string) []byte {
	for i, word := range strings.Fields(text) {
		if i > 0 {
			buf = append(buf, ' ')
		}
		buf = append(buf, strings.ToUpper(word)...)
	}
	return buf
}

// idShards is the number of tables of ids. Many small ones keep memory low, because only one is
// copied when it grows.
const idShards = 64

// repeatedMax is the maximum number of different ids that repeat. In a file with more, ids do not
// identify entries.
const repeatedMax = IDsMax / 8

// idTable counts bank ids up to two. It keeps 64 bits of each: a hash collision only makes a unique
// id look like one that repeats.
type idTable struct {
	seed   maphash.Seed
	shards [idShards]idShard
	count  int
	full   bool
	twice  map[uint64]struct{}
}

// idShard is an open-addressed set of hashes; 0 is an empty slot.
type idShard struct {
	slots []uint64
	used  int
}

func (t *idTable) init() {
	t.seed = maphash.MakeSeed()
	t.twice = make(map[uint64]struct{})
}

func (t *idTable) hash(account, id string) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	_, _ = h.WriteString(cells.ClipTo(account, NameMax)) // Never fails.
	_ = h.WriteByte(0)
	_, _ = h.WriteString(id)
	return h.Sum64() | 1
}

func (t *idTable) add(account, id string) {
	if t.full {
		return
	}
	h := t.hash(account, id)
	shard := &t.shards[h>>58]
	if !shard.add(h) {
		t.twice[h] = struct{}{}
		if len(t.twice) > repeatedMax {
			t.giveUp()
		}
		return
	}
	if t.count++; t.count > IDsMax {
		t.giveUp()
	}
}

// giveUp stops relying on ids and releases the memory.
func (t *idTable) giveUp() {
	t.full, t.twice = true, nil
	clear(t.shards[:])
}

// add returns false for a hash that is already in the set.
func (s *idShard) add(h uint64) bool {
	if s.used*4 >= len(s.slots)*3 {
		old := s.slots
		s.slots = make([]uint64, max(16, len(old)*2))
		for _, o := range old {
			if o != 0 {
				s.place(o)
			}
		}
	}
	if !s.place(h) {
		return false
	}
	s.used++
	return true
}

func (s *idShard) place(h uint64) bool {
	mask := uint64(len(s.slots) - 1)
	for i := h >> 1 & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return false
		case 0:
			s.slots[i] = h
			return true
		}
	}
}

// repeatedOnly returns the table with only the ids that repeat, because the second pass needs no
// more.
func (t *idTable) repeatedOnly() idTable {
	return idTable{seed: t.seed, twice: t.twice, full: t.full}
}

// repeated reports whether the id does not identify an entry: it is at several entries, or there
// are too many ids.
func (t *idTable) repeated(account, id string) bool {
	if t.full {
		return true
	}
	_, twice := t.twice[t.hash(account, id)]
	return twice
}
