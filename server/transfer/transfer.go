// Package transfer copies tables from one store to another: out of the embedded engine to Amazon
// DynamoDB, back, or between any two. It reads the source in parallel segments, can be stopped at
// any time and goes on where it was, and compares both sides at the end.
//
// A source that is written to meanwhile is copied as each of its pages was when it was read, and
// the comparison will say so: stop writing first.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	// State is the file that keeps how far the copy is; "" for none. From and To say which stores
	// it is about: a file of others is refused.
	State    string
	From, To string
	// Progress, if set, is told now and then how far it is, by one goroutine at a time.
	Progress func(Progress)

	pause time.Duration // the first; tests have less time
}

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
	return o, nil
}

// SegmentsDefault keeps two cores and a network busy; SegmentsMax keeps memory small, for each
// segment holds a page of 1 MB.
const (
	SegmentsDefault = 8
	SegmentsMax     = 256
)

// Progress is how far a table is.
type Progress struct {
	Table string
	// Checking tells that the table is copied, and that both sides are being read again.
	Checking bool
	// Items are copied, or read again, of about Total; Total is 0 when the source does not know.
	Items, Total int64
}

// Result is what became of one table.
type Result struct {
	Table        string
	Items        int64 // that both sides have
	Checksum     string
	Resumed      bool
	CopiedBefore int64 // items that an earlier run had copied
}

// ErrDiffers reports that both sides do not hold the same items.
var ErrDiffers = errors.New("the copy differs from its source")

// Copy copies tables and compares them. Results are of the tables that are done; the error names
// the table that is not.
func Copy(ctx context.Context, from, to Store, opts Options) ([]Result, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	st, err := openState(opts)
	if err != nil {
		return nil, err
	}
	names := opts.Tables
	if len(names) == 0 {
		if names, err = tableNames(ctx, from); err != nil {
			return nil, fmt.Errorf("list the tables of the source: %w", err)
		}
	}
	var results []Result
	for _, name := range names {
		c := &copier{from: from, to: to, opts: opts, state: st, table: name}
		r, err := c.run(ctx)
		if err != nil {
			return results, fmt.Errorf("table %s: %w", name, err)
		}
		results = append(results, r)
	}
	return results, st.remove()
}

// tableNames lists all tables of a store.
func tableNames(ctx context.Context, s Store) ([]string, error) {
	var all []string
	in := &dynamo.ListTablesInput{}
	for {
		out, err := s.ListTables(ctx, in)
		if err != nil {
			return nil, err
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

	mu    sync.Mutex
	items int64
	total int64
}

func (c *copier) run(ctx context.Context) (Result, error) {
	source, err := c.from.DescribeTable(ctx, c.table)
	if err != nil {
		return Result{}, err
	}
	c.total = source.ItemCount
	progress, resumed, err := c.prepare(ctx, source)
	if err != nil {
		return Result{}, err
	}
	before := progress.items()
	c.items = before
	if err := c.copySegments(ctx, progress); err != nil {
		return Result{}, err
	}
	sum, err := c.compare(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := c.finish(ctx, source); err != nil {
		return Result{}, err
	}
	return Result{
		Table: c.table, Items: sum.Items, Checksum: sum.String(), Resumed: resumed,
		CopiedBefore: before,
	}, nil
}

// prepare makes the table on the other side, or finds what an earlier run left of it.
func (c *copier) prepare(ctx context.Context, source *dynamo.TableDescription) (
	*tableState, bool, error,
) {
	target, err := c.to.DescribeTable(ctx, c.table)
	known := c.state.table(c.table)
	switch {
	case err == nil:
		if differences := compareDefinitions(source, target); len(differences) > 0 {
			return nil, false, fmt.Errorf("the other side has a table of this name that differs:\n"+
				"  %s\nrename or delete it there", strings.Join(differences, "\n  "))
		}
		if known == nil {
			page, err := c.to.Scan(ctx, &dynamo.ScanInput{
				TableName: c.table, Limit: 1, ConsistentRead: true,
			})
			if err != nil {
				return nil, false, err
			}
			if len(page.Items) > 0 {
				return nil, false, errors.New("the other side has a table of this name with " +
					"items in it, and no copy of this pair was under way: delete it there first")
			}
		}
	case errors.Is(err, dynamo.ErrResourceNotFound):
		if _, err := c.to.CreateTable(ctx, definition(source)); err != nil {
			return nil, false, fmt.Errorf("create it: %w", err)
		}
		known = nil // whatever was copied is gone
	default:
		return nil, false, err
	}
	if err := c.await(ctx); err != nil {
		return nil, false, err
	}
	if known != nil {
		return known, true, nil
	}
	known = c.state.begin(c.table, c.opts.Segments)
	return known, false, c.state.save()
}

// definition makes a new table's definition of a description. The stream and expiry are turned on
// when all is copied: neither should see the copying.
func definition(d *dynamo.TableDescription) *dynamo.CreateTableInput {
	in := &dynamo.CreateTableInput{
		TableName: d.TableName, AttributeDefinitions: d.AttributeDefinitions,
		KeySchema: d.KeySchema, BillingMode: d.BillingMode,
		OnDemandThroughput: d.OnDemandThroughput, TableClass: d.TableClass,
	}
	provisioned := d.BillingMode != dynamo.BillingPayPerRequest
	if provisioned {
		throughput := d.ProvisionedThroughput
		in.ProvisionedThroughput = &throughput
	}
	for _, x := range d.GlobalSecondaryIndexes {
		index := dynamo.GlobalSecondaryIndex{
			IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
			OnDemandThroughput: x.OnDemandThroughput,
		}
		if provisioned {
			throughput := x.ProvisionedThroughput
			index.ProvisionedThroughput = &throughput
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, index)
	}
	for _, x := range d.LocalSecondaryIndexes {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, dynamo.LocalSecondaryIndex{
			IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
		})
	}
	return in
}

// awaitEvery is how often a table that is being made is looked at.
const awaitEvery = 200 * time.Millisecond

// await waits until the table on the other side, and its indexes, can be used.
func (c *copier) await(ctx context.Context) error {
	for {
		d, err := c.to.DescribeTable(ctx, c.table)
		if err != nil {
			return err
		}
		ready := d.TableStatus == dynamo.StatusActive
		for _, x := range d.GlobalSecondaryIndexes {
			ready = ready && x.IndexStatus == dynamo.StatusActive
		}
		if ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(awaitEvery):
		}
	}
}

// finish turns on what waited for the items: expiry, stream, tags, protection.
func (c *copier) finish(ctx context.Context, source *dynamo.TableDescription) error {
	if err := c.copyTags(ctx, source); err != nil {
		return fmt.Errorf("copy its tags: %w", err)
	}
	ttl, err := c.from.DescribeTimeToLive(ctx, c.table)
	if err != nil {
		return fmt.Errorf("describe its expiry: %w", err)
	}
	now, err := c.to.DescribeTimeToLive(ctx, c.table)
	if err != nil {
		return fmt.Errorf("describe its expiry on the other side: %w", err)
	}
	if ttl.AttributeName != "" && now.AttributeName != ttl.AttributeName {
		if err := c.to.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
			TableName: c.table, AttributeName: ttl.AttributeName, Enabled: true,
		}); err != nil {
			return fmt.Errorf("turn its expiry on: %w", err)
		}
	}
	target, err := c.to.DescribeTable(ctx, c.table)
	if err != nil {
		return err
	}
	if source.StreamSpecification != nil && target.StreamSpecification == nil {
		if _, err := c.to.UpdateTable(ctx, &dynamo.UpdateTableInput{
			TableName: c.table, StreamSpecification: source.StreamSpecification,
		}); err != nil {
			return fmt.Errorf("turn its stream on: %w", err)
		}
	}
	if source.DeletionProtectionEnabled && !target.DeletionProtectionEnabled {
		if err := c.await(ctx); err != nil {
			return err
		}
		on := true
		if _, err := c.to.UpdateTable(ctx, &dynamo.UpdateTableInput{
			TableName: c.table, DeletionProtectionEnabled: &on,
		}); err != nil {
			return fmt.Errorf("protect it from deletion: %w", err)
		}
	}
	return c.await(ctx)
}

func (c *copier) copyTags(ctx context.Context, source *dynamo.TableDescription) error {
	from, ok := c.from.(dynamo.Tagger)
	to, both := c.to.(dynamo.Tagger)
	if !ok || !both || source.TableArn == "" {
		return nil
	}
	in := &dynamo.ListTagsInput{ResourceArn: source.TableArn}
	var tags []dynamo.Tag
	for {
		out, err := from.ListTagsOfResource(ctx, in)
		if err != nil {
			return err
		}
		tags = append(tags, out.Tags...)
		if in.NextToken = out.NextToken; in.NextToken == "" {
			break
		}
	}
	if len(tags) == 0 {
		return nil
	}
	target, err := c.to.DescribeTable(ctx, c.table)
	if err != nil {
		return err
	}
	return to.TagResource(ctx, target.TableArn, tags)
}

// compareDefinitions names what two tables differ in that decides which items they can hold and
// which questions they answer.
func compareDefinitions(a, b *dynamo.TableDescription) []string {
	var differences []string
	differ := func(what, source, target string) {
		if source != target {
			differences = append(differences,
				fmt.Sprintf("%s: the source has %s, the other side %s", what, source, target))
		}
	}
	types := map[string]string{}
	for _, d := range []*dynamo.TableDescription{a, b} {
		for _, x := range d.AttributeDefinitions {
			types[d.TableArn+x.AttributeName] = x.AttributeType.String()
		}
	}
	keys := func(d *dynamo.TableDescription, schema []dynamo.KeySchemaElement) string {
		var parts []string
		for _, e := range schema {
			parts = append(parts, fmt.Sprintf("%s %s %s", e.KeyType, e.AttributeName,
				types[d.TableArn+e.AttributeName]))
		}
		return strings.Join(parts, ", ")
	}
	indexes := func(d *dynamo.TableDescription) map[string]string {
		all := map[string]string{}
		projected := func(p dynamo.Projection) string {
			names := slices.Sorted(slices.Values(p.NonKeyAttributes))
			return fmt.Sprintf("%s %v", p.ProjectionType, names)
		}
		for _, x := range d.GlobalSecondaryIndexes {
			all[x.IndexName] = "global, " + keys(d, x.KeySchema) + ", " + projected(x.Projection)
		}
		for _, x := range d.LocalSecondaryIndexes {
			all[x.IndexName] = "local, " + keys(d, x.KeySchema) + ", " + projected(x.Projection)
		}
		return all
	}
	differ("key", keys(a, a.KeySchema), keys(b, b.KeySchema))
	ours, theirs := indexes(a), indexes(b)
	for name := range theirs {
		if _, ok := ours[name]; !ok {
			ours[name] = ""
		}
	}
	for name, definition := range ours {
		differ("index "+name, orNone(definition), orNone(theirs[name]))
	}
	slices.Sort(differences)
	return differences
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
