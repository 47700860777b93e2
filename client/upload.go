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

// UploadID identifies a bank's file of an account.
type UploadID string

// UploadStatus says how far an upload has come.
type UploadStatus string

// The life of an upload.
const (
	UploadUploaded  UploadStatus = "uploaded" // It has open questions.
	UploadParsed    UploadStatus = "parsed"
	UploadPreviewed UploadStatus = "previewed"
	UploadImporting UploadStatus = "importing"
	UploadProcessed UploadStatus = "processed"
	UploadFailed    UploadStatus = "failed"
	UploadReverting UploadStatus = "reverting"
	UploadReverted  UploadStatus = "reverted"
)

// Upload is a bank's file, and what became of it.
type Upload struct {
	ID        UploadID      `json:"id"`
	AccountID BankAccountID `json:"accountId"`
	Status    UploadStatus  `json:"status"`
	// Why tells why it failed.
	Why      string `json:"why,omitempty"`
	FileName string `json:"fileName,omitempty"`
	FileGone bool   `json:"fileGone,omitempty"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256,omitempty"`
	Format   string `json:"format,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	// Mapping is how the file is read; it can be kept in a file and given to others.
	Mapping json.RawMessage `json:"mapping,omitempty"`
	// Number is the account of the file whose statements are taken in.
	Number string       `json:"number,omitempty"`
	Rows   int          `json:"rows"`
	Counts UploadCounts `json:"counts"`
	// From and To are the first and the last day in the file.
	From   Date     `json:"from,omitempty"`
	To     Date     `json:"to,omitempty"`
	Months []string `json:"months"`
	// Digest names what the last preview decided; give it to Import.
	Digest string `json:"digest,omitempty"`
	// Opening and Closing are the balances that the file gives. Checked tells that they could be
	// compared with the rows, and Agrees that they fit.
	Currency money.Currency `json:"currency,omitempty"`
	Opening  *money.Decimal `json:"opening,omitempty"`
	Closing  *money.Decimal `json:"closing,omitempty"`
	Checked  bool           `json:"checked"`
	Agrees   bool           `json:"agrees"`
	// Continuity is continues or gap: whether it begins where the upload After ended.
	Continuity string   `json:"continuity,omitempty"`
	After      UploadID `json:"after,omitempty"`
	// Doubts are what a person should see about the whole file.
	Doubts     []string  `json:"doubts"`
	Version    uint64    `json:"version"`
	UploadedAt time.Time `json:"uploadedAt,omitzero"`
	ImportedAt time.Time `json:"importedAt,omitzero"`
	UpdatedAt  time.Time `json:"updatedAt,omitzero"`
}

// UploadCounts are what became of the rows of a file.
type UploadCounts struct {
	New     int `json:"new"`
	Known   int `json:"known"`
	Merged  int `json:"merged"`
	Deleted int `json:"deleted"`
	Skipped int `json:"skipped"`
	Refused int `json:"refused"`
}

// ReceivedFile is an upload with what a person must answer before it can be read.
type ReceivedFile struct {
	Upload    Upload         `json:"upload"`
	Questions []FileQuestion `json:"questions"`
	// Earlier is another upload of the same file.
	Earlier *Upload `json:"earlier,omitempty"`
}

// FileQuestion is something that nothing in a file decides.
type FileQuestion struct {
	Topic string `json:"topic"`
	Text  string `json:"text"`
	// Choices begin with the likelier one.
	Choices []FileChoice `json:"choices"`
	// Examples are cells that leave it open.
	Examples []string `json:"examples"`
}

// FileChoice is one possible answer.
type FileChoice struct {
	Value string `json:"value"`
	// Meaning is what it means for the first example.
	Meaning string `json:"meaning"`
}

// FileRow is what becomes of one row of a file, and why.
type FileRow struct {
	Line int `json:"line"`
	// Verdict is new, known, merged, deleted, skipped, refused or warned.
	Verdict string `json:"verdict"`
	// ID is the transaction that the row becomes, or became.
	ID       BankTransactionID `json:"id,omitempty"`
	Why      string            `json:"why,omitempty"`
	Date     Date              `json:"date,omitempty"`
	Amount   *money.Decimal    `json:"amount,omitempty"`
	Currency money.Currency    `json:"currency,omitempty"`
	Text     string            `json:"text,omitempty"`
	Warnings []string          `json:"warnings"`
	// Raw is the row as the file has it, where it could not be read.
	Raw string `json:"raw,omitempty"`
	// Transaction is what a new row will be; only a preview tells it.
	Transaction *BankTransaction `json:"transaction,omitempty"`
}

// RowsDone tells how many rows of how many are done.
type RowsDone struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// NewUpload brings a bank's file.
type NewUpload struct {
	// ID is the id to use; empty means that the server makes one up.
	ID UploadID
	// FileName is what the person calls the file.
	FileName string
	// Body is the file, which is read once, and Size its length in bytes, 0 if that is not known.
	Body io.Reader
	Size int64
}

// UploadReceipt is the answer to a request for an upload.
type UploadReceipt struct {
	ReceivedFile
	// Replayed reports whether an earlier, equal request created it, which is as it is now.
	Replayed bool `json:"-"`
}

// Upload sends a bank's file. Nothing is imported yet. A request that failed is not sent again by
// itself, since its body was read.
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

// Uploads returns a page of the uploads of an account, the greatest id first: the latest, where
// the server made the ids.
func (c *Client) Uploads(
	ctx context.Context, account BankAccountID, q PageQuery,
) (Page[Upload], error) {
	return answer[Page[Upload]](ctx, c.get(bankPath(account)+"/uploads", q.values(nil)))
}

// AllUploads returns the uploads of an account from all pages.
func (c *Client) AllUploads(ctx context.Context, account BankAccountID) iter.Seq2[Upload, error] {
	return all(func(q PageQuery) (Page[Upload], error) { return c.Uploads(ctx, account, q) })
}

func uploadPath(account BankAccountID, id UploadID) string {
	return bankPath(account) + "/uploads/" + segment(id)
}

// UploadOf returns an upload with the questions that are open.
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

// MapUpload says in whole how an upload is read; mapping is JSON.
func (c *Client) MapUpload(
	ctx context.Context, account BankAccountID, id UploadID, mapping json.RawMessage,
) (ReceivedFile, error) {
	return answer[ReceivedFile](ctx, &request{
		client: c, method: http.MethodPut, path: uploadPath(account, id) + "/mapping",
		body: mapping, safe: true,
	})
}

// ConfirmMapping makes the account remember how an upload is read. A finished import does so by
// itself.
func (c *Client) ConfirmMapping(
	ctx context.Context, account BankAccountID, id UploadID,
) (BankAccount, error) {
	r := c.post(uploadPath(account, id)+"/mapping/confirm", nil)
	r.safe = true
	return answer[BankAccount](ctx, r)
}

// DeleteUploadedFile deletes the file of an upload; the upload and its transactions stay.
func (c *Client) DeleteUploadedFile(
	ctx context.Context, account BankAccountID, id UploadID,
) (Upload, error) {
	r := c.guarded(http.MethodDelete, uploadPath(account, id)+"/file", 0, nil)
	r.safe = true
	return answer[Upload](ctx, r)
}

// UploadPreview tells what an import would do.
type UploadPreview struct {
	// Upload has the counts and the digest.
	Upload Upload    `json:"upload"`
	Rows   []FileRow `json:"rows"` // The first rows.
}

// PreviewUpload decides for each row what an import would do, and shows the first rows, at most
// 1000.
func (c *Client) PreviewUpload(
	ctx context.Context, account BankAccountID, id UploadID, rows int,
) (UploadPreview, error) {
	r := c.post(uploadPath(account, id)+"/preview", nil)
	r.values = url.Values{"rows": {strconv.Itoa(rows)}}
	r.safe = true
	return answer[UploadPreview](ctx, r)
}

// UploadRows returns a page of what became of the rows of a file, but for those that are simply
// new: of those with some verdicts, or of all.
func (c *Client) UploadRows(
	ctx context.Context, account BankAccountID, id UploadID, verdicts []string, q PageQuery,
) (Page[FileRow], error) {
	v := q.values(nil)
	setEach(v, "verdict", verdicts)
	return answer[Page[FileRow]](ctx, c.get(uploadPath(account, id)+"/rows", v))
}

// AllUploadRows returns what became of the rows of a file from all pages.
func (c *Client) AllUploadRows(
	ctx context.Context, account BankAccountID, id UploadID, verdicts ...string,
) iter.Seq2[FileRow, error] {
	return all(func(q PageQuery) (Page[FileRow], error) {
		return c.UploadRows(ctx, account, id, verdicts, q)
	})
}

// Import asks for a file to be imported.
type Import struct {
	// Digest is that of the preview that was confirmed; empty imports whatever there is.
	Digest string
	// Progress, if set, is called now and then, by the goroutine of the caller.
	Progress func(RowsDone)
}

// ImportUpload takes the rows of an upload in. One that was stopped can be asked for again.
func (c *Client) ImportUpload(
	ctx context.Context, account BankAccountID, id UploadID, i Import,
) (Upload, error) {
	r := c.post(uploadPath(account, id)+"/import", nil)
	r.values = url.Values{}
	setText(r.values, "digest", i.Digest)
	r.safe = true
	return streamed[Upload](ctx, r, i.Progress)
}

// UndoPlan is what undoing an import would do.
type UndoPlan struct {
	New      int `json:"new"`      // Rows that it brought, and that would go.
	Merged   int `json:"merged"`   // Transactions that would be again what they were before.
	Others   int `json:"others"`   // Rows that a later import has taken over; they stay.
	EditedOf int `json:"editedOf"` // How many rows a person has worked on since.
	// Edited are the first of them.
	Edited []EditedRow `json:"edited"`
}

// EditedRow is a row of an import on which a person has worked since.
type EditedRow struct {
	ID       BankTransactionID `json:"id"`
	Date     Date              `json:"date"`
	Amount   money.Decimal     `json:"amount"`
	Currency money.Currency    `json:"currency"`
	Merchant string            `json:"merchant"`
	What     []string          `json:"what"` // The fields that are a person's.
}

// PlanUndo tells what undoing an import would do.
func (c *Client) PlanUndo(
	ctx context.Context, account BankAccountID, id UploadID,
) (UndoPlan, error) {
	return answer[UndoPlan](ctx, c.get(uploadPath(account, id)+"/undo", nil))
}

// Undo asks for an import to be taken back.
type Undo struct {
	// Edited says what becomes of rows that a person has worked on since: keep or remove. It is
	// needed where there are any.
	Edited string
	// Progress, if set, is called now and then, by the goroutine of the caller.
	Progress func(RowsDone)
}

// UndoImport takes back what an import did. One that was stopped can be asked for again.
func (c *Client) UndoImport(
	ctx context.Context, account BankAccountID, id UploadID, u Undo,
) (Upload, error) {
	r := c.post(uploadPath(account, id)+"/undo", nil)
	r.values = url.Values{}
	setText(r.values, "edited", u.Edited)
	r.safe = true
	return streamed[Upload](ctx, r, u.Progress)
}
