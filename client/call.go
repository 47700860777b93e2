package client

import (
	"context"
	"io"
	"iter"

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

// reply is a successful response.
type reply[T any] struct {
	Body T
	// Replayed reports whether an earlier, equal request was carried out.
	Replayed bool
	// ETag is the tag of the state in Body, in quotes; empty if the operation has none.
	ETag string
}

// call calls an operation.
func call[In, Out any](ctx context.Context, c *Client, op api.Op[In, Out], in In) (Out, error) {
	r, err := exchangeOp(ctx, c, op, in)
	return r.Body, err
}

// exchangeOp is call with the headers of the response.
func exchangeOp[In, Out any](
	ctx context.Context, c *Client, op api.Op[In, Out], in In,
) (out reply[Out], err error) {
	r, err := c.requestOf(op.Operation, in)
	if err != nil {
		return out, err
	}
	if _, empty := any(out.Body).(api.None); empty {
		return out, r.discard(ctx)
	}
	body, header, err := exchange[Out](ctx, r)
	if err != nil {
		return out, err
	}
	return reply[Out]{
		Body: body, Replayed: header.Get(headerReplayed) == "true", ETag: header.Get("ETag"),
	}, nil
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

// pages returns the rows of all pages of a list. An unreadable row is yielded as an
// [*api.UnreadableItem] after the rows of its page, and the next page follows. Any other error is
// yielded once, at the end.
func pages[T any](
	first api.Page, page func(api.Page) (api.List[T], error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for q := first; ; {
			p, err := page(q)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			for i := range p.Unreadable {
				if !yield(none, &p.Unreadable[i]) {
					return
				}
			}
			if p.Next == "" {
				return
			}
			q.Cursor = p.Next
		}
	}
}
