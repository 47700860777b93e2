package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// ExportQuery selects the transactions to export.
type ExportQuery struct {
	// Format is csv, json, jsonl, beancount or hledger; empty means csv.
	Format string
	// Accounts are the accounts to export; none means all.
	Accounts []BankAccountID
	// From and To are days, both included; an empty end is open.
	From, To Date
	// Opening begins each account of a journal with the sum of its earlier rows.
	Opening bool
}

// Export writes transactions of the caller. After an error the output is incomplete.
func (c *Client) Export(ctx context.Context, w io.Writer, q ExportQuery) error {
	v := url.Values{}
	setText(v, "format", q.Format)
	setText(v, "from", string(q.From))
	setText(v, "to", string(q.To))
	setEach(v, "account", q.Accounts)
	setTrue(v, "opening", q.Opening)
	return c.download(ctx, w, "/v1/me/export", v)
}

// Archive writes all data of the caller as a zip file. After an error the output is incomplete.
func (c *Client) Archive(ctx context.Context, w io.Writer) error {
	return c.download(ctx, w, "/v1/me/archive", nil)
}

func (c *Client) download(ctx context.Context, w io.Writer, path string, v url.Values) error {
	r := c.get(path, v)
	r.accept = "*/*"
	response, err := r.send(ctx)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(w, response.Body); err != nil {
		return r.broken(err)
	}
	return nil
}

// ArchiveCounts are the numbers of things in an archive.
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

// Restore imports an archive if the caller has no data. size is its length in bytes, 0 if it is
// unknown.
func (c *Client) Restore(
	ctx context.Context, archive io.Reader, size int64,
) (ArchiveCounts, error) {
	r := c.post("/v1/me/restore", nil)
	r.file, r.size = archive, size
	return answer[ArchiveCounts](ctx, r)
}

// Erased are the numbers of deleted things.
type Erased struct {
	Profiles     int `json:"profiles"`
	Accounts     int `json:"accounts"`
	Tags         int `json:"tags"`
	Rules        int `json:"rules"`
	Jobs         int `json:"jobs"`
	Uploads      int `json:"uploads"`
	Files        int `json:"files"`
	Transactions int `json:"transactions"`
	Entries      int `json:"entries"`
	Sheets       int `json:"sheets"`
}

// EraseEverything permanently deletes all statement data of the caller. If it is interrupted,
// another call deletes the rest. progress may be nil.
func (c *Client) EraseEverything(ctx context.Context, progress func(Erased)) (Erased, error) {
	r := &request{
		client: c, method: http.MethodDelete, path: "/v1/me",
		values: url.Values{"confirm": {"everything"}},
	}
	return streamed[Erased](ctx, r, progress)
}

// EraseBankAccount permanently deletes an account with all its data. progress may be nil.
func (c *Client) EraseBankAccount(
	ctx context.Context, id BankAccountID, progress func(Erased),
) (Erased, error) {
	return streamed[Erased](ctx, c.guarded(http.MethodDelete, bankPath(id), 0, nil), progress)
}
