package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

const streamTable = "Watched"

func streamed(view dynamo.StreamViewType) *dynamo.CreateTableInput {
	return &dynamo.CreateTableInput{
		TableName: streamTable, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("PK", "SK"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindS},
			{AttributeName: "SK", AttributeType: dynamo.KindS},
		},
		StreamSpecification: &dynamo.StreamSpecification{
			StreamEnabled: true, StreamViewType: view,
		},
	}
}

func openStreamed(t *testing.T, view dynamo.StreamViewType, opts engine.Options) (
	*engine.DB, string,
) {
	t.Helper()
	db, err := engine.OpenMemory(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it already
	d, err := db.CreateTable(t.Context(), streamed(view))
	if err != nil {
		t.Fatal(err)
	}
	return db, d.LatestStreamArn
}

// allRecords reads a stream from its beginning: every shard, parents before their children.
func allRecords(t *testing.T, db *engine.DB, arn string) []dynamo.StreamRecord {
	t.Helper()
	d, err := db.DescribeStream(t.Context(), &dynamo.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	var all []dynamo.StreamRecord
	for _, shard := range d.Shards {
		iterator, err := db.GetShardIterator(t.Context(), &dynamo.GetShardIteratorInput{
			StreamArn: arn, ShardID: shard.ShardID,
			ShardIteratorType: dynamo.IteratorTrimHorizon,
		})
		if err != nil {
			t.Fatal(err)
		}
		for iterator != "" {
			out, err := db.GetRecords(t.Context(), &dynamo.GetRecordsInput{
				ShardIterator: iterator, Limit: 7,
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Records) == 0 && shard.EndingSequenceNumber == "" {
				break
			}
			all = append(all, out.Records...)
			iterator = out.NextShardIterator
		}
	}
	return all
}

func put(t *testing.T, db *engine.DB, item dynamo.Item) {
	t.Helper()
	if _, err := db.Put(t.Context(), &dynamo.PutInput{
		TableName: streamTable, Item: item,
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAStreamTellsEachChangeInItsView(t *testing.T) {
	for _, view := range []dynamo.StreamViewType{
		dynamo.ViewKeysOnly, dynamo.ViewNewImage, dynamo.ViewOldImage, dynamo.ViewNewAndOldImages,
	} {
		t.Run(string(view), func(t *testing.T) {
			db, arn := openStreamed(t, view, engine.Options{})
			first := key("a", "1")
			first["n"] = dynamo.N("1.0")
			first["s"] = dynamo.SS("x", "y")
			put(t, db, first)
			same := key("a", "1")
			same["n"] = dynamo.N("1")
			same["s"] = dynamo.SS("y", "x")
			put(t, db, same) // changes nothing
			second := key("a", "1")
			second["n"] = dynamo.N("2")
			put(t, db, second)
			if _, err := db.Delete(t.Context(), &dynamo.DeleteInput{
				TableName: streamTable, Key: key("a", "none"),
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Delete(t.Context(), &dynamo.DeleteInput{
				TableName: streamTable, Key: key("a", "1"),
			}); err != nil {
				t.Fatal(err)
			}
			type change struct {
				Event    dynamo.StreamEvent
				New, Old dynamo.Item
			}
			want := []change{
				{dynamo.EventInsert, first, nil}, {dynamo.EventModify, second, first},
				{dynamo.EventRemove, nil, second},
			}
			for i := range want {
				if view == dynamo.ViewKeysOnly || view == dynamo.ViewOldImage {
					want[i].New = nil
				}
				if view == dynamo.ViewKeysOnly || view == dynamo.ViewNewImage {
					want[i].Old = nil
				}
			}
			var got []change
			before := ""
			for _, r := range allRecords(t, db, arn) {
				got = append(got, change{r.EventName, r.NewImage, r.OldImage})
				if !r.Keys.Equal(dynamo.Key(key("a", "1"))) || r.Expired || r.SizeBytes == 0 ||
					r.SequenceNumber <= before {
					t.Errorf("record %+v", r)
				}
				before = r.SequenceNumber
			}
			if diff := cmp.Diff(want, got, cmp.Comparer(dynamo.Item.Equal)); diff != "" {
				t.Errorf("records (-want):\n%s", diff)
			}
		})
	}
}

func TestExpiryIsTold(t *testing.T) {
	clock := &movedClock{}
	db, arn := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{
		Now: clock.now, SweepInterval: -1,
	})
	if err := db.UpdateTimeToLive(t.Context(), &dynamo.UpdateTimeToLiveInput{
		TableName: streamTable, AttributeName: "ttl", Enabled: true,
	}); err != nil {
		t.Fatal(err)
	}
	item := key("a", "1")
	item["ttl"] = dynamo.Int(clock.now().Unix() + 1)
	put(t, db, item)
	clock.move(time.Minute)
	if n, err := db.ExpireNow(t.Context()); n != 1 || err != nil {
		t.Fatalf("ExpireNow: %d, %v", n, err)
	}
	records := allRecords(t, db, arn)
	if len(records) != 2 || records[0].Expired || !records[1].Expired ||
		records[1].EventName != dynamo.EventRemove {
		t.Errorf("records %+v", records)
	}
}

func code(err error) dynamo.ErrorCode {
	var e *dynamo.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestIteratorsBeginWhereTheySay(t *testing.T) {
	clock := &movedClock{}
	db, arn := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{Now: clock.now})
	for i := range 4 {
		put(t, db, key("a", fmt.Sprint(i)))
	}
	records := allRecords(t, db, arn)
	d, err := db.DescribeStream(t.Context(), &dynamo.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	shard := d.Shards[0].ShardID
	read := func(kind dynamo.ShardIteratorType, sequence string) []string {
		t.Helper()
		iterator, err := db.GetShardIterator(t.Context(), &dynamo.GetShardIteratorInput{
			StreamArn: arn, ShardID: shard, ShardIteratorType: kind, SequenceNumber: sequence,
		})
		if err != nil {
			t.Fatal(err)
		}
		if kind == dynamo.IteratorLatest {
			put(t, db, key("a", "later"))
		}
		out, err := db.GetRecords(t.Context(), &dynamo.GetRecordsInput{ShardIterator: iterator})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, r := range out.Records {
			keys = append(keys, r.Keys["SK"].S())
		}
		if out.NextShardIterator == "" {
			t.Error("an open shard has an end")
		}
		return keys
	}
	second := records[1].SequenceNumber
	for _, c := range []struct {
		kind     dynamo.ShardIteratorType
		sequence string
		want     []string
	}{
		{dynamo.IteratorTrimHorizon, "", []string{"0", "1", "2", "3"}},
		{dynamo.IteratorAtSequenceNumber, second, []string{"1", "2", "3"}},
		{dynamo.IteratorAfterSequenceNumber, second, []string{"2", "3"}},
		{dynamo.IteratorLatest, "", []string{"later"}},
	} {
		if got := read(c.kind, c.sequence); !slices.Equal(got, c.want) {
			t.Errorf("%s reads %v, want %v", c.kind, got, c.want)
		}
	}

	iterator, err := db.GetShardIterator(t.Context(), &dynamo.GetShardIteratorInput{
		StreamArn: arn, ShardID: shard, ShardIteratorType: dynamo.IteratorTrimHorizon,
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.move(15*time.Minute + time.Second)
	_, err = db.GetRecords(t.Context(), &dynamo.GetRecordsInput{ShardIterator: iterator})
	if code(err) != dynamo.CodeExpiredIterator {
		t.Errorf("an old iterator: %v", err)
	}
	for _, bad := range []string{"x", iterator[1:], "B" + iterator[1:]} {
		_, err = db.GetRecords(t.Context(), &dynamo.GetRecordsInput{ShardIterator: bad})
		if code(err) != dynamo.CodeValidation {
			t.Errorf("iterator %q: %v", bad, err)
		}
	}
}

func TestStreamsAreTurnedOffAndOnAgain(t *testing.T) {
	clock := &movedClock{}
	db, first := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{
		Now: clock.now, SweepInterval: -1,
	})
	turn := func(on bool, view dynamo.StreamViewType) (*dynamo.TableDescription, error) {
		return db.UpdateTable(t.Context(), &dynamo.UpdateTableInput{
			TableName: streamTable, StreamSpecification: &dynamo.StreamSpecification{
				StreamEnabled: on, StreamViewType: view,
			},
		})
	}
	put(t, db, key("a", "1"))
	if _, err := turn(true, dynamo.ViewNewImage); code(err) != dynamo.CodeValidation {
		t.Errorf("another view in place: %v", err)
	}
	if _, err := turn(false, dynamo.ViewNewImage); code(err) != dynamo.CodeValidation {
		t.Errorf("off with a view: %v", err)
	}
	d, err := turn(false, "")
	if err != nil || d.StreamSpecification != nil || d.LatestStreamArn != first {
		t.Fatalf("off: %+v, %v", d, err)
	}
	put(t, db, key("a", "2")) // nobody is told
	if _, err := turn(false, ""); code(err) != dynamo.CodeValidation {
		t.Errorf("off again: %v", err)
	}
	d, err = turn(true, dynamo.ViewNewImage)
	if err != nil || d.LatestStreamArn == first {
		t.Fatalf("on again: %+v, %v", d, err)
	}
	second := d.LatestStreamArn
	put(t, db, key("a", "3"))
	if _, err := db.DeleteTable(t.Context(), streamTable); err != nil {
		t.Fatal(err)
	}
	for arn, want := range map[string]string{first: "1", second: "3"} {
		records := allRecords(t, db, arn) // ends, for closed shards end
		if len(records) != 1 || records[0].Keys["SK"].S() != want {
			t.Errorf("%s holds %+v, want %s", arn, records, want)
		}
	}
	list, err := db.ListStreams(t.Context(), &dynamo.ListStreamsInput{Limit: 1})
	if err != nil || len(list.Streams) != 1 || list.LastEvaluatedStreamArn == "" {
		t.Errorf("ListStreams: %+v, %v", list, err)
	}
	clock.move(25 * time.Hour)
	if _, err := db.ExpireNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err = db.ListStreams(t.Context(), &dynamo.ListStreamsInput{})
	if err != nil || len(list.Streams) != 0 {
		t.Errorf("a day later ListStreams says %+v, %v", list, err)
	}
}

func TestOldRecordsAreTrimmedAndShardsFollowEachOther(t *testing.T) {
	clock := &movedClock{}
	db, arn := openStreamed(t, dynamo.ViewKeysOnly, engine.Options{
		Now: clock.now, SweepInterval: -1, StreamShards: 2,
	})
	var all []string
	for hour := range 40 {
		put(t, db, key(fmt.Sprint("p", hour%5), fmt.Sprintf("%02d", hour)))
		all = append(all, fmt.Sprintf("%02d", hour))
		clock.move(time.Hour)
		if _, err := db.ExpireNow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	firstSequence := ""
	for _, r := range allRecords(t, db, arn) {
		got = append(got, r.Keys["SK"].S())
		if firstSequence == "" || r.SequenceNumber < firstSequence {
			firstSequence = r.SequenceNumber
		}
	}
	slices.Sort(got)
	if want := all[len(all)-23:]; !slices.Equal(got, want) {
		t.Errorf("records of %v, want the last day's %v", got, want)
	}
	d, err := db.DescribeStream(t.Context(), &dynamo.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	open, ids := 0, map[string]bool{}
	for _, sh := range d.Shards {
		ids[sh.ShardID] = true
		if sh.EndingSequenceNumber == "" {
			open++
			if !ids[sh.ParentShardID] {
				t.Errorf("shard %s follows %q, which is not there", sh.ShardID, sh.ParentShardID)
			}
		}
	}
	if open != 2 || len(d.Shards) < 10 {
		t.Errorf("%d shards, %d of them open", len(d.Shards), open)
	}
	page, err := db.DescribeStream(t.Context(), &dynamo.DescribeStreamInput{
		StreamArn: arn, Limit: 3, ExclusiveStartShardID: d.Shards[1].ShardID,
	})
	if err != nil || len(page.Shards) != 3 || page.Shards[0].ShardID != d.Shards[2].ShardID ||
		page.LastEvaluatedShardID != d.Shards[4].ShardID {
		t.Errorf("a page of shards: %+v, %v", page, err)
	}
	children, err := db.DescribeStream(t.Context(), &dynamo.DescribeStreamInput{
		StreamArn: arn, ChildrenOf: d.Shards[2].ShardID,
	})
	if err != nil || len(children.Shards) != 1 ||
		children.Shards[0].ParentShardID != d.Shards[2].ShardID {
		t.Errorf("children: %+v, %v", children, err)
	}
}

// Replaying a stream rebuilds the table that it watched, however many wrote at once.
func TestReplayingAStreamRebuildsItsTable(t *testing.T) {
	for round := range rounds(t, 2) {
		seed := newSeed(t) + uint64(round)
		db, arn := openStreamed(t, dynamo.ViewNewAndOldImages, engine.Options{StreamShards: 3})
		var workers sync.WaitGroup
		for w := range 8 {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			workers.Go(func() {
				for range 150 {
					if err := randomWrite(context.Background(), db, r); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		workers.Wait()
		checkReplay(t, db, arn)
	}
}

// checkReplay compares a table with what the records of its stream make.
func checkReplay(t *testing.T, db *engine.DB, arn string) {
	t.Helper()
	rebuilt := map[string]dynamo.Item{}
	for _, r := range allRecords(t, db, arn) {
		at := r.Keys["PK"].S() + "/" + r.Keys["SK"].S()
		if before := rebuilt[at]; !before.Equal(r.OldImage) {
			t.Fatalf("%s was %v, its record says %v", at, before, r.OldImage)
		}
		if r.NewImage == nil {
			delete(rebuilt, at)
		} else {
			rebuilt[at] = r.NewImage
		}
	}
	stored := map[string]dynamo.Item{}
	out, err := db.Scan(t.Context(), &dynamo.ScanInput{TableName: streamTable})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range out.Items {
		stored[item["PK"].S()+"/"+item["SK"].S()] = item
	}
	if !maps.EqualFunc(stored, rebuilt, dynamo.Item.Equal) {
		t.Errorf("the table holds %d items, its stream makes %d", len(stored), len(rebuilt))
	}
}

// Whatever a power cut leaves of a table, it leaves of its stream, and numbers go on rising.
func TestAPowerCutLeavesTableAndStreamAlike(t *testing.T) {
	seed := newSeed(t)
	disk := vfs.NewCrashableMem()
	opts := smallMemory
	opts.StreamShards = 2
	db, err := engine.Open("data", opts.WithDisk(slowDisk{disk}))
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.CreateTable(t.Context(), streamed(dynamo.ViewNewAndOldImages))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	var writes atomic.Int64
	for w := range 6 {
		r := rand.New(rand.NewPCG(seed, uint64(w)))
		workers.Go(func() {
			for ctx.Err() == nil {
				if err := randomWrite(ctx, db, r); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				writes.Add(1)
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 99))
	for range rounds(t, 5) {
		target := writes.Load() + 1 + r.Int64N(100)
		waitUntil(t, func() bool { return writes.Load() >= target || t.Failed() })
		left := disk.CrashClone(vfs.CrashCloneCfg{
			UnsyncedDataPercent: []int{0, 50, 100}[r.IntN(3)],
			RNG:                 rand.New(rand.NewPCG(r.Uint64(), 0)),
		})
		again, err := engine.Open("data", opts.WithDisk(left))
		if err != nil {
			t.Fatal(err)
		}
		checkReplay(t, again, d.LatestStreamArn)
		before := lastSequence(allRecords(t, again, d.LatestStreamArn))
		put(t, again, dynamo.Item{
			"PK": dynamo.S("p0"), "SK": dynamo.S("0"), "at": dynamo.Int(target),
		})
		if after := lastSequence(allRecords(t, again, d.LatestStreamArn)); after <= before {
			t.Errorf("after the cut a record is numbered %s, before it was %s", after, before)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	workers.Wait()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func lastSequence(records []dynamo.StreamRecord) string {
	last := ""
	for _, r := range records {
		last = max(last, r.SequenceNumber)
	}
	return last
}

// A reader who follows a stream while it is written misses no record and sees none twice.
func TestFollowingAStreamMissesNothing(t *testing.T) {
	seed := newSeed(t)
	opts := smallMemory
	db, err := engine.Open("data", opts.WithDisk(slowDisk{vfs.NewCrashableMem()}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	d, err := db.CreateTable(t.Context(), streamed(dynamo.ViewKeysOnly))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := db.DescribeStream(t.Context(), &dynamo.DescribeStreamInput{
		StreamArn: d.LatestStreamArn,
	})
	if err != nil {
		t.Fatal(err)
	}
	iterator, err := db.GetShardIterator(t.Context(), &dynamo.GetShardIteratorInput{
		StreamArn: d.LatestStreamArn, ShardID: stream.Shards[0].ShardID,
		ShardIteratorType: dynamo.IteratorLatest,
	})
	if err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for w := range 8 {
		r := rand.New(rand.NewPCG(seed, uint64(w)))
		workers.Go(func() {
			for range 60 {
				if err := randomWrite(context.Background(), db, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	var followed []string
	for finished := false; ; {
		out, err := db.GetRecords(t.Context(), &dynamo.GetRecordsInput{ShardIterator: iterator})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Records {
			followed = append(followed, r.SequenceNumber)
		}
		iterator = out.NextShardIterator
		if finished && len(out.Records) == 0 {
			break
		}
		select {
		case <-done:
			finished = true
		default:
		}
	}
	var all []string
	for _, r := range allRecords(t, db, d.LatestStreamArn) {
		all = append(all, r.SequenceNumber)
	}
	if !slices.Equal(followed, all) {
		t.Errorf("followed %d records of %d", len(followed), len(all))
	}
}

func randomWrite(ctx context.Context, db *engine.DB, r *rand.Rand) error {
	random := func() dynamo.Key {
		return dynamo.Key(key(fmt.Sprint("p", r.IntN(3)), fmt.Sprint(r.IntN(4))))
	}
	switch r.IntN(4) {
	case 0:
		item := dynamo.Item(random())
		item["n"] = dynamo.Int(int64(r.IntN(3)))
		_, err := db.Put(ctx, &dynamo.PutInput{TableName: streamTable, Item: item})
		return err
	case 1:
		_, err := db.Delete(ctx, &dynamo.DeleteInput{TableName: streamTable, Key: random()})
		return err
	case 2:
		_, err := db.Update(ctx, &dynamo.UpdateInput{
			TableName: streamTable, Key: random(), UpdateExpression: "ADD n :one",
			Expressions: dynamo.Expressions{ExpressionAttributeValues: map[string]dynamo.Value{
				":one": dynamo.Int(1),
			}},
		})
		return err
	}
	one, other := random(), random()
	if one.Equal(other) {
		return nil
	}
	_, err := db.TransactWrite(ctx, &dynamo.TransactWriteInput{
		Items: []dynamo.TransactWriteItem{
			{Delete: &dynamo.DeleteInput{TableName: streamTable, Key: one}},
			{Put: &dynamo.PutInput{TableName: streamTable, Item: dynamo.Item(other)}},
		},
	})
	return err
}
