package locations

import (
	"cmp"
	"context"
	"slices"
)

// FaultKind is the way in which a location and the lookup items of codes disagree.
type FaultKind string

// The kinds of faults. No write of this package leaves one; another program can.
const (
	// LookupMissing is a location whose code has no lookup item: another location could take it.
	LookupMissing FaultKind = "lookup_missing"
	// LookupForeign is a location whose code has a lookup item that names a location which has not
	// the code.
	LookupForeign FaultKind = "lookup_foreign"
	// LookupWrong is a location whose lookup item names it, with another code or another time of
	// creation than the location has.
	LookupWrong FaultKind = "lookup_wrong"
	// LookupStray is a lookup item of a code that the location it names does not have, or of a
	// location that does not exist. No location can take the code.
	LookupStray FaultKind = "lookup_stray"
	// CodeTwice is a location whose code belongs to another location by right, since the lookup
	// item names that. Mending takes the code from it, keeps it as FormerCode, and leaves it to
	// people to give it another.
	CodeTwice FaultKind = "code_twice"
	// IndexWrong is a location with an index key that is missing or not that of its values, so
	// that a list in order does not show it, or shows it elsewhere. Mending writes the keys again.
	IndexWrong FaultKind = "index_wrong"
	// ItemWrong is an item whose kind or id is not the one in its key. It is not mended.
	ItemWrong FaultKind = "item_wrong"
	// KeyMisplaced is a location whose key is that of another number of shards, so that it is not
	// found by its id or code. Mending moves it, unless there is one under the right key.
	KeyMisplaced FaultKind = "key_misplaced"
	// ItemUnreadable is an item that cannot be read. All that depends on it is unknown. It is not
	// mended.
	ItemUnreadable FaultKind = "item_unreadable"
)

// Fault is one disagreement.
type Fault struct {
	Kind FaultKind
	Code string
	// Location has the code or, of a stray lookup item, is the one that the item names.
	Location ID
	// Other is the location that the lookup item names, if that is another.
	Other ID
	// Entry is the key of the item, and Why what is wrong with it, if the fault is one of an item.
	Entry, Why string
	// Mended reports whether it was put right.
	Mended bool
}

// Undecided is a code whose location and lookup item could not be compared, because other writers
// changed them each time.
type Undecided struct {
	Code     string
	Location ID
}

// Verdict is the result of a comparison in one word.
type Verdict string

// The verdicts.
const (
	// VerdictSound means that everything was compared, and that nothing is wrong any more.
	VerdictSound Verdict = "sound"
	// VerdictFaulty means that there are faults that were not mended.
	VerdictFaulty Verdict = "faulty"
	// VerdictUndecided means that no fault is left, but that not everything could be compared.
	VerdictUndecided Verdict = "undecided"
)

// Repair is the outcome of a comparison.
type Repair struct {
	// Locations and Lookups are how many of each there are, without those that cannot be read.
	Locations, Lookups int
	// Faults are sorted by code.
	Faults []Fault
	// Undecided are the codes that could not be compared. Run the repair again.
	Undecided []Undecided
}

// Verdict returns the verdict.
func (r Repair) Verdict() Verdict {
	switch {
	case slices.ContainsFunc(r.Faults, func(f Fault) bool { return !f.Mended }):
		return VerdictFaulty
	case len(r.Undecided) > 0:
		return VerdictUndecided
	}
	return VerdictSound
}

// Mended reports whether everything was compared and nothing is left to do.
func (r Repair) Mended() bool { return r.Verdict() == VerdictSound }

// Repair compares all locations with all lookup items, both ways, and with mend puts right what can
// be. It reads the table once, and reads both sides of each disagreement again before it reports
// or changes anything, so that it can run while others write. A code whose two sides changed each
// time is Undecided. Items that cannot be read are faults, and nothing is mended that depends on
// them.
func (d *Directory) Repair(ctx context.Context, mend bool) (Repair, error) {
	if err := d.settleShards(ctx); err != nil {
		return Repair{}, err
	}
	r := &repairer{d: d, m: modelOf(d), mend: mend, seen: map[string]bool{},
		locations: map[ID]locationItem{}, lookups: map[string]lookupItem{}}
	if err := r.read(ctx); err != nil {
		return r.out, err
	}
	r.out.Locations, r.out.Lookups = len(r.locations), len(r.lookups)
	defer d.cache.changing()()
	err := r.compare(ctx)
	slices.SortFunc(r.out.Faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(keyOf(a.Code), keyOf(b.Code)),
			cmp.Compare(a.Location, b.Location), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Entry, b.Entry))
	})
	return r.out, err
}

// Reindex writes the index keys of all locations again and returns how many there are: after an
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
	for _, id := range ids {
		if err := d.reindex(ctx, id); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// reindex writes the index keys of a location again.
func (d *Directory) reindex(ctx context.Context, id ID) error {
	m, f := modelOf(d), &modelOf(d).fields
	return d.insist(ctx, func(ctx context.Context) error {
		l, err := d.Location(ctx, id)
		if err != nil {
			return err
		}
		area, cell := m.cell(l.Point)
		steps := append(m.stillSo(&l), m.locations.WithKnown(m.itemOf(&l)),
			f.code.Set(l.Code), f.name.Set(l.Name), f.area.Set(area), f.cell.Set(cell))
		_, err = m.locations.Update(ctx, d.store, locationItem{ID: id}, steps...)
		if err != nil {
			return again(failed("index location", id, err), err)
		}
		return nil
	})
}
