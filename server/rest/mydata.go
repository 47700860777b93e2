package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/internal/tempfile"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// What a person takes with them, brings back, and wants gone.
type (
	archiveCounts struct {
		Profiles     int `json:"profiles"`
		Accounts     int `json:"accounts"`
		Tags         int `json:"tags"`
		Rules        int `json:"rules"`
		Jobs         int `json:"jobs"`
		Uploads      int `json:"uploads"`
		Files        int `json:"files"`
		Transactions int `json:"transactions"`
		Entries      int `json:"entries" doc:"What is remembered of rows of banks"`
	}

	erased struct {
		Profiles     int `json:"profiles"`
		Accounts     int `json:"accounts"`
		Tags         int `json:"tags"`
		Rules        int `json:"rules"`
		Jobs         int `json:"jobs"`
		Uploads      int `json:"uploads"`
		Files        int `json:"files"`
		Transactions int `json:"transactions"`
		Entries      int `json:"entries" doc:"What was remembered of rows of banks"`
		Sheets       int `json:"sheets" doc:"Totals of months"`
	}
)

type (
	exportMineParams struct {
		OfAccounts
		Format  string   `query:"format" enum:"csv,json,jsonl,beancount,hledger" default:"csv" doc:"The form"`
		From    bankDate `query:"from" doc:"The first day; the very first without it" example:"2025-08-01"`
		To      bankDate `query:"to" doc:"The last day, which is included; the very last without it" example:"2025-08-31"`
		Opening bool     `query:"opening" doc:"Whether a journal begins each account with what its earlier rows add up to"`
	}
	restoreParams struct{ WithFile }
	eraseParams   struct {
		Streaming
		Confirm string `query:"confirm" required:"true" doc:"The word everything: there is no way back" example:"everything"`
	}
	eraseAccountParams struct {
		Streaming
		BankAccountPath
	}
)

func (a *API) registerMyData() {
	const chapter, read, write = tagMe, api.StatementsRead, api.StatementsWrite
	export := operation{
		id: "export-bank-transactions", method: http.MethodGet, path: "/v1/me/export",
		tag: tagReports, scope: read, personal: true, stream: true,
		summary: "Export transactions",
		description: "As CSV, JSON, lines of JSON, or as a journal of Beancount or hledger, in the " +
			"order of their days. In CSV no cell can be taken for a formula.",
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrRangeTooLong, statements.ErrNoAccount,
		},
	}
	register(a.Router, export, a.export)
	content := map[string]*huma.MediaType{}
	for _, f := range statements.ExportFormats() {
		content[f.ContentType()] = exported(f)
	}
	a.describeAnswer(export, content)
	archive := operation{
		id: "archive-my-data", method: http.MethodGet, path: "/v1/me/archive", tag: chapter,
		scope: read, personal: true, stream: true,
		summary:     "Get everything of mine as one archive",
		description: "A zip file with all that there is, uploaded files included. It can be restored.",
		problems: []*problem.Definition{
			statements.ErrFileMissing, statements.ErrFileDamaged, statements.ErrNoFiles,
		},
	}
	register(a.Router, archive, a.archive)
	a.describeAnswer(archive, map[string]*huma.MediaType{
		mediaZip: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
	})
	registerFile(a.Router, operation{
		id: "restore-my-data", method: http.MethodPost, path: "/v1/me/restore", tag: chapter,
		scope: write, personal: true, summary: "Bring an archive back",
		description: "The body is the archive. It is checked whole before anything is written, and is " +
			"restored only where nothing is yet. A restore that was cut off is finished by sending " +
			"the same archive again.",
		problems: []*problem.Definition{
			ErrFormRefused, problem.ErrBodyTooLarge, payload.ErrTooSlow, statements.ErrUnreadable,
			ErrSpoolFull, ErrSpoolTooSmall, statements.ErrNotEmpty, statements.ErrQuota,
			statements.ErrDiskReserve, statements.ErrNoFiles,
		},
	}, a.restore)
	registerWork(a.Router, operation{
		id: "erase-my-data", method: http.MethodDelete, path: "/v1/me", tag: chapter,
		scope: write, personal: true, summary: "Delete everything of mine",
		description: "All that is kept of the person's statements, uploaded files included. It tells " +
			"what was removed. When it was cut off, another call removes what is left.",
		problems: []*problem.Definition{ErrUnconfirmed, statements.ErrNoFiles},
	}, a.erase)
	registerWork(a.Router, operation{
		id: "erase-bank-account", method: http.MethodDelete, path: "/v1/me/accounts/{account}",
		tag: tagBankAccounts, scope: write, personal: true,
		summary:     "Delete an account and everything in it",
		description: "There is no way back; to keep its history, close it instead.",
		problems:    []*problem.Definition{statements.ErrNoAccount, statements.ErrNoFiles},
	}, a.eraseAccount)
}

// exported describes a file of transactions: JSON is a list of objects, or an object on each line;
// the others are text.
func exported(f statements.ExportFormat) *huma.MediaType {
	row := &huma.Schema{Type: huma.TypeObject, Description: "A transaction of the bank"}
	switch f {
	case statements.ExportJSON:
		row = &huma.Schema{Type: huma.TypeArray, Items: row}
	case statements.ExportJSONLines:
	default:
		row = &huma.Schema{Type: huma.TypeString}
	}
	return &huma.MediaType{Schema: row}
}

// confirmation is what must be said for everything to go.
const confirmation = "everything"

// ErrUnconfirmed asks whether it is really meant.
var ErrUnconfirmed = Problems.Define(problem.Invalid, "confirmation_missing",
	"This deletes everything that the server keeps of you, and there is no way back",
	"Get the archive first, then send confirm="+confirmation)

func (a *API) export(ctx context.Context, in *exportMineParams) (*streamed, error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	form := statements.ExportFormat(in.Format)
	return a.download(form.ContentType(), "transactions."+in.Format,
		func(c huma.Context, w io.Writer) error {
			_, err := p.Export(c.Context(), w, statements.Export{
				Format: form, Accounts: in.Accounts, From: in.From, To: in.To, Opening: in.Opening,
			})
			return err
		}), nil
}

func (a *API) archive(ctx context.Context, _ *struct{}) (*streamed, error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	return a.download(mediaZip, "exchequer.zip", func(c huma.Context, w io.Writer) error {
		_, err := p.Archive(c.Context(), w, nil)
		return err
	}), nil
}

// restore keeps the archive in a temporary file, for it is read from its end.
func (a *API) restore(ctx context.Context, in *restoreParams) (*answer[archiveCounts], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	body, err := in.body(a.Router, a.opts.ArchiveMax)
	if err != nil {
		return nil, err
	}
	spooled, err := a.spool.begin(in.size(), body)
	defer spooled.end()
	if err != nil {
		return nil, err
	}
	file, err := tempfile.Create("", RestorePattern)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer file.Close() // Its room is given back after this.
	size, err := io.Copy(file, spooled)
	if err = body.Because(err); err != nil {
		return nil, err
	}
	counts, err := p.Restore(ctx, file, size, nil)
	if err != nil {
		return nil, err
	}
	return &answer[archiveCounts]{Body: archiveCounts(counts)}, nil
}

func (a *API) erase(c huma.Context, in *eraseParams, tell func(erased)) (erased, error) {
	p, err := a.person(c.Context())
	if err != nil {
		return erased{}, err
	}
	if in.Confirm != confirmation {
		return erased{}, ErrUnconfirmed.Field("confirm", "must be "+confirmation)
	}
	gone, err := p.Erase(c.Context(), func(e statements.Erased) { tell(erased(e)) })
	return erased(gone), err
}

func (a *API) eraseAccount(
	c huma.Context, in *eraseAccountParams, tell func(erased),
) (erased, error) {
	p, err := a.person(c.Context())
	if err != nil {
		return erased{}, err
	}
	gone, err := p.EraseAccount(c.Context(), in.Account,
		func(e statements.Erased) { tell(erased(e)) })
	return erased(gone), err
}
