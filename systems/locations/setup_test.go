package locations_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// clockStart is the seed's own example.
var clockStart = time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)

// directory is a directory under test, with its store and its clock.
type directory struct {
	*locations.Directory
	t     testing.TB
	db    storetest.Database
	store *singletable.Store
	opts  locations.Options
	time  *storetest.Clock
	mu    sync.Mutex
	calls []string // the operations of the store, in order
}

// open opens a directory on a database of its own.
func open(t testing.TB, opts locations.Options) *directory {
	t.Helper()
	return openOn(t, storetest.OpenFor(t, engine.Options{}), opts)
}

// openOn opens a directory on a database.
func openOn(t testing.TB, db storetest.Database, opts locations.Options) *directory {
	t.Helper()
	d := &directory{t: t, db: db, time: storetest.NewClock(clockStart)}
	if opts.Now == nil {
		opts.Now = d.clock
	}
	d.store = singletable.NewStore(db, singletable.Options{
		Now: opts.Now, CursorKey: []byte("a key of tests"), OnCall: d.note,
	})
	d.opts = opts
	var err error
	if d.Directory, err = locations.New(d.store, opts); err != nil {
		t.Fatal(err)
	}
	if err := d.Model().Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *directory) note(c singletable.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, c.Operation)
}

// made returns the operations since it was last asked.
func (d *directory) made() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	calls := d.calls
	d.calls = nil
	return calls
}

// clock is the directory's clock, which stands still but for pass.
func (d *directory) clock() time.Time {
	return d.time.Now()
}

// pass lets time pass.
func (d *directory) pass(by time.Duration) {
	d.time.Move(by)
}

func named(code, name string) locations.NewLocation {
	return locations.NewLocation{Code: code, Details: locations.Details{Name: name}}
}

func (d *directory) create(n locations.NewLocation) locations.Location {
	d.t.Helper()
	l, made, err := d.Create(d.t.Context(), n)
	if err != nil || !made {
		d.t.Fatalf("create %s: made %t, %v", n.Code, made, err)
	}
	return l
}

func (d *directory) get(id locations.ID) locations.Location {
	d.t.Helper()
	l, err := d.Location(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return l
}

// must ends the test on an error.
func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wants checks that an error is a problem, with details that say so.
func wants(t testing.TB, err error, want *problem.Definition, details ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %s", err, want.Code())
	}
	found := problem.From(err)
	for i := 0; i+1 < len(details); i += 2 {
		if got := found.Details[details[i]]; got != details[i+1] {
			t.Errorf("%s: %s is %q, want %q", want.Code(), details[i], got, details[i+1])
		}
	}
}

// item reads an item as it is stored, nil when there is none.
func (d *directory) item(pk string) dynamo.Item {
	d.t.Helper()
	out, err := d.db.Get(d.t.Context(), &dynamo.GetInput{
		TableName: d.Table().Name(), ConsistentRead: true,
		Key: dynamo.Key{"PK": dynamo.S(pk), "SK": dynamo.S("META")},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out.Item
}

// put writes an item as another program would.
func (d *directory) put(item dynamo.Item) {
	d.t.Helper()
	d.persist(func(ctx context.Context) error {
		_, err := d.db.Put(ctx, &dynamo.PutInput{TableName: d.Table().Name(), Item: item})
		return err
	})
}

// persist repeats what the store refuses for now.
func (d *directory) persist(write func(context.Context) error) {
	d.t.Helper()
	err := write(d.t.Context())
	for dynamo.Retryable(err) {
		err = write(d.t.Context())
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// remove deletes an item as another program would.
func (d *directory) remove(pk string) {
	d.t.Helper()
	d.persist(func(ctx context.Context) error {
		_, err := d.db.Delete(ctx, &dynamo.DeleteInput{TableName: d.Table().Name(),
			Key: dynamo.Key{"PK": dynamo.S(pk), "SK": dynamo.S("META")}})
		return err
	})
}

// sound checks that the directory and its lookup items agree.
func (d *directory) sound() {
	d.t.Helper()
	report, err := d.Repair(d.t.Context(), false)
	if err != nil || len(report.Faults) > 0 {
		d.t.Fatalf("repair finds %+v, %v", report.Faults, err)
	}
}

// ids returns a maker of ids that count.
func ids() func() string {
	var mu sync.Mutex
	n := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ6%06d", n)
	}
}

func ref[T any](v T) *T { return &v }

// fieldsOf returns the wrong fields that an error names.
func fieldsOf(err error) problem.Fields { return problem.From(err).Fields }
