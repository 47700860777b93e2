package singletable_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestADescriptionIsWhatIsStored compares what is told of an entity and of the lookup item of its
// unique value with the items of one that has everything.
func TestADescriptionIsWhatIsStored(t *testing.T) {
	p := newPlaces()
	s, db := newStoreFor(t, p.table)
	defer db.Close()
	all := Place{ID: "1", Code: "a-1", Name: "A", Expires: time.Now().Add(time.Hour)}
	if err := p.e.Create(context.Background(), s, all); err != nil {
		t.Fatal(err)
	}
	stored := map[string]map[string]bool{}
	for _, item := range storetest.Items(t, db, p.table.Name()) {
		attributes := map[string]bool{}
		for name := range item {
			attributes[name] = true
		}
		stored[item["type"].S()] = attributes
	}
	described := map[string]map[string]bool{}
	for _, e := range p.table.Entities() {
		attributes := map[string]bool{e.Discriminator: true}
		for _, k := range e.Keys {
			attributes[k.Partition], attributes[k.Sort] = true, true
		}
		for _, a := range e.Attributes {
			attributes[a.Name] = true
		}
		described[e.Type] = attributes
	}
	if diff := cmp.Diff(stored, described); diff != "" {
		t.Errorf("what is described is not what is stored (-stored +described):\n%s", diff)
	}
}
