package singletable

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Limits of one transaction ("Quotas in Amazon DynamoDB").
const (
	// TxActionsMax is the maximum number of items in a transaction.
	TxActionsMax = 100
	// TxSizeMax is the maximum size of a transaction in bytes.
	TxSizeMax = 4 << 20
	// tokenMax is the maximum length of a token.
	tokenMax = 36
)

// Tx collects actions on items of any entities and tables, which [Tx.Commit] executes all or none.
// Actions on the same item are merged into one with the effect of all in sequence: numbers are
// added, and a condition applies to the item after the previous actions. Actions that cannot be
// merged are an error that names the attribute.
//
// An error, such as an empty part of a key, is kept and returned by [Tx.Err] and [Tx.Commit]. A Tx
// is not safe for concurrent use.
type Tx struct {
	s       *Store
	token   string
	bare    bool // whether no token is generated; see WithoutToken
	err     error
	writes  []*write
	places  map[string]int // index of a write by table and identity, created if there are many
	actions Action
	done    bool
	age     tokenAge
}

// Action is the handle of an action in a [Tx]; zero means none.
type Action int

// NewTx returns an empty transaction.
func (s *Store) NewTx() *Tx { return &Tx{s: s} }

// SetToken makes Commit idempotent for ten minutes, in this process or another: a second commit
// with the same token and the same actions does nothing and succeeds. A token has 1 to 36
// characters. If more time may have passed since a commit of this transaction whose response was
// lost, a further one is ErrUnknown.
func (tx *Tx) SetToken(token string) {
	if len(token) == 0 || len(token) > tokenMax {
		tx.fail(fmt.Errorf("a token has 1 to %d characters, not %d", tokenMax, len(token)))
	}
	tx.token = token
}

// WithoutToken omits the token that Commit generates if the actions are not idempotent. A lost
// response is then ErrUnknown, and the caller must find out from the items whether the transaction
// was made. It saves the embedded store the record of each token.
func (tx *Tx) WithoutToken() { tx.bare = true }

// Err returns the first error so far.
func (tx *Tx) Err() error { return tx.err }

func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// Len returns the number of items in the transaction, at most TxActionsMax.
func (tx *Tx) Len() int { return len(tx.writes) }

// Size returns the size of the request in bytes, at most TxSizeMax.
func (tx *Tx) Size() int {
	n := 0
	for _, w := range tx.writes {
		n += w.size()
	}
	return n
}

// add adds a write, and the writes of its lookup items, to the transaction.
func (tx *Tx) add(w *write, err error) Action {
	tx.actions++
	action := tx.actions
	if tx.err != nil {
		return action
	}
	if err != nil {
		tx.fail(err)
		return action
	}
	w.claims[0].action = action
	lookups := w.lookups
	w.lookups = nil
	if err := tx.place(w); err != nil {
		tx.fail(fmt.Errorf("%s %s: %w", w.claims[0].verb, w.c.name, err))
	}
	for _, op := range lookups {
		lw := op.write(tx.s.opts.Now())
		lw.claims[0].action = action
		if err := tx.place(lw); err != nil {
			tx.fail(fmt.Errorf("%s %s: %w", lw.claims[0].verb, lw.c.name, err))
		}
	}
	return action
}

// manyWrites is the number of writes from which a map finds an item faster than a linear search.
const manyWrites = 8

// place adds a write, or merges it into the write of the same item.
func (tx *Tx) place(w *write) error {
	if at := tx.find(w); at >= 0 {
		return tx.writes[at].merge(w)
	}
	if len(tx.writes) == TxActionsMax {
		return fmt.Errorf("%w: more than %d items", ErrTooLarge, TxActionsMax)
	}
	if tx.writes == nil {
		tx.writes = make([]*write, 0, manyWrites)
	}
	tx.writes = append(tx.writes, w)
	if len(tx.writes) > manyWrites {
		tx.remember()
	}
	return nil
}

func (tx *Tx) find(w *write) int {
	if tx.places != nil {
		if at, ok := tx.places[w.identity()]; ok {
			return at
		}
		return -1
	}
	for i, o := range tx.writes {
		if o.sameItem(w) {
			return i
		}
	}
	return -1
}

func (w *write) identity() string {
	return w.c.table.name + "\x00" + w.c.table.identity(w.itemKey())
}

func (tx *Tx) remember() {
	if tx.places == nil {
		tx.places = make(map[string]int, 2*len(tx.writes))
		for i, w := range tx.writes {
			tx.places[w.identity()] = i
		}
		return
	}
	last := len(tx.writes) - 1
	tx.places[tx.writes[last].identity()] = last
}

// Join adds the actions of other as if they had been added after those of tx. On an error, such as
// ErrTooLarge, tx is not changed. The handles of other's actions are valid in tx after offset is
// added. other must not be used afterwards.
func (tx *Tx) Join(other *Tx) (offset Action, err error) {
	if tx.err != nil {
		return 0, tx.err
	}
	if other.err != nil {
		return 0, other.err
	}
	trial := &Tx{s: tx.s, token: tx.token, bare: tx.bare, actions: tx.actions}
	for _, w := range tx.writes {
		trial.writes = append(trial.writes, w.copy())
	}
	if len(trial.writes) > manyWrites {
		trial.remember()
	}
	offset = tx.actions
	for _, w := range other.writes {
		w := w.copy()
		for i := range w.claims {
			w.claims[i].action += offset
		}
		if err := trial.place(w); err != nil {
			return 0, err
		}
	}
	if size := trial.Size(); size > TxSizeMax {
		return 0, fmt.Errorf("%w: %d bytes, more than %d", ErrTooLarge, size, TxSizeMax)
	}
	trial.actions += other.actions
	*tx = *trial
	return offset, nil
}

// copy returns a write that can be merged into without changing w.
func (w *write) copy() *write {
	out := *w
	out.claims = append([]claim(nil), w.claims...)
	out.upd.changes = append([]change(nil), w.upd.changes...)
	return &out
}

// input returns the request that Commit sends.
func (tx *Tx) input() *dynamo.TransactWriteInput {
	in := &dynamo.TransactWriteInput{ClientRequestToken: tx.token,
		Items: make([]dynamo.TransactWriteItem, len(tx.writes))}
	for i, w := range tx.writes {
		in.Items[i] = w.transactItem()
	}
	return in
}

// sizeWorry is the number of items that may together be larger than TxSizeMax.
const sizeWorry = TxSizeMax / dynamo.ItemSizeMax

// Commit executes the actions. An empty transaction does nothing. Conflicts and throttling are
// retried; a permanent failure is a [*WriteError] whose failures name the actions. A transaction
// can be committed again after an error of Commit, but not after success.
//
// A commit whose response is lost is repeated: either the actions are idempotent, or the
// transaction has a token, which Commit generates unless [Tx.WithoutToken] was called.
func (tx *Tx) Commit(ctx context.Context) error {
	switch {
	case tx.err != nil:
		return tx.err
	case tx.done:
		return errors.New("the transaction was committed already")
	case len(tx.writes) == 0:
		return nil
	}
	if len(tx.writes) > sizeWorry {
		if size := tx.Size(); size > TxSizeMax {
			return fmt.Errorf("%w: %d bytes, more than %d", ErrTooLarge, size, TxSizeMax)
		}
	}
	repeatable := tx.repeatable()
	own := tx.token == "" && !tx.bare && !repeatable
	if own {
		tx.token = rand.Text()
	}
	in := tx.input()
	in.ReturnConsumedCapacity = capacity(ctx)
	req := request{op: "TransactWriteItems", table: tx.writes[0].c.table.name, write: true,
		repeatable: tx.token != "" || repeatable}
	if tx.token != "" && !repeatable {
		req.age = &tx.age
	}
	err := tx.s.call(ctx, req, func(ctx context.Context) (usage, error) {
		out, err := tx.s.db.TransactWrite(ctx, in)
		if err != nil {
			return usage{}, err
		}
		return usage{many: out.ConsumedCapacity}, nil
	})
	if err != nil {
		tx.age.lost = tx.age.lost || errors.Is(err, ErrUnknown)
		if own && !errors.Is(err, ErrUnknown) {
			tx.token, tx.age = "", tokenAge{} // nothing was written, and the caller may add actions
		}
		return tx.explain(err)
	}
	tx.done = true
	return nil
}

func (tx *Tx) repeatable() bool {
	for _, w := range tx.writes {
		if !w.repeatable() {
			return false
		}
	}
	return true
}

// explain converts the store's cancellation reasons, which are in the order of the writes, to
// failures of actions. If a condition failed, conflicts are omitted, because a retry would not
// help.
func (tx *Tx) explain(err error) error {
	reasons := dynamo.Reasons(err)
	if len(reasons) != len(tx.writes) {
		return fmt.Errorf("commit %d actions: %w", len(tx.writes), err)
	}
	var final, passing []Failure
	for i, r := range reasons {
		w := tx.writes[i]
		switch r.Code {
		case dynamo.ReasonNone, "":
		case dynamo.ReasonConditionalCheckFailed:
			final = append(final, w.failure(FailedCondition, r.Message, r.Item))
		case dynamo.ReasonTransactionConflict:
			passing = append(passing, w.failure(FailedConflict, r.Message, nil))
		case dynamo.ReasonProvisionedThroughput, dynamo.ReasonThrottling:
			passing = append(passing, w.failure(FailedThrottle, r.Message, nil))
		default:
			final = append(final, w.failure(FailedInvalid, string(r.Code)+": "+r.Message, nil))
		}
	}
	if len(final) == 0 {
		final = passing
	}
	return &WriteError{Failures: final, cause: err}
}

// CreateTx adds a Create to a transaction. The handle identifies the action if the transaction
// fails.
func (e *Entity[T]) CreateTx(tx *Tx, v T, more ...Cond[T]) Action {
	cs, err := conds(more)
	if err != nil {
		return tx.add(nil, err)
	}
	return tx.add(e.c.create(unsafe.Pointer(&v), cs))
}

// PutTx adds a Put to a transaction.
func (e *Entity[T]) PutTx(tx *Tx, v T, more ...Cond[T]) Action {
	cs, err := conds(more)
	if err != nil {
		return tx.add(nil, err)
	}
	return tx.add(e.c.put(unsafe.Pointer(&v), cs))
}

// ReplaceTx adds a Replace to a transaction. Unique values must be unchanged; the transaction
// requires it.
func (e *Entity[T]) ReplaceTx(tx *Tx, v T, more ...Cond[T]) Action {
	cs, err := conds(more)
	if err != nil {
		return tx.add(nil, err)
	}
	return tx.add(e.c.replace(unsafe.Pointer(&v), nil, cs))
}

// DeleteTx adds a Delete to a transaction. If the entity has unique values, at must be the item as
// the caller knows it, and the transaction requires that those values are unchanged.
func (e *Entity[T]) DeleteTx(tx *Tx, at T, more ...Cond[T]) Action {
	cs, err := conds(more)
	if err != nil {
		return tx.add(nil, err)
	}
	return tx.add(e.c.remove(unsafe.Pointer(&at), cs))
}

// UpdateTx adds an Update to a transaction. Two updates of the same item are merged.
func (e *Entity[T]) UpdateTx(tx *Tx, at T, steps ...Step[T]) Action {
	p := patchOf(steps)
	if p.readFirst {
		return tx.add(nil, errNotInTx)
	}
	return tx.add(e.c.change(unsafe.Pointer(&at), p))
}

// CheckTx makes a transaction depend on conditions on an item that it does not change; without
// conditions, on the existence of the item.
func (e *Entity[T]) CheckTx(tx *Tx, at T, more ...Cond[T]) Action {
	cs, err := conds(more)
	if err != nil {
		return tx.add(nil, err)
	}
	return tx.add(e.c.check(unsafe.Pointer(&at), cs))
}

// MoveTx adds a change of primary key to a transaction: from, which must exist, is deleted, and to
// is created. Both are whole items; the conditions apply to from. Unique values move along.
func (e *Entity[T]) MoveTx(tx *Tx, from, to T, more ...Cond[T]) Action {
	cs, err := conds(more)
	if err != nil {
		return tx.add(nil, err)
	}
	c := e.c
	out, err := c.remove(unsafe.Pointer(&from), append([]*cond{c.present}, cs...))
	if err != nil {
		return tx.add(nil, err)
	}
	in, err := c.create(unsafe.Pointer(&to), nil)
	if err != nil {
		return tx.add(nil, err)
	}
	if out.sameItem(in) {
		return tx.add(nil, fmt.Errorf("move %s: both items have the key %s: use Update", c.name,
			keyText(out.itemKey())))
	}
	out.claims[0].verb, in.claims[0].verb = "move", "move"
	out.lookups, _, err = c.lookupChanges(unsafe.Pointer(&from), unsafe.Pointer(&to))
	in.lookups = nil
	action := tx.add(out, err)
	tx.actions-- // both halves are one action
	tx.add(in, nil)
	return action
}

// patchOf combines the steps of an update.
func patchOf[T any](steps []Step[T]) *patch {
	p := &patch{}
	p.changes, p.conds = p.someChanges[:0], p.someConds[:0]
	for _, s := range steps {
		s.addStep(p)
	}
	return p
}
