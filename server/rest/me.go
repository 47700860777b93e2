package rest

import (
	"context"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// me is what a caller is told about themselves.
type me struct {
	Subject        person.Subject `json:"subject" doc:"Whose data personal operations read and write for this caller" example:"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"`
	Authentication string         `json:"authentication" enum:"off,key,token" doc:"How the caller proved it: with an API key, with a user's token, or not at all, because the server does not ask"`
	Scopes         []api.Scope    `json:"scopes" nullable:"false" doc:"What the caller may do"`
	KeyID          string         `json:"keyId,omitempty" doc:"The id of the API key, if it was one" example:"6f3a9c0d2b7e4815"`
}

func (a *API) registerMe() {
	register(a.Router, operation{
		id: "who-am-i", method: http.MethodGet, path: "/v1/me", tag: tagMe,
		scope: api.StatementsRead, personal: true, summary: "Tell who the caller is",
		description: "The person whose data this caller reaches: the subject of a user's token, the " +
			"person that an API key was bound to, or the one user of a server without authentication.",
	}, a.whoAmI)
}

func (a *API) whoAmI(ctx context.Context, _ *struct{}) (*answer[me], error) {
	who, err := personOf(ctx)
	if err != nil {
		return nil, err
	}
	c := exchangeOf(ctx).caller
	return &answer[me]{Body: me{
		Subject: who, Authentication: c.by, Scopes: c.scopes, KeyID: c.key.ID,
	}}, nil
}
