package singletable_test

import (
	"context"
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// Shop has a code that is unique, and no version that would protect it as well.
type Shop struct {
	ID   string
	Code string `dynamodbav:",omitempty"`
}

// TestALookupItemOfAnotherIsLeftAlone lets each verb that gives up or changes a unique value meet a
// lookup item that names another owner, and an item whose value is another one meanwhile. In both
// the writer knows something that is not so any more, and nothing may change.
func TestALookupItemOfAnotherIsLeftAlone(t *testing.T) {
	table := st.NewTable("shops", st.Keys("PK", "SK"))
	shops := st.NewEntity[Shop](table, "Shop", st.Primary("SHOP#<ID>", "META"),
		st.Discriminator("type", "Shop"))
	st.NewUnique(shops, "ShopCode", st.Primary("CODE#<Code>", "META"),
		st.Discriminator("type", "ShopCode"), st.Copy("Code"))
	code := st.FieldOf(shops, func(v *Shop) *string { return &v.Code })
	known := Shop{ID: "1", Code: "a"}
	verbs := map[string]func(context.Context, *st.Store) error{
		"update after reading": func(ctx context.Context, s *st.Store) error {
			_, err := shops.Update(ctx, s, known, code.Set("b"), shops.ReadFirst())
			return err
		},
		"update": func(ctx context.Context, s *st.Store) error {
			_, err := shops.Update(ctx, s, known, code.Set("b"), shops.WithKnown(known))
			return err
		},
		"remove the value": func(ctx context.Context, s *st.Store) error {
			_, err := shops.Update(ctx, s, known, code.Remove(), shops.WithKnown(known))
			return err
		},
		"replace": func(ctx context.Context, s *st.Store) error {
			_, err := shops.Replace(ctx, s, Shop{ID: "1", Code: "b"})
			return err
		},
		"delete": func(ctx context.Context, s *st.Store) error {
			return shops.Delete(ctx, s, known)
		},
	}
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			for what, spoil := range map[string]struct{ key, attribute, value string }{
				"the lookup item names another":  {"CODE#a", "ID", "2"},
				"the item has another value now": {"SHOP#1", "Code", "c"},
			} {
				db := storetest.Hook(storetest.OpenFor(t, engine.Options{SweepInterval: -1}))
				ctx := t.Context()
				if err := table.Ensure(ctx, db); err != nil {
					t.Fatal(err)
				}
				s := st.NewStore(db, st.Options{Retry: st.Retry{Attempts: 2}})
				if err := shops.Create(ctx, s, known); err != nil {
					t.Fatal(err)
				}
				change := &dynamo.UpdateInput{TableName: "shops",
					Key:              dynamo.Key{"PK": dynamo.S(spoil.key), "SK": dynamo.S("META")},
					UpdateExpression: "SET #a = :v",
					Expressions: dynamo.Expressions{
						ExpressionAttributeNames: map[string]string{"#a": spoil.attribute},
						ExpressionAttributeValues: map[string]dynamo.Value{
							":v": dynamo.S(spoil.value),
						},
					}}
				var before []dynamo.Item
				db.Before(func() error {
					if err := storetest.Retry(func() error {
						_, err := db.Update(ctx, change)
						return err
					}); err != nil {
						t.Fatal(err)
					}
					before = storetest.Items(t, db, "shops")
					return nil
				}, "TransactWriteItems")
				if err := verb(ctx, s); !errors.Is(err, st.ErrChanged) {
					t.Errorf("%s: %v, want ErrChanged", what, err)
				}
				after := storetest.Items(t, db, "shops")
				if len(before) != 2 || len(after) != 2 || !before[0].Equal(after[0]) ||
					!before[1].Equal(after[1]) {
					t.Errorf("%s:\n%v became\n%v", what, before, after)
				}
			}
		})
	}
}
