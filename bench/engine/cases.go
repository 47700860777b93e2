package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// How much there is of everything.
const (
	smallSize  = 1 << 10 // of an item, in bytes of text
	largeSize  = 8 << 10
	rowSize    = 200 // about 230 with its key
	partySize  = 350 // of each item of a payment, about 400 with its keys
	getItems   = 10_000
	queryRows  = 100
	counters   = 1_000
	accounts   = 1_000
	partitions = 5 // of the large items' index
)

// The tables.
const (
	tableItems    = "bench-items"    // pk
	tableLarge    = "bench-large"    // pk, sk; index by gpk, sk
	tableRows     = "bench-rows"     // pk, sk
	tablePayments = "bench-payments" // PK, SK; GSI1, GSI2
)

// kase is one kind of call. A caller of its own has its own random numbers.
type kase struct {
	name string
	call func(ctx context.Context, db dynamo.DB, r *rand.Rand) error
}

func cases() []kase {
	return []kase{
		{"PutItem 1 KB", putSmall},
		{"PutItem 8 KB + index", putLarge},
		{"GetItem 1 KB", getSmall},
		{"Query 100 items", queryAll},
		{"UpdateItem ADD", addOne},
		{"payment (6 actions)", pay},
	}
}

func tables() []*dynamo.CreateTableInput {
	key := func(names ...string) (out []dynamo.AttributeDefinition) {
		for _, name := range names {
			out = append(out, dynamo.AttributeDefinition{
				AttributeName: name, AttributeType: dynamo.KindS,
			})
		}
		return out
	}
	index := func(name, hash, sort string) dynamo.GlobalSecondaryIndex {
		return dynamo.GlobalSecondaryIndex{
			IndexName: name, KeySchema: dynamo.HashRangeKey(hash, sort),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
		}
	}
	return []*dynamo.CreateTableInput{
		{
			TableName: tableItems, BillingMode: dynamo.BillingPayPerRequest,
			AttributeDefinitions: key("pk"), KeySchema: dynamo.HashKey("pk"),
		},
		{
			TableName: tableLarge, BillingMode: dynamo.BillingPayPerRequest,
			AttributeDefinitions:   key("pk", "sk", "gpk"),
			KeySchema:              dynamo.HashRangeKey("pk", "sk"),
			GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{index("byGroup", "gpk", "sk")},
		},
		{
			TableName: tableRows, BillingMode: dynamo.BillingPayPerRequest,
			AttributeDefinitions: key("pk", "sk"), KeySchema: dynamo.HashRangeKey("pk", "sk"),
		},
		{
			TableName: tablePayments, BillingMode: dynamo.BillingPayPerRequest,
			AttributeDefinitions: key("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"),
			KeySchema:            dynamo.HashRangeKey("PK", "SK"),
			GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{
				index("GSI1", "GSI1PK", "GSI1SK"), index("GSI2", "GSI2PK", "GSI2SK"),
			},
		},
	}
}

// fill puts into the tables what the reads and updates need.
func fill(ctx context.Context, db dynamo.DB) error {
	r := rand.New(rand.NewPCG(1, 2))
	var batch []dynamo.WriteRequest
	table := tableItems
	flush := func() error {
		for len(batch) > 0 {
			out, err := db.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{table: batch},
			})
			if err != nil {
				return fmt.Errorf("fill %s: %w", table, err)
			}
			batch = out.UnprocessedItems[table]
		}
		return nil
	}
	add := func(to string, item dynamo.Item) error {
		if to != table || len(batch) == batchMax {
			if err := flush(); err != nil {
				return err
			}
		}
		table, batch = to, append(batch, dynamo.WriteRequest{Put: item})
		return nil
	}
	for i := range getItems {
		if err := add(tableItems, dynamo.Item{
			"pk": itemKey(i), "data": text(r, smallSize),
		}); err != nil {
			return err
		}
	}
	for i := range queryRows {
		if err := add(tableRows, dynamo.Item{
			"pk": dynamo.S("page"), "sk": dynamo.S(fmt.Sprintf("row-%06d", i)),
			"n": dynamo.Int(int64(i)), "data": text(r, rowSize),
		}); err != nil {
			return err
		}
	}
	for i := range counters {
		if err := add(tableRows, dynamo.Item{
			"pk": counterKey(i), "sk": dynamo.S("c"), "cnt": dynamo.Int(0),
			"state": dynamo.S("open"),
		}); err != nil {
			return err
		}
	}
	for i := range accounts {
		id := strconv.Itoa(i)
		if err := add(tablePayments, dynamo.Item{
			"PK": dynamo.S("ACCOUNT#" + id), "SK": dynamo.S("METADATA"),
			"GSI1PK": dynamo.S("USER#" + strconv.Itoa(i/3)), "GSI1SK": dynamo.S("ACCOUNT#" + id),
			"Balance": dynamo.N("1000000000"), "Version": dynamo.Int(0), "data": text(r, partySize),
		}); err != nil {
			return err
		}
	}
	return flush()
}

// attemptsMax bounds how often a payment that met another one is tried again: a server that is gone
// must end the run.
const attemptsMax = 1000

// batchMax is how many writes a batch may have.
const batchMax = 25

func itemKey(i int) dynamo.Value    { return dynamo.S("item-" + strconv.Itoa(i)) }
func counterKey(i int) dynamo.Value { return dynamo.S("counter-" + strconv.Itoa(i)) }

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// text returns a text of six bits a byte, which compression cannot make small.
func text(r *rand.Rand, size int) dynamo.Value {
	b := make([]byte, size)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return dynamo.S(string(b))
}

// fresh returns a key that was not used before.
func fresh(r *rand.Rand) string {
	return strconv.FormatUint(r.Uint64(), 36) + strconv.FormatUint(r.Uint64(), 36)
}

func putSmall(ctx context.Context, db dynamo.DB, r *rand.Rand) error {
	_, err := db.Put(ctx, &dynamo.PutInput{TableName: tableItems, Item: dynamo.Item{
		"pk": dynamo.S("new-" + fresh(r)), "data": text(r, smallSize),
	}})
	return err
}

func putLarge(ctx context.Context, db dynamo.DB, r *rand.Rand) error {
	_, err := db.Put(ctx, &dynamo.PutInput{TableName: tableLarge, Item: dynamo.Item{
		"pk": dynamo.S("big-" + fresh(r)), "sk": dynamo.S(fresh(r)),
		"gpk": dynamo.S(strconv.Itoa(r.IntN(partitions))), "data": text(r, largeSize),
	}})
	return err
}

func getSmall(ctx context.Context, db dynamo.DB, r *rand.Rand) error {
	out, err := db.Get(ctx, &dynamo.GetInput{
		TableName: tableItems, Key: dynamo.Key{"pk": itemKey(r.IntN(getItems))},
		ConsistentRead: true,
	})
	if err == nil && out.Item == nil {
		return fmt.Errorf("an item is missing")
	}
	return err
}

func queryAll(ctx context.Context, db dynamo.DB, _ *rand.Rand) error {
	out, err := db.Query(ctx, &dynamo.QueryInput{
		TableName: tableRows, KeyConditionExpression: "pk = :p",
		Expressions: dynamo.Expressions{
			ExpressionAttributeValues: map[string]dynamo.Value{":p": dynamo.S("page")},
		},
	})
	if err == nil && len(out.Items) != queryRows {
		return fmt.Errorf("%d items in place of %d", len(out.Items), queryRows)
	}
	return err
}

func addOne(ctx context.Context, db dynamo.DB, r *rand.Rand) error {
	_, err := db.Update(ctx, &dynamo.UpdateInput{
		TableName:           tableRows,
		Key:                 dynamo.Key{"pk": counterKey(r.IntN(counters)), "sk": dynamo.S("c")},
		UpdateExpression:    "ADD cnt :one",
		ConditionExpression: "attribute_exists(pk) AND cnt >= :zero",
		Expressions: dynamo.Expressions{ExpressionAttributeValues: map[string]dynamo.Value{
			":one": dynamo.Int(1), ":zero": dynamo.Int(0),
		}},
	})
	return err
}

// pay moves one unit: a header and two legs, a guard against repeating it, a debit that the balance
// must cover, and a credit.
func pay(ctx context.Context, db dynamo.DB, r *rand.Rand) error {
	id, key := fresh(r), fresh(r)
	from, to := r.IntN(accounts), r.IntN(accounts-1)
	if to >= from {
		to++
	}
	const absent = "attribute_not_exists(PK)"
	put := func(condition string, item dynamo.Item) dynamo.TransactWriteItem {
		return dynamo.TransactWriteItem{Put: &dynamo.PutInput{
			TableName: tablePayments, Item: item, ConditionExpression: condition,
		}}
	}
	leg := func(account int, kind string) dynamo.Item {
		name := strconv.Itoa(account)
		return dynamo.Item{
			"PK": dynamo.S("TXN#" + id), "SK": dynamo.S("LEG#" + kind),
			"GSI1PK": dynamo.S("ACCOUNT#" + name), "GSI1SK": dynamo.S("LEG#" + key + kind),
			"GSI2PK": dynamo.S("LEGS#" + id), "GSI2SK": dynamo.S(kind),
			"Amount": dynamo.Int(1), "data": text(r, partySize),
		}
	}
	change := func(account int, update, condition string) dynamo.TransactWriteItem {
		return dynamo.TransactWriteItem{Update: &dynamo.UpdateInput{
			TableName: tablePayments,
			Key: dynamo.Key{
				"PK": dynamo.S("ACCOUNT#" + strconv.Itoa(account)), "SK": dynamo.S("METADATA"),
			},
			UpdateExpression: update, ConditionExpression: condition,
			Expressions: dynamo.Expressions{
				ExpressionAttributeValues: map[string]dynamo.Value{":a": dynamo.Int(1)},
			},
		}}
	}
	in := &dynamo.TransactWriteInput{Items: []dynamo.TransactWriteItem{
		put(absent, dynamo.Item{
			"PK": dynamo.S("TXN#" + id), "SK": dynamo.S("METADATA"),
			"GSI1PK": dynamo.S("STATUS#completed"), "GSI1SK": dynamo.S("CREATED#" + key),
			"GSI2PK": dynamo.S("IDEMPOTENCY#" + key), "GSI2SK": dynamo.S("TXN"),
			"Amount": dynamo.Int(1), "data": text(r, partySize),
		}),
		put("", leg(from, "debit")), put("", leg(to, "credit")),
		put(absent, dynamo.Item{
			"PK": dynamo.S("GUARD#" + key), "SK": dynamo.S("METADATA"), "data": text(r, partySize),
		}),
		change(from, "SET Balance = Balance - :a", "Balance >= :a"),
		change(to, "SET Balance = Balance + :a", "attribute_exists(PK)"),
	}}
	var err error
	for range attemptsMax {
		if _, err = db.TransactWrite(ctx, in); err == nil || !dynamo.Retryable(err) {
			return err
		}
	}
	return err
}
