package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/singletable"
)

// This file compares the indexes with the table: first by sums, and if those differ, one by one.

// indexPage takes a page of an index from what the table holds.
func (r *reconciler) indexPage(
	_ context.Context, t *tally, page []singletable.AuditItem,
) error {
	sums := t.indexSums(r.state.Step)
	for i := range page {
		if r.pinned(&page[i]) {
			sums.take(page[i].Digest(digested()...))
		}
	}
	return nil
}

func (t *tally) indexSums(index string) *digests {
	if index == indexGSI2 {
		return &t.ByIndex2
	}
	return &t.ByIndex1
}

// doubtful reports whether an item is in a set of which an index has other items than the table.
func (r *reconciler) doubtful(a *singletable.AuditItem, index string) bool {
	if !r.pinned(a) {
		return false
	}
	bucket, s := a.Digest(digested()...)%digestBuckets, &r.state
	if index == indexGSI1 && a.Entity() == legEntity && s.ByChain[bucket] != 0 {
		return true
	}
	return s.indexSums(index)[bucket] != 0
}

// locateInIndexes looks for each doubtful item of the table in the indexes.
func (r *reconciler) locateInIndexes(
	ctx context.Context, t *tally, page []singletable.AuditItem,
) error {
	for i := range page {
		a := &page[i]
		for _, index := range [...]string{indexGSI1, indexGSI2} {
			if !a.Has(index+"PK") || !a.Has(index+"SK") || !r.doubtful(a, index) {
				continue
			}
			found, again, err := r.settle(ctx, a, func(a *singletable.AuditItem) (bool, error) {
				return r.store.AuditIndexed(ctx, a, index)
			})
			if err != nil {
				return err
			}
			if found || again == nil {
				continue
			}
			d := named(a)
			d.Kind, d.Want, d.Got = IndexMissing, "an entry in "+index, "none"
			if at, ok := a.Instant(createdAt); ok && r.young(at) {
				d.Kind = IndexBehind
				t.unsure = append(t.unsure, d)
				continue
			}
			t.finds = append(t.finds, d)
		}
	}
	return nil
}

// settle asks a question about an item of the table until the answer is yes, some times, and each
// time about the item as it is then: it may change, and an index may lag. It returns the item as it
// was last, nil if it is gone.
func (r *reconciler) settle(
	ctx context.Context, a *singletable.AuditItem,
	ask func(*singletable.AuditItem) (bool, error),
) (bool, *singletable.AuditItem, error) {
	for attempt := 1; ; attempt++ {
		yes, err := ask(a)
		if err != nil || yes || attempt == lagAttempts {
			return yes, a, err
		}
		if err := r.pause(ctx, lagWait, nil); err != nil {
			return false, nil, err
		}
		again, exists, err := r.store.AuditAgain(ctx, a)
		if err != nil || !exists {
			return false, nil, err
		}
		a = &again
	}
}

// locateInTable looks for each doubtful entry of an index in the table.
func (r *reconciler) locateInTable(
	ctx context.Context, t *tally, page []singletable.AuditItem,
) error {
	index := indexGSI1
	if r.state.Step == stepLocate2 {
		index = indexGSI2
	}
	for i := range page {
		entry := &page[i]
		if !r.doubtful(entry, index) {
			continue
		}
		for attempt := 1; ; attempt++ {
			item, exists, err := r.store.AuditAgain(ctx, entry)
			if err != nil {
				return err
			}
			if exists && sameEntry(entry, &item, index) {
				break
			}
			if there, err := r.store.AuditIndexed(ctx, entry, index); err != nil {
				return err
			} else if !there {
				break // The index has followed.
			}
			if attempt < lagAttempts {
				if err := r.pause(ctx, lagWait, nil); err != nil {
					return err
				}
				continue
			}
			d := named(entry)
			d.Kind, d.Want, d.Got = IndexStale, "the item of the table", "another one in "+index
			if !exists {
				d.Want = "no entry, because the table has no such item"
				d.Got = "an entry in " + index
			}
			t.finds = append(t.finds, d)
			break
		}
	}
	return nil
}

// sameEntry reports whether an entry of an index is that of an item.
func sameEntry(entry, item *singletable.AuditItem, index string) bool {
	return entry.Digest(digested()...) == item.Digest(digested()...) &&
		entry.Text(index+"PK") == item.Text(index+"PK") &&
		entry.Text(index+"SK") == item.Text(index+"SK")
}

// recountPage sums up the balances again.
func (r *reconciler) recountPage(
	ctx context.Context, t *tally, page []singletable.AuditItem,
) error {
	for i := range page {
		if page[i].Entity() != accountEntity {
			continue
		}
		var again tally
		err := r.follow(ctx, &again, &page[i], func(dated) {})
		if err != nil {
			return err
		}
		for currency, sums := range again.Sums {
			t.sums(currency).Balances.merge(&sums.Balances)
		}
	}
	return nil
}
