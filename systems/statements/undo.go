package statements

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// EditedRow is a row of an import that a person has edited since.
type EditedRow struct {
	ID       string         `json:"id"`
	Date     Date           `json:"date"`
	Amount   money.Decimal  `json:"amount"`
	Currency money.Currency `json:"currency"`
	Merchant string         `json:"merchant"`
	// What are the fields that are a person's: "notes", "tags", "annotations" and so on.
	What []string `json:"what"`
}

// UndoPlan is what undoing an import would do.
type UndoPlan struct {
	// New are transactions that would go: it brought them, or took them over from an import that is
	// undone since.
	New    int
	Merged int // Transactions that would be again what they were before.
	Others int // Rows that a later import has taken over; they stay until that one is undone.
	// EditedOf is how many of the first two a person has edited since, and Edited names the
	// first EditedMax of them.
	EditedOf int
	Edited   []EditedRow
}

// Edits is what an undo does with rows that a person has edited since.
type Edits string

// The choices.
const (
	KeepEdited   Edits = "keep"
	RemoveEdited Edits = "remove"
)

// UndoOptions are the choices of an undo.
type UndoOptions struct {
	// Edited is needed where there are rows that a person has edited since.
	Edited Edits
	// Progress is called with how many rows of how many are done.
	Progress func(done, of int)
}

// revertible are the states from which an undo may begin, or go on. An import that was stopped can
// be undone, and an undo can be done again, for what it had to leave.
var revertible = []UploadStatus{Importing, Processed, Reverting, Reverted}

// undoing is one row that an undo takes back.
type undoing struct {
	entry  Entry
	row    *Transaction // Nil where it is gone.
	of     *Entry       // The entry of row, where the undone one became part of it.
	before *Transaction // What row was before that.
	taken  takenOver
	what   []string // The fields that a person has edited since.
}

// undoer takes an import back, or finds out what that would do.
type undoer struct {
	p       *Person
	upload  Upload
	keep    bool   // Rows that a person has edited stay.
	known   sheets // Those of the months that it is at.
	earlier earlier
}

// PlanUndo is what Undo would do. The error is ErrNoUpload or ErrUploadState.
func (p *Person) PlanUndo(ctx context.Context, account, id string) (UndoPlan, error) {
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return UndoPlan{}, err
	}
	if !slices.Contains(revertible, u.Status) {
		return UndoPlan{}, ErrUploadState.With("status", u.Status).With("deed", "undone")
	}
	return (&undoer{p: p, upload: u}).plan(ctx)
}

func (d *undoer) plan(ctx context.Context) (UndoPlan, error) {
	var plan UndoPlan
	err := d.each(ctx, func(batch []undoing) error {
		for i := range batch {
			r := &batch[i]
			switch {
			case r.others(d.upload.ID):
				plan.Others++
				continue
			case r.taken.whole && r.row == nil: // There is nothing to see of it, nor will be.
			case r.entry.Of != "" && !r.taken.whole:
				plan.Merged++
			default:
				plan.New++
			}
			if len(r.what) == 0 {
				continue
			}
			if plan.EditedOf++; plan.EditedOf <= EditedMax {
				t := r.row
				plan.Edited = append(plan.Edited, EditedRow{t.ID, t.Date, t.Amount, t.Currency,
					t.Merchant, r.what})
			}
		}
		return nil
	})
	return plan, err
}

// others reports that a later import has found the row to be one of its own.
func (r *undoing) others(upload string) bool { return r.row != nil && r.row.UploadID != upload }

// Undo takes back what an import did: what it brought goes, and comes with the next import of the
// file; what became part of others is taken out of them again. What a person deleted stays deleted.
// Rows that a person has edited since are kept or removed according to the options; without a word
// about them the error is ErrUndoEdited, and those that a person edits while it runs are kept.
// One that was stopped can be repeated. Once another undo has ended and the upload is imported
// again, nothing is removed any more, and the error is ErrChanged. Other errors are ErrNoUpload and
// ErrUploadState.
func (p *Person) Undo(ctx context.Context, account, id string, o UndoOptions) (Upload, error) {
	if o.Edited != "" && o.Edited != KeepEdited && o.Edited != RemoveEdited {
		return Upload{}, ErrInvalid.Field("edited", "must be keep or remove")
	}
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return Upload{}, err
	}
	if !slices.Contains(revertible, u.Status) {
		return Upload{}, ErrUploadState.With("status", u.Status).With("deed", "undone")
	}
	d := undoer{p: p, upload: u, keep: o.Edited != RemoveEdited, known: sheets{}}
	plan, err := d.plan(ctx)
	if err != nil {
		return Upload{}, err
	}
	if plan.EditedOf > 0 && o.Edited == "" {
		return Upload{}, ErrUndoEdited.With("rows", plan.EditedOf)
	}
	u, err = p.files().changeUpload(ctx, account, id, func(now *Upload) error {
		if !slices.Contains(revertible, now.Status) {
			return ErrUploadState.With("status", now.Status).With("deed", "undone")
		}
		if slices.Contains(imported, now.Status) {
			now.Undos++
		}
		now.Status = Reverting
		return nil
	})
	if err != nil {
		return Upload{}, err
	}
	d.upload = u
	done, of := 0, plan.New+plan.Merged+plan.Others
	err = d.each(ctx, func(batch []undoing) error {
		if err := d.undo(ctx, batch); err != nil {
			return err
		}
		if len(d.known) > lanesKept {
			clear(d.known)
		}
		if done += len(batch); o.Progress != nil {
			o.Progress(done, max(done, of))
		}
		return nil
	})
	if err != nil {
		return Upload{}, err
	}
	return p.files().changeUpload(ctx, account, id, func(now *Upload) error {
		if err := d.stillUndone(now); err != nil {
			return err
		}
		now.Status, now.Digest = Reverted, ""
		return nil
	})
}

// stillUndone returns ErrChanged if an undo may not go on, because another one has ended in the
// meantime and the upload is imported again.
func (d *undoer) stillUndone(now *Upload) error {
	if slices.Contains(undoable, now.Status) && now.Undos == d.upload.Undos {
		return nil
	}
	return ErrChanged.With("what", "Upload "+now.ID)
}

// undoable are the states in which an undo removes rows.
var undoable = []UploadStatus{Reverting, Reverted}

// each gives what the import did, some rows at a time, as it is now.
func (d *undoer) each(ctx context.Context, take func([]undoing) error) error {
	d.earlier.forget()
	var batch []Entry
	flush := func() error {
		rows, err := d.undoings(ctx, batch)
		batch = batch[:0]
		if err != nil || len(rows) == 0 {
			return err
		}
		return take(rows)
	}
	for e, err := range d.p.files().entriesOf(ctx, d.upload) {
		if err != nil {
			return err
		}
		if batch = append(batch, e); len(batch) == rowsOfOneWrite {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// entriesOf yields what is remembered of the rows of an import that are not undone, nor deleted by
// a person. Rows that came back are under the month of the file that had them first, so the
// months around are looked through too.
func (p uploader) entriesOf(ctx context.Context, u Upload) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, month := range monthsAround(u.Months) {
			in := OfMonth{p.id, u.AccountID, month}
			for e, err := range modelOf(p.Person).entriesOf.All(ctx, p.store(), in) {
				if err != nil {
					yield(Entry{}, failed("read entries", err))
					return
				}
				if e.UploadID == u.ID && e.State != Undone && (e.State != Deleted || e.Of != "") &&
					!yield(e, nil) {
					return
				}
			}
		}
	}
}

// monthsAround returns some months with those before and after them, in order.
func monthsAround(months []string) []string {
	var around []string
	for _, month := range months {
		first, err := time.Parse("2006-01", month)
		if err != nil {
			continue
		}
		for _, step := range []int{-1, 0, 1} {
			around = append(around, first.AddDate(0, step, 0).Format("2006-01"))
		}
	}
	slices.Sort(around)
	return slices.Compact(around)
}

// undoings reads the transactions of entries.
func (d *undoer) undoings(ctx context.Context, entries []Entry) ([]undoing, error) {
	p, account := d.p, d.upload.AccountID
	rows := make([]undoing, 0, len(entries))
	at := make([]Transaction, 0, len(entries))
	for _, e := range entries {
		r := undoing{entry: e}
		date, id := e.Date, e.ID
		if e.Of != "" {
			of, found, err := p.rows().entry(ctx, account, e.Of)
			if err != nil {
				return nil, err
			}
			if !found || of.State != Live && e.State != Deleted {
				continue // A person has deleted the whole: it stays so.
			}
			r.of, date, id = &of, of.Date, of.ID
			if err := d.resolve(ctx, &r); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
		at = append(at, Transaction{UserID: p.id, AccountID: account, Date: date, ID: id})
	}
	found, err := modelOf(p).transactions.GetMany(ctx, p.store(), at, singletable.Consistent())
	if err != nil {
		return nil, failed("read transactions", err)
	}
	left := rows[:0]
	for i, r := range rows {
		if r.row = found[i]; r.row == nil {
			if r.entry.Of == "" || r.entry.State == Deleted {
				left = append(left, r)
			}
			continue
		}
		switch {
		case r.entry.Of == "":
			r.what = touched(r.row)
		case r.taken.whole:
			r.what = touched(r.withoutRemarks(r.row))
		default:
			r.what = touchedSince(r.row, r.before)
		}
		left = append(left, r)
	}
	return left, nil
}

// undo takes rows back: those that are rows of their own together, and one by one, with the other
// row, those that became part of one. So no row is ever taken back by half.
func (d *undoer) undo(ctx context.Context, batch []undoing) error {
	var own []undoing
	for i := range batch {
		if batch[i].entry.Of == "" {
			own = append(own, batch[i])
			continue
		}
		if err := d.undoAtOnce(ctx, batch[i:i+1]); err != nil {
			return err
		}
	}
	return d.undoAtOnce(ctx, own)
}

// undoAtOnce takes rows back in one write, unless others get in its way.
func (d *undoer) undoAtOnce(ctx context.Context, batch []undoing) error {
	for range racesMax {
		var changes []change
		var entries []Entry
		for i := range batch {
			r := &batch[i]
			if r.others(d.upload.ID) || d.keep && len(r.what) > 0 {
				continue
			}
			changes = append(changes, r.changes()...)
			entries = append(entries, r.entry)
		}
		if len(changes) == 0 {
			return nil
		}
		demand := func(tx *singletable.Tx) {
			d.p.files().demandStatus(tx, d.upload, undoable...)
			for i := range batch {
				batch[i].taken.demand(d, tx)
			}
		}
		err := d.p.rows().writeAs(ctx, manner{token: true, demand: demand}, d.known, changes)
		if !errors.Is(err, errRaced) {
			return err
		}
		// Another writer was faster: look at the upload and the rows as they are now.
		u, err := d.p.UploadOf(ctx, d.upload.AccountID, d.upload.ID)
		if err == nil {
			err = d.stillUndone(&u)
		}
		if err != nil {
			return err
		}
		d.earlier.forget()
		var left []Entry
		for _, e := range entries {
			now, found, err := d.p.rows().entry(ctx, d.upload.AccountID, e.ID)
			if err != nil {
				return err
			}
			if found && now.UploadID == d.upload.ID && now.State != Undone &&
				(now.State != Deleted || now.Of != "") {
				left = append(left, now)
			}
		}
		if batch, err = d.undoings(ctx, left); err != nil {
			return err
		}
	}
	return ErrContended.With("items", "the rows of upload "+d.upload.ID)
}

// changes are those that take one row back.
func (r *undoing) changes() []change {
	mark := markUndone(&r.entry)
	if r.entry.Of == "" {
		mark.before = r.row
		return []change{mark}
	}
	of := *r.of
	of.State = Live
	back := change{before: r.row, entryBefore: r.of, entryAfter: &of}
	if r.row == nil { // The bank took it back.
		back.after = r.before
		back.after.UserID, back.after.AccountID, back.after.ID = of.UserID, of.AccountID, of.ID
	} else {
		back.after = parted(r.withoutRemarks(r.row), r.before)
	}
	of.Date, of.Amount = back.after.Date, back.after.Amount
	of.Pending, of.Source = r.before.Pending, r.before.Source
	if r.taken.whole {
		back.after, of.State = nil, Undone
	}
	changes := []change{back, mark}
	for i := range r.taken.entries {
		changes = append(changes, markUndone(&r.taken.entries[i]))
	}
	return changes
}

// markUndone is the change of an entry whose row is undone.
func markUndone(e *Entry) change {
	undone := *e
	undone.State, undone.Of, undone.Before = Undone, "", ""
	return change{entryBefore: e, entryAfter: &undone}
}

// withoutRemarks returns a row without what the undone imports have remarked on it.
func (r *undoing) withoutRemarks(t *Transaction) *Transaction {
	ids := []string{remarkID(r.entry.ID)}
	for i := range r.taken.entries {
		ids = append(ids, remarkID(r.taken.entries[i].ID))
	}
	bare := *t
	bare.Annotations = slices.DeleteFunc(slices.Clone(t.Annotations), func(a Annotation) bool {
		return slices.Contains(ids, a.ID)
	})
	return &bare
}
