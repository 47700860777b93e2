package singletable_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	st "github.com/exchequer-dev/exchequer/singletable"
)

// Event is a row that is found by time, in indexes of several shapes.
type Event struct {
	ID    string
	Group string
	Day   string
	At    time.Time
	N     int
	Keep  bool
}

// Inputs of the event patterns.
type (
	InGroup struct {
		Group    string
		From, To time.Time
	}
	InDays struct{ Group, From, To string }
	InNs   struct {
		Group    string
		From, To *int
	}
	InNames struct{ Group, From, To string }
	InPre   struct{ Group, Prefix string }
)

type eventModel struct {
	table    *st.Table
	events   *st.Entity[Event]
	plain    *st.Pattern[InGroup, Event]   // one partition
	newest   *st.Pattern[InGroup, Event]   // one partition, descending
	shards   *st.Pattern[InGroup, Event]   // five shards
	down     *st.Pattern[InGroup, Event]   // five shards, descending
	epochs   *st.Pattern[InGroup, Event]   // one shard, later three, later six
	months   *st.Pattern[InGroup, Event]   // a partition a month, two shards each
	back     *st.Pattern[InGroup, Event]   // the same, descending
	parallel []*st.Pattern[InGroup, Event] // months read in parallel, up and down
	reverse  *st.Pattern[InGroup, Event]   // reversed times
	days     *st.Pattern[InDays, Event]    // days, both ends included
	numbers  *st.Pattern[InNs, Event]      // fixed-width integers
	names    *st.Pattern[InNames, Event]   // text
	prefix   *st.Pattern[InPre, Event]
	kept     *st.Pattern[InGroup, Event] // filtered
}

var firstDay = time.Date(2025, 11, 28, 0, 0, 0, 0, time.UTC)

func newEventModel() *eventModel {
	m := &eventModel{table: st.NewTable("events", st.Keys("PK", "SK"),
		st.GSI("Plain", "P1", "S1"), st.GSI("Shards", "P2", "S2"), st.GSI("Epochs", "P3", "S3"),
		st.GSI("Months", "P4", "S4"), st.GSI("Reverse", "P5", "S5"), st.GSI("Days", "P6", "S6"),
		st.GSI("Numbers", "P7", "S7"), st.GSI("Names", "P8", "S8"))}
	m.events = st.NewEntity[Event](m.table, "Event", st.Primary("E#<ID>", "E"),
		st.Shards("growing", "At", st.Epoch{Count: 1},
			st.Epoch{Count: 3, From: firstDay.AddDate(0, 0, 2)},
			st.Epoch{Count: 6, From: firstDay.AddDate(0, 0, 4)}),
		st.On("Plain", "G#<Group>", "AT#<At>"),
		st.On("Shards", "G#<Group>#<ID:shard(5)>", "AT#<At>"),
		st.On("Epochs", "G#<Group><ID:shardSuffix(growing)>", "AT#<At>#<ID>"),
		st.On("Months", "G#<Group>#<At:month>#<ID:shard(2)>", "AT#<At:hour>#<ID>"),
		st.On("Reverse", "G#<Group>", "<At:reverse>#<ID>"),
		st.On("Days", "G#<Group>#<Day:month>", "D#<Day:day>#<ID>"),
		st.On("Numbers", "G#<Group>", "N#<N:int(6)>#<ID>"),
		st.On("Names", "G#<Group>", "I#<ID>"))
	q := func(index string, opts ...st.PatternOption) *st.Pattern[InGroup, Event] {
		opts = append(opts, st.UseIndex(index), st.Between("At", "From", "To"))
		return st.NewQuery[InGroup](m.events, index+fmt.Sprint(len(opts)), opts...)
	}
	m.plain, m.newest = q("Plain"), q("Plain", st.Descending())
	m.shards, m.down = q("Shards"), q("Shards", st.Descending())
	m.epochs = q("Epochs")
	m.months, m.back = q("Months"), q("Months", st.Descending())
	m.parallel = []*st.Pattern[InGroup, Event]{
		q("Months", st.Parallel(3), st.Describe("in parallel")),
		q("Months", st.Parallel(3), st.Describe("in parallel"), st.Descending()),
	}
	m.reverse = q("Reverse")
	keep := st.FieldOf(m.events, func(e *Event) *bool { return &e.Keep })
	m.kept = q("Shards", st.Filter(keep.Equals(true)), st.CallsMax(7), st.Describe("kept"))
	m.days = st.NewQuery[InDays](m.events, "days", st.UseIndex("Days"), st.Through("Day", "From",
		"To"))
	m.numbers = st.NewQuery[InNs](m.events, "numbers", st.UseIndex("Numbers"), st.Between("N",
		"From", "To"))
	m.names = st.NewQuery[InNames](m.events, "names", st.UseIndex("Names"), st.Between("ID", "From",
		"To"))
	m.prefix = st.NewQuery[InPre](m.events, "prefix", st.UseIndex("Names"), st.BeginsWith("ID",
		"Prefix"))
	return m
}

// anyEvents draws events with many equal times, and stores them with others around them.
func (m *eventModel) anyEvents(t *rapid.T, s *st.Store, group string) []Event {
	var out []Event
	for i := range rapid.IntRange(0, 40).Draw(t, "events") {
		at := firstDay.Add(time.Duration(rapid.IntRange(0, 8*24).Draw(t, "hour")) * time.Hour)
		out = append(out, Event{ID: fmt.Sprintf("%s%c%02d", group, 'a'+rune(i%3), i), Group: group,
			At:  at,
			Day: at.Format("2006-01-02"), N: rapid.IntRange(-5, 5).Draw(t, "n"),
			Keep: rapid.IntRange(0, 4).Draw(t, "keep") == 0})
	}
	noise := Event{ID: "noise" + group, Group: group + "!", At: firstDay, Day: "2025-11-28"}
	if err := m.events.PutAll(context.Background(), s, append(out, noise)); err != nil {
		t.Fatal(err)
	}
	return out
}

func byTime(a, b Event) int { return a.At.Compare(b.At) }

// drain reads all rows of a pattern with All, as a list of pages forwards and as pages back
// again, and reports where these do not agree.
func drain[In any](
	t *rapid.T, s *st.Store, p *st.Pattern[In, Event], in In, size int,
) []Event {
	ctx := context.Background()
	var all []Event
	for e, err := range p.All(ctx, s, in) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	var paged []Event
	var last st.Page[Event]
	for cursor, n := "", 0; ; n++ {
		page, err := p.Page(ctx, s, in, size, cursor)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) > size {
			t.Fatalf("%s: a page of %d rows, not %d", p.Name(), len(page.Items), size)
		}
		paged = append(paged, page.Items...)
		last = page
		if page.Next == "" {
			break
		}
		cursor = page.Next
		if n > 500 {
			t.Fatalf("%s: pages do not end", p.Name())
		}
	}
	if diff := gocmp.Diff(all, paged); diff != "" {
		t.Fatalf("%s: All (-), pages of %d (+):\n%s", p.Name(), size, diff)
	}
	// Polling at the end finds nothing, and goes on finding nothing. Rows that a filter drops may
	// take several pages to read again.
	for polls := 0; polls < 2; {
		end, err := p.Page(ctx, s, in, size, last.Resume)
		if err != nil || len(end.Items) > 0 {
			t.Fatalf("%s: polling at the end gives %v, %v", p.Name(), end.Items, err)
		}
		if last.Resume = end.Resume; end.Next == "" {
			polls++
		}
	}
	backwards(t, s, p, in, size, all, last.Resume)
	if n, err := p.Count(ctx, s, in); err != nil || n != len(all) {
		t.Fatalf("%s: Count says %d, %v, not %d", p.Name(), n, err, len(all))
	}
	return all
}

// backwards walks from the end to the beginning.
func backwards[In any](
	t *rapid.T, s *st.Store, p *st.Pattern[In, Event], in In, size int, all []Event, end string,
) {
	ctx := context.Background()
	page, err := p.Page(ctx, s, in, size, end)
	if err != nil {
		t.Fatal(err)
	}
	var got []Event
	for n := 0; page.Prev != ""; n++ {
		before := page
		if page, err = p.Page(ctx, s, in, size, page.Prev); err != nil {
			t.Fatal(err)
		}
		got = append(slices.Clone(page.Items), got...)
		if n > 500 {
			t.Fatalf("%s: pages do not end backwards", p.Name())
		}
		if len(page.Items) == 0 {
			continue
		}
		// And forward again from there: the page that was before.
		forth, err := p.Page(ctx, s, in, size, page.Next)
		if err != nil {
			t.Fatal(err)
		}
		n := min(len(forth.Items), len(before.Items))
		if n > 0 && gocmp.Diff(before.Items[:n], forth.Items[:n]) != "" {
			t.Fatalf("%s: there and back again: %v is not %v", p.Name(), forth.Items, before.Items)
		}
	}
	if diff := gocmp.Diff(all, got); diff != "" {
		t.Fatalf("%s: forwards (-), backwards (+) in pages of %d:\n%s", p.Name(), size, diff)
	}
}

// TestPatternsFindWhatANaiveListHas compares every shape of pattern with a list in memory.
func TestPatternsFindWhatANaiveListHas(t *testing.T) {
	m := newEventModel()
	_, db := openTables(t, m.table)
	f := &faulty{DB: db}
	s := st.NewStore(f, st.Options{CursorKey: []byte("k"), Fanout: 3})
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		group := fmt.Sprintf("g%d", n)
		f.limit = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "store page")
		events := m.anyEvents(t, s, group)
		size := rapid.IntRange(1, 12).Draw(t, "size")
		hour := func(label string) time.Time {
			return firstDay.Add(time.Duration(rapid.IntRange(-4, 8*24*2).Draw(t,
				label)) * 30 * time.Minute)
		}
		in := InGroup{Group: group, From: hour("from"), To: hour("to")}
		check := func(p *st.Pattern[InGroup, Event], in InGroup, down, filtered bool) {
			got := drain(t, s, p, in, size)
			want := choose(events, func(e Event) bool {
				return (in.From.IsZero() || !e.At.Before(in.From)) &&
					(in.To.IsZero() || e.At.Before(in.To)) && (!filtered || e.Keep)
			})
			compare(t, p.Name(), got, want, byTime, down)
		}
		check(m.months, in, false, false)
		check(m.back, in, true, false)
		check(m.parallel[0], in, false, false)
		check(m.parallel[1], in, true, false)
		if rapid.Bool().Draw(t, "open start") {
			in.From = time.Time{}
		}
		if rapid.Bool().Draw(t, "open end") {
			in.To = time.Time{}
		}
		check(m.plain, in, false, false)
		check(m.newest, in, true, false)
		check(m.shards, in, false, false)
		check(m.down, in, true, false)
		check(m.epochs, in, false, false)
		check(m.reverse, in, true, false)
		check(m.kept, in, false, true)
		m.checkOthers(t, s, group, events, size)
	})
}

func (m *eventModel) checkOthers(t *rapid.T, s *st.Store, group string, events []Event, size int) {
	day := func(label string) string {
		return firstDay.AddDate(0, 0, rapid.IntRange(-1, 9).Draw(t, label)).Format("2006-01-02")
	}
	days := InDays{group, day("first day"), day("last day")}
	compare(t, "days", drain(t, s, m.days, days, size), choose(events, func(e Event) bool {
		return e.Day >= days.From && e.Day <= days.To
	}), func(a, b Event) int { return cmp.Compare(a.Day, b.Day) }, false)
	low, high := rapid.IntRange(-6, 6).Draw(t, "low"), rapid.IntRange(-6, 6).Draw(t, "high")
	ns := InNs{Group: group, From: &low, To: &high}
	compare(t, "numbers", drain(t, s, m.numbers, ns, size), choose(events, func(e Event) bool {
		return e.N >= low && e.N < high
	}), func(a, b Event) int { return cmp.Compare(a.N, b.N) }, false)
	id := func(label string) string {
		return group + rapid.SampledFrom([]string{"", "a", "b", "b04", "c", "c05", "d"}).Draw(t,
			label)
	}
	names := InNames{group, id("first id"), id("last id")}
	compare(t, "names", drain(t, s, m.names, names, size), choose(events, func(e Event) bool {
		return e.ID >= names.From && e.ID < names.To
	}), func(a, b Event) int { return cmp.Compare(a.ID, b.ID) }, false)
	pre := InPre{group, id("prefix")}
	compare(t, "prefix", drain(t, s, m.prefix, pre, size), choose(events, func(e Event) bool {
		return strings.HasPrefix(e.ID, pre.Prefix)
	}), func(a, b Event) int { return cmp.Compare(a.ID, b.ID) }, false)
}

func choose(events []Event, keep func(Event) bool) []Event {
	var out []Event
	for _, e := range events {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// compare checks that the rows are those wanted, each once, and in order.
func compare(
	t *rapid.T, name string, got, want []Event, order func(a, b Event) int, down bool,
) {
	directed := func(a, b Event) int {
		if down {
			return -order(a, b)
		}
		return order(a, b)
	}
	if !slices.IsSortedFunc(got, directed) {
		t.Fatalf("%s: the rows are not in order: %v", name, got)
	}
	byID := func(a, b Event) int { return cmp.Compare(a.ID, b.ID) }
	got, want = slices.Clone(got), slices.Clone(want)
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: want (-), got (+):\n%s", name, diff)
	}
}

func TestCursorsOfOtherPatternsOrInputsAreRefused(t *testing.T) {
	m := newEventModel()
	s, db := openTables(t, m.table)
	ctx := context.Background()
	var events []Event
	for i := range 9 {
		events = append(events, Event{ID: fmt.Sprint(i), Group: "g", At: firstDay,
			Day: "2025-11-28"})
	}
	if err := m.events.PutAll(ctx, s, events); err != nil {
		t.Fatal(err)
	}
	page, err := m.shards.Page(ctx, s, InGroup{Group: "g"}, 3, "")
	if err != nil || page.Next == "" {
		t.Fatal(err)
	}
	if strings.ContainsAny(page.Next, "+/=&?# ") {
		t.Errorf("cursor %q does not fit into a URL", page.Next)
	}
	reason := func(err error) st.CursorReason {
		var c *st.CursorError
		if !errors.As(err, &c) {
			t.Errorf("no cursor error: %v", err)
			return ""
		}
		return c.Reason
	}
	_, err = m.down.Page(ctx, s, InGroup{Group: "g"}, 3, page.Next)
	if r := reason(err); r != st.CursorOtherPattern {
		t.Error(r)
	}
	_, err = m.shards.Page(ctx, s, InGroup{Group: "h"}, 3, page.Next)
	if r := reason(err); r != st.CursorOtherInputs {
		t.Error(r)
	}
	other := st.NewStore(db, st.Options{CursorKey: []byte("another key")})
	_, err = m.shards.Page(ctx, other, InGroup{Group: "g"}, 3, page.Next)
	if r := reason(err); r != st.CursorMalformed {
		t.Error(r)
	}
	for i := range len(page.Next) {
		c := byte('A')
		if page.Next[i] == c {
			c = 'B'
		}
		bad := page.Next[:i] + string(c) + page.Next[i+1:]
		if _, err := m.shards.Page(ctx, s, InGroup{Group: "g"}, 3, bad); err == nil {
			// The last character may have bits that base64 does not use.
			if i < len(page.Next)-1 {
				t.Fatalf("a cursor changed at %d is accepted", i)
			}
		}
	}
	if _, err := m.shards.Page(ctx, s, InGroup{Group: "g"}, 3,
		"%%%"); reason(err) != st.CursorMalformed {
		t.Error(err)
	}
}

func TestRowsThatComeAndGoBetweenPagesDisturbNoOthers(t *testing.T) {
	m := newEventModel()
	s, db := openTables(t, m.table)
	ctx := context.Background()
	put := func(hours ...int) {
		for _, h := range hours {
			at := firstDay.Add(time.Duration(h) * time.Hour)
			err := m.events.Put(ctx, s, Event{ID: fmt.Sprintf("e%03d", h), Group: "g", At: at,
				Day: at.Format("2006-01-02")})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := db.CatchUp(); err != nil { // the pages behind the first are to show it
			t.Fatal(err)
		}
	}
	put(10, 20, 30, 40, 50, 60)
	in := InGroup{Group: "g"}
	page, err := m.epochs.Page(ctx, s, in, 3, "")
	if err != nil {
		t.Fatal(err)
	}
	// The row the cursor stands on is deleted, one is added before it and one behind.
	if err := m.events.Delete(ctx, s, page.Items[2]); err != nil {
		t.Fatal(err)
	}
	put(5, 35)
	var got []string
	for cursor := page.Next; cursor != ""; {
		if page, err = m.epochs.Page(ctx, s, in, 3, cursor); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Items {
			got = append(got, e.ID)
		}
		cursor = page.Next
	}
	if diff := gocmp.Diff([]string{"e035", "e040", "e050", "e060"}, got); diff != "" {
		t.Error(diff)
	}
	put(70)
	if page, err = m.epochs.Page(ctx, s, in, 3, page.Resume); err != nil || len(page.Items) != 1 ||
		page.Items[0].ID != "e070" {
		t.Errorf("polling finds %v, %v", page.Items, err)
	}
}

func TestAFailedShardFailsThePage(t *testing.T) {
	m := newEventModel()
	_, db := openTables(t, m.table)
	f := &faulty{DB: db}
	s := st.NewStore(f, st.Options{})
	broken := errors.New("the shard is gone")
	f.fail = func(op string, n int) (error, bool) {
		if op == "Query" && n == 3 {
			return broken, false
		}
		return nil, false
	}
	_, err := m.shards.Page(context.Background(), s, InGroup{Group: "g"}, 3, "")
	var shard *st.ShardError
	if !errors.As(err, &shard) || len(shard.Failed) != 1 || shard.Of != 5 ||
		!errors.Is(err, broken) {
		t.Fatal(err)
	}
	if !strings.HasPrefix(shard.Failed[0].Partition, "G#g#") {
		t.Error("the error does not name the shard:", err)
	}
	f.calls = nil
	for _, err = range m.shards.All(context.Background(), s, InGroup{Group: "g"}) {
		if err == nil {
			t.Error("rows are given though a shard failed")
		}
	}
	if !errors.As(err, &shard) {
		t.Error(err)
	}
	f.calls = nil
	if _, err := m.shards.Count(context.Background(), s, InGroup{Group: "g"}); !errors.As(err,
		&shard) {
		t.Error(err)
	}
}

// TestAPageThatOnlyDroppedRowsLeadsBack reads on behind the one row that a filter keeps, in calls
// that bring one row each, until a page ends for its number of calls: it has no rows, but a way
// back.
func TestAPageThatOnlyDroppedRowsLeadsBack(t *testing.T) {
	m := newEventModel()
	_, db := openTables(t, m.table)
	s := st.NewStore(&faulty{DB: db, limit: 1}, st.Options{CursorKey: []byte("k")})
	events := []Event{{ID: "kept", Group: "g", At: firstDay, Day: "2025-11-28", Keep: true}}
	for i := range 40 {
		at := firstDay.Add(time.Duration(i+1) * time.Minute)
		events = append(events, Event{ID: fmt.Sprint("dropped", i), Group: "g", At: at,
			Day: "2025-11-28"})
	}
	if err := m.events.PutAll(t.Context(), s, events); err != nil {
		t.Fatal(err)
	}
	read := func(cursor string) st.Page[Event] {
		page, err := m.kept.Page(t.Context(), s, InGroup{Group: "g"}, 1, cursor)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	page := read("")
	for len(page.Items) == 0 {
		page = read(page.Next)
	}
	if page = read(page.Next); len(page.Items) > 0 || page.Next == "" {
		t.Fatalf("the page behind has %v, and goes on at %q", page.Items, page.Next)
	}
	var back []Event
	for page.Prev != "" {
		page = read(page.Prev)
		back = append(back, page.Items...)
	}
	if diff := gocmp.Diff(events[:1], back); diff != "" {
		t.Error(diff)
	}
}
