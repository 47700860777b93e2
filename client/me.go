package client

import "context"

// Me is who the server takes the caller for.
type Me struct {
	// Subject is the person whose data personal operations read and write for this caller.
	Subject string `json:"subject"`
	// Authentication is how the caller proved it: "key", "token", or "off" where the server does
	// not ask.
	Authentication string   `json:"authentication"`
	Scopes         []string `json:"scopes"`
	// KeyID is the id of the API key, if it was one.
	KeyID string `json:"keyId,omitempty"`
}

// WhoAmI returns who the server takes the caller for.
func (c *Client) WhoAmI(ctx context.Context) (Me, error) {
	return answer[Me](ctx, c.get("/v1/me", nil))
}
