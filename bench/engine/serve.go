package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
	"github.com/exchequer-dev/exchequer/server/endpoint"
)

// serve is this program as a server, for a measurement by another process of it. args are the port
// and the directory.
func serve(role string, args []string) error {
	if len(args) != 2 {
		return errors.New("a server needs a port and a directory")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	address := net.JoinHostPort("127.0.0.1", args[0])
	if role == roleIdle {
		s := wire.NewServer(wire.NewHandler(idle{}, wire.Options{}))
		s.Addr = address
		context.AfterFunc(ctx, func() { _ = s.Close() })
		return s.ListenAndServe()
	}
	opts := endpoint.Options{Memory: role != roleDisk}
	if role == roleDisk {
		opts.DataDir = args[1]
	}
	e, err := endpoint.Open(ctx, opts)
	if err != nil {
		return err
	}
	listener, err := e.Listen(ctx, address)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	return errors.Join(e.Serve(ctx, listener), e.Close())
}

// idle is a store that answers at once.
type idle struct{ dynamo.DB }

var page = func() []dynamo.Item {
	items := make([]dynamo.Item, queryRows)
	for i := range items {
		items[i] = dynamo.Item{
			"pk": dynamo.S("page"), "sk": dynamo.S("row-000000"), "n": dynamo.Int(int64(i)),
			"data": dynamo.S(letters + letters + letters),
		}
	}
	return items
}()

func (idle) Put(context.Context, *dynamo.PutInput) (*dynamo.PutOutput, error) {
	return &dynamo.PutOutput{}, nil
}

func (idle) Get(context.Context, *dynamo.GetInput) (*dynamo.GetOutput, error) {
	return &dynamo.GetOutput{Item: page[0]}, nil
}

func (idle) Query(context.Context, *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	return &dynamo.QueryOutput{Items: page, Count: queryRows, ScannedCount: queryRows}, nil
}

func (idle) Update(context.Context, *dynamo.UpdateInput) (*dynamo.UpdateOutput, error) {
	return &dynamo.UpdateOutput{}, nil
}

func (idle) BatchWrite(context.Context, *dynamo.BatchWriteInput) (*dynamo.BatchWriteOutput, error) {
	return &dynamo.BatchWriteOutput{}, nil
}

func (idle) TransactWrite(context.Context, *dynamo.TransactWriteInput) (
	*dynamo.TransactWriteOutput, error,
) {
	return &dynamo.TransactWriteOutput{}, nil
}
