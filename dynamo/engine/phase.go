package engine

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// pollPhase is how often work that waits for the clock looks at it; tests move theirs at once.
const pollPhase = 5 * time.Millisecond

// phase is what a table is going through while changes take time; see Options.TableDelay. It is not
// kept: what a restart meets is done.
type phase struct {
	status dynamo.TableStatus // CREATING or UPDATING, until then
	until  time.Time
	// leaving is an index that was deleted, as it was.
	leaving *dynamo.GlobalSecondaryIndexDescription
}

// pass begins a phase of a table that lasts for the delay.
func (db *DB) pass(t *table, status dynamo.TableStatus) {
	if db.opts.TableDelay > 0 {
		t.phase = phase{status: status, until: db.opts.Now().Add(db.opts.TableDelay)}
	}
}

// in reports whether a table is in a phase that still lasts.
func (db *DB) in(t *table, status dynamo.TableStatus) bool {
	return t.phase.status == status && db.opts.Now().Before(t.phase.until)
}

// describePhase adds to a description what the table is going through.
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
			x.Backfilling = false // resources come first, then the items
		}
	}
	if t.phase.leaving != nil {
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, *t.phase.leaving)
	}
}

// checkIdle refuses to change a table that is being changed.
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

// ghost is a table that was deleted and is still described.
type ghost struct {
	description dynamo.TableDescription
	until       time.Time
}

// haunt keeps a deleted table's description for the delay.
func (db *DB) haunt(d *dynamo.TableDescription) {
	if db.opts.TableDelay > 0 {
		db.ghosts[d.TableName] = ghost{*d, db.opts.Now().Add(db.opts.TableDelay)}
	}
}

// ghost returns the description of a table that is being deleted.
func (db *DB) ghost(name string) *dynamo.TableDescription {
	if g, ok := db.ghosts[name]; ok && db.opts.Now().Before(g.until) {
		d := g.description
		return &d
	}
	return nil
}

// leave keeps the description of a deleted index for the delay.
func (db *DB) leave(before *dynamo.TableDescription, t *table, index string) {
	for _, x := range before.GlobalSecondaryIndexes {
		if x.IndexName == index && db.opts.TableDelay > 0 {
			x.IndexStatus, x.Backfilling = dynamo.StatusDeleting, false
			t.phase.leaving = &x
		}
	}
}

// awaitPhase waits until a phase is over by the clock.
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
