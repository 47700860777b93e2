package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// Audit compares every index row, every expiry row and the counters of a table with its items,
// and tells of the first difference.
func (db *DB) Audit(name string) error {
	db.schema.Lock() // no call is half done
	defer db.schema.Unlock()
	t := db.tables[name]
	if t == nil {
		return fmt.Errorf("no table %s", name)
	}
	want := map[string]dynamo.Item{} // what each row but the items' should hold
	items, size := int64(0), int64(0)
	err := db.rows(t.prefix, func(key string, value []byte) error {
		view, err := row.NewView([]byte(value))
		if err != nil {
			return err
		}
		item, err := view.Item()
		if err != nil {
			return err
		}
		if item.Size() != view.Size() {
			return fmt.Errorf("%v has size %d, its row says %d", item, item.Size(), view.Size())
		}
		if string(db.itemKey(t, item)) != key {
			return fmt.Errorf("%v does not stand under its key", item)
		}
		items, size = items+1, size+int64(view.Size())
		return t.expect(db, want, item, key)
	})
	if err != nil {
		return err
	}
	prefixes := [][]byte{keyspace.Expiries(t.ID)}
	for id := range t.NextIndex { // those of dropped indexes must be empty
		prefixes = append(prefixes, keyspace.Index(t.ID, id, false),
			keyspace.Index(t.ID, id, true))
	}
	for _, prefix := range prefixes {
		err := db.rows(prefix, func(key string, value []byte) error {
			part, ok := want[key]
			delete(want, key)
			if !ok {
				return fmt.Errorf("row %x belongs to no item", key)
			}
			return sameRow(key, part, value)
		})
		if err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		return fmt.Errorf("row %x is missing", key)
	}
	if t.counted.Load() && (t.items.Load() != items || t.bytes.Load() != size) {
		return fmt.Errorf("there are %d items of %d bytes, the table says %d of %d", items, size,
			t.items.Load(), t.bytes.Load())
	}
	return nil
}

// expect adds the rows that an item should have.
func (t *table) expect(db *DB, want map[string]dynamo.Item, item dynamo.Item, key string) error {
	for _, ix := range t.indexes {
		if !ix.ready() {
			return errors.New("an index is still being filled")
		}
		rowKey := ix.appendRowKey(nil, db.hash, item, []byte(key))
		if len(rowKey) == 0 {
			continue
		}
		keys, err := ix.keysOf(db.hash, t, rowKey)
		if err != nil {
			return err
		}
		for name, v := range keys {
			if !v.Equal(item[name]) {
				return fmt.Errorf("%v reads back from index %s as %v", item, ix.Name, keys)
			}
		}
		want[string(rowKey)] = nil
		if ix.stores() {
			want[string(rowKey)] = ix.project(item)
		}
	}
	if t.TTL != "" {
		if epoch, ok := epochOf(t, item); ok {
			want[string(keyspace.AppendExpiry(nil, t.ID, epoch, []byte(key)))] = nil
		}
	}
	return nil
}

func sameRow(key string, part dynamo.Item, value []byte) error {
	if part == nil {
		if len(value) > 0 {
			return fmt.Errorf("row %x holds %x", key, value)
		}
		return nil
	}
	view, err := row.NewView(value)
	if err != nil {
		return err
	}
	got, err := view.Item()
	if err != nil || !got.Equal(part) {
		return fmt.Errorf("row %x holds %v, not %v (%w)", key, got, part, err)
	}
	return nil
}

func (db *DB) rows(prefix []byte, visit func(key string, value []byte) error) error {
	it, err := db.store.NewIter(bounds(prefix, keyspace.After(prefix)))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if err := visit(string(it.Key()), it.Value()); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return it.Close()
}
