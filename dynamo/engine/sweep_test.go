package engine_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// TestAnItemWhoseExpiryWasMovedStays changes an item between the moment when the sweep finds that
// it has expired and the moment when it deletes it.
func TestAnItemWhoseExpiryWasMovedStays(t *testing.T) {
	const found, later = 1_949_999_000, 1_949_999_500
	for name, c := range map[string]struct {
		expires dynamo.Value
		gone    bool
	}{
		"it expires as found":         {dynamo.Int(found), true},
		"it expires later":            {dynamo.Int(later), false},
		"it expires earlier":          {dynamo.Int(found - 1), false},
		"it does not expire any more": {dynamo.S("never"), false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			db, err := engine.OpenMemory(engine.Options{SweepInterval: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if err := createLoadTable(ctx, db); err != nil {
				t.Fatal(err)
			}
			item := key("a", "1")
			item["Expires"] = c.expires
			in := &dynamo.PutInput{TableName: loadTable, Item: item}
			if _, err := db.Put(ctx, in); err != nil {
				t.Fatal(err)
			}
			gone, err := db.ExpireFound(loadTable, key("a", "1"), found)
			if err != nil || gone != c.gone {
				t.Errorf("deleted: %t, %v", gone, err)
			}
			out, err := db.Get(ctx, &dynamo.GetInput{TableName: loadTable, Key: key("a", "1")})
			if err != nil || (out.Item == nil) != c.gone {
				t.Errorf("the item is %v, %v", out.Item, err)
			}
		})
	}
}
