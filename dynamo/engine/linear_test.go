package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// linearKeys is how many items the callers fight over. All are in one partition of the table and
// in one of an index, so that a page shows them all.
const linearKeys = 4

// linearState is the whole of what is stored, as porcupine's model has it.
type linearState struct {
	has [linearKeys]bool
	n   [linearKeys]int64
}

type linearKind int

const (
	linearGet linearKind = iota
	linearPut
	linearPutNew
	linearAdd
	linearSwap
	linearDelete
	linearMove    // a transaction: from a to b, unless a would fall below zero
	linearRearm   // a transaction: put a, delete b, if c exists
	linearReadAll // TransactGet of all
	linearPage    // Query of the partition
	linearIndex   // Query of the index
	linearKinds
)

// linearInput is a call. What v and w mean depends on its kind.
type linearInput struct {
	kind    linearKind
	a, b, c int
	v, w    int64
}

// linearOutput is its answer: whether it was done, and what it told.
type linearOutput struct {
	done bool
	old  linearState // of which a Get or Delete tells one item, and an Add the new number
}

// linearStep is the specification: what the call may answer in a state, and the state after it.
func linearStep(s linearState, in linearInput, out linearOutput) (bool, linearState) {
	next := s
	set := func(k int, n int64) { next.has[k], next.n[k] = true, n }
	drop := func(k int) { next.has[k], next.n[k] = false, 0 }
	told := func(want linearState) bool {
		return out.old.has[in.a] == want.has[in.a] && out.old.n[in.a] == want.n[in.a]
	}
	switch in.kind {
	case linearGet:
		return told(s), s
	case linearPut:
		set(in.a, in.v)
	case linearPutNew:
		if !s.has[in.a] {
			set(in.a, in.v)
		}
		return out.done == !s.has[in.a], next
	case linearAdd:
		set(in.a, s.n[in.a]+in.v)
		return told(next), next
	case linearSwap:
		may := s.has[in.a] && s.n[in.a] == in.v
		if may {
			set(in.a, in.w)
		}
		return out.done == may, next
	case linearDelete:
		drop(in.a)
		return told(s), next
	case linearMove:
		may := s.has[in.a] && s.n[in.a] >= in.v
		if may {
			set(in.a, s.n[in.a]-in.v)
			set(in.b, s.n[in.b]+in.v)
		}
		return out.done == may, next
	case linearRearm:
		if s.has[in.c] {
			set(in.a, in.v)
			drop(in.b)
		}
		return out.done == s.has[in.c], next
	case linearReadAll, linearPage, linearIndex:
		return out.old == s, s
	}
	return true, next
}

var linearModel = porcupine.Model{
	Init: func() any { return linearState{} },
	Step: func(state, in, out any) (bool, any) {
		return linearStep(state.(linearState), in.(linearInput), out.(linearOutput))
	},
}

func linearKey(k int) dynamo.Key { return key("K", fmt.Sprint(k)) }

func linearItem(k int, n int64) dynamo.Item {
	item := linearKey(k)
	item["N"], item["GSI1PK"], item["GSI1SK"] = dynamo.Int(n), dynamo.S("G"), dynamo.S("S")
	return item
}

func linearInputOf(r *rand.Rand) linearInput {
	in := linearInput{
		kind: linearKind(r.IntN(int(linearKinds))), v: r.Int64N(3), w: r.Int64N(3),
	}
	others := r.Perm(linearKeys)
	in.a, in.b, in.c = others[0], others[1], others[2]
	return in
}

// do makes the call and tells its answer.
func (in linearInput) do(ctx context.Context, db dynamo.DB) (out linearOutput, err error) {
	note := func(k int, item dynamo.Item) {
		if item != nil {
			out.old.has[k], out.old.n[k] = true, number(item["N"])
		}
	}
	noteAll := func(items []dynamo.Item) {
		for _, item := range items {
			note(int(item["SK"].S()[0]-'0'), item)
		}
	}
	var refusal error
	switch in.kind {
	case linearGet:
		got, err := db.Get(ctx, &dynamo.GetInput{TableName: paymentsName, Key: linearKey(in.a)})
		if err != nil {
			return out, err
		}
		note(in.a, got.Item)
	case linearPut:
		_, refusal = db.Put(ctx, in.put(in.a, ""))
	case linearPutNew:
		_, refusal = db.Put(ctx, in.put(in.a, "attribute_not_exists(PK)"))
	case linearAdd, linearSwap:
		got, err := db.Update(ctx, in.update())
		if refusal = err; err == nil {
			note(in.a, got.Attributes)
		}
	case linearDelete:
		got, err := db.Delete(ctx, &dynamo.DeleteInput{
			TableName: paymentsName, Key: linearKey(in.a), ReturnValues: dynamo.ReturnAllOld,
		})
		if err != nil {
			return out, err
		}
		note(in.a, got.Attributes)
	case linearMove, linearRearm:
		_, refusal = db.TransactWrite(ctx, in.transaction())
	case linearReadAll:
		tx := &dynamo.TransactGetInput{}
		for k := range linearKeys {
			tx.Items = append(tx.Items,
				dynamo.TransactGetItem{TableName: paymentsName, Key: linearKey(k)})
		}
		got, err := db.TransactGet(ctx, tx)
		if err != nil {
			return out, err
		}
		for k, item := range got.Items {
			note(k, item)
		}
	case linearPage, linearIndex:
		q := &dynamo.QueryInput{
			TableName: paymentsName, KeyConditionExpression: "PK = :p",
			Expressions: values(dynamo.Item{":p": dynamo.S("K")}),
		}
		if in.kind == linearIndex {
			q.IndexName, q.KeyConditionExpression = "GSI1", "GSI1PK = :p"
			q.Expressions = values(dynamo.Item{":p": dynamo.S("G")})
		}
		got, err := db.Query(ctx, q)
		if err != nil {
			return out, err
		}
		noteAll(got.Items)
	}
	out.done = refusal == nil
	if errors.Is(refusal, dynamo.ErrConditionalCheckFailed) ||
		errors.Is(refusal, dynamo.ErrTransactionCanceled) {
		refusal = nil
	}
	return out, refusal
}

const paymentsName = "Payments"

func (in linearInput) put(k int, condition string) *dynamo.PutInput {
	return &dynamo.PutInput{
		TableName: paymentsName, Item: linearItem(k, in.v), ConditionExpression: condition,
	}
}

// add is an update that adds to a number and keeps the item in the index.
func (in linearInput) add(k int, by int64, condition string) *dynamo.UpdateInput {
	v := dynamo.Item{":by": dynamo.Int(by), ":g": dynamo.S("G"), ":s": dynamo.S("S")}
	if condition != "" {
		v[":v"] = dynamo.Int(in.v)
	}
	return &dynamo.UpdateInput{
		TableName: paymentsName, Key: linearKey(k), Expressions: values(v),
		UpdateExpression:    "SET GSI1PK = :g, GSI1SK = :s ADD N :by",
		ConditionExpression: condition, ReturnValues: dynamo.ReturnAllNew,
	}
}

func (in linearInput) update() *dynamo.UpdateInput {
	if in.kind == linearAdd {
		return in.add(in.a, in.v, "")
	}
	return in.add(in.a, in.w-in.v, "N = :v")
}

func (in linearInput) transaction() *dynamo.TransactWriteInput {
	if in.kind == linearMove {
		return &dynamo.TransactWriteInput{Items: []dynamo.TransactWriteItem{
			{Update: in.add(in.a, -in.v, "N >= :v")},
			{Update: in.add(in.b, in.v, "")},
		}}
	}
	return &dynamo.TransactWriteInput{Items: []dynamo.TransactWriteItem{
		{Put: in.put(in.a, "")},
		{Delete: &dynamo.DeleteInput{TableName: paymentsName, Key: linearKey(in.b)}},
		{ConditionCheck: &dynamo.ConditionCheck{
			TableName: paymentsName, Key: linearKey(in.c),
			ConditionExpression: "attribute_exists(PK)",
		}},
	}}
}

const (
	linearCallers = 8
	linearCalls   = 50 // by each caller
	// linearCheckMax bounds the check of one history, which is usually a matter of
	// milliseconds.
	linearCheckMax = time.Minute
)

// linearHistory lets callers loose on a new table. It returns what they were answered, and what
// the audit of the rows says of the table they left.
func linearHistory(t *testing.T, db modelDB, seed uint64) (
	all []porcupine.Operation, audit error,
) {
	t.Helper()
	ctx := context.Background()
	if _, err := db.CreateTable(ctx, paymentsTable(paymentsName)); err != nil {
		t.Fatal(err)
	}
	history := make([][]porcupine.Operation, linearCallers)
	begin := time.Now()
	gate := make(chan struct{})
	var callers sync.WaitGroup
	for c := range linearCallers {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			<-gate
			for range linearCalls {
				in := linearInputOf(r)
				call := time.Since(begin)
				out, err := in.do(ctx, db)
				if err != nil {
					t.Error(err)
					return
				}
				history[c] = append(history[c], porcupine.Operation{
					ClientId: c, Input: in, Call: int64(call), Output: out,
					Return: int64(time.Since(begin)),
				})
			}
		})
	}
	close(gate)
	callers.Wait()
	for _, h := range history {
		all = append(all, h...)
	}
	audit = db.Audit(paymentsName)
	if _, err := db.DeleteTable(ctx, paymentsName); err != nil {
		t.Fatal(err)
	}
	return all, audit
}

func openLinear(t *testing.T, opts engine.Options) *engine.DB {
	t.Helper()
	opts.SweepInterval = -1
	db, err := engine.Open("data", opts.WithDisk(slowDisk{vfs.NewMem()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestCallsAndTransactionsAreLinearizable(t *testing.T) {
	seed := newSeed(t)
	for name, db := range map[string]*engine.DB{
		"in memory": openMemory(t), "on a disk": openLinear(t, engine.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range rounds(t, 8) {
				history, audit := linearHistory(t, db, seed+uint64(i))
				if audit != nil {
					t.Fatalf("seed %d: %v", seed+uint64(i), audit)
				}
				switch porcupine.CheckOperationsTimeout(linearModel, history, linearCheckMax) {
				case porcupine.Illegal:
					t.Fatalf("seed %d: no order of the calls explains their answers",
						seed+uint64(i))
				case porcupine.Unknown:
					t.Fatalf("seed %d: not decided in time", seed+uint64(i))
				}
			}
		})
	}
}

// TestMissingLocksAreNoticed takes the locks away and expects the check above to find out. The
// audit of the rows would, too.
func TestMissingLocksAreNoticed(t *testing.T) {
	seed := newSeed(t)
	db := openLinear(t, engine.Options{}.WithoutLocks())
	const tries = 200
	for i := range tries {
		history, _ := linearHistory(t, db, seed+uint64(i))
		if porcupine.CheckOperationsTimeout(linearModel, history, linearCheckMax) ==
			porcupine.Illegal {
			return
		}
	}
	t.Fatalf("%d histories without locks all looked right", tries)
}
