// Items measures whether calls of the engine slow down as a table grows: the same reads and writes
// on a table of few and of many small items, in one run on one machine.
//
//	go run ./bench/items                      # 10,000 and 10,000,000 items, some minutes
//	go run ./bench/items -items 10000,1000000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

const (
	table = "Items"
	// partitionItems is how many items share a partition key: what one Query reads.
	partitionItems = 100
	// batchItems is DynamoDB's limit of a BatchWriteItem.
	batchItems = 25
	// loaders is how many batches are written at the same time; they share syncs.
	loaders = 32
)

func main() {
	sizes := flag.String("items", "10000,10000000", "numbers of items, each a multiple of 100")
	calls := flag.Int("calls", 20_000, "how often each call is made")
	dir := flag.String("dir", os.TempDir(), "where the databases are made")
	flag.Parse()
	if err := run(os.Stdout, *sizes, *calls, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "items:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, sizes string, calls int, dir string) error {
	fmt.Fprintf(out, "%12s %12s %14s %14s %14s\n", "items", "loaded in", "get p50", "query p50",
		"put p50")
	for _, text := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < partitionItems || n%partitionItems != 0 || calls < 1 {
			return fmt.Errorf("-items %s: give multiples of %d, and -calls at least 1", text,
				partitionItems)
		}
		if err := measure(out, n, calls, dir); err != nil {
			return err
		}
	}
	return nil
}

// measure loads a table of n items, and prints a line of medians.
func measure(out io.Writer, n, calls int, parent string) (err error) {
	dir, err := os.MkdirTemp(parent, "items")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background()
	started := time.Now()
	if err := load(ctx, db, n); err != nil {
		return err
	}
	loaded := time.Since(started).Round(100 * time.Millisecond)
	get, err := median(calls, func() error { return getOne(ctx, db, rand.IntN(n)) })
	if err != nil {
		return err
	}
	query, err := median(calls, func() error {
		return queryPartition(ctx, db, rand.IntN(n/partitionItems))
	})
	if err != nil {
		return err
	}
	put, err := median(calls/10+1, func() error {
		_, err := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: item(rand.IntN(n))})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%12d %12s %14s %14s %14s\n", n, loaded, get, query, put)
	return nil
}

func load(ctx context.Context, db *engine.DB, n int) error {
	_, err := db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: table, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("PK", "SK"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindS},
			{AttributeName: "SK", AttributeType: dynamo.KindN},
		},
	})
	if err != nil {
		return err
	}
	failed := make(chan error, loaders)
	for loader := range loaders {
		go func() { failed <- loadShare(ctx, db, loader*batchItems, n) }()
	}
	for range loaders {
		err = errors.Join(err, <-failed)
	}
	return err
}

// loadShare writes every batch of one loader.
func loadShare(ctx context.Context, db *engine.DB, from, n int) error {
	for ; from < n; from += loaders * batchItems {
		var batch []dynamo.WriteRequest
		for i := from; i < min(from+batchItems, n); i++ {
			batch = append(batch, dynamo.WriteRequest{Put: item(i)})
		}
		_, err := db.BatchWrite(ctx, &dynamo.BatchWriteInput{
			RequestItems: map[string][]dynamo.WriteRequest{table: batch},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// key spreads neighbouring numbers over partitions of partitionItems each.
func key(i int) dynamo.Key {
	return dynamo.Key{
		"PK": dynamo.S("P#" + strconv.Itoa(i/partitionItems)),
		"SK": dynamo.Int(int64(i % partitionItems)),
	}
}

func item(i int) dynamo.Item {
	it := key(i)
	it["Amount"], it["Currency"] = dynamo.Int(int64(i)), dynamo.S("NZD")
	return it
}

func getOne(ctx context.Context, db *engine.DB, i int) error {
	out, err := db.Get(ctx, &dynamo.GetInput{TableName: table, Key: key(i)})
	if err == nil && out.Item == nil {
		return fmt.Errorf("item %d is missing", i)
	}
	return err
}

func queryPartition(ctx context.Context, db *engine.DB, partition int) error {
	out, err := db.Query(ctx, &dynamo.QueryInput{
		TableName: table, KeyConditionExpression: "PK = :p",
		Expressions: dynamo.Expressions{ExpressionAttributeValues: dynamo.Item{
			":p": dynamo.S("P#" + strconv.Itoa(partition)),
		}},
	})
	if err == nil && out.Count != partitionItems {
		return fmt.Errorf("partition %d has %d items", partition, out.Count)
	}
	return err
}

// median makes a call many times and returns the median of what it took.
func median(calls int, call func() error) (time.Duration, error) {
	took := make([]time.Duration, calls)
	for i := range took {
		started := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		took[i] = time.Since(started)
	}
	slices.Sort(took)
	return took[calls/2].Round(100 * time.Nanosecond), nil
}
