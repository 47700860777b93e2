package server_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server"
)

// asked is a request; N stands for what makes its ids and keys new, and names in angle brackets for
// what the answers before it brought.
type asked struct{ method, path, body, key string }

// deed is a write of the API, with what must be there before it.
type deed struct {
	name   string
	before []asked
	do     asked
}

const (
	postPath     = "/v1/transactions"
	depositBody  = `{"type":"deposit","to":"alice","amount":"5","currency":"USD"}`
	accountBody  = `{"id":"acc-N","userId":"u","accountType":"checking","currency":"USD"}`
	locationBody = `{"code":"c-N","name":"A","lat":-36.8,"lng":174.7}`
	paymentBody  = `{"accountId":"alice","payeeId":"bob","amount":"0.01","currency":"USD",` +
		`"at":"2026-01-02T00:00:00Z"}`
	laterBody = `{"accountId":"alice","payeeId":"bob","amount":"0.01","currency":"USD",` +
		`"at":"2027-01-02T00:00:00Z"}`
	bankBody = `{"id":"bank-N","name":"Bank N","currency":"NZD"}`
	rowBody  = `{"date":"2025-08-15","amount":"-5.50","merchant":"M"}`
	ruleBody = `{"id":"rule-N","name":"Rule N","conditions":[{"field":"text","op":"contains",` +
		`"text":"c N"}],"set":{"merchant":"M"}}`
	bankFile = "Date,Amount,Payee\n2025-08-15,-5.50,Coffee N\n2025-08-16,-6.50,Tea N\n"
	bank     = "/v1/me/accounts/bank-N"
	upload   = bank + "/uploads/up-N"
)

var (
	makeAccount  = asked{"POST", "/v1/accounts", accountBody, "acc-N"}
	makeLocation = asked{"POST", "/v1/locations", locationBody, "loc-N"}
	makeLater    = asked{"POST", "/v1/payments", laterBody, "pay-N"}
	makeBank     = asked{"POST", "/v1/me/accounts", bankBody, ""}
	makeRow      = asked{"POST", bank + "/transactions", rowBody, "row-N"}
	makeTag      = asked{"POST", "/v1/me/tags", `{"text":"Tag N"}`, ""}
	makeRule     = asked{"POST", "/v1/me/rules", ruleBody, ""}
	makeUpload   = asked{"POST", bank + "/uploads?id=up-N&fileName=a.csv", bankFile, ""}
	importUpload = asked{"POST", upload + "/import", "", ""}
)

// deeds are the operations that write, but for those that only repeat what others here do.
func deeds() []deed {
	at := func(path string) string { return path + "/<id>" }
	location, payment := at("/v1/locations"), at("/v1/payments")
	return []deed{
		{name: "open an account", do: makeAccount},
		{name: "close an account", before: []asked{makeAccount},
			do: asked{"POST", "/v1/accounts/acc-N/close", "", ""}},
		{name: "freeze an account", before: []asked{makeAccount},
			do: asked{"POST", "/v1/accounts/acc-N/freeze", "", ""}},
		{name: "set an overdraft", before: []asked{makeAccount},
			do: asked{"PUT", "/v1/accounts/acc-N/overdraft",
				`{"overdraftLimit":"10.00","currency":"USD"}`, ""}},
		{name: "create a merchant", do: asked{"POST", "/v1/merchants",
			`{"id":"mer-N","name":"M","category":"c","settlementAccountId":"shop"}`, "mer-N"}},
		{name: "post", do: asked{"POST", postPath, depositBody, "post-N"}},
		{name: "reverse", before: []asked{{"POST", postPath, depositBody, "rev-N"}},
			do: asked{"POST", postPath + "/<id>/reverse", `{"description":"x"}`, ""}},
		{name: "create a key", do: asked{"POST", "/v1/keys",
			`{"name":"k","scopes":["ledger:read"]}`, ""}},
		{name: "revoke a key", before: []asked{{"POST", "/v1/keys",
			`{"name":"k","scopes":["ledger:read"]}`, ""}}, do: asked{"POST",
			"/v1/keys/<id>/revoke", "", ""}},
		{name: "create a location", do: makeLocation},
		{name: "update a location", before: []asked{makeLocation},
			do: asked{"PATCH", location, `{"name":"B"}`, ""}},
		{name: "change a code", before: []asked{makeLocation},
			do: asked{"PATCH", location, `{"code":"d-N"}`, ""}},
		{name: "delete a location", before: []asked{makeLocation},
			do: asked{"DELETE", location, "", ""}},
		{name: "restore a location", before: []asked{makeLocation,
			{"DELETE", location, "", ""}}, do: asked{"POST", location + "/restore", `{}`, ""}},
		{name: "release a code", before: []asked{makeLocation,
			{"DELETE", location, "", ""}}, do: asked{"POST", location + "/release", "", ""}},
		{name: "import locations", do: asked{"POST", "/v1/locations/import",
			`{"rows":[{"line":2,"cells":{"code":"i-N","name":"I"}}]}`, ""}},
		{name: "schedule a payment", do: asked{"POST", "/v1/payments", laterBody, "sch-N"}},
		{name: "change a payment", before: []asked{makeLater},
			do: asked{"PATCH", payment, `{"description":"Rent"}`, ""}},
		{name: "put a payment off", before: []asked{makeLater},
			do: asked{"PATCH", payment, `{"at":"2027-02-02T00:00:00Z"}`, ""}},
		{name: "cancel a payment", before: []asked{makeLater},
			do: asked{"POST", payment + "/cancel", "", ""}},
		{name: "pay a payment", before: []asked{{"POST", "/v1/payments", paymentBody, "due-N"}},
			do: asked{"POST", payment + "/pay", "", ""}},
		{name: "save a rate", do: asked{"PUT", "/v1/rates/EUR/USD",
			`{"rate":"1.1","ttlSeconds":86400,"force":true}`, ""}},
		{name: "delete a rate", before: []asked{{"PUT", "/v1/rates/EUR/NZD",
			`{"rate":"1.9","ttlSeconds":86400,"force":true}`, ""}},
			do: asked{"DELETE", "/v1/rates/EUR/NZD", "", ""}},
		{name: "load rates", do: asked{"POST", "/v1/rates/days",
			`{"days":[{"date":"2025-12-31","base":"EUR","source":"ecb","rates":{"USD":"1.1"}}]}`,
			""}},
		{name: "save the profile", do: asked{"PUT", "/v1/me/profile",
			`{"email":"a-N@example.com","preferences":{"currency":"NZD"}}`, ""}},
		{name: "create a bank account", do: makeBank},
		{name: "change a bank account", before: []asked{makeBank},
			do: asked{"PATCH", bank, `{"name":"Other N"}`, ""}},
		{name: "add a row", before: []asked{makeBank}, do: makeRow},
		{name: "change a row", before: []asked{makeBank, makeRow},
			do: asked{"PATCH", bank + "/transactions/<id>", `{"notes":"With Hana"}`, ""}},
		{name: "annotate a row", before: []asked{makeBank, makeRow},
			do: asked{"POST", bank + "/transactions/<id>/annotations",
				`{"text":"t","type":"advisory","author":"a"}`, ""}},
		{name: "delete a row", before: []asked{makeBank, makeRow},
			do: asked{"DELETE", bank + "/transactions/<id>", "", ""}},
		{name: "create a tag", do: makeTag},
		{name: "rename a tag", before: []asked{makeTag},
			do: asked{"PATCH", "/v1/me/tags/<id>", `{"text":"Other N"}`, ""}},
		{name: "delete a tag", before: []asked{makeTag},
			do: asked{"DELETE", "/v1/me/tags/<id>", "", ""}},
		{name: "create a rule", do: makeRule},
		{name: "delete a rule", before: []asked{makeRule},
			do: asked{"DELETE", "/v1/me/rules/<id>", "", ""}},
		{name: "upload", before: []asked{makeBank}, do: makeUpload},
		{name: "import", before: []asked{makeBank, makeUpload}, do: importUpload},
		{name: "undo", before: []asked{makeBank, makeUpload, importUpload},
			do: asked{"POST", upload + "/undo", "", ""}},
		{name: "delete a file", before: []asked{makeBank, makeUpload},
			do: asked{"DELETE", upload + "/file", "", ""}},
		{name: "erase a bank account", before: []asked{makeBank, makeRow},
			do: asked{"DELETE", bank, "", ""}},
	}
}

// idOf finds the first id of an answer.
var idOf = regexp.MustCompile(`"id":"([^"]+)"`)

// ask sends a request of a deed.
func (w *world) ask(a asked, n, id string) reply {
	w.t.Helper()
	fill := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, "<id>", id), "-N", "-"+n)
	}
	var headers []string
	if a.key != "" {
		headers = append(headers, "Idempotency-Key", fill(a.key))
	}
	if strings.Contains(a.path, "/uploads?") {
		headers = append(headers, "Content-Type", "application/octet-stream")
	}
	body := strings.ReplaceAll(fill(a.body), " N", " "+n)
	return w.send(a.method, fill(a.path), body, headers...)
}

// prepare sends what comes before a deed, and returns the id of the last thing that it made.
func (w *world) prepare(d deed, n string) (id string) {
	w.t.Helper()
	for _, a := range d.before {
		r := w.ask(a, n, id)
		if r.status > 299 {
			w.t.Fatalf("%s %s before: %d %s", a.method, a.path, r.status, r.body)
		}
		if found := idOf.FindStringSubmatch(r.body); found != nil {
			id = found[1]
		}
	}
	return id
}

// lostAnswersMax is more than the writes of any deed here.
const lostAnswersMax = 12

// TestALostAnswerOfTheStoreIsFoundAgain loses the answer to the first write of each operation, to
// the second, and so on: what the store did is found again, and the operation succeeds.
func TestALostAnswerOfTheStoreIsFoundAgain(t *testing.T) {
	w := start(t)
	w.furnish()
	store := server.StoreOf(w.server)
	for i, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			w.t = t
			for k := 1; k <= lostAnswersMax; k++ {
				n := fmt.Sprintf("%d-%d", i, k)
				id := w.prepare(d, n)
				faults := engine.Faults{Rules: []engine.Fault{
					{Kind: engine.FaultLostAnswer, Every: k, Times: 1},
				}}
				if err := store.SetFaults(faults); err != nil {
					t.Fatal(err)
				}
				r := w.ask(d.do, n, id)
				struck := store.FaultCounts()[0].Met
				if err := store.SetFaults(engine.Faults{}); err != nil {
					t.Fatal(err)
				}
				if r.status > 299 {
					t.Errorf("the answer to write %d was lost: %d %s", k, r.status, r.body)
				}
				if struck == 0 {
					if k == 1 {
						t.Error("it writes nothing")
					}
					return
				}
			}
		})
	}
	w.t = t
}

// TestSchedulingsUnderLostAnswers schedules payments while three answers in ten are lost.
func TestSchedulingsUnderLostAnswers(t *testing.T) {
	for seed := range uint64(5) {
		w := start(t)
		w.furnish()
		store := server.StoreOf(w.server)
		faults := engine.Faults{Seed: seed,
			Rules: []engine.Fault{{Kind: engine.FaultLostAnswer, Rate: 0.3}}}
		if err := store.SetFaults(faults); err != nil {
			t.Fatal(err)
		}
		made := map[string]bool{}
		for n := range 20 {
			r := w.ask(makeLater, fmt.Sprint(n), "")
			if r.status != http.StatusCreated && r.status != http.StatusOK {
				t.Errorf("seed %d, payment %d: %d %s", seed, n, r.status, r.body)
				continue
			}
			made[idOf.FindStringSubmatch(r.body)[1]] = true
		}
		if err := store.SetFaults(engine.Faults{}); err != nil {
			t.Fatal(err)
		}
		list := w.send("GET", "/v1/payments?accountId=alice&from=2027-01-01&to=2027-01-31", "")
		for id := range made {
			if r := w.send("GET", "/v1/payments/"+id, ""); r.status != http.StatusOK {
				t.Errorf("seed %d: %s was answered and is %d; %s", seed, id, r.status, list.body)
			}
		}
	}
}
