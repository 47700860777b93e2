package locations_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// fill makes locations among many items of another kind, every third of them deleted, every fourth
// with a tag.
func fill(d *directory, n, others int) {
	d.t.Helper()
	for i := range others {
		d.put(dynamo.Item{"PK": dynamo.S(fmt.Sprintf("MEMBER#%d", i)), "SK": dynamo.S("META"),
			"itemType": dynamo.S("Member"), "name": dynamo.S("someone else")})
	}
	for i := range n {
		l := named(fmt.Sprintf("Code-%03d", i), fmt.Sprintf("Name %03d", n-i))
		if i%4 == 0 {
			l.Tags = []string{"depot"}
		}
		made := d.create(l)
		d.pass(time.Second)
		if i%3 == 0 {
			must(d.t, made, must2(d.Delete(d.t.Context(), made.ID, "")))
		}
	}
}

// pages reads a whole list, page by page, and returns the codes.
func (d *directory) pages(q locations.ListQuery) (codes []string, sizes []int) {
	d.t.Helper()
	for {
		page, err := d.List(d.t.Context(), q)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, l := range page.Items {
			codes = append(codes, l.Code)
		}
		sizes = append(sizes, len(page.Items))
		if q.Cursor = page.Next; q.Cursor == "" {
			return codes, sizes
		}
	}
}

func TestListPagesAreFilledAndLoseNothing(t *testing.T) {
	for name, opts := range map[string]locations.Options{"scan": {}, "sharded": {Shards: 5}} {
		t.Run(name, func(t *testing.T) {
			d := open(t, opts)
			fill(d, 30, 100)
			for _, size := range []int{1, 4, 7, 100} {
				codes, sizes := d.pages(locations.ListQuery{Status: locations.Active, Size: size})
				if len(codes) != 20 {
					t.Errorf("pages of %d have %d locations", size, len(codes))
				}
				slices.Sort(codes)
				if len(slices.Compact(codes)) != 20 {
					t.Errorf("pages of %d repeat some of %v", size, codes)
				}
				for i, n := range sizes[:len(sizes)-1] {
					if n != size && n > 0 && i < len(sizes)-2 {
						t.Errorf("page %d of %v is short", i, sizes)
					}
				}
			}
			for _, c := range []struct {
				q    locations.ListQuery
				want int
			}{
				{locations.ListQuery{}, 30},
				{locations.ListQuery{Status: locations.Inactive}, 10},
				{locations.ListQuery{Tag: "depot"}, 8},
				{locations.ListQuery{Tag: "depot", Status: locations.Active}, 5},
				{locations.ListQuery{Tag: "none"}, 0},
			} {
				if codes, _ := d.pages(c.q); len(codes) != c.want {
					t.Errorf("%+v finds %d, want %d", c.q, len(codes), c.want)
				}
			}
		})
	}
}

func TestListsInOrder(t *testing.T) {
	for name, shards := range map[string]int{"one partition": 0, "scattered": 6} {
		t.Run(name, func(t *testing.T) {
			opts := everything
			opts.Shards = shards
			d := open(t, opts)
			fill(d, 30, 20)
			var all []string
			for i := range 30 {
				all = append(all, fmt.Sprintf("Code-%03d", i))
			}
			backwards := slices.Clone(all)
			slices.Reverse(backwards)
			for order, want := range map[locations.Order][]string{
				locations.ByCode: all, locations.ByCreation: all, locations.ByName: backwards,
			} {
				eventually(t, func() bool {
					codes, _ := d.pages(locations.ListQuery{Order: order, Size: 7})
					return slices.Equal(codes, want)
				})
			}
			// An index may show a moment that is over also to whoever has seen a later one.
			eventually(t, func() bool {
				codes, _ := d.pages(locations.ListQuery{Order: locations.ByCode, Prefix: "CODE-02"})
				return slices.Equal(codes, all[20:])
			})
			eventually(t, func() bool {
				codes, _ := d.pages(locations.ListQuery{Order: locations.ByName, Prefix: "name 03"})
				return slices.Equal(codes, []string{"Code-000"})
			})
			// A change of code or name moves the location in the lists.
			l, err := d.ByCode(t.Context(), "code-001")
			must(t, l, err)
			_, err = d.Update(t.Context(), l.ID, "", locations.Change{Code: ref("zz"),
				Name: ref("A")})
			must(t, l, err)
			eventually(t, func() bool {
				byCode, _ := d.pages(locations.ListQuery{Order: locations.ByCode})
				byName, _ := d.pages(locations.ListQuery{Order: locations.ByName})
				return len(byCode) == 30 && len(byName) == 30 && byCode[29] == "zz" &&
					byName[0] == "zz"
			})
		})
	}
}

func TestCursorsBelongToTheirQuestion(t *testing.T) {
	d := open(t, locations.Options{})
	fill(d, 10, 0)
	ctx := t.Context()
	page, err := d.List(ctx, locations.ListQuery{Status: locations.Active, Size: 2})
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	for _, q := range []locations.ListQuery{
		{Status: locations.Inactive, Cursor: page.Next},
		{Cursor: page.Next},
		{Status: locations.Active, Tag: "depot", Cursor: page.Next},
		{Status: locations.Active, Cursor: page.Next[:len(page.Next)-2] + "xx"},
		{Status: locations.Active, Cursor: "nonsense"},
	} {
		_, err := d.List(ctx, q)
		wants(t, err, locations.ErrInvalidCursor)
	}
	for _, q := range []locations.ListQuery{
		{Status: "gone"}, {Size: -1}, {Size: 1001}, {Order: "size"}, {Prefix: "a"},
		{Order: locations.ByCreation, Prefix: "a"},
	} {
		_, err := d.List(ctx, q)
		wants(t, err, locations.ErrInvalid)
	}
	_, err = d.List(ctx, locations.ListQuery{Order: locations.ByName})
	wants(t, err, locations.ErrOrderMissing, "order", "name")
}

func TestShardsAreInTheKey(t *testing.T) {
	d := open(t, locations.Options{Shards: 4})
	l := d.create(austin())
	found := 0
	for shard := range 4 {
		if d.item(fmt.Sprintf("LOCATION#%d#%s", shard, l.ID)) != nil {
			found++
		}
	}
	if found != 1 || d.item("LOCATION#"+string(l.ID)) != nil {
		t.Errorf("found under %d shards", found)
	}
	if d.get(l.ID).Code != l.Code {
		t.Error("not found by id")
	}
}

// TestPlanFollowsTheSeedsThresholds compares what a plan says with the bounds that the seed gives.
func TestPlanFollowsTheSeedsThresholds(t *testing.T) {
	d := open(t, locations.Options{})
	fill(d, 10, 0)
	p, err := d.Plan(t.Context())
	if err != nil || p.Locations != 10 || p.Lookups != 10 || p.Calls < 1 || p.ReadUnits <= 0 ||
		p.Bytes <= 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, c := range []struct {
		locations, lookups int
		took               time.Duration
		right              bool
	}{
		{499, 500, 100 * time.Millisecond, true}, {500, 500, 0, false},
		{10, 10, 101 * time.Millisecond, false},
	} {
		p := locations.Plan{Locations: c.locations, Lookups: c.lookups, Took: c.took}
		locations.Judge(&p, locations.Options{})
		if p.ScanIsRight != c.right || len(p.Advice) == 0 {
			t.Errorf("%+v: %+v", c, p)
		}
	}
	p = locations.Plan{Locations: 30_000, Lookups: 30_000}
	locations.Judge(&p, locations.Options{CodeIndex: true})
	if !slices.ContainsFunc(p.Advice, func(s string) bool {
		return s ==
			"The table has an index for lists: ask for its order."
	}) {
		t.Error(p.Advice)
	}
}
