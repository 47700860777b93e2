package singletable

import (
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Most writes of a program have one of a few shapes: the same changes and conditions with different
// values. The texts and names of a shape are built once; a write then only adds its values.

// shapesMax is the maximum number of cached shapes of an entity. Shapes can depend on data, such as
// the length of an IN, and must not fill the memory.
const shapesMax = 500

// shapeCache caches the texts of an entity's writes by shape.
type shapeCache struct {
	mu    sync.RWMutex
	known map[string]*texts
}

// texts are the expressions of a shape, with its value placeholders in the order of the values.
type texts struct {
	update, condition string
	names             map[string]string
	values            []string
}

// expressions returns the texts and placeholders of the write.
func (w *write) expressions() (update, condition string, ph dynamo.Expressions) {
	cond := w.condition()
	if cond == nil && w.kind != actUpdate {
		return "", "", ph
	}
	var buf [256]byte
	shape := buf[:0]
	if w.kind == actUpdate {
		for _, ch := range w.upd.changes {
			shape = append(append(shape, 'u', byte(ch.op)), ch.attr...)
			shape = append(shape, 0)
		}
	}
	if cond != nil {
		shape = cond.appendShape(append(shape, 'c'))
	}
	cache := &w.c.shapes
	cache.mu.RLock()
	t := cache.known[string(shape)]
	cache.mu.RUnlock()
	if t == nil {
		t = w.render(cond)
		cache.mu.Lock()
		if cache.known == nil {
			cache.known = map[string]*texts{}
		}
		if len(cache.known) < shapesMax {
			cache.known[string(shape)] = t
		}
		cache.mu.Unlock()
	}
	ph.ExpressionAttributeNames = t.names
	if len(t.values) > 0 {
		v := valueFiller{out: make(map[string]dynamo.Value, len(t.values)), order: t.values}
		if w.kind == actUpdate {
			w.upd.eachValue(v.add)
		}
		if cond != nil {
			cond.eachValue(v.add)
		}
		ph.ExpressionAttributeValues = v.out
	}
	return t.update, t.condition, ph
}

func (w *write) render(cond *cond) *texts {
	x := expressions{known: w.c.names}
	t := &texts{}
	if w.kind == actUpdate {
		t.update = w.upd.render(&x)
	}
	t.condition = x.condition(cond)
	t.names, t.values = x.names, x.order
	return t
}

// valueFiller assigns values to the placeholders of their shape, in order.
type valueFiller struct {
	out   map[string]dynamo.Value
	order []string
	n     int
}

func (f *valueFiller) add(v dynamo.Value) {
	f.out[f.order[f.n]] = v
	f.n++
}

// appendShape appends everything on which the text of the condition depends.
func (c *cond) appendShape(dst []byte) []byte {
	dst = append(append(dst, byte(c.op)), c.attr...)
	dst = append(dst, 0, byte(len(c.vals)), byte(len(c.kids)))
	for _, kid := range c.kids {
		dst = kid.appendShape(dst)
	}
	return dst
}

// eachValue calls f with the condition's values in the order of render.
func (c *cond) eachValue(f func(dynamo.Value)) {
	for _, v := range c.vals {
		f(v)
	}
	for _, kid := range c.kids {
		kid.eachValue(f)
	}
}

// eachValue calls f with the update's values in the order of render.
func (u *update) eachValue(f func(dynamo.Value)) {
	for _, ch := range u.changes {
		switch ch.op {
		case changeSet, changeSetIfAbsent:
			f(ch.val)
		case changeAppend:
			f(ch.val)
			f(emptyList)
		}
	}
	for _, op := range [...]changeOp{changeAdd, changeTake} {
		for _, ch := range u.changes {
			if ch.op == op {
				f(ch.val)
			}
		}
	}
}

var emptyList = dynamo.L()
