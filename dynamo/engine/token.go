package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
)

const (
	tokenLengthMax = 36
	// tokenLife is how long the service remembers a client request token.
	tokenLife = 10 * time.Minute
)

// tokens are the client request tokens of the transactions that are running, so that two calls
// with one token never run at once.
type tokens struct {
	mu      sync.Mutex
	running map[string]bool
}

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

// tokenRow is what the database remembers of a transaction that had a token.
type tokenRow struct {
	Request []byte // hash of its content
	Expires time.Time
	Images  []tokenImage // what a repeat is charged for
}

type tokenImage struct {
	Table string
	Size  int
}

// transactOnce commits a transaction with a client request token: once in ten minutes, whatever
// happens between. The token is held from before the first look at it to the end.
func (db *DB) transactOnce(in *dynamo.TransactWriteInput, w *write) (
	*dynamo.TransactWriteOutput, error,
) {
	if !db.tokens.start(in.ClientRequestToken) {
		return nil, &dynamo.Error{
			Code:    dynamo.CodeTransactionInProgress,
			Message: "Transaction is already in progress",
		}
	}
	defer db.tokens.finish(in.ClientRequestToken)
	key := keyspace.Token(in.ClientRequestToken)
	request := fingerprint(in)
	raw, ok, err := db.read(key)
	if err != nil {
		return nil, err
	}
	now := db.opts.Now()
	if ok {
		var known tokenRow
		if err := json.Unmarshal(raw, &known); err != nil {
			return nil, err
		}
		if now.Before(known.Expires) {
			return db.repeated(in, &known, request)
		}
	}
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
	return db.transact(in, w)
}

// repeated answers a transaction that was done before. It is charged as a transactional read of
// the first call's images.
func (db *DB) repeated(in *dynamo.TransactWriteInput, known *tokenRow, request []byte) (
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
	if err := db.awaitReads(); err != nil {
		return nil, err
	}
	out := &dynamo.TransactWriteOutput{}
	if metered(in.ReturnConsumedCapacity) {
		c := newTally(in.ReturnConsumedCapacity, meterTransactRead)
		for _, image := range known.Images {
			if t := db.tables[image.Table]; t != nil {
				c.addTable(t, 2*dynamo.ReadUnits(image.Size, true))
			}
		}
		out.ConsumedCapacity = c.all()
	}
	return out, nil
}

// forgetBatch is how many tokens are looked at under one hold of the schema.
const forgetBatch = 1024

// forgetTokens removes the tokens whose time is over.
func (db *DB) forgetTokens(ctx context.Context, now time.Time) error {
	next := keyspace.Tokens()
	for next != nil {
		var err error
		if next, err = db.forgetSome(ctx, next, now); err != nil {
			return err
		}
	}
	return nil
}

// forgetSome looks at a batch of tokens from a row on, and returns the row to go on with, nil at
// the end.
func (db *DB) forgetSome(ctx context.Context, from []byte, now time.Time) (
	next []byte, err error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	it, err := db.store.NewIter(bounds(from, keyspace.After(keyspace.Tokens())))
	if err != nil {
		return nil, err
	}
	n := 0
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if n == forgetBatch {
			next = bytes.Clone(it.Key())
			break
		}
		n++
		if expired(it.Value(), now) {
			err = db.forgetToken(bytes.Clone(it.Key()), now)
		}
	}
	return next, errors.Join(err, it.Close())
}

func expired(raw []byte, now time.Time) bool {
	var row tokenRow
	return json.Unmarshal(raw, &row) != nil || !now.Before(row.Expires)
}

// forgetToken removes one token unless it is in use, or was used again after it was looked at.
func (db *DB) forgetToken(key []byte, now time.Time) error {
	token := keyspace.TokenOf(key)
	if !db.tokens.start(token) {
		return nil
	}
	defer db.tokens.finish(token)
	raw, ok, err := db.read(key)
	if err != nil || !ok || !expired(raw, now) {
		return err
	}
	batch := db.store.NewBatch()
	if err := batch.Delete(key, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return errors.Join(db.applyUnsynced(batch), batch.Close())
}

// fingerprint hashes what a transaction asks for. The order of names in items and of
// placeholders does not matter; the order of actions does.
func fingerprint(in *dynamo.TransactWriteInput) []byte {
	p := print{sha256.New()}
	for i := range in.Items {
		item := &in.Items[i]
		switch {
		case item.Put != nil:
			p.action('P', item.Put.TableName, item.Put.Item, "", item.Put.ConditionExpression,
				item.Put.Expressions)
		case item.Update != nil:
			p.action('U', item.Update.TableName, item.Update.Key, item.Update.UpdateExpression,
				item.Update.ConditionExpression, item.Update.Expressions)
		case item.Delete != nil:
			p.action('D', item.Delete.TableName, item.Delete.Key, "",
				item.Delete.ConditionExpression, item.Delete.Expressions)
		case item.ConditionCheck != nil:
			p.action('C', item.ConditionCheck.TableName, item.ConditionCheck.Key, "",
				item.ConditionCheck.ConditionExpression, item.ConditionCheck.Expressions)
		}
	}
	return p.h.Sum(nil)
}

type print struct{ h hash.Hash }

func (p print) action(kind byte, table string, item dynamo.Item, update, condition string,
	e dynamo.Expressions,
) {
	p.number(int(kind))
	p.text(table)
	p.text(update)
	p.text(condition)
	p.item(item)
	p.number(len(e.ExpressionAttributeNames))
	for _, name := range slices.Sorted(maps.Keys(e.ExpressionAttributeNames)) {
		p.text(name)
		p.text(e.ExpressionAttributeNames[name])
	}
	p.item(e.ExpressionAttributeValues)
}

func (p print) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	_, _ = p.h.Write(b[:]) // a hash never fails to write
}

func (p print) text(s string) {
	p.number(len(s))
	_, _ = p.h.Write([]byte(s))
}

func (p print) item(item map[string]dynamo.Value) {
	p.number(len(item))
	for _, name := range slices.Sorted(maps.Keys(item)) {
		p.text(name)
		p.value(item[name])
	}
}

func (p print) value(v dynamo.Value) {
	p.number(int(v.Kind()))
	switch v.Kind() {
	case dynamo.KindS:
		p.text(v.S())
	case dynamo.KindN:
		p.text(v.N())
	case dynamo.KindB:
		p.text(string(v.B()))
	case dynamo.KindBOOL:
		p.text(v.String())
	case dynamo.KindL:
		p.number(len(v.L()))
		for _, e := range v.L() {
			p.value(e)
		}
	case dynamo.KindM:
		p.item(v.M())
	case dynamo.KindSS, dynamo.KindNS:
		elems := slices.Clone(append(v.SS(), v.NS()...))
		slices.Sort(elems)
		p.number(len(elems))
		for _, e := range elems {
			p.text(e)
		}
	case dynamo.KindBS:
		p.number(len(v.BS()))
		for _, e := range slices.SortedFunc(slices.Values(v.BS()), slices.Compare[[]byte]) {
			p.text(string(e))
		}
	}
}
