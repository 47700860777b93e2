package singletable_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

type folder struct{ Owner, ID string }

type page struct{ Owner, ID, Number string }

// TestCountCountsRowsOnly counts where another entity has keys that begin the same way, and goes
// back to the first page.
func TestCountCountsRowsOnly(t *testing.T) {
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table := st.NewTable("folders", st.Keys("PK", "SK"))
	folders := st.NewEntity[folder](table, "Folder", st.Primary("O#<Owner>", "F#<ID>"))
	pages := st.NewEntity[page](table, "Page", st.Primary("O#<Owner>", "F#<ID>#P#<Number>"))
	all := st.NewQuery[ofOwnerOnly](folders, "folders-of-owner")
	if err := table.Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	s, ctx := st.NewStore(db, st.Options{CursorKey: []byte("k")}), t.Context()
	for _, id := range []string{"a", "b", "c"} {
		if err := folders.Put(ctx, s, folder{"o", id}); err != nil {
			t.Fatal(err)
		}
		if err := pages.Put(ctx, s, page{"o", id, "1"}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := all.Count(ctx, s, ofOwnerOnly{"o"}); n != 3 || err != nil {
		t.Errorf("there are 3 folders, not %d: %v", n, err)
	}
	first, err := all.Page(ctx, s, ofOwnerOnly{"o"}, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := all.Page(ctx, s, ofOwnerOnly{"o"}, 1, first.Next)
	if err != nil {
		t.Fatal(err)
	}
	again, err := all.Page(ctx, s, ofOwnerOnly{"o"}, 1, second.Prev)
	if err != nil || len(again.Items) != 1 || again.Items[0].ID != "a" || again.Prev != "" {
		t.Errorf("the first page, come to from the second, is %+v, %v", again, err)
	}
	_, err = db.Put(ctx, &dynamo.PutInput{TableName: "folders", Item: dynamo.Item{
		"PK": dynamo.S("O#o"), "SK": dynamo.S("F#")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.Count(ctx, s, ofOwnerOnly{"o"}); err == nil {
		t.Error("an item that nothing owns is not counted, and not named")
	}
	listed, err := all.Page(ctx, s, ofOwnerOnly{"o"}, 10, "")
	if err != nil || len(listed.Items) != 3 || len(listed.Unreadable) != 1 ||
		listed.Unreadable[0].Attribute != "SK" {
		t.Errorf("the page is %+v, %v", listed, err)
	}
}
