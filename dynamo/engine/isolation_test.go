package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

const (
	accountCount   = 6
	accountBalance = 100
)

func accountKey(i int) dynamo.Key { return key("ACCOUNTS", fmt.Sprint(i)) }

// account is an item whose balance stands in it several times: as a number, as the sort key of
// two indexes, and in what the second of these holds.
func account(i int, balance int64) dynamo.Item {
	item := accountKey(i)
	text := dynamo.S(fmt.Sprintf("%05d", balance))
	item["N"], item["Amount"], item["Note"] = dynamo.Int(balance), dynamo.Int(balance), text
	item["GSI1PK"], item["GSI1SK"] = dynamo.S("G"), text
	item["GSI2PK"], item["GSI2SK"] = dynamo.S("G"), text
	return item
}

// transfer moves an amount between two accounts, if both are still as they were read.
func transfer(ctx context.Context, db *engine.DB, table string, r *rand.Rand) error {
	from, to := r.IntN(accountCount), r.IntN(accountCount-1)
	if to >= from {
		to++
	}
	out, err := db.TransactGet(ctx, &dynamo.TransactGetInput{Items: []dynamo.TransactGetItem{
		{TableName: table, Key: accountKey(from)}, {TableName: table, Key: accountKey(to)},
	}})
	if err != nil {
		return err
	}
	amount := r.Int64N(10)
	put := func(i int, old dynamo.Item, by int64) dynamo.TransactWriteItem {
		return dynamo.TransactWriteItem{Put: &dynamo.PutInput{
			TableName: table, Item: account(i, number(old["N"])+by), ConditionExpression: "N = :n",
			Expressions: values(dynamo.Item{":n": old["N"]}),
		}}
	}
	_, err = db.TransactWrite(ctx, &dynamo.TransactWriteInput{Items: []dynamo.TransactWriteItem{
		put(from, out.Items[0], -amount), put(to, out.Items[1], amount),
	}})
	if errors.Is(err, dynamo.ErrTransactionCanceled) {
		return nil
	}
	return err
}

// checkAccounts reports a picture of the accounts that is not of one moment: not all of them,
// one twice, money lost or made, or an item that disagrees with the row it was found by.
func checkAccounts(items []dynamo.Item, balance func(dynamo.Item) int64) error {
	sum := int64(0)
	seen := map[string]bool{}
	for _, item := range items {
		n := balance(item)
		sum += n
		for _, name := range []string{"Note", "GSI1SK", "GSI2SK"} {
			if v, ok := item[name]; ok && v.S() != fmt.Sprintf("%05d", n) {
				return fmt.Errorf("half a write: %v", item)
			}
		}
		seen[item["SK"].S()] = true
	}
	if len(items) != accountCount || len(seen) != accountCount {
		return fmt.Errorf("%d accounts, %d different: %v", len(items), len(seen), items)
	}
	if sum != accountCount*accountBalance {
		return fmt.Errorf("there are %d in all: %v", sum, items)
	}
	return nil
}

func byNumber(item dynamo.Item) int64 { return number(item["N"]) }

func byNote(item dynamo.Item) int64 {
	n, _ := strconv.ParseInt(item["Note"].S(), 10, 64) // 0 for what is missing
	return n
}

func byAmount(item dynamo.Item) int64 { return number(item["Amount"]) }

// readers are the ways to see all accounts at one moment.
func readers(db *engine.DB, table string) map[string]func(context.Context) error {
	query := func(index, hash, value string, backward bool,
		balance func(dynamo.Item) int64,
	) func(context.Context) error {
		return func(ctx context.Context) error {
			out, err := db.Query(ctx, &dynamo.QueryInput{
				TableName: table, IndexName: index, KeyConditionExpression: hash + " = :p",
				Expressions:       values(dynamo.Item{":p": dynamo.S(value)}),
				ScanIndexBackward: backward,
			})
			if err != nil {
				return err
			}
			return checkAccounts(out.Items, balance)
		}
	}
	transactGet := &dynamo.TransactGetInput{}
	for i := range accountCount {
		transactGet.Items = append(transactGet.Items,
			dynamo.TransactGetItem{TableName: table, Key: accountKey(i)})
	}
	return map[string]func(context.Context) error{
		"TransactGet": func(ctx context.Context) error {
			out, err := db.TransactGet(ctx, transactGet)
			if err != nil {
				return err
			}
			return checkAccounts(out.Items, byNumber)
		},
		"Query of the table":             query("", "PK", "ACCOUNTS", false, byNumber),
		"Query of an index of all":       query("GSI1", "GSI1PK", "G", false, byNumber),
		"Query of it backward":           query("GSI1", "GSI1PK", "G", true, byNumber),
		"Query of an index of some":      query("GSI2", "GSI2PK", "G", false, byNote),
		"Query of a local index of keys": query("ByAmount", "PK", "ACCOUNTS", true, byAmount),
		"Scan": func(ctx context.Context) error {
			out, err := db.Scan(ctx, &dynamo.ScanInput{TableName: table})
			if err != nil {
				return err
			}
			return checkAccounts(out.Items, byNumber)
		},
		"Scan of an index": func(ctx context.Context) error {
			out, err := db.Scan(ctx, &dynamo.ScanInput{TableName: table, IndexName: "GSI1"})
			if err != nil {
				return err
			}
			return checkAccounts(out.Items, byNumber)
		},
		"BatchGet, of each item": func(ctx context.Context) error {
			asked := dynamo.KeysAndAttributes{}
			for i := range accountCount {
				asked.Keys = append(asked.Keys, accountKey(i))
			}
			out, err := db.BatchGet(ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{table: asked},
			})
			if err != nil {
				return err
			}
			// Each read of a batch stands alone, so only halves of an item are wrong.
			for _, item := range out.Responses[table] {
				if !item.Equal(account(int(item["SK"].S()[0]-'0'), byNumber(item))) {
					return fmt.Errorf("half a write: %v", item)
				}
			}
			return nil
		},
	}
}

func TestReadersSeeTransactionsWholeOrNotAtAll(t *testing.T) {
	seed := newSeed(t)
	ctx := context.Background()
	db := openMemory(t)
	table := withTable(t, db)
	for i := range accountCount {
		if _, err := db.Put(ctx, &dynamo.PutInput{
			TableName: table, Item: account(i, accountBalance),
		}); err != nil {
			t.Fatal(err)
		}
	}
	const writers = 4
	transfers := rounds(t, 400)
	var busy atomic.Int32
	busy.Store(writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			defer busy.Add(-1)
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for range transfers {
				if err := transfer(ctx, db, table, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	reads := readers(db, table)
	var names []string
	for name := range reads {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all.Go(func() {
			for last := false; !last && !t.Failed(); {
				last = busy.Load() == 0 // once more when all is done
				if err := reads[name](ctx); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	all.Wait()
	if err := db.Audit(table); err != nil {
		t.Error(err)
	}
}

// TestOneTokenIsOneTransaction lets many callers race with one token each round.
func TestOneTokenIsOneTransaction(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	table := withTable(t, db)
	const callers = 16
	n := rounds(t, 30)
	for round := range n {
		in := &dynamo.TransactWriteInput{
			ClientRequestToken: fmt.Sprint("round-", round),
			Items: []dynamo.TransactWriteItem{{Update: &dynamo.UpdateInput{
				TableName: table, Key: key("count", "1"), UpdateExpression: "ADD N :one",
				Expressions: values(dynamo.Item{":one": dynamo.Int(1)}),
			}}},
		}
		var done atomic.Int32
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				_, err := db.TransactWrite(ctx, in)
				switch {
				case err == nil:
					done.Add(1)
				case !errors.Is(err, dynamo.ErrTransactionInProgress):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if done.Load() == 0 {
			t.Fatalf("round %d: all %d callers were told that it is in progress", round, callers)
		}
	}
	out, err := db.Get(ctx, &dynamo.GetInput{TableName: table, Key: key("count", "1")})
	if err != nil || number(out.Item["N"]) != int64(n) {
		t.Fatalf("after %d rounds: %v, %v", n, out.Item, err)
	}
}

// TestATokenIsInProgressUntilItsTransactionIsDone looks in while a transaction is held up.
func TestATokenIsInProgressUntilItsTransactionIsDone(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	table := withTable(t, db)
	in := &dynamo.TransactWriteInput{
		ClientRequestToken: "held",
		Items: []dynamo.TransactWriteItem{
			{Put: &dynamo.PutInput{TableName: table, Item: key("a", "1")}},
		},
	}
	release := db.HoldItem(table, key("a", "1"))
	answers := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := db.TransactWrite(ctx, in)
			answers <- err
		}()
	}
	// One of the two waits for the item, so the other one is answered.
	if err := <-answers; !errors.Is(err, dynamo.ErrTransactionInProgress) {
		t.Errorf("the second call: %v", err)
	}
	release()
	if err := <-answers; err != nil {
		t.Fatal(err)
	}
	if _, err := db.TransactWrite(ctx, in); err != nil {
		t.Fatalf("the repeat: %v", err)
	}
}

// TestWritesOfDifferentItemsDoNotWait holds one item and writes others.
func TestWritesOfDifferentItemsDoNotWait(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	table := withTable(t, db)
	release := db.HoldItem(table, key("held", "1"))
	defer release()
	for i := range 20 {
		k := key("free", fmt.Sprint(i))
		if db.SameLock(table, k, key("held", "1")) {
			continue // two of 4,096
		}
		if _, err := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: k}); err != nil {
			t.Fatal(err)
		}
	}
	// Readers of the held item do not wait either.
	if _, err := db.Get(ctx, &dynamo.GetInput{
		TableName: table, Key: key("held", "1"), ConsistentRead: true,
	}); err != nil {
		t.Fatal(err)
	}
}

func TestACallWhoseContextEndedIsRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	db := openMemory(t)
	table := withTable(t, db)
	cancel()
	_, errPut := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: key("a", "1")})
	_, errQuery := db.Query(ctx, &dynamo.QueryInput{TableName: table})
	_, errTable := db.CreateTable(ctx, paymentsTable("Other"))
	for i, err := range []error{errPut, errQuery, errTable} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
