package client

import "context"

// Me is the identity of the caller.
type Me struct {
	// Subject is the person whose data personal operations read and write for this caller.
	Subject string `json:"subject"`
	// Authentication is how the caller was authenticated: "key", "token", or "off" if the server
	// does not authenticate.
	Authentication string   `json:"authentication"`
	Scopes         []string `json:"scopes"`
	// KeyID is the id of the API key, if there was one.
	KeyID string `json:"keyId,omitempty"`
}

// WhoAmI returns the identity of the caller.
func (c *Client) WhoAmI(ctx context.Context) (Me, error) {
	return answer[Me](ctx, c.get("/v1/me", nil))
}
