package client

import (
	"context"
	"io"

	"github.com/exchequer-dev/exchequer/api"
)

// requestOf returns the request of an operation.
func (c *Client) requestOf(o *api.Operation, in any) (*request, error) {
	sent, err := o.Encode(in)
	if err != nil {
		return nil, err
	}
	return &request{
		client: c, method: o.Method, path: sent.Path, values: sent.Query, body: sent.Body,
		key: sent.Headers[headerKey], match: sent.Headers["If-Match"], safe: o.SafeToRepeat(in),
	}, nil
}

// call calls an operation.
func call[In, Out any](
	ctx context.Context, c *Client, op api.Op[In, Out], in In,
) (out Out, err error) {
	r, err := c.requestOf(op.Operation, in)
	if err != nil {
		return out, err
	}
	if _, empty := any(out).(api.None); empty {
		return out, r.discard(ctx)
	}
	return answer[Out](ctx, r)
}

// discard sends a request whose answer has no body.
func (r *request) discard(ctx context.Context) error {
	response, err := r.send(ctx)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return r.broken(err)
	}
	return nil
}
