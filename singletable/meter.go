package singletable

import (
	"context"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Meter measures the cost of the calls with its context. It is safe for concurrent use.
type Meter struct {
	outer   *Meter // also updated; nil for the meters of callers
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

// WithMeter returns a context whose calls are measured, and the meter. Only with such a context is
// the store asked for the consumed capacity. Meters do not nest: the innermost one measures.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{byTable: map[string]Units{}, byOp: map[string]int{}}
	return context.WithValue(ctx, meterKey{}, m), m
}

// ownMeter returns a context whose calls are measured separately, in addition to its meter. Without
// a meter nothing is measured, and the returned meter stays at zero.
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

// Calls returns the number of calls to the store, including retries.
func (m *Meter) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// Retries returns the number of retries among the calls.
func (m *Meter) Retries() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.retries
}

// Read returns the consumed read units.
func (m *Meter) Read() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read
}

// Write returns the consumed write units.
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

// units adds up the capacity of a response. That of a transaction has separate reads and writes;
// other calls are only reads or only writes.
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
