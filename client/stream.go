package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// lines is the media type of answers that come line by line, each a JSON object.
const lines = "application/x-ndjson"

// reconcile reads the lines of a reconciliation: progress, and at the end the outcome or a problem.
func (c *Client) reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	r := c.post("/v1/reconciliation", reconcileJSON{From: q.From, To: q.To, Cursor: q.Cursor})
	r.accept, r.safe = lines, true // It only reads.
	response, err := r.send(ctx)
	if err != nil {
		return Reconciliation{}, err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	for {
		var line struct {
			Progress *ReconcileProgress `json:"progress"`
			Report   *Reconciliation    `json:"report"`
			Problem  json.RawMessage    `json:"problem"`
		}
		switch err := decoder.Decode(&line); {
		case errors.Is(err, io.EOF):
			return Reconciliation{}, r.broken(io.ErrUnexpectedEOF)
		case err != nil:
			return Reconciliation{}, r.broken(err)
		case line.Report != nil:
			return *line.Report, nil
		case line.Problem != nil:
			if e := decodeProblem(line.Problem); e != nil {
				return Reconciliation{}, e
			}
			return Reconciliation{}, fmt.Errorf("reconcile: the problem %s cannot be read",
				line.Problem)
		case line.Progress != nil && q.Progress != nil:
			q.Progress(*line.Progress)
		}
	}
}
