package locations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// NewLocation asks for a location.
type NewLocation struct {
	// ID is the id to use, a ULID; empty means a new one. With an id the request is safe to repeat.
	ID ID
	// Code is what people will call the location; see the function Code for what it may be.
	Code string
	Details
	// Reuse takes the code over where a deleted location reserves it, which loses it for good.
	Reuse bool
}

// Time that writes take at most when the context has no deadline, and the waits between attempts.
const (
	insistTime = 30 * time.Second
	waitFirst  = 2 * time.Millisecond
	waitLast   = 100 * time.Millisecond
)

// Create makes a location and the lookup item of its code in one write: both or neither. A repeat
// with the same id and contents returns the first one, and made is false; with other contents it
// is refused with ErrExists. A code that is not free is refused with the reason:
// ErrCodeTaken, ErrCodeReserved or, where the location that has it is just what was asked for,
// ErrCodeYours.
func (d *Directory) Create(
	ctx context.Context, n NewLocation,
) (l Location, made bool, err error) {
	now := instant(d.opts.Now())
	if l, err = n.location(now); err != nil {
		return Location{}, false, err
	}
	if l.ID == "" {
		if l.ID, err = ParseID(d.opts.NewID()); err != nil {
			return Location{}, false, fmt.Errorf("create location: a new id %w", err)
		}
	}
	modelOf(d).touch(&l, now)
	err = d.insist(ctx, func(ctx context.Context) error {
		found, err := d.create(ctx, n, &l)
		if found != nil {
			l, made = *found, false
			return err
		}
		made = err == nil
		return err
	})
	if err != nil {
		return Location{}, false, err
	}
	return l, made, nil
}

// location returns what is asked for, or what is wrong with it.
func (n NewLocation) location(now time.Time) (Location, error) {
	var wrong problem.Fields
	if n.Place.CheckedAt.IsZero() {
		n.Place.CheckedAt = now
	}
	l := Location{Status: Active, Details: n.Details.clean(), CreatedAt: now,
		created: stamp(now)}
	if n.ID != "" {
		id, err := ParseID(string(n.ID))
		if err != nil {
			wrong.Add("id", err.Error())
		}
		l.ID = id
	}
	l.Details.check(&wrong)
	shown, _, err := Code(n.Code)
	l.Code = shown
	return l, Problems.First(wrong.Err(ErrInvalid), err)
}

// create tries once. It returns the location that is there already, if it is what was asked for.
func (d *Directory) create(
	ctx context.Context, n NewLocation, l *Location,
) (*Location, error) {
	if err := d.storeShards(ctx); err != nil {
		return nil, err
	}
	defer d.cache.changing()()
	tx := d.store.NewTx()
	modelOf(d).locations.CreateTx(tx, modelOf(d).itemOf(l))
	err := tx.Commit(ctx)
	switch {
	case err == nil:
		return nil, nil
	case errors.Is(err, singletable.ErrExists):
		return d.repeated(ctx, l)
	case !errors.Is(err, singletable.ErrTaken):
		return nil, failed("create location", l.ID, err)
	}
	owner, err := d.taken(ctx, l)
	switch {
	case errors.Is(err, ErrCodeReserved) && n.Reuse:
		return nil, d.createOver(ctx, l, owner)
	case errors.Is(err, ErrCodeTaken) && l.unlike(*owner) == "":
		return nil, ErrCodeYours.With("code", l.Code).With("location", owner.ID)
	}
	return nil, err
}

// repeated compares a location that exists with the one asked for.
func (d *Directory) repeated(ctx context.Context, l *Location) (*Location, error) {
	found, err := d.Location(ctx, l.ID)
	if err != nil {
		return nil, err
	}
	field := l.unlike(found)
	if field == "" {
		return &found, nil
	}
	return nil, ErrExists.With("location", l.ID).With("field", field).
		Field(field, "is not the location's")
}

// unlike names the first field in which a location is not the one asked for. When a place id was
// looked up is not asked for where it was left to the clock.
func (l *Location) unlike(found Location) string {
	want := l.Details
	if want.Place.CheckedAt.Equal(l.CreatedAt) {
		want.Place.CheckedAt = found.Place.CheckedAt
	}
	if l.Code != found.Code {
		return "code"
	}
	return want.difference(found.Details)
}

// createOver creates a location and takes its code from a deleted one in the same write.
func (d *Directory) createOver(ctx context.Context, l, owner *Location) error {
	tx := d.store.NewTx()
	d.release(tx, owner)
	modelOf(d).locations.CreateTx(tx, modelOf(d).itemOf(l))
	if err := tx.Commit(ctx); err != nil {
		return again(failed("create location", l.ID, err), err)
	}
	return nil
}

// release adds to a transaction that a deleted location gives up its code.
func (d *Directory) release(tx *singletable.Tx, owner *Location) {
	after := *owner
	after.Code, after.FormerCode = "", owner.Code
	m := modelOf(d)
	m.touch(&after, d.opts.Now())
	m.locations.UpdateTx(tx, locationItem{ID: owner.ID}, m.steps(owner, &after)...)
}

// taken returns why a location cannot have its code, and which location has it. It returns errAgain
// when the code has become free in the meantime.
func (d *Directory) taken(ctx context.Context, l *Location) (*Location, error) {
	lookup, found, err := modelOf(d).codes.Owner(ctx, d.store, locationItem{Code: l.Code})
	if err != nil {
		return nil, failed("find code", l.Code, err)
	}
	if !found || lookup.ID == l.ID {
		return nil, errAgain
	}
	item, found, err := modelOf(d).locations.Get(ctx, d.store, locationItem{ID: lookup.ID},
		singletable.Consistent())
	if err != nil {
		return nil, failed("find location", lookup.ID, err)
	}
	owner := locationOf(item)
	say := func(p *problem.Definition) error {
		return p.With("code", l.Code).With("location", lookup.ID).With("name", owner.Name).
			Field("code", "is not free")
	}
	switch {
	case !found || keyOf(owner.Code) != keyOf(l.Code):
		return nil, again(say(ErrUnsettled), nil)
	case owner.Status == Inactive:
		return &owner, say(ErrCodeReserved)
	}
	return &owner, say(ErrCodeTaken)
}

// againError is an attempt that failed because another writer was faster, and what to report when
// there is no time for another.
type againError struct {
	err error
}

func (e *againError) Error() string { return e.err.Error() }
func (e *againError) Unwrap() error { return e.err }

// errAgain is an attempt that lost a race and may win the next.
var errAgain = &againError{ErrContended}

// again marks err as one after which another attempt may succeed, if the store's error was a
// condition that did not hold, or if there was none.
func again(err, store error) error {
	if store == nil || errors.Is(store, singletable.ErrConditionFailed) {
		return &againError{err}
	}
	return err
}

// attemptsMax ends races without a winner: a difference that remains after them is no race.
const attemptsMax = 12

// insist repeats attempts to write until one ends with another error than again.
func (d *Directory) insist(ctx context.Context, attempt func(context.Context) error) error {
	return contended(d.retry(ctx, attempt))
}

// contended returns ErrContended if other writers of the items were faster until the end.
func contended(err error) error {
	if errors.Is(err, singletable.ErrContended) && !errors.Is(err, ErrContended) {
		return ErrContended.With("items", singletable.ItemsOf(err)).Wrap(err)
	}
	return err
}

// retry makes attempts until one ends otherwise than with again.
func (d *Directory) retry(ctx context.Context, attempt func(context.Context) error) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, insistTime)
		defer cancel()
	}
	wait := waitFirst
	for n := 1; ; n++ {
		err := attempt(ctx)
		var lost *againError
		if !errors.As(err, &lost) {
			return err
		}
		if n == attemptsMax || !d.pause(ctx, wait) {
			if _, ok := errors.AsType[*problem.Error](lost.err); ok {
				return lost.err
			}
			return ErrContended.With("items", singletable.ItemsOf(lost.err)).Wrap(lost.err)
		}
		wait = min(2*wait, waitLast)
	}
}

// pause waits a random part of a time; false when the context ended.
func (d *Directory) pause(ctx context.Context, most time.Duration) bool {
	timer := time.NewTimer(time.Duration(d.store.Draw(int64(most))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// failed adds what was being done when the store failed.
func failed[T ~string](deed string, what T, err error) error {
	return fmt.Errorf("%s %s: %w", deed, what, err)
}
