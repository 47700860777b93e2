package singletable_test

import (
	"fmt"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

// A cursor that an earlier release handed out goes on after a restart with a later one, because
// people bookmark pages and jobs continue where they stopped.
func TestCursorsOfEarlierReleasesGoOn(t *testing.T) {
	p := openParcels(t, false)
	for rank := range 6 {
		p.put(t, p.open, rank, "open")
		p.put(t, p.done, rank+6, "done")
	}
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := st.NewStore(db, st.Options{CursorKey: []byte("a key of thirty-two bytes, no more")})
	table := st.NewTable("Parcels", st.Keys("PK", "SK"), st.GSI("GSI1", "GPK", "GSK"))
	e := st.NewEntity[parcel](table, "parcel", st.Primary("OWNER#<Owner>", "RANK#<Rank:int(4)>"),
		st.On("GSI1", "STATE#<State>", "RANK#<Rank:int(4)>"))
	if err := table.Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for rank := range 6 {
		if err := e.Put(t.Context(), store, parcel{"ann", rank, "open"}); err != nil {
			t.Fatal(err)
		}
	}
	type ofState struct{ State string }
	main := st.NewQuery[ofOwner](e, "of-owner")
	byState := st.NewQuery[ofState](e, "of-state", st.UseIndex("GSI1"), st.Descending())
	walks := map[string]func(cursor string) ([]parcel, string, error){
		"v1 table": func(cursor string) ([]parcel, string, error) {
			page, err := main.Page(t.Context(), store, ofOwner{"ann"}, 2, cursor)
			return page.Items, page.Next, err
		},
		"v1 index, descending": func(cursor string) ([]parcel, string, error) {
			page, err := byState.Page(t.Context(), store, ofState{"open"}, 2, cursor)
			return page.Items, page.Next, err
		},
		"v1 union": func(cursor string) ([]parcel, string, error) {
			page, err := p.union.Page(t.Context(), p.store, anyOfOwner{"ann"}, 2, cursor)
			return page.Items, page.Next, err
		},
	}
	var samples []frozen.Sample
	for _, name := range []string{"v1 table", "v1 index, descending", "v1 union"} {
		_, next, err := walks[name]("")
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, frozen.Sample{Name: name, Value: next})
	}
	samples = append(samples, frozen.Sample{
		Name: "v1 sealed", Value: store.Seal("a purpose", "a text"),
	})
	frozen.Check(t, "cursors", samples...)
	want := map[string]string{
		"v1 table": "2 3", "v1 index, descending": "3 2", "v1 union": "2 3",
	}
	for _, s := range frozen.Read(t, "cursors") {
		walk := walks[s.Name]
		if walk == nil {
			continue
		}
		rows, _, err := walk(s.Value)
		if err != nil || len(rows) != 2 {
			t.Fatalf("%s: %d rows, %v", s.Name, len(rows), err)
		}
		if got := fmt.Sprint(rows[0].Rank, " ", rows[1].Rank); got != want[s.Name] {
			t.Errorf("%s goes on with %s, want %s", s.Name, got, want[s.Name])
		}
	}
}
