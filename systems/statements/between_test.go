package statements

import (
	"context"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// itemWrites are the operations of the store that change something.
var itemWrites = []string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems",
	"BatchWriteItem"}

// newHooked is an intake whose calls of the store a test comes in between of.
func newHooked(t testing.TB) (*intake, *storetest.Hooked) {
	t.Helper()
	files := &cabinet{files: map[string][]byte{}}
	hooked := storetest.Hook(storetest.OpenFor(t, engine.Options{}))
	s := newShelfOn(t, hooked, Options{Files: files})
	return &intake{s, files, s.user(t, "someone", "a", "b"), t}, hooked
}

// beforeWrite calls do before the n-th write from now on, counted from 1.
func beforeWrite(hooked *storetest.Hooked, n int, do func()) {
	var hook func() error
	hook = func() error {
		if n--; n > 0 {
			hooked.Before(hook, itemWrites...)
			return nil
		}
		do()
		return nil
	}
	hooked.Before(hook, itemWrites...)
}

// An erasure looks through the months again after the uploads are gone: an import that ran beside
// it, at whatever point, leaves nothing behind.
func TestAnErasureAmidAnImportLeavesNothing(t *testing.T) {
	erasures := map[string]func(*intake) error{
		"account": func(i *intake) error {
			_, err := i.p.EraseAccount(context.Background(), "a", nil)
			return err
		},
		"all": func(i *intake) error {
			_, err := i.p.Erase(context.Background(), nil)
			return err
		},
	}
	for name, erase := range erasures {
		met := true
		for write := 1; met; write++ {
			i, hooked := newHooked(t)
			i.bring("a", "0", csvFile("2025-07-30,-40.00,Bistro"))
			i.upload("a", "1", csvFile("2025-07-30,-40.00,Bistro", "2025-08-01,-9.00,Market"))
			met = false
			beforeWrite(hooked, write, func() {
				met = true
				// It ends without a write where its upload is gone already.
				_, _ = i.p.Import(context.Background(), "a", "1", ImportOptions{})
			})
			if err := erase(i); err != nil {
				t.Fatalf("%s, an import before write %d: %v", name, write, err)
			}
			if left := i.itemsOfAccount("a"); len(left) > 0 {
				t.Errorf("%s, an import before write %d leaves %v", name, write, left)
			}
			if write == 1 && !met {
				t.Fatalf("%s writes nothing", name)
			}
		}
	}
}

// What a person deleted stays deleted, also where another import of the row was planned before.
func TestADeletedRowStaysDeletedUnderAnImportThatGoesOn(t *testing.T) {
	met := true
	for write := 1; met; write++ {
		i, hooked := newHooked(t)
		i.upload("a", "1", csvFile("2025-07-30,-40.00,Bistro"))
		i.upload("a", "2", csvFile("2025-07-30,-40.00,Bistro", "2025-08-01,-9.00,Market"))
		met = false
		beforeWrite(hooked, write, func() {
			met = true
			if _, err := i.p.Import(t.Context(), "a", "1", ImportOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, row := range i.rows("a") {
				at := At{AccountID: "a", Date: row.Date, ID: row.ID}
				if err := i.p.DeleteTransaction(t.Context(), at, row.Version); err != nil {
					t.Fatal(err)
				}
			}
		})
		if _, err := i.p.Import(t.Context(), "a", "2", ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		rows := map[string]int{}
		for _, row := range i.rows("a") {
			rows[string(row.Date)]++
		}
		if rows["2025-07-30"] > 1 || rows["2025-08-01"] > 1 {
			t.Errorf("rows are there twice: %v", rows)
		}
		if met && rows["2025-07-30"] != 0 {
			t.Errorf("before write %d: the deleted row has come again: %v", write, rows)
		}
		i.adds("a")
	}
}
