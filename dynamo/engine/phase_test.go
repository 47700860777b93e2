package engine_test

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

const delay = time.Minute

func openSlow(t *testing.T) (*engine.DB, *movedClock) {
	t.Helper()
	clock := &movedClock{}
	db, err := engine.OpenMemory(engine.Options{
		Now: clock.now, TableDelay: delay, TTLPause: time.Hour, SweepInterval: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, clock
}

func status(t *testing.T, db *engine.DB) dynamo.TableStatus {
	t.Helper()
	d, err := db.DescribeTable(t.Context(), streamTable)
	if err != nil {
		t.Fatal(err)
	}
	return d.TableStatus
}

func TestTablesTakeTheirTime(t *testing.T) {
	db, clock := openSlow(t)
	ctx := t.Context()
	if _, err := db.CreateTable(ctx, streamed(dynamo.ViewKeysOnly)); err != nil {
		t.Fatal(err)
	}
	get := func() error {
		_, err := db.Get(ctx, &dynamo.GetInput{TableName: streamTable, Key: key("a", "1")})
		return err
	}
	drop := func() error {
		_, err := db.DeleteTable(ctx, streamTable)
		return err
	}
	if s := status(t, db); s != dynamo.StatusCreating {
		t.Errorf("a new table is %s", s)
	}
	if err := get(); code(err) != dynamo.CodeResourceNotFound {
		t.Errorf("reading it: %v", err)
	}
	if err := drop(); code(err) != dynamo.CodeResourceInUse {
		t.Errorf("deleting it: %v", err)
	}
	clock.move(delay)
	if s := status(t, db); s != dynamo.StatusActive {
		t.Errorf("later it is %s", s)
	}
	if err := get(); err != nil {
		t.Errorf("reading it later: %v", err)
	}

	protect := true
	update := func() error {
		_, err := db.UpdateTable(ctx, &dynamo.UpdateTableInput{
			TableName: streamTable, DeletionProtectionEnabled: &protect,
		})
		return err
	}
	if err := update(); err != nil {
		t.Fatal(err)
	}
	if s := status(t, db); s != dynamo.StatusUpdating {
		t.Errorf("a changed table is %s", s)
	}
	if err := get(); err != nil {
		t.Errorf("a table that is updated can be read: %v", err)
	}
	protect = false
	if err := update(); code(err) != dynamo.CodeResourceInUse {
		t.Errorf("changing it again: %v", err)
	}
	clock.move(delay)
	if err := update(); err != nil {
		t.Fatal(err)
	}
	clock.move(delay)

	if err := drop(); err != nil {
		t.Fatal(err)
	}
	if s := status(t, db); s != dynamo.StatusDeleting {
		t.Errorf("a deleted table is %s", s)
	}
	if err := get(); code(err) != dynamo.CodeResourceNotFound {
		t.Errorf("reading a deleted table: %v", err)
	}
	if _, err := db.CreateTable(ctx, streamed(dynamo.ViewKeysOnly)); code(err) !=
		dynamo.CodeResourceInUse {
		t.Errorf("creating it again: %v", err)
	}
	if err := drop(); code(err) != dynamo.CodeResourceInUse {
		t.Errorf("deleting it again: %v", err)
	}
	list, err := db.ListTables(ctx, &dynamo.ListTablesInput{})
	if err != nil || len(list.TableNames) != 1 {
		t.Errorf("it is listed as %v, %v", list, err)
	}
	clock.move(delay)
	_, err = db.DescribeTable(ctx, streamTable)
	if code(err) != dynamo.CodeResourceNotFound {
		t.Errorf("describing what is gone: %v", err)
	}
}

func TestIndexesTakeTheirTime(t *testing.T) {
	db, clock := openSlow(t)
	ctx := t.Context()
	if _, err := db.CreateTable(ctx, streamed(dynamo.ViewKeysOnly)); err != nil {
		t.Fatal(err)
	}
	clock.move(delay)
	item := key("a", "1")
	item["g"] = dynamo.S("x")
	put(t, db, item)
	add := &dynamo.UpdateTableInput{
		TableName: streamTable,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "g", AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{
			Create: &dynamo.GlobalSecondaryIndex{
				IndexName: "byG", KeySchema: dynamo.HashKey("g"),
				Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
			},
		}},
	}
	if _, err := db.UpdateTable(ctx, add); err != nil {
		t.Fatal(err)
	}
	index := func() *dynamo.GlobalSecondaryIndexDescription {
		d, err := db.DescribeTable(ctx, streamTable)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.GlobalSecondaryIndexes) == 0 {
			return nil
		}
		return &d.GlobalSecondaryIndexes[0]
	}
	drop := &dynamo.UpdateTableInput{
		TableName:                   streamTable,
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{Delete: "byG"}},
	}
	if x := index(); x.IndexStatus != dynamo.StatusCreating || x.Backfilling {
		t.Errorf("a new index is %+v", x)
	}
	if _, err := db.UpdateTable(ctx, drop); code(err) != dynamo.CodeResourceInUse {
		t.Errorf("deleting it: %v", err)
	}
	clock.move(delay)
	waitUntil(t, func() bool { return index().IndexStatus == dynamo.StatusActive })
	if _, err := db.UpdateTable(ctx, drop); err != nil {
		t.Fatal(err)
	}
	if x := index(); x == nil || x.IndexStatus != dynamo.StatusDeleting {
		t.Errorf("a deleted index is %+v", x)
	}
	clock.move(delay)
	if x := index(); x != nil {
		t.Errorf("an index that is gone is %+v", x)
	}
}

func TestExpiryChangesOnceAnHourWhereAskedFor(t *testing.T) {
	db, clock := openSlow(t)
	if _, err := db.CreateTable(t.Context(), streamed(dynamo.ViewKeysOnly)); err != nil {
		t.Fatal(err)
	}
	clock.move(delay)
	turn := func(on bool) error {
		return db.UpdateTimeToLive(t.Context(), &dynamo.UpdateTimeToLiveInput{
			TableName: streamTable, AttributeName: "ttl", Enabled: on,
		})
	}
	if err := turn(true); err != nil {
		t.Fatal(err)
	}
	if err := turn(false); code(err) != dynamo.CodeValidation {
		t.Errorf("a second change at once: %v", err)
	}
	clock.move(time.Hour)
	if err := turn(false); err != nil {
		t.Errorf("a second change later: %v", err)
	}
}
