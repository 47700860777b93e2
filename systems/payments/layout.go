package payments

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/singletable"
)

// CheckLayout compares the number of shards of the options, if one was given, with those that are
// stored: an error of type [singletable.LayoutError] reports that it is none of them. It writes
// nothing. The stored numbers hold in either case.
func (s *Scheduler) CheckLayout(ctx context.Context) error {
	given := s.opts.Shards
	if given == 0 {
		return nil
	}
	item, exists, err := s.epochs(ctx)
	if err != nil {
		return err
	}
	var counts []string
	for _, e := range item.Epochs {
		// Payments of other programs in a few of the given shards may well be all that there are.
		if e.Count == given || !exists && e.Count < given {
			return nil
		}
		counts = append(counts, strconv.Itoa(e.Count))
	}
	return &singletable.LayoutError{
		Setting: "payment-shards", Stored: strings.Join(counts, ", then "),
		Given: strconv.Itoa(given), Change: "exchequer payments grow",
	}
}

// findShards returns over how many shards the payments are spread in a table that does not store
// it, because other programs wrote them: one more than the last shard that holds any. It looks
// once, because a writer stores the number first.
func (s *Scheduler) findShards(ctx context.Context) (int, error) {
	if known := s.found.Load(); known != nil {
		return *known, nil
	}
	most := 0
	for _, table := range []*singletable.Table{modelOf(s).scheduler, modelOf(s).history} {
		any, err := s.holdsAny(ctx, singletable.AuditQuery{Table: table, Limit: 1})
		if err != nil {
			return 0, err
		}
		for shard := ShardsMax - 1; any && shard >= most; shard-- {
			holds, err := s.holdsAny(ctx, singletable.AuditQuery{Table: table,
				Index: indexByStatus, Partition: strconv.Itoa(shard), Limit: 1})
			if err != nil {
				return 0, err
			}
			if holds {
				most = shard + 1
			}
		}
	}
	s.found.Store(&most)
	return most, nil
}

// holdsAny reports whether a part of a table holds an item.
func (s *Scheduler) holdsAny(ctx context.Context, q singletable.AuditQuery) (bool, error) {
	for {
		page, err := s.store.Audit(ctx, q)
		if err != nil || len(page.Items) > 0 {
			return err == nil, err
		}
		if q.After = page.Next; q.After == "" {
			return false, nil
		}
	}
}

// Fit returns the options with the projection that the index by status has in a table that exists,
// because the store fixes it when it creates the index. If another one was given, the error is a
// [singletable.LayoutError], and the options that are returned hold in spite of it.
func (o Options) Fit(ctx context.Context, admin singletable.Admin) (Options, error) {
	whole, err := o.withDefaults()
	if err != nil {
		return o, err
	}
	indexes, _, err := singletable.StoredIndexes(ctx, admin, whole.TableName)
	if err != nil {
		return o, err
	}
	at := slices.IndexFunc(indexes,
		func(x singletable.StoredIndex) bool { return x.Name == indexByStatus })
	if at < 0 {
		return o, nil // There is no table, or a comparison with the design names the index.
	}
	given, stored := o.Projection, Projection(indexes[at].Projection)
	o.Projection = stored
	if given != "" && given != stored {
		return o, &singletable.LayoutError{Setting: "payment-projection",
			Stored: string(stored), Given: string(given)}
	}
	return o, nil
}
