package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// drawKey draws the key of an item that is there, or any.
func (w *modelWork) drawKey() dynamo.Key {
	if item := w.sample(); item != nil && rapid.IntRange(0, 2).Draw(w.T, "a new key") > 0 {
		return w.m.keyOf(item)
	}
	k := dynamo.Key{"pk": drawScalar(w.T, w.m.kinds["pk"])}
	if w.m.keys.sort != "" {
		k["sk"] = drawScalar(w.T, w.m.kinds["sk"])
	}
	return k
}

// sample returns an item that is there, nil when there is none.
func (w *modelWork) sample() dynamo.Item {
	if len(w.m.items) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(w.m.items))
	return w.m.items[keys[rapid.IntRange(0, len(keys)-1).Draw(w.T, "item")]]
}

// drawItem draws an item. Attributes that are keys of indexes mostly have the right type.
func (w *modelWork) drawItem() dynamo.Item {
	item := w.drawKey()
	for _, name := range attributeNames {
		if !rapid.Bool().Draw(w.T, "with "+name) {
			continue
		}
		kind, isKey := w.m.kinds[name]
		switch {
		case isKey && rapid.IntRange(0, 19).Draw(w.T, "any type") > 0:
			item[name] = drawScalar(w.T, kind)
		case name == "m" && rapid.Bool().Draw(w.T, "a map"):
			item[name] = dynamo.M(map[string]dynamo.Value{"a": drawOrdered(w.T)})
		case name == "l" && rapid.Bool().Draw(w.T, "a list"):
			item[name] = dynamo.L(drawOrdered(w.T), drawOrdered(w.T))
		default:
			item[name] = drawValue(w.T)
		}
	}
	return item
}

// canonicalItem writes the numbers of an item as the database will.
func canonicalItem(item dynamo.Item) dynamo.Item {
	out := maps.Clone(item)
	for name, v := range out {
		out[name] = canonicalValue(v)
	}
	return out
}

// drawIf draws a condition or none.
func drawIf(p *placeholders) modelCondition {
	if rapid.IntRange(0, 2).Draw(p.T, "conditional") > 0 {
		return modelCondition{"", func(dynamo.Item) bool { return true }}
	}
	return drawCondition(p, 2)
}

func all(string) bool { return true }

func (w *modelWork) put() {
	item := w.drawItem()
	p := newPlaceholders(w.T, w.m.find(w.m.keyOf(canonicalItem(item))))
	condition := drawIf(p)
	out, err := w.db.Put(w.ctx, &dynamo.PutInput{
		TableName: w.m.table, Item: item, ConditionExpression: condition.text,
		Expressions: p.Expressions, ReturnValues: dynamo.ReturnAllOld,
	})
	item = canonicalItem(item)
	old := w.m.find(w.m.keyOf(item))
	valid := w.m.fitsIndexes(item, all)
	// A put is checked before its condition is.
	holds := !valid || condition.holds(old)
	if !w.expectOutcome("put "+renderItem(item)+" if "+condition.text, err, holds, valid) {
		return
	}
	w.expect("the item before", out.Attributes, old)
	w.m.store(item)
}

func (w *modelWork) delete() {
	key := w.drawKey()
	p := newPlaceholders(w.T, w.m.find(canonicalItem(key)))
	condition := drawIf(p)
	out, err := w.db.Delete(w.ctx, &dynamo.DeleteInput{
		TableName: w.m.table, Key: key, ConditionExpression: condition.text,
		Expressions: p.Expressions, ReturnValues: dynamo.ReturnAllOld,
	})
	key = canonicalItem(key)
	old := w.m.find(key)
	if !w.expectOutcome("delete if "+condition.text, err, condition.holds(old), true) {
		return
	}
	w.expect("the deleted item", out.Attributes, old)
	w.m.remove(key)
}

func (w *modelWork) update() {
	key := w.drawKey()
	p := newPlaceholders(w.T, w.m.find(canonicalItem(key)))
	condition, u := drawIf(p), drawUpdate(p)
	out, err := w.db.Update(w.ctx, &dynamo.UpdateInput{
		TableName: w.m.table, Key: key, UpdateExpression: u.text,
		ConditionExpression: condition.text, Expressions: p.Expressions,
		ReturnValues: dynamo.ReturnAllNew,
	})
	key = canonicalItem(key)
	old := w.m.find(key)
	next, valid := u.apply(key, old)
	valid = valid && w.m.fitsIndexes(next, u.changes)
	what := fmt.Sprintf("update %s %s (%s) if %s", renderItem(old), u.text,
		renderItem(p.ExpressionAttributeValues), condition.text)
	if !w.expectOutcome(what, err, condition.holds(old), valid) {
		return
	}
	w.expect(what, out.Attributes, next)
	if next != nil {
		w.m.store(next)
	}
}

func (w *modelWork) get() {
	key := w.drawKey()
	want := w.m.find(canonicalItem(key))
	p := newPlaceholders(w.T, nil)
	text, keep := drawProjection(p)
	out, err := w.db.Get(w.ctx, &dynamo.GetInput{
		TableName: w.m.table, Key: key, ProjectionExpression: text, Expressions: p.Expressions,
	})
	if err != nil {
		w.Fatal(err)
	}
	if want != nil {
		want = keep(want)
	}
	w.expect("get of "+text, out.Item, want)
}

func (w *modelWork) drawIndex() modelIndex {
	return rapid.SampledFrom(append([]modelIndex{w.m.keys}, w.m.indexes...)).Draw(w.T, "index")
}

// drawFilter draws a filter that names no key of what is read, or none.
func (w *modelWork) drawFilter(p *placeholders, ix modelIndex) modelCondition {
	if rapid.Bool().Draw(w.T, "unfiltered") {
		return modelCondition{"", func(dynamo.Item) bool { return true }}
	}
	before := *p
	c := drawCondition(p, 1)
	for _, name := range []string{ix.hash, ix.sort} {
		if (name == "g" || name == "h") && mentions(c.text, name) {
			*p = before
			return modelCondition{"", func(dynamo.Item) bool { return true }}
		}
	}
	return c
}

// mentions reports whether a condition's text has an attribute of that one-letter name.
func mentions(text, name string) bool {
	for i := range text {
		if text[i:i+1] != name {
			continue
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = text[i-1]
		}
		if i+1 < len(text) {
			after = text[i+1]
		}
		if !isWord(before) && !isWord(after) {
			return true
		}
	}
	return false
}

func isWord(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// query reads a partition page by page, forward and backward.
func (w *modelWork) query() {
	ix := w.drawIndex()
	p := newPlaceholders(w.T, w.sample())
	filter := w.drawFilter(p, ix)
	hash := w.drawKeyValue(p, ix.hash)
	where := p.name(ix.hash) + " = " + p.value(hash)
	within := func(dynamo.Item) bool { return true }
	if ix.sort != "" && rapid.Bool().Draw(w.T, "by sort key") {
		var text string
		text, within = w.drawRange(p, ix.sort)
		where += " AND " + text
	}
	var want []dynamo.Item
	for _, item := range w.m.entries(ix) {
		if same(item[ix.hash], canonicalValue(hash)) && within(item) {
			want = append(want, item)
		}
	}
	limit := rapid.IntRange(0, 4).Draw(w.T, "limit")
	if ix.name == "" && ix.sort == "" {
		limit = 0 // such a query has one page
	}
	in := dynamo.QueryInput{
		TableName: w.m.table, IndexName: ix.name, KeyConditionExpression: where,
		FilterExpression: filter.text, Expressions: p.Expressions, Limit: limit,
	}
	forward := w.queryAll(in, len(want))
	in.ScanIndexBackward = true
	backward := w.queryAll(in, len(want))
	slices.Reverse(backward)
	var left []dynamo.Item
	for _, item := range want {
		if filter.holds(item) {
			left = append(left, item)
		}
	}
	what := fmt.Sprintf("query of %q where %s, filter %s", ix.name, where, filter.text)
	w.expectLines(what, renderSorted(forward), renderSorted(left))
	for i := range forward {
		w.expect(what+" backward", backward[i], forward[i])
		if i > 0 && ix.sort != "" && modelOrder(forward[i-1][ix.sort], forward[i][ix.sort]) > 0 {
			w.Fatalf("%s: out of order: %v", what, forward)
		}
	}
}

// drawKeyValue draws a value of a key attribute: that of the sample, of another item, or any.
func (w *modelWork) drawKeyValue(p *placeholders, name string) dynamo.Value {
	for _, item := range []dynamo.Item{p.sample, w.sample()} {
		if v, ok := item[name]; ok && rapid.Bool().Draw(w.T, "of an item") {
			return v
		}
	}
	return drawScalar(w.T, w.m.kinds[name])
}

// drawRange draws a condition on a sort key.
func (w *modelWork) drawRange(p *placeholders, name string) (string, func(dynamo.Item) bool) {
	kind := w.m.kinds[name]
	v := w.drawKeyValue(p, name)
	op := rapid.SampledFrom([]string{"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}).
		Draw(w.T, "operator")
	switch {
	case op == "BETWEEN":
		u := w.drawKeyValue(p, name)
		if modelOrder(v, u) > 0 {
			v, u = u, v
		}
		return p.name(name) + " BETWEEN " + p.value(v) + " AND " + p.value(u),
			func(i dynamo.Item) bool {
				return compare(">=", i[name], v) && compare("<=", i[name], u)
			}
	case op == "begins_with" && kind != dynamo.KindN:
		return "begins_with(" + p.name(name) + ", " + p.value(v) + ")",
			func(i dynamo.Item) bool {
				text, prefix := i[name].S()+string(i[name].B()), v.S()+string(v.B())
				return len(text) >= len(prefix) && text[:len(prefix)] == prefix
			}
	case op == "begins_with":
		op = "="
	}
	return p.name(name) + " " + op + " " + p.value(v),
		func(i dynamo.Item) bool { return compare(op, i[name], canonicalValue(v)) }
}

func (w *modelWork) queryAll(in dynamo.QueryInput, evaluated int) (items []dynamo.Item) {
	for scanned := 0; ; {
		out, err := w.db.Query(w.ctx, &in)
		if err != nil {
			w.Fatalf("query where %s, filter %s: %v", in.KeyConditionExpression,
				in.FilterExpression, err)
		}
		w.expectPage(out, in.Limit)
		items = append(items, out.Items...)
		scanned += out.ScannedCount
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			if scanned != evaluated {
				w.Fatalf("evaluated %d of %d", scanned, evaluated)
			}
			return items
		}
	}
}

func (w *modelWork) expectPage(out *dynamo.QueryOutput, limit int) {
	more := out.LastEvaluatedKey != nil
	if out.Count != len(out.Items) || limit > 0 && out.ScannedCount > limit ||
		more != (limit > 0 && out.ScannedCount == limit) {
		w.Fatalf("a page of %d items says %d of %d, limit %d, more %v", len(out.Items), out.Count,
			out.ScannedCount, limit, more)
	}
}

func (w *modelWork) scan() {
	ix := w.drawIndex()
	p := newPlaceholders(w.T, w.sample())
	filter := w.drawFilter(p, modelIndex{})
	segments := rapid.IntRange(1, 4).Draw(w.T, "segments")
	got := w.scanAll(ix, segments, rapid.IntRange(0, 4).Draw(w.T, "limit"), &filter, p)
	var want []dynamo.Item
	for _, item := range w.m.entries(ix) {
		if filter.holds(item) {
			want = append(want, item)
		}
	}
	w.expectLines("scan of "+ix.name+" filter "+filter.text, renderSorted(got),
		renderSorted(want))
}

// scanAll reads all segments page by page.
func (w *modelWork) scanAll(ix modelIndex, segments, limit int, filter *modelCondition,
	p *placeholders,
) (items []dynamo.Item) {
	for segment := range segments {
		in := &dynamo.ScanInput{
			TableName: w.m.table, IndexName: ix.name, Expressions: p.Expressions, Limit: limit,
			Segment: segment, TotalSegments: segments,
		}
		if filter != nil {
			in.FilterExpression = filter.text
		}
		for more := true; more; more = in.ExclusiveStartKey != nil {
			out, err := w.db.Scan(w.ctx, in)
			if err != nil {
				w.Fatalf("scan filter %s: %v", in.FilterExpression, err)
			}
			w.expectPage((*dynamo.QueryOutput)(out), limit)
			items = append(items, out.Items...)
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
	return items
}

// batch puts and deletes a few items, then reads them.
func (w *modelWork) batch() {
	var writes []dynamo.WriteRequest
	asked := dynamo.KeysAndAttributes{ConsistentRead: true}
	seen := map[string]bool{}
	var after []func()
	for range rapid.IntRange(1, 5).Draw(w.T, "writes") {
		item := w.drawItem()
		plain := canonicalItem(item)
		key := w.m.keyOf(plain)
		if seen[renderItem(key)] || !w.m.fitsIndexes(plain, all) {
			continue
		}
		seen[renderItem(key)] = true
		asked.Keys = append(asked.Keys, key)
		if rapid.Bool().Draw(w.T, "delete") {
			writes = append(writes, dynamo.WriteRequest{Delete: w.m.keyOf(item)})
			after = append(after, func() { w.m.remove(key) })
		} else {
			writes = append(writes, dynamo.WriteRequest{Put: item})
			after = append(after, func() { w.m.store(plain) })
		}
	}
	if writes == nil {
		return
	}
	if _, err := w.db.BatchWrite(w.ctx, &dynamo.BatchWriteInput{
		RequestItems: map[string][]dynamo.WriteRequest{w.m.table: writes},
	}); err != nil {
		w.Fatal(err)
	}
	var want []dynamo.Item
	for i, apply := range after {
		if apply(); w.m.find(asked.Keys[i]) != nil {
			want = append(want, w.m.find(asked.Keys[i]))
		}
	}
	out, err := w.db.BatchGet(w.ctx, &dynamo.BatchGetInput{
		RequestItems: map[string]dynamo.KeysAndAttributes{w.m.table: asked},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.expectLines("batch", renderSorted(out.Responses[w.m.table]), renderSorted(want))
}

// transact does several actions or none, then reads what became of their items.
func (w *modelWork) transact() {
	in, reads := &dynamo.TransactWriteInput{}, &dynamo.TransactGetInput{}
	var apply []func()
	var failed []bool
	invalid := -1
	seen := map[string]bool{}
	for range rapid.IntRange(1, 4).Draw(w.T, "actions") {
		item := w.drawItem()
		key := canonicalItem(w.m.keyOf(item))
		if seen[renderItem(key)] || !w.m.fitsIndexes(canonicalItem(item), all) {
			continue
		}
		seen[renderItem(key)] = true
		action, does, holds, valid := w.drawTransacted(item, key)
		if holds && !valid && invalid < 0 {
			invalid = len(failed)
		}
		in.Items, apply = append(in.Items, action), append(apply, does)
		failed = append(failed, !holds)
		reads.Items = append(reads.Items, dynamo.TransactGetItem{TableName: w.m.table, Key: key})
	}
	if in.Items == nil {
		return
	}
	_, err := w.db.TransactWrite(w.ctx, in)
	w.expectReasons(err, failed, invalid)
	if err == nil {
		for _, does := range apply {
			does()
		}
	}
	out, err := w.db.TransactGet(w.ctx, reads)
	if err != nil {
		w.Fatal(err)
	}
	for i, read := range reads.Items {
		w.expect("after the transaction", out.Items[i], w.m.find(read.Key))
	}
}

// expectReasons compares the reasons of a cancellation: each failed condition, or only the first
// action that is invalid.
func (w *modelWork) expectReasons(err error, failed []bool, invalid int) {
	want := make([]dynamo.CancellationCode, len(failed))
	any := invalid >= 0
	for i, f := range failed {
		want[i] = dynamo.ReasonNone
		switch {
		case i == invalid:
			want[i] = dynamo.ReasonValidation
		case f && invalid < 0:
			want[i], any = dynamo.ReasonConditionalCheckFailed, true
		}
	}
	if !any {
		if err != nil {
			w.Fatalf("transaction: %v", err)
		}
		return
	}
	if !errors.Is(err, dynamo.ErrTransactionCanceled) {
		w.Fatalf("the transaction should be cancelled with %v: %v", want, err)
	}
	for i, reason := range dynamo.Reasons(err) {
		if reason.Code != want[i] {
			w.Fatalf("action %d: %v, want %v", i, err, want)
		}
	}
}

// drawTransacted draws one action on an item, and says what it does if the transaction is done.
func (w *modelWork) drawTransacted(item, key dynamo.Item) (
	action dynamo.TransactWriteItem, does func(), holds, valid bool,
) {
	old := w.m.find(key)
	p := newPlaceholders(w.T, old)
	condition := drawIf(p)
	kind := rapid.IntRange(0, 3).Draw(w.T, "action")
	if kind == 3 && condition.text == "" {
		condition = drawCondition(p, 1)
	}
	holds, valid = condition.holds(old), true
	switch kind {
	case 0:
		action.Put = &dynamo.PutInput{
			TableName: w.m.table, Item: item, ConditionExpression: condition.text,
			Expressions: p.Expressions,
		}
		does = func() { w.m.store(canonicalItem(item)) }
	case 1:
		u := drawUpdate(p)
		var next dynamo.Item
		next, valid = u.apply(key, old)
		valid = valid && w.m.fitsIndexes(next, u.changes)
		action.Update = &dynamo.UpdateInput{
			TableName: w.m.table, Key: w.m.keyOf(item), UpdateExpression: u.text,
			ConditionExpression: condition.text, Expressions: p.Expressions,
		}
		does = func() {
			if next != nil {
				w.m.store(next)
			}
		}
	case 2:
		action.Delete = &dynamo.DeleteInput{
			TableName: w.m.table, Key: w.m.keyOf(item), ConditionExpression: condition.text,
			Expressions: p.Expressions,
		}
		does = func() { w.m.remove(key) }
	default:
		action.ConditionCheck = &dynamo.ConditionCheck{
			TableName: w.m.table, Key: w.m.keyOf(item), ConditionExpression: condition.text,
			Expressions: p.Expressions,
		}
		does = func() {}
	}
	return action, does, holds, valid
}
