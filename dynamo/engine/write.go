package engine

import (
	"bytes"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

type actionKind uint8

const (
	actPut actionKind = iota
	actUpdate
	actDelete
	actCheck
)

// action is one change or one check of an item while it is part of a write. It holds the request,
// then the item that was found, then the result.
type action struct {
	kind      actionKind
	table     *table
	rowKey    []byte
	key       dynamo.Key  // of an update, to create a missing item
	item      dynamo.Item // the item of a put
	size      int         // of item
	exprs     *expr.Prepared
	returnOld bool // a failed condition returns the item as found
	transact  bool
	flat      bool // only the item counts for the size of the update

	stripe  uint16   // of its lock
	old     row.View // the item as found
	missed  bool     // the item was read and does not exist
	after   row.View // the item after an update
	newSize int
	same    bool // nothing is written

	expired  bool   // the sweep deletes the item
	sequence uint64 // of its stream record, 0 if it has none

	// The item before and after, decoded on first use by the methods of these names.
	oldItem, newItem dynamo.Item

	tableUnits float64
	indexUnits []indexUnits
}

// indexUnits is the capacity that an action consumed in an index.
type indexUnits struct {
	index *index
	units float64
}

// write is a set of actions that are applied all or none.
type write struct {
	actions []action
	metered bool // calculate capacity units
	stage   func(*pebble.Batch) error
}

// writer makes writes: it locks, checks and applies their actions in one batch.
type writer struct{ db *DB }

// commit applies a write. It holds the locks of its items while it reads them, checks the
// conditions and applies one batch, and returns when the batch is on the disk. If an action fails,
// nothing is written, and failures has its error at the action's position.
func (c *writer) commit(w *write) (failures []*dynamo.Error, err error) {
	var few [8]uint16
	stripes := few[:0]
	for i := range w.actions {
		a := &w.actions[i]
		a.stripe = stripeOf(a.rowKey)
		stripes = append(stripes, a.stripe)
	}
	// All stripes are locked in one order, so two writes of the same items cannot wait for each
	// other.
	stripes = c.db.locks.lock(stripes)
	failures, err = c.evaluate(w)
	if err != nil || failures != nil {
		c.db.locks.unlock(stripes)
		// A failed condition also returns data: the caller learns what is stored. So it waits for
		// unsynced writes like a read.
		if lost := c.awaitStripes(stripes); lost != nil {
			return nil, lost
		}
		return failures, err
	}
	// The batch is complete before it is applied, because an error while staging must write
	// nothing.
	batch := c.db.store.NewBatch()
	err = c.stageAll(batch, w)
	if err != nil || batch.Empty() {
		// The refused write may still have assigned sequence numbers, and readers of streams must
		// not wait for them.
		c.db.streams.publish(w)
		c.db.locks.unlock(stripes)
		return nil, errors.Join(err, c.awaitStripes(stripes), batch.Close())
	}
	if err := c.apply(batch, w, stripes); err != nil {
		return nil, err // its tickets never complete, so no reader returns it
	}
	c.db.streams.publish(w)
	return nil, batch.Close()
}

// apply makes a batch visible, releases the locks, and waits for the sync. The locks are not held
// during the sync, so that the next writers of the same items can share it.
func (c *writer) apply(batch *pebble.Batch, w *write, stripes []uint16) error {
	c.db.faults.plan.Load().note()
	if !c.db.synced {
		err := c.db.applyUnsynced(batch)
		c.remember(w, err)
		c.db.locks.unlock(stripes)
		return err
	}
	// The stripes get the ticket before the batch becomes visible, so that a reader that sees the
	// data also sees the ticket.
	ticket := c.db.syncs.begin()
	c.db.locks.markStripes(stripes, ticket)
	err := c.db.applyAhead(batch)
	c.remember(w, err)
	c.db.locks.unlock(stripes)
	if err == nil {
		err = c.db.awaitDurable(batch)
	}
	if err != nil {
		return err // the ticket never completes, so that no reader returns data of the write
	}
	c.db.syncs.complete(ticket)
	return nil
}

// remember caches the items that a write updated, and removes other items that it wrote from the
// cache.
func (c *writer) remember(w *write, err error) {
	if c.db.locks.off {
		return
	}
	for i := range w.actions {
		a := &w.actions[i]
		r := &c.db.locks.stripes[a.stripe].recent
		if err == nil && a.after.Exists() && a.after.Len() <= recentSizeMax {
			// Assigning an equal key would allocate a string for every write of a busy item.
			if r.key != string(a.rowKey) {
				r.key = string(a.rowKey)
			}
			r.view = a.after
		} else if !a.same {
			// The item was deleted, is too large for the cache, or is unknown after an error.
			r.forget(a.rowKey)
		}
	}
}

// awaitStripes waits for the writes that a reader of these stripes may have seen. It returns an
// error if the disk failed before they were synced.
func (c *writer) awaitStripes(stripes []uint16) error {
	for _, s := range stripes {
		if !c.db.syncs.wait(c.db.locks.stripes[s].last.Load()) {
			return c.db.Failure()
		}
	}
	return nil
}

// evaluate reads every item and calculates the result of its action.
func (c *writer) evaluate(w *write) (failures []*dynamo.Error, err error) {
	for i := range w.actions {
		a := &w.actions[i]
		if err := c.db.find(w, i); err != nil {
			return nil, err
		}
		failure, err := a.evaluate()
		if err != nil {
			return nil, err
		}
		if failure != nil {
			// The slice is allocated only for failures, because most writes have none.
			if failures == nil {
				failures = make([]*dynamo.Error, len(w.actions))
			}
			failures[i] = failure
		}
	}
	return failures, nil
}

// find reads the item of the i-th action unless it is cached. The expectation that it is missing
// only changes the cost of the read, never its result.
func (db *DB) find(w *write, i int) (err error) {
	a := &w.actions[i]
	if r := &db.locks.stripes[a.stripe].recent; r.key == string(a.rowKey) && !db.locks.off {
		a.old = r.view
		return nil
	}
	if a.probablyMissing() || i > 0 && a.probablyFollowsMissing(&w.actions[i-1]) {
		a.old, err = db.seek(a.rowKey)
	} else {
		a.old, err = db.view(db.store, a.rowKey)
	}
	// The next action of a transaction uses this to choose its kind of read.
	a.missed = !a.old.Exists()
	return err
}

// noItem is a missing item, as a condition sees it.
var noItem row.View

// probablyMissing reports whether the item is probably missing: its put has a condition that is
// true for a missing item.
func (a *action) probablyMissing() bool {
	return a.kind == actPut && a.exprs.Condition != nil && a.exprs.Condition.Holds(&noItem)
}

// probablyFollowsMissing reports whether the item is probably missing because the previous one is:
// a transaction that creates one item of a partition usually creates the next one, too.
func (a *action) probablyFollowsMissing(before *action) bool {
	return before.missed &&
		bytes.Equal(keyspace.Partition(a.rowKey), keyspace.Partition(before.rowKey))
}

// seek reads the row of an item that is probably missing. It uses the filters of the lowest level,
// which holds nearly all rows. They exclude most missing keys; without them each read would fetch a
// block in which the key is not found.
func (db *DB) seek(rowKey []byte) (v row.View, err error) {
	defer db.reading(&err)
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
func (db *DB) view(r pebble.Reader, rowKey []byte) (v row.View, err error) {
	defer db.reading(&err)
	db.counters.gets.Add(1)
	raw, closer, err := r.Get(rowKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return row.View{}, nil
	}
	if err != nil {
		return row.View{}, err
	}
	v, err = row.NewView(raw)
	return v, errors.Join(err, closer.Close())
}

// evaluate checks the condition and calculates the new item. A failure is an error of the service,
// err an error of the store.
func (a *action) evaluate() (failure *dynamo.Error, err error) {
	if c := a.exprs.Condition; c != nil && !c.Holds(&a.old) {
		if !a.returnOld {
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
		// Deleting a missing item succeeds and writes nothing, so it makes no stream record either.
		a.same = !a.old.Exists()
	case actCheck:
		a.same = true
	}
	return nil, nil
}

// update computes the new item of an update. Simple updates change the encoded row directly,
// because decoding and encoding a large item is expensive.
func (a *action) update() (failure *dynamo.Error, err error) {
	u := a.exprs.Update
	switch {
	case !a.old.Exists() && u == nil:
		a.newItem = a.key.Clone()
	// An update that only removes attributes does not create an item.
	case !a.old.Exists() && u.WritesNothing():
		a.same = true
		return nil, nil
	case !a.old.Exists():
		a.newItem, err = u.Create(a.key)
	// An update without an expression leaves an item as it is.
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
	// The size is known only now, because the expression may compute values from the old item.
	if a.chargedSize() > dynamo.ItemSizeMax {
		return dynamo.Invalid(messageUpdateSize), nil
	}
	return nil, nil
}

// change applies an update of whole attributes to the encoded item, without decoding it.
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

// before returns the old item, or nil if it does not exist.
func (a *action) before() (item dynamo.Item, err error) {
	if a.oldItem == nil {
		a.oldItem, err = a.old.Item()
	}
	return a.oldItem, err
}

// remains reports whether the item exists after the action.
func (a *action) remains() bool { return a.newItem != nil || a.after.Exists() }

// afterwards returns the new item, or nil if it does not exist.
func (a *action) afterwards() (item dynamo.Item, err error) {
	if a.newItem == nil {
		a.newItem, err = a.after.Item()
	}
	return a.newItem, err
}

// document returns the new item for the look-up of attributes.
func (a *action) document() expr.Document {
	if a.newItem != nil {
		return a.newItem
	}
	return &a.after
}

// failureOf separates an error that DynamoDB reports for the action from a failure of the database.
func failureOf(err error) (*dynamo.Error, error) {
	var e *dynamo.Error
	if errors.As(err, &e) {
		return e, nil
	}
	return nil, err
}

// chargedSize returns the size that counts for the limit and the cost of an update. It is the size
// of the item. If the actions of a plain update are larger than its key, they replace the key in
// it.
func (a *action) chargedSize() int {
	if a.kind != actUpdate || a.transact || a.flat || a.exprs.Update == nil {
		return a.newSize
	}
	keySize := a.key.Size()
	return max(a.newSize, a.newSize-keySize+a.exprs.Update.ActionCost())
}

// writeBuffers holds buffers for keys and rows. They can be reused because a batch copies them.
type writeBuffers struct{ row, before, after []byte }

var bufferPool = sync.Pool{New: func() any { return &writeBuffers{} }}

// stageAll adds the rows of all actions to the batch, and their capacity to the actions.
func (c *writer) stageAll(batch *pebble.Batch, w *write) error {
	d := bufferPool.Get().(*writeBuffers)
	defer bufferPool.Put(d)
	for i := range w.actions {
		a := &w.actions[i]
		if err := c.stageAction(batch, a, d); err != nil {
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

// stageAction adds the changes of an item's row, index rows, stream record and expiry row to the
// batch.
func (c *writer) stageAction(batch *pebble.Batch, a *action, d *writeBuffers) error {
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
		if err := c.stageIndex(batch, a, ix, d); err != nil {
			return err
		}
	}
	if t.stream != nil {
		if err := c.db.streams.stage(batch, a); err != nil {
			return err
		}
	}
	if t.TTL != "" {
		return c.stageExpiry(batch, a)
	}
	return nil
}

// encode encodes the row of the new item. An updated item also gets its view, if it will be cached.
func (a *action) encode(d *writeBuffers) (err error) {
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

// stageIndex adds the changes of one index to the batch. A row with an unchanged key and no stored
// attributes is not rewritten.
func (c *writer) stageIndex(batch *pebble.Batch, a *action, ix *index, d *writeBuffers) error {
	if a.leaves(ix) {
		return nil
	}
	var before, after []byte
	if a.old.Exists() {
		d.before = ix.appendRowKey(d.before[:0], c.db.hash, &a.old, a.rowKey)
		before = d.before
	}
	if a.remains() {
		d.after = ix.appendRowKey(d.after[:0], c.db.hash, a.document(), a.rowKey)
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

// leaves reports whether an update cannot change the item's row in an index: the row refers to the
// item, and the update does not write an attribute of the index key.
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

// stageExpiry updates the row that holds the expiry time of an item.
func (c *writer) stageExpiry(batch *pebble.Batch, a *action) error {
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
