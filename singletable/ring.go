package singletable

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

// ring is a number of shards that can grow. An item's shard is its hash modulo the count of the
// epoch of the item's own time, so that a repeated write finds the same shard.
type ring struct {
	name   string
	by     string // the attribute with the item's time; "" with one epoch
	byIdx  int
	epochs []Epoch
	suffix bool // write "#3", or nothing while there is only one shard
	ever   bool // read the shards of all epochs, and the key without a suffix
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
func (r *ring) countAt(t time.Time) int {
	count := r.epochs[0].Count
	for _, e := range r.epochs[1:] {
		if t.Before(e.From) {
			break
		}
		count = e.Count
	}
	return count
}

// append appends the shard of an item with hash text key and time t.
func (r *ring) append(dst []byte, key []byte, t time.Time) []byte {
	count := r.countAt(t)
	if !r.suffix {
		return strconv.AppendInt(dst, int64(shardOf(key, count)), 10)
	}
	if count == 1 {
		return dst
	}
	return strconv.AppendInt(append(dst, '#'), int64(shardOf(key, count)), 10)
}

// labels returns the texts of all shards that items with a time in [from, to) may be in. A zero end
// is open.
func (r *ring) labels(from, to time.Time) []string {
	most, bare := 0, r.ever && r.suffix
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

// labelsOf returns the shards that one item may be in, for its hash text and a range of times.
func (r *ring) labelsOf(key []byte, from, to time.Time) []string {
	var out []string
	if r.ever && r.suffix {
		out = append(out, "")
	}
	for _, e := range r.during(from, to) {
		one := ring{epochs: []Epoch{{Count: e.Count}}, suffix: r.suffix}
		if label := string(one.append(nil, key, from)); !slices.Contains(out, label) {
			out = append(out, label)
		}
	}
	return out
}

// during returns the epochs whose shards a query for [from, to) reads. A zero end is open.
func (r *ring) during(from, to time.Time) []Epoch {
	if r.ever {
		return r.epochs
	}
	var out []Epoch
	for i, e := range r.epochs {
		ended := i+1 < len(r.epochs) && !from.IsZero() && !r.epochs[i+1].From.After(from)
		later := i > 0 && !to.IsZero() && !e.From.Before(to)
		if !ended && !later {
			out = append(out, e)
		}
	}
	return out
}

// check returns an error if the ring is invalid.
func (r *ring) check() error {
	if len(r.epochs) == 0 {
		return fmt.Errorf("shards %q have no epoch", r.name)
	}
	for i, e := range r.epochs {
		if e.Count < 1 || e.Count > ShardsMax {
			return fmt.Errorf("shards %q: %d shards, outside 1 to %d", r.name, e.Count, ShardsMax)
		}
		if i > 1 && !r.epochs[i-1].From.Before(e.From) {
			return fmt.Errorf("shards %q: the epochs are not in order of time", r.name)
		}
	}
	if len(r.epochs) > 1 && r.by == "" {
		return fmt.Errorf("shards %q have several epochs but no attribute with the time", r.name)
	}
	return nil
}

// newRing returns the ring of a template's argument: a number, or a declared name.
func newRing(arg string, declared []ring, sh *shape, suffix bool) (*ring, error) {
	r := ring{name: arg, suffix: suffix, byIdx: -1}
	if n, err := strconv.Atoi(arg); err == nil {
		r.epochs = []Epoch{{Count: n}}
		return &r, r.check()
	}
	for _, d := range declared {
		if d.name == arg {
			r.by, r.epochs, r.ever = d.by, d.epochs, d.ever
			if r.by != "" {
				i, ok := sh.lookup(r.by)
				if !ok || sh.fields[i].form != formTime && sh.fields[i].form != formText {
					return &r, fmt.Errorf("shards %q: %s is not a time attribute", arg, r.by)
				}
				r.byIdx = i
			}
			return &r, r.check()
		}
	}
	return &r, fmt.Errorf("%q is neither a number of shards nor declared with Shards", arg)
}

// timeOf returns the time that determines an item's epoch. missing is true if it is unknown.
func (r *ring) timeOf(sh *shape, p unsafe.Pointer) (t time.Time, missing bool, err error) {
	if r.byIdx < 0 || len(r.epochs) == 1 {
		return t, false, nil
	}
	v, err := sh.fields[r.byIdx].scalar(p)
	if err != nil || v.missing {
		return t, v.missing, err
	}
	t, err = v.instant()
	return t, false, err
}
