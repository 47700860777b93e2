package statements

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// Erased is how many things were removed.
type Erased struct {
	Profiles, Accounts, Tags, Rules, Jobs, Uploads, Files, Transactions, Entries, Sheets int
}

// Erase removes everything that a user has, uploaded files included, and returns what it was.
// Progress, if not nil, is called from time to time. When it was cut off, another call removes what
// is left. The error is ErrNoFiles where there are files and no place that keeps them.
//
// A writer for the user in the meantime may leave something behind: lock the user out first.
func (p *Person) Erase(ctx context.Context, progress func(Erased)) (Erased, error) {
	e := eraser{p: p, progress: progress}
	start, err := p.Start(ctx)
	if err != nil {
		return e.Erased, err
	}
	// Without rules and jobs nothing works on rows any more.
	if err := e.rulesAndJobs(ctx); err != nil {
		return e.Erased, err
	}
	for _, a := range start.Accounts {
		if err := e.account(ctx, a); err != nil {
			return e.Erased, err
		}
	}
	// A tag goes together with the item that keeps its text unique.
	err = sideBySide(ctx, len(start.Tags), func(ctx context.Context, i int) error {
		return modelOf(p).tags.Delete(ctx, p.store(), start.Tags[i])
	})
	if err != nil {
		return e.Erased, failed("erase tags", err)
	}
	e.Tags = len(start.Tags)
	if err := p.files().sweep(ctx, p.files().folderOf()); err != nil {
		return e.Erased, err
	}
	if start.Profile != nil {
		if err := modelOf(p).profiles.Delete(ctx, p.store(), *start.Profile); err != nil {
			return e.Erased, failed("erase profile", err)
		}
		e.Profiles++
	}
	e.tell()
	return e.Erased, nil
}

// EraseAccount removes an account and everything in it; see Erase. The account itself goes last, so
// that a call that was cut off can be repeated. The error is ErrNoAccount or ErrNoFiles.
func (p *Person) EraseAccount(
	ctx context.Context, account string, progress func(Erased),
) (Erased, error) {
	a, err := p.Account(ctx, account)
	if err != nil {
		return Erased{}, err
	}
	e := eraser{p: p, progress: progress}
	err = e.account(ctx, a)
	return e.Erased, err
}

// eraser removes things and counts them.
type eraser struct {
	p        *Person
	progress func(Erased)
	Erased
}

func (e *eraser) tell() {
	if e.progress != nil {
		e.progress(e.Erased)
	}
}

func (e *eraser) rulesAndJobs(ctx context.Context) error {
	m := modelOf(e.p)
	rules, err := e.p.Rules(ctx)
	if err != nil {
		return err
	}
	if err := m.rules.DeleteAll(ctx, e.p.store(), rules); err != nil {
		return failed("erase rules", err)
	}
	e.Rules += len(rules)
	jobs, err := e.p.Jobs(ctx)
	if err != nil {
		return err
	}
	if err := m.jobs.DeleteAll(ctx, e.p.store(), jobs); err != nil {
		return failed("erase jobs", err)
	}
	e.Jobs += len(jobs)
	e.tell()
	return nil
}

// account removes what is in an account and then itself. Uploads go after rows, because they show
// in which months those are. An import in progress ends when its upload is gone; what it wrote
// until then is found by another look.
func (e *eraser) account(ctx context.Context, a Account) error {
	months, err := e.p.months().everyMonth(ctx, a.ID)
	if err != nil {
		return err
	}
	if err := e.months(ctx, a.ID, months); err != nil {
		return err
	}
	if err := e.uploads(ctx, a.ID); err != nil {
		return err
	}
	if err := e.months(ctx, a.ID, months); err != nil {
		return err
	}
	sheets, err := e.p.months().sheets(ctx, a.ID, "", "")
	if err != nil {
		return err
	}
	if err := modelOf(e.p).sheets.DeleteAll(ctx, e.p.store(), sheets); err != nil {
		return failed("erase totals", err)
	}
	e.Sheets += len(sheets)
	if err := e.p.files().sweep(ctx, e.p.files().folderOf(a.ID)); err != nil {
		return err
	}
	if err := modelOf(e.p).accounts.Delete(ctx, e.p.store(), a); err != nil {
		return failed("erase account", err)
	}
	e.Accounts++
	e.tell()
	return nil
}

// uploads removes the uploads of an account with their files.
func (e *eraser) uploads(ctx context.Context, account string) error {
	m := modelOf(e.p)
	var uploads []Upload
	for u, err := range m.uploadsOf.All(ctx, e.p.store(), OfAccount{e.p.id, account}) {
		if err != nil {
			return failed("list uploads", err)
		}
		uploads = append(uploads, u)
	}
	for _, u := range uploads {
		if err := e.upload(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// upload removes an upload with its files. A file goes before the item that names it, and again
// where the upload was changed in the meantime: the file may have arrived only then.
func (e *eraser) upload(ctx context.Context, u Upload) error {
	m, files := modelOf(e.p), e.p.books.opts.Files
	for {
		for _, key := range u.objects() {
			if files == nil {
				return ErrNoFiles
			}
			if err := files.Delete(ctx, key); err != nil {
				return fmt.Errorf("erase file of upload %s: %w", u.ID, err)
			}
		}
		err := m.uploads.Delete(ctx, e.p.store(), u, m.versions.upload.Equals(u.Version))
		if err == nil {
			break
		}
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return failed("erase upload", err)
		}
		now, err := e.p.UploadOf(ctx, u.AccountID, u.ID)
		if errors.Is(err, ErrNoUpload) {
			break
		}
		if err != nil {
			return err
		}
		u = now
	}
	if u.FileKey != "" && !u.FileGone {
		e.Files++
	}
	e.Uploads++
	e.tell()
	return nil
}

// monthOfAccount is what is in a month.
type monthOfAccount struct {
	rows    []Transaction
	entries []Entry
}

// readMonth reads rows and entries of a month.
func (p monthReader) readMonth(
	ctx context.Context, account, month string,
) (out monthOfAccount, err error) {
	if month != book.MonthNone {
		if out.rows, err = p.monthRows(ctx, account, month); err != nil {
			return out, err
		}
	}
	out.entries, err = p.monthEntries(ctx, account, month)
	return out, err
}

// months removes the rows and entries of an account.
func (e *eraser) months(ctx context.Context, account string, months []string) error {
	m := modelOf(e.p)
	read := func(ctx context.Context, month string) (monthOfAccount, error) {
		return e.p.months().readMonth(ctx, account, month)
	}
	return eachMonth(ctx, append([]string{book.MonthNone}, months...), read,
		func(month string, of monthOfAccount) error {
			if len(of.rows)+len(of.entries) == 0 {
				return nil
			}
			if err := m.transactions.DeleteAll(ctx, e.p.store(), of.rows); err != nil {
				return failed("erase transactions", err)
			}
			e.Transactions += len(of.rows)
			if err := m.entries.DeleteAll(ctx, e.p.store(), of.entries); err != nil {
				return failed("erase entries", err)
			}
			e.Entries += len(of.entries)
			e.tell()
			return nil
		})
}
