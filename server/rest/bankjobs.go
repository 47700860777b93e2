package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The forms of work over many rows.
type (
	job struct {
		ID        string             `json:"id" example:"job-01k3zj8q0v9x2c4r6t8w0y2a4b"`
		Kind      statements.JobKind `json:"kind" enum:"rename-tag,merge-tags,delete-tag,apply-rules"`
		TagID     string             `json:"tagId,omitempty" doc:"The tag that it is about"`
		Text      string             `json:"text,omitempty" doc:"The tag's text when the job began"`
		To        string             `json:"to,omitempty" doc:"The tag that it is merged into"`
		Scope     *ruleScope         `json:"scope,omitempty" doc:"What rules are applied to"`
		AccountID string             `json:"accountId,omitempty" doc:"Of the last month that is done"`
		Month     bankDate           `json:"month,omitempty" doc:"The first day of the last month that is done"`
		Read      int                `json:"read" doc:"Rows that were looked at"`
		Changed   int                `json:"changed" doc:"Rows that were changed"`
		Done      bool               `json:"done"`
		CreatedAt instant            `json:"createdAt,omitzero"`
		UpdatedAt instant            `json:"updatedAt,omitzero"`
	}

	renamedTag struct {
		Tag tag  `json:"tag"`
		Job *job `json:"job,omitempty" doc:"Writes the text into the rows that have the tag; run it. Absent where nothing changed"`
	}

	mergeTag struct {
		Into string `json:"into" doc:"The id of the tag that stays" example:"tag-01k3zj8q0v9x2c4r6t8w0y2a4b"`
	}
)

// TagPath is the parameter that names a tag of the caller.
type TagPath struct {
	Tag string `path:"tag" doc:"The tag's id" example:"tag-01k3zj8q0v9x2c4r6t8w0y2a4b"`
}

type (
	changeTagParams struct {
		WithBody
		Guarded
		TagPath
	}
	deleteTagParams struct {
		Guarded
		TagPath
	}
	jobParams struct {
		Job string `path:"job" doc:"The job's id" example:"job-01k3zj8q0v9x2c4r6t8w0y2a4b"`
	}
	runJobParams struct {
		Streaming
		Job string `path:"job" doc:"The job's id" example:"job-01k3zj8q0v9x2c4r6t8w0y2a4b"`
	}
)

func jobOf(j statements.Job) job {
	out := job{
		ID: j.ID, Kind: j.Kind, TagID: j.TagID, Text: j.Text, To: j.To, AccountID: j.AccountID,
		Month: j.Month, Read: j.Read, Changed: j.Changed, Done: j.Done,
		CreatedAt: instant(j.CreatedAt), UpdatedAt: instant(j.UpdatedAt),
	}
	if j.Kind == statements.ApplyingRules {
		out.Scope = &ruleScope{j.Scope.AccountIDs, j.Scope.From, j.Scope.To, j.Scope.RuleIDs}
	}
	return out
}

// begunJob is the answer to what begins a job.
func begunJob(j statements.Job, err error) (*created[job], error) {
	if err != nil {
		return nil, err
	}
	return &created[job]{
		Status: http.StatusAccepted, Location: "/v1/me/jobs/" + escape(j.ID), Body: jobOf(j),
	}, nil
}

func (a *API) registerTagEdits() {
	const chapter, write = tagBankTransactions, api.StatementsWrite
	registerBody(a.Router, operation{
		id: "rename-tag", method: http.MethodPatch, path: "/v1/me/tags/{tag}", tag: chapter,
		scope: write, personal: true, summary: "Rename a tag",
		description: "The tag has its text at once; the rows that have the tag show it once the job " +
			"was run.",
		example: newTag{Text: "Groceries"},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrNoTag, statements.ErrChanged,
			statements.ErrTagTaken, statements.ErrTooMany,
		},
	}, a.renameTag)
	registerBody(a.Router, operation{
		id: "merge-tag", method: http.MethodPost, path: "/v1/me/tags/{tag}/merge", tag: chapter,
		scope: write, personal: true, status: http.StatusAccepted,
		summary:     "Merge a tag into another",
		description: "The tag goes at once; the job gives its rows and rules the other one. Run it.",
		example:     mergeTag{Into: "tag-01k3zj8q0v9x2c4r6t8w0y2a4b"},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrNoTag, statements.ErrChanged,
			statements.ErrTooMany,
		},
	}, a.mergeTag)
	register(a.Router, operation{
		id: "delete-tag", method: http.MethodDelete, path: "/v1/me/tags/{tag}", tag: chapter,
		scope: write, personal: true, status: http.StatusAccepted, summary: "Delete a tag",
		description: "The tag goes at once; the job takes it from its rows and rules. Run it.",
		problems: []*problem.Definition{
			statements.ErrNoTag, statements.ErrChanged, statements.ErrTooMany,
		},
	}, a.deleteTag)
}

func (a *API) registerJobs() {
	const chapter = tagBankTransactions
	register(a.Router, operation{
		id: "list-jobs", method: http.MethodGet, path: "/v1/me/jobs", tag: chapter,
		scope: api.StatementsRead, personal: true, summary: "List the work over many rows",
		description: "What is open, and what was done within a week.",
	}, a.jobs)
	register(a.Router, operation{
		id: "get-job", method: http.MethodGet, path: "/v1/me/jobs/{job}", tag: chapter,
		scope: api.StatementsRead, personal: true, summary: "Get a job",
		problems: []*problem.Definition{statements.ErrNoJob},
	}, a.job)
	registerWork(a.Router, operation{
		id: "run-job", method: http.MethodPost, path: "/v1/me/jobs/{job}/run", tag: chapter,
		scope: api.StatementsWrite, personal: true, summary: "Run a job",
		description: "It goes on where an earlier run stopped, for whatever reason.",
		problems:    []*problem.Definition{statements.ErrNoJob},
	}, func(c huma.Context, in *runJobParams, tell func(job)) (job, error) {
		p, err := a.person(c.Context())
		if err != nil {
			return job{}, err
		}
		j, err := p.RunJob(c.Context(), in.Job, func(j statements.Job) { tell(jobOf(j)) })
		return jobOf(j), err
	})
}

func (a *API) renameTag(
	ctx context.Context, in *changeTagParams, body *newTag,
) (*stated[renamedTag], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	t, j, err := p.RenameTag(ctx, in.Tag, body.Text, in.version())
	if err != nil {
		return nil, err
	}
	out := renamedTag{Tag: tagForm(t)}
	if j != nil {
		begun := jobOf(*j)
		out.Job = &begun
	}
	return newStated(t.Version, out), nil
}

func (a *API) mergeTag(
	ctx context.Context, in *changeTagParams, body *mergeTag,
) (*created[job], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	return begunJob(p.MergeTags(ctx, in.Tag, body.Into, in.version()))
}

func (a *API) deleteTag(ctx context.Context, in *deleteTagParams) (*created[job], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	return begunJob(p.DeleteTag(ctx, in.Tag, in.version()))
}

func (a *API) jobs(ctx context.Context, _ *struct{}) (*answer[list[job]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := p.Jobs(ctx)
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return nil, err
	}
	return convert(singletable.Page[statements.Job]{Items: jobs, Unreadable: bad}, jobOf), nil
}

func (a *API) job(ctx context.Context, in *jobParams) (*answer[job], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	j, err := p.Job(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	return &answer[job]{Body: jobOf(j)}, nil
}
