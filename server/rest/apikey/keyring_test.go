package apikey_test

import (
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func keyring(t *testing.T) (*apikey.Keyring, dynamo.DB) {
	t.Helper()
	db := storetest.OpenFor(t, engine.Options{})
	r := apikey.NewKeyring(singletable.NewStore(db, singletable.Options{}), nil)
	if _, err := db.CreateTable(t.Context(), r.Table().CreateTableInput()); err != nil {
		t.Fatal(err)
	}
	return r, db
}

// stored returns a key as it is stored.
func stored(t *testing.T, db dynamo.DB, id string) dynamo.Item {
	t.Helper()
	out, err := db.Get(t.Context(), &dynamo.GetInput{
		TableName: apikey.TableNameDefault, ConsistentRead: true,
		Key: dynamo.Item{
			"PK": dynamo.S("@server#apikey#" + id), "SK": dynamo.S("METADATA"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// A key that was stored before keys could be bound to persons has no such attribute. It is read as
// one that is bound to nobody, and one that is bound to nobody is stored like it.
func TestAKeyOfNobodyIsStoredAsKeysAlwaysWere(t *testing.T) {
	r, db := keyring(t)
	key, token, err := r.Create(t.Context(), apikey.New{
		Name: "n", Scopes: []api.Scope{api.LedgerRead},
	})
	if err != nil {
		t.Fatal(err)
	}
	item := stored(t, db, key.ID)
	if subject, there := item["Subject"]; there || len(item) == 0 {
		t.Errorf("it is stored with the subject %v: %v", subject, item)
	}
	got, err := r.Authenticate(t.Context(), token)
	if err != nil || got.Subject != "" || !got.Allows(api.LedgerRead) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAKeyStaysBoundToItsPerson(t *testing.T) {
	r, _ := keyring(t)
	key, token, err := r.Create(t.Context(), apikey.New{
		Name: "n", Scopes: []api.Scope{api.StatementsRead}, Subject: "alice",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Authenticate(t.Context(), token)
	if err != nil || got.Subject != "alice" {
		t.Errorf("got %+v, %v", got, err)
	}
	revoked, err := r.Revoke(t.Context(), key.ID)
	if err != nil || revoked.Subject != "alice" {
		t.Errorf("revoked %+v, %v", revoked, err)
	}
	if _, err := r.Authenticate(t.Context(), token); !errors.Is(err, apikey.ErrKeyRefused) {
		t.Errorf("after that: %v", err)
	}
}

func TestATokenIsToldFromAKeyByItsBeginning(t *testing.T) {
	for token, want := range map[string]bool{
		"exq_0123456789abcdef_00": true, "exq_": true, "exq": false, "": false,
		"eyJhbGciOiJFUzI1NiJ9.e30.AA": false, "EXQ_0123456789abcdef_00": false,
	} {
		if got := apikey.Is(token); got != want {
			t.Errorf("%q is a key: %t", token, got)
		}
	}
}
