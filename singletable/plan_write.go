package singletable

import (
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// PlanCreate returns the plan of Create.
func (e *Entity[T]) PlanCreate(v T, more ...Cond[T]) (Plan, error) {
	cs, err := conds(more)
	if err != nil {
		return Plan{}, err
	}
	return planOf("create "+e.c.name, func() (*write, error) {
		return e.c.create(addressOf(&v), cs)
	})
}

// PlanPut returns the plan of Put.
func (e *Entity[T]) PlanPut(v T, more ...Cond[T]) (Plan, error) {
	cs, err := conds(more)
	if err != nil {
		return Plan{}, err
	}
	return planOf("put "+e.c.name, func() (*write, error) { return e.c.put(addressOf(&v), cs) })
}

// PlanReplace returns the plan of Replace. Unique values of the entity are assumed to be unchanged.
func (e *Entity[T]) PlanReplace(v T, more ...Cond[T]) (Plan, error) {
	cs, err := conds(more)
	if err != nil {
		return Plan{}, err
	}
	p, err := planOf("replace "+e.c.name, func() (*write, error) {
		return e.c.replace(addressOf(&v), nil, cs)
	})
	return e.c.withRead(p, keyOrNil(e, v)), err
}

// PlanDelete returns the plan of Delete. If the entity has unique values, at must be the whole
// item.
func (e *Entity[T]) PlanDelete(at T, more ...Cond[T]) (Plan, error) {
	cs, err := conds(more)
	if err != nil {
		return Plan{}, err
	}
	p, err := planOf("delete "+e.c.name, func() (*write, error) {
		return e.c.remove(addressOf(&at), cs)
	})
	return e.c.withRead(p, keyOrNil(e, at)), err
}

// PlanUpdate returns the plan of Update. With ReadFirst, the read is part of the plan, and at is
// assumed to be the item.
func (e *Entity[T]) PlanUpdate(at T, steps ...Step[T]) (Plan, error) {
	patch := patchOf(steps)
	if patch.readFirst && patch.known == nil {
		patch.known = addressOf(&at)
	}
	p, err := planOf("update "+e.c.name, func() (*write, error) {
		return e.c.change(addressOf(&at), patch)
	})
	if patch.readFirst && err == nil {
		p = e.c.prependRead(p, keyOrNil(e, at))
	}
	return p, err
}

// keyOrNil returns the key of a value, or nil if it has none; the plan itself returns the error.
func keyOrNil[T any](e *Entity[T], v T) dynamo.Key {
	key, err := e.Key(v)
	if err != nil {
		return nil
	}
	return key
}

// withRead adds the read before a write of an entity with unique values.
func (c *core) withRead(p Plan, key dynamo.Key) Plan {
	if len(c.uniques) == 0 || len(p.Requests) == 0 {
		return p
	}
	return c.prependRead(p, key)
}

func (c *core) prependRead(p Plan, key dynamo.Key) Plan {
	read := c.planGet("", key, readOptions{consistent: true})
	p.Requests = append(read.Requests, p.Requests...)
	p.Calls = p.Calls.plus(read.Calls)
	p.Read = p.Read.plus(read.Read)
	p.Notes = append(p.Notes,
		"the item is read first, and the write requires that it did not change")
	return p
}

func planOf(name string, make func() (*write, error)) (Plan, error) {
	w, err := make()
	if err != nil {
		return Plan{}, err
	}
	if len(w.lookups) > 0 {
		tx := (&Store{opts: Options{Now: time.Now}}).NewTx()
		tx.add(w, nil)
		p, err := tx.Plan()
		p.Name = name
		return p, err
	}
	return planWrites(name, []*write{w}, false), nil
}

// Plan returns the plan of Commit.
func (tx *Tx) Plan() (Plan, error) {
	if tx.err != nil {
		return Plan{}, tx.err
	}
	return planWrites("transaction", tx.writes, true), nil
}

func planWrites(name string, writes []*write, tx bool) Plan {
	p := Plan{Name: name, Calls: exactly(1)}
	ops := map[actionKind]string{actPut: "PutItem", actUpdate: "UpdateItem",
		actDelete: "DeleteItem"}
	factor := 1.0
	if tx {
		ops = map[actionKind]string{actPut: "Put", actUpdate: "Update", actDelete: "Delete",
			actCheck: "ConditionCheck"}
		factor = 2
		p.Notes = append(p.Notes, "one TransactWriteItems; each item costs twice, indexes do not")
	}
	if len(writes) == 0 {
		p.Calls = Span{}
	}
	for _, w := range writes {
		r := Request{Operation: ops[w.kind], Table: w.c.table.name, Item: w.item,
			IndexKeys: w.indexKeys()}
		if w.kind != actPut {
			r.Key = w.key
		}
		var ph dynamo.Expressions
		r.Update, r.Condition, ph = w.expressions()
		r.fill(ph)
		p.Requests = append(p.Requests, r)
		p.Write = p.Write.plus(w.units(factor))
	}
	return p
}

// indexKeys returns the index keys that the write sets or removes.
func (w *write) indexKeys() []IndexKey {
	var out []IndexKey
	for _, pl := range w.c.on {
		key := dynamo.Item{}
		touched := w.kind == actPut
		_ = pl.Attrs(func(k *layout.KeyAttr) error {
			if v, ok := w.item[k.Attr]; ok && w.kind == actPut {
				key[k.Attr] = v
			}
			for _, ch := range w.upd.changes {
				if ch.attr == k.Attr {
					touched = true
					if ch.op != changeRemove {
						key[k.Attr] = ch.val
					}
				}
			}
			return nil
		})
		if w.kind == actPut && pl.Sort != nil && len(key) < 2 {
			key = nil // an item with a partial key is not in the index
		}
		if touched {
			if len(key) == 0 {
				key = nil
			}
			out = append(out, IndexKey{Index: pl.Index, Key: key})
		}
	}
	return out
}

// units returns the write units of a write. The previous item is unknown: in the best case it does
// not exist, in the worst case it has the same size and other index keys.
func (w *write) units(factor float64) Span {
	size := w.c.typicalSize()
	if w.kind == actPut {
		size = w.item.Size()
	}
	own := dynamo.WriteUnits(size) * factor
	switch w.kind {
	case actCheck:
		return exactly(own)
	case actDelete:
		s := Span{factor, own, own}
		for range w.c.on {
			s.Typical += dynamo.WriteUnits(size)
			s.Most += dynamo.WriteUnits(size)
		}
		return s
	}
	s := exactly(own)
	created := w.kind == actPut && w.creates()
	keys := w.indexKeys()
	for _, pl := range w.c.on {
		entry := w.entrySize(pl, size)
		units := dynamo.WriteUnits(entry)
		in, moved := w.effect(pl, keys)
		switch {
		case created && in:
			s = s.plus(exactly(units))
		case created:
		case moved:
			s = s.plus(Span{0, units, 2 * units})
		case in:
			s = s.plus(Span{0, units, units})
		}
	}
	return s
}

// creates reports whether the write's condition requires that the item does not exist.
func (w *write) creates() bool {
	for _, cl := range w.claims {
		for _, n := range cl.conds {
			if n.op == opMissing && n.attr == w.c.table.keys.Partition {
				return true
			}
		}
	}
	return false
}

// effect reports whether the item may be in an index after the write, and whether its key there may
// have changed.
func (w *write) effect(pl *layout.Placement, keys []IndexKey) (in, moved bool) {
	for _, k := range keys {
		if k.Index == pl.Index {
			return k.Key != nil, true
		}
	}
	return w.kind == actUpdate, false
}

// entrySize returns the size of an item's entry in an index.
func (w *write) entrySize(pl *layout.Placement, size int) int {
	x := w.c.table.index(pl.Index)
	if x == nil || x.projection.ProjectionType == dynamo.ProjectAll {
		return size
	}
	if w.kind != actPut {
		return min(size, keysOnlySize)
	}
	entry := dynamo.Item{}
	names := append([]string{x.keys.Partition, x.keys.Sort, w.c.table.keys.Partition,
		w.c.table.keys.Sort}, x.projection.NonKeyAttributes...)
	for _, a := range names {
		if v, ok := w.item[a]; ok {
			entry[a] = v
		}
	}
	return entry.Size()
}
