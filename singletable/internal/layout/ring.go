package layout

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// ShardsMax is the maximum number of shards of a ring. Reading a whole ring takes one call for
// each.
const ShardsMax = 1000

// Epoch is the number of shards for items from a time on.
type Epoch struct {
	Count int
	From  time.Time
}

// Ring is a number of shards that can grow. An item's shard is its hash modulo the count of the
// epoch of the item's own time, so that a repeated write finds the same shard.
type Ring struct {
	Name    string
	By      string // the attribute with the item's time; "" with one epoch
	ByIndex int
	Epochs  []Epoch
	suffix  bool // write "#3", or nothing while there is only one shard
	Ever    bool // read the shards of all epochs, and the key without a suffix
}

// shardOf hashes text to one of count shards. The hash is FNV-1a with 64 bits and a final mix. It
// must never change, because stored keys depend on it.
func shardOf(text []byte, count int) int {
	h := uint64(14695981039346656037)
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return int(h % uint64(count))
}

// ShardOf returns the shard, 0 to count-1, of an item whose hashed part is key. It is for models of
// the load; stored items find their shard without it.
func ShardOf(key string, count int) int { return shardOf([]byte(key), count) }

// countAt returns the number of shards for items of time t.
func (r *Ring) countAt(t time.Time) int {
	count := r.Epochs[0].Count
	for _, e := range r.Epochs[1:] {
		if t.Before(e.From) {
			break
		}
		count = e.Count
	}
	return count
}

// Append appends the shard of an item with hash text key and time t.
func (r *Ring) append(dst []byte, key []byte, t time.Time) []byte {
	count := r.countAt(t)
	if !r.suffix {
		return strconv.AppendInt(dst, int64(shardOf(key, count)), 10)
	}
	if count == 1 {
		return dst
	}
	return strconv.AppendInt(append(dst, '#'), int64(shardOf(key, count)), 10)
}

// Labels returns the texts of all shards that items with a time in [from, to) may be in. A zero end
// is open.
func (r *Ring) Labels(from, to time.Time) []string {
	most, bare := 0, r.Ever && r.suffix
	for _, e := range r.during(from, to) {
		if r.suffix && e.Count == 1 {
			bare = true
			continue
		}
		most = max(most, e.Count)
	}
	var out []string
	if bare {
		out = append(out, "")
	}
	for i := range most {
		label := strconv.Itoa(i)
		if r.suffix {
			label = "#" + label
		}
		out = append(out, label)
	}
	return out
}

// LabelsOf returns the shards that one item may be in, for its hash text and a range of times.
func (r *Ring) LabelsOf(key []byte, from, to time.Time) []string {
	var out []string
	if r.Ever && r.suffix {
		out = append(out, "")
	}
	for _, e := range r.during(from, to) {
		one := Ring{Epochs: []Epoch{{Count: e.Count}}, suffix: r.suffix}
		if label := string(one.append(nil, key, from)); !slices.Contains(out, label) {
			out = append(out, label)
		}
	}
	return out
}

// during returns the epochs whose shards a query for [from, to) reads. A zero end is open.
func (r *Ring) during(from, to time.Time) []Epoch {
	if r.Ever {
		return r.Epochs
	}
	var out []Epoch
	for i, e := range r.Epochs {
		ended := i+1 < len(r.Epochs) && !from.IsZero() && !r.Epochs[i+1].From.After(from)
		later := i > 0 && !to.IsZero() && !e.From.Before(to)
		if !ended && !later {
			out = append(out, e)
		}
	}
	return out
}

// check returns an error if the ring is invalid.
func (r *Ring) check() error {
	if len(r.Epochs) == 0 {
		return fmt.Errorf("shards %q have no epoch", r.Name)
	}
	for i, e := range r.Epochs {
		if e.Count < 1 || e.Count > ShardsMax {
			return fmt.Errorf("shards %q: %d shards, outside 1 to %d", r.Name, e.Count, ShardsMax)
		}
		if i > 1 && !r.Epochs[i-1].From.Before(e.From) {
			return fmt.Errorf("shards %q: the epochs are not in order of time", r.Name)
		}
	}
	if len(r.Epochs) > 1 && r.By == "" {
		return fmt.Errorf("shards %q have several epochs but no attribute with the time", r.Name)
	}
	return nil
}

// newRing returns the ring of a template's argument: a number, or a declared name.
func newRing(arg string, declared []Ring, sh *Shape, suffix bool) (*Ring, error) {
	r := Ring{Name: arg, suffix: suffix, ByIndex: -1}
	if n, err := strconv.Atoi(arg); err == nil {
		r.Epochs = []Epoch{{Count: n}}
		return &r, r.check()
	}
	for _, d := range declared {
		if d.Name == arg {
			r.By, r.Epochs, r.Ever = d.By, d.Epochs, d.Ever
			if r.By != "" {
				i, ok := sh.Lookup(r.By)
				if !ok || sh.Fields[i].Form != FormTime && sh.Fields[i].Form != FormText {
					return &r, fmt.Errorf("shards %q: %s is not a time attribute", arg, r.By)
				}
				r.ByIndex = i
			}
			return &r, r.check()
		}
	}
	return &r, fmt.Errorf("%q is neither a number of shards nor declared with Shards", arg)
}

// timeOf returns the time that determines an item's epoch. missing is true if it is unknown.
func (r *Ring) timeOf(sh *Shape, p unsafe.Pointer) (t time.Time, missing bool, err error) {
	if r.ByIndex < 0 || len(r.Epochs) == 1 {
		return t, false, nil
	}
	v, err := sh.Fields[r.ByIndex].Scalar(p)
	if err != nil || v.Missing {
		return t, v.Missing, err
	}
	t, err = v.Instant()
	return t, false, err
}
