// Copy proves and measures what moves a store elsewhere and back: a store of many items is copied
// to an endpoint that speaks the DynamoDB protocol, is interrupted half way and goes on, and is
// copied from there to a third store. The checksums must be equal all along.
//
//	go run ./bench/copy                    # a million items, some minutes
//	go run ./bench/copy -items 100000 -via engine
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/endpoint"
	"github.com/exchequer-dev/exchequer/server/transfer"
)

// The ways to reach the store that is copied to.
const (
	viaEndpoint = "endpoint" // over HTTP, with the AWS SDK
	viaEngine   = "engine"   // in this process
)

func main() {
	items := flag.Int("items", 1_000_000, "how many items are copied")
	segments := flag.Int("segments", transfer.SegmentsDefault, "readers of a table")
	via := flag.String("via", viaEndpoint, "how the other store is reached: endpoint or engine")
	dir := flag.String("dir", os.TempDir(), "where the stores are made")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Stdout, options{*items, *segments, *via, *dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, "copy:", err)
		os.Exit(1)
	}
}

type options struct {
	items, segments int
	via, dir        string
}

// run copies there and back in a new directory, which it removes.
func run(ctx context.Context, out io.Writer, o options) (err error) {
	if o.items < 1 || o.via != viaEndpoint && o.via != viaEngine {
		return errors.New("give -items of at least 1, and -via endpoint or engine")
	}
	dir, err := os.MkdirTemp(o.dir, "exchequer-copy-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintf(out, "%d processors, %s %s/%s, %d items by way of the %s, %d segments\n\n",
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, o.items, o.via,
		o.segments)
	fmt.Fprintf(out, "%-22s %10s %10s %10s\n", "", "items", "seconds", "items/s")
	m := &measure{out: out, options: o, dir: dir}
	return m.thereAndBack(ctx)
}

// measure is one run.
type measure struct {
	options
	out  io.Writer
	dir  string
	peak uint64 // bytes of the heap, the maximum
}

func (m *measure) thereAndBack(ctx context.Context) (err error) {
	here, err := m.open("here")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, here.Close()) }()
	began := time.Now()
	if err := fill(ctx, here, m.items); err != nil {
		return fmt.Errorf("fill the first store: %w", err)
	}
	m.line("fill", m.items, time.Since(began))
	there, closeThere, err := m.openThere(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeThere()) }()
	sum, err := m.there(ctx, here, there)
	if err != nil {
		return fmt.Errorf("there: %w", err)
	}
	back, err := m.open("back")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, back.Close()) }()
	again, _, err := m.copy(ctx, "back", there, back, m.items)
	if err != nil {
		return fmt.Errorf("back: %w", err)
	}
	fmt.Fprintf(m.out, "\nchecksum there %s of %d items\nchecksum back  %s of %d items\n"+
		"greatest heap %d MB\n", sum.Checksum, sum.Items, again.Checksum, again.Items, m.peak>>20)
	if sum.Checksum != again.Checksum || sum.Items != int64(m.items) || again.Items != sum.Items {
		return errors.New("what came back is not what was there")
	}
	return nil
}

// there copies to the other side, in two goes.
func (m *measure) there(ctx context.Context, here, there transfer.Store) (transfer.Result, error) {
	_, done, err := m.copy(ctx, "there, until stopped", here, there, m.items/2)
	if !errors.Is(err, errHalfWay) {
		return transfer.Result{}, fmt.Errorf("it was to be stopped half way, but: %v", err)
	}
	r, _, err := m.copy(ctx, "there, resumed", here, there, m.items)
	if err == nil && r.CopiedBefore < int64(done)/2 {
		err = fmt.Errorf("of %d items that were copied, it knew %d", done, r.CopiedBefore)
	}
	return r, err
}

// errHalfWay ends a copy on purpose.
var errHalfWay = errors.New("stopped half way")

// copy copies until so many items are there, and for good when they are all; it prints how long it
// took. It returns how many items were copied when it stopped.
func (m *measure) copy(ctx context.Context, name string, from, to transfer.Store, until int) (
	transfer.Result, int, error,
) {
	copying, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	began, copied, checked := time.Now(), 0, time.Time{}
	results, err := transfer.Copy(copying, from, to, transfer.Options{
		Segments: m.segments, State: filepath.Join(m.dir, name[:4]+".json"), From: "from", To: "to",
		Progress: func(p transfer.Progress) {
			m.look()
			if p.Stage == transfer.Checking {
				if checked.IsZero() {
					checked = time.Now()
				}
				return
			}
			copied = int(p.Items)
			if until < m.items && copied >= until {
				stop(errHalfWay)
			}
		},
	})
	if checked.IsZero() {
		checked = time.Now()
	}
	before := 0
	if len(results) > 0 {
		before = int(results[0].CopiedBefore)
	}
	m.line(name, copied-before, checked.Sub(began))
	if err != nil {
		if cause := context.Cause(copying); cause != nil {
			err = cause
		}
		return transfer.Result{}, copied, err
	}
	if len(results) != 1 {
		return transfer.Result{}, copied, fmt.Errorf("%d tables were copied, want 1", len(results))
	}
	m.line(name+", check", 2*int(results[0].Items), time.Since(checked))
	return results[0], copied, nil
}

func (m *measure) line(what string, items int, took time.Duration) {
	fmt.Fprintf(m.out, "%-22s %10d %10.1f %10.0f\n", what, items, took.Seconds(),
		float64(items)/took.Seconds())
}

// heap is the metric of the bytes that live objects, and dead ones not yet collected, take.
const heap = "/memory/classes/heap/objects:bytes"

// look notes how large the heap is.
func (m *measure) look() {
	sample := []metrics.Sample{{Name: heap}}
	metrics.Read(sample)
	m.peak = max(m.peak, sample[0].Value.Uint64())
}

func (m *measure) open(name string) (*engine.DB, error) {
	return engine.Open(filepath.Join(m.dir, name), engine.Options{})
}

// openThere opens the store that is copied to, and returns how it is closed.
func (m *measure) openThere(ctx context.Context) (transfer.Store, func() error, error) {
	if m.via == viaEngine {
		db, err := m.open("there")
		if err != nil {
			return nil, nil, err
		}
		return db, db.Close, nil
	}
	e, err := endpoint.Open(ctx, endpoint.Options{DataDir: filepath.Join(m.dir, "there")})
	if err != nil {
		return nil, nil, err
	}
	listener, err := e.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- e.Serve(serving, listener) }()
	closers := []func() error{
		func() error { stop(); return <-served },
		e.Close,
	}
	closeAll := func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	db, err := awssdk.Open(ctx, awssdk.Options{Endpoint: "http://" + listener.Addr().String()})
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	closers = slices.Insert(closers, 0, db.Close)
	return db, closeAll, nil
}
