package partiql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
)

// openPots opens a database with pots that hold a hundred each.
func openPots(t *testing.T, opts engine.Options, pots int) *engine.DB {
	t.Helper()
	db, err := engine.OpenMemory(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ctx := context.Background()
	if _, err := db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: "pots", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashKey("id"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindS},
		},
	}); err != nil {
		t.Fatal(err)
	}
	for i := range pots {
		run(t, db, fmt.Sprintf("INSERT INTO pots VALUE {'id': 'pot%d', 'held': 100}", i))
	}
	return db
}

func run(t *testing.T, db *engine.DB, text string, parameters ...dynamo.Value) []dynamo.Item {
	t.Helper()
	out, err := partiql.New(db).
		ExecuteStatement(context.Background(), &dynamo.ExecuteStatementInput{
			Statement: text, Parameters: parameters, ConsistentRead: true,
		})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out.Items
}

// Whatever transactions of statements run beside each other, each moves all or nothing, and a
// transaction of reads never sees half of one.
func TestTransactionsOfStatementsAreAtomic(t *testing.T) {
	const pots, workers = 3, 4
	db := openPots(t, engine.Options{}, pots)
	ctx := context.Background()
	move := func(from, to, amount int) error {
		_, err := partiql.New(db).ExecuteTransaction(ctx, &dynamo.ExecuteTransactionInput{
			TransactStatements: []dynamo.ParameterizedStatement{{
				Statement:  "UPDATE pots SET held = held - ? WHERE id = ? AND held >= ?",
				Parameters: []dynamo.Value{amountOf(amount), potOf(from), amountOf(amount)},
			}, {
				Statement:  "UPDATE pots SET held = held + ? WHERE id = ?",
				Parameters: []dynamo.Value{amountOf(amount), potOf(to)},
			}, {
				Statement:  "EXISTS(SELECT * FROM pots WHERE id = ? AND held >= 0)",
				Parameters: []dynamo.Value{potOf(3 - from - to)},
			}},
		})
		return err
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds(t, 100) {
				from := (i + w) % pots
				err := move(from, (from+1+i%2)%pots, (i*7+w)%90)
				if err != nil && !errors.Is(err, dynamo.ErrTransactionCanceled) {
					t.Error(err)
				}
				checkPots(ctx, t, db, pots)
			}
		})
	}
	wg.Wait()
	if err := move(0, 1, 301); !errors.Is(err, dynamo.ErrTransactionCanceled) {
		t.Errorf("more was taken than there is: %v", err)
	}
	checkPots(ctx, t, db, pots)
}

func potOf(i int) dynamo.Value { return dynamo.S(fmt.Sprintf("pot%d", i)) }

func amountOf(n int) dynamo.Value { return dynamo.Int(int64(n)) }

// checkPots reads all pots at one moment, when they hold what they held in the beginning.
func checkPots(ctx context.Context, t *testing.T, db *engine.DB, pots int) {
	in := &dynamo.ExecuteTransactionInput{}
	for i := range pots {
		in.TransactStatements = append(in.TransactStatements, dynamo.ParameterizedStatement{
			Statement: "SELECT held FROM pots WHERE id = ?", Parameters: []dynamo.Value{potOf(i)},
		})
	}
	out, err := partiql.New(db).ExecuteTransaction(ctx, in)
	if err != nil {
		t.Error(err)
		return
	}
	total := "0"
	for _, item := range out.Items {
		if total, err = dynamo.AddNumbers(total, item["held"].N()); err != nil {
			t.Error(err)
		}
	}
	if want := fmt.Sprint(100 * pots); total != want {
		t.Errorf("the pots hold %s, not %s", total, want)
	}
}

// Two calls with one token at once, and many after them, move once.
func TestTransactionsOfStatementsHappenOnceForAToken(t *testing.T) {
	db := openPots(t, engine.Options{}, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := partiql.New(db).
				ExecuteTransaction(context.Background(), &dynamo.ExecuteTransactionInput{
					ClientRequestToken: "the same",
					TransactStatements: []dynamo.ParameterizedStatement{
						{Statement: "UPDATE pots SET held = held + 1 WHERE id = 'pot0'"},
					},
				})
			if err != nil && !errors.Is(err, dynamo.ErrTransactionInProgress) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if held := run(t, db, "SELECT held FROM pots")[0]["held"].N(); held != "101" {
		t.Errorf("the pot holds %s", held)
	}
}

// A page of a SELECT ends at 1 MB of what it evaluated, over all its ranges together.
func TestSelectEndsPagesByTheirSize(t *testing.T) {
	db := openPots(t, engine.Options{}, 0)
	var ids []string
	for i := range 8 {
		id := fmt.Sprintf("pot%d", i)
		ids = append(ids, "'"+id+"'")
		run(t, db, "INSERT INTO pots VALUE {'id': ?, 'filler': ?}", dynamo.S(id),
			dynamo.S(strings.Repeat("x", 300_000)))
	}
	for name, text := range map[string]string{
		"scan":   "SELECT id FROM pots WHERE attribute_exists(id)",
		"ranges": "SELECT id FROM pots WHERE id IN [" + strings.Join(ids, ", ") + "]",
	} {
		t.Run(name, func(t *testing.T) {
			in := &dynamo.ExecuteStatementInput{
				Statement: text, ReturnConsumedCapacity: dynamo.CapacityTotal,
			}
			found, pages := 0, 0
			for {
				out, err := partiql.New(db).ExecuteStatement(context.Background(), in)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(out.Items); n > 4 { // the fourth passes 1 MB
					t.Fatalf("%d items of 300 kB on a page", n)
				}
				if out.ConsumedCapacity.CapacityUnits > 4*300_100/8192+4 {
					t.Fatalf("a page cost %v", out.ConsumedCapacity.CapacityUnits)
				}
				found, pages = found+len(out.Items), pages+1
				if in.NextToken = out.NextToken; in.NextToken == "" {
					break
				}
			}
			if found != 8 || pages < 2 {
				t.Fatalf("%d items on %d pages", found, pages)
			}
		})
	}
}

// plainStore hides everything of a store that statements do not need.
type plainStore struct{ partiql.Store }

// A page of several ranges can end within the second one. The next page continues there.
func TestSelectEndsAPageWithinARange(t *testing.T) {
	db := openPots(t, engine.Options{}, 0)
	ctx := context.Background()
	if _, err := db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: "shelves", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("shelf", "place"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "shelf", AttributeType: dynamo.KindS},
			{AttributeName: "place", AttributeType: dynamo.KindN},
		},
	}); err != nil {
		t.Fatal(err)
	}
	statements := partiql.New(plainStore{db})
	for shelf := range 3 {
		for place := range 5 {
			if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "shelves", Item: dynamo.Item{
				"shelf": potOf(shelf), "place": amountOf(place),
				"filler": dynamo.S(strings.Repeat("x", 150_000)),
			}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		where string
		want  string // shelf and place of each item, in order
	}{
		"partitions": {
			"shelf IN ['pot0', 'pot1', 'pot2']",
			"pot0/0 pot0/1 pot0/2 pot0/3 pot0/4 pot1/0 pot1/1 pot1/2 pot1/3 pot1/4 " +
				"pot2/0 pot2/1 pot2/2 pot2/3 pot2/4",
		},
		"a union of ranges": {
			"shelf = 'pot0' AND place > 1 AND NOT place = 3 OR " +
				"shelf = 'pot0' AND place BETWEEN 0 AND 2 AND NOT place = 0",
			"pot0/1 pot0/2 pot0/4",
		},
		"a union with two ends": {
			"shelf = 'pot1' AND place BETWEEN 0 AND 2 AND NOT place = 1 OR " +
				"shelf = 'pot1' AND place BETWEEN 2 AND 3 AND NOT place = 9",
			"pot1/0 pot1/2 pot1/3",
		},
		"places of several shelves": {
			"shelf IN ['pot2', 'pot0'] AND place IN [4, 0, 4]", "pot2/0 pot2/4 pot0/0 pot0/4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := &dynamo.ExecuteStatementInput{
				Statement: "SELECT * FROM shelves WHERE " + test.where,
			}
			var got []string
			for pages := 0; pages == 0 || in.NextToken != ""; pages++ {
				out, err := statements.ExecuteStatement(ctx, in)
				if err != nil {
					t.Fatal(err)
				}
				if len(out.Items) > 7 { // the seventh passes 1 MB
					t.Fatalf("%d items of 150 kB on a page", len(out.Items))
				}
				for _, item := range out.Items {
					got = append(got, item["shelf"].S()+"/"+item["place"].N())
				}
				in.NextToken = out.NextToken
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("\nwant %s\n got %s", test.want, s)
			}
		})
	}
}

// Statements meet the faults of the operations that they stand for.
func TestStatementsMeetTheFaultsOfTheirOperations(t *testing.T) {
	for _, test := range []struct {
		name, text string
		fault      engine.Fault
		want       error
	}{
		{
			"a throttled query", "SELECT * FROM pots WHERE id = 'pot1'",
			engine.Fault{Kind: engine.FaultThrottle, Operation: "Query"}, dynamo.ErrThrottling,
		},
		{
			"a throttled scan", "SELECT * FROM pots",
			engine.Fault{Kind: engine.FaultThrottle, Operation: "Scan"}, dynamo.ErrThrottling,
		},
		{
			"a conflict of an update", "UPDATE pots SET a = 1 WHERE id = 'pot1'",
			engine.Fault{Kind: engine.FaultConflict, Operation: "UpdateItem"},
			dynamo.ErrTransactionConflict,
		},
		{
			"a lost answer of a put", "INSERT INTO pots VALUE {'id': 'lost'}",
			engine.Fault{Kind: engine.FaultLostAnswer, Operation: "PutItem"},
			dynamo.ErrInternalServerError,
		},
		{
			"a fault of another operation", "DELETE FROM pots WHERE id = 'pot1'",
			engine.Fault{Kind: engine.FaultConflict, Operation: "PutItem"}, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := openPots(t, engine.Options{}, 2)
			if test.fault.Kind == engine.FaultThrottle {
				test.fault.Code = dynamo.CodeThrottling
			}
			faults := engine.Faults{Rules: []engine.Fault{test.fault}}
			if err := db.SetFaults(faults); err != nil {
				t.Fatal(err)
			}
			_, err := partiql.New(db).ExecuteStatement(context.Background(),
				&dynamo.ExecuteStatementInput{Statement: test.text})
			if !errors.Is(err, test.want) {
				t.Errorf("%v, not %v", err, test.want)
			}
		})
	}
}

// Pages that end early leave out nothing and repeat nothing.
func TestSelectGoesOnAfterPagesThatEndEarly(t *testing.T) {
	faults := engine.Faults{Seed: 1, Rules: []engine.Fault{{Kind: engine.FaultEarlyPage, Items: 2}}}
	db := openPots(t, engine.Options{}, 7)
	if err := db.SetFaults(faults); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT * FROM pots",
		"SELECT * FROM pots WHERE id IN ['pot0','pot1','pot2','pot3','pot4','pot5','pot6','pot7']",
	} {
		items, err := selectAll(context.Background(), db, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, item := range items {
			seen[item["id"].S()] = true
		}
		if len(items) != 7 || len(seen) != 7 {
			t.Errorf("%s: %d items, %d of them different", text, len(items), len(seen))
		}
	}
}

// Statements are made up of anything; the database answers each with an answer or a refusal.
func FuzzExecuteStatement(f *testing.F) {
	for _, seed := range []string{
		"SELECT * FROM pots WHERE id = 'pot1' OR id IN ['pot0', ?]",
		"INSERT INTO pots VALUE {'id': ?, 'l': [1, <<'a'>>, {'b': null}]}",
		"UPDATE pots SET held = held + 1 REMOVE a[0] WHERE id = 'pot1' RETURNING ALL NEW *",
		"DELETE FROM pots WHERE id = 'pot0' AND NOT held IN (1, 2)",
		"SELECT held.a[0] FROM pots WHERE id > 'a' ORDER BY id", "EXISTS(SELECT * FROM pots)",
		"SELECT * FROM pots WHERE " + strings.Repeat("(", 3000),
	} {
		f.Add(seed, "pot1", 2)
	}
	db, err := engine.OpenMemory(engine.Options{SweepInterval: -1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	ctx := context.Background()
	if _, err := db.CreateTable(ctx, saidTable()); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, parameter string, limit int) {
		parameters := make([]dynamo.Value, strings.Count(text, "?"))
		for i := range parameters {
			parameters[i] = dynamo.S(parameter)
		}
		in := &dynamo.ExecuteStatementInput{
			Statement: strings.ReplaceAll(text, "pots", "said"), Parameters: parameters,
			Limit: max(limit, 0), ReturnConsumedCapacity: dynamo.CapacityIndexes,
		}
		out, err := partiql.New(db).ExecuteStatement(ctx, in)
		if err == nil && out.NextToken != "" {
			in.NextToken = out.NextToken
			_, err = partiql.New(db).ExecuteStatement(ctx, in)
		}
		checkAnswered(t, text, err)
		_, err = partiql.New(db).BatchExecuteStatement(ctx, &dynamo.BatchExecuteStatementInput{
			Statements: []dynamo.BatchStatement{
				{Statement: in.Statement, Parameters: parameters},
			},
		})
		checkAnswered(t, text, err)
		_, err = partiql.New(db).ExecuteTransaction(ctx, &dynamo.ExecuteTransactionInput{
			TransactStatements: []dynamo.ParameterizedStatement{
				{Statement: in.Statement, Parameters: parameters},
			},
		})
		checkAnswered(t, text, err)
	})
}

func checkAnswered(t *testing.T, text string, err error) {
	var e *dynamo.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%q: %v", text, err)
	}
}

// rounds returns the number of repetitions of a random test, in proportion to EXCHEQUER_ROUNDS.
func rounds(t testing.TB, usual int) int {
	t.Helper()
	text := os.Getenv("EXCHEQUER_ROUNDS")
	switch n, err := strconv.Atoi(text); {
	case text == "" && testing.Short():
		return max(1, usual/4)
	case text == "":
		return usual
	case err != nil || n < 1:
		t.Fatalf("EXCHEQUER_ROUNDS=%q is not a count", text)
		return 0
	default:
		return max(1, usual*n/100)
	}
}

// Numbers that are written differently are the same key, whose item is returned once.
func TestSelectReadsAKeyOnceHoweverItIsWritten(t *testing.T) {
	db := openPots(t, engine.Options{}, 0)
	ctx := context.Background()
	if _, err := db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: "numbers", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashKey("id"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "id", AttributeType: dynamo.KindN},
		},
	}); err != nil {
		t.Fatal(err)
	}
	run(t, db, "INSERT INTO numbers VALUE {'id': 1}")
	for _, where := range []string{
		"id IN [1, 1.0, 1e0]", "id = 1 OR id = 1.0", "id IN [1, ?]", "id = ? OR id = 1",
	} {
		parameters := []dynamo.Value{dynamo.N("1.00")}[:strings.Count(where, "?")]
		items := run(t, db, "SELECT * FROM numbers WHERE "+where, parameters...)
		if len(items) != 1 {
			t.Errorf("%s: %d items", where, len(items))
		}
	}
	_, err := partiql.New(db).BatchExecuteStatement(ctx, &dynamo.BatchExecuteStatementInput{
		Statements: []dynamo.BatchStatement{
			{Statement: "SELECT * FROM numbers WHERE id = 1"},
			{Statement: "SELECT * FROM numbers WHERE id = 1.0"},
		},
	})
	if !errors.Is(err, dynamo.ErrValidation) {
		t.Errorf("an item was read twice in a batch: %v", err)
	}
}

// The key condition of a union of ranges may hold for more items than the union, which are then
// returned by another range, or not at all.
func TestSelectReturnsOnlyTheUnionOfItsRanges(t *testing.T) {
	db := openPots(t, engine.Options{}, 0)
	ctx := context.Background()
	if _, err := db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: "words", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("lang", "word"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "lang", AttributeType: dynamo.KindS},
			{AttributeName: "word", AttributeType: dynamo.KindS},
		},
	}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"0", "a", "aa", "az", "b", "c"} {
		run(t, db, "INSERT INTO words VALUE {'lang': 'en', 'word': ?}", dynamo.S(word))
	}
	const en = "lang = 'en' AND NOT word = 'x' AND "
	for where, want := range map[string]string{
		en + "begins_with(word, 'a') OR " + en + "word BETWEEN '0' AND 'aa'": "0 a aa az",
		en + "begins_with(word, 'a') OR " + en + "word BETWEEN '0' AND 'aa' OR " + en +
			"word IN ['b', 'c']": "0 a aa az b c",
		en + "word < 'aa' OR " + en + "word BETWEEN '0' AND 'a'": "0 a",
		en + "word > 'a' OR " + en + "begins_with(word, 'az')":   "aa az b c",
		en + "word > 'a' OR " + en + "word < 'az'":               "0 a aa az b c",
	} {
		for _, order := range []string{"", " ORDER BY word DESC"} {
			var got []string
			for _, item := range run(t, db, "SELECT word FROM words WHERE "+where+order) {
				got = append(got, item["word"].S())
			}
			if order != "" {
				slices.Reverse(got)
			}
			if s := strings.Join(got, " "); s != want {
				t.Errorf("%s%s: %s, want %s", where, order, s, want)
			}
		}
	}
}
