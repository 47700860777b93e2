package statements

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/match"
)

const (
	// writersMax is how many months are written in parallel. Rows of one month are written one
	// after the other, as they share a sheet.
	writersMax = 4
	// waitingMax is how many decided rows may wait to be written, about 2 KB each: enough that
	// months of a file in order of days are written in parallel.
	waitingMax = 4 * 1024
	// lanesKept is how many months keep their sheet when nothing of them waits.
	lanesKept = 64
	// racesMax is how often a write is tried again that others got in the way of.
	racesMax = 8
)

// writer carries plans out. The first error that it meets cancels the import.
type writer struct {
	p      *Person
	pl     *plan
	cancel context.CancelCauseFunc
	free   chan struct{} // Of writersMax.
	wait   sync.WaitGroup

	mu     sync.Mutex
	room   *sync.Cond
	lanes  map[lanePlace]*lane
	queued int
	adjust Counts // Outcomes that differ from the plan, by verdict.
	rules  sync.Mutex
}

// lanePlace is what shares a sheet.
type lanePlace struct {
	month    string
	currency money.Currency
}

// lane are the rows of one month and currency that wait, in the order of the file.
type lane struct {
	queue   []*match.Row
	running bool
	sheets  sheets
}

func newWriter(p *Person, pl *plan, cancel context.CancelCauseFunc) *writer {
	w := &writer{p: p, pl: pl, cancel: cancel, free: make(chan struct{}, writersMax),
		lanes: map[lanePlace]*lane{}}
	w.room = sync.NewCond(&w.mu)
	return w
}

// add takes a row to write. It waits while too many do.
func (w *writer) add(ctx context.Context, d *match.Row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.queued >= waitingMax && ctx.Err() == nil {
		w.startLongest(ctx)
		w.room.Wait()
	}
	at := lanePlace{book.MonthOf(d.Row.Date), d.Row.Currency}
	l := w.lanes[at]
	if l == nil {
		l = &lane{sheets: sheets{}}
		w.lanes[at] = l
	}
	l.queue = append(l.queue, d)
	w.queued++
	if !l.running && len(l.queue) >= rowsOfOneWrite {
		w.start(ctx, l)
	}
}

// startLongest starts the lane where most rows wait, if all that wait are in lanes that do not run.
func (w *writer) startLongest(ctx context.Context) {
	var longest *lane
	for _, l := range w.lanes {
		if l.running {
			return
		}
		if longest == nil || len(l.queue) > len(longest.queue) {
			longest = l
		}
	}
	if longest != nil {
		w.start(ctx, longest)
	}
}

// start writes what waits in a lane. The caller holds the lock.
func (w *writer) start(ctx context.Context, l *lane) {
	l.running = true
	w.wait.Go(func() {
		w.free <- struct{}{}
		defer func() { <-w.free }()
		for {
			w.mu.Lock()
			n := min(len(l.queue), rowsOfOneWrite)
			batch := l.queue[:n:n]
			l.queue = l.queue[n:]
			if n == 0 || ctx.Err() != nil {
				w.queued -= n
				l.running, l.queue = false, nil
				if len(w.lanes) > lanesKept {
					l.sheets = sheets{}
				}
				w.room.Broadcast()
				w.mu.Unlock()
				return
			}
			w.mu.Unlock()
			if err := w.write(ctx, l.sheets, batch); err != nil {
				w.cancel(err)
			}
			w.mu.Lock()
			w.queued -= n
			// Less than a whole write waits for more, unless this is what the walk waits for.
			rest := len(l.queue) < rowsOfOneWrite
			if rest {
				l.running = false
			}
			w.room.Broadcast()
			w.mu.Unlock()
			if rest {
				return
			}
		}
	})
}

// finish writes all that still waits.
func (w *writer) finish(ctx context.Context) {
	w.wait.Wait()
	w.mu.Lock()
	for _, l := range w.lanes {
		if len(l.queue) > 0 && ctx.Err() == nil {
			w.start(ctx, l)
		}
	}
	w.mu.Unlock()
	w.wait.Wait()
}

// waiting returns how many rows wait.
func (w *writer) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queued
}

// counted returns counts with the outcomes that differ from the plan.
func (w *writer) counted(c Counts) Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.New += w.adjust.New
	c.Known += w.adjust.Known
	c.Merged += w.adjust.Merged
	c.Deleted += w.adjust.Deleted
	return c
}

// turned notes that a row became something else than planned.
func (w *writer) turned(from, to Verdict) {
	if from == to {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.adjust.of(from)--
	*w.adjust.of(to)++
}

// write writes rows of one lane: the new ones together, those that become part of others one by
// one.
func (w *writer) write(ctx context.Context, known sheets, batch []*match.Row) error {
	var fresh []*match.Row
	for _, d := range batch {
		if d.Do == match.Create || d.Do == match.Revive {
			fresh = append(fresh, d)
			continue
		}
		alone, err := w.join(ctx, known, d)
		if err != nil {
			return err
		}
		if alone != nil {
			fresh = append(fresh, alone)
		}
	}
	return w.bring(ctx, known, fresh)
}

// demand makes a write depend on the upload: an import writes nothing any more once it is undone,
// or erased, also if the upload is imported again after that. Another import of the same upload may
// have ended.
func (w *writer) demand(tx *singletable.Tx) {
	w.p.files().demandStatus(tx, w.pl.upload, Importing, Processed)
}

// wanted returns what ends the import where its upload is why a write was refused. The error is
// ErrNoUpload, ErrUploadState or ErrChanged.
func (w *writer) wanted(ctx context.Context) error {
	u, err := w.p.UploadOf(ctx, w.pl.account.ID, w.pl.upload.ID)
	if err != nil {
		return err
	}
	return stillPlanned(&u, &w.pl.upload)
}

// stillPlanned returns why an import that was planned for an upload may not go on: it is undone, or
// it was, and is imported again. The error is ErrUploadState or ErrChanged.
func stillPlanned(now, planned *Upload) error {
	switch {
	case now.Status != Importing && now.Status != Processed:
		return ErrUploadState.With("status", now.Status).With("deed", "imported")
	case now.Undos != planned.Undos:
		return ErrChanged.With("what", "Upload "+now.ID)
	}
	return nil
}

// bring writes new rows, all or none at a time.
func (w *writer) bring(ctx context.Context, known sheets, rows []*match.Row) error {
	for range racesMax {
		if len(rows) == 0 {
			return nil
		}
		changes := make([]change, len(rows))
		for i, d := range rows {
			c := change{after: d.Row, entryAfter: w.entry(d, Live)}
			if d.Version > 0 {
				c.entryBefore = &Entry{Version: d.Version}
			}
			changes[i] = c
		}
		err := w.p.rows().writeAs(ctx, manner{demand: w.demand}, known, changes)
		if !errors.Is(err, errRaced) && !errors.Is(err, singletable.ErrUnknown) {
			return err
		}
		if err := w.wanted(ctx); err != nil {
			return err
		}
		// Another import has brought some of them, or the answer was lost. What is there is there.
		left := rows[:0:0]
		for _, d := range rows {
			e, found, err := w.p.rows().entry(ctx, w.pl.account.ID, d.As)
			if err != nil {
				return err
			}
			if d.Version = e.Version; found && e.State != Undone {
				w.turned(d.Verdict, w.verdictOf(&e))
				continue
			}
			left = append(left, d)
		}
		rows = left
	}
	return ErrContended.With("items", "the rows of upload "+w.pl.upload.ID)
}

// verdictOf returns what a row is whose entry was there when it was written.
func (w *writer) verdictOf(e *Entry) Verdict {
	switch mine := e.UploadID == w.pl.upload.ID; {
	case e.State == Deleted:
		return match.Deleted
	case mine && e.State == Merged:
		return match.Merged
	case mine:
		return match.New
	}
	return match.Known
}

// entry makes what is remembered of a row.
func (w *writer) entry(d *match.Row, state EntryState) *Entry {
	t := d.Row
	return &Entry{UserID: w.p.id, AccountID: t.AccountID, Month: book.MonthOfID(d.As), ID: d.As,
		State: state, Date: t.Date, Amount: t.Amount, Currency: t.Currency, Pending: t.Pending,
		Source: FromBank, UploadID: w.pl.upload.ID, BankKey: d.Bank, Content: d.Content,
		Payee: book.ShortPayee(t.Merchant)}
}

// join makes a row part of one that is there, together with both their entries. It returns the row
// as a new one where that other one is gone, or has been found to be another row in the meantime.
func (w *writer) join(ctx context.Context, known sheets, d *match.Row) (*match.Row, error) {
	for range racesMax {
		own, found, err := w.p.rows().entry(ctx, d.Row.AccountID, d.As)
		if err != nil {
			return nil, err
		}
		if found && own.State != Undone {
			w.turned(d.Verdict, w.verdictOf(&own))
			return nil, nil
		}
		own.ID = d.As
		of, there, err := w.p.rows().entry(ctx, d.Row.AccountID, d.Target)
		if err != nil {
			return nil, err
		}
		there = there && of.State == Live &&
			(d.Do != match.Merge || of.Pending || of.Source == FromPerson)
		var t Transaction
		if there {
			t, err = w.p.TransactionOf(ctx, d.Row.AccountID, of.Date, d.Target)
			if there = err == nil; err != nil && !errors.Is(err, ErrNoTransaction) {
				return nil, err
			}
		}
		if !there {
			if d.Do == match.Remove {
				w.turned(d.Verdict, match.Skipped)
				return nil, nil
			}
			w.turned(d.Verdict, match.New)
			alone := *d
			alone.Do, alone.Version, alone.Verdict = match.Create, own.Version, match.New
			return &alone, nil
		}
		changes, verdict, err := w.joined(d, &t, &of, &own)
		if err != nil {
			return nil, err
		}
		err = w.p.rows().writeAs(ctx, manner{token: true, demand: w.demand}, known, changes)
		if err == nil {
			w.turned(d.Verdict, verdict)
		}
		if !errors.Is(err, errRaced) {
			return nil, err
		}
		if err := w.wanted(ctx); err != nil {
			return nil, err
		}
	}
	return nil, ErrContended.With("items", "the rows of upload "+w.pl.upload.ID)
}

// joined returns the changes of two rows that become one.
func (w *writer) joined(
	d *match.Row, t *Transaction, of, own *Entry,
) ([]change, Verdict, error) {
	before, err := json.Marshal(bare(t))
	if err != nil {
		return nil, "", fmt.Errorf("keep transaction %s: %w", t.ID, err)
	}
	mine := w.entry(d, Merged)
	mine.Of, mine.Before = t.ID, string(before)
	mark := change{entryAfter: mine}
	if own.Version > 0 {
		mark.entryBefore = own
	}
	next := *of
	ofRow := change{before: t, entryBefore: of, entryAfter: &next}
	if d.Do == match.Remove {
		if len(touched(t)) == 0 {
			next.State, mine.State = Deleted, Deleted
			return []change{ofRow, mark}, match.Deleted, nil
		}
		after := t.Clone()
		after.UploadID, after.Line = d.Row.UploadID, d.Row.Line // It is this file's to undo.
		w.remark(after, d, "The bank has taken this row back.")
		ofRow.after, ofRow.entryAfter = after, nil
		ofRow.entryBefore = nil
		return []change{ofRow, mark}, match.Merged, nil
	}
	after := joinedRow(t, d.Row, of.UploadID == "")
	if d.Do == match.Correct {
		w.remark(after, d, fmt.Sprintf("The bank has corrected this row: it was %s on %s.",
			t.Amount, t.Date))
	}
	w.rules.Lock()
	w.pl.rules.apply(after)
	w.rules.Unlock()
	ofRow.after = after
	next.Date, next.Amount, next.Pending, next.Source = after.Date, after.Amount, d.Row.Pending,
		FromBank
	return []change{ofRow, mark}, match.Merged, nil
}

// remark leaves an annotation, unless there is no room for it.
func (w *writer) remark(t *Transaction, d *match.Row, text string) {
	if len(t.Annotations) < AnnotationsMax {
		t.Annotations = append(t.Annotations, Annotation{ID: remarkID(d.As), Text: text,
			Type: "bank", Author: "import", CreatedAt: w.p.now()})
	}
}

// remarkID is the id of the remark that an import leaves for one of its rows.
func remarkID(row string) string { return "annotation-" + row }
