package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// loadTable is what the load of the crash tests writes to: every kind of index, and expiry.
const loadTable = "Load"

// keptMax is how many of its last log entries a worker keeps; it deletes the others.
const keptMax = 20

func createLoadTable(ctx context.Context, db *engine.DB) error {
	in := paymentsTable(loadTable)
	if _, err := db.CreateTable(ctx, in); err != nil {
		return err
	}
	return db.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
		TableName: loadTable, AttributeName: "Expires", Enabled: true,
	})
}

// load is a number of workers that each take steps, numbered from 1. A step is a transaction
// that adds a log entry, takes an old one away and moves two counters, then an update of another
// counter and one of a counter that all workers share.
//
// What a crash may leave of a worker is all of the steps that were acknowledged and any part of
// the one that was under way, call by call.
type load struct {
	db      *engine.DB
	ctx     context.Context
	issued  []atomic.Int64 // the last step that each worker began
	acked   []atomic.Int64 // the last one that returned
	seen    []atomic.Int64 // the highest counter of each that a reader was told
	moved   atomic.Int64   // steps acknowledged in all
	ack     func(worker int, step int64)
	workers sync.WaitGroup
}

func newLoad(db *engine.DB, workers int) *load {
	return &load{
		db: db, ctx: context.Background(), issued: make([]atomic.Int64, workers),
		acked: make([]atomic.Int64, workers), seen: make([]atomic.Int64, workers),
		ack: func(int, int64) {},
	}
}

// start goes on from the steps that are stored. It returns a function that ends the load.
func (l *load) start(failed func(error)) (stop func()) {
	var stopping atomic.Bool
	for w := range l.issued {
		first, err := l.counter(w, "left")
		if err != nil {
			failed(err)
			return func() {}
		}
		l.issued[w].Store(first)
		l.acked[w].Store(first)
		l.workers.Go(func() {
			for n := first + 1; !stopping.Load(); n++ {
				l.issued[w].Store(n)
				if err := l.step(w, n); err != nil {
					failed(fmt.Errorf("worker %d, step %d: %w", w, n, err))
					return
				}
				l.acked[w].Store(n)
				l.moved.Add(1)
				l.ack(w, n)
			}
		})
	}
	l.workers.Go(func() {
		for i := 0; !stopping.Load(); i++ {
			if err := l.look(i); err != nil {
				failed(err)
				return
			}
		}
	})
	return func() {
		stopping.Store(true)
		l.workers.Wait()
	}
}

func counterKey(w int, name string) dynamo.Key {
	return key(fmt.Sprintf("%s#%d", name, w), "0")
}

func (l *load) counter(w int, name string) (int64, error) {
	out, err := l.db.Get(l.ctx, &dynamo.GetInput{
		TableName: loadTable, Key: counterKey(w, name), ConsistentRead: true,
	})
	if err != nil {
		return 0, err
	}
	return number(out.Item["N"]), nil
}

func number(v dynamo.Value) (n int64) {
	_, _ = fmt.Sscan(v.N(), &n) // 0 for what is missing
	return n
}

func (l *load) step(w int, n int64) error {
	_, err := l.db.TransactWrite(l.ctx, l.transaction(w, n))
	if err != nil {
		return err
	}
	text := dynamo.S(fmt.Sprint(n))
	_, err = l.db.Update(l.ctx, &dynamo.UpdateInput{
		TableName: loadTable, Key: counterKey(w, "solo"),
		UpdateExpression: "SET GSI2PK = :s, GSI2SK = :s, Note = :s, N = :n",
		Expressions:      values(dynamo.Item{":n": dynamo.Int(n), ":s": text}),
	})
	if err != nil {
		return err
	}
	_, err = l.db.Update(l.ctx, &dynamo.UpdateInput{
		TableName: loadTable, Key: key("shared", "0"),
		UpdateExpression: "SET GSI2PK = :s, GSI2SK = :s ADD N :one",
		Expressions:      values(dynamo.Item{":one": dynamo.Int(1), ":s": text}),
	})
	return err
}

func values(v dynamo.Item) dynamo.Expressions {
	return dynamo.Expressions{ExpressionAttributeValues: v}
}

func (l *load) transaction(w int, n int64) *dynamo.TransactWriteInput {
	entry := key(fmt.Sprintf("log#%d", w), fmt.Sprintf("%09d", n))
	entry["N"], entry["Amount"] = dynamo.Int(n), dynamo.Int(n%7)
	entry["GSI1PK"] = dynamo.S(fmt.Sprint("G", n%5))
	entry["GSI1SK"] = dynamo.S(fmt.Sprint(n))
	if n%2 == 0 {
		entry["Expires"] = dynamo.Int(1_900_000_000 + n)
	}
	if n%5 == 0 { // Large rows go into files of their own, which must be as safe.
		entry["Data"] = dynamo.S(strings.Repeat("x", 6<<10))
	}
	items := []dynamo.TransactWriteItem{
		{Put: &dynamo.PutInput{
			TableName: loadTable, Item: entry, ConditionExpression: "attribute_not_exists(PK)",
		}},
		{Delete: &dynamo.DeleteInput{
			TableName: loadTable,
			Key:       key(fmt.Sprintf("log#%d", w), fmt.Sprintf("%09d", n-keptMax)),
		}},
	}
	for _, name := range []string{"left", "right"} {
		items = append(items, dynamo.TransactWriteItem{Update: &dynamo.UpdateInput{
			TableName: loadTable, Key: counterKey(w, name),
			UpdateExpression: "SET N = :n, GSI1PK = :g, GSI1SK = :s, Amount = :n, Expires = :e",
			Expressions: values(dynamo.Item{
				":n": dynamo.Int(n), ":g": dynamo.S(fmt.Sprint("G", n%3)),
				":s": dynamo.S(fmt.Sprint(n)), ":e": dynamo.Int(1_950_000_000 - n),
			}),
		}})
	}
	return &dynamo.TransactWriteInput{Items: items}
}

// look reads a worker's counter in one of several ways and remembers what it was told.
func (l *load) look(i int) error {
	w := rand.IntN(len(l.seen))
	var item dynamo.Item
	switch i % 4 {
	case 0:
		out, err := l.db.Get(l.ctx, &dynamo.GetInput{
			TableName: loadTable, Key: counterKey(w, "left"),
		})
		if err != nil {
			return err
		}
		item = out.Item
	case 1:
		out, err := l.db.TransactGet(l.ctx, &dynamo.TransactGetInput{
			Items: []dynamo.TransactGetItem{
				{TableName: loadTable, Key: counterKey(w, "left")},
				{TableName: loadTable, Key: counterKey(w, "right")},
			},
		})
		if err != nil {
			return err
		}
		item = out.Items[0]
		if number(item["N"]) != number(out.Items[1]["N"]) {
			return fmt.Errorf("half a transaction: %v", out.Items)
		}
	case 2:
		out, err := l.db.Query(l.ctx, &dynamo.QueryInput{
			TableName: loadTable, IndexName: "ByAmount", KeyConditionExpression: "PK = :p",
			Expressions: values(dynamo.Item{":p": counterKey(w, "left")["PK"]}),
		})
		if err != nil {
			return err
		}
		if len(out.Items) > 0 {
			item = dynamo.Item{"N": out.Items[0]["Amount"]}
		}
	case 3: // the refusal of a condition tells of the item, too
		_, err := l.db.Delete(l.ctx, &dynamo.DeleteInput{
			TableName: loadTable, Key: counterKey(w, "left"), ConditionExpression: "N < :zero",
			Expressions:                         values(dynamo.Item{":zero": dynamo.Int(0)}),
			ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
		})
		var e *dynamo.Error
		if !errors.As(err, &e) || e.Code != dynamo.CodeConditionalCheckFailed {
			return fmt.Errorf("an impossible deletion: %w", err)
		}
		item = e.Item
	}
	raise(&l.seen[w], number(item["N"]))
	return nil
}

func raise(to *atomic.Int64, n int64) {
	for {
		have := to.Load()
		if n <= have || to.CompareAndSwap(have, n) {
			return
		}
	}
}

// marks are the counters of a load at one moment.
func marks(counters []atomic.Int64) []int64 {
	out := make([]int64, len(counters))
	for i := range counters {
		out[i] = counters[i].Load()
	}
	return out
}

// promises are what a crash must leave of each worker: the steps that were acknowledged, the
// counters that a reader was told, and no step that was not begun.
type promises struct {
	acked, told, issued []int64
	// unshared is how many steps may not have come to the shared counter, as earlier crashes
	// ended them before that.
	unshared int64
}

// verify checks what a crash left: each call whole, every row in agreement with its item.
func verify(db *engine.DB, p promises) error {
	acked, issued := p.acked, p.issued
	l := newLoad(db, len(acked))
	shared := int64(0)
	for w := range acked {
		left, errLeft := l.counter(w, "left")
		right, errRight := l.counter(w, "right")
		solo, errSolo := l.counter(w, "solo")
		if err := errors.Join(errLeft, errRight, errSolo); err != nil {
			return err
		}
		switch {
		case left < max(acked[w], p.told[w]):
			return fmt.Errorf("lost: worker %d is at %d, %d was acknowledged and %d told", w, left,
				acked[w], p.told[w])
		case left > issued[w]:
			return fmt.Errorf("worker %d is at %d, %d was the last it began", w, left, issued[w])
		case left != right:
			return fmt.Errorf("half a transaction: worker %d is at %d and %d", w, left, right)
		case solo < acked[w] || solo > left || solo < left-1:
			return fmt.Errorf("lost: worker %d is at %d, its other counter at %d", w, left, solo)
		}
		if err := l.verifyLog(w, left); err != nil {
			return err
		}
		shared += acked[w]
	}
	out, err := db.Get(l.ctx, &dynamo.GetInput{TableName: loadTable, Key: key("shared", "0")})
	if err != nil {
		return err
	}
	if n := number(out.Item["N"]); n < shared-p.unshared {
		return fmt.Errorf("lost: the shared counter is at %d, %d was acknowledged", n, shared)
	}
	return db.Audit(loadTable)
}

// verifyLog checks that a worker's log holds its last entries and no other.
func (l *load) verifyLog(w int, last int64) error {
	out, err := l.db.Query(l.ctx, &dynamo.QueryInput{
		TableName: loadTable, KeyConditionExpression: "PK = :p", ConsistentRead: true,
		Expressions: values(dynamo.Item{":p": dynamo.S(fmt.Sprintf("log#%d", w))}),
	})
	if err != nil {
		return err
	}
	first := max(1, last-keptMax+1)
	if int64(len(out.Items)) != last-first+1 {
		return fmt.Errorf("worker %d at %d has %d log entries", w, last, len(out.Items))
	}
	for i, item := range out.Items {
		if number(item["N"]) != first+int64(i) {
			return fmt.Errorf("worker %d at %d has log entry %v", w, last, item)
		}
	}
	return nil
}

func newSeed(t testing.TB) uint64 {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return seed
}
