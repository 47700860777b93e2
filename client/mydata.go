package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// ExportQuery asks for transactions to be given out.
type ExportQuery struct {
	// Format is csv, json, jsonl, beancount or hledger; empty means csv.
	Format string
	// Accounts are the accounts to give out; none means all.
	Accounts []BankAccountID
	// From and To are days, both included; an end left empty is open.
	From, To Date
	// Opening begins each account of a journal with what its earlier rows add up to.
	Opening bool
}

// Export writes transactions of the caller. When it fails, what was written is not whole.
func (c *Client) Export(ctx context.Context, w io.Writer, q ExportQuery) error {
	v := url.Values{}
	setText(v, "format", q.Format)
	setText(v, "from", string(q.From))
	setText(v, "to", string(q.To))
	setEach(v, "account", q.Accounts)
	setTrue(v, "opening", q.Opening)
	return c.download(ctx, w, "/v1/me/export", v)
}

// Archive writes everything of the caller as a zip file. When it fails, what was written is not
// whole.
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

// Restore brings an archive back, where the caller has nothing yet. Size is its length in bytes, 0
// if that is not known.
func (c *Client) Restore(
	ctx context.Context, archive io.Reader, size int64,
) (ArchiveCounts, error) {
	r := c.post("/v1/me/restore", nil)
	r.file, r.size = archive, size
	return answer[ArchiveCounts](ctx, r)
}

// Erased is how many things were removed.
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

// EraseEverything deletes all that the server keeps of the caller's statements. There is no way
// back. When it was cut off, another call removes what is left. Progress may be nil.
func (c *Client) EraseEverything(ctx context.Context, progress func(Erased)) (Erased, error) {
	r := &request{
		client: c, method: http.MethodDelete, path: "/v1/me",
		values: url.Values{"confirm": {"everything"}},
	}
	return streamed[Erased](ctx, r, progress)
}

// EraseBankAccount deletes an account and everything in it. There is no way back. Progress may be
// nil.
func (c *Client) EraseBankAccount(
	ctx context.Context, id BankAccountID, progress func(Erased),
) (Erased, error) {
	return streamed[Erased](ctx, c.guarded(http.MethodDelete, bankPath(id), 0, nil), progress)
}
