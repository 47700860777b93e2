package singletable_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// parcel moves from the table of what is open to that of what is done.
type parcel struct {
	Owner string
	Rank  int `dynamodbav:"Rank,keyonly"`
	State string
}

type (
	ofOwner    struct{ Owner string }
	anyOfOwner struct{ Owner string }
)

// parcels is two tables and the union of the same question to both.
type parcels struct {
	open, done *st.Entity[parcel]
	union      *st.Union[anyOfOwner, parcel]
	store      *st.Store
}

func openParcels(t *testing.T, descending bool) *parcels {
	t.Helper()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var order []st.PatternOption
	if descending {
		order = append(order, st.Descending())
	}
	p := &parcels{store: st.NewStore(db, st.Options{CursorKey: []byte("parcels")})}
	entity := func(name string) (*st.Entity[parcel], *st.Pattern[ofOwner, parcel]) {
		table := st.NewTable(name, st.Keys("PK", "SK"))
		e := st.NewEntity[parcel](table, name, st.Primary("OWNER#<Owner>", "RANK#<Rank:int(4)>"))
		if err := table.Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		return e, st.NewQuery[ofOwner](e, "of-owner-"+name, append(order, st.Consistent())...)
	}
	var inOpen, inDone *st.Pattern[ofOwner, parcel]
	p.open, inOpen = entity("Open")
	p.done, inDone = entity("Done")
	inputs := func(in anyOfOwner) ofOwner { return ofOwner(in) }
	p.union = st.NewUnion("any-of-owner",
		func(x parcel) string { return fmt.Sprintf("%04d", x.Rank) },
		st.LegOf(inOpen, inputs), st.LegOf(inDone, inputs))
	return p
}

func (p *parcels) put(t *testing.T, e *st.Entity[parcel], rank int, state string) {
	t.Helper()
	if err := e.Put(t.Context(), p.store, parcel{"ann", rank, state}); err != nil {
		t.Fatal(err)
	}
}

// move copies a parcel and then deletes it, as unions expect.
func (p *parcels) move(t *testing.T, rank int) {
	t.Helper()
	p.put(t, p.done, rank, "done")
	if err := p.open.Delete(t.Context(), p.store, parcel{Owner: "ann", Rank: rank}); err != nil {
		t.Fatal(err)
	}
}

func TestUnionMergesAndReturnsARowOnce(t *testing.T) {
	p := openParcels(t, false)
	for rank := range 10 {
		if rank%3 != 0 {
			p.put(t, p.open, rank, "open")
		}
		if rank%3 != 1 {
			p.put(t, p.done, rank, "done")
		}
	}
	var got []string
	for x, err := range p.union.All(t.Context(), p.store, anyOfOwner{"ann"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(x.Rank, x.State))
	}
	// What is in both is returned as the table says that rows move out of.
	want := "0done 1open 2open 3done 4open 5open 6done 7open 8open 9done"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("rows %s", text)
	}
	page, err := p.union.Page(t.Context(), p.store, anyOfOwner{"bob"}, 5, "")
	if err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("of nobody: %+v, %v", page, err)
	}
}

// Rows move while a reader turns pages of random sizes, up and down. Every row comes once.
func TestUnionFindsEveryRowOnceWhileRowsMove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		descending := rapid.Bool().Draw(rt, "descending")
		p := openParcels(t, descending)
		var want, open []int
		for rank := range rapid.IntRange(1, 30).Draw(rt, "rows") {
			want, open = append(want, rank), append(open, rank)
			p.put(t, p.open, rank, "open")
		}
		if descending {
			slices.Reverse(want)
		}
		var got []int
		for cursor, more := "", true; more; {
			size := rapid.IntRange(1, 7).Draw(rt, "size")
			page, err := p.union.Page(t.Context(), p.store, anyOfOwner{"ann"}, size, cursor)
			if err != nil {
				rt.Fatal(err)
			}
			for _, x := range page.Items {
				got = append(got, x.Rank)
			}
			cursor, more = page.Next, page.Next != ""
			for range rapid.IntRange(0, min(6, len(open))).Draw(rt, "moves") {
				i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
				p.move(t, open[i])
				open = slices.Delete(open, i, i+1)
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("rows %v", got)
		}
	})
}

func TestUnionCursorsAreItsOwn(t *testing.T) {
	p := openParcels(t, false)
	for rank := range 6 {
		p.put(t, p.open, rank, "open")
	}
	read := func(cursor string) error {
		_, err := p.union.Page(context.Background(), p.store, anyOfOwner{"ann"}, 2, cursor)
		return err
	}
	first, err := p.union.Page(t.Context(), p.store, anyOfOwner{"ann"}, 2, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.union.Page(t.Context(), p.store, anyOfOwner{"ann"}, 2, first.Next)
	if err != nil {
		t.Fatal(err)
	}
	one, other := strings.Split(first.Next, "."), strings.Split(second.Next, ".")
	mixed := strings.Join([]string{other[0], one[1], one[2], one[3]}, ".")
	for name, cursor := range map[string]string{
		"no cursor at all": "x", "parts of two": mixed, "cut": first.Next[1:],
	} {
		var wrong *st.CursorError
		if err := read(cursor); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.union.Page(t.Context(), p.store, anyOfOwner{"ann"}, 0, ""); err == nil {
		t.Error("a page of no rows is read")
	}
}

// beforeBatch calls a hook before each read of a batch.
type beforeBatch struct {
	dynamo.DB
	hook func()
}

func (d *beforeBatch) BatchGet(
	ctx context.Context, in *dynamo.BatchGetInput,
) (*dynamo.BatchGetOutput, error) {
	d.hook()
	return d.DB.BatchGet(ctx, in)
}

// Rows of an index that holds keys alone are whole, also those whose item moves between the reading
// of its row and that of the item.
func TestUnionFetchesWholeItems(t *testing.T) {
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	between := &beforeBatch{DB: db, hook: func() {}}
	p := &parcels{store: st.NewStore(between, st.Options{CursorKey: []byte("parcels")})}
	entity := func(name string) (*st.Entity[parcel], *st.Pattern[ofOwner, parcel]) {
		table := st.NewTable(name, st.Keys("PK", "SK"), st.GSI("GSI1", "P", "S", st.KeysOnly()))
		e := st.NewEntity[parcel](table, name, st.Primary("OWNER#<Owner>", "RANK#<Rank:int(4)>"),
			st.On("GSI1", "BY#<Owner>", "<Rank:int(4)>"))
		if err := table.Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		return e, st.NewQuery[ofOwner](e, "by-owner-"+name, st.UseIndex("GSI1"), st.Hydrate())
	}
	var inOpen, inDone *st.Pattern[ofOwner, parcel]
	p.open, inOpen = entity("Open")
	p.done, inDone = entity("Done")
	inputs := func(in anyOfOwner) ofOwner { return ofOwner(in) }
	p.union = st.NewUnion("any-by-owner",
		func(x parcel) string { return fmt.Sprintf("%04d", x.Rank) },
		st.LegOf(inOpen, inputs), st.LegOf(inDone, inputs))
	for rank := range 4 {
		p.put(t, p.open, rank, "open")
	}
	p.move(t, 0)
	between.hook = func() {
		between.hook = func() {}
		p.move(t, 2)
	}
	page, err := p.union.Page(t.Context(), p.store, anyOfOwner{"ann"}, 10, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range page.Items {
		got = append(got, fmt.Sprint(x.Owner, x.Rank, x.State))
	}
	if want := "ann0done ann1open ann2done ann3open"; strings.Join(got, " ") != want {
		t.Errorf("rows %v, want %s", got, want)
	}
}
