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

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// everyFault are faults of every kind that lets a client know whether its write was done.
func everyFault(seed uint64) engine.Faults {
	return engine.Faults{
		Seed: seed,
		Rules: []engine.Fault{
			{Kind: engine.FaultThrottle, Rate: 0.1},
			{Kind: engine.FaultConflict, Rate: 0.2},
			{Kind: engine.FaultUnprocessed, Rate: 0.5},
			{Kind: engine.FaultEarlyPage, Rate: 0.7},
			{Kind: engine.FaultLatency, DelayMax: time.Second, Rate: 0.1},
			{Kind: engine.FaultIndexLag, Held: true},
			{Kind: engine.FaultStaleRead, DelayMax: time.Hour},
			{Kind: engine.FaultExpiryDelay, Delay: time.Hour},
		},
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

func openFaulty(t testing.TB, faults engine.Faults) *engine.DB {
	t.Helper()
	db := openMemory(t)
	if err := db.SetFaults(faults); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestRandomWorkUnderFaultsAgreesWithAPlainMap holds a database with all faults to the model of
// one without, seen through a client that does what the service asks of it.
func TestRandomWorkUnderFaultsAgreesWithAPlainMap(t *testing.T) {
	db := openFaulty(t, everyFault(newSeed(t)))
	workOnModel(t, retryingDB{db})
	for _, c := range db.FaultCounts() {
		if c.Met == 0 && c.Fault.Kind != engine.FaultExpiryDelay { // no table has expiry here
			t.Errorf("%s met nothing of %d", c.Fault, c.Asked)
		}
	}
}

// pagesInOne is retryingDB for histories: a read of several pages is not of one moment, so pages
// are whole, and the index, which has no strong reads, is left out.
type pagesInOne struct{ retryingDB }

func (d pagesInOne) Query(ctx context.Context, in *dynamo.QueryInput) (
	*dynamo.QueryOutput, error,
) {
	strong := &dynamo.QueryInput{
		TableName: in.TableName, KeyConditionExpression: "PK = :p", ConsistentRead: true,
		Expressions: values(dynamo.Item{":p": dynamo.S("K")}),
	}
	return retry(ctx, strong, d.DB.Query)
}

func TestStrongCallsUnderFaultsAreLinearizable(t *testing.T) {
	seed := newSeed(t)
	faults := everyFault(seed)
	for i := range faults.Rules {
		if faults.Rules[i].Kind == engine.FaultEarlyPage {
			faults.Rules[i].Operation = "Scan"
		}
	}
	db := openFaulty(t, faults)
	for i := range rounds(t, 8) {
		history, audit := linearHistory(t, pagesInOne{retryingDB{db}}, seed+uint64(i))
		if audit != nil {
			t.Fatalf("seed %d: %v", seed+uint64(i), audit)
		}
		if porcupine.CheckOperationsTimeout(linearModel, history, linearCheckMax) !=
			porcupine.Ok {
			t.Fatalf("seed %d: no order of the calls explains their answers", seed+uint64(i))
		}
	}
}

// TestStaleReadsAreNoticed makes the same histories with reads that are not strong, and expects
// the check above to find out.
func TestStaleReadsAreNoticed(t *testing.T) {
	seed := newSeed(t)
	db := openFaulty(t, engine.Faults{Seed: seed, Rules: []engine.Fault{
		{Kind: engine.FaultStaleRead, DelayMax: 10 * time.Millisecond},
	}})
	const tries = 50
	for i := range tries {
		history, _ := linearHistory(t, db, seed+uint64(i))
		if porcupine.CheckOperationsTimeout(linearModel, history, linearCheckMax) ==
			porcupine.Illegal {
			return
		}
	}
	t.Fatalf("%d histories with stale reads all looked right", tries)
}

// TestAcknowledgedWritesStayAndRefusedOnesAreNotThere has callers write items of their own while
// the faults are changed under them. Whatever a caller was told of its last write holds in the
// end; after a lost answer either may.
func TestAcknowledgedWritesStayAndRefusedOnesAreNotThere(t *testing.T) {
	seed := newSeed(t)
	db := openFaulty(t, everyFault(seed))
	table := withTable(t, db)
	const callers = 6
	calls := rounds(t, 300)
	var work sync.WaitGroup
	for c := range callers {
		work.Go(func() {
			w := &ownItems{db: db, table: table, caller: c,
				rng: rand.New(rand.NewPCG(seed, uint64(c))), may: map[string][]int64{}}
			for n := range int64(calls) {
				if err := w.call(n + 1); err != nil {
					t.Errorf("caller %d, seed %d: %v", c, seed, err)
					return
				}
			}
			if err := w.verify(); err != nil {
				t.Errorf("caller %d, seed %d: %v", c, seed, err)
			}
		})
	}
	for i := range uint64(20) {
		faults := everyFault(seed + i)
		faults.Rules = append(faults.Rules, engine.Fault{Kind: engine.FaultLostAnswer, Rate: 0.1})
		if err := errors.Join(db.SetFaults(faults), db.CatchUp()); err != nil {
			t.Error(err)
		}
	}
	work.Wait()
	if err := errors.Join(db.SetFaults(engine.Faults{}), db.Audit(table)); err != nil {
		t.Error(err)
	}
}

// ownItems is a caller and the few items that it alone writes. may holds what each item's number
// may be, as far as the caller was told; -1 stands for no item.
type ownItems struct {
	db     *engine.DB
	table  string
	caller int
	rng    *rand.Rand
	may    map[string][]int64
}

func (w *ownItems) key(i int) dynamo.Key {
	return key(fmt.Sprint("caller", w.caller), fmt.Sprint(i))
}

func (w *ownItems) item(i int, n int64) dynamo.Item {
	item := w.key(i)
	item["N"], item["GSI1PK"] = dynamo.Int(n), dynamo.S("G")
	item["GSI1SK"] = dynamo.S(fmt.Sprint(n))
	return item
}

// call makes one write and notes what may be true after its answer.
func (w *ownItems) call(n int64) error {
	ctx := context.Background()
	i, j := w.rng.IntN(4), 4+w.rng.IntN(4)
	var err error
	after := map[int]int64{i: n}
	switch w.rng.IntN(5) {
	case 0:
		_, err = w.db.Put(ctx, &dynamo.PutInput{TableName: w.table, Item: w.item(i, n)})
	case 1:
		_, err = w.db.Update(ctx, &dynamo.UpdateInput{
			TableName: w.table, Key: w.key(i), UpdateExpression: "SET N = :n",
			Expressions: values(dynamo.Item{":n": dynamo.Int(n)}),
		})
	case 2:
		after[i] = -1
		_, err = w.db.Delete(ctx, &dynamo.DeleteInput{TableName: w.table, Key: w.key(i)})
	case 3:
		after[j] = n
		_, err = w.db.TransactWrite(ctx, &dynamo.TransactWriteInput{
			Items: []dynamo.TransactWriteItem{
				{Put: &dynamo.PutInput{TableName: w.table, Item: w.item(i, n)}},
				{Put: &dynamo.PutInput{TableName: w.table, Item: w.item(j, n)}},
			},
		})
	case 4:
		after[j] = n
		var out *dynamo.BatchWriteOutput
		out, err = w.db.BatchWrite(ctx, &dynamo.BatchWriteInput{
			RequestItems: map[string][]dynamo.WriteRequest{w.table: {
				{Put: w.item(i, n)}, {Put: w.item(j, n)},
			}},
		})
		if err == nil {
			for _, left := range out.UnprocessedItems[w.table] {
				delete(after, int(left.Put["SK"].S()[0]-'0'))
			}
		}
	}
	return w.note(after, err)
}

func (w *ownItems) note(after map[int]int64, err error) error {
	for i, n := range after {
		id := fmt.Sprint(i)
		switch {
		case err == nil:
			w.may[id] = []int64{n}
		case errors.Is(err, dynamo.ErrInternalServerError):
			if w.may[id] == nil {
				w.may[id] = []int64{-1}
			}
			w.may[id] = append(w.may[id], n)
		case !passing(err):
			return err
		}
	}
	return nil
}

// verify compares each item with what it may be.
func (w *ownItems) verify() error {
	for i := range 8 {
		out, err := retryingDB{w.db}.Get(context.Background(), &dynamo.GetInput{
			TableName: w.table, Key: w.key(i),
		})
		if err != nil {
			return err
		}
		got := int64(-1)
		if out.Item != nil {
			got = number(out.Item["N"])
		}
		may := w.may[fmt.Sprint(i)]
		if may == nil {
			may = []int64{-1}
		}
		found := false
		for _, n := range may {
			found = found || n == got
		}
		if !found {
			return fmt.Errorf("item %d is %d, the answers allow %v", i, got, may)
		}
	}
	return nil
}
