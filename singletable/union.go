package singletable

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Union reads several patterns as one: the same query for two tables between which items are moved
// by copying and then deleting them. Rows are merged in order, and a row in both tables is returned
// once, so that no row is missing or duplicated during a move. Create it with [NewUnion].
type Union[In, Out any] struct {
	name       string
	order      func(Out) string
	descending bool
	legs       []Leg[In, Out]
}

// Leg is one pattern of a union.
type Leg[In, Out any] struct {
	c       *patternCore
	prepare func(s *Store, in In) (*query, error)
	decode  func(c *patternCore, item dynamo.Item, out *Out) (bool, error)
}

// LegOf makes a pattern a leg of a union with other inputs than the pattern's.
func LegOf[In, Own, Out any](p *Pattern[Own, Out], inputs func(In) Own) Leg[In, Out] {
	return Leg[In, Out]{c: p.c, decode: p.decode, prepare: func(s *Store, in In) (*query, error) {
		own := inputs(in)
		return p.c.prepare(s, unsafe.Pointer(&own))
	}}
}

// NewUnion defines a union. Items move from the tables of the first legs to that of the last one,
// which is therefore always read after the others. All legs have the same order. order returns the
// sort value of a row; rows with equal values are the same row.
func NewUnion[In, Out any](
	name string, order func(Out) string, legs ...Leg[In, Out],
) *Union[In, Out] {
	u := &Union[In, Out]{name: name, order: order, legs: legs}
	u.descending = len(legs) > 0 && legs[0].c.descending
	return u
}

// Name returns the union's name.
func (u *Union[In, Out]) Name() string { return u.name }

// side is one leg of a union that is being read.
type side[Out any] struct {
	w      *walk
	c      *patternCore
	decode func(c *patternCore, item dynamo.Item, out *Out) (bool, error)
	head   Out
	item   dynamo.Item        // the item of head
	has    bool               // head is the next row and not consumed
	bad    []*UnreadableError // unreadable rows before head
	paused bool               // bad has as many rows as a page
	row    *patternCore       // c for rows that are not hydrated
	spent  int                // calls of walks before w
}

// taken is a row of a page with its side.
type taken[Out any] struct {
	from *side[Out]
	item dynamo.Item
	row  Out
}

// Page returns up to size rows after cursor, which is the Next of the previous page, or "". It
// cannot read backwards. See [Pattern.Page].
func (u *Union[In, Out]) Page(
	ctx context.Context, s *Store, in In, size int, cursor string,
) (Page[Out], error) {
	var page Page[Out]
	if size < 1 || size > PageSizeMax {
		return page, fmt.Errorf("union %s: a page of %d rows, outside 1 to %d", u.name, size,
			PageSizeMax)
	}
	sides, last, err := u.open(s, in, cursor)
	if err != nil {
		return page, err
	}
	ctx, meter := ownMeter(ctx)
	var rows []taken[Out]
	for len(rows) < size {
		if err := u.advance(ctx, sides, size-len(rows), last); err != nil {
			return page, err
		}
		if slices.ContainsFunc(sides, func(d *side[Out]) bool { return d.paused }) {
			break // the page is full of unreadable rows
		}
		next, key := u.take(sides)
		if next.from == nil {
			break
		}
		last = key
		rows = append(rows, next)
	}
	if rows, err = u.hydrated(ctx, sides, rows); err != nil {
		return page, err
	}
	for _, r := range rows {
		page.Items = append(page.Items, r.row)
	}
	for _, d := range sides {
		page.Unreadable = append(page.Unreadable, d.bad...)
	}
	cursors, ended := make([]string, len(sides), len(sides)+1), true
	for i, d := range sides {
		page.Calls += d.w.calls + d.spent
		cursors[i] = d.w.q.encodeCursor(s, d.w.ahead())
		ended = ended && !d.has && d.w.ended()
	}
	page.Capacity = meter.Read()
	if page.Resume = u.encode(s, append(cursors, text64(last))); !ended {
		page.Next = page.Resume
	}
	return page, nil
}

// All returns all rows in order. Unreadable rows are returned as [*UnreadableError] after the rows
// next to them. Any other error is yielded once, as the last pair.
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
			for _, bad := range page.Unreadable {
				var none Out
				if !yield(none, bad) {
					return
				}
			}
			if cursor = page.Next; cursor == "" {
				return
			}
		}
	}
}

// open continues at a cursor: each side at its own position, and all of them after the last
// returned row. The second condition is needed because a row that was returned from one side may
// have been copied to another one, after the position of that side.
func (u *Union[In, Out]) open(
	s *Store, in In, cursor string,
) (sides []*side[Out], last string, err error) {
	cursors := make([]string, len(u.legs)+1)
	if cursor != "" {
		var ok bool
		if cursors, ok = u.decode(s, cursor); !ok {
			return nil, "", &CursorError{Pattern: u.name, Reason: CursorMalformed}
		}
		text, _ := base64.RawURLEncoding.DecodeString(cursors[len(u.legs)])
		last = string(text)
	}
	sides = make([]*side[Out], len(u.legs))
	for i, leg := range u.legs {
		q, err := leg.prepare(s, in)
		if err != nil {
			return nil, "", err
		}
		var from *position
		if cursors[i] != "" {
			at, err := q.decodeCursor(s, cursors[i])
			if err != nil {
				return nil, "", err
			}
			from = &at
		}
		row := *leg.c
		row.hydrate = false
		sides[i] = &side[Out]{w: q.newWalk(s, from), c: leg.c, decode: leg.decode, row: &row}
	}
	return sides, last, nil
}

// advance makes the next row of each side its head. After a read of one member, it discards the
// buffered rows of later members because a row may have moved between them.
func (u *Union[In, Out]) advance(
	ctx context.Context, sides []*side[Out], limit int, last string,
) error {
	for i, d := range sides {
		before := d.w.calls
		for {
			if err := d.peek(ctx, limit); err != nil {
				return d.c.wrap(err)
			}
			if !d.has || last == "" || u.precedes(last, u.order(d.head)) {
				break
			}
			d.w.consume()
			d.has = false
		}
		if d.w.calls == before {
			continue
		}
		for _, later := range sides[i+1:] {
			later.renew()
		}
	}
	return nil
}

// renew discards the rows that were read ahead.
func (d *side[Out]) renew() {
	if d.w.calls == 0 {
		return
	}
	at := d.w.ahead()
	d.spent += d.w.calls
	d.w, d.has = d.w.q.newWalk(d.w.s, &at), false
}

// peek finds the side's next row without consuming it.
func (d *side[Out]) peek(ctx context.Context, limit int) error {
	for d.paused = false; !d.has; {
		if d.paused = limit > 0 && len(d.bad) >= limit; d.paused {
			return nil
		}
		item, ok, err := d.w.peek(ctx, limit)
		if err != nil || !ok {
			return err
		}
		var out Out
		if d.has, err = d.decode(d.row, item, &out); err != nil {
			d.has = false
			bad, ok := AsUnreadable(err)
			if !ok {
				return err
			}
			d.bad = append(d.bad, bad)
		}
		if d.head, d.item = out, item; !d.has {
			d.w.consume()
		}
	}
	return nil
}

// hydrated replaces rows of indexes by the whole items, for the sides that need it. A row whose
// item no longer exists has moved to the table that is read last, or is omitted.
func (u *Union[In, Out]) hydrated(
	ctx context.Context, sides []*side[Out], rows []taken[Out],
) ([]taken[Out], error) {
	whole := map[*side[Out]]map[string]dynamo.Item{}
	moved := sides[len(sides)-1]
	for _, d := range sides {
		if !d.c.hydrate {
			continue
		}
		items, gone, err := u.fetch(ctx, d, d, rows, nil)
		if err == nil && len(gone) > 0 && d != moved && d.c.table.keys == moved.c.table.keys {
			items, _, err = u.fetch(ctx, d, moved, gone, items)
		}
		if err != nil {
			return nil, d.c.wrap(err)
		}
		whole[d] = items
	}
	kept := rows[:0]
	for _, r := range rows {
		d := r.from
		if !d.c.hydrate {
			kept = append(kept, r)
			continue
		}
		item, ok := whole[d][d.identity(r.item)]
		if !ok {
			continue
		}
		var row Out
		ok, err := d.decode(d.c, item, &row)
		if bad, is := AsUnreadable(err); is {
			d.bad = append(d.bad, bad)
			continue
		}
		if err != nil {
			return nil, d.c.wrap(err)
		}
		if r.row = row; ok {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// fetch adds to found the items of the rows of side d by their identities, read from the table of
// side in, and returns the rows whose item does not exist there.
func (u *Union[In, Out]) fetch(
	ctx context.Context, d, in *side[Out], rows []taken[Out], found map[string]dynamo.Item,
) (items map[string]dynamo.Item, gone []taken[Out], err error) {
	var own []taken[Out]
	var keys []dynamo.Key
	for _, r := range rows {
		if r.from == d {
			own, keys = append(own, r), append(keys, d.c.members[0].keyOf(r.item))
		}
	}
	in.spent += (len(keys) + batchGetMax - 1) / batchGetMax
	items, err = d.w.s.getMany(ctx, in.c.table, keys, readOptions{consistent: true})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range own {
		if _, ok := items[d.identity(r.item)]; !ok {
			gone = append(gone, r)
		}
	}
	maps.Copy(items, found)
	return items, gone, nil
}

// identity returns a text that identifies an item of a side.
func (d *side[Out]) identity(item dynamo.Item) string {
	return d.c.table.identity(d.c.members[0].keyOf(item))
}

// take consumes the first row of all sides and returns it from the first side that has it, or none
// at the end.
func (u *Union[In, Out]) take(sides []*side[Out]) (row taken[Out], key string) {
	var best *side[Out]
	for _, d := range sides {
		if !d.has {
			continue
		}
		if k := u.order(d.head); best == nil || u.precedes(k, key) {
			best, key = d, k
		}
	}
	if best == nil {
		return row, ""
	}
	row = taken[Out]{best, best.item, best.head}
	for _, d := range sides {
		if d.has && u.order(d.head) == key {
			d.w.consume()
			d.has = false
		}
	}
	return row, key
}

func text64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func (u *Union[In, Out]) precedes(key, other string) bool {
	if u.descending {
		return key > other
	}
	return key < other
}

// encode joins the cursors of all sides and signs them together.
func (u *Union[In, Out]) encode(s *Store, cursors []string) string {
	body := strings.Join(cursors, ".")
	return body + "." + base64.RawURLEncoding.EncodeToString(s.mac([]byte(u.name+"\x00"+body)))
}

func (u *Union[In, Out]) decode(s *Store, cursor string) ([]string, bool) {
	parts := strings.Split(cursor, ".")
	if len(parts) != len(u.legs)+2 {
		return nil, false
	}
	cursors := parts[:len(u.legs)+1]
	return cursors, hmac.Equal([]byte(u.encode(s, cursors)), []byte(cursor))
}
