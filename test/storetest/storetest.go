// Package storetest opens the store that tests run on: by default the embedded database in memory,
// else the one that the environment selects. Every system and the kit use it, so that one setting
// shows that they depend neither on a store without faults nor on the embedded one.
package storetest

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/dynamotest"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// The environment of tests.
const (
	// endpointEnv is the address of a store to run on instead of the embedded one. Its indexes must
	// follow at once.
	endpointEnv = "EXCHEQUER_DYNAMODB_ENDPOINT"
	// strictEnv enables the faults of [engine.Strict] in the embedded store: pages that end early,
	// batches that are processed in part, conflicts, and indexes that lag.
	strictEnv = "EXCHEQUER_STRICT"
	// roundsEnv multiplies the rounds of tests that draw at random.
	roundsEnv = "EXCHEQUER_ROUNDS"
)

// Database is what tests keep their tables in.
type Database interface {
	dynamo.DB
	dynamo.Admin
	// CatchUp lets indexes that follow later catch up.
	CatchUp() error
	// Close ends the use of the database, whose tables are lost.
	Close() error
}

// Open opens the embedded database in memory, or tables apart from all others at the endpoint. The
// options are those of the embedded one; its faults are those that the environment asks for.
func Open(ctx context.Context, opts engine.Options) (Database, error) {
	if !Remote() {
		opts.Faults = Faults()
		return engine.OpenMemory(opts)
	}
	db, err := awssdk.Open(ctx, awssdk.Options{Endpoint: os.Getenv(endpointEnv)})
	if err != nil {
		return nil, err
	}
	return remote{dynamotest.NewApart(db), db}, nil
}

// OpenFor is Open for the length of a test.
func OpenFor(t testing.TB, opts engine.Options) Database {
	t.Helper()
	db, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// remote is a database at the endpoint.
type remote struct {
	*dynamotest.Apart
	db *awssdk.DB
}

// CatchUp has nothing to do.
func (remote) CatchUp() error { return nil }

// Close deletes the tables.
func (r remote) Close() error {
	if err := r.Drop(context.Background()); err != nil {
		return err
	}
	return r.db.Close()
}

// Remote reports whether tests run on the store at the endpoint.
func Remote() bool { return os.Getenv(endpointEnv) != "" }

// Strict reports whether tests run on a store with faults.
func Strict() bool { return os.Getenv(strictEnv) != "" }

// Faults are those that the environment asks for.
func Faults() engine.Faults {
	if !Strict() {
		return engine.Faults{}
	}
	return engine.Strict()
}

// SetFaults changes the faults of a database. Only the embedded one has any, so on another a test
// that needs some is skipped.
func SetFaults(t testing.TB, db dynamo.DB, f engine.Faults) {
	t.Helper()
	if err := Embedded(t, db).SetFaults(f); err != nil {
		t.Fatal(err)
	}
}

// Embedded returns the embedded database; on another store the test is skipped.
func Embedded(t testing.TB, db dynamo.DB) *engine.DB {
	t.Helper()
	embedded, ok := db.(*engine.DB)
	if !ok {
		t.Skip("the embedded database is needed, and the tests run on another store")
	}
	return embedded
}

// Scenario is a test that holds on a strict store too.
type Scenario = struct {
	Name string
	Run  func(*testing.T)
}

// RunStrict runs scenarios on a store with faults, independent of the environment, so that every
// run of the tests includes some.
func RunStrict(t *testing.T, scenarios ...Scenario) {
	t.Helper()
	if Remote() {
		t.Skip("faults are injected by the embedded database")
	}
	t.Setenv(strictEnv, "1")
	for _, s := range scenarios {
		t.Run(s.Name, s.Run)
	}
}

// The part of the usual rounds in short mode, and in short mode on a store at the endpoint, where
// each call goes over HTTP.
const (
	shortPart  = 3
	remotePart = 6
)

// Rounds returns how many random rounds a test plays: usual times EXCHEQUER_ROUNDS. Short mode
// plays a part of them, because it is for the race detector, for a strict store and for stores of
// others, and a run that is not short plays all rounds.
func Rounds(usual int) int {
	if testing.Short() {
		usual = max(1, usual/part())
	}
	n, err := strconv.Atoi(os.Getenv(roundsEnv))
	if err != nil || n < 1 {
		return usual
	}
	return usual * n
}

// Stride returns the distance between the cases that a test tries, of many that hardly depend on
// the store, such as each call that can stop a job. A run that is not short tries all of them.
func Stride() int {
	if !testing.Short() {
		return 1
	}
	return part()
}

func part() int {
	if Remote() {
		return remotePart
	}
	return shortPart
}

// Clock is a clock that only the test moves. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that shows a time.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Move lets time pass, or turns the clock back.
func (c *Clock) Move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

// Set sets the clock to a time.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// Items returns all items of a table, to the end of its pages.
func Items(
	t interface{ Fatalf(string, ...any) }, db dynamo.DB, table string,
) (items []dynamo.Item) {
	in := &dynamo.ScanInput{TableName: table, ConsistentRead: true}
	for {
		var out *dynamo.ScanOutput
		err := Retry(func() (err error) {
			out, err = db.Scan(context.Background(), in)
			return err
		})
		if err != nil {
			t.Fatalf("scan %s: %v", table, err)
		}
		items = append(items, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return items
		}
	}
}

// retriesMax bounds the attempts of a write that the store refused for the moment.
const retriesMax = 100

// Retry makes a plain call of a test again while the store refuses it for the moment, as a strict
// one does with a conflict.
func Retry(call func() error) error {
	err := call()
	for range retriesMax {
		if !dynamo.Retryable(err) {
			break
		}
		err = call()
	}
	return err
}
