// Package endpoint serves the embedded engine, and nothing else, by the DynamoDB protocol: a local
// DynamoDB for programs and tests that use any AWS SDK.
package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// DrainTimeout is the maximum time that Serve waits for requests in progress after it was asked to
// stop.
const DrainTimeout = 10 * time.Second

// Options of an [Endpoint]. Either DataDir or Memory is required.
type Options struct {
	// DataDir is the directory of the database, which is made if it is missing.
	DataDir string
	// Memory keeps everything in memory instead, and loses it on Close.
	Memory bool
	// Open lets other machines in although anyone may call.
	Open bool
	// Engine and Wire are the options of what is put together here. A logger that they lack is
	// Logger.
	Engine engine.Options
	Wire   wire.Options
	// Definitions are tables that are made before the first request, unless they exist.
	Definitions []Definition
	// Logger receives errors; by default nothing is logged.
	Logger *slog.Logger
}

// Endpoint is a database that is served by a handler.
type Endpoint struct {
	opts    Options
	db      *engine.DB
	handler *wire.Handler
	created []string
}

// Open opens the database and creates the tables of the definitions that are missing.
func Open(ctx context.Context, opts Options) (*Endpoint, error) {
	if (opts.DataDir == "") == !opts.Memory {
		return nil, errors.New("give either a data directory or Memory")
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Engine.Logger == nil {
		opts.Engine.Logger = opts.Logger
	}
	if opts.Wire.Logger == nil {
		opts.Wire.Logger = opts.Logger
	}
	var db *engine.DB
	var err error
	if opts.Memory {
		db, err = engine.OpenMemory(opts.Engine)
	} else {
		db, err = engine.Open(opts.DataDir, opts.Engine)
	}
	if err != nil {
		return nil, err
	}
	e := &Endpoint{opts: opts, db: db, handler: wire.NewHandler(db, opts.Wire)}
	// Definitions go the way of requests, past what checks who sent them.
	local := &http.Client{Transport: wire.Transport{Handler: wire.NewHandler(db, wire.Options{})}}
	for _, d := range opts.Definitions {
		if err := e.define(ctx, local, d); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return e, nil
}

// DB returns the database, for a program that also uses it directly.
func (e *Endpoint) DB() *engine.DB { return e.db }

// Created names the tables of the definitions that were missing.
func (e *Endpoint) Created() []string { return e.created }

// Handler returns what answers requests.
func (e *Endpoint) Handler() http.Handler { return e.handler }

// Close closes the database. Call it after Serve has returned.
func (e *Endpoint) Close() error { return e.db.Close() }

// ErrOpenAddress refuses to let the network in without signatures.
var ErrOpenAddress = errors.New("this address can be reached from other machines, and anyone may " +
	"call: listen on 127.0.0.1, or give access keys")

// Listen listens on an address. Without authentication it refuses any address that is not of the
// loopback interface, unless the options have Open.
func (e *Endpoint) Listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	tcp, ok := listener.Addr().(*net.TCPAddr)
	if e.opts.Open || len(e.opts.Wire.AccessKeys) > 0 || ok && tcp.IP.IsLoopback() {
		return listener, nil
	}
	return nil, errors.Join(fmt.Errorf("listen on %s: %w", address, ErrOpenAddress),
		listener.Close())
}

// Serve answers requests from a listener until the context ends or the database fails; those in
// progress are then finished. It closes the listener. The error of a database that has failed is a
// [dynamo.StoreFailedError]: the process is to be started again.
func (e *Endpoint) Serve(ctx context.Context, listener net.Listener) error {
	s := wire.NewServer(e.handler)
	s.ErrorLog = slog.NewLogLogger(e.opts.Logger.Handler(), slog.LevelWarn)
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-e.db.Failed():
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), DrainTimeout)
	defer cancel()
	if err := s.Shutdown(limited); err != nil {
		return errors.Join(fmt.Errorf("requests were still in work after %s: %w", DrainTimeout,
			err), s.Close(), e.db.Failure())
	}
	return e.db.Failure()
}

// The targets of requests that define a table.
const (
	targetCreate     = "DynamoDB_20120810.CreateTable"
	targetTimeToLive = "DynamoDB_20120810.UpdateTimeToLive"
)

// define makes a table unless it exists, by the same requests that a client would send.
func (e *Endpoint) define(ctx context.Context, c *http.Client, d Definition) error {
	if _, err := e.db.DescribeTable(ctx, d.TableName); err == nil {
		return nil
	}
	if err := post(ctx, c, targetCreate, d.Create); err != nil {
		return fmt.Errorf("create table %s: %w", d.TableName, err)
	}
	if d.TimeToLive != nil {
		if err := post(ctx, c, targetTimeToLive, d.TimeToLive); err != nil {
			return fmt.Errorf("turn on expiry of table %s: %w", d.TableName, err)
		}
	}
	e.created = append(e.created, d.TableName)
	return nil
}

// post sends a request and returns the service's error, if any.
func post(ctx context.Context, c *http.Client, target string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/",
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", target)
	answer, err := c.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode == http.StatusOK {
		return err
	}
	var said struct{ Message string }
	if err := json.Unmarshal(text, &said); err != nil || said.Message == "" {
		return fmt.Errorf("the answer is %s", answer.Status)
	}
	return errors.New(said.Message)
}
