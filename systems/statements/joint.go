package statements

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// accountsAbreast is how many questions about different accounts or months are asked of the store
// at the same time: more make a long list of accounts no sooner complete.
const accountsAbreast = 8

// point is the position of a reader of several accounts: behind the row with this date, id and
// account. Without an id it is before all rows of the date, and of the date's month where the
// latest come first.
type point struct {
	date        Date
	id, account string
}

func pointOf(t *Transaction) point { return point{t.Date, t.ID, t.AccountID} }

// keyOrder is how an id is written in keys, and therefore what rows of a day are sorted by.
var keyOrder = strings.NewReplacer("%", "%25", "#", "%23")

func (a point) compare(b point) int {
	if c := cmp.Compare(a.date, b.date); c != 0 {
		return c
	}
	if a.id != b.id {
		return cmp.Compare(keyOrder.Replace(a.id), keyOrder.Replace(b.id))
	}
	return cmp.Compare(a.account, b.account)
}

// step is one step of a reader: a row, or none where a month is done; at is where the reader is
// then.
type step struct {
	row *Transaction
	at  point
}

// joint reads the transactions of several accounts as one list, by date, id and account. Each
// account and month is a partition; of a few partitions the first rows are read in parallel.
type joint struct {
	p        *Person
	accounts []string
	from, to Date
	latest   bool
	// chunk is how many rows are asked for at once.
	chunk int
	// skip, if set, reports that an account has nothing in a month that anybody wants to see.
	skip func(account, month string) bool
	// reads counts questions to the store.
	reads int
	// bad are the rows that were met and cannot be read.
	mu  sync.Mutex
	bad singletable.UnreadableList
}

// unreadable returns the first rows that cannot be read of those that were met so far.
func (j *joint) unreadable() []*singletable.UnreadableError {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.bad.Items)
}

// stream is what was read of one partition and not consumed yet.
type stream struct {
	in   OfDays
	rows []Transaction
	next string
}

// steps yields what follows a point, the zero point being the beginning. A failure is yielded
// once, at the end.
func (j *joint) steps(ctx context.Context, after point) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		months := monthsOf(j.from, j.to)
		if j.latest {
			slices.Reverse(months)
		}
		if after.date != "" {
			months = j.ahead(months, book.MonthOf(after.date))
		}
		for width := 1; len(months) > 0; width = min(2*width, accountsAbreast) {
			window := months[:min(len(months), max(1, width/max(1, len(j.accounts))))]
			months = months[len(window):]
			loaded, err := j.load(ctx, window, after)
			if err != nil {
				yield(step{}, err)
				return
			}
			for i, month := range window {
				if !j.merge(ctx, loaded[i], after, yield) {
					return
				}
				if !yield(step{at: j.behind(month)}, nil) {
					return
				}
			}
		}
	}
}

// ahead drops months that a point has left behind.
func (j *joint) ahead(months []string, at string) []string {
	for len(months) > 0 && (!j.latest && months[0] < at || j.latest && months[0] > at) {
		months = months[1:]
	}
	return months
}

// behind is the point at the end of a month.
func (j *joint) behind(month string) point {
	if j.latest {
		return point{date: firstDay(month)}
	}
	return point{date: firstDay(nextMonth(month))}
}

// load reads the first rows of all partitions of some months.
func (j *joint) load(ctx context.Context, months []string, after point) ([][]*stream, error) {
	out := make([][]*stream, len(months))
	var all []*stream
	for i, month := range months {
		for _, account := range j.accounts {
			if j.skip != nil && j.skip(account, month) {
				continue
			}
			s := &stream{in: OfDays{j.p.id, account, max(j.from, firstDay(month)),
				min(j.to, lastDay(month))}}
			if after.date != "" && !j.latest {
				s.in.From = max(s.in.From, after.date)
			}
			if after.date != "" && j.latest {
				s.in.To = min(s.in.To, after.date)
			}
			if s.in.From <= s.in.To {
				out[i] = append(out[i], s)
				all = append(all, s)
			}
		}
	}
	j.reads += len(all)
	return out, sideBySide(ctx, len(all), func(ctx context.Context, i int) error {
		return j.fill(ctx, all[i], "")
	})
}

// fill reads the next rows of a partition.
func (j *joint) fill(ctx context.Context, s *stream, cursor string) error {
	pattern := modelOf(j.p).days
	if j.latest {
		pattern = modelOf(j.p).latest
	}
	page, err := pattern.Page(ctx, j.p.store(), s.in, j.chunk, cursor)
	if err != nil {
		return failed("read transactions", err)
	}
	s.rows, s.next = page.Items, page.Next
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, bad := range page.Unreadable {
		j.bad.Add(bad)
	}
	return nil
}

// merge yields the rows of one month in order. It returns false when there is no more to do.
func (j *joint) merge(
	ctx context.Context, streams []*stream, after point, yield func(step, error) bool,
) bool {
	for {
		var best *stream
		for _, s := range streams {
			for len(s.rows) == 0 && s.next != "" {
				j.reads++
				if err := j.fill(ctx, s, s.next); err != nil {
					yield(step{}, err)
					return false
				}
			}
			if len(s.rows) > 0 && (best == nil || j.precedes(&s.rows[0], &best.rows[0])) {
				best = s
			}
		}
		if best == nil {
			return true
		}
		row := &best.rows[0]
		best.rows = best.rows[1:]
		at := pointOf(row)
		if after.date != "" && (!j.latest && at.compare(after) <= 0 ||
			j.latest && at.compare(after) >= 0) {
			continue
		}
		if !yield(step{row, at}, nil) {
			return false
		}
	}
}

func (j *joint) precedes(a, b *Transaction) bool {
	c := pointOf(a).compare(pointOf(b))
	return j.latest && c > 0 || !j.latest && c < 0
}

// sideBySide does n things, a few at the same time, and returns the first error there was.
func sideBySide(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	if n == 1 {
		return do(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	slots := make(chan struct{}, accountsAbreast)
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// monthsOf lists the months that two days and what is between them touch, "2026-01".
func monthsOf(from, to Date) []string {
	if from == "" || to == "" || from > to {
		return nil
	}
	// They are counted, as no text of a month comes after that of the last one of the year 9999.
	months := make([]string, monthsBetween(from, to))
	for i := range months {
		months[i] = monthFrom(book.MonthOf(from), i)
	}
	return months
}

// monthLayout is how months are written.
const monthLayout = "2006-01"

// nextMonth and monthBefore count months, 12 to a year.
func nextMonth(month string) string   { return monthFrom(month, 1) }
func monthBefore(month string) string { return monthFrom(month, -1) }

func monthFrom(month string, n int) string {
	t, _ := time.Parse(monthLayout, month)
	return t.AddDate(0, n, 0).Format(monthLayout)
}

func firstDay(month string) Date { return Date(month + "-01") }

func lastDay(month string) Date {
	t, _ := time.Parse(monthLayout, month)
	return Date(t.AddDate(0, 1, -1).Format(time.DateOnly))
}
