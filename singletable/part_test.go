package singletable_test

import (
	"errors"
	"strings"
	"testing"

	st "github.com/exchequer-dev/exchequer/singletable"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// Narrow is read in part from an index.
type Narrow struct {
	ID, Name, Balance, Note string
	Part                    st.Part
}

type byName struct{ Name string }

// holder keeps a copy of a value, as programs do.
type holder struct{ copies map[string]Narrow }

// TestAValueThatWasReadInPartIsNotWritten reads rows of narrow indexes and writes them back in each
// way that there is, through copies too.
func TestAValueThatWasReadInPartIsNotWritten(t *testing.T) {
	for name, index := range map[string]st.IndexOption{
		"keys only": st.KeysOnly(), "included": st.Include("Balance"),
	} {
		t.Run(name, func(t *testing.T) {
			db, err := engine.OpenMemory(engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			table := st.NewTable("narrow", st.Keys("PK", "SK"), st.GSI("GSI", "GP", "GS", index))
			e := st.NewEntity[Narrow](table, "Narrow", st.Primary("N#<ID>", "META"),
				st.On("GSI", "NAME#<Name>", "<ID>"))
			rows := st.NewQuery[byName](e, "by-name", st.UseIndex("GSI"))
			whole := st.NewQuery[byName](e, "by-name-whole", st.UseIndex("GSI"), st.Hydrate())
			if err := table.Ensure(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			s := st.NewStore(db, st.Options{})
			kept := Narrow{ID: "1", Name: "n", Balance: "100", Note: "keep"}
			if err := e.Create(t.Context(), s, kept); err != nil {
				t.Fatal(err)
			}
			row, found, err := rows.First(t.Context(), s, byName{"n"})
			if err != nil || !found || row.Part.Index != "GSI" {
				t.Fatalf("%+v, %v, %v", row, found, err)
			}
			h := holder{map[string]Narrow{"x": row}}
			copied := h.copies["x"]
			copied.Note = "renamed"
			ctx := t.Context()
			tx := func(add func(tx *st.Tx)) error {
				tx := s.NewTx()
				add(tx)
				return tx.Commit(ctx)
			}
			for verb, err := range map[string]error{
				"create":                  e.Create(ctx, s, copied),
				"put":                     e.Put(ctx, s, copied),
				"replace":                 second(e.Replace(ctx, s, copied)),
				"put all":                 e.PutAll(ctx, s, []Narrow{copied}),
				"create in a transaction": tx(func(tx *st.Tx) { e.CreateTx(tx, copied) }),
				"put in a transaction":    tx(func(tx *st.Tx) { e.PutTx(tx, copied) }),
				"replace in a transaction": tx(func(tx *st.Tx) {
					e.ReplaceTx(tx, copied)
				}),
				"as an item": func() error { _, err := e.Item(copied); return err }(),
			} {
				if !errors.Is(err, st.ErrPart) {
					t.Errorf("%s: %v, want ErrPart", verb, err)
				}
			}
			got, _, err := e.Get(ctx, s, Narrow{ID: "1"})
			if err != nil || got != kept {
				t.Errorf("the item is %+v, %v", got, err)
			}
			row, _, err = whole.First(ctx, s, byName{"n"})
			row.Name = "renamed"
			if _, again := e.Replace(ctx, s, row); err != nil || again != nil {
				t.Errorf("a hydrated row cannot be written: %v, %v", err, again)
			}
		})
	}
}

// TestAPatternThatReadsInPartSaysSo defines a pattern whose rows would pass for whole items.
func TestAPatternThatReadsInPartSaysSo(t *testing.T) {
	type Whole struct{ ID, Name, Balance, Note string }
	table := st.NewTable("whole", st.Keys("PK"), st.GSI("GSI", "GP", "", st.Include("Name")))
	e := st.NewEntity[Whole](table, "Whole", st.Primary("W#<ID>"), st.On("GSI", "NAME#<Name>", ""))
	rows := st.NewQuery[byName](e, "rows", st.UseIndex("GSI"))
	const want = "index GSI does not hold Balance, Note of Whole"
	err := st.NewModel("m", []*st.Table{table}, rows).Check().Err()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Check says %v", err)
	}
	for _, err := range rows.All(t.Context(), st.NewStore(nil, st.Options{}), byName{"n"}) {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the pattern can be used: %v", err)
		}
	}
	whole := st.NewQuery[byName](e, "whole", st.UseIndex("GSI"), st.Hydrate())
	if err := st.NewModel("m", []*st.Table{table}, whole).Check().Err(); err != nil {
		t.Errorf("a hydrated pattern: %v", err)
	}
}

// second returns the error of a call that returns something else as well.
func second[T any](_ T, err error) error { return err }
