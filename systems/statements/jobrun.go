package statements

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// How much of a month a job writes at once. Each write has the job itself, a row or two sheets, and
// a check for each tag that comes to a row, within the 100 actions and 4 MB of a transaction.
const (
	jobRowsMax  = 45
	jobTagsMax  = 40
	jobBytesMax = 2 << 20
)

// monthsUnsaved is how many months without any change are read before the job notes how far it
// is; after a stop they are read again.
const monthsUnsaved = 12

// errJobMoved means that another process changed the job, or something that it had read: it has to
// be read again.
var errJobMoved = errors.New("the job was changed meanwhile")

// RunJob does what is left of a job and returns it as it is then. It goes on where an earlier run
// stopped, for any reason, and may be called again, also while another run goes on. Progress,
// if it is not nil, is called now and then, and at the end. The error is ErrNoJob, or that of the
// context or the store; the job can then be run again.
func (p *Person) RunJob(ctx context.Context, id string, progress func(Job)) (Job, error) {
	if progress == nil {
		progress = func(Job) {}
	}
	for {
		j, err := p.Job(ctx, id)
		if err != nil || j.Done {
			return j, err
		}
		run := &jobRun{p: p, job: j, known: sheets{}, progress: progress}
		err = run.all(ctx)
		if !errors.Is(err, errJobMoved) && !errors.Is(err, errRaced) {
			return run.job, err
		}
		if err := ctx.Err(); err != nil {
			return run.job, err
		}
	}
}

// RunJobs runs all jobs that are open, the oldest first.
func (p *Person) RunJobs(ctx context.Context, progress func(Job)) error {
	jobs, err := p.Jobs(ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.Done {
			continue
		}
		if _, err := p.RunJob(ctx, j.ID, progress); err != nil && !errors.Is(err, ErrNoJob) {
			return err
		}
	}
	return nil
}

// jobRun is one run of a job.
type jobRun struct {
	p        *Person
	job      Job // As it was last written, but for months without any change.
	known    sheets
	progress func(Job)
	unsaved  int

	// fix changes a row, and reports whether it did.
	fix func(*Transaction) bool
	// visits are the months to visit, in order. Where there are none the sheets show them: holds
	// reports whether a month with such a sheet may have rows to be changed.
	visits []string
	holds  func(*Sheet) bool

	changes []change
	entries int // How many of the changes bring an entry.
	tags    map[Tag]bool
	bytes   int
}

// all does what is left.
func (r *jobRun) all(ctx context.Context) error {
	idle, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	if !idle {
		if err := r.accounts(ctx); err != nil {
			return err
		}
	}
	r.job.Done = true
	if err := r.save(ctx); err != nil {
		r.job.Done = false
		return err
	}
	r.progress(r.job)
	return nil
}

// prepare finds out what is to be done with rows; idle means nothing.
func (r *jobRun) prepare(ctx context.Context) (idle bool, err error) {
	switch r.job.Kind {
	case RenamingTag:
		return r.prepareRename(ctx)
	case MergingTags, DeletingTag:
		return false, r.prepareReplace(ctx)
	default:
		return false, r.prepareRules(ctx)
	}
}

func (r *jobRun) accounts(ctx context.Context) error {
	// Accounts of the scope that are gone are left out.
	ids, err := r.p.rules().accountsOfScope(ctx, RuleScope{})
	if err != nil {
		return err
	}
	for _, id := range ids {
		in := r.job.Scope.AccountIDs
		if id < r.job.AccountID || len(in) > 0 && !slices.Contains(in, id) {
			continue
		}
		if err := r.months(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// months visits the months of an account that may have rows to be changed.
func (r *jobRun) months(ctx context.Context, account string) error {
	visits := r.visits
	if len(visits) == 0 {
		var err error
		if visits, err = r.held(ctx, account); err != nil {
			return err
		}
	}
	for _, month := range visits {
		if account == r.job.AccountID && firstDay(month) <= r.job.Month {
			continue // It is done.
		}
		if err := r.month(ctx, account, firstDay(month)); err != nil {
			return err
		}
	}
	return nil
}

// held lists the months of an account that may have rows to be changed, according to its sheets.
func (r *jobRun) held(ctx context.Context, account string) ([]string, error) {
	found, err := r.p.months().sheets(ctx, account, r.job.Scope.From, r.job.Scope.To)
	if err != nil {
		return nil, err
	}
	var months []string
	for i := range found {
		month := book.MonthOf(found[i].Month)
		if r.holds(&found[i]) && !slices.Contains(months, month) {
			months = append(months, month)
		}
	}
	return months, nil
}

// month changes the rows of a month, and notes that it is done.
func (r *jobRun) month(ctx context.Context, account string, month Date) error {
	read := 0
	from, to := month, lastDay(book.MonthOf(month))
	if scope := r.job.Scope; scope.From != "" {
		from, to = max(from, scope.From), min(to, scope.To)
	}
	in := OfDays{r.p.id, account, from, to}
	r.empty()
	for t, err := range modelOf(r.p).days.All(ctx, r.p.store(), in) {
		if err != nil {
			return failed("read transactions", err)
		}
		read++
		after := t.Clone()
		if !r.fix(after) {
			continue
		}
		if r.full(after) {
			if err := r.flush(ctx, r.job); err != nil {
				return err
			}
		}
		if err := r.take(ctx, &t, after); err != nil {
			return err
		}
	}
	next := r.job
	next.AccountID, next.Month, next.Read = account, month, next.Read+read
	if len(r.changes) > 0 {
		return r.flush(ctx, next)
	}
	r.job = next
	if r.unsaved++; r.unsaved < monthsUnsaved {
		return nil
	}
	if err := r.save(ctx); err != nil {
		return err
	}
	r.progress(r.job)
	return nil
}

// full reports whether a row has no place among those that wait.
func (r *jobRun) full(t *Transaction) bool {
	tags := len(r.tags)
	for tag := range tagsOfRow(t) {
		if !r.tags[tag] {
			tags++
		}
	}
	return len(r.changes) > 0 && (len(r.changes)+r.entries >= jobRowsMax || tags > jobTagsMax ||
		r.bytes+rowBytes(t) > jobBytesMax)
}

// empty leaves no rows that wait.
func (r *jobRun) empty() {
	r.changes, r.entries, r.tags, r.bytes = nil, 0, map[Tag]bool{}, 0
}

// take lets a row wait. One of another program becomes one like all others, with an entry.
func (r *jobRun) take(ctx context.Context, before, after *Transaction) error {
	c := change{before: before, after: after}
	if before.Version == 0 {
		_, found, err := r.p.rows().entry(ctx, after.AccountID, after.ID)
		if err != nil {
			return err
		}
		if !found {
			c.entryAfter = entryOf(after)
			r.entries++
		}
	}
	r.changes = append(r.changes, c)
	r.bytes += rowBytes(after)
	for tag := range tagsOfRow(after) {
		r.tags[tag] = true
	}
	return nil
}

// flush writes the rows that wait, together with the job.
func (r *jobRun) flush(ctx context.Context, next Job) error {
	next.Changed += len(r.changes)
	err := r.p.rows().
		write(ctx, r.known, r.changes, func(tx *singletable.Tx) { r.p.tagger().saveTx(tx, next) })
	if err != nil {
		return err
	}
	next.Version++
	r.job, r.unsaved = next, 0
	r.empty()
	r.progress(r.job)
	return nil
}

// save writes the job alone.
func (r *jobRun) save(ctx context.Context) error {
	tx := r.p.store().NewTx()
	tx.SetToken(newToken())
	r.p.tagger().saveTx(tx, r.job)
	err := tx.Commit(ctx)
	if errors.Is(err, singletable.ErrConditionFailed) {
		return errJobMoved
	}
	if err != nil {
		return failed("save job", err)
	}
	r.job.Version++
	r.unsaved = 0
	return nil
}

// rowBytes returns about how large a row is in the store.
func rowBytes(t *Transaction) int {
	const names = 600 // Of the attributes, with numbers and times.
	n := names + len(t.Text) + len(t.Notes) + len(t.Merchant) + len(t.Counterparty) +
		len(t.Reference) + len(t.Category) + len(t.BankID) + len(t.Details)
	for _, a := range t.Annotations {
		n += 80 + len(a.ID) + len(a.Text) + len(a.Type) + len(a.Author)
	}
	for _, s := range t.Splits {
		n += 60 + len(s.Notes)
	}
	for tag := range tagsOfRow(t) {
		n += len(tag.ID) + len(tag.Text) + 2
	}
	return n + len(strings.Join(t.Edited, ""))
}
