package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/digest"
)

const (
	tokenLengthMax = 36
	// tokenLife is the time for which the service remembers a client request token.
	tokenLife = 10 * time.Minute
)

// tokens are the client request tokens of the transactions in progress, so that two calls with one
// token never run concurrently.
type tokens struct {
	db      *DB
	mu      sync.Mutex
	running map[string]bool
}

// start reserves a token for a transaction. It reports false if a transaction with the token is in
// progress.
func (t *tokens) start(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[token] {
		return false
	}
	if t.running == nil {
		t.running = map[string]bool{}
	}
	t.running[token] = true
	return true
}

func (t *tokens) finish(token string) {
	t.mu.Lock()
	delete(t.running, token)
	t.mu.Unlock()
}

// tokenRow is the stored record of a transaction with a token.
type tokenRow struct {
	Request []byte // hash of its content
	Expires time.Time
	Images  []tokenImage // for the cost of a repeated call
}

// tokenImage is the table and the size of an item of a transaction, from which a repeated call
// computes its capacity.
type tokenImage struct {
	Table string
	Size  int
}

// once commits a transaction with a client request token, at most once in ten minutes. It
// holds the token from before the first look-up until the end, so that a concurrent call with the
// same token is refused.
func (k *tokens) once(in *dynamo.TransactWriteInput, token string, w *write) (
	*dynamo.TransactWriteOutput, error,
) {
	if !k.start(token) {
		return nil, &dynamo.Error{
			Code:    dynamo.CodeTransactionInProgress,
			Message: "Transaction is already in progress",
		}
	}
	defer k.finish(token)
	key := keyspace.Token(token)
	request := fingerprint(in)
	raw, ok, err := k.db.read(key)
	if err != nil {
		return nil, err
	}
	now := k.db.opts.Now()
	if ok {
		var known tokenRow
		if err := json.Unmarshal(raw, &known); err != nil {
			return nil, err
		}
		if now.Before(known.Expires) {
			return k.repeated(in, &known, request)
		}
	}
	// The token is part of the transaction's batch, so that a crash cannot separate the two.
	w.stage = func(batch *pebble.Batch) error {
		row := tokenRow{Request: request, Expires: now.Add(tokenLife)}
		for i := range w.actions {
			a := &w.actions[i]
			row.Images = append(row.Images, tokenImage{
				Table: a.table.Name, Size: max(a.old.Size(), a.newSize),
			})
		}
		raw, err := json.Marshal(row)
		if err != nil {
			return err
		}
		return batch.Set(key, raw, nil)
	}
	return k.db.transact(in, w)
}

// repeated returns the result of a transaction that was already made. A repeated call costs a
// transactional read of the images of the first call.
func (k *tokens) repeated(in *dynamo.TransactWriteInput, known *tokenRow, request []byte) (
	*dynamo.TransactWriteOutput, error,
) {
	if !slices.Equal(known.Request, request) {
		return nil, &dynamo.Error{
			Code: dynamo.CodeIdempotentMismatch,
			Message: "The request uses the same client token as a previous, but " +
				"non-identical request. Do not reuse a client token with different " +
				"requests, unless the requests are identical",
		}
	}
	if err := k.db.awaitReads(); err != nil {
		return nil, err
	}
	out := &dynamo.TransactWriteOutput{}
	if metered(in.ReturnConsumedCapacity) {
		c := newTally(in.ReturnConsumedCapacity, meterTransactRead)
		for _, image := range known.Images {
			if t := k.db.tables[image.Table]; t != nil {
				c.addTable(t, 2*dynamo.ReadUnits(image.Size, true))
			}
		}
		out.ConsumedCapacity = c.all()
	}
	return out, nil
}

// forgetBatch is the number of tokens that are checked under one hold of the schema lock.
const forgetBatch = 1024

// forget deletes the expired tokens.
func (k *tokens) forget(ctx context.Context, now time.Time) error {
	next := keyspace.Tokens()
	for next != nil {
		var err error
		if next, err = k.forgetSome(ctx, next, now); err != nil {
			return err
		}
	}
	return nil
}

// forgetSome checks a batch of tokens from a row on. It returns the row to continue with, or nil at
// the end.
func (k *tokens) forgetSome(ctx context.Context, from []byte, now time.Time) (
	next []byte, err error,
) {
	if err := k.db.begin(ctx); err != nil {
		return nil, err
	}
	defer k.db.end()
	n, end := 0, keyspace.After(keyspace.Tokens())
	err = k.db.eachRow(k.db.store, from, end, func(it *pebble.Iterator) (bool, error) {
		if n == forgetBatch {
			next = bytes.Clone(it.Key())
			return false, nil
		}
		n++
		raw, err := it.ValueAndErr()
		if err == nil && expired(raw, now) {
			err = k.forgetOne(bytes.Clone(it.Key()), now)
		}
		return true, err
	})
	return next, err
}

func expired(raw []byte, now time.Time) bool {
	var row tokenRow
	return json.Unmarshal(raw, &row) != nil || !now.Before(row.Expires)
}

// forgetOne deletes one token, unless it is in use or was used again since it was checked.
func (k *tokens) forgetOne(key []byte, now time.Time) error {
	token := keyspace.TokenOf(key)
	if !k.start(token) {
		return nil
	}
	defer k.finish(token)
	raw, ok, err := k.db.read(key)
	if err != nil || !ok || !expired(raw, now) {
		return err
	}
	batch := k.db.store.NewBatch()
	if err := batch.Delete(key, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return errors.Join(k.db.applyUnsynced(batch), batch.Close())
}

// fingerprint returns a hash of the content of a transaction. The order of names in items and of
// placeholders is ignored; the order of actions is not.
func fingerprint(in *dynamo.TransactWriteInput) []byte {
	p := digest.New()
	for i := range in.Items {
		item := &in.Items[i]
		switch {
		case item.Put != nil:
			p.Action('P', item.Put.TableName, item.Put.Item, "", item.Put.ConditionExpression,
				item.Put.Expressions)
		case item.Update != nil:
			p.Action('U', item.Update.TableName, item.Update.Key, item.Update.UpdateExpression,
				item.Update.ConditionExpression, item.Update.Expressions)
		case item.Delete != nil:
			p.Action('D', item.Delete.TableName, item.Delete.Key, "",
				item.Delete.ConditionExpression, item.Delete.Expressions)
		case item.ConditionCheck != nil:
			p.Action('C', item.ConditionCheck.TableName, item.ConditionCheck.Key, "",
				item.ConditionCheck.ConditionExpression, item.ConditionCheck.Expressions)
		}
	}
	return p.Sum()
}
