package singletable_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	st "github.com/exchequer-dev/exchequer/singletable"
)

func TestScansFindTheEntityAndNothingElse(t *testing.T) {
	m := newStatementsModel() // no discriminators: entities are told by their keys
	_, db := openTables(t, m.table)
	f := &faulty{DB: db}
	s := st.NewStore(f, st.Options{CursorKey: []byte("k")})
	ctx := context.Background()
	var want []string
	for i := range 30 {
		user := fmt.Sprintf("u%02d", i)
		if err := m.profiles.Put(ctx, s, Profile{UserID: user, Email: "e"}); err != nil {
			t.Fatal(err)
		}
		if err := m.tags.Put(ctx, s, Tag{UserID: user, TagID: "t", Text: "x"}); err != nil {
			t.Fatal(err)
		}
		want = append(want, user)
	}
	for _, segments := range []int{1, 4} {
		scan := st.NewScan[Everything](m.profiles, fmt.Sprint("all", segments),
			st.Segments(segments), st.CallsMax(3))
		for _, f.limit = range []int{0, 7} {
			var all, paged []string
			for p, err := range scan.All(ctx, s, Everything{}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, p.UserID)
			}
			for cursor, more := "", true; more; {
				page, err := scan.Page(ctx, s, Everything{}, 4, cursor)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range page.Items {
					paged = append(paged, p.UserID)
				}
				cursor, more = page.Next, page.Next != ""
			}
			slices.Sort(all)
			slices.Sort(paged)
			if !slices.Equal(all, want) || !slices.Equal(paged, want) {
				t.Errorf("%d segments, pages of %d: all %v, paged %v", segments, f.limit, all,
					paged)
			}
		}
	}
}

func TestFiltersThatDependOnInputs(t *testing.T) {
	type In struct {
		Group    string
		From, To time.Time
		Least    *int
	}
	m := newEventModel()
	n := st.FieldOf(m.events, func(e *Event) *int { return &e.N })
	filtered := st.NewQuery[In](m.events, "at-least", st.UseIndex("Plain"), st.Since("At", "From"),
		st.FilterBy(func(in In) st.Predicate {
			if in.Least == nil {
				return nil
			}
			return n.AtLeast(*in.Least)
		}))
	until := st.NewQuery[In](m.events, "until", st.UseIndex("Plain"), st.Until("At", "To"))
	s, _ := openTables(t, m.table)
	ctx := context.Background()
	for i := range 10 {
		at := firstDay.Add(time.Duration(i) * time.Hour)
		err := m.events.Put(ctx, s, Event{ID: fmt.Sprint(i), Group: "g", At: at, N: i % 3,
			Day: "2025-11-28"})
		if err != nil {
			t.Fatal(err)
		}
	}
	two := 2
	for want, in := range map[int]In{
		3: {Group: "g", Least: &two}, 10: {Group: "g"},
		2: {Group: "g", Least: &two, From: firstDay.Add(3 * time.Hour)},
	} {
		if got, err := filtered.Count(ctx, s, in); err != nil || got != want {
			t.Errorf("%+v: %d, %v, want %d", in, got, err, want)
		}
	}
	got, err := until.Count(ctx, s, In{Group: "g", To: firstDay.Add(4 * time.Hour)})
	if err != nil || got != 4 {
		t.Errorf("until: %d, %v", got, err)
	}
	first, found, err := filtered.First(ctx, s, In{Group: "g", Least: &two})
	if err != nil || !found || first.ID != "2" {
		t.Errorf("first: %+v, %t, %v", first, found, err)
	}
}

func TestPatternsSayWhichInputTheyLack(t *testing.T) {
	m := newStatementsModel()
	p := newPaymentsModel()
	s := st.NewStore(nil, st.Options{})
	check := func(_ st.Plan, err error) func(want string) {
		return func(want string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("want %q, got %v", want, err)
			}
		}
	}
	check(m.inPeriod.Plan(s, AccountDates{AccountID: "a"}, 1))("needs the input UserID")
	check(m.inPeriod.Plan(s, AccountDates{"u", "a", "2025-01-01", ""}, 1))("needs the input To")
	check(m.inPeriod.Plan(s, AccountDates{"u", "a", "0001-01-01", "2025-01-01"},
		1))("narrow the range")
	check(m.inPeriod.Plan(s, AccountDates{"u", "a", "yesterday", "2025-01-01"},
		1))("neither a date nor")
	// A range needs what stands before it in the sort key.
	day := time.Date(2019, 9, 25, 0, 0, 0, 0, time.UTC)
	plan, err := p.byStatus.Plan(s, StatusDay{"", day, day.Add(time.Hour)}, 1)
	if err == nil {
		t.Errorf("a range without the status before it is read as\n%s", plan)
	}
}

// Texts that people type become inputs of every type.
func TestInputsAsText(t *testing.T) {
	type In struct {
		A    string
		N    int64
		D    st.Number
		T    time.Time
		Flag bool
		Raw  []byte
	}
	e := storedEntity("<A>#<N>#<D>", "<T>#<Flag>#<Raw>")
	q := st.NewQuery[In](e, "q")
	s := st.NewStore(nil, st.Options{})
	plan, err := q.PlanText(s, map[string]string{"A": "a#b", "n": "-5", "D": "1.50",
		"t": "2026-01-02", "Flag": "true", "raw": "ab"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := `PK = {"S":"a%23b#-5#1.5"} AND SK = {"S":"2026-01-02T00:00:00.000Z#true#ab"}`
	if got := plan.Requests[0].String(); !strings.Contains(got, want) {
		t.Errorf("the request is\n%s\nwant in it\n%s", got, want)
	}
	for name, text := range map[string]string{"N": "1.5", "D": "x", "T": "noon", "Flag": "perhaps",
		"Raw": "xyz"} {
		if _, err := q.PlanText(s, map[string]string{name: text}, 1); err == nil ||
			!strings.Contains(err.Error(), "input "+name) {
			t.Errorf("%s=%s says %v", name, text, err)
		}
	}
}
