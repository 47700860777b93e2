package locations

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/exchequer-dev/exchequer/singletable"
)

// FaultKind says in which way a location and the lookup items of codes disagree.
type FaultKind string

// The kinds of faults. No write of this package leaves one; another program can.
const (
	// LookupMissing is a location whose code has no lookup item: somebody else could take it.
	LookupMissing FaultKind = "lookup_missing"
	// LookupForeign is a location whose code has a lookup item that names a location which has not
	// the code.
	LookupForeign FaultKind = "lookup_foreign"
	// LookupStray is a lookup item of a code that the location it names does not have, or of a
	// location that does not exist. It keeps the code from everybody.
	LookupStray FaultKind = "lookup_stray"
	// CodeTwice is a location whose code belongs to another location by right, since the lookup
	// item names that. Mending takes the code from it, keeps it as FormerCode, and leaves it to
	// people to give it another.
	CodeTwice FaultKind = "code_twice"
)

// Fault is one disagreement.
type Fault struct {
	Kind FaultKind
	Code string
	// Location has the code or, of a stray lookup item, is what that names.
	Location ID
	// Other is the location that the lookup item names, where that is another.
	Other ID
	// Mended tells that it was put right.
	Mended bool
}

// Repair is the outcome of a comparison.
type Repair struct {
	// Locations and Lookups are how many of each there are.
	Locations, Lookups int
	// Faults are sorted by code.
	Faults []Fault
}

// Mended tells whether nothing is left to do.
func (r Repair) Mended() bool {
	return !slices.ContainsFunc(r.Faults, func(f Fault) bool { return !f.Mended })
}

// Repair compares all locations with all lookup items, both ways, and with mend puts right what can
// be. It reads the table twice, and looks at each disagreement again before it says or does
// anything, so that it can run while others write.
func (d *Directory) Repair(ctx context.Context, mend bool) (Repair, error) {
	var r Repair
	codes, owners, claimed := map[ID]string{}, map[string]ID{}, map[string]bool{}
	err := d.each(ctx, func(l Location) error {
		codes[l.ID] = l.Code
		claimed[keyOf(l.Code)] = true
		return nil
	})
	if err != nil {
		return r, err
	}
	for item, err := range modelOf(d).allLookups.All(ctx, d.store, Listing{}) {
		if err != nil {
			return r, failed("read", "lookup items", err)
		}
		owners[item.Key] = item.ID
	}
	r.Locations, r.Lookups = len(codes), len(owners)
	defer d.cache.changing()()
	for id, code := range codes {
		if code != "" && owners[keyOf(code)] != id {
			if err := d.mendLocation(ctx, &r, id, mend); err != nil {
				return r, err
			}
		}
	}
	for key, id := range owners {
		// The lookup item of a code that some location has was looked at with that location.
		if keyOf(codes[id]) != key && !claimed[key] {
			if err := d.mendLookup(ctx, &r, key, mend); err != nil {
				return r, err
			}
		}
	}
	slices.SortFunc(r.Faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(keyOf(a.Code), keyOf(b.Code)),
			cmp.Compare(a.Location, b.Location), cmp.Compare(a.Kind, b.Kind))
	})
	return r, nil
}

// mendLocation looks at a location whose lookup item seemed wrong.
func (d *Directory) mendLocation(ctx context.Context, r *Repair, id ID, mend bool) error {
	l, err := d.Location(ctx, id)
	if err != nil || l.Code == "" {
		return err
	}
	lookup, found, err := modelOf(d).codes.Owner(ctx, d.store, locationItem{Code: l.Code})
	if err != nil {
		return failed("find code", l.Code, err)
	}
	f := Fault{Kind: LookupMissing, Code: l.Code, Location: id}
	if found {
		if lookup.ID == id {
			return nil
		}
		f.Kind, f.Other = LookupForeign, lookup.ID
		_, rightful, err := modelOf(d).codes.Get(ctx, d.store, locationItem{Code: l.Code})
		if err != nil {
			return failed("find code", l.Code, err)
		}
		if rightful {
			f.Kind = CodeTwice
		}
	}
	if mend && f.Kind != CodeTwice {
		f.Mended, err = modelOf(d).codes.Repair(ctx, d.store, locationItem{ID: id})
		if errors.Is(err, singletable.ErrTaken) {
			f.Kind = CodeTwice // Two of them wanted it, and the other was mended first.
		}
	}
	if mend && f.Kind == CodeTwice {
		err = d.takeCode(ctx, &l)
		f.Mended = err == nil
	}
	if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
		return contended(failed("mend the code of location", id, err))
	}
	r.Faults = append(r.Faults, f)
	return nil
}

// takeCode takes a code from a location that has it without right, and leaves the lookup item,
// which is another's, alone.
func (d *Directory) takeCode(ctx context.Context, l *Location) error {
	m := modelOf(d)
	_, err := m.loose.Update(ctx, d.store, locationItem{ID: l.ID},
		m.loose.WithKnown(m.itemOf(l)), m.looseVersion.Equals(l.Version),
		m.looseUpdatedAt.Equals(l.updated), m.looseCode.Remove(), m.looseFormerCode.Set(l.Code),
		m.looseVersion.Set(l.Version+1), m.looseUpdatedAt.Set(stamp(d.opts.Now())))
	return err
}

// mendLookup looks at a lookup item whose location seemed not to have its code.
func (d *Directory) mendLookup(ctx context.Context, r *Repair, key string, mend bool) error {
	lookup, found, err := modelOf(d).lookups.Get(ctx, d.store, lookupItem{Key: key},
		singletable.Consistent())
	if err != nil {
		return failed("find code", key, err)
	}
	if !found {
		return nil
	}
	l, err := d.Location(ctx, lookup.ID)
	missing := errors.Is(err, ErrNotFound)
	if err != nil && !missing {
		return err
	}
	if !missing && keyOf(l.Code) == key {
		return nil
	}
	f := Fault{Kind: LookupStray, Code: cmp.Or(lookup.Code, key), Location: lookup.ID}
	if mend {
		tx := d.store.NewTx()
		modelOf(d).lookups.DeleteTx(tx, lookup, modelOf(d).lookupOwner.Equals(lookup.ID))
		if _, bad := ParseID(string(lookup.ID)); bad == nil {
			guard := modelOf(d).fields.code.Equals(l.Code)
			if missing {
				guard = modelOf(d).locations.Missing()
			}
			modelOf(d).locations.CheckTx(tx, locationItem{ID: lookup.ID}, guard)
		}
		err := tx.Commit(ctx)
		if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
			return contended(failed("mend the code", key, err))
		}
		f.Mended = err == nil
	}
	r.Faults = append(r.Faults, f)
	return nil
}

// Reindex writes the index keys of all locations anew and returns how many there are: after an
// index was added to a table in use.
func (d *Directory) Reindex(ctx context.Context) (n int, err error) {
	var ids []ID
	err = d.each(ctx, func(l Location) error {
		ids = append(ids, l.ID)
		return nil
	})
	if err != nil {
		return 0, err
	}
	f := &modelOf(d).fields
	for _, id := range ids {
		err := d.insist(ctx, func(ctx context.Context) error {
			l, err := d.Location(ctx, id)
			if err != nil {
				return err
			}
			m := modelOf(d)
			area, cell := m.cell(l.Point)
			steps := append(m.stillSo(&l), m.locations.WithKnown(m.itemOf(&l)),
				f.code.Set(l.Code), f.name.Set(l.Name), f.area.Set(area), f.cell.Set(cell))
			_, err = m.locations.Update(ctx, d.store, locationItem{ID: id}, steps...)
			if err != nil {
				return again(failed("index location", id, err), err)
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
