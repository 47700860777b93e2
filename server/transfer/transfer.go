// Package transfer copies tables from one store to another: out of the embedded engine to Amazon
// DynamoDB, back, or between any two. It reads the source in parallel segments, can be stopped at
// any time and resumed, and compares both sides at the end.
//
// If the source is written to during the copy, each of its pages is copied as it was when it was
// read, and the comparison reports the differences: stop writing first. Items that expire during
// the copy are writes, too.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Store is one side of a copy. Tags are copied where both sides also implement [dynamo.Tagger].
type Store interface {
	dynamo.DB
	dynamo.Admin
}

// Options of a copy. The zero value copies all tables.
type Options struct {
	// Tables are the tables to copy; all of the source without one.
	Tables []string
	// Segments is how many readers share a table, 1 to SegmentsMax; SegmentsDefault when 0. A copy
	// that is resumed keeps the number that it began with.
	Segments int
	// State is the file with the progress of the copy; "" for none. From and To name the stores
	// that it belongs to: a file of others is refused with a *StateError.
	State    string
	From, To string
	// Overwrite lets a table on the other side have items. In the end it has those of the source
	// and no others.
	Overwrite bool
	// Progress, if set, is called now and then with the progress, by one goroutine at a time.
	Progress func(Progress)

	pause, patience time.Duration // tests have less time; see pauseMin and patienceMax
}

// SegmentsDefault keeps two cores and a network busy; SegmentsMax keeps memory small, for each
// segment holds a page of 1 MB, of each side when they are compared.
const (
	SegmentsDefault = 8
	SegmentsMax     = 64
)

func (o Options) withDefaults() (Options, error) {
	if o.Segments == 0 {
		o.Segments = SegmentsDefault
	}
	if o.Segments < 1 || o.Segments > SegmentsMax {
		return o, fmt.Errorf("segments must be 1 to %d, not %d", SegmentsMax, o.Segments)
	}
	if o.pause == 0 {
		o.pause = pauseMin
	}
	if o.patience == 0 {
		o.patience = patienceMax
	}
	return o, nil
}

// Stage is what is being done with a table.
type Stage string

// The stages, in their order. Pruning takes away what only the other side has, Comparing looks for
// the items that differ.
const (
	Copying   Stage = "copying"
	Pruning   Stage = "pruning"
	Checking  Stage = "checking"
	Comparing Stage = "comparing"
)

// Progress is how far a table is.
type Progress struct {
	Table string
	Stage Stage
	// Items are copied, of about Total, which is 0 if the source does not know. Before of them were
	// copied by an earlier run.
	Items, Total, Before int64
	// Waiting is the error of a call that is being retried; nil if there is none.
	Waiting error
}

// Result is the result of one table.
type Result struct {
	Table        string `json:"table"`
	Items        int64  `json:"items"` // that both sides have
	Checksum     string `json:"checksum"`
	CopiedBefore int64  `json:"copiedBefore"` // items that an earlier run had copied
}

// ErrDiffers reports that both sides do not hold the same items.
var ErrDiffers = errors.New("the copy differs from its source")

// RefusedError reports that a table on the other side is in the way of a copy.
type RefusedError struct {
	// Differences between its definition and that of the source; none when it has the same one,
	// but also items.
	Differences []string
}

func (e *RefusedError) Error() string {
	if len(e.Differences) == 0 {
		return "the other side has a table of this name with items in it, and no copy from this " +
			"source is in progress"
	}
	return "the other side has a table of this name with a different definition: " +
		strings.Join(e.Differences, "; ")
}

// Copy copies tables, compares them, and then turns on what waited for the items. Results are of
// the tables that were found equal; the error names the table that was not. It is a *RefusedError
// where a table is in the way, which is found before anything is copied, and ErrDiffers where both
// sides are not the same in the end.
func Copy(ctx context.Context, from, to Store, opts Options) ([]Result, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	st, err := openState(opts)
	if err != nil {
		return nil, err
	}
	names, err := tableNames(ctx, from, opts)
	if err != nil {
		return nil, err
	}
	copiers := make([]*copier, len(names))
	for i, name := range names {
		copiers[i] = &copier{from: from, to: to, opts: opts, state: st, table: name}
	}
	var results []Result
	check := func(c *copier, ctx context.Context) error {
		r, err := c.result(ctx)
		if err == nil {
			results = append(results, r)
		}
		return err
	}
	// Every table goes through a step before any goes through the next.
	for _, step := range []func(*copier, context.Context) error{
		(*copier).inspect, (*copier).fill, check, (*copier).finish,
	} {
		for _, c := range copiers {
			if err := step(c, ctx); err != nil {
				return results, fmt.Errorf("table %s: %w", c.table, err)
			}
		}
	}
	return results, st.forget(names)
}

// tableNames returns the tables to copy.
func tableNames(ctx context.Context, from Store, opts Options) ([]string, error) {
	if len(opts.Tables) > 0 {
		return opts.Tables, nil
	}
	var all []string
	in := &dynamo.ListTablesInput{}
	for {
		out, err := from.ListTables(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list the tables of the source: %w", err)
		}
		all = append(all, out.TableNames...)
		if out.LastEvaluatedTableName == "" {
			return all, nil
		}
		in.ExclusiveStartTableName = out.LastEvaluatedTableName
	}
}

// copier copies one table.
type copier struct {
	from, to Store
	opts     Options
	state    *state
	table    string

	source *definition
	at     *tableState // nil until the table is on the other side
	before int64       // items that an earlier run copied

	mu       sync.Mutex // of the progress
	progress Progress
}

// describe describes the table of the source.
func (c *copier) describe(ctx context.Context) (err error) {
	c.source, err = describe(ctx, c.from, c.table)
	if errors.Is(err, dynamo.ErrResourceNotFound) {
		return fmt.Errorf("the source does not have it: %w", err)
	}
	return err
}

// fill makes the table if it is missing and copies what is not copied yet.
func (c *copier) fill(ctx context.Context) error {
	if c.at == nil {
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	c.stage(Copying, c.source.table.ItemCount, c.before)
	if err := c.copySegments(ctx, c.at); err != nil {
		return err
	}
	if !c.at.Overwrite {
		return nil
	}
	if err := c.prune(ctx, c.source.table.KeySchema); err != nil {
		return fmt.Errorf("take away what the source does not have: %w", err)
	}
	return nil
}

// result compares both sides.
func (c *copier) result(ctx context.Context) (Result, error) {
	sum, err := c.check(ctx, c.at.items())
	if errors.Is(err, ErrDiffers) {
		// All is copied, and to go on would change nothing.
		return Result{}, errors.Join(err, c.state.forget([]string{c.table}))
	}
	if err != nil {
		return Result{}, err
	}
	return Result{
		Table: c.table, Items: sum.Items, Checksum: sum.String(), CopiedBefore: c.before,
	}, nil
}

// stage begins a new stage of the progress.
func (c *copier) stage(stage Stage, total, before int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = Progress{
		Table: c.table, Stage: stage, Items: before, Total: max(total, before), Before: before,
	}
	c.tell()
}

// advance reports that items are done.
func (c *copier) advance(items int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress.Items += int64(items)
	c.progress.Waiting = nil
	c.tell()
}

// wait returns why nothing gets done.
func (c *copier) wait(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress.Waiting = reason
	c.tell()
}

func (c *copier) tell() {
	if c.opts.Progress != nil {
		c.opts.Progress(c.progress)
	}
}
