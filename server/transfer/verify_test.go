package transfer_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/transfer"
)

// copied returns a store and its copy.
func copied(t *testing.T, n int) (from, to *engine.DB) {
	t.Helper()
	from, to = filled(t, n), memory(t)
	if _, err := transfer.Copy(t.Context(), from, to, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	return from, to
}

// TestEveryTamperingOfACopyIsNamed changes, removes and adds each attribute of an item in turn, and
// whole items, on either side.
func TestEveryTamperingOfACopyIsNamed(t *testing.T) {
	from, to := copied(t, 40)
	const tampered = 7
	whole := thing(tampered)
	delete1 := func(db *engine.DB) {
		_, err := db.Delete(t.Context(), &dynamo.DeleteInput{
			TableName: table, Key: dynamo.Key{"id": whole["id"], "at": whole["at"]},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	verify := func(what string, want transfer.What) {
		t.Helper()
		results, found, err := transfer.Verify(t.Context(), from, to,
			transfer.Options{Segments: 2}, 9)
		if !errors.Is(err, transfer.ErrDiffers) || len(results) > 0 || len(found) != 1 ||
			found[0].What != want || found[0].Key["at"].N() != strconv.Itoa(tampered)+".5" {
			t.Errorf("%s: %v, %+v, %v; want %s", what, results, found, err, want)
		}
	}
	for _, side := range []*engine.DB{from, to} {
		for _, name := range slices.Sorted(maps.Keys(whole)) {
			if name == "id" || name == "at" {
				continue
			}
			other := whole.Clone()
			other[name] = dynamo.S("another")
			put(t, side, other)
			verify("changed "+name, transfer.Differs)
			delete(other, name)
			put(t, side, other)
			verify("without "+name, transfer.Differs)
		}
		other := whole.Clone()
		other["new"] = dynamo.Null()
		put(t, side, other)
		verify("with a new attribute", transfer.Differs)
		delete1(side)
		if side == to {
			verify("gone from the copy", transfer.Missing)
		} else {
			verify("gone from the source", transfer.Extra)
		}
		put(t, side, whole)
		if _, found, err := transfer.Verify(t.Context(), from, to, transfer.Options{},
			9); err != nil || found != nil {
			t.Fatalf("when it is as before: %v, %v", found, err)
		}
	}
}

// TestEveryDifferenceOfDefinitionsIsNamed takes from the copy what decides which questions it
// answers and what becomes of its items.
func TestEveryDifferenceOfDefinitionsIsNamed(t *testing.T) {
	off := false
	for want, change := range map[string]*dynamo.UpdateTableInput{
		"index byGroup: the source has global, HASH group S, RANGE at N, INCLUDE n, " +
			"the other side none": {
			GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{Delete: "byGroup"}},
		},
		"stream: the source has KEYS_ONLY, the other side none": {
			StreamSpecification: &dynamo.StreamSpecification{StreamEnabled: false},
		},
		"deletion protection: the source has one, the other side none": {
			DeletionProtectionEnabled: &off,
		},
		"attribute of expiry: the source has ttl, the other side none": nil,
	} {
		from, to := copied(t, 3)
		var err error
		if change == nil {
			err = to.UpdateTimeToLive(t.Context(), &dynamo.UpdateTimeToLiveInput{
				TableName: table, AttributeName: "ttl", Enabled: false,
			})
		} else {
			change.TableName = table
			_, err = to.UpdateTable(t.Context(), change)
		}
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		results, found, err := transfer.Verify(t.Context(), from, to, transfer.Options{}, 9)
		if !errors.Is(err, transfer.ErrDiffers) || len(results) > 0 || len(found) != 1 ||
			found[0].What != transfer.Defined || found[0].Text != want {
			t.Errorf("%v, %+v, %v; want %q", results, found, err, want)
		}
	}
}

// restless is a store to which something is written whenever items of it are read by their keys.
type restless struct {
	*engine.DB
	write func(look int64)
	looks atomic.Int64
}

func (r *restless) BatchGet(ctx context.Context, in *dynamo.BatchGetInput) (
	*dynamo.BatchGetOutput, error,
) {
	r.write(r.looks.Add(1))
	return r.DB.BatchGet(ctx, in)
}

// TestAnItemThatMovesIsNotDecided writes to an item on both sides while it is compared.
func TestAnItemThatMovesIsNotDecided(t *testing.T) {
	for name, test := range map[string]struct {
		write func(t *testing.T, from, to *engine.DB, look int64)
		want  error
		what  transfer.What
	}{
		"at each look": {func(t *testing.T, from, _ *engine.DB, look int64) {
			item := thing(3)
			item["n"] = dynamo.Int(look)
			put(t, from, item)
		}, transfer.ErrUndecided, transfer.Moving},
		"until it is the same": {func(t *testing.T, _, to *engine.DB, look int64) {
			if look == 2 {
				put(t, to, thing(3))
			}
		}, transfer.ErrUndecided, transfer.Moving},
		"until it is the same before it is looked up": {
			func(t *testing.T, _, to *engine.DB, look int64) { put(t, to, thing(3)) },
			transfer.ErrUndecided, "",
		},
		"once, so that it differs": {func(t *testing.T, from, _ *engine.DB, look int64) {
			item := thing(3)
			item["n"] = dynamo.N("77")
			put(t, from, item)
		}, transfer.ErrDiffers, transfer.Differs},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := copied(t, 10)
			other := thing(3)
			other["n"] = dynamo.N("5")
			put(t, to, other)
			source := &restless{DB: to, write: func(look int64) { test.write(t, from, to, look) }}
			_, found, err := transfer.Verify(t.Context(), from, source,
				transfer.Options{Segments: 1}, 9)
			what := transfer.What("")
			for _, d := range found {
				what = d.What
			}
			if !errors.Is(err, test.want) || what != test.what {
				t.Errorf("%+v, %v; want %q, %v", found, err, test.what, test.want)
			}
			// A difference elsewhere stands, whatever moves.
			put(t, to, thing(2000))
			_, found, err = transfer.Verify(t.Context(), from, source,
				transfer.Options{Segments: 1}, 0)
			if !errors.Is(err, transfer.ErrDiffers) || len(found) > 0 {
				t.Errorf("with one that stands: %+v, %v", found, err)
			}
		})
	}
}
