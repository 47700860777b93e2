package statements

import (
	"context"
	"errors"
	"io"
	"path"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// AskStatement is the question which of the accounts in a file is meant.
const AskStatement bankfile.Topic = "statement"

// AskEncoding is a question that may be answered though nothing waits for it: how the characters of
// a file are written, see bankfile.ParseEncoding.
const AskEncoding bankfile.Topic = "encoding"

// UploadRequest brings a bank's file.
type UploadRequest struct {
	// ID is the id to use, so that the request can be repeated; empty means a new one.
	ID string
	// FileName is what the person calls the file.
	FileName string
	// Mapping says how to read it; nil means as the account remembers.
	Mapping *bankfile.Mapping
	Body    io.Reader
}

// Received is what came of a file.
type Received struct {
	Upload Upload
	// Questions are what a person must answer before the file can be read.
	Questions []bankfile.Question
	// Earlier is the latest other upload of the same file to the account, if there is one.
	Earlier *Upload
}

// UploadPage is a page of uploads, the latest first.
type UploadPage struct {
	Uploads []Upload
	Next    string // The cursor of the next page; empty at the end.
}

var errNotYet = errors.New("not yet")

// Upload keeps a file and finds out how to read it. The upload is Parsed then; it stays Uploaded
// where questions are open, and is Failed, with Why, where the file cannot be read at all. The
// error is ErrInvalid, ErrNoAccount, ErrFileTooLarge, ErrNoFiles or ErrChanged.
func (p *Person) Upload(ctx context.Context, account string, r UploadRequest) (Received, error) {
	return Received{}, errNotYet
}

// Uploads returns a page of an account's uploads. Size is 1 to PageMax.
func (p *Person) Uploads(
	ctx context.Context, account string, size int, cursor string,
) (UploadPage, error) {
	page, err := p.model().uploadsOf.Page(ctx, p.store(), OfAccount{p.id, account}, size, cursor)
	if err != nil {
		return UploadPage{}, failed("list uploads", err)
	}
	return UploadPage{page.Items, page.Next}, nil
}

// UploadOf returns one upload. The error is ErrNoUpload.
func (p *Person) UploadOf(ctx context.Context, account, id string) (Upload, error) {
	return Upload{}, errNotYet
}

// Questions returns an upload with the questions that it still has. The error is ErrNoUpload or
// ErrFileMissing.
func (p *Person) Questions(ctx context.Context, account, id string) (Received, error) {
	return Received{}, errNotYet
}

// Answer answers questions of an upload by their topics and reads its file anew. The error is
// ErrInvalid, ErrNoUpload, ErrFileMissing or ErrUploadState.
func (p *Person) Answer(
	ctx context.Context, account, id string, answers map[bankfile.Topic]string,
) (Received, error) {
	return Received{}, errNotYet
}

// Remap says in whole how an upload is read, and reads its file anew. The errors are those of
// Answer.
func (p *Person) Remap(
	ctx context.Context, account, id string, mapping bankfile.Mapping,
) (Received, error) {
	return Received{}, errNotYet
}

// ConfirmMapping makes the account remember how an upload is read. A finished import does so by
// itself. The error is ErrNoUpload or ErrUploadState.
func (p *Person) ConfirmMapping(ctx context.Context, account, id string) (Account, error) {
	return Account{}, errNotYet
}

// DeleteFile deletes the file of an upload and what became of its rows. The upload itself and the
// transactions stay. The error is ErrNoUpload.
func (p *Person) DeleteFile(ctx context.Context, account, id string) (Upload, error) {
	return Upload{}, errNotYet
}

// outcomesKeyOf returns the key of the outcomes beside that of the file.
func outcomesKeyOf(fileKey string) string { return path.Join(path.Dir(fileKey), "rows.jsonl") }
