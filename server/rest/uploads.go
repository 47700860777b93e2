package rest

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

type (
	uploadParams struct {
		WithFile
		BankAccountPath
		FileName string `query:"fileName" doc:"What the person calls the file" example:"August.csv"`
		ID       string `query:"id" doc:"The id to use, so that the request can be repeated; without it one is made"`
	}
	uploadsParams struct {
		BankAccountPath
		PageParams
	}
	answerParams struct {
		WithBody
		UploadPath
	}
	previewParams struct {
		UploadPath
		Rows int `query:"rows" minimum:"0" maximum:"1000" default:"20" doc:"How many of the first rows to show"`
	}
	outcomesParams struct {
		UploadPath
		PageParams
		Verdict []string `query:"verdict,explode" enum:"known,merged,deleted,skipped,refused,warned" doc:"Only these, of which there may be several; all without it"`
	}
	importParams struct {
		Streaming
		UploadPath
		Digest string `query:"digest" doc:"Of the preview that the person confirmed: nothing is done if the import would do anything else"`
	}
	undoParams struct {
		Streaming
		UploadPath
		Edited string `query:"edited" enum:"keep,remove" doc:"What becomes of rows that a person has worked on since; needed where there are any"`
	}
)

// UploadPath are the parameters that name an upload of the caller.
type UploadPath struct {
	BankAccountPath
	Upload string `path:"upload" doc:"The upload's id" example:"upload-01k3zj8q0v9x2c4r6t8w0y2a4b"`
}

func (a *API) registerUploads() {
	const chapter, read, write = tagUploads, api.StatementsRead, api.StatementsWrite
	const path = "/v1/me/accounts/{account}/uploads"
	registerFile(a.Router, operation{
		id: "upload", method: http.MethodPost, path: path, tag: chapter, scope: write,
		personal: true, status: http.StatusCreated, repeats: true, summary: "Upload a bank's file",
		description: "The body is the file itself, of any format that is read: OFX, QFX, QIF, CSV, " +
			"MT940, MT942, camt.052, camt.053 or camt.054. It is kept, and nothing is imported yet. " +
			"What nothing in the file decides is asked in the answer; preview it once that is " +
			"answered. A repeat with the same id and file gets the first upload with status 200 and " +
			"Idempotent-Replayed: true, and repairs its file if that was damaged or lost; another file " +
			"with the same id is a conflict. Give the size as Content-Length: a file " +
			"that does not fit into the quota of the person is then refused before it is read.",
		problems: []*problem.Definition{
			statements.ErrInvalid, ErrFormRefused, problem.ErrBodyTooLarge, payload.ErrTooSlow,
			statements.ErrFileTooLarge, statements.ErrNoAccount, statements.ErrChanged,
			statements.ErrKeyUsed, statements.ErrQuota, statements.ErrDiskReserve,
			statements.ErrNoFiles,
		},
	}, a.upload)
	register(a.Router, operation{
		id: "list-uploads", method: http.MethodGet, path: path, tag: chapter, scope: read,
		personal: true, summary: "List the uploads of an account",
		description: "The greatest id first: the latest, where the server made the ids.",
		problems:    []*problem.Definition{statements.ErrInvalidCursor, statements.ErrNoAccount},
	}, a.uploads)
	register(a.Router, operation{
		id: "get-upload", method: http.MethodGet, path: path + "/{upload}", tag: chapter,
		scope: read, personal: true, stream: true,
		summary: "Get an upload, with the questions that are open",
		problems: []*problem.Definition{
			statements.ErrNoUpload, statements.ErrFileMissing, statements.ErrFileDamaged,
			statements.ErrNoFiles,
		},
	}, a.uploadOf)
	a.registerReading(path, write)
	a.registerImports(path, read, write)
}

// registerReading adds what decides how a file is read.
func (a *API) registerReading(path string, scope api.Scope) {
	wrong := []*problem.Definition{
		statements.ErrInvalid, statements.ErrNoUpload, statements.ErrFileMissing,
		statements.ErrFileDamaged, statements.ErrUploadState, statements.ErrChanged,
		statements.ErrNoFiles,
	}
	registerBody(a.Router, operation{
		id: "answer-questions", method: http.MethodPost, path: path + "/{upload}/answers",
		tag: tagUploads, scope: scope, personal: true, stream: true,
		summary: "Answer the questions of an upload",
		description: "By their topics, with the value of one of their choices. Any topic may be " +
			"answered, whether or not it is asked, as long as the file is not imported. Besides " +
			"those of questions there is one for the column of each role, such as debitColumn and " +
			"nameColumn, whose value is the number of a column, from 1, or its name.",
		example:  answers{Answers: map[string]string{"dateOrder": "day-month-year"}},
		problems: wrong,
	}, a.answerQuestions)
	registerBody(a.Router, operation{
		id: "map-upload", method: http.MethodPut, path: path + "/{upload}/mapping",
		tag: tagUploads, scope: scope, personal: true, stream: true,
		summary:     "Say in whole how an upload is read",
		description: "With a mapping of one's own, or one that somebody shared.",
		example:     fileMapping{Version: bankfile.MappingVersion, DateOrder: bankfile.DayFirst},
		problems:    wrong,
	}, a.mapUpload)
	register(a.Router, operation{
		id: "confirm-mapping", method: http.MethodPost, path: path + "/{upload}/mapping/confirm",
		tag: tagUploads, scope: scope, personal: true,
		summary:     "Make the account remember how an upload is read",
		description: "An import does so by itself when it is done.",
		problems:    []*problem.Definition{statements.ErrNoUpload, statements.ErrUploadState},
	}, a.confirmMapping)
	register(a.Router, operation{
		id: "delete-uploaded-file", method: http.MethodDelete, path: path + "/{upload}/file",
		tag: tagUploads, scope: scope, personal: true, summary: "Delete the file of an upload",
		description: "The upload itself and its transactions stay.",
		problems: []*problem.Definition{
			statements.ErrNoUpload, statements.ErrUploadState, statements.ErrNoFiles,
		},
	}, a.deleteFile)
}

// registerImports adds what makes transactions of a file, and takes them back.
func (a *API) registerImports(path string, read, write api.Scope) {
	decide := []*problem.Definition{
		statements.ErrUnreadable, statements.ErrNoUpload, statements.ErrFileMissing,
		statements.ErrFileDamaged, statements.ErrDiskReserve,
		statements.ErrUploadState, statements.ErrUndecided, statements.ErrNoFiles,
	}
	register(a.Router, operation{
		id: "preview-upload", method: http.MethodPost, path: path + "/{upload}/preview",
		tag: tagUploads, scope: write, personal: true, stream: true,
		summary:     "Tell what an import would do",
		description: "Row by row, with the counts and the digest of it. Nothing is imported.",
		problems:    append(decide[:len(decide):len(decide)], statements.ErrChanged),
	}, a.previewUpload)
	register(a.Router, operation{
		id: "list-outcomes", method: http.MethodGet, path: path + "/{upload}/rows",
		tag: tagUploads, scope: read, personal: true,
		summary:     "List what became of the rows of a file",
		description: "By the last preview or import, but for rows that are simply new.",
		problems: []*problem.Definition{
			statements.ErrInvalidCursor, statements.ErrNoUpload, statements.ErrFileMissing,
			statements.ErrFileDamaged, statements.ErrNoFiles,
		},
	}, a.outcomes)
	registerWork(a.Router, operation{
		id: "import-upload", method: http.MethodPost, path: path + "/{upload}/import",
		tag: tagUploads, scope: write, personal: true, summary: "Import a file",
		description: "One that was stopped, by whatever, can be asked for again and ends as if it had " +
			"not been. Every row becomes a transaction once, whichever file brings it.",
		problems: append(decide[:len(decide):len(decide)],
			statements.ErrPreviewStale, statements.ErrChanged),
	}, a.importUpload)
	register(a.Router, operation{
		id: "plan-undo", method: http.MethodGet, path: path + "/{upload}/undo", tag: tagUploads,
		scope: read, personal: true, stream: true, summary: "Tell what undoing an import would do",
		problems: []*problem.Definition{statements.ErrNoUpload, statements.ErrUploadState},
	}, a.planUndo)
	registerWork(a.Router, operation{
		id: "undo-import", method: http.MethodPost, path: path + "/{upload}/undo", tag: tagUploads,
		scope: write, personal: true, summary: "Undo an import",
		description: "Whole. The next import of a file with its rows brings them back.",
		problems: []*problem.Definition{
			statements.ErrNoUpload, statements.ErrUploadState, statements.ErrUndoEdited,
			statements.ErrChanged,
		},
	}, a.undoImport)
}

func (a *API) upload(ctx context.Context, in *uploadParams) (*made[receivedFile], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	body, err := in.body(a.Router, a.opts.UploadMax)
	if err != nil {
		return nil, err
	}
	r, err := p.Upload(ctx, in.Account, statements.UploadRequest{
		ID: in.ID, FileName: in.FileName, Body: body, Size: in.size(),
	})
	if err = body.Because(err); err != nil {
		return nil, err
	}
	path := "/v1/me/accounts/" + escape(in.Account) + "/uploads/" + escape(r.Upload.ID)
	return newMade(r.Made, path, r.Upload.Version, receivedOf(r)), nil
}

func (a *API) uploads(ctx context.Context, in *uploadsParams) (*answer[list[upload]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	page, err := p.Uploads(ctx, in.Account, in.Limit, in.Cursor)
	if err == nil && len(page.Uploads) == 0 && len(page.Unreadable) == 0 {
		_, err = p.Account(ctx, in.Account)
	}
	if err != nil {
		return nil, err
	}
	return convert(singletable.Page[statements.Upload]{
		Items: page.Uploads, Next: page.Next, Unreadable: page.Unreadable,
	}, uploadForm), nil
}

// received is the answer about one upload and its questions.
func received(r statements.Received, err error) (*answer[receivedFile], error) {
	if err != nil {
		return nil, err
	}
	return &answer[receivedFile]{Body: receivedOf(r)}, nil
}

func (a *API) uploadOf(ctx context.Context, in *UploadPath) (*answer[receivedFile], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	u, err := p.UploadOf(ctx, in.Account, in.Upload)
	if err != nil {
		return nil, err
	}
	// Only a file that is not read yet has questions, and only for them it is looked into.
	if u.Status != statements.Uploaded || u.FileGone {
		return received(statements.Received{Upload: u}, nil)
	}
	return received(p.Questions(ctx, in.Account, in.Upload))
}

func (a *API) answerQuestions(
	ctx context.Context, in *answerParams, body *answers,
) (*answer[receivedFile], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	values := map[bankfile.Topic]string{}
	for topic, value := range body.Answers {
		values[bankfile.Topic(topic)] = value
	}
	return received(p.Answer(ctx, in.Account, in.Upload, values))
}

func (a *API) mapUpload(
	ctx context.Context, in *answerParams, body *fileMapping,
) (*answer[receivedFile], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	return received(p.Remap(ctx, in.Account, in.Upload, bankfile.Mapping(*body)))
}

func (a *API) confirmMapping(ctx context.Context, in *UploadPath) (*stated[bankAccount], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	v, err := p.ConfirmMapping(ctx, in.Account, in.Upload)
	if err != nil {
		return nil, err
	}
	return newStated(v.Version, bankAccountOf(v)), nil
}

func (a *API) deleteFile(ctx context.Context, in *UploadPath) (*answer[upload], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	u, err := p.DeleteFile(ctx, in.Account, in.Upload)
	if err != nil {
		return nil, err
	}
	return &answer[upload]{Body: uploadForm(u)}, nil
}

func (a *API) previewUpload(
	ctx context.Context, in *previewParams,
) (*answer[uploadPreview], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	out := uploadPreview{Rows: []decision{}}
	u, err := p.Preview(ctx, in.Account, in.Upload, func(d statements.Decision) bool {
		if len(out.Rows) < in.Rows {
			out.Rows = append(out.Rows, decisionOf(d))
		}
		return len(out.Rows) < in.Rows
	})
	if err != nil {
		return nil, err
	}
	out.Upload = uploadForm(u)
	return &answer[uploadPreview]{Body: out}, nil
}

func (a *API) outcomes(ctx context.Context, in *outcomesParams) (*answer[list[decision]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	from := 0
	if in.Cursor != "" {
		if from, err = strconv.Atoi(in.Cursor); err != nil || from < 0 {
			return nil, statements.ErrInvalidCursor
		}
	}
	only := All(in.Verdict, func(v string) statements.Verdict {
		return statements.Verdict(v)
	})
	page, err := p.Outcomes(ctx, in.Account, in.Upload, only, from, in.Limit)
	if err != nil {
		return nil, err
	}
	next := ""
	if page.Next > 0 {
		next = strconv.Itoa(page.Next)
	}
	return convert(singletable.Page[statements.Decision]{
		Items: page.Outcomes, Next: next,
	}, decisionOf), nil
}

func (a *API) importUpload(
	c huma.Context, in *importParams, tell func(rowsDone),
) (upload, error) {
	p, err := a.person(c.Context())
	if err != nil {
		return upload{}, err
	}
	u, err := p.Import(c.Context(), in.Account, in.Upload, statements.ImportOptions{
		Digest: in.Digest, Progress: func(done, of int) { tell(rowsDone{done, of}) },
	})
	return uploadForm(u), err
}

func (a *API) planUndo(ctx context.Context, in *UploadPath) (*answer[undoPlan], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := p.PlanUndo(ctx, in.Account, in.Upload)
	if err != nil {
		return nil, err
	}
	return &answer[undoPlan]{Body: undoPlanOf(plan)}, nil
}

func (a *API) undoImport(c huma.Context, in *undoParams, tell func(rowsDone)) (upload, error) {
	p, err := a.person(c.Context())
	if err != nil {
		return upload{}, err
	}
	u, err := p.Undo(c.Context(), in.Account, in.Upload, statements.UndoOptions{
		Edited:   statements.Edits(in.Edited),
		Progress: func(done, of int) { tell(rowsDone{done, of}) },
	})
	return uploadForm(u), err
}
