package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/server"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

// published are the example items of the five published designs, as their own programs write them:
// without any attribute that only this product knows, and with the abbreviations of the examples.
const published = `{
"FinancialTransactions": [
  {"PK": "MERCHANT#550e8400-e29b-41d4-a716-446655440000", "SK": "METADATA", "Type": "Merchant",
   "ID": "550e8400-e29b-41d4-a716-446655440000", "Name": "Coffee Shop Inc",
   "Category": "Restaurant"},
  {"PK": "ACCOUNT#660f9511-e29b-41d4-a716-446655440000", "SK": "METADATA",
   "GSI1PK": "USER#770g0622-e29b-41d4-a716-446655440000", "GSI1SK": "ACCOUNT#660f9511...",
   "Type": "Account", "ID": "660f9511...", "UserID": "770g0622...", "AccountType": "checking",
   "Balance": 1500.00, "Currency": "USD", "Status": "active"},
  {"PK": "TXN#880h1733-e29b-41d4-a716-446655440000", "SK": "METADATA",
   "GSI1PK": "STATUS#completed", "GSI1SK": "CREATED#2026-01-02T10:30:00.123Z",
   "GSI2PK": "IDEMPOTENCY#abc123def456", "GSI2SK": "TXN", "Type": "Transaction",
   "ID": "880h1733...", "IdempotencyKey": "abc123def456", "TransactionType": "payment",
   "Status": "completed", "MerchantID": "550e8400...", "Description": "Coffee purchase",
   "Amount": 5.50, "CreatedAt": "2026-01-02T10:30:00.123Z"},
  {"PK": "TXN#880h1733-e29b-41d4-a716-446655440000",
   "SK": "LEG#990i2844-e29b-41d4-a716-446655440000",
   "GSI1PK": "ACCOUNT#660f9511-e29b-41d4-a716-446655440000",
   "GSI1SK": "LEG#2026-01-02T10:30:00.123Z#990i2844...", "Type": "TransactionLeg",
   "ID": "990i2844...", "TransactionID": "880h1733...", "AccountID": "660f9511...",
   "LegType": "debit", "Amount": 5.50, "Currency": "USD",
   "CreatedAt": "2026-01-02T10:30:00.123Z"}
],
"PaymentScheduler": [
  {"AccountID": "payer", "ScheduledTime": "2019-09-25T01:01:01", "Sharded-GSI-PK": "3",
   "Status#Time": "SCHEDULED#2019-09-25T01:01:01", "DataBlob": "order 7"},
  {"AccountID": "payer", "ScheduledTime": "2019-09-25T00:00:00", "Sharded-GSI-PK": "0",
   "Status#Time": "PROCESSED#2019-09-25T00:00:00", "DataBlob": "order 6"}
],
"PuteaMatai": [
  {"PK": "USER#user-1234abcd", "SK": "@PROFILE", "email": "user@example.com",
   "preferences": {"currency": "NZD", "timezone": "Pacific/Auckland"}},
  {"PK": "USER#user-1234abcd", "SK": "ACCOUNT#account-5678efgh", "name": "Everyday Checking",
   "currency": "NZD", "createdAt": "2023-05-01T12:00:00Z"},
  {"PK": "USER#user-1234abcd", "SK": "TAG#tag-001", "text": "Groceries"},
  {"PK": "USER#user-1234abcd#ACCOUNT#5678efgh#2025-08",
   "SK": "TRANSACTION#2025-08-13#txn-abc123", "amount": 150.75, "currency": "NZD",
   "merchant": "Supermarket X", "tagIds": ["tag-001"], "tags": ["Groceries"],
   "date": "2025-08-13", "notes": "Weekly shopping", "annotations": [{
     "annotationId": "ann-456def", "text": "Expected increase in grocery costs next month",
     "type": "advisory", "createdAt": "2025-08-14T09:00:00Z"}]},
  {"PK": "USER#user-1234abcd#ACCOUNT#5678efgh", "SK": "UPLOAD#upload-789xyz",
   "uploadedAt": "2025-08-15T14:30:00Z",
   "dateRange": {"start": "2025-07-01", "end": "2025-07-31"},
   "s3ObjectKey": "uploads/user-1234abcd/account-5678efgh/statement-2025-07.csv",
   "status": "processed"}
],
"ExchangeRates": [
  {"PK": "RATE#USD#EUR", "Base": "USD", "Target": "EUR", "Rate": 0.85, "Timestamp": 1704067200,
   "Stale": false, "ttl": 1704153600},
  {"PK": "RATE#USD#GBP", "Base": "USD", "Target": "GBP", "Rate": 0.75, "Timestamp": 1704067200,
   "Stale": false, "ttl": 1704153600},
  {"PK": "RATE#EUR#GBP", "Base": "EUR", "Target": "GBP", "Rate": 0.88, "Timestamp": 1704067200,
   "Stale": false, "ttl": 1704153600}
],
"aolfclub-entities": [
  {"PK": "LOCATION#01ARZ3NDEKTSV4RRFFQ69G5FAV", "SK": "META", "itemType": "Location",
   "locationId": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "locationCode": "austin-main-01",
   "name": "Austin Main Center", "placeId": "ChIJN1t_tDeuEmsRUsoyG83frY4",
   "formattedAddress": "123 Main St, Austin, TX 78701", "lat": 30.2672, "lng": -97.7431,
   "status": "active", "createdAt": "2024-01-15T10:30:00.000Z",
   "updatedAt": "2024-01-15T10:30:00.000Z"},
  {"PK": "LOCATION_CODE#austin-main-01", "SK": "META", "itemType": "LocationCodeLookup",
   "locationId": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "locationCode": "austin-main-01",
   "createdAt": "2024-01-15T10:30:00.000Z"}
]}`

const (
	publishedAccount     = "660f9511-e29b-41d4-a716-446655440000"
	publishedTransaction = "880h1733-e29b-41d4-a716-446655440000"
)

// stored turns a value of JSON into one of the store, as a document client does.
func storedValue(v any) dynamo.Value {
	switch v := v.(type) {
	case string:
		return dynamo.S(v)
	case json.Number:
		text, err := dynamo.CanonicalNumber(v.String())
		if err != nil {
			panic(err)
		}
		return dynamo.CanonicalN(text)
	case bool:
		return dynamo.Bool(v)
	case []any:
		var list []dynamo.Value
		for _, e := range v {
			list = append(list, storedValue(e))
		}
		return dynamo.L(list...)
	case map[string]any:
		m := map[string]dynamo.Value{}
		for name, e := range v {
			m[name] = storedValue(e)
		}
		return dynamo.M(m)
	}
	return dynamo.Null()
}

// publishedItems returns the items of the designs by table.
func publishedItems(t *testing.T) map[string][]dynamo.Item {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(published))
	d.UseNumber()
	var tables map[string][]map[string]any
	if err := d.Decode(&tables); err != nil {
		t.Fatal(err)
	}
	out := map[string][]dynamo.Item{}
	for table, items := range tables {
		for _, item := range items {
			out[table] = append(out[table], dynamo.Item(storedValue(item).M()))
		}
	}
	return out
}

// publish starts a server whose tables hold the items of the designs.
func publish(t *testing.T) *world {
	t.Helper()
	w := start(t, func(o *server.Options) { o.User = "user-1234abcd" })
	for table, items := range publishedItems(t) {
		for _, item := range items {
			w.write(table, item)
		}
	}
	return w
}

// write puts an item as any client of the store does.
func (w *world) write(table string, item dynamo.Item) {
	w.t.Helper()
	err := storetest.Retry(func() error {
		_, err := server.StoreOf(w.server).Put(w.t.Context(), &dynamo.PutInput{TableName: table,
			Item: item})
		return err
	})
	if err != nil {
		w.t.Fatalf("put into %s: %v", table, err)
	}
	if err := server.StoreOf(w.server).CatchUp(); err != nil {
		w.t.Fatal(err)
	}
}

// reads are the requests that read the items of the designs.
var reads = []string{
	"/v1/merchants/550e8400-e29b-41d4-a716-446655440000",
	"/v1/accounts/" + publishedAccount,
	"/v1/users/770g0622-e29b-41d4-a716-446655440000/accounts",
	"/v1/transactions/" + publishedTransaction,
	"/v1/transactions/" + publishedTransaction + "?legs=true",
	"/v1/transactions/" + publishedTransaction + "/legs",
	"/v1/transactions?status=completed",
	"/v1/transactions?status=completed&order=newest",
	"/v1/transactions?idempotencyKey=abc123def456",
	"/v1/transactions?idempotencyKey=abc123def456&legs=true",
	"/v1/accounts/" + publishedAccount + "/legs",
	"/v1/accounts/" + publishedAccount + "/statement?from=2026-01-01&to=2026-01-31",
	"/v1/accounts/payer/payments?from=2019-09-01&to=2019-10-01",
	"/v1/payments?status=SCHEDULED&date=2019-09-25",
	"/v1/payments?status=PROCESSED&date=2019-09-25",
	"/v1/payments/history?date=2019-09-25",
	"/v1/me/profile", "/v1/me/start", "/v1/me/accounts", "/v1/me/accounts/account-5678efgh",
	"/v1/me/tags",
	"/v1/me/accounts/5678efgh/transactions?from=2025-08-01&to=2025-08-31",
	"/v1/me/accounts/5678efgh/uploads",
	"/v1/me/accounts/5678efgh/uploads/upload-789xyz",
	"/v1/rates", "/v1/rates/health",
	"/v1/locations", "/v1/locations/01ARZ3NDEKTSV4RRFFQ69G5FAV",
	"/v1/locations/by-code/austin-main-01", "/v1/locations/directory",
	"/v1/locations/near?lat=30.2672&lng=-97.7431&radius=1000",
}

// TestItemsOfPublishedDesignsAreRead reads the items of the five designs through the API.
func TestItemsOfPublishedDesignsAreRead(t *testing.T) {
	w := publish(t)
	for path, wants := range map[string][]string{
		"/v1/merchants/550e8400-e29b-41d4-a716-446655440000": {`"name":"Coffee Shop Inc"`},
		"/v1/accounts/" + publishedAccount: {`"id":"` + publishedAccount + `"`,
			`"balance":"1500.00"`, `"userId":"770g0622-e29b-41d4-a716-446655440000"`},
		"/v1/transactions/" + publishedTransaction: {`"amount":"5.50"`, `"currency":"USD"`,
			`"id":"` + publishedTransaction + `"`, `"createdAt":"2026-01-02T10:30:00.123Z"`},
		"/v1/transactions?status=completed": {`"amount":"5.50"`, `"currency":"USD"`},
		"/v1/transactions?idempotencyKey=abc123def456&legs=true": {
			`"id":"` + publishedTransaction + `"`, `"accountId":"` + publishedAccount + `"`},
		"/v1/accounts/" + publishedAccount + "/legs": {`"type":"debit"`,
			`"accountId":"` + publishedAccount + `"`, `"transactionId":"` + publishedTransaction},
		"/v1/accounts/" + publishedAccount + "/statement?from=2026-01-01&to=2026-01-31": {
			`"opening":"1505.50"`, `"closing":"1500.00"`},
		"/v1/payments?status=SCHEDULED&date=2019-09-25": {`"at":"2019-09-25T01:01:01.000Z"`,
			`"status":"SCHEDULED"`, `"accountId":"payer"`},
		"/v1/accounts/payer/payments?from=2019-09-01&to=2019-10-01": {
			`"at":"2019-09-25T01:01:01.000Z"`, `"at":"2019-09-25T00:00:00.000Z"`},
		"/v1/payments/history?date=2019-09-25": {`"at":"2019-09-25T00:00:00.000Z"`},
		"/v1/me/start": {
			`"Everyday Checking"`, `"Groceries"`, `"user@example.com"`,
		},
		"/v1/me/accounts/5678efgh/transactions?from=2025-08-01&to=2025-08-31": {
			`"amount":"150.75"`, `"txn-abc123"`, `"ann-456def"`, `"tag-001"`},
		"/v1/me/accounts/5678efgh/uploads": {`"upload-789xyz"`, `"status":"processed"`},
		"/v1/rates":                        {`"rate":"0.85"`, `"rate":"0.75"`, `"rate":"0.88"`},
		"/v1/locations/by-code/austin-main-01": {
			`"01ARZ3NDEKTSV4RRFFQ69G5FAV"`, `30.2672`},
	} {
		got := w.send(http.MethodGet, path, "")
		body := strings.ReplaceAll(got.body, `": `, `":`)
		for _, want := range wants {
			if got.status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("GET %s: %d without %s: %s", path, got.status, want, body)
			}
		}
	}
	for _, path := range reads {
		got := w.send(http.MethodGet, path, "")
		if got.status != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, got.status, got.body)
		}
		for _, none := range []string{"0001-01-01", `""`, `"unreadable"`} {
			if strings.Contains(got.body, none) {
				t.Errorf("GET %s: the answer has %s: %s", path, none, got.body)
			}
		}
	}
	var listed struct{ Items []struct{ ID string } }
	got := w.send(http.MethodGet, "/v1/payments?status=SCHEDULED&date=2019-09-25", "")
	if err := json.Unmarshal([]byte(got.body), &listed); err != nil || len(listed.Items) != 1 {
		t.Fatalf("%v: %s", err, got.body)
	}
	one := w.send(http.MethodGet, "/v1/payments/"+listed.Items[0].ID, "")
	if one.status != http.StatusOK || !strings.Contains(one.body, listed.Items[0].ID) {
		t.Errorf("a payment by the id that a list shows: %d %s", one.status, one.body)
	}
	cancelled := w.send(http.MethodPost, "/v1/payments/"+listed.Items[0].ID+"/cancel", "")
	if p := cancelled.problem(t); p.Code != "payment_foreign" {
		t.Errorf("a payment of another program is cancelled: %s", cancelled.body)
	}
	for _, deed := range []string{"run", "days/2019-09-25/move"} {
		got := w.send(http.MethodPost, "/v1/payments/"+deed, "{}")
		if !strings.Contains(got.body, `2019-09-25T01:01:01`) {
			t.Errorf("%s does not name the payment that it leaves: %s", deed, got.body)
		}
	}
}

// TestKeysOfOtherProgramsAreHeld posts with the key of a transaction that another program wrote.
func TestKeysOfOtherProgramsAreHeld(t *testing.T) {
	w := publish(t)
	const leg = `{"accountId":"` + publishedAccount + `","type":"debit","amount":"5.50",` +
		`"currency":"USD"}`
	other := dynamo.Item{}
	for _, item := range publishedItems(t)["FinancialTransactions"] {
		if item["Type"].S() == "TransactionLeg" {
			other = maps.Clone(item)
		}
	}
	other["SK"], other["ID"] = dynamo.S("LEG#aa1j3955"), dynamo.S("aa1j3955")
	other["LegType"], other["AccountID"] = dynamo.S("credit"), dynamo.S("till")
	other["GSI1PK"] = dynamo.S("ACCOUNT#till")
	other["GSI1SK"] = dynamo.S("LEG#2026-01-02T10:30:00.123Z#aa1j3955")
	w.write("FinancialTransactions", other)
	body := `{"type":"payment","merchantId":"550e8400...","description":"Coffee purchase","legs":[` +
		leg + `,{"accountId":"till","type":"credit","amount":"5.50","currency":"USD"}]}`
	post := func(body string) reply {
		return w.send(http.MethodPost, "/v1/transactions", body, "Idempotency-Key", "abc123def456")
	}
	if got := post(strings.Replace(body, "5.50", "6.50", -1)); got.status != http.StatusConflict {
		t.Errorf("another amount: %d %s", got.status, got.body)
	}
	got := post(body)
	if got.status != http.StatusOK || got.header.Get("Idempotent-Replayed") != "true" ||
		!strings.Contains(got.body, publishedTransaction) {
		t.Errorf("the same posting: %d %s", got.status, got.body)
	}
	if a := w.send(http.MethodGet, "/v1/accounts/"+publishedAccount, ""); !strings.Contains(a.body,
		"1500.00") {
		t.Errorf("the key moved money again: %s", a.body)
	}
}

// served are the beginnings of the paths that read a table.
var served = map[string][2]string{
	"FinancialTransactions": {
		"accounts",
		"transactions",
	}, "PaymentScheduler": {"payments", "accounts/payer"},
	"PuteaMatai": {"me", "me"}, "ExchangeRates": {"rates", "rates"},
	"aolfclub-entities": {"locations", "locations"},
}

// damage is one way in which an attribute is not as it should be.
type damage struct {
	name string
	to   dynamo.Value // Absent removes the attribute.
}

const garbled = "garbled!"

func damagesOf(v dynamo.Value) []damage {
	out := []damage{{name: "removed"}, {"null", dynamo.Null()}}
	if v.Kind() == dynamo.KindS {
		return append(out, damage{"a number", dynamo.Int(7)}, damage{"empty", dynamo.S("")},
			damage{"garbled", dynamo.S(garbled)})
	}
	return append(out, damage{"text", dynamo.S(garbled)}, damage{"a list", dynamo.L()})
}

// indexed are the attributes that are keys of indexes: without them a row is in no list that reads
// the index, and the store refuses another type.
var indexed = []string{"GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "Sharded-GSI-PK", "Status#Time",
	"Base"}

// TestDamagedItemsAreNamed damages each attribute of each item in each way, one at a time, and
// reads everything. An answer either has what is stored, without the damaged member, or names the
// item and the attribute; no row is missing without a word, and nothing becomes zero, empty or the
// year 1.
func TestDamagedItemsAreNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("requests come one after another, so a short run would find no race")
	}
	w := publish(t)
	before := map[string]reply{}
	for _, path := range reads {
		before[path] = w.send(http.MethodGet, path, "")
	}
	tried := 0
	for table, items := range publishedItems(t) {
		for _, item := range items {
			for _, name := range slices.Sorted(maps.Keys(item)) {
				if slices.Contains([]string{"PK", "SK", "AccountID", "ScheduledTime"}, name) &&
					(table == "PaymentScheduler" || name != "AccountID") ||
					slices.Contains(indexed, name) {
					continue
				}
				for _, d := range damagesOf(item[name]) {
					bad := maps.Clone(item)
					if bad[name] = d.to; d.to.IsAbsent() {
						delete(bad, name)
					}
					w.write(table, bad)
					tried++
					for _, path := range reads {
						if !strings.HasPrefix(path, "/v1/"+served[table][0]) &&
							!strings.HasPrefix(path, "/v1/"+served[table][1]) {
							continue // The request reads other tables.
						}
						got := w.send(http.MethodGet, path, "")
						if wrong := misread(before[path], got, name); wrong != "" {
							t.Errorf("%s of %s is %s: GET %s: %s: %d %.300s", name,
								item["PK"], d.name, path, wrong, got.status, got.body)
						}
					}
				}
			}
			w.write(table, item)
		}
	}
	if tried < 200 {
		t.Errorf("only %d damages were tried", tried)
	}
}

// misread says what is wrong with an answer after an attribute was damaged, "" if nothing is.
func misread(before, after reply, attribute string) string {
	switch {
	case strings.Contains(after.body, "location_code_inconsistent"):
		return "" // The location has lost its code, which the answer names.
	case after.status >= 500:
		return "an error of the server"
	}
	named := strings.Contains(after.body, attribute)
	if after.status != http.StatusOK {
		if !named {
			return "the problem does not name the attribute"
		}
		return ""
	}
	for _, none := range []string{"0001-01-01", `"id":""`, `"currency":""`} {
		if strings.Contains(strings.ReplaceAll(after.body, `": `, `":`), none) {
			return "the answer has " + none
		}
	}
	var was, is any
	if json.Unmarshal([]byte(before.body), &was) != nil ||
		json.Unmarshal([]byte(after.body), &is) != nil {
		return "the answer is not JSON"
	}
	if strings.Contains(after.body, `"unreadable"`) {
		if !named {
			return "the rows that cannot be read do not name the attribute"
		}
		return ""
	}
	return changedTo(was, is, "", attribute)
}

// changedTo finds a member that is not what it was: it may be absent, or be what was stored.
func changedTo(was, is any, at, attribute string) string {
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			return at + " is no object"
		}
		for name, v := range was {
			if now, ok := is[name].([]any); ok && name == attribute && len(now) == 0 {
				continue // An optional list that is gone.
			}
			if now, there := is[name]; there && name != "tag" && name != "ageSeconds" &&
				name != "data" {
				if wrong := changedTo(v, now, at+"."+name, attribute); wrong != "" {
					return wrong
				}
			}
		}
	case []any:
		is, ok := is.([]any)
		if !ok || len(is) < len(was) {
			return at + " has fewer rows"
		}
		for i := range was {
			if wrong := changedTo(was[i], is[i], at, attribute); wrong != "" {
				return wrong
			}
		}
	default:
		if text := fmt.Sprint(is); fmt.Sprint(was) != text && !strings.Contains(text, garbled) {
			return fmt.Sprintf("%s was %v and is %v", at, was, is)
		}
	}
	return ""
}
