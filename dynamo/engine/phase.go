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

// phases describes tables and indexes while a change of them takes time.
type phases struct {
	db      *DB
	deleted map[string]deletedTable // tables that are being deleted
}

// begin begins a phase of a table that lasts for TableDelay.
func (p *phases) begin(t *table, status dynamo.TableStatus) {
	if p.db.opts.TableDelay > 0 {
		t.phase = phase{status: status, until: p.db.opts.Now().Add(p.db.opts.TableDelay)}
	}
}

// in reports whether a table is in a phase that is not over.
func (p *phases) in(t *table, status dynamo.TableStatus) bool {
	return t.phase.status == status && p.db.opts.Now().Before(t.phase.until)
}

// describe changes a description to what the service returns during the table's phase.
func (p *phases) describe(t *table, out *dynamo.TableDescription) {
	if p.db.opts.TableDelay <= 0 || !p.db.opts.Now().Before(t.phase.until) {
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
func (p *phases) checkIdle(t *table) error {
	switch {
	case p.in(t, dynamo.StatusCreating):
		return inUse("Table is being created: " + t.Name)
	case p.in(t, dynamo.StatusUpdating):
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

// keep keeps the description of a deleted table for TableDelay.
func (p *phases) keep(d *dynamo.TableDescription) {
	if p.db.opts.TableDelay > 0 {
		p.deleted[d.TableName] = deletedTable{*d, p.db.opts.Now().Add(p.db.opts.TableDelay)}
	}
}

// deletedTable returns the description of a table that is being deleted.
func (p *phases) deletedTable(name string) *dynamo.TableDescription {
	if g, ok := p.deleted[name]; ok && p.db.opts.Now().Before(g.until) {
		d := g.description
		return &d
	}
	return nil
}

// keepIndex keeps the description of a deleted index for TableDelay.
func (p *phases) keepIndex(before *dynamo.TableDescription, t *table, index string) {
	for _, x := range before.GlobalSecondaryIndexes {
		if x.IndexName == index && p.db.opts.TableDelay > 0 {
			x.IndexStatus, x.Backfilling = dynamo.StatusDeleting, false
			t.phase.leaving = &x
		}
	}
}

// await waits until the phase is over by the clock.
func (p *phases) await(ctx context.Context, until time.Time) error {
	if p.db.opts.TableDelay <= 0 {
		return nil
	}
	ticker := time.NewTicker(pollPhase)
	defer ticker.Stop()
	for p.db.opts.Now().Before(until) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}
