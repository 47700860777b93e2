package locations

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Update changes a location that is in use. With a tag, the location must still have that Tag,
// or the change is refused with ErrChanged; without one, it changes the location as it is.
// A new code is taken and the old one given up in the same write. A change of a code's case alone
// takes nothing. A change that changes nothing writes nothing.
func (d *Directory) Update(
	ctx context.Context, id ID, tag string, c Change,
) (Location, error) {
	return d.rewrite(ctx, id, tag, func(l Location) (Location, error) {
		if l.Status == Inactive {
			return l, ErrInactive.With("location", id)
		}
		return c.apply(l, instant(d.opts.Now()))
	})
}

// rewrite applies a rule to a location as it is now and writes the outcome, unless another writer
// has changed the location in the meantime; then it begins again.
func (d *Directory) rewrite(
	ctx context.Context, id ID, tag string, rule func(Location) (Location, error),
) (out Location, err error) {
	err = d.insist(ctx, func(ctx context.Context) error {
		before, err := d.current(ctx, id, tag)
		if err != nil {
			return err
		}
		if out, err = rule(before); err != nil {
			return err
		}
		if before.sameAs(&out) {
			return nil
		}
		return d.save(ctx, &before, &out)
	})
	if err != nil {
		return Location{}, err
	}
	return out, nil
}

// current returns a location as it is, which must have the tag unless that is empty.
func (d *Directory) current(ctx context.Context, id ID, tag string) (Location, error) {
	l, err := d.Location(ctx, id)
	if err == nil && tag != "" && tag != l.Tag() {
		err = ErrChanged.With("what", "Location "+id).With("location", id)
	}
	return l, err
}

func (l *Location) sameAs(o *Location) bool {
	return l.Code == o.Code && l.FormerCode == o.FormerCode && l.Status == o.Status &&
		l.Details.difference(o.Details) == ""
}

// save writes what a location has become.
func (d *Directory) save(ctx context.Context, before, after *Location) error {
	defer d.cache.changing()()
	modelOf(d).touch(after, d.opts.Now())
	_, err := modelOf(d).locations.Update(ctx, d.store, locationItem{ID: before.ID},
		modelOf(d).steps(before, after)...)
	if err == nil {
		return nil
	}
	if errors.Is(err, singletable.ErrUnknown) { // The answer was lost; the location shows it.
		now, found := d.Location(ctx, before.ID)
		if found == nil && now.sameAs(after) {
			*after = now
			return nil
		}
		return &againError{failed("change location", before.ID, errors.Join(err, found))}
	}
	for _, f := range singletable.FailuresOf(err) {
		if f.Kind == singletable.FailedCondition && f.Entity == kindLocation {
			return again(ErrContended, err) // It is no longer what was read.
		}
	}
	switch {
	case errors.Is(err, singletable.ErrTaken):
		_, err := d.taken(ctx, after)
		return err
	case errors.Is(err, singletable.ErrChanged): // The lookup item is not the location's.
		return again(ErrUnsettled.With("code", before.Code).With("location", before.ID), err)
	}
	return failed("change location", before.ID, err)
}

// Delete puts a location out of use. It is the seed's one update of status and updatedAt, and the
// code stays reserved. Deleting a deleted location changes nothing.
func (d *Directory) Delete(ctx context.Context, id ID, tag string) (out Location, err error) {
	if id, err = known(id); err != nil {
		return Location{}, err
	}
	if err := d.settleShards(ctx); err != nil {
		return Location{}, err
	}
	f := &modelOf(d).fields
	err = d.insist(ctx, func(ctx context.Context) error {
		steps := []singletable.Step[locationItem]{f.status.NotEquals(Inactive)}
		if tag != "" {
			l, err := d.current(ctx, id, tag)
			if err != nil {
				return err
			}
			steps = append(steps, modelOf(d).stillSo(&l)...)
		}
		steps = append(steps, f.status.Set(Inactive), f.updatedAt.Set(stamp(d.opts.Now())),
			f.version.Add(1))
		defer d.cache.changing()()
		item, err := modelOf(d).locations.Update(ctx, d.store, locationItem{ID: id}, steps...)
		switch {
		case err == nil:
			out = locationOf(item)
			return nil
		case errors.Is(err, singletable.ErrMissing):
			return ErrNotFound.With("location", id)
		case !errors.Is(err, singletable.ErrConditionFailed) &&
			!errors.Is(err, singletable.ErrUnknown):
			return failed("delete location", id, err)
		}
		// Whether it was deleted before or the answer was lost, the location shows it.
		if out, err = d.Location(ctx, id); err == nil && out.Status != Inactive {
			err = errAgain // It was changed, or deleted and restored, in the meantime.
		}
		return err
	})
	if err != nil {
		return Location{}, err
	}
	return out, nil
}

// Restore puts a deleted location into use again. One whose code was released gets it back if it
// is free, or else the code given, which any deleted location may take instead of its own. One that
// is in use is left as it is: that is a success, unless it has another code than the one given.
func (d *Directory) Restore(ctx context.Context, id ID, tag, code string) (Location, error) {
	return d.rewrite(ctx, id, tag, func(l Location) (Location, error) {
		if l.Status != Inactive {
			return l, checkRestored(l, code)
		}
		if code == "" && l.Code == "" {
			code = l.FormerCode
		}
		if code != "" {
			shown, _, err := Code(code)
			if err != nil {
				return l, err
			}
			l.Code = shown
		}
		if l.Code == "" {
			return l, ErrNoCode.With("location", id)
		}
		l.Status, l.FormerCode = Active, ""
		return l, nil
	})
}

// checkRestored reports whether a location that is in use is as a restoration would leave it.
func checkRestored(l Location, code string) error {
	if code == "" {
		return nil
	}
	_, key, err := Code(code)
	if err == nil && key != keyOf(l.Code) {
		err = ErrActive.With("location", l.ID)
	}
	return err
}

// Release gives up the code that a deleted location reserves, so that others can take it. The
// location remembers it as FormerCode.
func (d *Directory) Release(ctx context.Context, id ID, tag string) (Location, error) {
	return d.rewrite(ctx, id, tag, func(l Location) (Location, error) {
		switch {
		case l.Status != Inactive:
			return l, ErrActive.With("location", id)
		case l.Code == "" && l.FormerCode == "":
			return l, ErrNoCode.With("location", id)
		case l.Code == "":
			return l, nil // It was released before.
		}
		l.Code, l.FormerCode = "", l.Code
		return l, nil
	})
}

// Swap exchanges the codes of two locations in one write, so that at no time either is free. With
// the tag of the first one, as the caller knows it, it is ErrChanged if that is another now.
func (d *Directory) Swap(
	ctx context.Context, a, b ID, tags ...string,
) (first, second Location, err error) {
	for _, id := range []*ID{&a, &b} {
		if *id, err = known(*id); err != nil {
			return first, second, err
		}
	}
	if a == b {
		return first, second, ErrInvalid.Field("with", "must be another location")
	}
	err = d.insist(ctx, func(ctx context.Context) error {
		var before [2]Location
		for i, id := range []ID{a, b} {
			l, err := d.Location(ctx, id)
			switch {
			case err != nil:
				return err
			case l.Status == Inactive:
				return ErrInactive.With("location", id)
			case l.Code == "":
				return ErrNoCode.With("location", id)
			case i == 0 && len(tags) > 0 && tags[0] != "" && tags[0] != l.Tag():
				return ErrChanged.With("what", "Location "+id).With("location", id)
			}
			before[i] = l
		}
		first, second = before[0], before[1]
		first.Code, second.Code = second.Code, first.Code
		defer d.cache.changing()()
		tx := d.store.NewTx()
		for i, after := range []*Location{&first, &second} {
			modelOf(d).touch(after, d.opts.Now())
			modelOf(d).locations.UpdateTx(tx, locationItem{ID: after.ID},
				modelOf(d).steps(&before[i], after)...)
		}
		if err := tx.Commit(ctx); err != nil {
			return again(failed("swap the codes of locations", a+" and "+b, err), err)
		}
		return nil
	})
	if err != nil {
		return Location{}, Location{}, err
	}
	return first, second, nil
}
