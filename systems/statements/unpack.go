package statements

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// Bounds of an archive, so that a small file cannot be made to fill memory or the store.
const (
	// ArchiveSizeMax bounds what all files of an archive take unpacked, in bytes.
	ArchiveSizeMax = 64 << 30
	// archiveRatioMax bounds how many times larger than the archive that may be, where it is more
	// than archiveSizeFree. Lines of JSON shrink to a twentieth.
	archiveRatioMax = 200
	archiveSizeFree = 64 << 20
	// archiveFilesMax bounds the number of files, two an upload.
	archiveFilesMax = 200_000
	// archiveLineMax bounds a line: an item has 400 KB, and characters may be escaped.
	archiveLineMax = 3 << 20
	// manifestMax bounds the manifest: 200 bytes a file.
	manifestMax = 64 << 20
)

// bundle is an archive that was checked.
type bundle struct {
	manifest manifest
	digest   string // Of the manifest, and so of all.
	files    map[string]*zip.File
	named    map[string]packed // The files of the manifest.
}

// refuse returns why an archive is refused.
func refuse(format string, args ...any) *problem.Error {
	return ErrUnreadable.With("format", "archive").With("reason", fmt.Sprintf(format, args...))
}

// openBundle reads the manifest of an archive and checks all files against it.
func openBundle(r io.ReaderAt, size int64) (*bundle, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, refuse("it is no zip file, or a damaged one").Wrap(err)
	}
	if len(z.File) > archiveFilesMax {
		return nil, refuse("it has more than %d files", archiveFilesMax)
	}
	b := &bundle{files: map[string]*zip.File{}}
	var packedSize, wholeSize uint64
	for _, f := range z.File {
		if b.files[f.Name] != nil {
			return nil, refuse("it has two files %q", f.Name)
		}
		b.files[f.Name] = f
		if f.CompressedSize64 > uint64(size) || f.UncompressedSize64 > ArchiveSizeMax {
			return nil, refuse("the size of %q cannot be true", f.Name)
		}
		packedSize += f.CompressedSize64
		wholeSize += f.UncompressedSize64
	}
	switch most := max(archiveSizeFree, archiveRatioMax*uint64(size)); {
	case packedSize > uint64(size):
		return nil, refuse("its files overlap")
	case wholeSize > ArchiveSizeMax || wholeSize > most:
		return nil, refuse("it would be %d bytes, more than an archive of its size is", wholeSize)
	}
	if err := b.readManifest(); err != nil {
		return nil, err
	}
	return b, b.compare()
}

func (b *bundle) readManifest() error {
	f := b.files[archiveManifest]
	if f == nil {
		return refuse("it has no %s, so it was not made here", archiveManifest)
	}
	if f.UncompressedSize64 > manifestMax {
		return refuse("its %s is too large", archiveManifest)
	}
	in, err := f.Open()
	if err != nil {
		return refuse("its %s cannot be read", archiveManifest).Wrap(err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, manifestMax))
	if err != nil {
		return refuse("its %s is damaged", archiveManifest).Wrap(err)
	}
	if err := json.Unmarshal(text, &b.manifest); err != nil {
		return refuse("its %s is not what it should be", archiveManifest).Wrap(err)
	}
	if b.manifest.Format != archiveFormat {
		return refuse("it is no archive of statements")
	}
	if b.manifest.Version != archiveVersion {
		return refuse("its version is %d, and %d is known here", b.manifest.Version, archiveVersion)
	}
	sum := sha256.Sum256(text)
	b.digest = hex.EncodeToString(sum[:])
	return nil
}

// compare checks that the files are those that the manifest names.
func (b *bundle) compare() error {
	b.named = map[string]packed{archiveManifest: {}}
	for _, f := range b.manifest.Files {
		number, isFile := strings.CutPrefix(f.Name, archiveFiles)
		n, err := strconv.Atoi(number)
		if isFile && (err != nil || n < 1 || strconv.Itoa(n) != number) ||
			!isFile && !slices.Contains(archiveOrder, f.Name) {
			return refuse("it has a file %q, which is not known here", f.Name)
		}
		if b.files[f.Name] == nil {
			return refuse("its file %s is missing", f.Name)
		}
		if _, again := b.named[f.Name]; again {
			return refuse("its file %s is named twice", f.Name)
		}
		b.named[f.Name] = f
		if err := b.verify(f); err != nil {
			return err
		}
	}
	for name := range b.files {
		if _, named := b.named[name]; !named {
			return refuse("it has a file %q that its %s does not name", name, archiveManifest)
		}
	}
	for _, name := range archiveOrder {
		if _, named := b.named[name]; !named {
			return refuse("its file %s is missing", name)
		}
	}
	return nil
}

// verify reads a file and compares it with the manifest.
func (b *bundle) verify(f packed) error {
	in, err := b.files[f.Name].Open()
	if err != nil {
		return refuse("its file %s cannot be read", f.Name).Wrap(err)
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(in, f.Size+1))
	if err != nil || n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return refuse("its file %s is damaged", f.Name).Wrap(err)
	}
	return nil
}

// lines gives each line of a file to take, which returns what is wrong with it.
func lines[T any](b *bundle, name string, take func(v *T) error) error {
	in, err := b.files[name].Open()
	if err != nil {
		return refuse("its file %s cannot be read", name).Wrap(err)
	}
	defer in.Close()
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, archiveLineMax)
	n := 0
	for scanner.Scan() {
		n++
		var v T
		if err := book.ParseRecord(bytes.TrimSpace(scanner.Bytes()), &v); err != nil {
			return refuse("line %d of its file %s: %v", n, name, err)
		}
		if err := take(&v); err != nil {
			return fmt.Errorf("line %d of %s: %w", n, name, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return refuse("its file %s is damaged behind line %d", name, n).Wrap(err)
	}
	return nil
}

// fileOf returns the file of an upload by the manifest, and whether the archive has it.
func (b *bundle) fileOf(u *Upload) (packed, bool, error) {
	if u.FileKey == "" {
		return packed{}, false, nil
	}
	number, _, err := fileNumber(u.FileKey)
	if err != nil || number == 0 {
		return packed{}, false, err
	}
	f, found := b.named[archiveFiles+strconv.Itoa(number)]
	return f, found, nil
}

// check looks at every line before anything is written, and counts. The order of the lines shows
// that none is there twice.
func (b *bundle) check() error {
	c := &bundleCheck{bundle: b, accounts: map[string]bool{}, tags: map[string]bool{},
		texts: map[string]bool{}}
	for _, look := range []func() error{
		func() error { return lines(b, archiveProfile, c.profile) },
		func() error { return lines(b, archiveAccounts, c.account) },
		func() error { return lines(b, archiveTags, c.tag) },
		func() error { return lines(b, archiveRules, c.rule) },
		func() error { return lines(b, archiveJobs, c.job) },
		func() error { return lines(b, archiveUploads, c.upload) },
		func() error { return lines(b, archiveTransactions, c.transaction) },
		func() error { return lines(b, archiveEntries, c.entry) },
	} {
		if err := look(); err != nil {
			if errors.Is(err, ErrUnreadable) {
				return err
			}
			return refuse("%v", err)
		}
	}
	for name := range b.files {
		if strings.HasPrefix(name, archiveFiles) {
			c.counts.Files++
		}
	}
	if c.counts != b.manifest.Counts {
		return refuse("it holds other numbers of things than its %s says", archiveManifest)
	}
	return nil
}

// bundleCheck is what was seen of an archive.
type bundleCheck struct {
	bundle         *bundle
	counts         ArchiveCounts
	accounts, tags map[string]bool
	texts          map[string]bool
	last           [2][3]string // Of transactions and entries, as their keys are ordered.
}

// errEmptyID and the others are what is wrong with a line.
var (
	errEmptyID   = errors.New("it has no id, or too long a one")
	errTwice     = errors.New("it is there twice, or not in order")
	errMany      = errors.New("there are more than is allowed")
	errNoAccount = errors.New("it belongs to an account that is not there")
	errNoDay     = errors.New("it has no calendar day")
	errOtherFile = errors.New("its file is not the one that was uploaded")
	errNoValue   = errors.New("it has no currency")
)

func checkID(id string) error {
	if id == "" || len(id) > NameMax {
		return errEmptyID
	}
	return nil
}

func (c *bundleCheck) profile(*Profile) error {
	if c.counts.Profiles++; c.counts.Profiles > 1 {
		return errMany
	}
	return nil
}

func (c *bundleCheck) account(a *Account) error {
	if c.counts.Accounts++; c.counts.Accounts > AccountsMax {
		return errMany
	}
	if c.accounts[a.ID] {
		return errTwice
	}
	c.accounts[a.ID] = true
	if _, err := a.mapped(); err != nil {
		return err
	}
	return cmp.Or(checkID(a.ID), a.check())
}

func (c *bundleCheck) tag(t *Tag) error {
	if c.counts.Tags++; c.counts.Tags > TagsMax {
		return errMany
	}
	text := strings.ToLower(t.Text)
	if c.tags[t.ID] || c.texts[text] {
		return errTwice
	}
	c.tags[t.ID], c.texts[text] = true, true
	_, err := tagText(t.Text)
	return cmp.Or(checkID(t.ID), err)
}

func (c *bundleCheck) rule(r *Rule) error {
	if c.counts.Rules++; c.counts.Rules > RulesMax {
		return errMany
	}
	return checkID(r.ID)
}

func (c *bundleCheck) job(j *Job) error {
	c.counts.Jobs++
	return checkID(j.ID)
}

func (c *bundleCheck) upload(u *Upload) error {
	c.counts.Uploads++
	if !c.accounts[u.AccountID] {
		return errNoAccount
	}
	f, found, err := c.bundle.fileOf(u)
	if err != nil {
		return err
	}
	if found && u.Hash != "" && (f.Size != u.Size || f.SHA256 != u.Hash) {
		return errOtherFile
	}
	return checkID(u.ID)
}

func (c *bundleCheck) transaction(t *Transaction) error {
	c.counts.Transactions++
	switch {
	case !book.ValidDate(t.Date):
		return errNoDay
	case t.Currency == "":
		return errNoValue
	}
	return cmp.Or(checkID(t.ID), c.ordered(0, t.AccountID, string(t.Date), t.ID))
}

func (c *bundleCheck) entry(e *Entry) error {
	c.counts.Entries++
	if e.Month != book.MonthNone && !book.ValidDate(firstDay(e.Month)) {
		return errNoDay
	}
	return cmp.Or(checkID(e.ID), c.ordered(1, e.AccountID, e.Month, e.ID))
}

// ordered demands that things come in the order of their keys.
func (c *bundleCheck) ordered(kind int, account, day, id string) error {
	if !c.accounts[account] {
		return errNoAccount
	}
	at := [3]string{keyOrder.Replace(account), day, keyOrder.Replace(id)}
	if slices.Compare(c.last[kind][:], at[:]) >= 0 {
		return errTwice
	}
	c.last[kind] = at
	return nil
}
