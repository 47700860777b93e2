package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
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

// BatchWrite does some of the writes, or none.
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

func rounds(t *testing.T, usual int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("EXCHEQUER_ROUNDS"))
	if err != nil {
		return usual
	}
	return n
}

// create makes a table without indexes whose key attributes are strings.
func create(t *testing.T, db *engine.DB, name string, key []dynamo.KeySchemaElement,
	attributes ...string,
) {
	t.Helper()
	in := &dynamo.CreateTableInput{
		TableName: name, KeySchema: key, BillingMode: dynamo.BillingPayPerRequest,
	}
	for _, a := range attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, dynamo.AttributeDefinition{
			AttributeName: a, AttributeType: dynamo.KindS,
		})
	}
	if _, err := db.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// overProtocol returns the store as the AWS SDK sees it.
func overProtocol(t *testing.T, db *engine.DB) *awssdk.DB {
	t.Helper()
	sdk, err := awssdk.Open(t.Context(), awssdk.Options{
		Endpoint: "http://127.0.0.1", Region: "us-east-1",
		HTTPClient: &http.Client{
			Transport: wire.Transport{Handler: wire.NewHandler(db, wire.Options{})},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return sdk
}

func TestACopyThroughTheProtocolIsTheSameThing(t *testing.T) {
	from, back := filled(t, 200), memory(t)
	there, err := engine.OpenMemory(engine.Options{TableDelay: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = there.Close() })
	out, err := transfer.Copy(t.Context(), from, overProtocol(t, there), transfer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	home, err := transfer.Copy(t.Context(), overProtocol(t, there), back, transfer.Options{})
	if err != nil || out[0].Checksum != home[0].Checksum || home[0].Items != 200 {
		t.Errorf("there %+v, and back %+v, %v", out, home, err)
	}
	ttl, err := back.DescribeTimeToLive(t.Context(), table)
	if err != nil || ttl.AttributeName != "ttl" {
		t.Errorf("expiry came back as %+v, %v", ttl, err)
	}
	tags, err := back.ListTagsOfResource(t.Context(), &dynamo.ListTagsInput{
		ResourceArn: described(t, back).TableArn,
	})
	if err != nil || len(tags.Tags) != 1 {
		t.Errorf("tags came back as %+v, %v", tags, err)
	}
	if d := described(t, back); d.StreamSpecification == nil || !d.DeletionProtectionEnabled {
		t.Errorf("the table came back as %+v", d)
	}
}

func described(t *testing.T, db *engine.DB) *dynamo.TableDescription {
	t.Helper()
	d, err := db.DescribeTable(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestItemsThatAreInTheWayGo(t *testing.T) {
	from, to := filled(t, 300), filled(t, 450)
	changed := thing(3)
	changed["n"] = dynamo.N("99")
	put(t, to, changed)
	var refused *transfer.RefusedError
	_, err := transfer.Copy(t.Context(), from, to, transfer.Options{})
	if !errors.As(err, &refused) || len(refused.Differences) > 0 {
		t.Errorf("without Overwrite: %v", err)
	}
	results, err := transfer.Copy(t.Context(), from, to, transfer.Options{Overwrite: true})
	if err != nil || results[0].Items != 300 {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestATableThatIsDefinedOtherwiseIsRefused(t *testing.T) {
	to := memory(t)
	_, err := to.CreateTable(t.Context(), &dynamo.CreateTableInput{
		TableName: table, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("id", "at"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindS},
			{AttributeName: "at", AttributeType: dynamo.KindN},
			{AttributeName: "group", AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
			IndexName: "byGroup", KeySchema: dynamo.HashKey("group"),
			Projection: dynamo.Projection{
				ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"m", "n"},
			},
		}},
		LocalSecondaryIndexes: []dynamo.LocalSecondaryIndex{{
			IndexName: "local", KeySchema: dynamo.HashRangeKey("id", "group"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
		}},
		StreamSpecification: &dynamo.StreamSpecification{
			StreamEnabled: true, StreamViewType: dynamo.ViewNewImage,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := to.UpdateTimeToLive(t.Context(), &dynamo.UpdateTimeToLiveInput{
		TableName: table, AttributeName: "until", Enabled: true,
	}); err != nil {
		t.Fatal(err)
	}
	var refused *transfer.RefusedError
	_, err = transfer.Copy(t.Context(), filled(t, 1), to, transfer.Options{Overwrite: true})
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	want := []string{
		"key: the source has HASH id B, RANGE at N, the other side HASH id S, RANGE at N",
		"index byGroup: the source has global, HASH group S, RANGE at N, INCLUDE n, " +
			"the other side global, HASH group S, INCLUDE m n",
		"index local: the source has none, the other side local, HASH id S, RANGE group S, KEYS_ONLY",
		"attribute of expiry: the source has ttl, the other side until",
		"stream: the source has KEYS_ONLY, the other side NEW_IMAGE",
	}
	if diff := cmp.Diff(want, refused.Differences); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeCopiedIsRefused(t *testing.T) {
	from := filled(t, 3)
	path := filepath.Join(t.TempDir(), "state.json")
	for _, test := range []struct {
		name, state, want string
		opts              transfer.Options
	}{
		{"no such table", "", "table Nothing: the source does not have it",
			transfer.Options{Tables: []string{"Nothing"}}},
		{"too many segments", "", "segments must be", transfer.Options{Segments: 1000}},
		{"another copy's state", `{"Version":1,"From":"a","To":"b","Tables":{}}`,
			"is about a copy from a to b", transfer.Options{State: path}},
		{"half a state", `{`, "is not a state file", transfer.Options{State: path}},
		{"a state of no segments", `{"Version":1,"Tables":{"Things":{"Segments":[]}}}`,
			"is not a state file", transfer.Options{State: path}},
		{"a state with another key", `{"Version":1,"Tables":{"Things":{"Segments":[` +
			`{"After":{"id":{"Type":"M"}}}]}}}`, "is not a state file",
			transfer.Options{State: path}},
		{"a later state", `{"Version":2,"Tables":{}}`, "is not a state file",
			transfer.Options{State: path}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.state != "" {
				if err := os.WriteFile(path, []byte(test.state), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := transfer.Copy(t.Context(), from, memory(t), test.opts)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q in it", err, test.want)
			}
		})
	}
}

func TestDifferencesAreFound(t *testing.T) {
	from, to := filled(t, 250), memory(t)
	if _, err := transfer.Copy(t.Context(), from, to, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	opts := transfer.Options{Segments: 2}
	if results, found, err := transfer.Verify(t.Context(), from, to, opts, 9); err != nil ||
		len(found) > 0 || results[0].Items != 250 {
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
	_, found, err := transfer.Verify(t.Context(), from, to, opts, 9)
	var what []string
	for _, d := range found {
		what = append(what, string(d.What)+" "+d.Key["at"].N())
	}
	slices.Sort(what)
	if !errors.Is(err, transfer.ErrDiffers) ||
		!slices.Equal(what, []string{"differs 1.5", "extra 1000.5", "missing 2.5"}) {
		t.Errorf("found %v, %v", what, err)
	}
	if _, found, err := transfer.Verify(t.Context(), from, to, opts, 1); len(found) != 1 ||
		!errors.Is(err, transfer.ErrDiffers) {
		t.Errorf("of one difference at most it found %v, %v", found, err)
	}
	create(t, from, "Alone", dynamo.HashKey("PK"), "PK")
	create(t, from, "Keyed", dynamo.HashKey("PK"), "PK")
	create(t, to, "Keyed", dynamo.HashKey("id"), "id")
	opts.Tables = []string{"Alone", "Keyed"}
	if _, _, err := transfer.Verify(t.Context(), from, to, opts, 9); err == nil ||
		!errors.Is(err, transfer.ErrDiffers) ||
		!strings.Contains(err.Error(), "table Alone: the copy differs from its source: the other "+
			"side does not have it") || !strings.Contains(err.Error(), "side is HASH id S") {
		t.Errorf("of tables that cannot be compared it says %v", err)
	}
}
