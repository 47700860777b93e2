package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/singletable"
)

// tables is what the store has of the tables that the systems need.
type tables struct {
	db      dynamo.Admin
	designs []*singletable.Table
	// wanted are designs with more indexes than the tables have, which Create adds.
	wanted []*singletable.Table
	// drift are the tables that no system can use as they are, by name.
	drift map[string]*singletable.DriftError
	// layout are the settings that differ from what is stored in a table, by its name.
	layout map[string]error
}

// ensure creates what is missing, and notes what differs.
func (t *tables) ensure(ctx context.Context) error {
	var wrong []error
	for _, design := range t.designs {
		err := design.Verify(ctx, t.db)
		var drift *singletable.DriftError
		switch {
		case errors.Is(err, dynamo.ErrResourceNotFound):
		case errors.As(err, &drift) && drift.Harmless:
		case errors.As(err, &drift):
			t.drift[drift.Table] = drift
		case dynamo.Retryable(err):
			return err // for every other table it is the same
		default:
			wrong = append(wrong, err)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	return t.create(ctx)
}

// create creates the missing tables concurrently, because each may take a while. One with a
// different definition is not changed.
func (t *tables) create(ctx context.Context) error {
	errs := make([]error, len(t.designs))
	var all sync.WaitGroup
	for i, design := range t.designs {
		all.Go(func() {
			err := design.Ensure(ctx, t.db)
			var drift *singletable.DriftError
			if !errors.As(err, &drift) {
				errs[i] = err
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// List returns the tables of the systems that exist, by name.
func (t *tables) List(ctx context.Context) ([]rest.Table, error) {
	var found []rest.Table
	for _, design := range t.designs {
		described, ok, err := t.Describe(ctx, design.Name())
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, described)
		}
	}
	slices.SortFunc(found, func(a, b rest.Table) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// Describe returns a table of the systems, and whether it exists.
func (t *tables) Describe(ctx context.Context, name string) (rest.Table, bool, error) {
	if t.design(name) == nil {
		return rest.Table{}, false, nil
	}
	d, err := t.db.DescribeTable(ctx, name)
	if errors.Is(err, dynamo.ErrResourceNotFound) {
		return rest.Table{}, false, nil
	}
	if err != nil {
		return rest.Table{}, false, fmt.Errorf("describe table %s: %w", name, busy(err))
	}
	ttl, err := t.db.DescribeTimeToLive(ctx, name)
	if err != nil {
		return rest.Table{}, false, fmt.Errorf("describe expiry of table %s: %w", name, busy(err))
	}
	return tableOf(d, ttl), true, nil
}

// Create creates the tables of the systems that are missing, adds optional indexes that are wanted,
// turns an expiry on that is off, and returns all tables.
func (t *tables) Create(ctx context.Context) ([]rest.Table, error) {
	before, err := t.List(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.create(ctx); err != nil {
		return nil, busy(err)
	}
	for _, design := range t.wanted {
		if _, err := design.AddIndexes(ctx, t.db); err != nil {
			return nil, busy(err)
		}
	}
	after, err := t.List(ctx)
	for i := range after {
		after[i].Created = !slices.ContainsFunc(before,
			func(b rest.Table) bool { return b.Name == after[i].Name })
	}
	return after, err
}

// Names returns the names of the tables that the systems need, in alphabetical order.
func (t *tables) Names() (names []string) {
	for _, design := range t.designs {
		names = append(names, design.Name())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Check compares a table with what the systems need, and reports whether they need it.
func (t *tables) Check(
	ctx context.Context, name string,
) (out singletable.Comparison, known bool, err error) {
	design := t.design(name)
	if design == nil {
		return out, false, nil
	}
	for _, wanted := range t.wanted {
		if wanted.Name() == name {
			design = wanted
		}
	}
	out, err = design.Compare(ctx, t.db)
	if errors.Is(err, dynamo.ErrResourceNotFound) {
		out.Differences = []string{"the table is missing"}
		return out, true, nil
	}
	if err != nil {
		return out, true, busy(err)
	}
	if layout := t.layout[name]; layout != nil {
		out.Differences = append(out.Differences, layout.Error())
	}
	return out, true, nil
}

// busy marks an error of the store as temporary, so that the API reports it so.
func busy(err error) error {
	return singletable.Passing(err)
}

func (t *tables) design(name string) *singletable.Table {
	for _, design := range t.designs {
		if design.Name() == name {
			return design
		}
	}
	return nil
}

func tableOf(d *dynamo.TableDescription, ttl *dynamo.TimeToLiveDescription) rest.Table {
	partition, sort := keysOf(d.KeySchema)
	t := rest.Table{
		Name: d.TableName, Status: string(d.TableStatus), PartitionKey: partition,
		SortKey: sort, TTL: ttl.AttributeName, Items: d.ItemCount, Bytes: d.TableSizeBytes,
		CreatedAt: d.CreationDateTime,
	}
	for _, x := range d.GlobalSecondaryIndexes {
		partition, sort := keysOf(x.KeySchema)
		t.Indexes = append(t.Indexes, rest.Index{
			Name: x.IndexName, Kind: "global", Status: string(x.IndexStatus),
			PartitionKey: partition, SortKey: sort,
			Projection: string(x.Projection.ProjectionType),
			Attributes: x.Projection.NonKeyAttributes, Items: x.ItemCount, Bytes: x.IndexSizeBytes,
		})
	}
	for _, x := range d.LocalSecondaryIndexes {
		partition, sort := keysOf(x.KeySchema)
		t.Indexes = append(t.Indexes, rest.Index{
			Name: x.IndexName, Kind: "local", PartitionKey: partition, SortKey: sort,
			Projection: string(x.Projection.ProjectionType),
			Attributes: x.Projection.NonKeyAttributes, Items: x.ItemCount, Bytes: x.IndexSizeBytes,
		})
	}
	return t
}

// keysOf returns the names of the attributes of a key; sort is empty if there is none.
func keysOf(schema []dynamo.KeySchemaElement) (partition, sort string) {
	for _, e := range schema {
		if e.KeyType == dynamo.KeyTypeRange {
			sort = e.AttributeName
		} else {
			partition = e.AttributeName
		}
	}
	return partition, sort
}
