package client

import (
	"context"
	"time"
)

// Key is an API key, without its secret.
type Key struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Scopes []string `json:"scopes"`
	// Subject is the person whose data the key can access; empty for none.
	Subject string `json:"subject,omitempty"`
	// ExpiresAt is zero for a key that does not expire, RevokedAt for one that is not revoked.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	RevokedAt time.Time `json:"revokedAt,omitzero"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
}

// NewAPIKey is a request to create an API key.
type NewAPIKey struct {
	// Name describes the purpose of the key.
	Name   string   `json:"name"`
	Scopes []string `json:"scopes"`
	// Subject binds the key to a person; it may be empty.
	Subject string `json:"subject,omitempty"`
	// ExpiresAt is when the key expires; zero means never.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// CreatedKey is a new API key. Its secret is returned only once.
type CreatedKey struct {
	Key
	Secret string `json:"secret"`
}

// CreateKey creates an API key. It is not retried, because a retry would create another key.
func (c *Client) CreateKey(ctx context.Context, n NewAPIKey) (CreatedKey, error) {
	return answer[CreatedKey](ctx, c.post("/v1/keys", n))
}

// Keys returns all API keys, including revoked ones.
func (c *Client) Keys(ctx context.Context) ([]Key, error) {
	page, err := answer[Page[Key]](ctx, c.get("/v1/keys", nil))
	return page.Rows(err)
}

// RevokeKey permanently revokes an API key.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	r := c.post("/v1/keys/"+segment(id)+"/revoke", nil)
	r.safe = true // revoking is idempotent
	return answer[Key](ctx, r)
}
