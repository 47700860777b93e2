package singletable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// Place has a code that is unique whatever its case, and may have none.
type Place struct {
	ID      string
	Code    string `dynamodbav:",omitempty"`
	Name    string
	Version int64
	Expires time.Time `dynamodbav:"ttl,unixtime,omitempty"`
}

type places struct {
	table *st.Table
	e     *st.Entity[Place]
	codes *st.Unique[Place]
	code  st.Field[Place, string]
	name  st.Field[Place, string]
	ttl   st.Field[Place, time.Time]
}

func newPlaces(opts ...st.EntityOption) *places {
	p := &places{table: st.NewTable("places", st.Keys("PK", "SK"), st.TTL("ttl"))}
	p.e = st.NewEntity[Place](p.table, "Place", st.Primary("PLACE#<ID>", "META"),
		st.Discriminator("type", "Place"), st.Versioned("Version"))
	p.codes = st.NewUnique(p.e, "PlaceCode", append([]st.EntityOption{
		st.Primary("CODE#<Code:lower>", "META"), st.Discriminator("type", "PlaceCode"),
		st.Copy("Code")}, opts...)...)
	p.code = st.FieldOf(p.e, func(v *Place) *string { return &v.Code })
	p.name = st.FieldOf(p.e, func(v *Place) *string { return &v.Name })
	p.ttl = st.FieldOf(p.e, func(v *Place) *time.Time { return &v.Expires })
	return p
}

// audit compares lookup items with the places: each place with a code has exactly one, which
// holds the code as typed, and there are no others.
func (p *places) audit(t interface{ Fatalf(string, ...any) }, db dynamo.DB) map[string]string {
	items := storetest.Items(t, db, p.table.Name())
	owners, typed := map[string]string{}, map[string]string{}
	for _, item := range items {
		if code := item["Code"].S(); p.e.Owns(item) && code != "" {
			owners["CODE#"+strings.ToLower(code)] += item["ID"].S()
			typed[item["ID"].S()] = code
		}
	}
	for _, item := range items {
		if p.e.Owns(item) {
			continue
		}
		pk, id := item["PK"].S(), item["ID"].S()
		if owners[pk] != id {
			t.Fatalf("lookup item %s belongs to %q, but the code to %q", pk, id, owners[pk])
		}
		if item["Code"].S() != typed[id] {
			t.Fatalf("lookup item %s says %q, the place %q", pk, item["Code"].S(), typed[id])
		}
		delete(owners, pk)
	}
	if len(owners) > 0 {
		t.Fatalf("no lookup items for %v", owners)
	}
	return typed
}

// TestUniqueValuesStayUnique does random things to a few places with few codes and compares what
// happens with a map.
func TestUniqueValuesStayUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlaces()
		s, db := newStoreFor(t, p.table)
		defer db.Close()
		ctx := context.Background()
		codes := map[string]string{} // by id; "" for a place without a code
		taken := func(code, but string) bool {
			for id, c := range codes {
				if id != but && code != "" && strings.EqualFold(c, code) {
					return true
				}
			}
			return false
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id")
			code := rapid.SampledFrom([]string{"", "a", "A", "b", "B", "c"}).Draw(t, "code")
			_, exists := codes[id]
			switch rapid.IntRange(0, 5).Draw(t, "verb") {
			case 0:
				err := p.e.Create(ctx, s, Place{ID: id, Code: code})
				expect(t, "create", err, map[error]bool{st.ErrExists: exists,
					st.ErrTaken: taken(code, id) || exists && taken(code, "")})
				if err == nil {
					codes[id] = code
				}
			case 1:
				_, err := p.e.Update(ctx, s, Place{ID: id}, p.code.Set(code), p.e.ReadFirst())
				expect(t, "update", err, map[error]bool{st.ErrMissing: !exists,
					st.ErrTaken: exists && taken(code, id)})
				if err == nil {
					codes[id] = code
				}
			case 2:
				v, _, err := p.e.Get(ctx, s, Place{ID: id}, st.Consistent())
				if err != nil {
					t.Fatal(err)
				}
				v.ID, v.Code, v.Name = id, code, "replaced"
				_, err = p.e.Replace(ctx, s, v)
				expect(t, "replace", err, map[error]bool{st.ErrMissing: !exists,
					st.ErrTaken: exists && taken(code, id)})
				if err == nil {
					codes[id] = code
				}
			case 3:
				if err := p.e.Delete(ctx, s, Place{ID: id}); err != nil {
					t.Fatal(err)
				}
				delete(codes, id)
			case 4:
				v, found, err := p.codes.Get(ctx, s, Place{Code: "x" + code})
				if found || err != nil {
					t.Fatal(v, err)
				}
				if code == "" {
					continue
				}
				v, found, err = p.codes.Get(ctx, s, Place{Code: code})
				if err != nil || found != taken(code, "") || found &&
					!strings.EqualFold(v.Code, code) {
					t.Fatalf("get %q: %+v, %t, %v", code, v, found, err)
				}
			case 5: // rotate the codes of all places in one transaction
				tx := s.NewTx()
				ids := []string{"1", "2", "3"}
				next := map[string]string{}
				for i, id := range ids {
					old, ok := codes[id]
					if !ok {
						continue
					}
					next[id] = codes[ids[(i+1)%3]]
					p.e.UpdateTx(tx, Place{ID: id}, p.code.Set(next[id]),
						p.e.WithKnown(Place{Code: old}))
				}
				if err := tx.Commit(ctx); err != nil {
					t.Fatalf("rotate %v to %v: %v", codes, next, err)
				}
				codes = next
			}
			if diff := cmp.Diff(withoutEmpty(codes), p.audit(t, db)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func withoutEmpty(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if v != "" {
			out[k] = v
		}
	}
	return out
}

// expect checks that an error has one of the allowed reasons, or that there is none to have.
func expect(t *rapid.T, verb string, err error, reasons map[error]bool) {
	possible := false
	for reason, applies := range reasons {
		possible = possible || applies
		if errors.Is(err, reason) && !applies {
			t.Fatalf("%s says %v", verb, err)
		}
	}
	if (err != nil) != possible {
		t.Fatalf("%s says %v; reasons %v", verb, err, reasons)
	}
}

func TestUpdatesOfUniqueValuesNeedTheOldValue(t *testing.T) {
	p := newPlaces()
	s, _ := openTables(t, p.table)
	ctx := context.Background()
	if err := p.e.Create(ctx, s, Place{ID: "1", Code: "a"}); err != nil {
		t.Fatal(err)
	}
	_, err := p.e.Update(ctx, s, Place{ID: "1"}, p.code.Set("b"))
	var partial *st.PartialKeyError
	if !errors.As(err, &partial) || partial.Index != "PlaceCode" {
		t.Errorf("a change of code without the old one says %v", err)
	}
	if _, err := p.e.Update(ctx, s, Place{ID: "1"}, p.name.Set("x")); err != nil {
		t.Errorf("a change of name says %v", err)
	}
	_, err = p.e.Update(ctx, s, Place{ID: "1"}, p.code.Set("b"), p.e.WithKnown(Place{Code: "z"}))
	if !errors.Is(err, st.ErrChanged) {
		t.Errorf("a wrong old code says %v", err)
	}
	if err := p.e.Put(ctx, s, Place{ID: "1"}); err == nil {
		t.Error("Put is allowed though it cannot keep the lookup item")
	}
	if err := p.e.PutAll(ctx, s, []Place{{ID: "1"}}); err == nil {
		t.Error("PutAll is allowed though it cannot keep lookup items")
	}
}

func TestReservedValuesWaitForTheirOwner(t *testing.T) {
	p := newPlaces(st.Reservable())
	s, db := openTables(t, p.table)
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.codes.Reserve(ctx, s, Place{ID: "1", Code: "a"}))
	must(p.codes.Reserve(ctx, s, Place{ID: "1", Code: "a"})) // again is no harm
	if err := p.codes.Reserve(ctx, s, Place{ID: "2", Code: "A"}); !errors.Is(err, st.ErrTaken) {
		t.Error(err)
	}
	if err := p.e.Create(ctx, s, Place{ID: "2", Code: "A"}); !errors.Is(err, st.ErrTaken) {
		t.Error(err)
	}
	if owner, found, err := p.codes.Owner(ctx, s, Place{Code: "a"}); !found || owner.ID != "1" {
		t.Error(owner, found, err)
	}
	if _, found, err := p.codes.Get(ctx, s, Place{Code: "a"}); found || err != nil {
		t.Error("a reserved code finds an item:", err)
	}
	must(p.e.Create(ctx, s, Place{ID: "1", Code: "a"}))
	p.audit(t, db)
	must(p.codes.Reserve(ctx, s, Place{ID: "3", Code: "c"}))
	if err := p.codes.Release(ctx, s, Place{ID: "2", Code: "c"}); !errors.Is(err, st.ErrChanged) {
		t.Error("another's reservation can be released:", err)
	}
	must(p.codes.Release(ctx, s, Place{ID: "3", Code: "c"}))
	must(p.codes.Release(ctx, s, Place{ID: "3", Code: "c"}))
	must(p.e.Create(ctx, s, Place{ID: "2", Code: "C"}))
	p.audit(t, db)
}

func TestLookupItemsExpireWithTheirOwner(t *testing.T) {
	p := newPlaces()
	_, db := openTables(t, p.table)
	ctx := context.Background()
	now := time.Unix(1_800_000_000, 0)
	s := st.NewStore(db, st.Options{Now: func() time.Time { return now }})
	if err := p.e.Create(ctx, s, Place{ID: "1", Code: "a",
		Expires: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	// Renewing the item renews the lookup item.
	_, err := p.e.Update(ctx, s, Place{ID: "1"}, p.ttl.Set(now.Add(2*time.Hour)), p.e.ReadFirst())
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(90 * time.Minute)
	if err := p.e.Create(ctx, s, Place{ID: "2", Code: "a"}); !errors.Is(err, st.ErrTaken) {
		t.Errorf("the renewed code is free: %v", err)
	}
	now = now.Add(time.Hour)
	if _, found, _ := p.codes.Owner(ctx, s, Place{Code: "a"}); found {
		t.Error("an expired code has an owner")
	}
	if err := p.e.Create(ctx, s, Place{ID: "2", Code: "a"}); err != nil {
		t.Errorf("the code of an expired item cannot be taken: %v", err)
	}
}

func TestRepairMakesLookupItemsRight(t *testing.T) {
	p := newPlaces()
	s, db := openTables(t, p.table)
	ctx := context.Background()
	for i, code := range []string{"a", "b"} {
		if err := p.e.Create(ctx, s, Place{ID: fmt.Sprint(i), Code: code}); err != nil {
			t.Fatal(err)
		}
	}
	lookup := func(code string) dynamo.Key {
		return dynamo.Key{"PK": dynamo.S("CODE#" + code), "SK": dynamo.S("META")}
	}
	repair := func(id string, want bool) {
		t.Helper()
		wrote, err := p.codes.Repair(ctx, s, Place{ID: id})
		if err != nil || wrote != want {
			t.Errorf("repair of %s: %t, %v", id, wrote, err)
		}
	}
	repair("0", false)
	_, err := db.Delete(ctx, &dynamo.DeleteInput{TableName: "places", Key: lookup("a")})
	if err != nil {
		t.Fatal(err)
	}
	repair("0", true)
	p.audit(t, db)
	stray := dynamo.Item(lookup("a"))
	stray["type"], stray["ID"], stray["Code"] = dynamo.S("PlaceCode"), dynamo.S("gone"),
		dynamo.S("a")
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "places", Item: stray}); err != nil {
		t.Fatal(err)
	}
	repair("0", true)
	p.audit(t, db)
	// A second item with the same value, written by something else, is not given the code.
	rival, err := p.e.Item(Place{ID: "9", Code: "B"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "places", Item: rival}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.codes.Repair(ctx, s, Place{ID: "9"}); !errors.Is(err, st.ErrTaken) {
		t.Error("a rival takes the code:", err)
	}
	repair("nobody", false)
}
