package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// movedClock is a clock that tests move.
type movedClock struct{ nanos atomic.Int64 }

func (c *movedClock) now() time.Time       { return time.Unix(1_800_000_000, c.nanos.Load()) }
func (c *movedClock) move(d time.Duration) { c.nanos.Add(int64(d)) }

// openMoved opens a database with a clock to move and one table, and sets faults.
func openMoved(t *testing.T, texts ...string) (*engine.DB, *movedClock) {
	t.Helper()
	clock := &movedClock{}
	db, err := engine.OpenMemory(engine.Options{Now: clock.now, SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			t.Error(err)
		}
	})
	withTable(t, db)
	setFaults(t, db, texts...)
	return db, clock
}

// putNumber writes an item whose index entries and attributes all tell its number.
func putNumber(t *testing.T, db dynamo.DB, sk string, n int64) {
	t.Helper()
	item := key("A", sk)
	item["N"], item["Amount"], item["Note"] = dynamo.Int(n), dynamo.Int(n), dynamo.S(fmt.Sprint(n))
	item["GSI1PK"], item["GSI1SK"] = dynamo.S("G"), dynamo.S(fmt.Sprint(n))
	item["GSI2PK"], item["GSI2SK"] = dynamo.S("G"), dynamo.S(fmt.Sprint(n))
	if _, err := db.Put(context.Background(), &dynamo.PutInput{
		TableName: "Payments", Item: item,
	}); err != nil {
		t.Fatal(err)
	}
}

// seen reads item "1" in every way and returns the number that each way tells, "-" for none. A way
// that tells two numbers at once, of an index entry and of the item, is a fault of the test.
func seen(t *testing.T, db dynamo.DB, consistent bool) map[string]string {
	t.Helper()
	ctx := context.Background()
	got := map[string]string{}
	note := func(way string, items []dynamo.Item, err error) {
		if err != nil {
			t.Fatal(way, err)
		}
		numbers := map[string]bool{}
		for _, item := range items {
			for _, name := range []string{"N", "Amount"} {
				if v, ok := item[name]; ok {
					numbers[v.N()] = true
				}
			}
			for _, name := range []string{"GSI1SK", "GSI2SK", "Note"} {
				if v, ok := item[name]; ok {
					numbers[v.S()] = true
				}
			}
		}
		got[way] = "-"
		for n := range numbers {
			if got[way] != "-" {
				t.Errorf("%s tells of two moments: %v", way, items)
			}
			got[way] = n
		}
	}
	out, err := db.Get(ctx, &dynamo.GetInput{
		TableName: "Payments", Key: key("A", "1"), ConsistentRead: consistent,
	})
	if err != nil {
		t.Fatal(err)
	}
	note("get", []dynamo.Item{out.Item}, err)
	batch, err := db.BatchGet(ctx, &dynamo.BatchGetInput{
		RequestItems: map[string]dynamo.KeysAndAttributes{
			"Payments": {Keys: []dynamo.Key{key("A", "1")}, ConsistentRead: consistent},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	note("batch", batch.Responses["Payments"], err)
	for _, index := range []string{"", "ByAmount", "GSI1", "GSI2", "GSI3"} {
		if consistent && strings.HasPrefix(index, "GSI") {
			continue
		}
		in := &dynamo.QueryInput{
			TableName: "Payments", IndexName: index, ConsistentRead: consistent,
			KeyConditionExpression: "PK = :p",
			Expressions:            values(dynamo.Item{":p": dynamo.S("A")}),
		}
		switch index {
		case "ByAmount":
			in.Select = dynamo.SelectAllAttributes // fetches from the table
		case "GSI1", "GSI3":
			in.KeyConditionExpression = "GSI1PK = :p"
			in.ExpressionAttributeValues[":p"] = dynamo.S("G")
		case "GSI2":
			in.KeyConditionExpression = "GSI2PK = :p"
			in.ExpressionAttributeValues[":p"] = dynamo.S("G")
		}
		q, err := db.Query(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		if index == "GSI3" { // holds keys alone
			got[index] = fmt.Sprint(len(q.Items))
			continue
		}
		note("query "+index, q.Items, err)
		s, err := db.Scan(ctx, &dynamo.ScanInput{
			TableName: "Payments", IndexName: index, ConsistentRead: consistent,
		})
		if err != nil {
			t.Fatal(err)
		}
		note("scan "+index, s.Items, nil)
	}
	return got
}

// expectSeen compares what global indexes tell, and what all other reads tell.
func expectSeen(t *testing.T, db dynamo.DB, index, other string) {
	t.Helper()
	for way, n := range seen(t, db, false) {
		want := other
		if strings.Contains(way, "GSI") {
			want = index
		}
		if way == "GSI3" {
			want = "1"
			if index == "-" {
				want = "0"
			}
		}
		if n != want {
			t.Errorf("%s tells %s, want %s", way, n, want)
		}
	}
}

// expectStrong checks that strong reads tell the truth.
func expectStrong(t *testing.T, db dynamo.DB, want string) {
	t.Helper()
	for way, n := range seen(t, db, true) {
		if n != want {
			t.Errorf("a strong %s tells %s, want %s", way, n, want)
		}
	}
}

func TestGlobalIndexesLagByTheClock(t *testing.T) {
	db, clock := openMoved(t, "index-lag,delay=100ms")
	putNumber(t, db, "1", 1)
	expectSeen(t, db, "-", "1")
	clock.move(60 * time.Millisecond)
	putNumber(t, db, "1", 2)
	expectSeen(t, db, "-", "2")
	clock.move(60 * time.Millisecond) // the first write is 120 ms ago, the second 60 ms
	expectSeen(t, db, "1", "2")
	expectStrong(t, db, "2")
	clock.move(60 * time.Millisecond)
	expectSeen(t, db, "2", "2")
}

func TestHeldIndexesWaitToCatchUp(t *testing.T) {
	db, clock := openMoved(t, "index-lag,held")
	putNumber(t, db, "1", 1)
	clock.move(time.Hour)
	putNumber(t, db, "1", 2)
	expectSeen(t, db, "-", "2")
	if err := db.CatchUp(); err != nil {
		t.Fatal(err)
	}
	expectSeen(t, db, "2", "2")
	putNumber(t, db, "1", 3)
	expectSeen(t, db, "2", "3")
	setFaults(t, db)
	expectSeen(t, db, "3", "3")
}

func TestALagMeetsOnlyItsIndex(t *testing.T) {
	db, _ := openMoved(t, "index-lag,index=GSI1,held")
	putNumber(t, db, "1", 1)
	got := seen(t, db, false)
	if got["query GSI1"] != "-" || got["query GSI2"] != "1" || got["GSI3"] != "1" {
		t.Error(got)
	}
}

func TestStaleReadsTellOfAnEarlierMoment(t *testing.T) {
	db, clock := openMoved(t, "stale-read,delay=100ms")
	putNumber(t, db, "1", 1)
	expectSeen(t, db, "-", "-")
	expectStrong(t, db, "1")
	clock.move(99 * time.Millisecond)
	putNumber(t, db, "1", 2)
	expectSeen(t, db, "-", "-")
	clock.move(time.Millisecond)
	expectSeen(t, db, "1", "1")
	expectStrong(t, db, "2")
	if err := db.CatchUp(); err != nil {
		t.Fatal(err)
	}
	expectSeen(t, db, "2", "2")
}

func TestWritesSeeTheTruthWhileReadsAreStale(t *testing.T) {
	db, _ := openMoved(t, "stale-read,held; index-lag,held")
	ctx := t.Context()
	putNumber(t, db, "1", 1)
	_, err := db.Put(ctx, &dynamo.PutInput{
		TableName: "Payments", Item: key("A", "1"), ConditionExpression: "attribute_not_exists(PK)",
	})
	if !errors.Is(err, dynamo.ErrConditionalCheckFailed) {
		t.Error(err)
	}
	out, err := db.Update(ctx, &dynamo.UpdateInput{
		TableName: "Payments", Key: key("A", "1"), UpdateExpression: "ADD N :one",
		Expressions:  values(dynamo.Item{":one": dynamo.Int(1)}),
		ReturnValues: dynamo.ReturnAllNew,
	})
	if err != nil || out.Attributes["N"].N() != "2" {
		t.Error(out, err)
	}
	got, err := db.TransactGet(ctx, &dynamo.TransactGetInput{
		Items: []dynamo.TransactGetItem{{TableName: "Payments", Key: key("A", "1")}},
	})
	if err != nil || got.Items[0]["N"].N() != "2" {
		t.Error(got, err)
	}
}

// TestReadsAreNeverOlderThanTheirRuleSays writes at random times and checks each read: every write
// older than the rule's time is seen, and index entries and items are of one moment.
func TestReadsAreNeverOlderThanTheirRuleSays(t *testing.T) {
	db, clock := openMoved(t)
	rapid.Check(t, func(rt *rapid.T) {
		age := time.Duration(rapid.IntRange(1, 200).Draw(rt, "age")) * time.Millisecond
		least := time.Duration(rapid.IntRange(0, int(age)).Draw(rt, "least"))
		kind := rapid.SampledFrom([]engine.FaultKind{
			engine.FaultIndexLag, engine.FaultStaleRead,
		}).Draw(rt, "kind")
		if err := db.SetFaults(engine.Faults{
			Seed:  rapid.Uint64().Draw(rt, "seed"),
			Rules: []engine.Fault{{Kind: kind, Delay: least, DelayMax: age}},
		}); err != nil {
			rt.Fatal(err)
		}
		putNumber(t, db, "1", 0)
		clock.move(age)
		written := []time.Time{clock.now()} // when each number was
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			clock.move(time.Duration(rapid.IntRange(0, int(age)/2).Draw(rt, "pause")))
			if rapid.Bool().Draw(rt, "write") {
				putNumber(t, db, "1", int64(len(written)))
				written = append(written, clock.now())
				continue
			}
			out, err := db.Query(t.Context(), &dynamo.QueryInput{
				TableName: "Payments", IndexName: "GSI1", KeyConditionExpression: "GSI1PK = :p",
				Expressions: values(dynamo.Item{":p": dynamo.S("G")}),
			})
			if err != nil || len(out.Items) != 1 {
				rt.Fatalf("%v, %v", out, err)
			}
			n := number(out.Items[0]["N"])
			if out.Items[0]["GSI1SK"].S() != fmt.Sprint(n) {
				rt.Fatalf("the entry and the item differ: %v", out.Items[0])
			}
			if next := int(n) + 1; next < len(written) && clock.now().Sub(written[next]) > age {
				rt.Fatalf("told %d; %d was written %s ago, more than %s", n, next,
					clock.now().Sub(written[next]), age)
			}
		}
	})
}

func TestExpiredItemsAreKeptForTheDelay(t *testing.T) {
	db, clock := openMoved(t, "expiry-delay,delay=10m")
	ctx := t.Context()
	if err := db.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
		TableName: "Payments", AttributeName: "Expires", Enabled: true,
	}); err != nil {
		t.Fatal(err)
	}
	item := key("A", "1")
	item["Expires"] = dynamo.Int(clock.now().Unix() + 60)
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "Payments", Item: item}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		move time.Duration
		gone int
	}{{61 * time.Second, 0}, {9 * time.Minute, 0}, {61 * time.Second, 1}} {
		clock.move(step.move)
		if n, err := db.ExpireNow(ctx); err != nil || n != step.gone {
			t.Errorf("after %s %d items went, %v", step.move, n, err)
		}
	}
}

// TestOlderStatesAreLetGo changes faults, catches up and closes while reads are served from older
// states; the store below would tell of a state that was not let go.
func TestOlderStatesAreLetGo(t *testing.T) {
	db, clock := openMoved(t)
	stop := make(chan struct{})
	var work sync.WaitGroup
	for w := range 4 {
		work.Go(func() {
			for n := int64(0); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if w%2 == 0 {
					putNumber(t, db, fmt.Sprint(w), n)
					continue
				}
				if _, err := db.Query(context.Background(), &dynamo.QueryInput{
					TableName: "Payments", IndexName: "GSI1",
					KeyConditionExpression: "GSI1PK = :p",
					Expressions:            values(dynamo.Item{":p": dynamo.S("G")}),
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	rules := []string{"index-lag,held", "index-lag,delay=1ms..8ms; stale-read,delay=4ms", ""}
	for i := range rounds(t, 300) {
		setFaults(t, db, rules[i%len(rules)])
		for range 4 {
			clock.move(time.Millisecond)
			if err := db.CatchUp(); err != nil {
				t.Error(err)
			}
		}
	}
	setFaults(t, db, rules[1])
	close(stop)
	work.Wait()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := db.CatchUp(); !errors.Is(err, engine.ErrClosed) {
		t.Error(err)
	}
	if err := db.SetFaults(engine.Strict()); !errors.Is(err, engine.ErrClosed) {
		t.Error(err)
	}
}
