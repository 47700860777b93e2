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
	// Subject is the person whose data the key reaches; empty for nobody's.
	Subject string `json:"subject,omitempty"`
	// ExpiresAt is zero for a key that does not expire, RevokedAt for one that was not revoked.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	RevokedAt time.Time `json:"revokedAt,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
}

// NewAPIKey asks for an API key.
type NewAPIKey struct {
	// Name says what the key is for.
	Name   string   `json:"name"`
	Scopes []string `json:"scopes"`
	// Subject binds the key to a person; it may be empty.
	Subject string `json:"subject,omitempty"`
	// ExpiresAt ends the key; zero means never.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// CreatedKey is a new API key. The secret is shown this once.
type CreatedKey struct {
	Key
	Secret string `json:"secret"`
}

// CreateKey creates an API key. It is not repeated on failure, since a repeat would be another key.
func (c *Client) CreateKey(ctx context.Context, n NewAPIKey) (CreatedKey, error) {
	return answer[CreatedKey](ctx, c.post("/v1/keys", n))
}

// Keys returns all API keys, revoked ones included.
func (c *Client) Keys(ctx context.Context) ([]Key, error) {
	page, err := answer[Page[Key]](ctx, c.get("/v1/keys", nil))
	return page.rows(err)
}

// RevokeKey makes an API key useless, at once and for ever.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	r := c.post("/v1/keys/"+segment(id)+"/revoke", nil)
	r.safe = true // Revoking twice is revoking once.
	return answer[Key](ctx, r)
}
