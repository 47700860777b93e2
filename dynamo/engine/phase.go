package engine

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// pollPhase is the interval at which waiting work checks the clock, because tests advance their
// clock without a notification.
const pollPhase = 5 * time.Millisecond

// phase is the status of a table while a change takes time; see Options.TableDelay. It is not
// stored: after a restart every change is complete.
type phase struct {
	status dynamo.TableStatus // CREATING or UPDATING, until then
	until  time.Time
	// leaving is the last description of an index that was deleted.
	leaving *dynamo.GlobalSecondaryIndexDescription
}

// beginPhase begins a phase of a table that lasts for TableDelay.
func (db *DB) beginPhase(t *table, status dynamo.TableStatus) {
	if db.opts.TableDelay > 0 {
		t.phase = phase{status: status, until: db.opts.Now().Add(db.opts.TableDelay)}
	}
}

// in reports whether a table is in a phase that is not over.
func (db *DB) in(t *table, status dynamo.TableStatus) bool {
	return t.phase.status == status && db.opts.Now().Before(t.phase.until)
}

// describePhase changes a description to what the service returns during the table's phase.
func (db *DB) describePhase(t *table, out *dynamo.TableDescription) {
	if db.opts.TableDelay <= 0 || !db.opts.Now().Before(t.phase.until) {
		return
	}
	out.TableStatus = t.phase.status
	for i := range out.GlobalSecondaryIndexes {
		x := &out.GlobalSecondaryIndexes[i]
		switch {
		case t.phase.status == dynamo.StatusCreating:
			x.IndexStatus = dynamo.StatusCreating
		case x.IndexStatus == dynamo.StatusCreating:
			x.Backfilling = false // the service allocates resources before it fills the index
		}
	}
	if t.phase.leaving != nil {
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, *t.phase.leaving)
	}
}

// checkIdle refuses a change of a table during another change.
func (db *DB) checkIdle(t *table) error {
	switch {
	case db.in(t, dynamo.StatusCreating):
		return inUse("Table is being created: " + t.Name)
	case db.in(t, dynamo.StatusUpdating):
		return inUse("Table is being updated: " + t.Name)
	}
	return nil
}

func inUse(what string) error {
	return &dynamo.Error{
		Code:    dynamo.CodeResourceInUse,
		Message: "Attempt to change a resource which is still in use: " + what,
	}
}

// deletedTable is a table that was deleted and is still described.
type deletedTable struct {
	description dynamo.TableDescription
	until       time.Time
}

// keepDescription keeps the description of a deleted table for TableDelay.
func (db *DB) keepDescription(d *dynamo.TableDescription) {
	if db.opts.TableDelay > 0 {
		db.deletedTables[d.TableName] = deletedTable{*d, db.opts.Now().Add(db.opts.TableDelay)}
	}
}

// deletedDescription returns the description of a table that is being deleted.
func (db *DB) deletedDescription(name string) *dynamo.TableDescription {
	if g, ok := db.deletedTables[name]; ok && db.opts.Now().Before(g.until) {
		d := g.description
		return &d
	}
	return nil
}

// keepIndexDescription keeps the description of a deleted index for TableDelay.
func (db *DB) keepIndexDescription(before *dynamo.TableDescription, t *table, index string) {
	for _, x := range before.GlobalSecondaryIndexes {
		if x.IndexName == index && db.opts.TableDelay > 0 {
			x.IndexStatus, x.Backfilling = dynamo.StatusDeleting, false
			t.phase.leaving = &x
		}
	}
}

// awaitPhase waits until the phase is over by the clock.
func (db *DB) awaitPhase(ctx context.Context, until time.Time) error {
	if db.opts.TableDelay <= 0 {
		return nil
	}
	ticker := time.NewTicker(pollPhase)
	defer ticker.Stop()
	for db.opts.Now().Before(until) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}
