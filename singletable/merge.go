package singletable

import (
	"fmt"
	"maps"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The store accepts one action for each item of a transaction, and checks all conditions against
// the items before it. A caller expects the actions to happen one after another. Merging returns
// one action with the effect of several in sequence: conditions of later actions are rewritten for
// the item before the earlier changes.

// merge merges next into w, as if it happened after w.
func (w *write) merge(next *write) error {
	switch {
	case w.reserve && next.kind == actDelete && next.claims[0].verb == verbRelease:
		// Two items exchange a unique value: it is free for one item because the other releases it.
		w.claims = append(dropTaken(w.claims), next.claims...)
		return nil
	case next.kind == actCheck:
		return w.takeClaims(next)
	case w.kind == actCheck:
		claims := append(w.claims, next.claims...)
		*w = *next
		w.claims = claims
		return nil
	case w.kind == actUpdate && next.kind == actUpdate:
		if err := w.takeClaims(next); err != nil {
			return err
		}
		for _, ch := range next.upd.changes {
			if err := w.upd.add(ch); err != nil {
				return err
			}
		}
		return nil
	case w.kind == actPut && next.kind == actUpdate:
		return w.applyToPut(next)
	case w.kind == actDelete && next.kind == actPut:
		if err := w.takeClaims(next); err != nil {
			return err
		}
		w.kind, w.item, w.reserve = actPut, next.item, next.reserve
		return nil
	}
	return fmt.Errorf("%s and %s of one item, %s %s, cannot be in one transaction",
		w.claims[0].verb, next.claims[0].verb, w.c.name, keyText(w.itemKey()))
}

// applyToPut merges an update into a put before it. The item is known, so it is put in the state
// after the update.
func (w *write) applyToPut(next *write) error {
	if err := w.takeClaims(next); err != nil {
		return err
	}
	item := maps.Clone(w.item)
	for _, ch := range next.upd.changes {
		if ch.op == changeRemove {
			delete(item, ch.attr)
			continue
		}
		old, exists := item[ch.attr]
		if !exists && (ch.op == changeSetIfAbsent || ch.op == changeAdd) {
			ch.op = changeSet
		}
		if ch.op == changeSet {
			item[ch.attr] = ch.val
			continue
		}
		merged, err := mergeChanges(change{op: changeSet, attr: ch.attr, val: old}, ch)
		if err != nil {
			return err
		}
		item[ch.attr] = merged.val
	}
	w.item = item
	return nil
}

// dropTaken removes from claims the condition that a value is not taken.
func dropTaken(claims []claim) []claim {
	out := make([]claim, len(claims))
	for i, cl := range claims {
		kept := cl
		kept.conds = nil
		for _, n := range cl.conds {
			if n.reason != ErrTaken {
				kept.conds = append(kept.conds, n)
			}
		}
		out[i] = kept
	}
	return out
}

// takeClaims adds the claims of next, rewritten for the item before w.
func (w *write) takeClaims(next *write) error {
	for _, cl := range next.claims {
		out := cl
		out.conds = nil
		for _, n := range cl.conds {
			before, err := w.before(n)
			if err != nil {
				return err
			}
			switch {
			case before.op == opTrue:
			case before.isFalse():
				f := next.failure(FailedCondition, "", w.item)
				f.Reason = n.reason
				return &WriteError{Failures: []Failure{f}}
			default:
				out.conds = append(out.conds, before)
			}
		}
		w.claims = append(w.claims, out)
	}
	return nil
}

var condTrue = &cond{op: opTrue}

func condFalse() *cond { return &cond{op: opNot, kids: []*cond{condTrue}} }

func (c *cond) isFalse() bool { return c.op == opNot && c.kids[0].op == opTrue }

// before returns the condition on the item before the write that is true exactly if n is true after
// it.
func (w *write) before(n *cond) (*cond, error) {
	switch n.op {
	case opTrue:
		return n, nil
	case opAnd, opOr, opNot:
		return w.beforeTree(n)
	}
	switch w.kind {
	case actCheck:
		return n, nil
	case actPut, actDelete: // the new item does not depend on the old one
		if n.holds(w.item) {
			return condTrue, nil
		}
		return condFalse(), nil
	}
	if n.attr == w.c.table.keys.Partition {
		if n.op == opExists {
			return condTrue, nil // an update creates a missing item
		}
		if n.op == opMissing {
			return condFalse(), nil
		}
	}
	for _, ch := range w.upd.changes {
		if ch.attr == n.attr {
			out, err := beforeChange(n, ch)
			if err == nil && out.reason == nil && out.op != opTrue && !out.isFalse() {
				out.reason = n.reason
			}
			return out, err
		}
	}
	return n, nil
}

// beforeTree rewrites the parts of a condition and removes those that are constant.
func (w *write) beforeTree(n *cond) (*cond, error) {
	out := &cond{op: n.op, reason: n.reason}
	for _, kid := range n.kids {
		k, err := w.before(kid)
		if err != nil {
			return nil, err
		}
		settled := k.op == opTrue || k.isFalse()
		switch {
		case n.op == opNot && settled:
			if k.isFalse() {
				return condTrue, nil
			}
			return condFalse(), nil
		case n.op == opAnd && settled:
			if k.isFalse() {
				return k, nil
			}
			continue
		case n.op == opOr && settled:
			if k.op == opTrue {
				return k, nil
			}
			continue
		}
		out.kids = append(out.kids, k)
	}
	switch {
	case len(out.kids) > 1 || n.op == opNot:
		return out, nil
	case len(out.kids) == 1:
		return out.kids[0], nil
	case n.op == opOr:
		return condFalse(), nil
	}
	return condTrue, nil
}

// beforeChange rewrites a comparison of an attribute for its value before a change.
func beforeChange(n *cond, ch change) (*cond, error) {
	settle := func(holds bool) (*cond, error) {
		if holds {
			return condTrue, nil
		}
		return condFalse(), nil
	}
	switch {
	case ch.op == changeSet:
		return settle(n.holds(dynamo.Item{n.attr: ch.val}))
	case ch.op == changeRemove:
		return settle(n.holds(nil))
	case n.op == opExists && ch.op != changeTake:
		return condTrue, nil
	case n.op == opMissing && ch.op != changeTake:
		return condFalse(), nil
	case ch.op == changeAdd && ch.val.Kind() == dynamo.KindN && n.op >= opEqual && n.op <= opIn:
		return beforeAdd(n, ch.val)
	}
	return nil, fmt.Errorf("%w: a condition reads %s after it", &MergeError{
		Attribute: n.attr, First: ch.op.String(), Second: "condition"}, n.attr)
}

// beforeAdd rewrites a comparison for a number before delta is added: balance >= x after it is
// balance >= x - delta before it. ADD treats an absent number as zero, but a comparison with it is
// false (and NotEquals true), so the absent case is handled separately.
func beforeAdd(n *cond, delta dynamo.Value) (*cond, error) {
	out := &cond{op: n.op, attr: n.attr, reason: n.reason}
	for _, v := range n.vals {
		if v.Kind() == dynamo.KindN {
			text, err := dynamo.SubtractNumbers(v.N(), delta.N())
			if err != nil {
				return nil, err
			}
			v = dynamo.CanonicalN(text)
		}
		out.vals = append(out.vals, v)
	}
	ifAbsent := compare(n.op, delta, n.vals)
	says := n.op == opNotEqual
	switch {
	case ifAbsent == says:
		return out, nil
	case ifAbsent:
		return &cond{op: opOr, kids: []*cond{out, {op: opMissing, attr: n.attr}},
			reason: n.reason}, nil
	}
	return &cond{op: opAnd, kids: []*cond{out, {op: opExists, attr: n.attr}},
		reason: n.reason}, nil
}
