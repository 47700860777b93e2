package engine

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
)

// CreateTable creates a table, which is usable at once; see [dynamo.Admin].
func (db *DB) CreateTable(ctx context.Context, in *dynamo.CreateTableInput) (
	*dynamo.TableDescription, error,
) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := checkCreate(in)
	if err != nil {
		return nil, err
	}
	// The request is checked before the lock, because the lock stops all other calls.
	db.schema.Lock()
	defer db.schema.Unlock()
	if err := db.usable(); err != nil {
		return nil, err
	}
	// A deleted table that is still described keeps its name, as on the service.
	if db.tables[d.Name] != nil || db.phases.deletedTable(d.Name) != nil {
		return nil, &dynamo.Error{
			Code: dynamo.CodeResourceInUse, Message: "Table already exists: " + d.Name,
		}
	}
	if len(db.tables) >= tablesMax {
		return nil, &dynamo.Error{
			Code: dynamo.CodeLimitExceeded,
			Message: fmt.Sprintf("Subscriber limit exceeded: the number of tables is limited "+
				"to %d", tablesMax),
		}
	}
	// The id is part of every row key. It is new for each table, so that a table with the name of a
	// deleted one cannot see its rows.
	d.ID, d.UUID, d.Created = db.nextID, uuid.NewString(), db.opts.Now().UTC()
	var made *stream
	if spec := in.StreamSpecification; spec != nil && spec.StreamEnabled {
		if made, err = db.streams.change(&d, spec); err != nil {
			return nil, err
		}
	}
	t := newTable(d)
	// An empty table needs no count.
	t.counted.Store(true)
	// Save first, and change the memory only after that: after an error the table does not exist.
	err = db.catalog.change(t.descriptor, func(batch *pebble.Batch) error {
		return stageStream(batch, made)
	})
	if err != nil {
		return nil, err
	}
	db.nextID++
	db.tables[d.Name] = t
	db.streams.adopt(t, made)
	db.phases.begin(t, dynamo.StatusCreating)
	out := db.catalog.describe(t)
	out.TableStatus = dynamo.StatusCreating // as on the service, though it is already active
	for i := range out.GlobalSecondaryIndexes {
		out.GlobalSecondaryIndexes[i].IndexStatus = dynamo.StatusCreating
	}
	return out, nil
}

// catalog keeps the descriptors of the tables on the disk and describes the tables to clients.
type catalog struct{ db *DB }

// change saves a table's descriptor, in one batch with the other writes of the change.
func (c *catalog) change(d descriptor, also func(*pebble.Batch) error) error {
	// Counters are only valid at a clean close; see saveCounts.
	d.Counts = nil
	key, value, err := c.saveTable(d)
	if err != nil {
		return err
	}
	batch := c.db.store.NewBatch()
	if err := batch.Set(key, value, nil); err != nil {
		return err
	}
	if also != nil {
		if err := also(batch); err != nil {
			return err
		}
	}
	return c.db.persist(batch)
}

// DescribeTable describes a table; see [dynamo.Admin].
func (db *DB) DescribeTable(ctx context.Context, tableName string) (
	*dynamo.TableDescription, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	// A table with status DELETING is described for a while, as on the service.
	if going := db.phases.deletedTable(bareName(tableName)); going != nil {
		return going, nil
	}
	t, err := db.catalog.managed(tableName)
	if err != nil {
		return nil, err
	}
	return db.catalog.describe(t), nil
}

// managed returns the table that a call of table management names.
func (c *catalog) managed(name string) (*table, error) {
	if t := c.db.tables[bareName(name)]; t != nil {
		return t, nil // even while it is being created
	}
	t, err := c.db.tableOf(name)
	// Calls of table management have their own message for a missing table.
	if e, ok := err.(*dynamo.Error); ok && e.Code == dynamo.CodeResourceNotFound {
		return nil, &dynamo.Error{
			Code:    dynamo.CodeResourceNotFound,
			Message: "Requested resource not found: Table: " + name + " not found",
		}
	}
	return t, err
}

func (c *catalog) arnOf(table string) string {
	return fmt.Sprintf(
		"arn:aws:dynamodb:%s:%s:table/%s",
		c.db.opts.Region,
		c.db.opts.AccountID,
		table,
	)
}

// describe returns the public description of a table. It shares no memory with the table, because
// callers may change it.
func (c *catalog) describe(t *table) *dynamo.TableDescription {
	arn := c.arnOf(t.Name)
	out := &dynamo.TableDescription{
		TableName: t.Name, TableArn: arn, TableID: t.UUID, TableStatus: dynamo.StatusActive,
		CreationDateTime: t.Created, AttributeDefinitions: slices.Clone(t.Attributes),
		KeySchema: slices.Clone(t.Key), BillingMode: t.Billing,
		ProvisionedThroughput:     t.Throughput,
		DeletionProtectionEnabled: t.DeletionProtection,
		OnDemandThroughput:        cloneOnDemand(t.OnDemand), TableClass: t.Class,
		ItemCount: t.items.Load(), TableSizeBytes: t.bytes.Load(),
	}
	c.db.streams.describe(t, out)
	for _, ix := range t.indexes {
		if ix.Local {
			out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes,
				dynamo.LocalSecondaryIndexDescription{
					IndexName: ix.Name, IndexArn: arn + "/index/" + ix.Name,
					KeySchema: slices.Clone(ix.Key), Projection: projectionOf(ix),
				})
			continue
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes,
			dynamo.GlobalSecondaryIndexDescription{
				IndexName: ix.Name, IndexArn: arn + "/index/" + ix.Name,
				IndexStatus: ix.Status, Backfilling: ix.Status == dynamo.StatusCreating,
				KeySchema: slices.Clone(ix.Key), Projection: projectionOf(ix),
				ProvisionedThroughput: ix.Throughput,
				OnDemandThroughput:    cloneOnDemand(ix.OnDemand),
			})
		// A table is UPDATING while one of its indexes is filled.
		if !ix.ready() {
			out.TableStatus = dynamo.StatusUpdating
		}
	}
	c.db.phases.describe(t, out)
	return out
}

func projectionOf(ix *index) dynamo.Projection {
	p := ix.Projection
	p.NonKeyAttributes = slices.Clone(p.NonKeyAttributes)
	return p
}

const listTablesMax = 100 // maximum number of names on a page of ListTables

// ListTables lists the names of tables in order; see [dynamo.Admin].
func (db *DB) ListTables(ctx context.Context, in *dynamo.ListTablesInput) (
	*dynamo.ListTablesOutput, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	limit := in.Limit
	// An explicit zero was refused with the wire format, so zero means the default here.
	if limit == 0 {
		limit = listTablesMax
	}
	var wrong constraint.List
	if limit < 1 {
		wrong.Add(fmt.Sprint(limit), "limit", "Member must have value greater than or equal to 1")
	}
	if limit > listTablesMax {
		wrong.Add(fmt.Sprint(limit), "limit", "Member must have value less than or equal to 100")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	out := &dynamo.ListTablesOutput{}
	names := slices.Collect(maps.Keys(db.tables))
	for name := range db.phases.deleted {
		if db.phases.deletedTable(name) != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		// The start name need not exist, because the table may have been deleted between two pages.
		if name <= in.ExclusiveStartTableName {
			continue
		}
		if len(out.TableNames) == limit {
			out.LastEvaluatedTableName = out.TableNames[limit-1]
			break
		}
		out.TableNames = append(out.TableNames, name)
	}
	return out, nil
}

// DeleteTable deletes a table and all its items at once; see [dynamo.Admin].
func (db *DB) DeleteTable(ctx context.Context, tableName string) (
	*dynamo.TableDescription, error,
) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	db.schema.Lock()
	defer db.schema.Unlock()
	if err := db.usable(); err != nil {
		return nil, err
	}
	if db.phases.deletedTable(bareName(tableName)) != nil {
		return nil, inUse("Table is being deleted: " + bareName(tableName))
	}
	t, err := db.catalog.managed(tableName)
	if err != nil {
		return nil, err
	}
	// The service allows one change of a table at a time.
	if err := db.phases.checkIdle(t); err != nil {
		return nil, err
	}
	if t.DeletionProtection {
		return nil, dynamo.Invalid("Resource cannot be deleted as it is currently protected " +
			"against deletion. Disable deletion protection first.")
	}
	prefix := keyspace.Table(t.ID)
	// One batch for description, rows and stream, so that a crash leaves all of the table or
	// nothing. A range deletion has a constant cost for any number of items.
	batch := db.store.NewBatch()
	if err := batch.Delete(keyspace.Meta(tablePrefix+t.Name), nil); err != nil {
		return nil, err
	}
	if err := batch.DeleteRange(prefix, keyspace.After(prefix), nil); err != nil {
		return nil, err
	}
	var closed *stream // its records can still be read for a day
	if t.stream != nil {
		closed = db.streams.end(t.stream)
	}
	if err := stageStream(batch, closed); err != nil {
		return nil, err
	}
	if err := db.persist(batch); err != nil {
		return nil, err
	}
	// Only now, because after an error the table is unchanged.
	delete(db.tables, t.Name)
	db.streams.adopt(nil, closed)
	out := db.catalog.describe(t)
	// The service's description of a table that is being deleted has only these fields.
	going := &dynamo.TableDescription{
		TableName: out.TableName, TableArn: out.TableArn, TableID: out.TableID,
		TableStatus: dynamo.StatusDeleting, BillingMode: out.BillingMode,
		ProvisionedThroughput: out.ProvisionedThroughput, ItemCount: out.ItemCount,
		TableSizeBytes: out.TableSizeBytes,
	}
	db.phases.keep(going)
	return going, batch.Close()
}

// UpdateTable changes a table; see [dynamo.Admin]. A new index is filled in the background and can
// be read once its status is active.
func (db *DB) UpdateTable(ctx context.Context, in *dynamo.UpdateTableInput) (
	*dynamo.TableDescription, error,
) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	db.schema.Lock()
	defer db.schema.Unlock()
	if err := db.usable(); err != nil {
		return nil, err
	}
	t, err := db.catalog.managed(in.TableName)
	if err != nil {
		return nil, err
	}
	if err := db.phases.checkIdle(t); err != nil {
		return nil, err
	}
	// A deleted index is described as it was before the change.
	before := db.catalog.describe(t)
	d := t.descriptor
	// A refused change must leave the table as it was, so the slice is not shared.
	d.Indexes = slices.Clone(d.Indexes)
	var dropped []byte
	if err := checkUpdate(&d, in, &dropped); err != nil {
		return nil, err
	}
	changed, err := db.streams.change(&d, in.StreamSpecification)
	if err != nil {
		return nil, err
	}
	err = db.catalog.change(d, func(batch *pebble.Batch) error {
		if err := stageStream(batch, changed); err != nil || dropped == nil {
			return err
		}
		return batch.DeleteRange(dropped, keyspace.After(dropped), nil)
	})
	if err != nil {
		return nil, err
	}
	if changed != nil {
		db.streams.byID[changed.ID] = changed
	}
	db.phases.begin(t, dynamo.StatusUpdating)
	for _, u := range in.GlobalSecondaryIndexUpdates {
		db.phases.keepIndex(before, t, u.Delete)
	}
	db.catalog.replace(t, d)
	return db.catalog.describe(db.tables[d.Name]), nil
}

// replace replaces a table by its changed version, which keeps the counters, and resumes background
// work. The caller holds the schema lock.
func (c *catalog) replace(old *table, d descriptor) {
	t := newTable(d)
	t.items.Store(old.items.Load())
	t.bytes.Store(old.bytes.Load())
	t.counted.Store(old.counted.Load())
	t.phase = old.phase
	t.stream = c.db.streams.byID[d.Stream]
	c.db.tables[d.Name] = t
	c.db.backfills.resume(t)
}

// UpdateTimeToLive enables or disables expiry; see [dynamo.Admin].
func (db *DB) UpdateTimeToLive(ctx context.Context, in *dynamo.UpdateTimeToLiveInput) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var wrong constraint.List
	switch {
	case in.AttributeName == "":
		wrong.Add("", "timeToLiveSpecification.attributeName",
			"Member must have length greater than or equal to 1")
	case len(in.AttributeName) > ttlNameLengthMax:
		wrong.Add(in.AttributeName, "timeToLiveSpecification.attributeName",
			"Member must have length less than or equal to 255")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	db.schema.Lock()
	defer db.schema.Unlock()
	if err := db.usable(); err != nil {
		return err
	}
	t, err := db.catalog.managed(in.TableName)
	if err != nil {
		return err
	}
	d := t.descriptor
	// The service allows one change per hour; here the pause is an option and off by default.
	if pause := db.opts.TTLPause; pause > 0 && db.opts.Now().Sub(d.TTLChanged) < pause {
		return dynamo.Invalid("Time to live has been modified multiple times within a fixed " +
			"interval")
	}
	d.TTLChanged = db.opts.Now().UTC()
	switch {
	case in.Enabled && d.TTL != "":
		return dynamo.Invalid("TimeToLive is already enabled")
	case !in.Enabled && d.TTL == "":
		return dynamo.Invalid("TimeToLive is already disabled")
	case !in.Enabled && d.TTL != in.AttributeName:
		return dynamo.Invalid("TimeToLive is active on a different AttributeName: " +
			"current AttributeName is " + d.TTL)
	}
	var cleared []byte
	if in.Enabled {
		// Existing items are added to the list of expiries in the background.
		d.TTL, d.TTLReady = in.AttributeName, false
	} else {
		d.TTL, cleared = "", keyspace.Expiries(d.ID)
	}
	err = db.catalog.change(d, func(batch *pebble.Batch) error {
		if cleared == nil {
			return nil
		}
		// The list of expiries would be wrong if the setting is enabled again.
		return batch.DeleteRange(cleared, keyspace.After(cleared), nil)
	})
	if err != nil {
		return err
	}
	db.catalog.replace(t, d)
	return nil
}

// DescribeTimeToLive returns a table's expiry setting; see [dynamo.Admin].
func (db *DB) DescribeTimeToLive(ctx context.Context, tableName string) (
	*dynamo.TimeToLiveDescription, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	t, err := db.catalog.managed(tableName)
	if err != nil {
		return nil, err
	}
	if t.TTL == "" {
		return &dynamo.TimeToLiveDescription{TimeToLiveStatus: dynamo.TimeToLiveDisabled}, nil
	}
	return &dynamo.TimeToLiveDescription{
		TimeToLiveStatus: dynamo.TimeToLiveEnabled, AttributeName: t.TTL,
	}, nil
}

// saveCounts stores the counters at a clean close, so that the next opening need not count the
// items. The next opening removes them from the descriptor at once.
func (c *catalog) saveCounts() error {
	batch := c.db.store.NewBatch()
	for _, t := range c.db.tables {
		// An unfinished count would be trusted by the next opening.
		if !t.counted.Load() {
			continue
		}
		d := t.descriptor
		d.Counts = &counts{Items: t.items.Load(), Bytes: t.bytes.Load()}
		key, value, err := c.saveTable(d)
		if err != nil {
			return err
		}
		if err := batch.Set(key, value, nil); err != nil {
			return err
		}
	}
	return c.db.persist(batch)
}

// dropCounts deletes the stored counters before a write can make them wrong, because after a crash
// they would be trusted.
func (c *catalog) dropCounts() error {
	batch := c.db.store.NewBatch()
	for _, t := range c.db.tables {
		if t.Counts == nil {
			continue
		}
		t.Counts = nil
		key, value, err := c.saveTable(t.descriptor)
		if err != nil {
			return err
		}
		if err := batch.Set(key, value, nil); err != nil {
			return err
		}
	}
	return c.db.persist(batch)
}

// collection returns the size of the item collection of a write, if the request asks for it and the
// table has local indexes.
func (c *catalog) collection(asked dynamo.ReturnItemCollectionMetrics, a *action) (
	*dynamo.ItemCollectionMetrics, error,
) {
	// Only tables with local indexes have item collections.
	if asked != dynamo.MetricsSize || !a.table.hasLocal() {
		return nil, nil
	}
	key, err := a.table.keyOf(a.rowKey)
	if err != nil {
		return nil, err
	}
	prefix := keyspace.Partition(a.rowKey)
	size, err := c.db.backfills.sizeOf(prefix)
	if err != nil {
		return nil, err
	}
	partition := a.table.partitionKey().name
	const gigabyte = 1 << 30
	// The service's estimate is a range of whole gigabytes.
	low := float64(size / gigabyte)
	return &dynamo.ItemCollectionMetrics{
		ItemCollectionKey:   dynamo.Key{partition: key[partition]},
		SizeEstimateRangeGB: [2]float64{low, low + 1},
	}, nil
}

// collections returns the metrics of each item collection that the actions wrote, each one once.
func (c *catalog) collections(actions []action) (map[string][]dynamo.ItemCollectionMetrics, error) {
	var out map[string][]dynamo.ItemCollectionMetrics
	var seen [][]byte
	for i := range actions {
		a := &actions[i]
		partition := keyspace.Partition(a.rowKey)
		if slices.ContainsFunc(seen, func(s []byte) bool { return bytes.Equal(s, partition) }) {
			continue
		}
		seen = append(seen, partition)
		m, err := c.collection(dynamo.MetricsSize, a)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		if out == nil {
			out = map[string][]dynamo.ItemCollectionMetrics{}
		}
		out[a.table.Name] = append(out[a.table.Name], *m)
	}
	return out, nil
}
