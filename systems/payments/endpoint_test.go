package payments_test

import (
	"context"
	"os"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/dynamotest"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// endpointEnv is the address of a store that the tests of this package run on, instead of the
// embedded one, to show that the scheduler is not tied to it. Its indexes must follow at once.
const endpointEnv = "EXCHEQUER_DYNAMODB_ENDPOINT"

// database is what tests keep their tables in.
type database interface {
	dynamo.DB
	dynamo.Admin
	// CatchUp lets indexes that follow later catch up.
	CatchUp() error
	// Close ends the use of the database, whose tables are lost.
	Close() error
}

// openDatabase opens the embedded database in memory, or tables apart from all others at the
// endpoint.
func openDatabase(ctx context.Context) (database, error) {
	endpoint := os.Getenv(endpointEnv)
	if endpoint == "" {
		return engine.OpenMemory(engine.Options{Faults: faultsOfTests()})
	}
	db, err := awssdk.Open(ctx, awssdk.Options{Endpoint: endpoint})
	if err != nil {
		return nil, err
	}
	return remote{dynamotest.NewApart(db), db}, nil
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

// strictEnv makes the tests of this package run on a store with the faults of [engine.Strict].
const strictEnv = "EXCHEQUER_STRICT"

// faultsOfTests are the faults of the stores that tests open.
func faultsOfTests() engine.Faults {
	if os.Getenv(strictEnv) == "" {
		return engine.Faults{}
	}
	return engine.Strict()
}

// setFaults changes the faults of the embedded database. There is no other that has any, so without
// it a test that needs some is skipped.
func (b *bank) setFaults(f engine.Faults) {
	b.t.Helper()
	embedded, ok := b.db.(*engine.DB)
	if !ok {
		b.t.Skip("faults are injected by the embedded database")
	}
	if err := embedded.SetFaults(f); err != nil {
		b.t.Fatal(err)
	}
}
