package statements

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	digest "hash"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// The names in an archive. Each is JSON lines: an object a line, with the names of the table's
// attributes, but without the user's id, for an archive can be restored for another user. Uploads
// have their file under archiveFiles and its number in the member that s3ObjectKey is otherwise.
//
//	manifest.json       version, counts, and the size, lines and SHA-256 of every other file
//	profile.jsonl       the profile, if there is one
//	accounts.jsonl      accounts
//	tags.jsonl          tags
//	rules.jsonl         rules
//	jobs.jsonl          work over many rows
//	uploads.jsonl       uploads
//	transactions.jsonl  transactions, by account and day
//	entries.jsonl       what is remembered of rows, also of those that were deleted
//	files/1, files/2    the files of uploads, and the outcomes of their rows
//
// Totals are not in it: they are made of the rows when they come back.
const (
	archiveManifest     = "manifest.json"
	archiveProfile      = "profile.jsonl"
	archiveAccounts     = "accounts.jsonl"
	archiveTags         = "tags.jsonl"
	archiveRules        = "rules.jsonl"
	archiveJobs         = "jobs.jsonl"
	archiveUploads      = "uploads.jsonl"
	archiveTransactions = "transactions.jsonl"
	archiveEntries      = "entries.jsonl"
	archiveFiles        = "files/"

	archiveFormat  = "exchequer-statements"
	archiveVersion = 1
)

// archiveOrder is the order of the files of lines.
var archiveOrder = []string{archiveProfile, archiveAccounts, archiveTags, archiveRules,
	archiveJobs, archiveUploads, archiveTransactions, archiveEntries}

// ArchiveCounts are how many things an archive holds.
type ArchiveCounts struct {
	Profiles     int `json:"profiles"`
	Accounts     int `json:"accounts"`
	Tags         int `json:"tags"`
	Rules        int `json:"rules"`
	Jobs         int `json:"jobs"`
	Uploads      int `json:"uploads"`
	Files        int `json:"files"`
	Transactions int `json:"transactions"`
	Entries      int `json:"entries"`
}

// manifest returns what is in an archive.
type manifest struct {
	Format    string        `json:"format"`
	Version   int           `json:"version"`
	CreatedAt time.Time     `json:"createdAt"`
	Counts    ArchiveCounts `json:"counts"`
	Files     []packed      `json:"files"`
}

// packed is one file of an archive.
type packed struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Lines  int    `json:"lines,omitempty"`
	SHA256 string `json:"sha256"`
}

// Archive writes everything that a user has as one zip file, from which Restore brings it back.
// Progress, if not nil, is called from time to time. What is written for the user in the meantime
// may be in it or not: archive when nothing is imported. The error is ErrNoFiles, ErrFileMissing,
// ErrFileDamaged or that of the writer; what was written until then is no archive.
func (p *Person) Archive(
	ctx context.Context, w io.Writer, progress func(ArchiveCounts),
) (ArchiveCounts, error) {
	a := &archiver{p: p, zip: zip.NewWriter(w), progress: progress}
	start, err := p.Start(ctx)
	if err != nil {
		return ArchiveCounts{}, err
	}
	for _, write := range []func(context.Context, Start) error{
		a.check, a.start, a.uploads, a.transactions, a.entries, a.files,
	} {
		if err := write(ctx, start); err != nil {
			return ArchiveCounts{}, err
		}
	}
	m := manifest{Format: archiveFormat, Version: archiveVersion, CreatedAt: p.now(),
		Counts: a.counts, Files: a.done}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return ArchiveCounts{}, err
	}
	if err := a.begin(archiveManifest); err != nil {
		return ArchiveCounts{}, err
	}
	if _, err := a.Write(text); err != nil {
		return ArchiveCounts{}, err
	}
	return a.counts, a.zip.Close()
}

// archiver writes the files of an archive one after the other.
type archiver struct {
	p        *Person
	zip      *zip.Writer
	progress func(ArchiveCounts)
	counts   ArchiveCounts
	done     []packed
	held     []held // The files of uploads, by their number.

	now  packed // The file that is being written.
	sum  digest.Hash
	into io.Writer
}

// held is a file that the object store may hold, and must where an archive is nothing without it.
type held struct {
	key    string
	must   bool
	upload *Upload // Of a statement, to compare the file with; nil for the outcomes of its rows.
}

// begin begins a file. Its time is not written, so that the same contents give the same bytes.
func (a *archiver) begin(name string) (err error) {
	a.now, a.sum = packed{Name: name}, sha256.New()
	a.into, err = a.zip.Create(name)
	return err
}

// Write writes to the file that was begun.
func (a *archiver) Write(b []byte) (int, error) {
	n, err := a.into.Write(b)
	a.now.Size += int64(n)
	a.sum.Write(b[:n])
	return n, err
}

func (a *archiver) end() {
	a.now.SHA256 = hex.EncodeToString(a.sum.Sum(nil))
	a.done = append(a.done, a.now)
}

// line writes one thing, a pointer to a struct.
func (a *archiver) line(v any) error {
	text, err := book.Record(v, "userId")
	if err != nil {
		return err
	}
	a.now.Lines++
	_, err = a.Write(append(text, '\n'))
	return err
}

func (a *archiver) tell() {
	if a.progress != nil {
		a.progress(a.counts)
	}
}

// list writes a file of things and returns how many they were.
func list[T any](a *archiver, name string, all []T) (int, error) {
	if err := a.begin(name); err != nil {
		return 0, err
	}
	for i := range all {
		if err := a.line(&all[i]); err != nil {
			return 0, fmt.Errorf("archive %s: %w", name, err)
		}
	}
	a.end()
	return len(all), nil
}

func (a *archiver) start(ctx context.Context, s Start) error {
	var profiles []Profile
	if s.Profile != nil {
		profiles = append(profiles, *s.Profile)
	}
	rules, err := a.p.Rules(ctx)
	if err != nil {
		return err
	}
	jobs, err := a.p.Jobs(ctx)
	if err != nil {
		return err
	}
	jobs = slices.DeleteFunc(jobs, func(j Job) bool { return j.Kind == restoring })
	for _, write := range []struct {
		count *int
		write func() (int, error)
	}{
		{&a.counts.Profiles, func() (int, error) { return list(a, archiveProfile, profiles) }},
		{&a.counts.Accounts, func() (int, error) { return list(a, archiveAccounts, s.Accounts) }},
		{&a.counts.Tags, func() (int, error) { return list(a, archiveTags, s.Tags) }},
		{&a.counts.Rules, func() (int, error) { return list(a, archiveRules, rules) }},
		{&a.counts.Jobs, func() (int, error) { return list(a, archiveJobs, jobs) }},
	} {
		if *write.count, err = write.write(); err != nil {
			return err
		}
	}
	a.tell()
	return nil
}

// uploads writes the uploads and numbers their files.
func (a *archiver) uploads(ctx context.Context, s Start) error {
	if err := a.begin(archiveUploads); err != nil {
		return err
	}
	for _, account := range s.Accounts {
		in := OfAccount{a.p.id, account.ID}
		for u, err := range modelOf(a.p).uploadsOf.All(ctx, a.p.store(), in) {
			if err != nil {
				return failed("list uploads", err)
			}
			if keys := u.files(); len(keys) > 0 {
				number := 0
				if !u.FileGone {
					number = len(a.held) + 1
					// The first is the statement, which may not have arrived yet.
					arrived := u.Hash != "" || u.Status != Uploaded
					for i, key := range keys {
						h := held{key: key, must: i == 0 && arrived}
						if i == 0 {
							h.upload = &Upload{ID: u.ID, Size: u.Size, Hash: u.Hash}
						}
						a.held = append(a.held, h)
					}
				}
				u.FileKey = strconv.Itoa(number) + "/" + tailOfKey(u.FileKey)
			}
			if err := a.line(&u); err != nil {
				return fmt.Errorf("archive upload %s: %w", u.ID, err)
			}
			a.counts.Uploads++
		}
	}
	a.end()
	a.tell()
	return nil
}

// tailOfKey is a file's key behind the part that names the user.
func tailOfKey(key string) string {
	parts := strings.SplitN(key, "/", 3)
	return parts[len(parts)-1]
}

func (a *archiver) transactions(ctx context.Context, s Start) error {
	return a.byMonth(ctx, s, archiveTransactions, &a.counts.Transactions,
		func(of monthOfAccount) (int, error) {
			for i := range of.rows {
				if err := a.line(&of.rows[i]); err != nil {
					return 0, err
				}
			}
			return len(of.rows), nil
		})
}

func (a *archiver) entries(ctx context.Context, s Start) error {
	return a.byMonth(ctx, s, archiveEntries, &a.counts.Entries,
		func(of monthOfAccount) (int, error) {
			for i := range of.entries {
				if err := a.line(&of.entries[i]); err != nil {
					return 0, err
				}
			}
			return len(of.entries), nil
		})
}

// byMonth writes a file of the items of months.
func (a *archiver) byMonth(
	ctx context.Context, s Start, name string, count *int,
	write func(monthOfAccount) (int, error),
) error {
	if err := a.begin(name); err != nil {
		return err
	}
	for _, account := range s.Accounts {
		months, err := a.p.months().everyMonth(ctx, account.ID)
		if err != nil {
			return err
		}
		read := func(ctx context.Context, month string) (of monthOfAccount, err error) {
			switch {
			case name == archiveEntries:
				of.entries, err = a.p.months().monthEntries(ctx, account.ID, month)
			case month != book.MonthNone:
				of.rows, err = a.p.months().monthRows(ctx, account.ID, month)
			}
			return of, err
		}
		err = eachMonth(ctx, append([]string{book.MonthNone}, months...), read,
			func(month string, of monthOfAccount) error {
				n, err := write(of)
				if *count += n; n > 0 {
					a.tell()
				}
				return err
			})
		if err != nil {
			return fmt.Errorf("archive %s: %w", name, err)
		}
	}
	a.end()
	return nil
}

// files writes the files of uploads. The outcomes of the rows of one may not be kept, nor has every
// statement arrived; then there is no file of that number.
func (a *archiver) files(ctx context.Context, s Start) error {
	for i, f := range a.held {
		if a.p.books.opts.Files == nil {
			return ErrNoFiles
		}
		file, err := a.p.books.opts.Files.Open(ctx, f.key)
		if errors.Is(err, ErrFileMissing) && !f.must {
			continue
		}
		if err != nil {
			return fmt.Errorf("archive file %s: %w", f.key, err)
		}
		err = a.file(archiveFiles+strconv.Itoa(i+1), file, f.upload)
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("archive file %s: %w", f.key, err)
		}
		a.counts.Files++
		a.tell()
	}
	return nil
}

func (a *archiver) file(name string, file File, of *Upload) error {
	if of != nil {
		if err := of.verifySize(file); err != nil {
			return err
		}
	}
	if err := a.begin(name); err != nil {
		return err
	}
	_, err := io.Copy(a, io.NewSectionReader(file, 0, file.Size()))
	if err == nil && of != nil && of.Hash != "" {
		err = of.verifySum(hex.EncodeToString(a.sum.Sum(nil)))
	}
	a.end()
	return err
}

// check looks before the first byte is written whether the files of uploads are there in full, so
// that the reason has an answer of its own.
func (a *archiver) check(ctx context.Context, s Start) error {
	if a.p.books.opts.Files == nil {
		return nil
	}
	for _, account := range s.Accounts {
		in := OfAccount{a.p.id, account.ID}
		for u, err := range modelOf(a.p).uploadsOf.All(ctx, a.p.store(), in) {
			if err != nil {
				return failed("list uploads", err)
			}
			if u.FileGone || u.FileKey == "" || u.Hash == "" {
				continue
			}
			file, err := a.p.books.opts.Files.Open(ctx, u.FileKey)
			if err != nil {
				return fmt.Errorf("archive file of upload %s: %w", u.ID, err)
			}
			if err := errors.Join(u.verifySize(file), file.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}
