package client

import "context"

// lines is the media type of responses with one JSON object in each line.
const lines = "application/x-ndjson"

// reconcile reads the lines of a reconciliation: progress, and finally the result or a problem.
func (c *Client) reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	r := c.post("/v1/reconciliation", reconcileJSON{
		From: q.From, To: q.To, Skip: q.Skip, Limit: q.Limit, Cursor: q.Cursor,
	})
	r.safe = true // it only reads
	return streamed[Reconciliation](ctx, r, q.Progress)
}
