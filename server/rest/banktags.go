package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The forms of a tag.
type (
	tag struct {
		ID        string  `json:"id" example:"tag-01k3zj8q0v9x2c4r6t8w0y2a4b"`
		Text      string  `json:"text" doc:"Unique for its person, whatever the case of its letters" example:"Groceries"`
		Version   uint64  `json:"version" doc:"Counts the changes; the ETag without its quotes"`
		CreatedAt instant `json:"createdAt,omitzero"`
	}

	newTag struct {
		Text string `json:"text" example:"Groceries"`
	}
)

type createTagParams struct{ WithBody }

func tagForm(t statements.Tag) tag {
	return tag{ID: t.ID, Text: t.Text, Version: t.Version, CreatedAt: instant(t.CreatedAt)}
}

func (a *API) registerTags() {
	const chapter, read, write = tagBankTransactions, api.StatementsRead, api.StatementsWrite
	register(a.Router, operation{
		id: "list-tags", method: http.MethodGet, path: "/v1/me/tags", tag: chapter, scope: read,
		personal: true, summary: "List the tags",
	}, a.tags)
	registerBody(a.Router, operation{
		id: "create-tag", method: http.MethodPost, path: "/v1/me/tags", tag: chapter, scope: write,
		personal: true, status: http.StatusCreated, repeats: true, summary: "Create a tag",
		description: "One whose text is there already, in whatever case, is answered as it is, with " +
			"status 200 and Idempotent-Replayed: true.",
		example: newTag{Text: "Groceries"},
		problems: []*problem.Definition{
			statements.ErrInvalid, statements.ErrTooMany, statements.ErrChanged,
		},
	}, a.createTag)
}

func (a *API) tags(ctx context.Context, _ *struct{}) (*answer[list[tag]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	tags, err := p.Tags(ctx)
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return nil, err
	}
	return convert(singletable.Page[statements.Tag]{Items: tags, Unreadable: bad}, tagForm), nil
}

func (a *API) createTag(
	ctx context.Context, _ *createTagParams, body *newTag,
) (*repeatable[tag], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	t, fresh, err := p.CreateTag(ctx, body.Text)
	if err != nil {
		return nil, err
	}
	return newRepeatable(!fresh, "/v1/me/tags/"+escape(t.ID), tagForm(t)), nil
}
