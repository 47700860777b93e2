package server

import (
	"context"
	"fmt"
	"io"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// store is what a server keeps its books in: the embedded database, or DynamoDB.
type store interface {
	dynamo.DB
	dynamo.Admin
	io.Closer
}

func openStore(ctx context.Context, opts Options) (store, error) {
	if opts.DynamoDB != nil {
		db, err := awssdk.Open(ctx, *opts.DynamoDB)
		if err != nil {
			return nil, fmt.Errorf("open DynamoDB: %w", err)
		}
		return db, nil
	}
	o := engine.Options{Now: opts.Now, Logger: opts.Logger}
	if opts.Memory {
		return engine.OpenMemory(o)
	}
	return engine.Open(opts.DataDir, o)
}
