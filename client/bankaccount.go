package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// Ids of things that belong to a person.
type (
	// BankAccountID identifies a bank account of a person.
	BankAccountID string
	// TagID identifies a tag of a person.
	TagID string
	// JobID identifies a background job.
	JobID string
)

// Profile is the profile of a person.
type Profile struct {
	Email       string      `json:"email,omitempty"`
	Preferences Preferences `json:"preferences"`
	Version     uint64      `json:"version"`
	CreatedAt   time.Time   `json:"createdAt,omitzero"`
	UpdatedAt   time.Time   `json:"updatedAt,omitzero"`
}

// Preferences are the settings of a person.
type Preferences struct {
	// Currency is the home currency, the default currency of reports.
	Currency money.Currency `json:"currency,omitempty"`
	// TimeZone determines the current day; it is a name of the IANA database.
	TimeZone string `json:"timezone,omitempty"`
}

// BankAccount is an account at a bank.
type BankAccount struct {
	ID       BankAccountID  `json:"id"`
	Name     string         `json:"name"`
	Currency money.Currency `json:"currency"`
	// Number is the account number as it is written in the bank's files.
	Number string `json:"number,omitempty"`
	Closed bool   `json:"closed,omitempty"`
	// Mapping is the rules for reading the bank's files, as the person confirmed them. It can be
	// saved in a file and shared.
	Mapping   json.RawMessage `json:"mapping,omitempty"`
	Version   uint64          `json:"version"`
	CreatedAt time.Time       `json:"createdAt,omitzero"`
	UpdatedAt time.Time       `json:"updatedAt,omitzero"`
}

// NewBankAccount is a request to create a bank account.
type NewBankAccount struct {
	// ID makes the request safe to repeat. If it is empty, the server generates one, and the
	// request is sent only once.
	ID       BankAccountID  `json:"id,omitempty"`
	Name     string         `json:"name"`
	Currency money.Currency `json:"currency"`
	Number   string         `json:"number,omitempty"`
}

// BankAccountChange is a change of a bank account; nil fields are unchanged.
type BankAccountChange struct {
	Name    *string         `json:"name,omitempty"`
	Number  *string         `json:"number,omitempty"`
	Closed  *bool           `json:"closed,omitempty"`
	Mapping json.RawMessage `json:"mapping,omitempty"`
}

// Tag is a label of transactions. Its text is unique for its person, ignoring case.
type Tag struct {
	ID        TagID     `json:"id"`
	Text      string    `json:"text"`
	Version   uint64    `json:"version"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
}

// Start is the data that an app needs when it starts.
type Start struct {
	// Profile is nil until one is saved.
	Profile  *Profile      `json:"profile,omitempty"`
	Accounts []BankAccount `json:"accounts"`
	Tags     []Tag         `json:"tags"`
}

// Job is a background job over many rows, which may need more than one request, with its progress.
type Job struct {
	ID JobID `json:"id"`
	// Kind is rename-tag, merge-tags, delete-tag or apply-rules.
	Kind string `json:"kind"`
	// TagID is the tag of the job, Text its text when the job began, and To the tag into which it
	// is merged.
	TagID TagID      `json:"tagId,omitempty"`
	Text  string     `json:"text,omitempty"`
	To    TagID      `json:"to,omitempty"`
	Scope *RuleScope `json:"scope,omitempty"`
	// AccountID and Month are the last completed month.
	AccountID BankAccountID `json:"accountId,omitempty"`
	Month     Date          `json:"month,omitempty"`
	// Read and Changed are numbers of rows.
	Read      int       `json:"read"`
	Changed   int       `json:"changed"`
	Done      bool      `json:"done"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// guarded returns a request for a change that requires a version; 0 means any version.
func (c *Client) guarded(method, path string, version uint64, body any) *request {
	r := &request{client: c, method: method, path: path, body: body}
	if version != 0 {
		r.match = `"` + strconv.FormatUint(version, 10) + `"`
	}
	return r
}

// done sends a request whose response has no body.
func done(ctx context.Context, r *request) error {
	response, err := r.send(ctx)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Start returns the profile, the accounts and the tags of the caller.
func (c *Client) Start(ctx context.Context) (Start, error) {
	return answer[Start](ctx, c.get("/v1/me/start", nil))
}

// Profile returns the profile of the caller.
func (c *Client) Profile(ctx context.Context) (Profile, error) {
	return answer[Profile](ctx, c.get("/v1/me/profile", nil))
}

// SaveProfile replaces the profile of the caller. A version other than 0 must be the current one.
func (c *Client) SaveProfile(
	ctx context.Context, email string, p Preferences, version uint64,
) (Profile, error) {
	r := c.guarded(http.MethodPut, "/v1/me/profile", version, struct {
		Email       string      `json:"email,omitempty"`
		Preferences Preferences `json:"preferences"`
	}{email, p})
	r.safe = version == 0
	return answer[Profile](ctx, r)
}

// BankAccounts returns the accounts of the caller.
func (c *Client) BankAccounts(ctx context.Context) ([]BankAccount, error) {
	page, err := answer[Page[BankAccount]](ctx, c.get("/v1/me/accounts", nil))
	return page.Rows(err)
}

// BankAccountReceipt is the response to the creation of an account.
type BankAccountReceipt struct {
	BankAccount
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
	Replayed bool `json:"-"`
}

// CreateBankAccount creates an account.
func (c *Client) CreateBankAccount(
	ctx context.Context,
	n NewBankAccount,
) (BankAccountReceipt, error) {
	r := c.post("/v1/me/accounts", n)
	r.safe = n.ID != ""
	made, replayed, err := repeatable[BankAccount](ctx, r)
	return BankAccountReceipt{made, replayed}, err
}

func bankPath(id BankAccountID) string { return "/v1/me/accounts/" + segment(id) }

// BankAccount returns an account.
func (c *Client) BankAccount(ctx context.Context, id BankAccountID) (BankAccount, error) {
	return answer[BankAccount](ctx, c.get(bankPath(id), nil))
}

// ChangeBankAccount changes an account. A version other than 0 must be the current one.
func (c *Client) ChangeBankAccount(
	ctx context.Context, id BankAccountID, version uint64, change BankAccountChange,
) (BankAccount, error) {
	r := c.guarded(http.MethodPatch, bankPath(id), version, change)
	r.safe = version == 0
	return answer[BankAccount](ctx, r)
}

// Tags returns the tags of the caller.
func (c *Client) Tags(ctx context.Context) ([]Tag, error) {
	page, err := answer[Page[Tag]](ctx, c.get("/v1/me/tags", nil))
	return page.Rows(err)
}

type tagText struct {
	Text string `json:"text"`
}

// TagReceipt is the response to the creation of a tag.
type TagReceipt struct {
	Tag
	// Replayed reports whether an earlier, equal request created it. The rest is its present state.
	Replayed bool `json:"-"`
}

// CreateTag creates a tag, or returns the existing one with the same text.
func (c *Client) CreateTag(ctx context.Context, text string) (TagReceipt, error) {
	r := c.post("/v1/me/tags", tagText{text})
	r.safe = true
	made, replayed, err := repeatable[Tag](ctx, r)
	return TagReceipt{made, replayed}, err
}

// RenameTag changes the text of a tag. Rows with the tag show the new text after the job, which is
// nil if nothing changed, has been run; see RunJob.
func (c *Client) RenameTag(
	ctx context.Context, id TagID, version uint64, text string,
) (Tag, *Job, error) {
	r := c.guarded(http.MethodPatch, "/v1/me/tags/"+segment(id), version, tagText{text})
	renamed, err := answer[struct {
		Tag Tag  `json:"tag"`
		Job *Job `json:"job"`
	}](ctx, r)
	return renamed.Tag, renamed.Job, err
}

// MergeTags merges one tag into another: the first is deleted at once, and the job, which must be
// run, replaces it in its rows and rules.
func (c *Client) MergeTags(ctx context.Context, from, into TagID, version uint64) (Job, error) {
	r := c.guarded(http.MethodPost, "/v1/me/tags/"+segment(from)+"/merge", version, struct {
		Into TagID `json:"into"`
	}{into})
	r.safe = true // a repeat returns the same job
	return answer[Job](ctx, r)
}

// DeleteTag deletes a tag at once. The job, which must be run, removes it from its rows and rules.
func (c *Client) DeleteTag(ctx context.Context, id TagID, version uint64) (Job, error) {
	r := c.guarded(http.MethodDelete, "/v1/me/tags/"+segment(id), version, nil)
	r.safe = true // a repeat returns the same job
	return answer[Job](ctx, r)
}

// Jobs returns the background jobs that are open or were completed within a week.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	page, err := answer[Page[Job]](ctx, c.get("/v1/me/jobs", nil))
	return page.Rows(err)
}

// Job returns a job.
func (c *Client) Job(ctx context.Context, id JobID) (Job, error) {
	return answer[Job](ctx, c.get("/v1/me/jobs/"+segment(id), nil))
}

// RunJob executes the rest of a job and returns its new state. progress, which may be nil, is
// called from time to time.
func (c *Client) RunJob(ctx context.Context, id JobID, progress func(Job)) (Job, error) {
	r := c.post("/v1/me/jobs/"+segment(id)+"/run", nil)
	r.safe = true // it continues where it stopped
	return streamed[Job](ctx, r, progress)
}
