package apikey_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
)

// A key is stored as the SHA-256 of its secret, in the form of the first release: keys that were
// handed out then are still accepted, and only with their whole secret.
func TestAKeyOfTheFirstReleaseIsAccepted(t *testing.T) {
	const id = "0123456789abcdef"
	secret := strings.Repeat("5e", 32)
	sum := sha256.Sum256([]byte(secret))
	digest := hex.EncodeToString(sum[:])
	for name, c := range map[string]struct {
		hash string
		ok   bool
	}{
		"the hash of the secret":         {digest, true},
		"a hash that differs at the end": {digest[:len(digest)-1] + other(digest), false},
		"the beginning of the hash":      {digest[:32], false},
		"the secret itself":              {secret, false},
		"nothing":                        {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			r, db := keyring(t)
			_, err := db.Put(t.Context(), &dynamo.PutInput{
				TableName: apikey.TableNameDefault, Item: dynamo.Item{
					"PK": dynamo.S("@server#apikey#" + id), "SK": dynamo.S("METADATA"),
					"Type": dynamo.S("APIKey"), "ID": dynamo.S(id), "Name": dynamo.S("till"),
					"Scopes":    dynamo.L(dynamo.S("ledger:read")),
					"Hash":      dynamo.S(c.hash),
					"CreatedAt": dynamo.S("2026-01-02T10:30:00.123Z"),
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			key, err := r.Authenticate(t.Context(), "exq_"+id+"_"+secret)
			if (err == nil) != c.ok {
				t.Fatalf("got %+v, %v", key, err)
			}
			if c.ok && (key.Name != "till" || !key.Allows(api.LedgerRead)) {
				t.Errorf("got %+v", key)
			}
		})
	}
}

// other returns a hexadecimal digit that a text does not end with.
func other(text string) string {
	if strings.HasSuffix(text, "0") {
		return "1"
	}
	return "0"
}

// What is stored of a new key is the hash of its secret, and the secret is nowhere in the item.
func TestOnlyTheHashOfASecretIsStored(t *testing.T) {
	r, db := keyring(t)
	key, token, err := r.Create(t.Context(), apikey.New{
		Name: "n", Scopes: []api.Scope{api.LedgerRead},
	})
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimPrefix(token, "exq_"+key.ID+"_")
	sum := sha256.Sum256([]byte(secret))
	item := stored(t, db, key.ID)
	if got := item["Hash"].S(); got != hex.EncodeToString(sum[:]) {
		t.Errorf("the stored hash is %q, not the SHA-256 of the secret", got)
	}
	for name, value := range item {
		if strings.Contains(value.S(), secret) {
			t.Errorf("the attribute %s holds the secret", name)
		}
	}
}
