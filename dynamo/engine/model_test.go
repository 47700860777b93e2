package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The model of a table is a plain map of items by the text of their keys. It knows nothing of
// rows, encodings or parsed expressions: it evaluates the trees that the tests' expressions are
// written from, in the most naive way.

// modelIndex is an index, or the table itself when it has no name.
type modelIndex struct {
	name       string
	local      bool
	hash, sort string // sort is "" where there is none
	projection dynamo.Projection
}

type model struct {
	table   string
	keys    modelIndex
	kinds   map[string]dynamo.Kind // of all key attributes
	indexes []modelIndex
	items   map[string]dynamo.Item
}

func (m *model) keyOf(item dynamo.Item) dynamo.Key {
	k := dynamo.Key{m.keys.hash: item[m.keys.hash]}
	if m.keys.sort != "" {
		k[m.keys.sort] = item[m.keys.sort]
	}
	return k
}

func (m *model) find(key dynamo.Key) dynamo.Item { return m.items[renderItem(key)] }

func (m *model) store(item dynamo.Item) { m.items[renderItem(m.keyOf(item))] = item }

func (m *model) remove(key dynamo.Key) { delete(m.items, renderItem(key)) }

// fitsIndexes reports whether those of the named attributes that are keys of indexes can be.
func (m *model) fitsIndexes(item dynamo.Item, changed func(string) bool) bool {
	for _, ix := range m.indexes {
		for _, name := range []string{ix.hash, ix.sort} {
			v, ok := item[name]
			if ok && changed(name) && (v.Kind() != m.kinds[name] || v.Size() == 0) {
				return false
			}
		}
	}
	return true
}

// entries returns what an index holds: the projected part of each item that has its keys.
func (m *model) entries(ix modelIndex) (parts []dynamo.Item) {
	for _, item := range m.items {
		_, hash := item[ix.hash]
		_, sort := item[ix.sort]
		if hash && (sort || ix.sort == "") {
			parts = append(parts, m.project(ix, item))
		}
	}
	return parts
}

func (m *model) project(ix modelIndex, item dynamo.Item) dynamo.Item {
	if ix.name == "" || ix.projection.ProjectionType == dynamo.ProjectAll {
		return item
	}
	part := dynamo.Item{}
	for _, name := range append([]string{ix.hash, ix.sort, m.keys.hash, m.keys.sort},
		ix.projection.NonKeyAttributes...) {
		if v, ok := item[name]; ok {
			part[name] = v
		}
	}
	return part
}

// modelOrder compares two values of one type that has an order.
func modelOrder(a, b dynamo.Value) int {
	switch a.Kind() {
	case dynamo.KindN:
		return ratOf(a).Cmp(ratOf(b))
	case dynamo.KindB:
		return bytes.Compare(a.B(), b.B())
	}
	return strings.Compare(a.S(), b.S())
}

func ratOf(v dynamo.Value) *big.Rat {
	r, ok := new(big.Rat).SetString(v.N())
	if !ok {
		panic("no number: " + v.N())
	}
	return r
}

// numberOf returns the shortest plain text of a number.
func numberOf(r *big.Rat) dynamo.Value {
	text := r.FloatString(10) // the tests' numbers have few digits
	text = strings.TrimRight(text, "0")
	text = strings.TrimSuffix(text, ".")
	if text == "-0" || text == "" {
		text = "0"
	}
	return dynamo.CanonicalN(text)
}

func same(a, b dynamo.Value) bool {
	return a.Kind() == b.Kind() && !a.IsAbsent() && renderValue(a) == renderValue(b)
}

func renderSorted(items []dynamo.Item) []string {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = renderItem(item)
	}
	slices.Sort(lines)
	return lines
}

// drawModel draws a table: its keys, some of a choice of indexes, and makes it.
func drawModel(t *rapid.T, db dynamo.Admin, name string) *model {
	kind := func(what string) dynamo.Kind {
		return rapid.SampledFrom([]dynamo.Kind{dynamo.KindS, dynamo.KindN, dynamo.KindB}).
			Draw(t, what)
	}
	m := &model{
		table: name, items: map[string]dynamo.Item{},
		keys:  modelIndex{hash: "pk"},
		kinds: map[string]dynamo.Kind{"pk": kind("partition key")},
	}
	in := &dynamo.CreateTableInput{
		TableName: name, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashKey("pk"),
	}
	if rapid.Bool().Draw(t, "with sort key") {
		m.keys.sort, m.kinds["sk"] = "sk", kind("sort key")
		in.KeySchema = dynamo.HashRangeKey("pk", "sk")
	}
	g, h := kind("g"), kind("h")
	choice := []modelIndex{
		{name: "all", hash: "g", sort: "h"},
		{name: "other", hash: "h"},
		{name: "back", hash: "g", sort: "pk"},
		{name: "twice", hash: "h", sort: "g"},
	}
	if m.keys.sort != "" {
		choice = append(choice, modelIndex{name: "local", local: true, hash: "pk", sort: "h"})
	}
	for _, ix := range choice {
		if !rapid.Bool().Draw(t, "index "+ix.name) {
			continue
		}
		ix.projection.ProjectionType = rapid.SampledFrom([]dynamo.ProjectionType{
			dynamo.ProjectAll, dynamo.ProjectKeysOnly, dynamo.ProjectInclude,
		}).Draw(t, "projection")
		if ix.projection.ProjectionType == dynamo.ProjectInclude {
			ix.projection.NonKeyAttributes = []string{"x", "m"}
		}
		schema := dynamo.HashKey(ix.hash)
		if ix.sort != "" {
			schema = dynamo.HashRangeKey(ix.hash, ix.sort)
		}
		for _, attribute := range []string{ix.hash, ix.sort} {
			switch attribute {
			case "g":
				m.kinds["g"] = g
			case "h":
				m.kinds["h"] = h
			}
		}
		if ix.local {
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes,
				dynamo.LocalSecondaryIndex{
					IndexName: ix.name, KeySchema: schema, Projection: ix.projection,
				})
		} else {
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
				dynamo.GlobalSecondaryIndex{
					IndexName: ix.name, KeySchema: schema, Projection: ix.projection,
				})
		}
		m.indexes = append(m.indexes, ix)
	}
	for _, attribute := range slices.Sorted(maps.Keys(m.kinds)) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, dynamo.AttributeDefinition{
			AttributeName: attribute, AttributeType: m.kinds[attribute],
		})
	}
	if _, err := db.CreateTable(context.Background(), in); err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return m
}

// TestRandomWorkAgreesWithAPlainMap does the same to the database and to the model, and compares
// every answer, and in the end every index.
func TestRandomWorkAgreesWithAPlainMap(t *testing.T) {
	workOnModel(t, openMemory(t))
}

// modelDB is a database, or a client of one, that random work is done on.
type modelDB interface {
	dynamo.DB
	dynamo.Admin
	Audit(table string) error
}

func workOnModel(t *testing.T, db modelDB) {
	t.Helper()
	tables, calls := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tables++
		name := fmt.Sprint("table-", tables)
		defer func() { _, _ = db.DeleteTable(context.Background(), name) }()
		m := drawModel(t, db, name)
		w := &modelWork{T: t, ctx: context.Background(), db: db, m: m}
		for range rapid.IntRange(20, 120).Draw(t, "calls") {
			w.call()
			calls++
		}
		w.compare()
	})
	t.Logf("%d calls on %d tables", calls, tables)
}

// modelWork is one run of random calls.
type modelWork struct {
	*rapid.T
	ctx context.Context
	db  modelDB
	m   *model
}

func (w *modelWork) call() {
	calls := []struct {
		name string
		do   func()
	}{
		{"put", w.put}, {"put", w.put}, {"put", w.put},
		{"update", w.update}, {"update", w.update}, {"update", w.update},
		{"delete", w.delete}, {"get", w.get}, {"query", w.query}, {"query", w.query},
		{"scan", w.scan}, {"transact", w.transact}, {"batch", w.batch},
	}
	one := calls[rapid.IntRange(0, len(calls)-1).Draw(w.T, "call")]
	one.do()
}

// compare looks at everything: each item, each index, and every row below.
func (w *modelWork) compare() {
	for _, item := range w.m.items {
		w.expectItem(w.m.keyOf(item), item)
	}
	for _, ix := range append([]modelIndex{{}}, w.m.indexes...) {
		got := w.scanAll(ix, 1, 0, nil, newPlaceholders(w.T, nil))
		want := slices.Collect(maps.Values(w.m.items))
		if ix.name != "" {
			want = w.m.entries(ix)
		}
		w.expectLines("index "+ix.name, renderSorted(got), renderSorted(want))
	}
	if err := w.db.Audit(w.m.table); err != nil {
		w.Fatal(err)
	}
}

func (w *modelWork) expectItem(key dynamo.Key, want dynamo.Item) {
	out, err := w.db.Get(w.ctx, &dynamo.GetInput{
		TableName: w.m.table, Key: key, ConsistentRead: true,
	})
	if err != nil {
		w.Fatal(err)
	}
	w.expect("get "+renderItem(key), out.Item, want)
}

func (w *modelWork) expect(what string, got, want dynamo.Item) {
	if (got == nil) != (want == nil) || renderItem(got) != renderItem(want) {
		w.Fatalf("%s:\n got %s\nwant %s", what, renderItem(got), renderItem(want))
	}
}

func (w *modelWork) expectLines(what string, got, want []string) {
	if !slices.Equal(got, want) {
		w.Fatalf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "),
			strings.Join(want, "\n     "))
	}
}

// expectOutcome compares the error of a call with what the model says: whether it is invalid,
// or, where it is not, whether its condition holds.
func (w *modelWork) expectOutcome(what string, err error, holds, valid bool) (done bool) {
	switch {
	case !holds:
		if !errors.Is(err, dynamo.ErrConditionalCheckFailed) {
			w.Fatalf("%s: the condition does not hold: %v", what, err)
		}
	case !valid:
		if !errors.Is(err, dynamo.ErrValidation) {
			w.Fatalf("%s is invalid: %v", what, err)
		}
	case err != nil:
		w.Fatalf("%s: %v", what, err)
	}
	return holds && valid
}
