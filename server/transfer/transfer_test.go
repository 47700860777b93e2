package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/transfer"
)

const table = "Things"

func memory(t *testing.T) *engine.DB {
	t.Helper()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// filled returns a store with a table of n items of every kind.
func filled(t *testing.T, n int) *engine.DB {
	t.Helper()
	db := memory(t)
	_, err := db.CreateTable(t.Context(), &dynamo.CreateTableInput{
		TableName: table, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("id", "at"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindB},
			{AttributeName: "at", AttributeType: dynamo.KindN},
			{AttributeName: "group", AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
			IndexName: "byGroup", KeySchema: dynamo.HashRangeKey("group", "at"),
			Projection: dynamo.Projection{
				ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"n"},
			},
		}},
		StreamSpecification: &dynamo.StreamSpecification{
			StreamEnabled: true, StreamViewType: dynamo.ViewKeysOnly,
		},
		DeletionProtectionEnabled: true, Tags: []dynamo.Tag{{Key: "env", Value: "test"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.UpdateTimeToLive(t.Context(), &dynamo.UpdateTimeToLiveInput{
		TableName: table, AttributeName: "ttl", Enabled: true,
	}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		put(t, db, thing(i))
	}
	return db
}

func thing(i int) dynamo.Item {
	return dynamo.Item{
		"id": dynamo.B([]byte{byte(i), byte(i >> 8), 0}), "at": dynamo.N(strconv.Itoa(i) + ".50"),
		"group": dynamo.S(strconv.Itoa(i % 7)), "n": dynamo.N("-0.001"),
		"s": dynamo.SS("b", "a"), "ns": dynamo.NS("2", "10"), "bs": dynamo.BS([]byte{1}, nil),
		"m": dynamo.M(map[string]dynamo.Value{"l": dynamo.L(dynamo.Null(), dynamo.Bool(false))}),
	}
}

func put(t *testing.T, db dynamo.DB, item dynamo.Item) {
	t.Helper()
	if _, err := db.Put(t.Context(), &dynamo.PutInput{TableName: table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

func TestACopyIsTheSameThing(t *testing.T) {
	from, to := filled(t, 300), memory(t)
	results, err := transfer.Copy(t.Context(), from, to, transfer.Options{})
	if err != nil || len(results) != 1 || results[0].Items != 300 {
		t.Fatalf("%+v, %v", results, err)
	}
	back := memory(t)
	again, err := transfer.Copy(t.Context(), to, back, transfer.Options{Segments: 3})
	if err != nil || again[0].Checksum != results[0].Checksum {
		t.Errorf("there %+v, and back %+v, %v", results, again, err)
	}
	was, err := from.DescribeTable(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	is, err := back.DescribeTable(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	ttl, err := back.DescribeTimeToLive(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	tags, err := back.ListTagsOfResource(t.Context(), &dynamo.ListTagsInput{
		ResourceArn: is.TableArn,
	})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(was.KeySchema, was.AttributeDefinitions, was.BillingMode,
		*was.StreamSpecification, was.DeletionProtectionEnabled) !=
		fmt.Sprint(is.KeySchema, is.AttributeDefinitions, is.BillingMode,
			*is.StreamSpecification, is.DeletionProtectionEnabled) ||
		is.GlobalSecondaryIndexes[0].IndexName != "byGroup" || ttl.AttributeName != "ttl" ||
		!slices.Equal(tags.Tags, []dynamo.Tag{{Key: "env", Value: "test"}}) {
		t.Errorf("the table was %+v\nand is %+v, expiry %+v, tags %+v", was, is, ttl, tags)
	}
}

// moody is a store that puts work off, and at some point fails for good.
type moody struct {
	*engine.DB
	seed  uint64
	calls atomic.Int64
	lasts int64 // calls until it fails; 0 for ever
}

var errBroken = errors.New("the network is down")

func (m *moody) BatchWrite(ctx context.Context, in *dynamo.BatchWriteInput) (
	*dynamo.BatchWriteOutput, error,
) {
	n := m.calls.Add(1)
	if m.lasts > 0 && n > m.lasts {
		return nil, errBroken
	}
	r := rand.New(rand.NewPCG(m.seed, uint64(n)))
	if r.IntN(4) == 0 {
		return nil, dynamo.ErrProvisionedThroughput
	}
	all := in.RequestItems[table]
	now := all[:r.IntN(len(all)+1)]
	out := &dynamo.BatchWriteOutput{
		UnprocessedItems: map[string][]dynamo.WriteRequest{table: all[len(now):]},
	}
	if len(now) == len(all) {
		out.UnprocessedItems = nil
	}
	if len(now) == 0 {
		return out, nil
	}
	_, err := m.DB.BatchWrite(ctx, &dynamo.BatchWriteInput{
		RequestItems: map[string][]dynamo.WriteRequest{table: now},
	})
	return out, err
}

func TestNothingIsLostByAStoreThatPutsWorkOff(t *testing.T) {
	from := filled(t, 120)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	to := &moody{DB: memory(t), seed: seed}
	results, err := transfer.Copy(t.Context(), from, to, transfer.Options{}.Hasty())
	if err != nil || results[0].Items != 120 {
		t.Errorf("%+v, %v", results, err)
	}
}

func rounds(t *testing.T, usual int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("EXCHEQUER_ROUNDS"))
	if err != nil {
		return usual
	}
	return n
}

func TestACopyGoesOnWhereItWasStopped(t *testing.T) {
	from := filled(t, 400)
	for round := range rounds(t, 3) {
		seed := rand.Uint64()
		t.Logf("round %d: seed %d", round, seed)
		r := rand.New(rand.NewPCG(seed, 0))
		opts := transfer.Options{
			Segments: 1 + r.IntN(6), From: "here", To: "there",
			State: filepath.Join(t.TempDir(), "state.json"),
		}
		to := &moody{DB: memory(t), seed: seed}
		stops := 0
		for {
			to.lasts = to.calls.Load() + 1 + r.Int64N(40)
			if stops == 4 {
				to.lasts = 0
			}
			results, err := transfer.Copy(t.Context(), from, to, opts.Hasty())
			if err == nil {
				if results[0].Items != 400 || stops > 0 && !results[0].Resumed {
					t.Errorf("after %d stops %+v", stops, results)
				}
				break
			}
			if !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			stops++
		}
		if _, err := os.Stat(opts.State); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the state file is left: %v", err)
		}
	}
}

func TestWhatCannotBeCopiedIsRefused(t *testing.T) {
	from := filled(t, 3)
	refuse := func(name, want string, to transfer.Store, opts transfer.Options) {
		t.Helper()
		_, err := transfer.Copy(t.Context(), from, to, opts)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", name, err, want)
		}
	}
	refuse("items are there", "delete it there first", filled(t, 1), transfer.Options{})
	other := memory(t)
	if _, err := other.CreateTable(t.Context(), &dynamo.CreateTableInput{
		TableName: table, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashKey("id"), AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindB},
		},
	}); err != nil {
		t.Fatal(err)
	}
	refuse("another table", "index byGroup: the source has global", other, transfer.Options{})
	refuse("no such table", "Nothing", memory(t), transfer.Options{Tables: []string{"Nothing"}})
	refuse("segments", "segments must be", memory(t), transfer.Options{Segments: 1000})
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte(`{"Version":1,"From":"a","To":"b","Tables":{}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	refuse("another copy's state", "from a to b", memory(t), transfer.Options{State: path})
	if err := os.WriteFile(path, []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	refuse("no state", "does not say", memory(t), transfer.Options{State: path})
}

func TestDifferencesAreFound(t *testing.T) {
	from, to := filled(t, 50), memory(t)
	if _, err := transfer.Copy(t.Context(), from, to, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, found, err := transfer.Verify(t.Context(), from, to, transfer.Options{}, 9); err != nil ||
		len(found) > 0 {
		t.Errorf("equal sides differ: %v, %v", found, err)
	}
	changed := thing(1)
	changed["n"] = dynamo.N("1")
	put(t, to, changed)
	put(t, to, thing(1000))
	gone := thing(2)
	if _, err := to.Delete(t.Context(), &dynamo.DeleteInput{
		TableName: table, Key: dynamo.Key{"id": gone["id"], "at": gone["at"]},
	}); err != nil {
		t.Fatal(err)
	}
	_, found, err := transfer.Verify(t.Context(), from, to, transfer.Options{}, 9)
	var what []string
	for _, d := range found {
		what = append(what, d.What+" "+d.Key["at"].N())
	}
	slices.Sort(what)
	if !errors.Is(err, transfer.ErrDiffers) ||
		!slices.Equal(what, []string{"differs 1.5", "extra 1000.5", "missing 2.5"}) {
		t.Errorf("found %v, %v", what, err)
	}
}

func TestChecksumsSeeItemsAndNotTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfNDistinct(rapid.IntRange(0, 500), 1, 20, rapid.ID[int]).Draw(t, "items")
		sum := func(ns []int) transfer.Checksum {
			var c transfer.Checksum
			for _, n := range ns {
				item := thing(n)
				item["s"], item["n"] = dynamo.SS("a", "b"), dynamo.N("-1e-3")
				c.Add(item)
			}
			return c
		}
		var plain transfer.Checksum
		for _, n := range ns {
			plain.Add(thing(n))
		}
		if got := sum(rapid.Permutation(ns).Draw(t, "order")); got != plain {
			t.Errorf("another order and spelling: %v, %v", got, plain)
		}
		if got := sum(ns[1:]); got.String() == plain.String() {
			t.Error("a lost item is not seen")
		}
		if got := sum(append(ns[1:], 501)); got.String() == plain.String() {
			t.Error("another item is not seen")
		}
	})
}
