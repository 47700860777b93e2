package statements

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// restoring is the kind of the job that exists while an archive is brought back. Its id is made of
// the archive's digest, so that a restore that was cut off goes on with the same archive alone.
const restoring JobKind = "restore"

// restoreBatch is how many rows are written at once: half of what fits in one transaction of the
// store, so that those of usual size do. restoreTries bounds how often that is tried when others
// write to the same months.
const (
	restoreBatch = singletable.TxActionsMax / 2
	restoreTries = 20
)

// Restore brings an archive back, into the part of a user who has nothing yet. All of the archive
// is checked before anything is written. A restore that was cut off is finished by another one of
// the same archive; until then no one should change what is there. The error is
// ErrUnreadable, ErrNotEmpty, ErrQuota, ErrNoFiles or that of the reader.
func (p *Person) Restore(
	ctx context.Context, r io.ReaderAt, size int64, progress func(ArchiveCounts),
) (ArchiveCounts, error) {
	b, err := openBundle(r, size)
	if err != nil {
		return ArchiveCounts{}, err
	}
	if err := b.check(); err != nil {
		return ArchiveCounts{}, err
	}
	if b.manifest.Counts.Files > 0 && p.books.opts.Files == nil {
		return ArchiveCounts{}, ErrNoFiles
	}
	if err := p.roomFor(b); err != nil {
		return ArchiveCounts{}, err
	}
	t := &restorer{p: p, b: b, progress: progress, known: sheets{}}
	marker := Job{UserID: p.id, ID: "restore-" + b.digest[:book.IDHashBytes*2], Kind: restoring,
		CreatedAt: p.now(), UpdatedAt: p.now(), Version: 1,
		Done: true} // No other process may run it.
	if t.again, err = p.beginRestore(ctx, marker); err != nil {
		return ArchiveCounts{}, err
	}
	for _, step := range []func(context.Context) error{
		t.nouns, t.uploads, t.transactions, t.entries,
		// Jobs come last: they work on rows.
		func(ctx context.Context) error {
			return restoreAll(ctx, t, archiveJobs, modelOf(p).jobs, &t.counts.Jobs,
				func(j *Job) error { j.UserID = p.id; return nil })
		},
	} {
		if err := step(ctx); err != nil {
			return t.counts, fmt.Errorf("restore: %w", err)
		}
		t.tell()
	}
	return t.counts, wrapped("end restore", modelOf(p).jobs.Delete(ctx, p.store(), marker))
}

// roomFor returns ErrQuota if the files of an archive are more than a user may have. It counts the
// sizes of the files in the archive, because its uploads may have others.
func (p *Person) roomFor(b *bundle) error {
	var used Used
	err := lines(b, archiveUploads, func(u *Upload) error {
		f, found, err := b.fileOf(u)
		if err != nil {
			return err
		}
		if found {
			used.Files++
			used.Bytes += f.Size
			return nil
		}
		used.add(u, p.now())
		return nil
	})
	if err != nil {
		return err
	}
	q := p.books.opts.Quota
	if q.Files > 0 && used.Files > q.Files || q.Bytes > 0 && used.Bytes > q.Bytes {
		return ErrQuota.With("files", used.Files).With("bytes", used.Bytes).
			With("filesMax", bound(q.Files)).With("bytesMax", bound(q.Bytes))
	}
	return nil
}

// beginRestore demands that there is nothing, or what an earlier restore of the same archive left,
// which it then reports.
func (p *Person) beginRestore(ctx context.Context, marker Job) (again bool, err error) {
	jobs, err := p.Jobs(ctx)
	if err != nil {
		return false, err
	}
	for _, j := range jobs {
		if j.ID == marker.ID {
			return true, nil
		}
	}
	rules, err := p.Rules(ctx)
	if err != nil {
		return false, err
	}
	start, err := p.Start(ctx)
	if err != nil {
		return false, err
	}
	if start.Profile != nil || len(start.Accounts)+len(start.Tags)+len(rules)+len(jobs) > 0 {
		return false, ErrNotEmpty
	}
	return false, wrapped("begin restore", modelOf(p).jobs.Put(ctx, p.store(), marker))
}

// restorer writes what is in an archive.
type restorer struct {
	p        *Person
	b        *bundle
	progress func(ArchiveCounts)
	counts   ArchiveCounts
	known    sheets
	again    bool // Some of it may be there already.
}

func (t *restorer) tell() {
	if t.progress != nil {
		t.progress(t.counts)
	}
}

// restoreAll writes all things of a file that are not there, each after prepare made it what it is
// here.
func restoreAll[T any](
	ctx context.Context, t *restorer, name string, e *singletable.Entity[T], count *int,
	prepare func(v *T) error,
) error {
	var batch []T
	flush := func() error {
		missing, err := notThere(ctx, t, e, batch)
		if err != nil {
			return err
		}
		if err := e.PutAll(ctx, t.p.store(), missing); err != nil {
			return failed("write "+e.Name(), err)
		}
		*count += len(batch)
		batch = batch[:0]
		t.tell()
		return nil
	}
	err := lines(t.b, name, func(v *T) error {
		if err := prepare(v); err != nil {
			return err
		}
		if batch = append(batch, *v); len(batch) < singletable.TxActionsMax {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// notThere returns those things that an earlier restore did not write.
func notThere[T any](
	ctx context.Context, t *restorer, e *singletable.Entity[T], batch []T,
) ([]T, error) {
	if !t.again || len(batch) == 0 {
		return batch, nil
	}
	found, err := e.GetMany(ctx, t.p.store(), batch, singletable.Consistent())
	if err != nil {
		return nil, failed("read "+e.Name(), err)
	}
	var missing []T
	for i := range batch {
		if found[i] == nil {
			missing = append(missing, batch[i])
		}
	}
	return missing, nil
}

// nouns writes the profile, tags, accounts and rules.
func (t *restorer) nouns(ctx context.Context) error {
	m, user := modelOf(t.p), t.p.id
	err := restoreAll(ctx, t, archiveProfile, m.profiles, &t.counts.Profiles,
		func(v *Profile) error { v.UserID = user; return nil })
	if err != nil {
		return err
	}
	// Tags are written one by one, each with the item that keeps its text unique.
	err = lines(t.b, archiveTags, func(tag *Tag) error {
		tag.UserID = user
		if err := t.tag(ctx, *tag); err != nil {
			return failed("write tag", err)
		}
		t.counts.Tags++
		return nil
	})
	if err != nil {
		return err
	}
	err = restoreAll(ctx, t, archiveAccounts, m.accounts, &t.counts.Accounts,
		func(v *Account) error { v.UserID = user; return nil })
	if err != nil {
		return err
	}
	return restoreAll(ctx, t, archiveRules, m.rules, &t.counts.Rules,
		func(v *Rule) error { v.UserID = user; return nil })
}

// tag writes a tag that is not there. Where it is, its text is taken, by itself.
func (t *restorer) tag(ctx context.Context, tag Tag) error {
	tags := modelOf(t.p).tags
	refused := tags.Create(ctx, t.p.store(), tag)
	if !errors.Is(refused, singletable.ErrConditionFailed) {
		return refused
	}
	there, found, err := tags.Get(ctx, t.p.store(), tag, singletable.Consistent())
	if err == nil && (!found || there.Text != tag.Text) {
		err = refused
	}
	return err
}

// uploads writes the uploads and then their files, so that there is no file without an item.
func (t *restorer) uploads(ctx context.Context) error {
	err := restoreAll(ctx, t, archiveUploads, modelOf(t.p).uploads, &t.counts.Uploads,
		func(u *Upload) error {
			_, err := t.own(u)
			return err
		})
	if err != nil {
		return err
	}
	return lines(t.b, archiveUploads, func(u *Upload) error {
		number, err := t.own(u)
		if err != nil || number == 0 {
			return err
		}
		for i, key := range u.files() {
			if err := t.file(ctx, number+i, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// own gives an upload the user and the key of its file, and returns the number that the archive has
// in the place of that; 0 where there is no file.
func (t *restorer) own(u *Upload) (number int, err error) {
	u.UserID = t.p.id
	u.RowsHash, u.RowsSize = "", 0 // The archive does not have the rows.
	if u.FileKey == "" {
		return 0, nil
	}
	number, tail, err := fileNumber(u.FileKey)
	u.FileKey = strings.Join([]string{"uploads", keyPart(t.p.id), tail}, "/")
	return number, err
}

// fileNumber reads what an archive has in the place of a file's key: its number and the key behind
// the part that names the user, none of whose parts leads elsewhere.
func fileNumber(text string) (number int, tail string, err error) {
	wrong := refuse("the key %q of an upload's file", text)
	if _, err := fmt.Sscanf(text, "%d/", &number); err != nil || number < 0 {
		return 0, "", wrong
	}
	_, tail, _ = strings.Cut(text, "/")
	for part := range strings.SplitSeq(tail, "/") {
		if part == "" || part == "." || part == ".." {
			return 0, "", wrong
		}
	}
	return number, tail, nil
}

// file writes a file of an upload, if the archive has it.
func (t *restorer) file(ctx context.Context, number int, key string) error {
	f := t.b.files[fmt.Sprint(archiveFiles, number)]
	if f == nil {
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("open %s: %w", f.Name, err)
	}
	defer in.Close()
	if err := t.p.books.opts.Files.Put(ctx, key, in); err != nil {
		return fmt.Errorf("write file %s: %w", key, err)
	}
	t.counts.Files++
	t.tell()
	return nil
}

// transactions writes the rows, and with them the sheets of their months.
func (t *restorer) transactions(ctx context.Context) error {
	var batch []Transaction
	flush := func() error {
		if err := t.rows(ctx, batch); err != nil {
			return err
		}
		t.counts.Transactions += len(batch)
		batch = nil
		t.tell()
		return nil
	}
	err := lines(t.b, archiveTransactions, func(v *Transaction) error {
		v.UserID = t.p.id
		full := len(batch) == restoreBatch
		if n := len(batch); n > 0 && (full || placeOf(&batch[n-1]) != placeOf(v)) {
			if err := flush(); err != nil {
				return err
			}
		}
		batch = append(batch, *v)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// rows writes some rows of one month that are not there, together with its sheet.
func (t *restorer) rows(ctx context.Context, batch []Transaction) error {
	for range restoreTries {
		missing, err := notThere(ctx, t, modelOf(t.p).transactions, batch)
		if err != nil || len(missing) == 0 {
			return err
		}
		tx := t.p.store().NewTx()
		tx.SetToken(newToken())
		var changes []change
		for i := range missing {
			modelOf(t.p).transactions.CreateTx(tx, missing[i])
			at := placeOf(&missing[i])
			if missing[i].Version > 0 {
				changes = append(changes, change{after: &missing[i]})
			} else if !t.p.months().isNear(at.month) { // Others were in no sheet before.
				if err := t.mark(ctx, at); err != nil {
					return err
				}
			}
		}
		after, err := t.p.rows().recount(ctx, t.known, changes)
		if err != nil {
			return err
		}
		for _, s := range after {
			modelOf(t.p).putSheet(tx, s)
		}
		if n := len(missing); n > 1 &&
			(errors.Is(tx.Err(), singletable.ErrTooLarge) || tx.Size() > singletable.TxSizeMax/2) {
			if err := t.rows(ctx, missing[:n/2]); err != nil {
				return err
			}
			return t.rows(ctx, missing[n/2:])
		}
		err = tx.Commit(ctx)
		if err == nil {
			for at, s := range after {
				s.Version++
				t.known[at] = s
			}
			return nil
		}
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return failed("write transactions", err)
		}
		// Another writer changed the month, or an attempt that seemed to fail did not.
		clear(t.known)
		t.again = true
	}
	return ErrContended.With("items", "the rows of a month")
}

// entries writes what is remembered of rows. There may be no row any more in the month where the
// bank booked it.
func (t *restorer) entries(ctx context.Context) error {
	var account string // Whose months in told are searched.
	var told []string
	return restoreAll(ctx, t, archiveEntries, modelOf(t.p).entries, &t.counts.Entries,
		func(e *Entry) (err error) {
			e.UserID = t.p.id
			if e.AccountID != account {
				if told, err = t.p.months().everyMonth(ctx, e.AccountID); err != nil {
					return err
				}
				account = e.AccountID
			}
			if _, found := slices.BinarySearch(told, e.Month); found || e.Month == book.MonthNone {
				return nil
			}
			return t.mark(ctx, place{e.AccountID, e.Month, e.Currency})
		})
}

// mark makes an empty sheet, so that a month without another sheet is searched.
func (t *restorer) mark(ctx context.Context, at place) error {
	s, err := t.p.rows().sheet(ctx, t.known, at)
	if err != nil || s.Version > 0 {
		return err
	}
	marked := *s
	marked.Version = 1
	err = modelOf(t.p).sheets.Create(ctx, t.p.store(), marked)
	if errors.Is(err, singletable.ErrExists) {
		delete(t.known, at) // Another writer made it.
		return nil
	}
	if err != nil {
		return failed("write totals", err)
	}
	t.known[at] = &marked
	return nil
}
