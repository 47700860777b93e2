package statements

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// UploadRequest brings a bank's file.
type UploadRequest struct {
	// ID is the id to use, so that the request can be repeated; empty means a new one.
	ID string
	// FileName is what the person calls the file.
	FileName string
	// Size is the size of the file in bytes, if it is known: one that does not fit is then refused
	// before it is read.
	Size int64
	// Mapping is how to read it; nil means as the account remembers.
	Mapping *bankfile.Mapping
	Body    io.Reader
}

// Received is the outcome of a file.
type Received struct {
	Upload Upload
	// Questions are what a person must answer before the file can be read.
	Questions []bankfile.Question
	// Earlier is the latest other upload of the same file to the account, if there is one.
	Earlier *Upload
	// Made is whether this request made the upload. It is false for a repeat.
	Made bool
}

// UploadPage is a page of uploads, the highest id first: the latest, where the ids were made here.
type UploadPage struct {
	Uploads []Upload
	Next    string // The cursor of the next page; empty at the end.
	// Unreadable are the items among the rows of the page that cannot be read.
	Unreadable []*singletable.UnreadableError
}

// uploadsSearched is how many uploads of an account are looked at for the same file and for the
// statement before: one a day for years.
const uploadsSearched = 2_000

// cleanupTime is how long a failed upload may take to remove what is left of it.
const cleanupTime = 10 * time.Second

// Upload keeps a file and finds out how to read it. The upload is Parsed then; it stays Uploaded
// where questions are open, and is Failed, with Why, where the file cannot be read at all. The
// error is ErrInvalid, ErrFileTooLarge, ErrNoAccount, ErrKeyUsed for an id of another file,
// ErrChanged, ErrQuota, ErrDiskReserve or ErrNoFiles.
func (p *Person) Upload(ctx context.Context, account string, r UploadRequest) (Received, error) {
	files := p.books.opts.Files
	if files == nil {
		return Received{}, ErrNoFiles
	}
	a, err := p.Account(ctx, account)
	if err != nil {
		return Received{}, err
	}
	u, err := p.files().newUpload(account, r)
	if err != nil {
		return Received{}, err
	}
	if r.Size > FileSizeMax {
		return Received{}, ErrFileTooLarge.With("limit", FileSizeMax)
	}
	if err := p.files().reserve(ctx, &u); err != nil {
		return Received{}, err
	}
	if u.Hash != "" {
		return p.files().repeated(ctx, a, u, r.Body)
	}
	// The item reserves what the file will take, so that of uploads at the same moment each sees
	// the others.
	free, err := p.files().room(ctx, &u)
	if err != nil {
		p.files().abandon(ctx, u)
		return Received{}, err
	}
	body := &measured{r: r.Body, room: free}
	sum := sha256.New()
	first := false
	// Of several requests with one id the first whose file has arrived wins, which is noted before
	// the file gets its name: only a file with the noted hash ever has it.
	arriving := &confirming{r: io.TeeReader(body, sum), confirm: func() (err error) {
		first, err = p.files().arrived(ctx, &u, body.n, hex.EncodeToString(sum.Sum(nil)))
		return err
	}}
	if err := files.Put(ctx, u.FileKey, arriving); err != nil {
		switch {
		case body.refused != nil:
			err = body.refused
		case errors.Is(err, ErrKeyUsed), errors.Is(err, ErrChanged):
			return Received{}, refusalOf(err)
		default:
			err = fmt.Errorf("keep file of upload %s: %w", u.ID, err)
		}
		if first || u.Hash == "" {
			p.files().abandon(ctx, u)
		}
		return Received{}, err
	}
	if r.Size <= 0 && first {
		if err := p.files().keepRoom(ctx, u); err != nil {
			return Received{}, err
		}
	}
	if _, err := p.UploadOf(ctx, account, u.ID); errors.Is(err, ErrNoUpload) {
		p.files().disown(ctx, u) // It was erased while its file got its name.
		return Received{}, ErrChanged.With("what", "Upload "+u.ID)
	}
	received, err := p.files().reread(ctx, a, u)
	received.Made = first && err == nil
	return received, err
}

// refusalOf returns the problem that a store of files has wrapped.
func refusalOf(err error) error {
	var refused *problem.Error
	if errors.As(err, &refused) {
		return refused
	}
	return err
}

// reserve makes the item of an upload, or reads the one that is there. The item comes before the
// file, so that there is no file that no item names.
func (p uploader) reserve(ctx context.Context, u *Upload) error {
	for range editsMax {
		uploads := modelOf(p.Person).uploads
		before, found, err := uploads.Get(ctx, p.store(), *u, singletable.Consistent())
		if err != nil {
			return failed("read upload", err)
		}
		if found {
			*u = before // Without a hash its file has not arrived, perhaps not yet.
			return nil
		}
		if _, err := p.room(ctx, u); err != nil {
			return err
		}
		made := *u
		made.Version = 1
		err = uploads.Create(ctx, p.store(), made)
		if err == nil {
			*u = made
			return nil
		}
		if !errors.Is(err, singletable.ErrExists) {
			return failed("create upload", err)
		}
	}
	return ErrChanged.With("what", "Upload "+u.ID)
}

// arrived notes the size and the hash of a file that has arrived whole, and reports whether it is
// the first one for the upload. Another file than the first is ErrKeyUsed.
func (p uploader) arrived(ctx context.Context, u *Upload, size int64, hash string) (bool, error) {
	for range editsMax {
		next := *u
		next.Size, next.Hash = size, hash
		err := p.saveUpload(ctx, &next)
		if err == nil {
			*u = next
			return true, nil
		}
		if !errors.Is(err, ErrChanged) {
			return false, err
		}
		now, err := p.UploadOf(ctx, u.AccountID, u.ID)
		switch {
		case errors.Is(err, ErrNoUpload):
			return false, ErrChanged.With("what", "Upload "+u.ID) // It was erased.
		case err != nil:
			return false, err
		case now.Hash != "" && now.Hash != hash:
			return false, keyUsed(u.ID, "file")
		}
		*u = now
		if now.Hash != "" {
			return false, nil
		}
	}
	return false, ErrChanged.With("what", "Upload "+u.ID)
}

// newUpload makes the item of a request.
func (p uploader) newUpload(account string, r UploadRequest) (Upload, error) {
	now := p.now()
	u := Upload{UserID: p.id, AccountID: account, ID: r.ID,
		UploadedAt: now.Truncate(time.Second), UpdatedAt: now, // As they are stored.
		Status: Uploaded, FileName: book.ClipText(r.FileName, NameMax), Size: max(r.Size, 0)}
	if u.ID == "" {
		u.ID = p.newID("upload")
	}
	var wrong problem.Fields
	checkNewID(&wrong, u.ID)
	if r.Body == nil {
		wrong.Add("file", "is missing")
	}
	if r.Mapping != nil {
		text, err := json.Marshal(r.Mapping)
		if err == nil {
			_, err = bankfile.ParseMapping(text)
		}
		if err != nil {
			wrong.Add("mapping", err.Error())
		}
		u.MappingText, u.Answered = string(text), true
	}
	u.FileKey = strings.Join([]string{
		"uploads", keyPart(p.id), keyPart(account), keyPart(u.ID), keyPart(baseName(r.FileName)),
	}, "/")
	return u, wrong.Err(ErrInvalid)
}

// repeated answers a request whose id is there already: the same file is the same upload, which is
// read where it could not be before. A file that was damaged or lost since is repaired.
func (p uploader) repeated(
	ctx context.Context, a Account, u Upload, body io.Reader,
) (Received, error) {
	whole := u.FileGone
	if !whole {
		var err error
		if whole, err = p.intact(ctx, &u); err != nil {
			return Received{}, err
		}
	}
	if !whole {
		if err := p.repairFile(ctx, &u, body); err != nil {
			return Received{}, err
		}
		return p.reread(ctx, a, u)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, newMeasured(body)); err != nil {
		return Received{}, fmt.Errorf("read file of upload %s: %w", u.ID, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != u.Hash {
		return Received{}, keyUsed(u.ID, "file")
	}
	return p.reread(ctx, a, u)
}

// reread answers about an upload that is there, and reads its file if that was not done yet.
// Another request may do so at the same moment.
func (p uploader) reread(ctx context.Context, a Account, u Upload) (Received, error) {
	for range editsMax {
		if u.Status != Uploaded || u.FileGone {
			break
		}
		received, err := p.readAnew(ctx, a, u)
		if !errors.Is(err, ErrChanged) {
			return received, err
		}
		if u, err = p.UploadOf(ctx, u.AccountID, u.ID); err != nil {
			return Received{}, err
		}
	}
	return p.Questions(ctx, u.AccountID, u.ID)
}

// abandon removes what is left of an upload whose file did not arrive. What cannot be removed now
// waits for a repeat of the upload.
func (p uploader) abandon(ctx context.Context, u Upload) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	m := modelOf(p.Person)
	_ = m.uploads.Delete(ctx, p.store(), u, m.versions.upload.Equals(u.Version))
}

// disown removes the files of an upload that was erased while they arrived: no item names them
// any more. One that others changed in the meantime keeps them.
func (p uploader) disown(ctx context.Context, u Upload) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	if _, err := p.UploadOf(ctx, u.AccountID, u.ID); errors.Is(err, ErrNoUpload) {
		for _, key := range u.objects() {
			_ = p.books.opts.Files.Delete(ctx, key)
		}
	}
}

// measured counts what is read, up to what there is room for.
type measured struct {
	r       io.Reader
	n       int64
	room    room
	refused error // Set once there was more.
}

// newMeasured returns a reader of at most a whole file.
func newMeasured(r io.Reader) *measured {
	return &measured{r: r, room: room{FileSizeMax, ErrFileTooLarge.With("limit", FileSizeMax)}}
}

func (m *measured) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if m.n += int64(n); m.n > m.room.left {
		m.refused = m.room.refusal
		return n, m.refused
	}
	return n, err
}

// keyPartMax bounds one part of an object's key: names of files have at most 255 bytes, and a store
// that keeps files may add to them.
const keyPartMax = 200

// keyPart makes one part of an object's key out of any text: letters, digits and a few marks stay,
// the rest is percent-encoded, and a dot in front too, so that no part leads elsewhere.
func keyPart(text string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(plain, text[i]) >= 0 && (i > 0 || text[i] != '.') {
			b.WriteByte(text[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", text[i])
		}
	}
	if b.Len() > keyPartMax {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	return b.String()
}

// baseName returns the last part of a path of any system, cut to what a key takes.
func baseName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if name = book.ClipText(name, keyPartMax/3); name == "" {
		return "statement"
	}
	return name
}

// Uploads returns a page of an account's uploads. Size is 1 to PageMax.
func (p *Person) Uploads(
	ctx context.Context, account string, size int, cursor string,
) (UploadPage, error) {
	page, err := modelOf(p).uploadsOf.Page(ctx, p.store(), OfAccount{p.id, account}, size, cursor)
	if err != nil {
		return UploadPage{}, failed("list uploads", err)
	}
	return UploadPage{page.Items, page.Next, page.Unreadable}, nil
}

// latestUploads returns the uploads of an account as far as they are searched, the highest id
// first.
func (p uploader) latestUploads(ctx context.Context, account string) ([]Upload, error) {
	var uploads []Upload
	for u, err := range modelOf(p.Person).uploadsOf.All(ctx, p.store(), OfAccount{p.id, account}) {
		if err != nil {
			return nil, failed("list uploads", err)
		}
		if uploads = append(uploads, u); len(uploads) == uploadsSearched {
			break
		}
	}
	return uploads, nil
}

// UploadOf returns one upload. The error is ErrNoUpload.
func (p *Person) UploadOf(ctx context.Context, account, id string) (Upload, error) {
	missing := ErrNoUpload.With("upload", id).With("account", account)
	if account == "" || id == "" {
		return Upload{}, missing
	}
	at := Upload{UserID: p.id, AccountID: account, ID: id}
	u, found, err := modelOf(p).uploads.Get(ctx, p.store(), at, singletable.Consistent())
	if err != nil {
		return Upload{}, failed("read upload", err)
	}
	if !found {
		return Upload{}, missing
	}
	return u, nil
}

// changeUpload changes an upload as it is in the store, also among other writers.
func (p uploader) changeUpload(
	ctx context.Context, account, id string, change func(*Upload) error,
) (Upload, error) {
	for {
		u, err := p.UploadOf(ctx, account, id)
		if err != nil {
			return Upload{}, err
		}
		if err := change(&u); err != nil {
			return Upload{}, err
		}
		if err = p.saveUpload(ctx, &u); !errors.Is(err, ErrChanged) {
			return u, err
		}
	}
}

// saveUpload writes an upload over the one that was read. The error is ErrChanged where that is no
// longer there.
func (p uploader) saveUpload(ctx context.Context, u *Upload) error {
	next := *u
	next.UpdatedAt, next.Version = p.now(), u.Version+1
	err := modelOf(p.Person).uploads.Put(ctx, p.store(), next, modelOf(p.Person).uploads.Exists(),
		modelOf(p.Person).versions.upload.Equals(u.Version))
	if errors.Is(err, singletable.ErrConditionFailed) {
		return ErrChanged.With("what", "Upload "+u.ID).Wrap(err)
	}
	if err != nil {
		return failed("write upload", err)
	}
	*u = next
	return nil
}

// demandStatus makes a transaction depend on an upload being in one of some states, and on no undo
// of it having begun since it was read.
func (p uploader) demandStatus(tx *singletable.Tx, u Upload, in ...UploadStatus) {
	m := modelOf(p.Person)
	m.uploads.CheckTx(tx, u, m.uploads.Exists(), m.uploadStatus.In(in...),
		m.uploadUndos.Equals(u.Undos))
}

// Questions returns an upload with the questions that it still has. One whose file cannot be read
// is Failed, as it will be once it is read again. The error is ErrNoUpload, ErrFileMissing or
// ErrNoFiles.
func (p *Person) Questions(ctx context.Context, account, id string) (Received, error) {
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return Received{}, err
	}
	r := Received{Upload: u}
	if r.Earlier, err = p.files().earlier(ctx, u); err != nil || u.Status != Uploaded {
		return r, err
	}
	a, err := p.Account(ctx, account)
	if err != nil {
		return Received{}, err
	}
	if u.Hash == "" {
		return r, nil
	}
	src, err := p.files().open(ctx, a, &u, reading{})
	if errors.Is(err, ErrUnreadable) {
		r.Upload.fail(err)
		return r, nil
	}
	if err != nil {
		return Received{}, err
	}
	defer src.close()
	r.Questions = src.questions
	return r, nil
}

// earlier returns the latest other upload of the same file.
func (p uploader) earlier(ctx context.Context, u Upload) (*Upload, error) {
	uploads, err := p.latestUploads(ctx, u.AccountID)
	if err != nil {
		return nil, err
	}
	for i := range uploads {
		if uploads[i].ID != u.ID && uploads[i].Hash == u.Hash && u.Hash != "" {
			return &uploads[i], nil
		}
	}
	return nil, nil
}

// DeleteFile deletes the file of an upload and the outcomes of its rows. The upload itself and the
// transactions stay. The error is ErrNoUpload, ErrNoFiles or, while it is imported, ErrUploadState.
func (p *Person) DeleteFile(ctx context.Context, account, id string) (Upload, error) {
	files := p.books.opts.Files
	// The item is changed first: a file that is gone must not look as if it were there.
	u, err := p.files().changeUpload(ctx, account, id, func(u *Upload) error {
		if u.Status == Importing || u.Status == Reverting {
			return ErrUploadState.With("status", u.Status).With("deed", "parted from its file")
		}
		if files == nil {
			return ErrNoFiles
		}
		u.FileGone, u.RowsHash, u.RowsSize = true, "", 0
		return nil
	})
	if err != nil {
		return Upload{}, err
	}
	for _, key := range u.objects() {
		if err := files.Delete(ctx, key); err != nil {
			return Upload{}, fmt.Errorf("delete file of upload %s: %w", id, err)
		}
	}
	return u, nil
}

// files are the keys of what an archive holds of an upload: its file and the outcomes of its rows.
func (u *Upload) files() []string {
	if u.FileKey == "" {
		return nil
	}
	return []string{u.FileKey, u.outcomesKey()}
}

// objects are the keys of files and of what can be found out again from them.
func (u *Upload) objects() []string {
	if u.FileKey == "" {
		return nil
	}
	return append(u.files(), u.rowsKey())
}
