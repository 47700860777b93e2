package expr

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// Limits of the cache of a Parser. A parsed expression takes some fifty times the memory of its
// text, so the size of the texts is limited.
const (
	cachedPlansMax = 4096
	cachedBytesMax = 1 << 20
	// promoteMin is the minimum number of new plans before they are published.
	promoteMin = 8
)

// texts are the expressions of a call by their kind, "" for those that it does not have. Calls with
// the same texts share a plan.
type texts [kindCount]string

func (t *texts) size() int {
	size := 0
	for _, text := range t {
		size += len(text)
	}
	return size
}

// plan is the parsed form of the texts of a call, without its names and values.
type plan struct {
	names, values []string // the placeholders that the expressions share
	exprs         [kindCount]*parsed
}

func newPlan(t *texts) *plan {
	var names, values slots
	p := &plan{}
	for k, text := range t {
		if text != "" {
			p.exprs[k] = parse(kind(k), text, &names, &values)
		}
	}
	p.names, p.values = names.list, values.list
	return p
}

// Parser parses expressions and caches the results, within limits. The zero Parser is ready to use.
// It is safe for concurrent use, and look-ups of cached expressions do not block each other.
type Parser struct {
	// published is replaced and never changed, so that reads need no lock.
	published atomic.Pointer[map[texts]*plan]

	mu     sync.Mutex
	fresh  map[texts]*plan // parsed, but not published
	bytes  int             // of all texts in fresh
	lookup int             // number of look-ups that found a plan in fresh
	total  int             // bytes of all texts in published
}

// NewParser returns a Parser with an empty cache.
func NewParser() *Parser { return &Parser{} }

// plan returns the plan of the texts, from the cache if possible.
func (p *Parser) plan(t *texts) *plan {
	if published := p.published.Load(); published != nil {
		if found := (*published)[*t]; found != nil {
			return found
		}
	}
	for _, text := range t {
		if len(text) > textMax {
			return newPlan(t) // refusals are found quickly, and long texts need memory
		}
	}
	return p.slow(t)
}

// slow finds or creates a plan that is not published.
func (p *Parser) slow(t *texts) *plan {
	p.mu.Lock()
	found := p.fresh[*t]
	if found != nil {
		p.lookup++
		if p.lookup >= len(p.fresh) {
			p.publish()
		}
	}
	p.mu.Unlock()
	if found != nil {
		return found
	}

	// The texts may be parts of a larger buffer or of one that will change.
	var kept texts
	for k, text := range t {
		kept[k] = strings.Clone(text)
	}
	made := newPlan(&kept)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh == nil {
		p.fresh = make(map[texts]*plan)
	}
	if p.fresh[kept] == nil {
		p.fresh[kept] = made
		p.bytes += kept.size()
	}
	if len(p.fresh) >= promoteMin && len(p.fresh) >= p.publishedLen()/4 ||
		p.bytes > cachedBytesMax {
		p.publish()
	}
	return made
}

func (p *Parser) publishedLen() int {
	if published := p.published.Load(); published != nil {
		return len(*published)
	}
	return 0
}

// publish merges the fresh plans into those that are read without a lock. If there are too many,
// the older ones are dropped; those that are still in use return as fresh ones.
func (p *Parser) publish() {
	var merged map[texts]*plan
	old := p.published.Load()
	if old == nil || p.total+p.bytes > cachedBytesMax || len(*old)+len(p.fresh) > cachedPlansMax {
		merged = p.fresh
		p.total = p.bytes
	} else {
		merged = maps.Clone(*old)
		maps.Copy(merged, p.fresh)
		p.total += p.bytes
	}
	p.published.Store(&merged)
	p.fresh, p.bytes, p.lookup = nil, 0, 0
}
