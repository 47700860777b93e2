package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// namesake is a person who has what another has under the very same ids, so that nothing but the
// person tells the two apart.
type namesake struct {
	*client.Client
	name string
	pass []string
}

func (w *world) namesake(name string) *namesake {
	w.t.Helper()
	ctx := w.t.Context()
	key := must[client.CreatedKey](w.t)(w.CreateKey(ctx, client.NewAPIKey{
		Name: name, Subject: name, Scopes: []string{"statements:read", "statements:write"},
	}))
	n := &namesake{w.client(client.Options{Key: key.Secret}), name, bearer(key.Secret)}
	must[client.Profile](w.t)(n.SaveProfile(ctx, name+"@example.com", client.Preferences{}, 0))
	must[client.BankAccountReceipt](w.t)(n.CreateBankAccount(ctx, client.NewBankAccount{
		ID: "everyday", Name: "Of " + name, Currency: "NZD",
	}))
	for i := range 3 {
		must[client.BankTransactionReceipt](w.t)(n.AddBankTransaction(ctx, "everyday",
			client.NewBankTransaction{
				IdempotencyKey: fmt.Sprint("row ", i), Date: "2025-08-01", Amount: dec("-1"),
				Merchant: "Shop of " + name,
			}))
	}
	for i := range 2 {
		must[client.UploadReceipt](w.t)(n.Upload(ctx, "everyday", client.NewUpload{
			ID:   client.UploadID(fmt.Sprint("upload", i)),
			Body: strings.NewReader(august), FileName: "of-" + name + ".csv",
		}))
	}
	return n
}

// everything is what somebody has, as they read it.
func (n *namesake) everything(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	s := must[client.Start](t)(n.Start(t.Context()))
	uploads := must[client.Page[client.Upload]](t)(n.Uploads(t.Context(), "everyday",
		client.PageQuery{}))
	if err := n.Export(t.Context(), &b, client.ExportQuery{Format: "json"}); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v\n%+v\n%s", *s.Profile, uploads, b.String())
}

// A cursor is of one person's list, however equal the lists are.
func TestCursorsAreOfOnePersonAlone(t *testing.T) {
	w := start(t, withKeys)
	alice, bob := w.namesake("alice"), w.namesake("bob")
	ctx := t.Context()
	days := client.DaysQuery{From: "2025-08-01", To: "2025-08-31"}
	found := client.BankSearch{From: days.From, To: days.To}
	for _, list := range []struct {
		name string
		page func(*namesake, client.PageQuery) (next string, err error)
	}{
		{"transactions", func(n *namesake, q client.PageQuery) (string, error) {
			days.PageQuery = q
			page, err := n.BankTransactions(ctx, "everyday", days)
			return page.Next, err
		}},
		{"a search", func(n *namesake, q client.PageQuery) (string, error) {
			found.PageQuery = q
			page, err := n.SearchBankTransactions(ctx, found)
			return page.Next, err
		}},
		{"uploads", func(n *namesake, q client.PageQuery) (string, error) {
			page, err := n.Uploads(ctx, "everyday", q)
			return page.Next, err
		}},
	} {
		t.Run(list.name, func(t *testing.T) {
			next := must[string](t)(list.page(alice, client.PageQuery{Limit: 1}))
			if next == "" {
				t.Fatal("there is no cursor to give away")
			}
			if _, err := list.page(alice, client.PageQuery{Limit: 1, Cursor: next}); err != nil {
				t.Errorf("for whom it is: %v", err)
			}
			_, err := list.page(bob, client.PageQuery{Limit: 1, Cursor: next})
			if !errors.Is(err, statements.ErrInvalidCursor) {
				t.Errorf("for somebody else: %v", err)
			}
		})
	}
}

// What a caller says of themselves in headers, parameters and bodies is not asked for.
func TestNobodyPassesForAnotherByName(t *testing.T) {
	w := start(t, withKeys)
	alice, bob := w.namesake("alice"), w.namesake("bob")
	before := alice.everything(t)
	says := append([]string{
		"X-User-Id", "alice", "X-User", "alice", "X-Subject", "alice", "X-Forwarded-User", "alice",
		"X-Amzn-Oidc-Identity", "alice", "From", "alice@example.com",
		"Cookie", "user=alice; sub=alice", "Content-Type", "application/json",
	}, bob.pass...)
	fill := strings.NewReplacer("{account}", "everyday", "{upload}", "upload0")
	routes := w.personalRoutes()
	if len(routes) < 40 {
		t.Fatalf("%d routes: these cannot be all", len(routes))
	}
	// What is deleted first leaves the others nothing to look at.
	for _, deletes := range []bool{false, true} {
		for _, r := range routes {
			if (r.method == http.MethodDelete) != deletes {
				continue
			}
			path := fill.Replace(param.ReplaceAllStringFunc(r.path, func(p string) string {
				if fill.Replace(p) != p {
					return p
				}
				return "none"
			}))
			values := url.Values{}
			for _, q := range r.queries {
				if q.required {
					values.Set(q.name, q.example)
				}
			}
			body := ""
			if r.media == "application/json" {
				body = `{"userId":"alice","user":"alice","sub":"alice"}`
			}
			for _, query := range []string{"", "&userId=alice", "&user=alice", "&sub=alice"} {
				a := w.send(r.method, path+"?"+values.Encode()+query, body, says...)
				if strings.Contains(a.body, "of alice") || strings.Contains(a.body, "alice@") ||
					strings.Contains(a.body, "of-alice") {
					t.Fatalf("%s %s%s reads of alice: %s", r.method, r.path, query, a.body)
				}
				// Nothing of it is known, rather than not looked at.
				if query != "" && a.status < 400 {
					t.Errorf("%s %s%s has status %d", r.method, r.path, query, a.status)
				}
			}
		}
	}
	if diff := cmp.Diff(before, alice.everything(t)); diff != "" {
		t.Errorf("what is alice's was changed (-before +after):\n%s", diff)
	}
}
