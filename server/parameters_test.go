package server_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
)

// ways are a path of the document with something in each of its parameters, and the queries that an
// operation cannot do without.
func way(path string, op documented) (filled string, query url.Values) {
	query = url.Values{}
	for _, p := range op.Parameters {
		example := "x"
		switch {
		case len(p.Schema.Examples) > 0:
			example = fmt.Sprint(p.Schema.Examples[0])
		case len(p.Schema.Enum) > 0:
			example = fmt.Sprint(p.Schema.Enum[0])
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(example))
		case p.In == "query" && p.Required:
			query.Set(p.Name, example)
		}
	}
	return path, query
}

// refusesParameter demands that an answer refuses one parameter by its name.
func refusesParameter(t *testing.T, what string, r reply, name string) {
	t.Helper()
	if r.status != http.StatusBadRequest {
		t.Errorf("%s has status %d: %s", what, r.status, r.body)
		return
	}
	p := r.problem(t)
	if p.Code != "request_invalid" || len(p.Fields) == 0 || p.Fields[0].Name != name {
		t.Errorf("%s has code %s and fields %v", what, p.Code, p.Fields)
	}
}

// Whatever stands in a query and cannot be used, or only in part, is refused by its name.
func TestEveryOperationRefusesParametersThatItCannotUse(t *testing.T) {
	w := start(t)
	tried := 0
	for path, methods := range w.documented() {
		for method, op := range methods {
			filled, query := way(path, op)
			send := func(more string) reply {
				target := filled + "?" + query.Encode()
				return w.send(strings.ToUpper(method), strings.TrimSuffix(target, "?")+
					map[bool]string{true: "?", false: "&"}[len(query) == 0]+more, op.example(),
					"Idempotency-Key", "k", "Content-Type", "application/json")
			}
			name := op.OperationID
			refusesParameter(t, name+" with an unknown parameter", send("colour=red"), "colour")
			refusesParameter(t, name+" with a name that is no text", send("colour%zz=1"),
				"colour%zz")
			refusesParameter(t, name+" with a semicolon", send("colour=1;size=2"), "colour")
			for _, p := range op.Parameters {
				if p.In != "query" {
					continue
				}
				tried++
				delete(query, p.Name)
				one := p.Name + "=1"
				refusesParameter(t, name+" with what is no text", send(p.Name+"=%zz"), p.Name)
				refusesParameter(t, name+" with an empty value", send(p.Name+"="), p.Name)
				refusesParameter(t, name+" without a value", send(p.Name), p.Name)
				refusesParameter(t, name+" with a zero byte", send(p.Name+"=a%00b"), p.Name)
				refusesParameter(t, name+" with no UTF-8", send(p.Name+"=%ff"), p.Name)
				if !strings.Contains(fmt.Sprint(p.Schema.Type), "array") {
					refusesParameter(t, name+" given twice", send(one+"&"+one), p.Name)
				}
				_, query = way(path, op)
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d parameters were tried: these cannot be all", tried)
	}
}

// A header that names the request and holds nothing usable is a mistake of the client, whose retry
// must not be a second request.
func TestAnIdempotencyKeyThatCannotBeUsedIsRefused(t *testing.T) {
	w := start(t)
	tried := 0
	for path, methods := range w.documented() {
		for method, op := range methods {
			if !slices.ContainsFunc(op.Parameters, func(p documentedParam) bool {
				return p.Name == "Idempotency-Key"
			}) {
				continue
			}
			tried++
			filled, _ := way(path, op)
			for _, keys := range [][]string{{""}, {" "}, {"\t "}, {"a", "b"}, {"a", "a"}, {"", "a"},
				{"a\x7f"}, {"\xff"}, {"\u202e"}, {strings.Repeat("k", 256)}} {
				r, err := http.NewRequestWithContext(t.Context(), strings.ToUpper(method),
					w.http.URL+filled, strings.NewReader(op.example()))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header["Idempotency-Key"] = keys
				response, err := w.server.Transport().RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				code := reply{response.StatusCode, response.Header, string(body)}.problem(t).Code
				known := code == "idempotency_key_invalid" || len(keys[0]) > 255 &&
					code == "request_invalid"
				if response.StatusCode != 400 || !known {
					t.Errorf("%s with the keys %.40q: status %d: %s", op.OperationID, keys,
						response.StatusCode, body)
				}
			}
		}
	}
	if tried < 6 {
		t.Errorf("%d operations read a key: these cannot be all", tried)
	}
}

// A posting without a key is told that the key is missing, not what a key looks like.
func TestAMissingIdempotencyKeyIsToldAsMissing(t *testing.T) {
	w := start(t)
	w.furnish()
	for _, c := range []struct{ path, body string }{
		{"/v1/transactions", `{"type":"deposit","to":"alice","amount":"1","currency":"USD"}`},
		{"/v1/transactions/exchange", `{"from":"alice","to":"bob","amount":"1","currency":"USD"}`},
	} {
		p := w.send(post, c.path, c.body).problem(t)
		if p.Code != "idempotency_key_invalid" || !strings.Contains(p.Detail, "missing") {
			t.Errorf("%s: %s, %s", c.path, p.Code, p.Detail)
		}
	}
}

// A list of what does not exist is a mistake of the caller, and so is a range that ends before it
// begins, whichever list it is.
func TestListsRefuseWhatDoesNotExistAndRangesTheWrongWayRound(t *testing.T) {
	w := start(t)
	w.taggedThings()
	spec := w.documented()
	lists := 0
	for _, path := range slices.Sorted(maps.Keys(spec)) {
		op, ok := spec[path]["get"]
		if !ok {
			continue
		}
		filled, query := way(path, op)
		names := map[string]documentedParam{}
		for _, p := range op.Parameters {
			names[p.Name] = p
		}
		if _, inside := names["cursor"]; inside && strings.Contains(path, "{") &&
			path != "/v1/users/{user}/accounts" { // A user is whoever has an account.
			lists++
			for _, p := range op.Parameters {
				if p.In == "path" {
					filled = strings.ReplaceAll(path, "{"+p.Name+"}", "nobody")
				}
			}
			if r := w.send(get, filled+"?"+query.Encode(), ""); r.status != 404 {
				t.Errorf("%s of nobody has status %d: %s", path, r.status, r.body)
			}
		}
		if names["from"].In != "query" || names["to"].In != "query" {
			continue
		}
		lists++
		filled = strings.NewReplacer("{id}", "alice", "{account}", "everyday", "{base}", "USD",
			"{target}", "EUR").Replace(path)
		later, earlier := "2026-12-01", "2026-01-01"
		if example := names["from"].Schema.Examples; len(example) > 0 &&
			strings.Contains(fmt.Sprint(example[0]), "T") {
			later, earlier = later+"T00:00:00Z", earlier+"T00:00:00Z"
		}
		if status := names["status"].Schema.Enum; len(status) > 0 {
			query.Set("status", fmt.Sprint(status[0]))
		}
		query.Set("from", later)
		query.Set("to", earlier)
		r := w.send(get, filled+"?"+query.Encode(), "")
		if r.status != http.StatusBadRequest {
			t.Errorf("%s from %s to %s has status %d: %s", path, later, earlier, r.status, r.body)
		} else if p := r.problem(t); len(p.Fields) == 0 ||
			p.Fields[0].Name != "to" && p.Fields[0].Name != "from" {
			t.Errorf("%s from %s to %s names %v", path, later, earlier, p.Fields)
		}
	}
	if lists < 12 {
		t.Errorf("%d lists: these cannot be all", lists)
	}
}

// What is sent is a value, also where it is a zero or an empty text.
func TestZeroIsNotAbsent(t *testing.T) {
	w := start(t)
	w.furnish()
	must[client.Account](t)(w.SetOverdraft(t.Context(), "bob", usd("9"), false))
	put := http.MethodPut
	for _, c := range []struct {
		method, path, body string
		field              string
	}{
		{put, "/v1/rates/USD/EUR", `{"rate":"0.85","ttlSeconds":0}`, "ttlSeconds"},
		{put, "/v1/rates/USD/EUR", `{"rate":"0.85","ttlSeconds":-1}`, "ttlSeconds"},
		{put, "/v1/rates/USD/EUR", `{"rate":"0.85","asOf":""}`, "asOf"},
		{put, "/v1/rates/USD/EUR", `{"rate":""}`, "rate"},
		{post, "/v1/rates/days", `{"days":[],"ttlSeconds":0}`, "ttlSeconds"},
		{put, "/v1/accounts/bob/overdraft", `{}`, "overdraftLimit"},
		{put, "/v1/accounts/bob/overdraft", `{"unlimited":false}`, "overdraftLimit"},
		{put, "/v1/accounts/bob/overdraft", `{"currency":"USD"}`, "overdraftLimit"},
		{put, "/v1/accounts/bob/overdraft", `{"overdraftLimit":""}`, "overdraftLimit"},
		{put, "/v1/accounts/bob/overdraft", `{"limit":"1","overdraftLimit":"1"}`, "limit"},
		{post, "/v1/accounts", `{"id":"","userId":"u","currency":"USD"}`, "id"},
		{post, "/v1/accounts", `{"userId":"u","currency":"USD","overdraftLimit":""}`,
			"overdraftLimit"},
		{post, "/v1/accounts", `{"userId":"u","currency":"USD","zone":""}`, "zone"},
		{post, "/v1/accounts", `{"userId":"u","currency":"USD","accountType":""}`, "accountType"},
		{post, "/v1/payments/run", `{"concurrency":0}`, "concurrency"},
		{post, "/v1/payments/run", `{"units":0}`, "units"},
		{post, "/v1/patterns/account-by-id/run", `{"inputs":{"ID":"x"},"limit":0}`, "limit"},
		{post, "/v1/payments/run", `{"concurrency":9223372036854775808}`, "concurrency"},
		{post, "/v1/payments/run", `{"concurrency":9223372036854775807}`, "concurrency"},
		{get, "/v1/accounts?limit=0", "", "limit"},
		{get, "/v1/locations/near?lat=0&lng=0&radius=0", "", "radius"},
		{get, "/v1/locations/near?lat=0&lng=0&radius=1&limit=0", "", "limit"},
		{get, "/v1/accounts/alice/payments?days=0", "", "days"},
	} {
		r := w.send(c.method, c.path, c.body)
		if r.status != http.StatusBadRequest {
			t.Errorf("%s %s %s has status %d: %s", c.method, c.path, c.body, r.status, r.body)
			continue
		}
		if p := r.problem(t); len(p.Fields) == 0 || p.Fields[0].Name != c.field {
			t.Errorf("%s %s %s names %v", c.method, c.path, c.body, p.Fields)
		}
	}
	if a := must[client.Account](t)(w.Account(t.Context(), "bob")); a.OverdraftLimit != usd("9") {
		t.Errorf("the overdraft is %v", a.OverdraftLimit)
	}
}

// Ids that no URL can carry are refused when something is made, whatever it is.
func TestIdsThatNoURLCarriesAreRefused(t *testing.T) {
	w := start(t)
	w.furnish()
	w.everyday()
	for _, id := range []string{".", ".."} {
		for _, c := range []struct{ path, body, field string }{
			{"/v1/accounts", `{"id":"ID","userId":"u","currency":"USD"}`, "id"},
			{"/v1/accounts", `{"id":"ok","userId":"ID","currency":"USD"}`, "userId"},
			{"/v1/merchants", `{"id":"ID","name":"n"}`, "id"},
			{"/v1/me/accounts", `{"id":"ID","name":"n","currency":"NZD"}`, "id"},
			{"/v1/me/rules", `{"id":"ID","name":"n","conditions":[{"field":"text","op":"contains",` +
				`"text":"x"}],"set":{"notes":"n"}}`, "id"},
			{"/v1/me/tags", `{"id":"ID","text":"n"}`, "id"},
			{"/v1/locations", `{"code":"ID","name":"n"}`, ""},
			{"/v1/me/accounts/everyday/uploads?id=ID", "Date,Amount\n", "id"},
		} {
			r := w.send(post, strings.ReplaceAll(c.path, "ID", id),
				strings.ReplaceAll(c.body, "ID", id))
			if r.status != http.StatusBadRequest {
				t.Errorf("%s with the id %s has status %d: %s", c.path, id, r.status, r.body)
			} else if p := r.problem(t); c.field != "" &&
				(len(p.Fields) == 0 || p.Fields[0].Name != c.field) {
				t.Errorf("%s with the id %s names %v", c.path, id, p.Fields)
			}
		}
	}
}

// A path that a router would clean is answered by a problem, not by a page that leads elsewhere.
func TestPathsThatAreNotCleanAreProblems(t *testing.T) {
	w := start(t)
	w.furnish()
	for _, path := range []string{
		"//v1/accounts", "/v1//accounts", "/v1/accounts/../accounts", "/v1/./accounts",
		"/v1/accounts/..",
		"/v1/accounts//legs", "/..", "//", "/v1/accounts/.",
	} {
		for _, method := range []string{get, post} {
			r, err := http.NewRequestWithContext(t.Context(), method, w.http.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Opaque = path
			r.URL.Opaque = "//" + r.URL.Host + path
			response, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if got := response.Header.Get("Content-Type"); response.StatusCode != 404 ||
				got != "application/problem+json" {
				t.Errorf("%s %s has status %d and is %s", method, path, response.StatusCode, got)
			}
		}
	}
}

// A body that says nothing need not be sent.
func TestWhatNeedsNoBodyTakesNone(t *testing.T) {
	w := start(t)
	things := w.taggedThings()
	for _, path := range []string{
		things["/v1/transactions/{id}"] + "/reverse", "/v1/payments/run",
	} {
		if r := w.send(post, path, ""); r.status >= 300 {
			t.Errorf("%s without a body has status %d: %s", path, r.status, r.body)
		}
	}
	r := w.send(post, "/v1/transactions", "", "Idempotency-Key", "k", "Content-Type",
		"application/json")
	if p := r.problem(t); p.Code != "request_invalid" {
		t.Errorf("a posting without a body is %s", p.Code)
	}
}

// Texts that look like others, or hide what they are, are refused in bodies.
func TestBodiesRefuseCharactersThatDeceive(t *testing.T) {
	w := start(t)
	w.furnish()
	for i, text := range []string{
		`a\u0000b`, `\u001b[31m`, `\u202egnp.exe`, `a\u2066b`, "\u202e", `\ud800`,
		`\udc00\ud800`, `\u0085`,
	} {
		body := `{"type":"deposit","to":"alice","amount":"1","currency":"USD","description":"` + text +
			`"}`
		p := w.send(post, "/v1/transactions", body, "Idempotency-Key", fmt.Sprint(i)).problem(t)
		if p.Code != "request_invalid" || len(p.Fields) == 0 || p.Fields[0].Name != "description" {
			t.Errorf("%s: %s, %v", text, p.Code, p.Fields)
		}
	}
	for i, text := range []string{`two\nlines\tand a tab`, `\ud83d\ude00`, "שלום\u200f", "é"} {
		body := `{"type":"deposit","to":"alice","amount":"1","currency":"USD","description":"` + text +
			`"}`
		r := w.send(post, "/v1/transactions", body, "Idempotency-Key", fmt.Sprint("good", i))
		if r.status != http.StatusCreated {
			t.Errorf("%s: status %d: %s", text, r.status, r.body)
		}
	}
}

// An unknown member does not hide those that are missing.
func TestAllFaultsOfABodyAreToldAtOnce(t *testing.T) {
	w := start(t)
	p := w.send(post, "/v1/accounts", `{"memo":"x","zone":1}`).problem(t)
	var got []string
	for _, f := range p.Fields {
		got = append(got, f.Name+" "+f.Wrong)
	}
	want := []string{
		"memo is not known here", "zone must be a string", "currency is missing",
		"userId is missing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestCurrenciesThatAreNoneSayWhatToWrite(t *testing.T) {
	w := start(t)
	for currency, want := range map[string]string{
		"eur": "write EUR", "Usd": "write USD", "XAU": "no minor unit", "XDR": "no minor unit",
		"ABC": "code of ISO 4217", "$": "code of ISO 4217",
	} {
		body := `{"userId":"u","currency":"` + currency + `"}`
		p := w.send(post, "/v1/accounts", body).problem(t)
		if len(p.Fields) == 0 || p.Fields[0].Name != "currency" ||
			!strings.Contains(p.Fields[0].Wrong, want) {
			t.Errorf("%s: %v", currency, p.Fields)
		}
	}
}

func TestAnAmountOfTooManyDigitsIsTooLarge(t *testing.T) {
	w := start(t)
	w.furnish()
	for _, digits := range []int{39, 60, 400} {
		body := `{"type":"deposit","to":"alice","currency":"USD","amount":"` +
			strings.Repeat("9", digits) + `"}`
		p := w.send(post, "/v1/transactions", body, "Idempotency-Key", "k").problem(t)
		if p.Code != "amount_too_large" || len(p.Fields) == 0 || p.Fields[0].Name != "amount" {
			t.Errorf("%d digits: %s, %v", digits, p.Code, p.Fields)
		}
	}
}

// A conversion into the same currency follows the rules of every other one.
func TestAConversionIntoTheSameCurrencyIsRounded(t *testing.T) {
	w := start(t)
	for _, c := range []struct{ query, want string }{
		{"amount=1.005", "1.01"}, {"amount=1.005&rounding=half-even", "1.00"},
		{"amount=1.005&rounding=down", "1.00"}, {"amount=1.001&rounding=up", "1.01"},
		{"amount=1.005&cash=true", "1.00"}, {"amount=-1.005", "-1.01"}, {"amount=0", "0.00"},
		{"amount=0.004", "0.00"},
	} {
		r := w.send(get, "/v1/rates/CHF/CHF/convert?"+c.query, "")
		if r.status != 200 || !strings.Contains(r.body, `"converted":"`+c.want+`"`) {
			t.Errorf("%s: status %d: %s, want %s", c.query, r.status, r.body, c.want)
		}
	}
}
