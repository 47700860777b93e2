package statements

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/exchequer-dev/exchequer/singletable"
)

// takenMax is how many rows of earlier imports are undone with one that took over from them, so
// that they and the tags of the transaction fit in one write. The next one before them gets its row
// back, and can be undone again.
const takenMax = 6

// imported are the states of an upload whose rows are there. One that had rows and is in another
// state is undone, or is being undone.
var imported = []UploadStatus{Importing, Processed}

// takenOver is what an import took over from earlier ones that are undone since. It is undone with
// that import.
type takenOver struct {
	entries []Entry // Of rows of those imports that had become part of the row, the latest first.
	whole   bool    // One of them brought the row.
	// seen are all earlier uploads that were looked at, with the state they are in.
	seen []Upload
}

// earlier is what an undo knows of uploads before its own.
type earlier struct {
	uploads map[string]*Upload           // Nil for one that is not there.
	merged  map[string]map[string]string // By upload and transaction: the row that became part.
}

// forget lets everything be read again.
func (e *earlier) forget() {
	*e = earlier{uploads: map[string]*Upload{}, merged: map[string]map[string]string{}}
}

// resolve finds what a transaction was before a row became part of it, and before the rows of
// undone imports did whose part in it was left to this one.
func (d *undoer) resolve(ctx context.Context, r *undoing) error {
	if err := r.was(&r.entry); err != nil {
		return err
	}
	for len(r.taken.entries) < takenMax {
		u, err := d.earlierUpload(ctx, r.before.UploadID)
		if err != nil || u == nil {
			return err
		}
		r.taken.seen = append(r.taken.seen, *u)
		if slices.Contains(imported, u.Status) {
			return nil
		}
		if r.taken.whole = u.ID == r.of.UploadID; r.taken.whole {
			return nil
		}
		e, err := d.mergedBy(ctx, *u, r.of.ID)
		if err != nil || e == nil {
			return err
		}
		if err := r.was(e); err != nil {
			return err
		}
		r.taken.entries = append(r.taken.entries, *e)
	}
	return nil
}

// was reads what a transaction was before the row of an entry became part of it.
func (r *undoing) was(e *Entry) error {
	r.before = &Transaction{}
	if err := json.Unmarshal([]byte(e.Before), r.before); err != nil {
		return fmt.Errorf("what %s was before: %w", e.Of, err)
	}
	return nil
}

// earlierUpload returns an upload, nil where there is none.
func (d *undoer) earlierUpload(ctx context.Context, id string) (*Upload, error) {
	if id == "" {
		return nil, nil
	}
	if u, known := d.earlier.uploads[id]; known {
		return u, nil
	}
	at := Upload{UserID: d.p.id, AccountID: d.upload.AccountID, ID: id}
	found, ok, err := modelOf(d.p).uploads.Get(ctx, d.p.store(), at, singletable.Consistent())
	if err != nil {
		return nil, failed("read upload", err)
	}
	var u *Upload
	if ok {
		u = &found
	}
	d.earlier.uploads[id] = u
	return u, nil
}

// mergedBy returns the entry of the row of an upload that became part of a transaction, nil where
// there is none.
func (d *undoer) mergedBy(ctx context.Context, u Upload, of string) (*Entry, error) {
	rows, known := d.earlier.merged[u.ID]
	if !known {
		rows = map[string]string{}
		for e, err := range d.p.files().entriesOf(ctx, u) {
			if err != nil {
				return nil, err
			}
			if e.State == Merged {
				rows[e.Of] = e.ID
			}
		}
		d.earlier.merged[u.ID] = rows
	}
	id, known := rows[of]
	if !known {
		return nil, nil
	}
	e, found, err := d.p.rows().entry(ctx, u.AccountID, id)
	if err != nil || !found || e.State != Merged || e.Of != of || e.UploadID != u.ID {
		return nil, err
	}
	return &e, nil
}

// demand makes a write depend on the earlier uploads being as they were seen: one that is undone
// in the meantime passes the row by, as that is another import's yet.
func (t *takenOver) demand(d *undoer, tx *singletable.Tx) {
	for _, u := range t.seen {
		if u.ID != d.upload.ID { // The undo depends on its own anyway.
			d.p.files().demandStatus(tx, u, u.Status)
		}
	}
}
