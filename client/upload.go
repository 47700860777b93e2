package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// UploadID identifies an uploaded bank file of an account.
type UploadID string

// UploadStatus is the state of an upload.
type UploadStatus string

// The states of an upload.
const (
	UploadUploaded  UploadStatus = "uploaded" // it has open questions
	UploadParsed    UploadStatus = "parsed"
	UploadPreviewed UploadStatus = "previewed"
	UploadImporting UploadStatus = "importing"
	UploadProcessed UploadStatus = "processed"
	UploadFailed    UploadStatus = "failed"
	UploadReverting UploadStatus = "reverting"
	UploadReverted  UploadStatus = "reverted"
)

// Upload is an uploaded bank file with its state.
type Upload struct {
	ID        UploadID      `json:"id"`
	AccountID BankAccountID `json:"accountId"`
	Status    UploadStatus  `json:"status"`
	// Why is the reason of a failure.
	Why      string `json:"why,omitempty"`
	FileName string `json:"fileName,omitempty"`
	FileGone bool   `json:"fileGone,omitempty"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256,omitempty"`
	Format   string `json:"format,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	// Mapping is the rules for reading the file. It can be saved in a file and shared.
	Mapping json.RawMessage `json:"mapping,omitempty"`
	// Number is the account in the file whose statements are imported.
	Number string       `json:"number,omitempty"`
	Rows   int          `json:"rows"`
	Counts UploadCounts `json:"counts"`
	// From and To are the first and the last day in the file.
	From   Date     `json:"from,omitempty"`
	To     Date     `json:"to,omitempty"`
	Months []string `json:"months"`
	// Digest identifies the decisions of the last preview. Pass it to Import.
	Digest string `json:"digest,omitempty"`
	// Opening and Closing are the balances in the file. Checked reports whether they could be
	// compared with the rows, and Agrees whether they match.
	Currency money.Currency `json:"currency,omitempty"`
	Opening  *money.Decimal `json:"opening,omitempty"`
	Closing  *money.Decimal `json:"closing,omitempty"`
	Checked  bool           `json:"checked"`
	Agrees   bool           `json:"agrees"`
	// Continuity is continues or gap: whether the file begins where the upload After ended.
	Continuity string   `json:"continuity,omitempty"`
	After      UploadID `json:"after,omitempty"`
	// Doubts are warnings about the whole file.
	Doubts     []string  `json:"doubts"`
	Version    uint64    `json:"version"`
	UploadedAt time.Time `json:"uploadedAt,omitzero"`
	ImportedAt time.Time `json:"importedAt,omitzero"`
	UpdatedAt  time.Time `json:"updatedAt,omitzero"`
}

// UploadCounts are the results of the rows of a file.
type UploadCounts struct {
	New     int `json:"new"`
	Known   int `json:"known"`
	Merged  int `json:"merged"`
	Deleted int `json:"deleted"`
	Skipped int `json:"skipped"`
	Refused int `json:"refused"`
}

// ReceivedFile is an upload with the questions that a person must answer before it can be read.
type ReceivedFile struct {
	Upload    Upload         `json:"upload"`
	Questions []FileQuestion `json:"questions"`
	// Earlier is another upload of the same file.
	Earlier *Upload `json:"earlier,omitempty"`
}

// FileQuestion is a question that the file does not answer.
type FileQuestion struct {
	Topic string `json:"topic"`
	Text  string `json:"text"`
	// Choices begin with the more likely one.
	Choices []FileChoice `json:"choices"`
	// Examples are ambiguous cells.
	Examples []string `json:"examples"`
}

// FileChoice is one possible answer.
type FileChoice struct {
	Value string `json:"value"`
	// Meaning is the interpretation of the first example.
	Meaning string `json:"meaning"`
}

// FileRow is the result of one row of a file, with the reason.
type FileRow struct {
	Line int `json:"line"`
	// Verdict is new, known, merged, deleted, skipped, refused or warned.
	Verdict string `json:"verdict"`
	// ID is the transaction of the row, or the expected one.
	ID       BankTransactionID `json:"id,omitempty"`
	Why      string            `json:"why,omitempty"`
	Date     Date              `json:"date,omitempty"`
	Amount   *money.Decimal    `json:"amount,omitempty"`
	Currency money.Currency    `json:"currency,omitempty"`
	Text     string            `json:"text,omitempty"`
	Warnings []string          `json:"warnings"`
	// Raw is the row as it is in the file, if it could not be read.
	Raw string `json:"raw,omitempty"`
	// Transaction is the transaction of a new row; only a preview has it.
	Transaction *BankTransaction `json:"transaction,omitempty"`
}

// RowsDone is the progress in rows.
type RowsDone struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// NewUpload is a bank file to upload.
type NewUpload struct {
	// ID is the id to use; if it is empty, the server generates one.
	ID UploadID
	// FileName is the person's name of the file.
	FileName string
	// Body is the file, which is read once, and Size its length in bytes, 0 if it is unknown.
	Body io.Reader
	Size int64
}

// UploadReceipt is the response to the creation of an upload.
type UploadReceipt struct {
	ReceivedFile
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
	Replayed bool `json:"-"`
}

// Upload uploads a bank file. Nothing is imported yet. A failed request is not retried, because its
// body has been read.
func (c *Client) Upload(
	ctx context.Context, account BankAccountID, n NewUpload,
) (UploadReceipt, error) {
	r := c.post(bankPath(account)+"/uploads", nil)
	r.file, r.size = n.Body, n.Size
	r.values = url.Values{}
	setText(r.values, "fileName", n.FileName)
	setText(r.values, "id", string(n.ID))
	made, replayed, err := repeatable[ReceivedFile](ctx, r)
	return UploadReceipt{made, replayed}, err
}

// Uploads returns a page of the uploads of an account, the largest id first. If the server
// generated the ids, this is the latest upload.
func (c *Client) Uploads(
	ctx context.Context, account BankAccountID, q PageQuery,
) (Page[Upload], error) {
	return answer[Page[Upload]](ctx, c.get(bankPath(account)+"/uploads", pageValues(q, nil)))
}

// AllUploads returns the uploads of an account from all pages.
func (c *Client) AllUploads(ctx context.Context, account BankAccountID) iter.Seq2[Upload, error] {
	return all(func(q PageQuery) (Page[Upload], error) { return c.Uploads(ctx, account, q) })
}

func uploadPath(account BankAccountID, id UploadID) string {
	return bankPath(account) + "/uploads/" + segment(id)
}

// UploadOf returns an upload with its open questions.
func (c *Client) UploadOf(
	ctx context.Context, account BankAccountID, id UploadID,
) (ReceivedFile, error) {
	return answer[ReceivedFile](ctx, c.get(uploadPath(account, id), nil))
}

// AnswerQuestions answers questions of an upload, by their topics.
func (c *Client) AnswerQuestions(
	ctx context.Context, account BankAccountID, id UploadID, answers map[string]string,
) (ReceivedFile, error) {
	r := c.post(uploadPath(account, id)+"/answers", struct {
		Answers map[string]string `json:"answers"`
	}{answers})
	r.safe = true
	return answer[ReceivedFile](ctx, r)
}

// MapUpload sets the column mapping of an upload; mapping is JSON.
func (c *Client) MapUpload(
	ctx context.Context, account BankAccountID, id UploadID, mapping json.RawMessage,
) (ReceivedFile, error) {
	return answer[ReceivedFile](ctx, &request{
		client: c, method: http.MethodPut, path: uploadPath(account, id) + "/mapping",
		body: mapping, safe: true,
	})
}

// ConfirmMapping saves the mapping of an upload in the account. A finished import does this
// automatically.
func (c *Client) ConfirmMapping(
	ctx context.Context, account BankAccountID, id UploadID,
) (BankAccount, error) {
	r := c.post(uploadPath(account, id)+"/mapping/confirm", nil)
	r.safe = true
	return answer[BankAccount](ctx, r)
}

// DeleteUploadedFile deletes the file of an upload; the upload and its transactions remain.
func (c *Client) DeleteUploadedFile(
	ctx context.Context, account BankAccountID, id UploadID,
) (Upload, error) {
	r := c.guarded(http.MethodDelete, uploadPath(account, id)+"/file", 0, nil)
	r.safe = true
	return answer[Upload](ctx, r)
}

// UploadPreview is the expected result of an import.
type UploadPreview struct {
	// Upload has the counts and the digest.
	Upload Upload    `json:"upload"`
	Rows   []FileRow `json:"rows"` // the first rows
}

// PreviewUpload computes the expected result of an import for each row, and returns the first rows,
// at most 1000.
func (c *Client) PreviewUpload(
	ctx context.Context, account BankAccountID, id UploadID, rows int,
) (UploadPreview, error) {
	r := c.post(uploadPath(account, id)+"/preview", nil)
	r.values = url.Values{"rows": {strconv.Itoa(rows)}}
	r.safe = true
	return answer[UploadPreview](ctx, r)
}

// UploadRows returns a page of the results of the rows of a file, except those that are simply new:
// rows with some verdicts, or all.
func (c *Client) UploadRows(
	ctx context.Context, account BankAccountID, id UploadID, verdicts []string, q PageQuery,
) (Page[FileRow], error) {
	v := pageValues(q, nil)
	setEach(v, "verdict", verdicts)
	return answer[Page[FileRow]](ctx, c.get(uploadPath(account, id)+"/rows", v))
}

// AllUploadRows returns the results of the rows of a file from all pages.
func (c *Client) AllUploadRows(
	ctx context.Context, account BankAccountID, id UploadID, verdicts ...string,
) iter.Seq2[FileRow, error] {
	return all(func(q PageQuery) (Page[FileRow], error) {
		return c.UploadRows(ctx, account, id, verdicts, q)
	})
}

// Import is a request to import a file.
type Import struct {
	// Digest is that of the confirmed preview; empty imports in any case.
	Digest string
	// Progress, if it is set, is called from time to time, on the caller's goroutine.
	Progress func(RowsDone)
}

// ImportUpload imports the rows of an upload. An import that was stopped can be requested again.
func (c *Client) ImportUpload(
	ctx context.Context, account BankAccountID, id UploadID, i Import,
) (Upload, error) {
	r := c.post(uploadPath(account, id)+"/import", nil)
	r.values = url.Values{}
	setText(r.values, "digest", i.Digest)
	r.safe = true
	return streamed[Upload](ctx, r, i.Progress)
}

// UndoPlan is the expected result of undoing an import.
type UndoPlan struct {
	New      int `json:"new"`      // rows of the import, which would be deleted
	Merged   int `json:"merged"`   // transactions that would be restored to their previous state
	Others   int `json:"others"`   // rows that a later import has taken over; they remain
	EditedOf int `json:"editedOf"` // number of rows that a person has edited since
	// Edited are the first of these rows.
	Edited []EditedRow `json:"edited"`
}

// EditedRow is a row of an import that a person has edited since.
type EditedRow struct {
	ID       BankTransactionID `json:"id"`
	Date     Date              `json:"date"`
	Amount   money.Decimal     `json:"amount"`
	Currency money.Currency    `json:"currency"`
	Merchant string            `json:"merchant"`
	What     []string          `json:"what"` // the edited fields
}

// PlanUndo returns the expected result of undoing an import.
func (c *Client) PlanUndo(
	ctx context.Context, account BankAccountID, id UploadID,
) (UndoPlan, error) {
	return answer[UndoPlan](ctx, c.get(uploadPath(account, id)+"/undo", nil))
}

// Undo is a request to undo an import.
type Undo struct {
	// Edited is keep or remove, for rows that a person has edited since. It is required if there
	// are any.
	Edited string
	// Progress, if it is set, is called from time to time, on the caller's goroutine.
	Progress func(RowsDone)
}

// UndoImport undoes an import. One that was stopped can be requested again.
func (c *Client) UndoImport(
	ctx context.Context, account BankAccountID, id UploadID, u Undo,
) (Upload, error) {
	r := c.post(uploadPath(account, id)+"/undo", nil)
	r.values = url.Values{}
	setText(r.values, "edited", u.Edited)
	r.safe = true
	return streamed[Upload](ctx, r, u.Progress)
}
