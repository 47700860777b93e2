package singletable_test

import (
	"context"
	"os"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/dynamotest"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// endpointEnv is the address of a store that the tests of this package run on, instead of the
// embedded one, to show that the kit is not tied to it. Its indexes must follow at once.
const endpointEnv = "EXCHEQUER_DYNAMODB_ENDPOINT"

// database is what tests open.
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
func openDatabase(opts engine.Options) (database, error) {
	endpoint := os.Getenv(endpointEnv)
	if endpoint == "" {
		return engine.OpenMemory(opts)
	}
	db, err := awssdk.Open(context.Background(), awssdk.Options{Endpoint: endpoint})
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
