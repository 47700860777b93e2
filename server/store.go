package server

import (
	"context"
	"fmt"
	"io"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// Store is a store that a server keeps its books in.
type Store interface {
	dynamo.DB
	dynamo.Admin
}

// store is a store that the server opened: the embedded database, or DynamoDB.
type store interface {
	dynamo.DB
	dynamo.Admin
	io.Closer
}

func openStore(ctx context.Context, opts Options) (store, error) {
	if opts.Store != nil {
		return keptOpen{opts.Store}, nil
	}
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

// stopping is a store that stops when its disk fails.
type stopping interface {
	Failed() <-chan struct{}
	Failure() error
}

// stoppingStore returns the store if it can stop, nil otherwise.
func (s *Server) stoppingStore() stopping {
	if kept, ok := s.db.(keptOpen); ok {
		db, _ := kept.Store.(stopping)
		return db
	}
	db, _ := s.db.(stopping)
	return db
}

// storeFailed returns a channel that is closed when the store has failed; it may be nil.
func (s *Server) storeFailed() <-chan struct{} {
	if db := s.stoppingStore(); db != nil {
		return db.Failed()
	}
	return nil
}

// storeFailure returns why the store has failed, nil while it works.
func (s *Server) storeFailure() error {
	if db := s.stoppingStore(); db != nil {
		return db.Failure()
	}
	return nil
}

// keptOpen is a store of the caller's, who closes it.
type keptOpen struct{ Store }

// Close does nothing.
func (keptOpen) Close() error { return nil }
