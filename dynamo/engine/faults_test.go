package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
)

// withFaults sets the rules, as text, on a database with a table of each billing.
func withFaults(t *testing.T, texts ...string) *engine.DB {
	t.Helper()
	db := openMemory(t)
	withTable(t, db)
	fixed := paymentsTable("Fixed")
	fixed.BillingMode = dynamo.BillingProvisioned
	fixed.ProvisionedThroughput = &dynamo.ProvisionedThroughput{
		ReadCapacityUnits: 5, WriteCapacityUnits: 5,
	}
	for i := range fixed.GlobalSecondaryIndexes {
		fixed.GlobalSecondaryIndexes[i].ProvisionedThroughput = fixed.ProvisionedThroughput
	}
	if _, err := db.CreateTable(t.Context(), fixed); err != nil {
		t.Fatal(err)
	}
	setFaults(t, db, texts...)
	return db
}

func setFaults(t *testing.T, db *engine.DB, texts ...string) {
	t.Helper()
	f, err := engine.ParseFaults(texts...)
	if err == nil {
		err = db.SetFaults(f)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// faultCalls makes one call of each operation on a table.
func faultCalls(db dynamo.DB, table string) map[string]func(context.Context) error {
	item := key("A", "1")
	item["GSI1PK"], item["GSI1SK"] = dynamo.S("G"), dynamo.S("S")
	query := func(index string) func(context.Context) error {
		in := &dynamo.QueryInput{TableName: table, IndexName: index,
			KeyConditionExpression: "PK = :p",
			Expressions:            values(dynamo.Item{":p": dynamo.S("A")})}
		if strings.HasPrefix(index, "GSI") {
			in.KeyConditionExpression = "GSI1PK = :p"
		}
		return func(ctx context.Context) error { _, err := db.Query(ctx, in); return err }
	}
	return map[string]func(context.Context) error{
		"GetItem": func(ctx context.Context) error {
			_, err := db.Get(ctx, &dynamo.GetInput{TableName: table, Key: key("A", "1")})
			return err
		},
		"PutItem": func(ctx context.Context) error {
			_, err := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: item})
			return err
		},
		"UpdateItem": func(ctx context.Context) error {
			_, err := db.Update(ctx, &dynamo.UpdateInput{TableName: table, Key: key("A", "1")})
			return err
		},
		"DeleteItem": func(ctx context.Context) error {
			_, err := db.Delete(ctx, &dynamo.DeleteInput{TableName: table, Key: key("A", "9")})
			return err
		},
		"Query": query(""), "Query GSI1": query("GSI1"), "Query ByAmount": query("ByAmount"),
		"Scan": func(ctx context.Context) error {
			_, err := db.Scan(ctx, &dynamo.ScanInput{TableName: table})
			return err
		},
		"BatchGetItem": func(ctx context.Context) error {
			_, err := db.BatchGet(ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{
					table: {Keys: []dynamo.Key{key("A", "1")}},
				},
			})
			return err
		},
		"BatchWriteItem": func(ctx context.Context) error {
			_, err := db.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{table: {{Put: item}}},
			})
			return err
		},
		"TransactGetItems": func(ctx context.Context) error {
			_, err := db.TransactGet(ctx, &dynamo.TransactGetInput{
				Items: []dynamo.TransactGetItem{{TableName: table, Key: key("A", "1")}},
			})
			return err
		},
		"TransactWriteItems": func(ctx context.Context) error {
			_, err := db.TransactWrite(ctx, &dynamo.TransactWriteInput{
				Items: []dynamo.TransactWriteItem{
					{Put: &dynamo.PutInput{TableName: table, Item: item}},
				},
			})
			return err
		},
	}
}

func TestThrottledCallsNameTheLimitThatTheyMet(t *testing.T) {
	const arn = "arn:aws:dynamodb:local:000000000000:table/"
	for _, c := range []struct {
		name, rule, table, call string
		code                    dynamo.ErrorCode
		reason, resource        string
	}{
		{"a write on demand", "throttle", "Payments", "PutItem", dynamo.CodeThrottling,
			"TableWriteKeyRangeThroughputExceeded", "Payments"},
		{"a read of provisioned capacity", "throttle", "Fixed", "GetItem",
			dynamo.CodeProvisionedThroughput, "TableReadProvisionedThroughputExceeded", "Fixed"},
		{"a scan of provisioned capacity", "throttle,op=Scan", "Fixed", "Scan",
			dynamo.CodeProvisionedThroughput, "TableReadProvisionedThroughputExceeded", "Fixed"},
		{"a query of a global index", "throttle,index=GSI1", "Payments", "Query GSI1",
			dynamo.CodeThrottling, "IndexReadKeyRangeThroughputExceeded", "Payments/index/GSI1"},
		{"a query of a local index uses the table", "throttle", "Fixed", "Query ByAmount",
			dynamo.CodeProvisionedThroughput, "TableReadProvisionedThroughputExceeded", "Fixed"},
		{"a write that an index holds back", "throttle,index=GSI2", "Fixed", "UpdateItem",
			dynamo.CodeProvisionedThroughput, "IndexWriteProvisionedThroughputExceeded",
			"Fixed/index/GSI2"},
		{"a write that any index holds back", "throttle,reason=IndexWriteAccountLimitExceeded",
			"Payments", "DeleteItem", dynamo.CodeRequestLimitExceeded,
			"IndexWriteAccountLimitExceeded", "Payments/index/GSI1"},
		{"an account's limit", "throttle,code=RequestLimitExceeded", "Payments", "Query",
			dynamo.CodeRequestLimitExceeded, "TableReadAccountLimitExceeded", "Payments"},
		{"a maximum on demand", "throttle,reason=TableWriteMaxOnDemandThroughputExceeded",
			"Payments", "BatchWriteItem", dynamo.CodeThrottling,
			"TableWriteMaxOnDemandThroughputExceeded", "Payments"},
		{"a whole batch of reads", "throttle,op=BatchGetItem", "Fixed", "BatchGetItem",
			dynamo.CodeProvisionedThroughput, "TableReadProvisionedThroughputExceeded", "Fixed"},
		{"a hot key of a provisioned table", "throttle,reason=TableReadKeyRangeThroughputExceeded",
			"Fixed", "Query", dynamo.CodeProvisionedThroughput,
			"TableReadKeyRangeThroughputExceeded", "Fixed"},
		{"a transaction of an account", "throttle,code=RequestLimitExceeded", "Payments",
			"TransactWriteItems", dynamo.CodeRequestLimitExceeded,
			"TableWriteAccountLimitExceeded", "Payments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := withFaults(t, c.rule)
			err := faultCalls(db, c.table)[c.call](t.Context())
			var e *dynamo.Error
			if !errors.As(err, &e) || e.Code != c.code || e.Message == "" {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			want := []dynamo.ThrottlingReason{{Reason: c.reason, Resource: arn + c.resource}}
			if diff := cmp.Diff(want, e.ThrottlingReasons); diff != "" {
				t.Error(diff)
			}
			if !dynamo.Retryable(err) {
				t.Error("not retryable:", err)
			}
		})
	}
}

func TestEveryReasonMeetsOnlyTheCallsThatItFits(t *testing.T) {
	if n := len(engine.ThrottleReasons()); n != 16 {
		t.Fatalf("%d reasons", n)
	}
	meets := map[string]string{
		"TableRead": "BatchGetItem GetItem Query Query ByAmount Scan TransactGetItems",
		"TableWrite": "BatchWriteItem DeleteItem PutItem TransactWriteItems " +
			"UpdateItem",
		"IndexRead": "Query GSI1",
		"IndexWrite": "BatchWriteItem DeleteItem PutItem TransactWriteItems " +
			"UpdateItem",
	}
	db := withFaults(t)
	calls := faultCalls(db, "Fixed")
	for _, reason := range engine.ThrottleReasons() {
		setFaults(t, db, "throttle,reason="+reason)
		var met []string
		for name, call := range calls {
			if call(t.Context()) != nil {
				met = append(met, name)
			}
		}
		slices.Sort(met)
		group := reason[:len("TableRead")]
		if strings.HasPrefix(reason[len("Table"):], "Write") {
			group = reason[:len("TableWrite")]
		}
		if diff := cmp.Diff(meets[group], strings.Join(met, " ")); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

// threeActions is a transaction on two tables.
func threeActions() *dynamo.TransactWriteInput {
	put := func(table, sk string) dynamo.TransactWriteItem {
		return dynamo.TransactWriteItem{
			Put: &dynamo.PutInput{TableName: table, Item: key("A", sk)},
		}
	}
	return &dynamo.TransactWriteInput{Items: []dynamo.TransactWriteItem{
		put("Payments", "1"), put("Fixed", "2"), put("Payments", "3"),
	}}
}

func TestCancelledTransactionsTellTheReasonByPosition(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		want       []dynamo.CancellationCode
	}{
		{"a conflict", "conflict,table=Fixed", []dynamo.CancellationCode{
			"None", "TransactionConflict", "None"}},
		{"a throttle of provisioned capacity", "throttle,table=Fixed", []dynamo.CancellationCode{
			"None", "ProvisionedThroughputExceeded", "None"}},
		{"a throttle by code", "throttle,table=Fixed,code=ThrottlingException",
			[]dynamo.CancellationCode{"None", "ThrottlingError", "None"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := withFaults(t, c.rule)
			_, err := db.TransactWrite(t.Context(), threeActions())
			expectReasons(t, err, c.want)
			_, err = db.TransactGet(t.Context(), &dynamo.TransactGetInput{
				Items: []dynamo.TransactGetItem{
					{TableName: "Payments", Key: key("A", "1")},
					{TableName: "Fixed", Key: key("A", "2")},
					{TableName: "Payments", Key: key("A", "3")},
				},
			})
			expectReasons(t, err, c.want)
			setFaults(t, db)
			for _, table := range []string{"Payments", "Fixed"} {
				if d, err := db.DescribeTable(t.Context(), table); err != nil || d.ItemCount != 0 {
					t.Errorf("%s holds %d items: %v", table, d.ItemCount, err)
				}
			}
		})
	}
}

func expectReasons(t *testing.T, err error, want []dynamo.CancellationCode) {
	t.Helper()
	var got []dynamo.CancellationCode
	for _, r := range dynamo.Reasons(err) {
		got = append(got, r.Code)
		if (r.Code == "None") != (r.Message == "") {
			t.Errorf("reason %s says %q", r.Code, r.Message)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
}

func TestAConflictDoesNotHideConditionsThatFailBesideIt(t *testing.T) {
	db := withFaults(t, "conflict,table=Fixed")
	in := threeActions()
	in.Items[2].Put.ConditionExpression = "attribute_exists(PK)"
	_, err := db.TransactWrite(t.Context(), in)
	expectReasons(t, err, []dynamo.CancellationCode{
		"None", "TransactionConflict", "ConditionalCheckFailed"})
	if dynamo.Retryable(err) {
		t.Error("a failed condition is said to be retryable")
	}
}

func TestConflictsVisitEveryActionOfATransaction(t *testing.T) {
	db := withFaults(t, "conflict")
	var met [3]int
	for range 60 {
		_, err := db.TransactWrite(t.Context(), threeActions())
		for i, r := range dynamo.Reasons(err) {
			if r.Code == dynamo.ReasonTransactionConflict {
				met[i]++
			}
		}
	}
	if met[0] == 0 || met[1] == 0 || met[2] == 0 || met[0]+met[1]+met[2] != 60 {
		t.Error("conflicts by action:", met)
	}
}

func TestSingleWritesMeetConflictsAndReadsDoNot(t *testing.T) {
	db := withFaults(t, "conflict")
	for name, call := range faultCalls(db, "Payments") {
		err := call(t.Context())
		switch name {
		case "PutItem", "UpdateItem", "DeleteItem":
			if !errors.Is(err, dynamo.ErrTransactionConflict) {
				t.Errorf("%s: %v", name, err)
			}
		case "TransactGetItems", "TransactWriteItems":
			expectReasons(t, err, []dynamo.CancellationCode{"TransactionConflict"})
		default:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestUnprocessedKeysComeBackWithTheirSettings(t *testing.T) {
	db := withFaults(t, "unprocessed")
	in := &dynamo.BatchGetInput{RequestItems: map[string]dynamo.KeysAndAttributes{}}
	for _, table := range []string{"Payments", "Fixed"} {
		asked := dynamo.KeysAndAttributes{
			ConsistentRead: table == "Fixed", ProjectionExpression: "#p",
			ExpressionAttributeNames: map[string]string{"#p": "PK"},
		}
		for i := range 4 {
			asked.Keys = append(asked.Keys, key(table, fmt.Sprint(i)))
			if _, err := db.Put(t.Context(), &dynamo.PutInput{
				TableName: table, Item: key(table, fmt.Sprint(i)),
			}); err != nil {
				t.Fatal(err)
			}
		}
		in.RequestItems[table] = asked
	}
	whole := in.RequestItems
	for left := 8; left > 0; left-- {
		out, err := db.BatchGet(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got, rest := 0, 0
		for _, items := range out.Responses {
			got += len(items)
		}
		for table, keys := range out.UnprocessedKeys {
			rest += len(keys.Keys)
			keys.Keys = whole[table].Keys
			if diff := cmp.Diff(whole[table], keys, cmp.Comparer(dynamo.Value.Equal)); diff != "" {
				t.Errorf("%s: %s", table, diff)
			}
		}
		if got != 1 || rest != left-1 {
			t.Fatalf("of %d keys %d were read and %d left", left, got, rest)
		}
		in = &dynamo.BatchGetInput{RequestItems: out.UnprocessedKeys}
	}
}

func TestUnprocessedWritesAreNotDone(t *testing.T) {
	db := withFaults(t, "unprocessed,table=Payments,rate=0.5")
	var writes []dynamo.WriteRequest
	for i := range 25 {
		writes = append(writes, dynamo.WriteRequest{Put: key("A", fmt.Sprint(i))})
	}
	out, err := db.BatchWrite(t.Context(), &dynamo.BatchWriteInput{
		RequestItems: map[string][]dynamo.WriteRequest{"Payments": writes},
	})
	if err != nil {
		t.Fatal(err)
	}
	left := out.UnprocessedItems["Payments"]
	d, err := db.DescribeTable(t.Context(), "Payments")
	if err != nil || len(left) == 0 || len(left) >= 25 || int(d.ItemCount) != 25-len(left) {
		t.Fatalf("%d left, %d written, %v", len(left), d.ItemCount, err)
	}
	for _, w := range left {
		got, err := db.Get(t.Context(), &dynamo.GetInput{TableName: "Payments", Key: w.Put})
		if err != nil || got.Item != nil {
			t.Errorf("%v was left unprocessed and is there: %v", w.Put, err)
		}
	}
}

func TestAWholeBatchIsLeftOnlyWhenAskedFor(t *testing.T) {
	db := withFaults(t, "unprocessed,all")
	in := &dynamo.BatchWriteInput{RequestItems: map[string][]dynamo.WriteRequest{
		"Payments": {{Put: key("A", "1")}, {Put: key("A", "2")}},
		"Fixed":    {{Delete: key("A", "3")}},
	}}
	out, err := db.BatchWrite(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.RequestItems, out.UnprocessedItems,
		cmp.Comparer(dynamo.Value.Equal)); diff != "" {
		t.Error(diff)
	}
}

func TestABatchThatIsThrottledInPartIsDoneInPart(t *testing.T) {
	db := withFaults(t, "throttle,table=Fixed")
	out, err := db.BatchWrite(t.Context(), &dynamo.BatchWriteInput{
		RequestItems: map[string][]dynamo.WriteRequest{
			"Payments": {{Put: key("A", "1")}},
			"Fixed":    {{Put: key("A", "2")}, {Put: key("A", "3")}},
		},
	})
	if err != nil || len(out.UnprocessedItems) != 1 || len(out.UnprocessedItems["Fixed"]) != 2 {
		t.Fatal(out, err)
	}
}

func TestPagesEndEarlyAndGoOnWithoutLoss(t *testing.T) {
	db := withFaults(t, "early-page,items=2")
	const items = 20
	for i := range items {
		item := key("A", fmt.Sprintf("%02d", i))
		item["GSI1PK"], item["GSI1SK"] = dynamo.S("G"), dynamo.S("same")
		item["N"] = dynamo.Int(int64(i))
		if _, err := db.Put(t.Context(), &dynamo.PutInput{
			TableName: "Payments", Item: item,
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, index, where string
		backward           bool
	}{
		{"the table", "", "PK = :p", false},
		{"the table backwards", "", "PK = :p", true},
		{"ties of an index", "GSI1", "GSI1PK = :p", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &dynamo.QueryInput{
				TableName: "Payments", IndexName: c.index, KeyConditionExpression: c.where,
				ScanIndexBackward: c.backward, FilterExpression: "N >= :n",
				Expressions: values(dynamo.Item{":p": dynamo.S("A"), ":n": dynamo.Int(10)}),
			}
			if c.index != "" {
				in.ExpressionAttributeValues[":p"] = dynamo.S("G")
			}
			var got []string
			pages, empty, scanned := 0, 0, 0
			for more := true; more; more = in.ExclusiveStartKey != nil {
				out, err := db.Query(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if out.ScannedCount > 2 {
					t.Errorf("a page evaluated %d items", out.ScannedCount)
				}
				if len(out.Items) == 0 {
					empty++
				}
				pages, scanned = pages+1, scanned+out.ScannedCount
				for _, item := range out.Items {
					got = append(got, item["SK"].S())
				}
				in.ExclusiveStartKey = out.LastEvaluatedKey
			}
			if c.backward {
				slices.Reverse(got)
			}
			if scanned != items || len(got) != 10 || got[0] != "10" || !slices.IsSorted(got) {
				t.Errorf("%d evaluated, got %v", scanned, got)
			}
			if pages < 10 || empty == 0 {
				t.Errorf("%d pages, %d of them empty", pages, empty)
			}
		})
	}
}

func TestLatencyIsDrawnFromItsRangeAndEndsWithTheContext(t *testing.T) {
	db := withFaults(t)
	f, err := engine.ParseFaults("latency,table=Payments,delay=10ms..20ms")
	if err != nil {
		t.Fatal(err)
	}
	var slept []time.Duration
	f.Sleep = func(ctx context.Context, d time.Duration) error {
		slept = append(slept, d)
		return ctx.Err()
	}
	if err := db.SetFaults(f); err != nil {
		t.Fatal(err)
	}
	calls := faultCalls(db, "Payments")
	for name, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := faultCalls(db, "Fixed")["PutItem"](t.Context()); err != nil {
		t.Error(err)
	}
	if len(slept) != len(calls) || slices.Min(slept) < 10*time.Millisecond ||
		slices.Max(slept) > 20*time.Millisecond || slices.Min(slept) == slices.Max(slept) {
		t.Error("slept", slept)
	}
	setFaults(t, db, "latency,delay=1h")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for name, call := range calls {
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWriteWhoseAnswerIsLostIsThere(t *testing.T) {
	db := withFaults(t, "lost-answer,times=1,op=TransactWriteItems", "lost-answer,op=PutItem")
	if err := faultCalls(db, "Payments")["PutItem"](t.Context()); !errors.Is(err,
		dynamo.ErrInternalServerError) {
		t.Fatal(err)
	}
	tx := threeActions()
	tx.ClientRequestToken = "again"
	if _, err := db.TransactWrite(t.Context(), tx); !errors.Is(err,
		dynamo.ErrInternalServerError) {
		t.Fatal(err)
	}
	if _, err := db.TransactWrite(t.Context(), tx); err != nil {
		t.Error("the repeat with the token:", err)
	}
	for _, sk := range []string{"1", "3"} {
		out, err := db.Get(t.Context(), &dynamo.GetInput{TableName: "Payments", Key: key("A", sk)})
		if err != nil || out.Item == nil {
			t.Errorf("item %s: %v, %v", sk, out, err)
		}
	}
}

func TestRulesMeetWhatTheyAreAbout(t *testing.T) {
	for _, c := range []struct{ rule, met string }{
		{"throttle,op=Query", "Query Query ByAmount Query GSI1"},
		{"throttle,index=ByAmount", ""}, // its capacity is the table's
		{"throttle,index=GSI1,op=Query", "Query GSI1"},
		{"throttle,table=Other", ""},
		{"throttle,op=PutItem,table=Payments", "PutItem"},
		{"lost-answer", "BatchWriteItem DeleteItem PutItem TransactWriteItems UpdateItem"},
		{"conflict,op=UpdateItem; throttle,op=Scan", "Scan UpdateItem"},
	} {
		db := withFaults(t, c.rule)
		var met []string
		for name, call := range faultCalls(db, "Payments") {
			if call(t.Context()) != nil {
				met = append(met, name)
			}
		}
		slices.Sort(met)
		if got := strings.Join(met, " "); got != c.met {
			t.Errorf("%s meets %q, want %q", c.rule, got, c.met)
		}
	}
}

func TestEveryNthCallIsMetAndTimesEndARule(t *testing.T) {
	db := withFaults(t, "throttle,op=GetItem,every=3,times=2")
	get := faultCalls(db, "Payments")["GetItem"]
	var met []int
	for i := range 12 {
		if get(t.Context()) != nil {
			met = append(met, i+1)
		}
	}
	if !slices.Equal(met, []int{3, 6}) {
		t.Error("met", met)
	}
	counts := db.FaultCounts()
	if len(counts) != 1 || counts[0].Asked != 12 || counts[0].Met != 2 {
		t.Errorf("%+v", counts)
	}
	setFaults(t, db)
	if db.FaultCounts() != nil {
		t.Error("without faults there are counts")
	}
	for range 20 {
		if err := get(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInvalidCallsAreRefusedForWhatIsWrongWithThem(t *testing.T) {
	db := withFaults(t, "throttle; conflict")
	if err := faultCalls(db, "None")["PutItem"](t.Context()); !errors.Is(err,
		dynamo.ErrResourceNotFound) {
		t.Error(err)
	}
	if _, err := db.Put(t.Context(), &dynamo.PutInput{TableName: "Payments"}); !errors.Is(err,
		dynamo.ErrValidation) {
		t.Error(err)
	}
}

func TestTheSameSeedMeetsTheSameCalls(t *testing.T) {
	run := func(seed uint64) (trace []string) {
		db := withFaults(t)
		f := everyFault(seed)
		if err := db.SetFaults(f); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			call := faultCalls(db, []string{"Payments", "Fixed"}[i%2])
			for _, name := range slices.Sorted(maps.Keys(call)) {
				trace = append(trace, fmt.Sprint(name, call[name](t.Context())))
			}
			out, err := db.BatchGet(t.Context(), &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{
					"Payments": {Keys: []dynamo.Key{key("A", "1"), key("A", "2"), key("A", "3")}},
					"Fixed":    {Keys: []dynamo.Key{key("A", "1"), key("A", "2"), key("A", "3")}},
				},
			})
			if err == nil {
				trace = append(trace, fmt.Sprint(out.UnprocessedKeys))
			}
		}
		return trace
	}
	first := run(7)
	if diff := cmp.Diff(first, run(7)); diff != "" {
		t.Error("two runs differ:", diff)
	}
	if slices.Equal(first, run(8)) {
		t.Error("another seed makes no difference")
	}
}

func TestStatementsMeetTheFaultsOfWhatTheyStandFor(t *testing.T) {
	db := withFaults(t)
	ctx, statements := t.Context(), partiql.New(db)
	insert := func(sk int64) error {
		_, err := statements.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
			Statement:  `INSERT INTO "Payments" VALUE {'PK': 'A', 'SK': ?}`,
			Parameters: []dynamo.Value{dynamo.S(fmt.Sprint(sk))},
		})
		return err
	}
	for i := range int64(5) {
		if err := insert(i); err != nil {
			t.Fatal(err)
		}
	}
	setFaults(t, db, "throttle,op=PutItem; early-page,op=Query,items=1; conflict,op=UpdateItem")
	if err := insert(9); !errors.Is(err, dynamo.ErrThrottling) {
		t.Error("INSERT:", err)
	}
	if _, err := statements.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
		Statement: `UPDATE "Payments" SET N = 1 WHERE PK = 'A' AND SK = '1'`,
	}); !errors.Is(err, dynamo.ErrTransactionConflict) {
		t.Error("UPDATE:", err)
	}
	in := &dynamo.ExecuteStatementInput{Statement: `SELECT * FROM "Payments" WHERE PK = 'A'`}
	pages, items := 0, 0
	for more := true; more; more = in.NextToken != "" {
		out, err := statements.ExecuteStatement(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		pages, items = pages+1, items+len(out.Items)
		in.NextToken = out.NextToken
	}
	if pages < 5 || items != 5 {
		t.Errorf("SELECT took %d pages for %d items", pages, items)
	}
}
