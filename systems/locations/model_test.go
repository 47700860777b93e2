package locations_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// plainPlace is a location as a list on paper has it.
type plainPlace struct {
	code, former string
	deleted      bool
	name         string
}

// paper is the directory as a list on paper.
type paper struct {
	places map[locations.ID]*plainPlace
	order  []locations.ID
}

// owner returns who has a code, in any case.
func (p *paper) owner(code string) locations.ID {
	for id, place := range p.places {
		if place.code != "" && strings.EqualFold(place.code, code) {
			return id
		}
	}
	return ""
}

// free says what stands in the way of a location getting a code.
func (p *paper) free(id locations.ID, code string) problem.Code {
	owner := p.owner(code)
	switch {
	case owner == "" || owner == id:
		return ""
	case p.places[owner].deleted:
		return locations.ErrCodeReserved.Code()
	}
	return locations.ErrCodeTaken.Code()
}

// TestNoSequenceOfOperationsBreaksTheDirectory does random things and compares each outcome, and
// then the whole table, with a list on paper.
func TestNoSequenceOfOperationsBreaksTheDirectory(t *testing.T) {
	for name, opts := range map[string]locations.Options{
		"the seed's own design": {}, "everything optional": everything,
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				for range storetest.Rounds(1) {
					run(t, r, opts)
				}
			})
		})
	}
}

// run does random things to a directory of its own.
func run(t *testing.T, r *rapid.T, opts locations.Options) {
	db, err := engine.OpenMemory(engine.Options{Faults: storetest.Faults()})
	if err != nil {
		r.Fatal(err)
	}
	defer db.Close()
	opts.NewID = ids()
	d := openOn(t, db, opts)
	p := &paper{places: map[locations.ID]*plainPlace{}}
	for range rapid.IntRange(1, 30).Draw(r, "steps") {
		step(r, d, p)
		compare(r, d, p)
	}
}

// step does one random thing to both.
func step(r *rapid.T, d *directory, p *paper) {
	code := rapid.SampledFrom([]string{"a", "A", "b", "B", "c", "0c", "d"}).Draw(r, "code")
	name := rapid.SampledFrom([]string{"x", "y"}).Draw(r, "name")
	verb := rapid.SampledFrom([]string{"create", "reuse", "code", "name", "delete", "restore",
		"restore with a code", "release", "swap"}).Draw(r, "verb")
	var id, other locations.ID
	if len(p.order) > 0 {
		id = rapid.SampledFrom(p.order).Draw(r, "id")
		other = rapid.SampledFrom(p.order).Draw(r, "other")
	}
	ctx := r.Context()
	place := p.places[id]
	if place == nil && verb != "create" {
		return
	}
	var err error
	var want problem.Code
	switch verb {
	case "create", "reuse":
		n := named(code, fmt.Sprintf("%s %d", name, len(p.order)))
		n.Reuse = verb == "reuse"
		var made locations.Location
		made, _, err = d.Create(ctx, n)
		want = p.free("", code)
		if owner := p.places[p.owner(code)]; want == locations.ErrCodeReserved.Code() && n.Reuse {
			want, owner.former, owner.code = "", owner.code, ""
		}
		if err == nil {
			p.places[made.ID] = &plainPlace{code: code, name: n.Name}
			p.order = append(p.order, made.ID)
		}
	case "code":
		_, err = d.Update(ctx, id, "", locations.Change{Code: &code})
		if want = p.free(id, code); place.deleted {
			want = locations.ErrInactive.Code()
		}
		if want == "" {
			place.code = code
		}
	case "name":
		_, err = d.Update(ctx, id, "", locations.Change{Name: &name})
		if place.deleted {
			want = locations.ErrInactive.Code()
		} else {
			place.name = name
		}
	case "delete":
		_, err = d.Delete(ctx, id, "")
		place.deleted = true
	case "restore", "restore with a code":
		to := place.code
		if to == "" {
			to = place.former
		}
		if verb == "restore" {
			_, err = d.Restore(ctx, id, "", "")
		} else {
			to = code
			_, err = d.Restore(ctx, id, "", code)
		}
		if place.deleted {
			if want = p.free(id, to); want == "" {
				place.code, place.former, place.deleted = to, "", false
			}
		} else if verb != "restore" && !strings.EqualFold(code, place.code) {
			want = locations.ErrActive.Code()
		}
	case "release":
		_, err = d.Release(ctx, id, "")
		switch {
		case !place.deleted:
			want = locations.ErrActive.Code()
		case place.code != "":
			place.former, place.code = place.code, ""
		}
	case "swap":
		_, _, err = d.Swap(ctx, id, other)
		b := p.places[other]
		switch {
		case id == other:
			want = locations.ErrInvalid.Code()
		case place.deleted || b.deleted:
			want = locations.ErrInactive.Code()
		default:
			place.code, b.code = b.code, place.code
		}
	}
	got := problem.Code("")
	if err != nil {
		got = problem.From(err).Code
	}
	if got != want {
		r.Fatalf("%s %s %s: %v, want %q", verb, id, code, err, want)
	}
}

// compare checks that every location is as on paper, and that the table has a lookup item for each
// code and no other.
func compare(r *rapid.T, d *directory, p *paper) {
	for id, place := range p.places {
		l, err := d.Location(r.Context(), id)
		if err != nil || l.Code != place.code || l.FormerCode != place.former ||
			l.Name != place.name || (l.Status == locations.Inactive) != place.deleted {
			r.Fatalf("%+v, %v, want %+v", l, err, place)
		}
	}
	lookups := map[string]string{}
	var from dynamo.Key
	for {
		out, err := d.db.Scan(r.Context(), &dynamo.ScanInput{TableName: d.Table().Name(),
			ConsistentRead: true, ExclusiveStartKey: from})
		if err != nil {
			r.Fatal(err)
		}
		for _, item := range out.Items {
			if code, ok := strings.CutPrefix(item["PK"].S(), "LOCATION_CODE#"); ok {
				lookups[code] = item["locationId"].S() + " " + item["locationCode"].S()
			}
		}
		if from = out.LastEvaluatedKey; from == nil {
			break
		}
	}
	for id, place := range p.places {
		if place.code == "" {
			continue
		}
		key := strings.ToLower(place.code)
		if want := string(id) + " " + place.code; lookups[key] != want {
			r.Fatalf("the lookup item of %s says %q, want %q", key, lookups[key], want)
		}
		delete(lookups, key)
	}
	if len(lookups) > 0 {
		r.Fatalf("lookup items without a location: %v", lookups)
	}
	report, err := d.Repair(r.Context(), false)
	if err != nil || len(report.Faults) > 0 {
		r.Fatalf("repair finds %+v, %v", report.Faults, err)
	}
}
