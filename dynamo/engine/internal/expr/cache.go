package expr

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// Bounds of what a Parser remembers. A parsed expression takes some fifty times the memory of its
// text, so the texts are what has to be bounded.
const (
	cachedPlansMax = 4096
	cachedBytesMax = 1 << 20
	// promoteMin is how many new plans there are at least before they are published.
	promoteMin = 8
)

// texts are the expressions of a call by their kind; "" where there is none. Two calls with the
// same texts share a plan.
type texts [kindCount]string

func (t *texts) size() int {
	size := 0
	for _, text := range t {
		size += len(text)
	}
	return size
}

// plan is what the texts of a call mean, without its names and values.
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

// Parser parses expressions and remembers what it parsed, within bounds. The zero Parser is ready
// to use. It is safe for concurrent use, and readers of what is remembered do not wait for each
// other.
type Parser struct {
	// published is never changed, only replaced, so that reading it takes no lock.
	published atomic.Pointer[map[texts]*plan]

	mu     sync.Mutex
	fresh  map[texts]*plan // parsed but not published yet
	bytes  int             // of all texts in fresh
	lookup int             // how often a plan was found in fresh
	total  int             // bytes of all texts in published
}

// NewParser returns a Parser that remembers nothing yet.
func NewParser() *Parser { return &Parser{} }

// plan returns the plan of the texts, from memory if it is there.
func (p *Parser) plan(t *texts) *plan {
	if published := p.published.Load(); published != nil {
		if found := (*published)[*t]; found != nil {
			return found
		}
	}
	for _, text := range t {
		if len(text) > textMax {
			return newPlan(t) // A refusal is quickly found again; long texts are costly to keep.
		}
	}
	return p.slow(t)
}

// slow finds or makes a plan that is not published.
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

	// The texts may be parts of a buffer that is larger or that will change.
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

// publish makes the fresh plans part of those that are read without a lock. When there are too
// many, the older ones are forgotten; those still in use come back as fresh ones.
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
