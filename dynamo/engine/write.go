package engine

import (
	"bytes"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

type actionKind uint8

const (
	actPut actionKind = iota
	actUpdate
	actDelete
	actCheck
)

// action is one change of one item, or one check of it, on its way through a write: what was
// asked, then what was found, then what becomes of it.
type action struct {
	kind     actionKind
	table    *table
	rowKey   []byte
	key      dynamo.Key  // of an update, to make a missing item
	item     dynamo.Item // what a put writes
	size     int         // of item
	exprs    *expr.Prepared
	tellOld  bool // a failed condition tells the item as found
	transact bool
	flat     bool // an update that is measured by its item alone

	stripe  uint16   // of its lock
	old     row.View // the item as found
	missed  bool     // it was looked for and not there
	after   row.View // the item as an update leaves it
	newSize int
	same    bool // nothing is written

	expired  bool   // the sweep deletes the item
	sequence uint64 // of its record in a stream, 0 for none

	// The item before and after, decoded only where somebody needs it: see the methods.
	oldItem, newItem dynamo.Item

	tableUnits float64
	indexUnits []indexUnits
}

type indexUnits struct {
	index *index
	units float64
}

// write is a set of actions that are done together or not at all.
type write struct {
	actions []action
	metered bool // count capacity units
	stage   func(*pebble.Batch) error
}

// commit carries out a write. It holds the locks of its items while it reads them, checks their
// conditions and applies one batch; it answers when that batch is on the disk. When any action
// fails nothing is written, and failures tells of each, by position.
func (db *DB) commit(w *write) (failures []*dynamo.Error, err error) {
	var few [8]uint16
	stripes := few[:0]
	for i := range w.actions {
		a := &w.actions[i]
		a.stripe = stripeOf(a.rowKey)
		stripes = append(stripes, a.stripe)
	}
	stripes = db.locks.lock(stripes)
	failures, err = db.evaluate(w)
	if err != nil || failures != nil {
		db.locks.unlock(stripes)
		if lost := db.awaitStripes(stripes); lost != nil {
			return nil, lost
		}
		return failures, err
	}
	batch := db.store.NewBatch()
	err = db.stageAll(batch, w)
	if err != nil || batch.Empty() {
		db.landRecords(w)
		db.locks.unlock(stripes)
		return nil, errors.Join(err, db.awaitStripes(stripes), batch.Close())
	}
	if err := db.apply(batch, w, stripes); err != nil {
		return nil, err // readers see neither the write nor its records
	}
	db.landRecords(w)
	return nil, batch.Close()
}

// apply makes a batch visible, lets go of the locks, and waits until it is on the disk.
func (db *DB) apply(batch *pebble.Batch, w *write, stripes []uint16) error {
	db.faults.Load().note()
	if !db.synced {
		err := db.applyUnsynced(batch)
		db.remember(w, err)
		db.locks.unlock(stripes)
		return err
	}
	flight := db.flights.takeOff()
	db.locks.depart(stripes, flight)
	err := db.applyAhead(batch)
	db.remember(w, err)
	db.locks.unlock(stripes)
	if err == nil {
		err = db.settled(batch)
	}
	if err != nil {
		return err // the flight never lands, so that no reader answers what it saw of the write
	}
	db.flights.land(flight)
	return nil
}

// remember notes what a write left of the items that it updated, and forgets what it replaced
// otherwise.
func (db *DB) remember(w *write, err error) {
	if db.locks.off {
		return
	}
	for i := range w.actions {
		a := &w.actions[i]
		r := &db.locks.stripes[a.stripe].recent
		if err == nil && a.after.Exists() && a.after.Len() <= recentSizeMax {
			if r.key != string(a.rowKey) {
				r.key = string(a.rowKey)
			}
			r.view = a.after
		} else if !a.same {
			r.forget(a.rowKey)
		}
	}
}

// awaitStripes waits for the writes that a reader of these stripes may have seen. It returns an
// error if one of them will never be on the disk.
func (db *DB) awaitStripes(stripes []uint16) error {
	for _, s := range stripes {
		if !db.flights.wait(db.locks.stripes[s].last.Load()) {
			return db.Failure()
		}
	}
	return nil
}

// evaluate reads every item and works out what becomes of it.
func (db *DB) evaluate(w *write) (failures []*dynamo.Error, err error) {
	for i := range w.actions {
		a := &w.actions[i]
		if err := db.find(w, i); err != nil {
			return nil, err
		}
		failure, err := a.evaluate()
		if err != nil {
			return nil, err
		}
		if failure != nil {
			if failures == nil {
				failures = make([]*dynamo.Error, len(w.actions))
			}
			failures[i] = failure
		}
	}
	return failures, nil
}

// find reads the item of the i-th action, unless it is remembered. Whether it is there makes no
// difference to what is found, only to what it costs.
func (db *DB) find(w *write, i int) (err error) {
	a := &w.actions[i]
	if r := &db.locks.stripes[a.stripe].recent; r.key == string(a.rowKey) && !db.locks.off {
		a.old = r.view
		return nil
	}
	if a.expectsNone() || i > 0 && a.goesOnAfter(&w.actions[i-1]) {
		a.old, err = db.seek(a.rowKey)
	} else {
		a.old, err = db.view(db.store, a.rowKey)
	}
	a.missed = !a.old.Exists()
	return err
}

// noItem is what a condition sees of an item that is missing.
var noItem row.View

// expectsNone reports whether the item is probably missing: it is to be written on a condition that
// holds of none, as that it does not exist yet.
func (a *action) expectsNone() bool {
	return a.kind == actPut && a.exprs.Condition != nil && a.exprs.Condition.Holds(&noItem)
}

// goesOnAfter reports whether the item is probably missing as the one before it was: a transaction
// that makes one item of a partition usually makes the next one too.
func (a *action) goesOnAfter(before *action) bool {
	return before.missed &&
		bytes.Equal(keyspace.Partition(a.rowKey), keyspace.Partition(before.rowKey))
}

// seek reads the row of an item that is probably missing, as view does. The filters of the lowest
// level, which holds nearly all rows, tell of most keys that they are not there; without them a
// block would be read each time, only to find nothing.
func (db *DB) seek(rowKey []byte) (v row.View, err error) {
	db.counters.seeks.Add(1)
	it, err := db.store.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return v, err
	}
	if it.SeekPrefixGE(rowKey) && bytes.Equal(it.Key(), rowKey) {
		var raw []byte
		if raw, err = it.ValueAndErr(); err == nil {
			v, err = row.NewView(raw)
		}
	}
	return v, errors.Join(err, it.Error(), it.Close())
}

// view reads the row of an item; a missing one gives the zero View.
func (db *DB) view(r pebble.Reader, rowKey []byte) (row.View, error) {
	db.counters.gets.Add(1)
	raw, closer, err := r.Get(rowKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return row.View{}, nil
	}
	if err != nil {
		return row.View{}, err
	}
	v, err := row.NewView(raw)
	return v, errors.Join(err, closer.Close())
}

// evaluate checks the condition and works out the item afterwards. The failure is the service's
// refusal, the error a fault of the store.
func (a *action) evaluate() (failure *dynamo.Error, err error) {
	if c := a.exprs.Condition; c != nil && !c.Holds(&a.old) {
		if !a.tellOld {
			return dynamo.ConditionalCheckFailed(nil), nil
		}
		old, err := a.old.Item()
		return dynamo.ConditionalCheckFailed(old), err
	}
	switch a.kind {
	case actPut:
		a.newItem, a.newSize = a.item, a.size
	case actUpdate:
		return a.update()
	case actDelete:
		a.same = !a.old.Exists()
	case actCheck:
		a.same = true
	}
	return nil, nil
}

func (a *action) update() (failure *dynamo.Error, err error) {
	u := a.exprs.Update
	switch {
	case !a.old.Exists() && u == nil:
		a.newItem = a.key.Clone()
	case !a.old.Exists() && u.WritesNothing():
		a.same = true
		return nil, nil
	case !a.old.Exists():
		a.newItem, err = u.Create(a.key)
	case u == nil:
		a.after = a.old
	case u.Flat() && u.Actions() <= row.ChangesMax:
		err = a.change(u)
	default:
		var old dynamo.Item
		if old, err = a.before(); err == nil {
			a.newItem, err = u.Apply(old)
		}
	}
	if err != nil {
		return failureOf(err)
	}
	if r := a.checkUpdated(a.document()); r != nil {
		if !r.cancels {
			return nil, r.err
		}
		return r.err, nil
	}
	a.newSize = a.after.Size()
	if a.newItem != nil {
		a.newSize = a.newItem.Size()
	}
	if a.chargedSize() > dynamo.ItemSizeMax {
		return dynamo.Invalid(messageUpdateSize), nil
	}
	return nil, nil
}

// change applies an update of whole attributes to the item as it is encoded.
func (a *action) change(u *expr.Update) (err error) {
	var few [8]row.Change
	changes := few[:0]
	for i := range u.Actions() {
		name, v, err := u.Result(i, &a.old)
		if err != nil {
			return err
		}
		changes = append(changes, row.Change{Name: name, Value: v})
	}
	a.after, err = a.old.With(changes)
	return err
}

// before returns the item as it was found, nil when there was none.
func (a *action) before() (item dynamo.Item, err error) {
	if a.oldItem == nil {
		a.oldItem, err = a.old.Item()
	}
	return a.oldItem, err
}

// remains reports whether there is an item afterwards.
func (a *action) remains() bool { return a.newItem != nil || a.after.Exists() }

// afterwards returns the item as the action leaves it, nil when there is none.
func (a *action) afterwards() (item dynamo.Item, err error) {
	if a.newItem == nil {
		a.newItem, err = a.after.Item()
	}
	return a.newItem, err
}

// document is the item afterwards, to look attributes up in.
func (a *action) document() expr.Document {
	if a.newItem != nil {
		return a.newItem
	}
	return &a.after
}

func failureOf(err error) (*dynamo.Error, error) {
	var e *dynamo.Error
	if errors.As(err, &e) {
		return e, nil
	}
	return nil, err
}

// chargedSize is the size that counts for an update's limit and cost: the item's, or, for a
// plain update whose actions weigh more than its key, the item without its key and with them.
func (a *action) chargedSize() int {
	if a.kind != actUpdate || a.transact || a.flat || a.exprs.Update == nil {
		return a.newSize
	}
	keySize := a.key.Size()
	return max(a.newSize, a.newSize-keySize+a.exprs.Update.ActionCost())
}

// desk holds buffers for keys and rows on their way into a batch, which copies them.
type desk struct{ row, before, after []byte }

var desks = sync.Pool{New: func() any { return &desk{} }}

func (db *DB) stageAll(batch *pebble.Batch, w *write) error {
	d := desks.Get().(*desk)
	defer desks.Put(d)
	for i := range w.actions {
		a := &w.actions[i]
		if err := db.stageAction(batch, a, d); err != nil {
			return err
		}
		if w.metered {
			if err := a.meter(); err != nil {
				return err
			}
		}
	}
	if w.stage != nil {
		return w.stage(batch)
	}
	return nil
}

// stageAction adds an item's row, its index rows and its expiry row to the batch.
func (db *DB) stageAction(batch *pebble.Batch, a *action, d *desk) error {
	if a.same {
		return nil
	}
	t := a.table
	var err error
	if !a.remains() {
		err = batch.Delete(a.rowKey, nil)
		t.count(-1, -int64(a.old.Size()))
	} else {
		if err = a.encode(d); err == nil {
			err = batch.Set(a.rowKey, d.row, nil)
		}
		if a.old.Exists() {
			t.count(0, int64(a.newSize-a.old.Size()))
		} else {
			t.count(1, int64(a.newSize))
		}
	}
	if err != nil {
		return err
	}
	for _, ix := range t.indexes {
		if err := db.stageIndex(batch, a, ix, d); err != nil {
			return err
		}
	}
	if t.stream != nil {
		if err := db.stageRecord(batch, a); err != nil {
			return err
		}
	}
	if t.TTL != "" {
		return db.stageExpiry(batch, a)
	}
	return nil
}

// encode makes the row of the item afterwards, and sees to it that an update knows its view if
// that will be remembered.
func (a *action) encode(d *desk) (err error) {
	if a.after.Exists() {
		d.row = a.after.Append(d.row[:0])
		return nil
	}
	d.row = row.Append(d.row[:0], a.newItem, a.newSize)
	if a.kind == actUpdate && len(d.row) <= recentSizeMax {
		a.after, err = row.NewView(d.row)
	}
	return err
}

func (db *DB) stageIndex(batch *pebble.Batch, a *action, ix *index, d *desk) error {
	if a.leaves(ix) {
		return nil
	}
	var before, after []byte
	if a.old.Exists() {
		d.before = ix.appendRowKey(d.before[:0], db.hash, &a.old, a.rowKey)
		before = d.before
	}
	if a.remains() {
		d.after = ix.appendRowKey(d.after[:0], db.hash, a.document(), a.rowKey)
		after = d.after
	}
	moved := string(before) != string(after)
	if len(before) > 0 && moved {
		if err := batch.Delete(before, nil); err != nil {
			return err
		}
	}
	if len(after) == 0 || !moved && !ix.stores() {
		return nil
	}
	if !ix.stores() {
		return batch.Set(after, nil, nil)
	}
	item, err := a.afterwards()
	if err != nil {
		return err
	}
	return batch.Set(after, ix.rowValue(item), nil)
}

// leaves reports whether an update cannot have changed the index's row of its item: the row
// points at the item, and no attribute of its key is written.
func (a *action) leaves(ix *index) bool {
	if a.kind != actUpdate || !a.old.Exists() || ix.stores() {
		return false
	}
	if a.exprs.Update == nil {
		return true
	}
	for _, k := range ix.hash {
		if a.exprs.Update.Changes(k.name) {
			return false
		}
	}
	for _, k := range ix.sort {
		if a.exprs.Update.Changes(k.name) {
			return false
		}
	}
	return true
}

// stageExpiry keeps the row that says when an item expires.
func (db *DB) stageExpiry(batch *pebble.Batch, a *action) error {
	before, had := epochOf(a.table, &a.old)
	var after int64
	has := false
	if a.remains() {
		after, has = epochOf(a.table, a.document())
	}
	if had && (!has || before != after) {
		key := keyspace.AppendExpiry(nil, a.table.ID, before, a.rowKey)
		if err := batch.Delete(key, nil); err != nil {
			return err
		}
	}
	if !has || had && before == after {
		return nil
	}
	return batch.Set(keyspace.AppendExpiry(nil, a.table.ID, after, a.rowKey), nil, nil)
}
