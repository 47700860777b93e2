package singletable_test

import (
	"strings"
	"testing"
	"time"

	st "github.com/exchequer-dev/exchequer/singletable"
)

// thing is an item of models that are not good.
type thing struct {
	ID, Owner, State, City string
	Score                  int64
	At                     time.Time
}

type ofOwnerOnly struct{ Owner string }

// TestCheckNamesEachBadPart makes one part of a good model bad at a time.
func TestCheckNamesEachBadPart(t *testing.T) {
	on := st.On("ByOwner", "OWNER#<Owner>", "<ID>")
	for _, c := range []struct {
		name string
		// The table's options and the entity's, besides those of the good model.
		table  []st.TableOption
		entity []st.EntityOption
		index  string // "ByOwner" without one
		key    string // "T#<ID>" without one
		model  func(*st.Model)
		want   string // "" for a model about which there is nothing to say
	}{
		{name: "a good model"},
		{name: "an index of one letter", index: "G",
			want: `error: things: index "G": a name of an index has 3 to 255`},
		{name: "an index with a space", index: "my index!",
			want: `error: things: index "my index!": a name of an index has 3 to 255`},
		{name: "an index with too long a name", index: strings.Repeat("x", 256),
			want: "a name of an index has 3 to 255"},
		{name: "an index with dots", index: "By.Owner-1"},
		{name: "an expiry that nothing has", table: []st.TableOption{st.TTL("ttl")},
			want: "error: things: items expire by ttl, which no entity stores"},
		{name: "an index that nothing is in", table: []st.TableOption{st.GSI("Empty", "A", "")},
			want: "error: things: no entity is in index Empty"},
		{name: "an attribute that nothing stores",
			table: []st.TableOption{st.GSI("Other", "B", "", st.Include("Nmae"))},
			want:  "error: things: index Other includes Nmae, which no entity stores"},
		{name: "an id in lower case", key: "T#<ID:lower>",
			want: "error: Thing: the primary key is made of <ID:lower> alone"},
		{name: "an id in upper case", key: "T#<ID:upper>",
			want: "error: Thing: the primary key is made of <ID:upper> alone"},
		{name: "a day without an id", key: "T#<At:day>",
			want: "error: Thing: the primary key is made of <At:day> alone"},
		{name: "a month without an id", key: "T#<At:month>",
			want: "error: Thing: the primary key is made of <At:month> alone"},
		{name: "a day with an id", key: "T#<At:day>#<ID>"},
		{name: "a name in lower case next to an owner", key: "T#<Owner>#<ID:lower>",
			want: "warning: Thing: part <ID:lower> of the primary key is the same for texts"},
		{name: "the state of an address", key: "T#<State>#<City>#<ID>"},
		{name: "a warning that is accepted", key: "T#<Owner>#<ID:lower>",
			model: func(m *st.Model) { m.Accept("Thing", "<ID:lower>", "ids are in lower case") }},
		{name: "a warning that is accepted without a reason", key: "T#<Owner>#<ID:lower>",
			model: func(m *st.Model) { m.Accept("Thing", "<ID:lower>", "") },
			want:  "is accepted without a reason"},
		{name: "an acceptance of nothing",
			model: func(m *st.Model) { m.Accept("Thing", "hot", "it is cold") },
			want:  `error: Thing: the accepted warning "hot" does not occur`},
	} {
		t.Run(c.name, func(t *testing.T) {
			index, key, place := c.index, c.key, on
			if index == "" {
				index = "ByOwner"
			} else {
				place = st.On(index, "OWNER#<Owner>", "<ID>")
			}
			if key == "" {
				key = "T#<ID>"
			}
			table := st.NewTable("things", st.Keys("PK"), append(c.table,
				st.GSI(index, "GP", "GS"))...)
			e := st.NewEntity[thing](table, "Thing", append(c.entity, st.Primary(key), place)...)
			m := st.NewModel("things", []*st.Table{table}, st.NewQuery[ofOwnerOnly](e, "of-owner",
				st.UseIndex(index), st.Describe("The things of an owner")))
			if c.model != nil {
				c.model(m)
			}
			got := m.Check().String()
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("Check says\n%swant %q", got, c.want)
			}
		})
	}
}

// TestMissingDescriptionsAreOneWarning says it once, and which patterns they are.
func TestMissingDescriptionsAreOneWarning(t *testing.T) {
	table := st.NewTable("things", st.Keys("PK"), st.GSI("ByOwner", "GP", "GS"))
	e := st.NewEntity[thing](table, "Thing", st.Primary("T#<ID>"),
		st.On("ByOwner", "OWNER#<Owner>", "<ID>"))
	one := st.NewQuery[ofOwnerOnly](e, "one", st.UseIndex("ByOwner"))
	two := st.NewQuery[ofOwnerOnly](e, "two", st.UseIndex("ByOwner"))
	got := st.NewModel("m", []*st.Table{table}, one, two).Check().String()
	if want := "warning: m: no description of one, two\n"; got != want {
		t.Errorf("Check says %q, want %q", got, want)
	}
}

// TestOneBadFieldSpoilsNothingElse uses an entity of which one handle is no field's.
func TestOneBadFieldSpoilsNothingElse(t *testing.T) {
	table := st.NewTable("things", st.Keys("PK"), st.GSI("ByScore", "GP", "GS"))
	e := st.NewEntity[thing](table, "Thing", st.Primary("T#<ID>"),
		st.On("ByScore", "OWNER#<Owner>", "<Score:int(10)>"))
	other := ""
	bad := st.FieldOf(e, func(*thing) *string { return &other })
	score := st.FieldOf(e, func(v *thing) *int64 { return &v.Score })
	report := st.NewModel("m", []*st.Table{table}).Check().String()
	if want := "error: Thing: FieldOf was called with a function that returns no field"; strings.Count(
		report,
		"error:",
	) != 1 ||
		!strings.Contains(report, want) {
		t.Errorf("Check says\n%s", report)
	}
	if _, err := e.Key(thing{ID: "1"}); err != nil {
		t.Errorf("the entity cannot be used: %v", err)
	}
	s := st.NewStore(nil, st.Options{})
	if _, err := e.Update(t.Context(), s, thing{ID: "1"}, bad.Set("x")); err == nil ||
		!strings.Contains(err.Error(), "returns no field") {
		t.Errorf("the bad handle says %v", err)
	}
	_, err := e.Update(t.Context(), s, thing{ID: "1"}, score.Add(1))
	const want = "update Thing: Score is changed by an amount, and the key of index ByScore needs its " +
		"new value"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an addition to an indexed counter says %v", err)
	}
	_, err = e.Update(t.Context(), s, thing{ID: "1"}, e.Upsert())
	if err == nil || strings.Contains(err.Error(), ":  ") ||
		!strings.Contains(err.Error(), "it may create the item") {
		t.Errorf("an update that may create says %v", err)
	}
}
