package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// APIKey is an API key in an answer.
type APIKey struct {
	ID        string         `json:"id" example:"6f3a9c0d2b7e4815"`
	Name      string         `json:"name" doc:"What the key is for" example:"web shop"`
	Scopes    []api.Scope    `json:"scopes" nullable:"false" doc:"What the key allows"`
	Subject   person.Subject `json:"subject,omitempty" doc:"The person whose data the key reaches; nobody's without it" example:"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"`
	CreatedAt instant        `json:"createdAt,omitzero"`
	ExpiresAt instant        `json:"expiresAt,omitzero"`
	RevokedAt instant        `json:"revokedAt,omitzero"`
}

func apiKeyOf(k apikey.Key) APIKey {
	return APIKey{
		ID: k.ID, Name: k.Name, Scopes: k.Scopes, Subject: k.Subject,
		CreatedAt: instant(k.CreatedAt), ExpiresAt: instant(k.ExpiresAt),
		RevokedAt: instant(k.RevokedAt),
	}
}

// createdAPIKey is a new API key with its secret.
type createdAPIKey struct {
	APIKey
	Secret string `json:"secret" doc:"What its holder sends as a bearer token; it is shown this once" example:"exq_6f3a9c0d2b7e4815_…"`
}

// newAPIKey is the body that asks for an API key.
type newAPIKey struct {
	Name      string         `json:"name" doc:"What the key is for, at most 100 bytes" example:"web shop"`
	Scopes    []api.Scope    `json:"scopes" nullable:"false" enum:"ledger:read,ledger:write,ledger:admin,payments:read,payments:write,locations:read,locations:write,locations:admin,rates:read,rates:write,statements:read,statements:write,store:read,store:admin,keys:admin,metrics:read" doc:"What the key allows"`
	Subject   person.Subject `json:"subject,omitempty" doc:"Binds the key to a person, by the claim sub of their tokens: it then reaches their data, as far as its scopes go. At most 255 visible ASCII characters" example:"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"`
	ExpiresAt string         `json:"expiresAt,omitempty" format:"date-time" doc:"When the key ends; never without it" example:"2027-01-01T00:00:00Z"`
}

type apiKeyParams struct {
	ID string `path:"id" doc:"The key's id" example:"6f3a9c0d2b7e4815"`
}

func (a *API) registerKeys() {
	const tag = "API keys"
	registerBody(a.Router, operation{
		id: "create-key", method: http.MethodPost, path: "/v1/keys", tag: tag,
		scope: api.KeysAdmin, status: http.StatusCreated, summary: "Create an API key",
		description: "The secret is in this answer and nowhere else: the server keeps its SHA-256.",
		example: newAPIKey{
			Name: "web shop", Scopes: []api.Scope{api.LedgerRead, api.LedgerWrite},
		},
		problems: []*problem.Definition{problem.ErrRequestInvalid},
	}, a.createKey)
	register(a.Router, operation{
		id: "list-keys", method: http.MethodGet, path: "/v1/keys", tag: tag,
		scope: api.KeysAdmin, summary: "List the API keys",
		description: "The oldest first, revoked and expired ones included.",
	}, a.keys)
	register(a.Router, operation{
		id: "revoke-key", method: http.MethodPost, path: "/v1/keys/{id}/revoke", tag: tag,
		scope: api.KeysAdmin, summary: "Revoke an API key",
		description: "For ever, from the next request on. Revoking it again changes nothing.",
		problems:    []*problem.Definition{apikey.ErrKeyNotFound},
	}, a.revokeKey)
}

func (a *API) createKey(
	ctx context.Context, _ *WithBody, body *newAPIKey,
) (*created[createdAPIKey], error) {
	var expires time.Time
	if body.ExpiresAt != "" {
		var wrong problem.Fields
		expires = readInstant(&wrong, "expiresAt", body.ExpiresAt)
		if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
			return nil, err
		}
	}
	key, secret, err := a.deps.Keys.Create(ctx, apikey.New{
		Name: body.Name, Scopes: body.Scopes, Subject: body.Subject, ExpiresAt: expires,
	})
	if err != nil {
		return nil, err
	}
	return &created[createdAPIKey]{
		Status: http.StatusCreated, Location: "/v1/keys/" + key.ID,
		Body: createdAPIKey{APIKey: apiKeyOf(key), Secret: secret},
	}, nil
}

func (a *API) keys(ctx context.Context, _ *struct{}) (*answer[list[APIKey]], error) {
	keys, err := a.deps.Keys.All(ctx)
	if err != nil {
		return nil, err
	}
	return &answer[list[APIKey]]{Body: list[APIKey]{Items: All(keys, apiKeyOf)}}, nil
}

func (a *API) revokeKey(ctx context.Context, in *apiKeyParams) (*answer[APIKey], error) {
	key, err := a.deps.Keys.Revoke(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &answer[APIKey]{Body: apiKeyOf(key)}, nil
}
