package locations

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/singletable"
)

// shardsItem is the number of shards in the keys of a table.
type shardsItem struct {
	Shards int `dynamodbav:"shards"`
}

// What is known of the number of shards.
const (
	shardsUnknown = iota // The table is empty: the number is that of the options.
	shardsFound          // It is that of the locations in the table.
	shardsStored         // It is stored in the table, and never changes.
)

// Shards returns the number of shards in the keys of the table; 0 is the seed's own key.
func (d *Directory) Shards(ctx context.Context) (int, error) {
	if err := d.settleShards(ctx); err != nil {
		return 0, err
	}
	return modelOf(d).shards, nil
}

// CheckLayout compares the number of shards of the options, if one was given, with the one that is
// stored: an error of type [singletable.LayoutError] reports that it is another. It writes nothing.
// The stored number holds in either case.
func (d *Directory) CheckLayout(ctx context.Context) error {
	stored, err := d.Shards(ctx)
	if given := d.opts.Shards; err == nil && given != 0 && given != stored {
		return &singletable.LayoutError{Setting: "location-shards",
			Stored: strconv.Itoa(stored), Given: strconv.Itoa(given)}
	}
	return err
}

// settleShards makes sure that the design has the number of shards of the table. As long as the
// table is empty, each call looks again, because another process may write the first location.
func (d *Directory) settleShards(ctx context.Context) error {
	if d.known.Load() != shardsUnknown {
		return nil
	}
	ctx, _ = singletable.WithMeter(ctx)
	stored, err := d.readShards(ctx)
	if err != nil || stored {
		return err
	}
	count, found, err := d.findShards(ctx)
	if err != nil {
		return failed("look for", "shards of locations", err)
	}
	if found {
		d.use(count, shardsFound)
	}
	return nil
}

// storeShards makes sure that the number of shards is stored before the first location is created.
func (d *Directory) storeShards(ctx context.Context) error {
	for d.known.Load() != shardsStored {
		if err := d.settleShards(ctx); err != nil {
			return err
		}
		m := modelOf(d)
		err := m.control.Create(ctx, d.store, shardsItem{Shards: m.shards})
		switch {
		case err == nil:
			d.use(m.shards, shardsStored)
		case !errors.Is(err, singletable.ErrExists):
			return failed("write", "shards of locations", err)
		default: // Another process was first.
			if _, err := d.readShards(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// readShards takes over the number that is stored, and reports whether there is one.
func (d *Directory) readShards(ctx context.Context) (bool, error) {
	item, exists, err := modelOf(d).control.Get(ctx, d.store, shardsItem{},
		singletable.Consistent())
	if err != nil {
		return false, failed("read", "shards of locations", err)
	}
	if exists {
		d.use(item.Shards, shardsStored)
	}
	return exists, nil
}

// use takes over a number of shards, unless a surer one is known.
func (d *Directory) use(count int, known int32) {
	d.settling.Lock()
	defer d.settling.Unlock()
	if known <= d.known.Load() {
		return
	}
	if modelOf(d).shards != count {
		d.model.Store(newModel(d.opts, count))
	}
	d.known.Store(known)
}

// findShards returns the number of shards of a table that does not store it, because other programs
// or an earlier release wrote its locations, and whether it has any. A first location without a
// shard in its key decides; otherwise the number is the one that fits most locations.
func (d *Directory) findShards(ctx context.Context) (count int, found bool, err error) {
	var fits [shardsMax + 1]int
	q := singletable.AuditQuery{Table: modelOf(d).table}
	for {
		page, err := d.store.Audit(ctx, q)
		if err != nil {
			return 0, false, err
		}
		for i := range page.Items {
			id, shard, ok := placeOf(&page.Items[i])
			switch {
			case !ok:
				continue
			case shard == "" && !found:
				return 0, true, nil
			}
			found = true
			for n := 1; n <= shardsMax; n++ {
				if shard == strconv.Itoa(singletable.ShardOf(string(id), n)) {
					fits[n]++
				}
			}
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	best := 0
	for n := 1; n <= shardsMax; n++ {
		// Of equal ones, that of the options is right, or else the smallest.
		if fits[n] > fits[best] || fits[n] == fits[best] && n == d.opts.Shards {
			best = n
		}
	}
	return best, found, nil
}

// placeOf returns the id and the shard in the key of a location, under any number of shards.
func placeOf(a *singletable.AuditItem) (id ID, shard string, ok bool) {
	rest, isLocation := strings.CutPrefix(a.Partition(), locationPrefix)
	if !isLocation || a.Sort() != sortKey || a.Text(kindAttribute) != kindLocation {
		return "", "", false
	}
	if before, after, sharded := strings.Cut(rest, "#"); sharded {
		shard, rest = before, after
	}
	id, err := ParseID(rest)
	return id, shard, err == nil && string(id) == rest
}

// shardIn returns the shard that the key of a location has under a number of shards.
func shardIn(id ID, count int) string {
	if count == 0 {
		return ""
	}
	return strconv.Itoa(singletable.ShardOf(string(id), count))
}

// takeMisplaced notes a location whose key is that of another number of shards, so that no read by
// its id finds it. It reports whether the item is one. Mending moves it.
func (r *repairer) takeMisplaced(
	ctx context.Context, a *singletable.AuditItem,
) (bool, error) {
	id, shard, ok := placeOf(a)
	if !ok || shard == shardIn(id, r.m.shards) {
		return false, nil
	}
	other := -1
	for n := 0; n <= shardsMax && other < 0; n++ {
		if shardIn(id, n) == shard {
			other = n
		}
	}
	if other < 0 {
		return false, nil // It is the key of no number of shards.
	}
	m := newModel(r.d.opts, other)
	item, found, err := m.loose.Get(ctx, r.d.store, locationItem{ID: id},
		singletable.Consistent())
	if err != nil || !found {
		return err == nil, err // It was moved in the meantime.
	}
	r.locations[id] = item
	f := Fault{Code: item.Code, Location: id, Why: "the key is that of another number of shards"}
	if r.mend {
		if err := r.move(ctx, m, item); err != nil {
			if !errors.Is(err, singletable.ErrConditionFailed) {
				return true, failed("move location", id, err)
			}
			f.Why += ", and there is a location under the right key"
		} else {
			f.Mended = true
		}
	}
	r.noteItem(a, KeyMisplaced, f)
	return true, nil
}

// move writes a location under the key that the table's number of shards gives it, and removes it
// where it was.
func (r *repairer) move(ctx context.Context, from *model, item locationItem) error {
	tx := r.d.store.NewTx()
	from.loose.DeleteTx(tx, item, from.looseVersion.Equals(item.Version),
		from.looseUpdatedAt.Equals(item.UpdatedAt))
	item.Area, item.Cell = r.m.cell(pointOf(item))
	r.m.loose.CreateTx(tx, item)
	return tx.Commit(ctx)
}
