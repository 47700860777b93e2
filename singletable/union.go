package singletable

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Union reads two patterns as one: the same question asked of two tables between which items are
// moved by copying and then deleting them. Rows are merged in order, and a row that is in both is
// returned once, so that nothing is hidden or doubled while a move is under way. Make it with
// [NewUnion].
type Union[In, Out any] struct {
	name     string
	from, to *Pattern[In, Out]
	order    func(Out) string
}

// NewUnion defines a union. Items move from the first pattern's table to that of the second, which
// therefore is always read after the first. Both patterns have the same order, and order returns
// what it goes by: two rows for which it is equal are one.
func NewUnion[In, Out any](
	name string, from, to *Pattern[In, Out], order func(Out) string,
) *Union[In, Out] {
	return &Union[In, Out]{name: name, from: from, to: to, order: order}
}

// Name returns the union's name.
func (u *Union[In, Out]) Name() string { return u.name }

// side is one pattern of a union that is being read.
type side[Out any] struct {
	w      *walk
	c      *patternCore
	decode func(c *patternCore, item dynamo.Item, out *Out) (bool, error)
	head   Out
	has    bool // head is the next row, which is not consumed yet
}

// Page returns up to size rows after cursor, which is the Next of the page before, or "". There is
// no way back. See [Pattern.Page].
func (u *Union[In, Out]) Page(
	ctx context.Context, s *Store, in In, size int, cursor string,
) (Page[Out], error) {
	var page Page[Out]
	if size < 1 || size > PageSizeMax {
		return page, fmt.Errorf("union %s: a page of %d rows, outside 1 to %d", u.name, size,
			PageSizeMax)
	}
	a, b, err := u.open(s, in, cursor)
	if err != nil {
		return page, err
	}
	ctx, meter := ownMeter(u.from.c.named(ctx, s))
	calls := 0
	for len(page.Items) < size {
		if err := u.advance(ctx, a, b, size-len(page.Items), &calls); err != nil {
			return Page[Out]{}, u.from.c.wrap(err)
		}
		next := u.least(a, b)
		if next == nil {
			break
		}
		page.Items = append(page.Items, *next)
	}
	page.Calls, page.Capacity = a.w.calls+b.w.calls+calls, meter.Read()
	page.Resume = u.encode(s, a.w.q.encodeCursor(s, a.w.ahead()), b.w.q.encodeCursor(s, b.w.ahead()))
	if !a.w.ended() || !b.w.ended() {
		page.Next = page.Resume
	}
	return page, nil
}

// All returns every row, in order. A failure is yielded once, as the last pair.
func (u *Union[In, Out]) All(ctx context.Context, s *Store, in In) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		cursor := ""
		for {
			page, err := u.Page(ctx, s, in, evaluatedMax, cursor)
			if err != nil {
				var none Out
				yield(none, err)
				return
			}
			for _, row := range page.Items {
				if !yield(row, nil) {
					return
				}
			}
			if cursor = page.Next; cursor == "" {
				return
			}
		}
	}
}

func (u *Union[In, Out]) open(s *Store, in In, cursor string) (a, b *side[Out], err error) {
	first, second := "", ""
	if cursor != "" {
		var ok bool
		if first, second, ok = u.decode(s, cursor); !ok {
			return nil, nil, &CursorError{Pattern: u.name, Reason: CursorMalformed}
		}
	}
	if a, err = openSide(s, u.from, &in, first); err != nil {
		return nil, nil, err
	}
	b, err = openSide(s, u.to, &in, second)
	return a, b, err
}

func openSide[In, Out any](
	s *Store, p *Pattern[In, Out], in *In, cursor string,
) (*side[Out], error) {
	q, err := p.c.prepare(s, unsafe.Pointer(in))
	if err != nil {
		return nil, err
	}
	var from *position
	if cursor != "" {
		at, err := q.decodeCursor(s, cursor)
		if err != nil {
			return nil, err
		}
		from = &at
	}
	return &side[Out]{w: q.newWalk(s, from), c: p.c, decode: p.decode}, nil
}

// advance makes the head of each side its next row. Whatever is read of the first table makes
// what is remembered of the second too old: a row may have moved in between.
func (u *Union[In, Out]) advance(
	ctx context.Context, a, b *side[Out], limit int, calls *int,
) error {
	before := a.w.calls
	if err := a.peek(ctx, limit); err != nil {
		return err
	}
	if a.w.calls != before && b.w.calls > 0 {
		at := b.w.ahead()
		*calls += b.w.calls
		b.w, b.has = b.w.q.newWalk(b.w.s, &at), false
	}
	return b.peek(ctx, limit)
}

// peek finds the side's next row without consuming it.
func (d *side[Out]) peek(ctx context.Context, limit int) error {
	for !d.has {
		item, ok, err := d.w.peek(ctx, limit)
		if err != nil || !ok {
			return err
		}
		var out Out
		if d.has, err = d.decode(d.c, item, &out); err != nil {
			return err
		}
		if d.head = out; !d.has {
			d.w.consume()
		}
	}
	return nil
}

func (d *side[Out]) take() *Out {
	out := d.head
	d.w.consume()
	d.has = false
	return &out
}

// least consumes and returns the row that comes first, or nil at the end.
func (u *Union[In, Out]) least(a, b *side[Out]) *Out {
	switch {
	case !a.has && !b.has:
		return nil
	case !b.has:
		return a.take()
	case !a.has:
		return b.take()
	}
	n := strings.Compare(u.order(a.head), u.order(b.head))
	if u.from.c.descending {
		n = -n
	}
	switch {
	case n < 0:
		return a.take()
	case n > 0:
		return b.take()
	}
	b.take()
	return a.take()
}

// encode joins the cursors of both sides under one signature.
func (u *Union[In, Out]) encode(s *Store, first, second string) string {
	body := first + "." + second
	return body + "." + base64.RawURLEncoding.EncodeToString(s.mac([]byte(u.name+"\x00"+body)))
}

func (u *Union[In, Out]) decode(s *Store, cursor string) (first, second string, ok bool) {
	parts := strings.Split(cursor, ".")
	if len(parts) != 3 || u.encode(s, parts[0], parts[1]) != cursor {
		return "", "", false
	}
	return parts[0], parts[1], true
}
