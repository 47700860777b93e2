package locations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Bounds of what is found near.
const (
	NearDefault = 50
	NearMax     = 1000
)

// NearQuery asks for the locations in use around a point or, with a Box, in it.
type NearQuery struct {
	Point Point
	// Radius is in metres. One that is larger than half the earth's circumference finds everything.
	Radius float64
	// Box asks for what is in it instead, sorted by the distance to Point.
	Box *Box
	// Tag narrows down to those that have it.
	Tag string
	// Limit is the maximum number of locations, 1 to NearMax; 0 means NearDefault.
	Limit int
}

// Neighbour is a location and its distance to the point that was asked about, in metres.
type Neighbour struct {
	Location
	Distance float64
}

// Neighbours are the locations of an area, the nearest first.
type Neighbours struct {
	Items []Neighbour
	// More reports that there are more than the limit.
	More bool
	// Unreadable are stored items that cannot be read, and that may be near.
	Unreadable []*singletable.UnreadableError
}

func (q NearQuery) check() error {
	var wrong problem.Fields
	q.Point.check(&wrong)
	if q.Box != nil {
		q.Box.check(&wrong)
	} else if !(q.Radius >= 0) || math.IsInf(q.Radius, 0) {
		wrong.Add("radius", "must be metres, zero or more")
	}
	if q.Limit < 0 || q.Limit > NearMax {
		wrong.Add("limit", fmt.Sprintf("must be from 1 to %d", NearMax))
	}
	return wrong.Err(ErrInvalid)
}

// Near returns the locations in use within a distance of a point, or in a box, by true distance.
// With the cell index it reads the cells of the area, and refuses one of too many cells with
// ErrAreaTooLarge, unless the list of all locations fits into memory; without the index it looks
// through that list.
func (d *Directory) Near(ctx context.Context, q NearQuery) (Neighbours, error) {
	if err := q.check(); err != nil {
		return Neighbours{}, err
	}
	box := around(q.Point, q.Radius)
	if q.Box != nil {
		box = *q.Box
	}
	var found []Location
	var err error
	cells, n := cover(box)
	switch {
	case modelOf(d).inCell == nil:
		found, err = d.listed(ctx)
	case cells != nil:
		found, err = d.inCells(ctx, cells)
	default:
		if found, err = d.listed(ctx); errors.Is(err, ErrTooMany) {
			err = ErrAreaTooLarge.With("queries", n).With("limit", cellsMax)
		}
	}
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return Neighbours{}, err
	}
	out := q.pick(found)
	out.Unreadable = bad
	return out, nil
}

// listed returns all locations in use.
func (d *Directory) listed(ctx context.Context) ([]Location, error) {
	s, err := d.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return s.Locations, singletable.UnreadableRows(s.Unreadable).Err()
}

// nearFanout is how many cells are read at the same time.
const nearFanout = 8

// inCells returns the locations of some cells, one query each. When one fails so does the whole: a
// part is never passed off as all.
func (d *Directory) inCells(ctx context.Context, cells []string) ([]Location, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := make([][]Location, len(cells))
	next := make(chan int)
	bad := make([]singletable.UnreadableRows, len(cells))
	var wg sync.WaitGroup
	for range min(nearFanout, len(cells)) {
		wg.Go(func() {
			for i := range next {
				var err error
				found[i], err = d.inCell(ctx, cells[i])
				if bad[i], err = singletable.RowsOf(err); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range cells {
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(found...), slices.Concat(bad...).Err()
}

// inCell returns the locations of one cell.
func (d *Directory) inCell(ctx context.Context, cell string) (found []Location, err error) {
	in := InCell{Area: cell[:areaLevel], Prefix: cell}
	var bad singletable.UnreadableRows
	for item, err := range modelOf(d).inCell.All(ctx, d.store, in) {
		if unread, ok := singletable.AsUnreadable(err); ok {
			bad = append(bad, unread)
			continue
		}
		if err != nil {
			return nil, failed("read cell", cell, err)
		}
		found = append(found, locationOf(item))
	}
	return found, bad.Err()
}

// pick returns those of some locations that the query asks for.
func (q NearQuery) pick(from []Location) (out Neighbours) {
	for _, l := range from {
		if l.Status == Inactive || l.Point == nil ||
			q.Tag != "" && !slices.Contains(l.Tags, q.Tag) {
			continue
		}
		distance := Distance(q.Point, *l.Point)
		if q.Box == nil && distance > q.Radius || q.Box != nil && !q.Box.Contains(*l.Point) {
			continue
		}
		out.Items = append(out.Items, Neighbour{l, distance})
	}
	slices.SortFunc(out.Items, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	limit := q.Limit
	if limit == 0 {
		limit = NearDefault
	}
	if out.More = len(out.Items) > limit; out.More {
		out.Items = out.Items[:limit]
	}
	return out
}
