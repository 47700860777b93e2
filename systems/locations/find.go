package locations

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// known returns an id in the case of keys, or ErrNotFound for one that no location has.
func known(id ID) (ID, error) {
	parsed, err := ParseID(string(id))
	if err != nil {
		return "", ErrNotFound.With("location", id)
	}
	return parsed, nil
}

// Location returns a location by its id as of now, deleted ones too, or ErrNotFound.
func (d *Directory) Location(ctx context.Context, id ID) (Location, error) {
	id, err := known(id)
	if err != nil {
		return Location{}, err
	}
	if err := d.settleShards(ctx); err != nil {
		return Location{}, err
	}
	item, found, err := modelOf(d).byID.First(ctx, d.store, ByID{id})
	if err != nil {
		return Location{}, failed("find location", id, err)
	}
	if !found {
		return Location{}, ErrNotFound.With("location", id)
	}
	return locationOf(item), nil
}

// ByCode returns the location in use that has a code, in any case: first the lookup item is read,
// then the location that it names. When the two disagree, as in the moment of a change, both are
// read again. ErrCodeNotFound when no location has the code, ErrDeleted when a deleted location has
// it.
func (d *Directory) ByCode(ctx context.Context, code string) (out Location, err error) {
	shown, key, err := Code(code)
	if err != nil {
		return Location{}, err
	}
	if err := d.settleShards(ctx); err != nil {
		return Location{}, err
	}
	err = d.retry(ctx, func(ctx context.Context) error {
		lookup, found, err := modelOf(d).codes.Owner(ctx, d.store, locationItem{Code: shown})
		if err != nil {
			return failed("find code", shown, err)
		}
		if !found {
			return ErrCodeNotFound.With("code", shown)
		}
		item, found, err := modelOf(d).locations.Get(ctx, d.store, locationItem{ID: lookup.ID},
			singletable.Consistent())
		if err != nil {
			return failed("find location", lookup.ID, err)
		}
		if !found || keyOf(item.Code) != key {
			return again(ErrUnsettled.With("code", shown).With("location", lookup.ID), nil)
		}
		if out = locationOf(item); out.Status == Inactive {
			return ErrDeleted.With("code", out.Code).With("location", out.ID)
		}
		return nil
	})
	if err != nil {
		return Location{}, err
	}
	return out, nil
}

// Bounds of a page.
const (
	PageDefault = 100
	PageMax     = 1000
)

// Order is the order of a list.
type Order string

// The orders. Each but the first needs the index of its name; see Options.
const (
	Unordered  Order = ""
	ByCreation Order = "created"
	ByCode     Order = "code"
	ByName     Order = "name"
)

// ListQuery asks for a page of locations.
type ListQuery struct {
	// Status is Active or Inactive; empty means both.
	Status Status
	// Tag narrows the list down to those that have it.
	Tag string
	// Order is how the list is sorted. Without one it is a scan of the table, whose order means
	// nothing, but does not change from page to page.
	Order Order
	// Prefix narrows the list down to codes or names that begin so, in any case. It needs an order
	// by them.
	Prefix string
	// Size is the maximum number of rows, 1 to PageMax; 0 means PageDefault. A page can have
	// fewer though there are more, when filling it would take more than twenty calls.
	Size int
	// Cursor is the Next of the page before, or empty for the first.
	Cursor string
}

// List returns a page of locations. Filters are filled up: the next page is read until there are
// enough rows, within the budget of calls of a page.
func (d *Directory) List(
	ctx context.Context, q ListQuery,
) (out singletable.Page[Location], err error) {
	if err := d.settleShards(ctx); err != nil {
		return out, err
	}
	pattern, err := listing(d, q)
	if err != nil {
		return out, err
	}
	size := q.Size
	if size == 0 {
		size = PageDefault
	}
	items, err := pattern.Page(ctx, d.store, Listing{q.Status, q.Tag, keyOf(q.Prefix)}, size,
		q.Cursor)
	var cursor *singletable.CursorError
	switch {
	case errors.As(err, &cursor):
		return out, ErrInvalidCursor.Wrap(err)
	case err != nil:
		return out, failed("list", "locations", err)
	}
	return singletable.MapPage(items, func(i locationItem) (Location, error) {
		return locationOf(i), nil
	})
}

// listing returns the pattern that answers a query, or what is wrong with the query.
func listing(d *Directory, q ListQuery) (*singletable.Pattern[Listing, locationItem], error) {
	var wrong problem.Fields
	if q.Status != "" && q.Status != Active && q.Status != Inactive {
		wrong.Add("status", "must be active or inactive")
	}
	if q.Size < 0 || q.Size > PageMax {
		wrong.Add("limit", fmt.Sprintf("must be from 1 to %d", PageMax))
	}
	if q.Prefix != "" && q.Order != ByCode && q.Order != ByName {
		wrong.Add("prefix", "needs the order code or name")
	}
	pattern := modelOf(d).all
	switch q.Order {
	case Unordered:
	case ByCreation:
		pattern = modelOf(d).byCreation
	case ByCode:
		pattern = modelOf(d).byCode
	case ByName:
		pattern = modelOf(d).byName
	default:
		wrong.Add("order", "must be created, code or name")
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return nil, err
	}
	if pattern == nil {
		return nil, ErrOrderMissing.With("order", q.Order)
	}
	return pattern, nil
}

// each calls use with all locations, deleted ones too, in no order. Those that cannot be read are
// returned as singletable.UnreadableRows when all the others were used.
func (d *Directory) each(ctx context.Context, use func(Location) error) error {
	var bad singletable.UnreadableRows
	for item, err := range modelOf(d).all.All(ctx, d.store, Listing{}) {
		if unread, ok := singletable.AsUnreadable(err); ok {
			bad = append(bad, unread)
			continue
		}
		if err != nil {
			return failed("read", "locations", err)
		}
		if err := use(locationOf(item)); err != nil {
			return err
		}
	}
	return bad.Err()
}
