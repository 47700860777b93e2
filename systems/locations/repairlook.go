package locations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/singletable"
)

// repairLooks is how often a code is looked at again while other writers change it.
const repairLooks = 8

// repairer is a repair in progress.
type repairer struct {
	d    *Directory
	m    *model
	mend bool
	out  Repair

	// locations and lookups are the items as they were when the table was read.
	locations map[ID]locationItem
	lookups   map[string]lookupItem
	// seen are the entries of faults of single items.
	seen map[string]bool
}

// read reads the table, and finds what is wrong with each item by itself.
func (r *repairer) read(ctx context.Context) error {
	q := singletable.AuditQuery{Table: r.m.apart}
	for {
		page, err := r.d.store.Audit(ctx, q)
		if err != nil {
			return failed("read", "locations and lookup items", err)
		}
		for i := range page.Items {
			if err := r.take(ctx, &page.Items[i]); err != nil {
				return err
			}
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}

// take notes an item of the table, and its faults.
func (r *repairer) take(ctx context.Context, a *singletable.AuditItem) error {
	if misplaced, err := r.takeMisplaced(ctx, a); misplaced || err != nil {
		return err
	}
	location, isLocation, err := r.m.loose.FromAudit(a)
	lookup, isLookup, lookupErr := r.m.lookups.FromAudit(a)
	if err = errors.Join(err, lookupErr); err != nil {
		bad, unread := singletable.AsUnreadable(err)
		if !unread {
			return failed("read", a.Key(), err)
		}
		r.noteUnreadable(bad)
		return nil
	}
	switch {
	case isLocation:
		r.locations[location.ID] = location
	case isLookup:
		r.lookups[lookup.Key] = lookup
	case keyIsOurs(a):
		r.noteItem(a, ItemWrong, Fault{Why: fmt.Sprintf("%s is %q", kindAttribute,
			a.Text(kindAttribute))})
		return nil
	default:
		return nil // of another program
	}
	return r.takeKeys(ctx, a, location.ID, cmp.Or(location.Code, lookup.Code, lookup.Key))
}

// takeKeys compares the kind, the id and the index keys of an item with its values.
func (r *repairer) takeKeys(
	ctx context.Context, a *singletable.AuditItem, id ID, code string,
) error {
	differences, err := a.Compare()
	if err != nil {
		r.noteItem(a, ItemWrong, Fault{Code: code, Location: id, Why: err.Error()})
		return nil
	}
	var wrong, unlisted []string
	for _, d := range differences {
		why := fmt.Sprintf("%s is %q, want %q", d.Attribute, d.Got, d.Want)
		if d.Missing {
			why = fmt.Sprintf("%s is absent, want %q", d.Attribute, d.Want)
		}
		switch {
		case d.Primary, d.Attribute == kindAttribute:
			wrong = append(wrong, why)
		case d.Index != "":
			unlisted = append(unlisted, why)
		}
	}
	// The id is read from the key, so a comparison does not see it.
	if got := a.Text("locationId"); a.Entity() == kindLocation && a.Has("locationId") &&
		got != string(id) {
		wrong = append(wrong, fmt.Sprintf("locationId is %q, want %q", got, id))
	}
	if wrong != nil {
		r.noteItem(a, ItemWrong, Fault{Code: code, Location: id, Why: strings.Join(wrong, "; ")})
	}
	if unlisted == nil {
		return nil
	}
	f := Fault{Code: code, Location: id, Why: strings.Join(unlisted, "; ")}
	if r.mend && wrong == nil && id != "" {
		err := r.d.reindex(ctx, id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		f.Mended = true
	}
	r.noteItem(a, IndexWrong, f)
	return nil
}

// keyIsOurs reports whether an item has the key of a location or of a lookup item.
func keyIsOurs(a *singletable.AuditItem) bool {
	return a.Sort() == sortKey && (strings.HasPrefix(a.Partition(), locationPrefix) ||
		strings.HasPrefix(a.Partition(), lookupPrefix))
}

func (r *repairer) noteItem(a *singletable.AuditItem, kind FaultKind, f Fault) {
	f.Kind, f.Entry = kind, a.Key()
	r.out.Faults = append(r.out.Faults, f)
}

// noteUnreadable notes an item that cannot be read, once.
func (r *repairer) noteUnreadable(bad *singletable.UnreadableError) {
	entry := bad.KeyText()
	if r.seen[entry] {
		return
	}
	r.seen[entry] = true
	f := Fault{Kind: ItemUnreadable, Entry: entry,
		Why: fmt.Sprintf("attribute %s %v", bad.Attribute, bad.Reason)}
	partition := bad.Key["PK"].S()
	if key, ok := strings.CutPrefix(partition, lookupPrefix); ok {
		f.Code = key
	} else if i := strings.LastIndexByte(partition, '#'); i >= 0 {
		f.Location = ID(partition[i+1:])
	}
	r.out.Faults = append(r.out.Faults, f)
}

// compare looks at each location whose lookup item is not as it should be, and at each lookup item
// whose code no location has.
func (r *repairer) compare(ctx context.Context) error {
	claimed := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(r.locations)) {
		l := r.locations[id]
		key := keyOf(l.Code)
		if l.Code == "" {
			continue
		}
		claimed[key] = true
		lookup, found := r.lookups[key]
		if found && lookup.ID == id && copied(&l, &lookup) {
			continue
		}
		err := r.settle(ctx, Undecided{l.Code, id}, func() (bool, error) {
			return r.lookAtLocation(ctx, id)
		})
		if err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.lookups)) {
		lookup := r.lookups[key]
		// The lookup item of a code that some location has was looked at with that location.
		if claimed[key] {
			continue
		}
		err := r.settle(ctx, Undecided{cmp.Or(lookup.Code, key), lookup.ID}, func() (bool, error) {
			return r.lookAtLookup(ctx, key)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copied reports whether a lookup item has what it copies from its location. Other programs may
// leave it out.
func copied(l *locationItem, lookup *lookupItem) bool {
	return (lookup.Code == "" || lookup.Code == l.Code) &&
		(lookup.CreatedAt == "" || lookup.CreatedAt == l.CreatedAt)
}

// settle looks until it is decided. Items that cannot be read are noted, and decide it.
func (r *repairer) settle(
	ctx context.Context, u Undecided, look func() (decided bool, err error),
) error {
	for range repairLooks {
		decided, err := look()
		if bad, unread := singletable.AsUnreadable(err); unread {
			r.noteUnreadable(bad)
			return nil
		}
		if decided || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	r.out.Undecided = append(r.out.Undecided, u)
	return nil
}

// lookAtLocation reads a location and its lookup item, and mends what is wrong. It is not decided
// if one of the two was changed in the meantime.
func (r *repairer) lookAtLocation(ctx context.Context, id ID) (decided bool, err error) {
	l, err := r.d.Location(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	if err != nil || l.Code == "" {
		return err == nil, err
	}
	lookup, found, err := r.lookup(ctx, keyOf(l.Code))
	if err != nil {
		return false, err
	}
	f := Fault{Kind: LookupMissing, Code: l.Code, Location: id}
	switch item := r.m.itemOf(&l); {
	case found && lookup.ID == id && copied(&item, &lookup):
		return true, nil
	case found && lookup.ID == id:
		f.Kind, f.Why = LookupWrong, fmt.Sprintf("the lookup item has the code %q, created at %q",
			lookup.Code, lookup.CreatedAt)
	case found:
		f.Kind, f.Other = LookupForeign, lookup.ID
		owner, err := r.d.Location(ctx, lookup.ID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return false, err
		}
		if err == nil && keyOf(owner.Code) == keyOf(l.Code) {
			f.Kind = CodeTwice
		}
	}
	still, err := r.d.Location(ctx, id)
	if err != nil || still.Code != l.Code || still.Version != l.Version ||
		still.updated != l.updated {
		return false, ignoreNotFound(err)
	}
	again, foundAgain, err := r.lookup(ctx, keyOf(l.Code))
	if err != nil || again != lookup || foundAgain != found {
		return false, err
	}
	if r.mend {
		if f.Mended, err = r.mendLocation(ctx, &l, &f); err != nil || !f.Mended {
			return false, err
		}
	}
	r.out.Faults = append(r.out.Faults, f)
	return true, nil
}

// ignoreNotFound makes nil of the error of a location that was removed in the meantime.
func ignoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// lookup reads a lookup item.
func (r *repairer) lookup(ctx context.Context, key string) (lookupItem, bool, error) {
	item, found, err := r.m.lookups.Get(ctx, r.d.store, lookupItem{Key: key},
		singletable.Consistent())
	if err != nil {
		return item, false, failed("find code", key, err)
	}
	return item, found, nil
}

// mendLocation gives a location its lookup item, or takes from it a code that is another's. It
// reports false if another writer was faster.
func (r *repairer) mendLocation(ctx context.Context, l *Location, f *Fault) (bool, error) {
	var err error
	wrote := true
	if f.Kind == CodeTwice {
		err = r.d.takeCode(ctx, l)
	} else {
		wrote, err = r.m.codes.Repair(ctx, r.d.store, locationItem{ID: l.ID})
	}
	// Two locations may want one code, and the other was mended first.
	if errors.Is(err, singletable.ErrConditionFailed) || errors.Is(err, singletable.ErrTaken) {
		return false, nil
	}
	if err != nil {
		return false, contended(failed("mend the code of location", l.ID, err))
	}
	return wrote, nil
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

// lookAtLookup reads a lookup item and the location that it names, and removes the item if that
// location has not the code. It is not decided if the item was changed in the meantime.
func (r *repairer) lookAtLookup(ctx context.Context, key string) (decided bool, err error) {
	lookup, found, err := r.lookup(ctx, key)
	if err != nil || !found {
		return err == nil, err
	}
	l, err := r.d.Location(ctx, lookup.ID)
	missing := errors.Is(err, ErrNotFound)
	if err != nil && !missing {
		return false, err
	}
	if !missing && keyOf(l.Code) == key {
		return true, nil
	}
	again, found, err := r.lookup(ctx, key)
	if err != nil || !found || again != lookup {
		return false, err
	}
	f := Fault{Kind: LookupStray, Code: cmp.Or(lookup.Code, key), Location: lookup.ID}
	if r.mend {
		tx := r.d.store.NewTx()
		r.m.lookups.DeleteTx(tx, lookup, r.m.lookupOwner.Equals(lookup.ID))
		if _, bad := ParseID(string(lookup.ID)); bad == nil {
			guard := r.m.fields.code.Equals(l.Code)
			if missing {
				guard = r.m.locations.Missing()
			}
			r.m.locations.CheckTx(tx, locationItem{ID: lookup.ID}, guard)
		}
		err := tx.Commit(ctx)
		if errors.Is(err, singletable.ErrConditionFailed) {
			return false, nil
		}
		if err != nil {
			return false, contended(failed("mend the code", key, err))
		}
		f.Mended = true
	}
	r.out.Faults = append(r.out.Faults, f)
	return true, nil
}
