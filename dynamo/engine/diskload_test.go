package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// diskLoad writes until the disk fails, and keeps what each call was answered.
type diskLoad struct {
	db *engine.DB

	mu      sync.Mutex
	acked   map[string]bool // present after the write or not
	refused map[string]bool
	seen    map[string]bool // answered by a read
	wrong   []error
}

const (
	diskWorkers = 4
	diskSteps   = 60 // for each worker
	diskText    = 3 << 10
)

// diskOptions make a small load meet flushes, compactions and new logs.
func diskOptions(d *engine.Disk) engine.Options {
	opts := smallMemory
	opts.Disk = d
	opts.Now = func() time.Time { return time.Unix(1_950_000_000, 0) }
	return opts
}

// run carries out the load until it is through or the database has failed. Every call must return.
func (l *diskLoad) run(ctx context.Context) {
	var workers sync.WaitGroup
	for w := range diskWorkers {
		workers.Go(func() {
			for n := range diskSteps {
				if !l.step(ctx, fmt.Sprintf("%d-%03d", w, n), n) {
					return
				}
			}
		})
	}
	workers.Go(func() { l.administer(ctx) })
	workers.Wait()
}

// step makes an item, or two in a transaction, and reads one.
func (l *diskLoad) step(ctx context.Context, name string, n int) bool {
	item := key(name, "1")
	item["Text"] = dynamo.S(strings.Repeat(name, diskText/len(name)))
	if n%5 == 4 {
		item["Expires"] = dynamo.Int(1_949_999_000)
	}
	var err error
	names := []string{name}
	if n%3 == 0 {
		other := key(name+"+", "1")
		names = append(names, name+"+")
		_, err = l.db.TransactWrite(ctx, &dynamo.TransactWriteInput{
			ClientRequestToken: name,
			Items: []dynamo.TransactWriteItem{
				{Put: &dynamo.PutInput{TableName: loadTable, Item: item}},
				{Put: &dynamo.PutInput{TableName: loadTable, Item: other}},
			},
		})
	} else {
		_, err = l.db.Put(ctx, &dynamo.PutInput{TableName: loadTable, Item: item})
	}
	l.note(names, n%5 == 4, err)
	if err != nil {
		return false
	}
	out, err := l.db.Get(ctx, &dynamo.GetInput{TableName: loadTable, Key: key(name, "1")})
	if err == nil && out.Item != nil && n%5 != 4 {
		l.mu.Lock()
		l.seen[name] = true
		l.mu.Unlock()
	}
	return l.only(err) == nil
}

func (l *diskLoad) note(names []string, expires bool, err error) {
	_ = l.only(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, name := range names {
		switch {
		case err != nil:
			l.refused[name] = true
		case !expires || i > 0:
			l.acked[name] = true
		}
	}
}

// only notes an error that is not the failure of the database.
func (l *diskLoad) only(err error) error {
	var failed *dynamo.StoreFailedError
	if err != nil && !errors.As(err, &failed) {
		l.mu.Lock()
		l.wrong = append(l.wrong, err)
		l.mu.Unlock()
	}
	return err
}

// administer meets the disk in the other ways: a new table with a stream, a new index that is
// filled, expiry, a tag.
func (l *diskLoad) administer(ctx context.Context) {
	for n := 0; n < 8; n++ {
		if _, err := l.db.ExpireNow(ctx); l.only(err) != nil {
			return
		}
		table := fmt.Sprintf("Table%d", n)
		_, err := l.db.CreateTable(ctx, &dynamo.CreateTableInput{
			TableName: table, BillingMode: dynamo.BillingPayPerRequest,
			AttributeDefinitions: []dynamo.AttributeDefinition{
				{AttributeName: "p", AttributeType: dynamo.KindS},
			},
			KeySchema: dynamo.HashKey("p"),
			StreamSpecification: &dynamo.StreamSpecification{
				StreamEnabled: true, StreamViewType: dynamo.ViewNewImage,
			},
		})
		if l.only(err) != nil {
			return
		}
		_, err = l.db.Put(ctx, &dynamo.PutInput{
			TableName: table, Item: dynamo.Item{"p": dynamo.S("1"), "x": dynamo.S("2")},
		})
		if l.only(err) != nil {
			return
		}
		if _, err := l.db.UpdateTable(ctx, newIndex(table, "byX", "x")); l.only(err) != nil {
			return
		}
	}
}

func newIndex(table, name, attribute string) *dynamo.UpdateTableInput {
	return &dynamo.UpdateTableInput{
		TableName: table,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "p", AttributeType: dynamo.KindS},
			{AttributeName: attribute, AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{
			Create: &dynamo.GlobalSecondaryIndex{
				IndexName:  name,
				KeySchema:  dynamo.HashKey(attribute),
				Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
			},
		}},
	}
}

// startDiskLoad opens a database on a disk and begins a load on it.
func startDiskLoad(t *testing.T, d *engine.Disk) *diskLoad {
	t.Helper()
	db, err := engine.Open("data", diskOptions(d))
	if err != nil {
		t.Fatal(err)
	}
	if err := createLoadTable(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return &diskLoad{
		db: db, acked: map[string]bool{}, refused: map[string]bool{}, seen: map[string]bool{},
	}
}

// check opens what the disk has, and returns the first promise that it breaks. With strict nothing
// may be there of a write that was refused.
func (l *diskLoad) check(t *testing.T, d *engine.Disk, strict bool) error {
	if len(l.wrong) > 0 {
		return fmt.Errorf("a call returned another error: %w", l.wrong[0])
	}
	db, err := engine.Open("data", diskOptions(d))
	if err != nil {
		return fmt.Errorf("open it again: %w", err)
	}
	defer func() { _ = db.Close() }()
	there := func(name string) (bool, error) {
		out, err := db.Get(context.Background(), &dynamo.GetInput{
			TableName: loadTable, Key: key(name, "1"), ConsistentRead: true,
		})
		return err == nil && out.Item != nil, err
	}
	for what, names := range map[string]map[string]bool{
		"was acknowledged": l.acked, "was read": l.seen,
	} {
		for name := range names {
			if ok, err := there(name); err != nil || !ok {
				return fmt.Errorf("%s %s and is gone: %v", name, what, err)
			}
		}
	}
	for name := range l.refused {
		ok, err := there(name)
		if err != nil || ok && strict {
			return fmt.Errorf("%s was refused and is there: %v", name, err)
		}
		pair := strings.TrimSuffix(name, "+") + "+"
		if second, err := there(pair); l.refused[pair] && (err != nil || second != ok) {
			return fmt.Errorf("of the refused transaction %s a half is there: %v", name, err)
		}
	}
	waitUntil(t, func() bool { return db.Settled(loadTable) })
	return db.Audit(loadTable)
}

// positions spreads some positions over a number of operations, the first and the last included.
func positions(operations, some int) []int {
	if operations <= some {
		some = operations
	}
	var at []int
	for i := range some {
		at = append(at, 1+i*(operations-1)/max(1, some-1))
	}
	return slices.Compact(at)
}
