package singletable

import (
	"context"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Meter measures what the calls made under its context cost. It is safe for concurrent use.
type Meter struct {
	outer   *Meter // is told as well; nil for those that callers make
	mu      sync.Mutex
	calls   int
	retries int
	read    float64
	write   float64
	byTable map[string]Units
	byOp    map[string]int
}

// Units are capacity units.
type Units struct {
	Read, Write float64
}

type meterKey struct{}

type patternKey struct{}

// WithMeter returns a context whose calls are measured, and the meter. The store is asked for
// capacity only under such a context. Meters do not nest: the innermost measures.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{byTable: map[string]Units{}, byOp: map[string]int{}}
	return context.WithValue(ctx, meterKey{}, m), m
}

// ownMeter returns a context whose calls are measured apart as well as by its meter. Without a
// meter nothing is measured, and the meter that is returned stays at zero.
func ownMeter(ctx context.Context) (context.Context, *Meter) {
	outer := meterOf(ctx)
	if outer == nil {
		return ctx, &Meter{}
	}
	ctx, m := WithMeter(ctx)
	m.outer = outer
	return ctx, m
}

func meterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

func patternOf(ctx context.Context) string {
	name, _ := ctx.Value(patternKey{}).(string)
	return name
}

func (m *Meter) add(c Call, u usage) {
	if m.outer != nil {
		m.outer.add(c, u)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if c.Attempt > 1 {
		m.retries++
	}
	m.byOp[c.Operation]++
	m.read += c.Read
	m.write += c.Write
	write := c.Write > 0
	for _, cc := range u.all() {
		if cc.Table != nil {
			m.addTo(cc.TableName, *cc.Table, write)
		} else {
			m.addTo(cc.TableName, cc.Capacity, write)
		}
		for name, x := range cc.GlobalSecondaryIndexes {
			m.addTo(cc.TableName+"/"+name, x, write)
		}
		for name, x := range cc.LocalSecondaryIndexes {
			m.addTo(cc.TableName+"/"+name, x, write)
		}
	}
}

func (m *Meter) addTo(where string, c dynamo.Capacity, write bool) {
	if c.CapacityUnits == 0 {
		return
	}
	u := m.byTable[where]
	if write {
		u.Write += c.CapacityUnits
	} else {
		u.Read += c.CapacityUnits
	}
	m.byTable[where] = u
}

// Calls returns the number of calls to the store, retries included.
func (m *Meter) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// Retries returns how many of the calls were retries.
func (m *Meter) Retries() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.retries
}

// Read returns the read units used.
func (m *Meter) Read() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read
}

// Write returns the write units used.
func (m *Meter) Write() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write
}

// ByTable returns the units by table and, as "table/index", by index.
func (m *Meter) ByTable() map[string]Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[string]Units, len(m.byTable))
	for k, v := range m.byTable {
		out[k] = v
	}
	return out
}

// ByOperation returns the number of calls by operation, such as "Query".
func (m *Meter) ByOperation() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[string]int, len(m.byOp))
	for k, v := range m.byOp {
		out[k] = v
	}
	return out
}

func (u usage) all() []dynamo.ConsumedCapacity {
	if u.one != nil {
		return []dynamo.ConsumedCapacity{*u.one}
	}
	return u.many
}

// units adds up the capacity of an answer. A transaction tells reads and writes apart, other
// calls are one or the other.
func (u usage) units(write bool) (r, w float64) {
	for _, c := range u.all() {
		switch {
		case c.ReadCapacityUnits != 0 || c.WriteCapacityUnits != 0:
			r += c.ReadCapacityUnits
			w += c.WriteCapacityUnits
		case write:
			w += c.CapacityUnits
		default:
			r += c.CapacityUnits
		}
	}
	return r, w
}
