package api

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// A request is sent as its tags have it, and what is zero is not sent.
func TestEncode(t *testing.T) {
	from := At(time.Date(2026, time.January, 2, 10, 30, 0, 123_000_000, time.UTC))
	for _, c := range []struct {
		name    string
		op      *Operation
		in      any
		path    string
		query   url.Values
		headers map[string]string
		body    string
	}{
		{
			"parameters of the path are escaped", GetAccount.Operation,
			AccountPath{ID: "a/b ?"}, "/v1/accounts/a%2Fb%20%3F", nil, nil, "",
		},
		{
			"an id that looks like a step up stays an id", GetAccount.Operation,
			AccountPath{ID: ".."}, "/v1/accounts/%2E%2E", nil, nil, "",
		},
		{
			"the zero page has no parameters", ListAccounts.Operation, Page{}, "/v1/accounts",
			nil, nil, "",
		},
		{
			"fields of embedded structs, instants", ListLegsOfAccount.Operation,
			LegsQuery{
				Page: Page{Limit: 7, Cursor: "c"}, AccountPath: AccountPath{ID: "a"}, From: from,
			},
			"/v1/accounts/a/legs",
			url.Values{"limit": {"7"}, "cursor": {"c"}, "from": {"2026-01-02T10:30:00.123Z"}},
			nil, "",
		},
		{
			"a header and a body", PostTransaction.Operation,
			PostRequest{IdempotencyKey: "k", Posting: Posting{
				Type: TypeDeposit, To: "a", Amount: "5.50", Currency: "USD",
			}},
			"/v1/transactions", nil, map[string]string{"Idempotency-Key": "k"},
			`{"type":"deposit","to":"a","amount":"5.50","currency":"USD"}`,
		},
		{
			"a condition and a flag", CloseAccount.Operation,
			CloseAccountRequest{
				Guarded: Guarded{IfMatch: `"3.1"`}, AccountPath: AccountPath{ID: "a"},
				WithOpenPayments: true,
			},
			"/v1/accounts/a/close", url.Values{"withOpenPayments": {"true"}},
			map[string]string{"If-Match": `"3.1"`}, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.op.Encode(c.in)
			if err != nil {
				t.Fatal(err)
			}
			body := ""
			if got.Body != nil {
				text, err := json.Marshal(got.Body)
				if err != nil {
					t.Fatal(err)
				}
				body = string(text)
			}
			if got.Path != c.path || got.Query.Encode() != c.query.Encode() ||
				!maps.Equal(got.Headers, c.headers) || body != c.body {
				t.Errorf("got %+v with the body %s", got, body)
			}
		})
	}
}

// What is written is read as the same value, and an invalid text has an error that completes a
// sentence.
func TestValues(t *testing.T) {
	for _, text := range []string{
		`"2026-01-02T10:30:00.000Z"`, `"2026-01-02T10:30:00.123Z"`, `"0001-01-01T00:00:00.000Z"`,
		`"2026-01-02T10:30:00.123456789Z"`,
	} {
		var i Instant
		if err := json.Unmarshal([]byte(text), &i); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(i); err != nil || string(got) != text || i.IsZero() {
			t.Errorf("%s is written as %s, %v", text, got, err)
		}
	}
	var none struct {
		At Instant `json:"at,omitzero"`
	}
	if got, err := json.Marshal(none); err != nil || string(got) != "{}" {
		t.Errorf("no instant is written as %s, %v", got, err)
	}
	var i Instant
	if err := i.UnmarshalText([]byte("yesterday")); err == nil ||
		!strings.HasPrefix(err.Error(), "must be an instant such as ") {
		t.Errorf("got %v", err)
	}
	var a Amount
	for _, bad := range []string{"5,50", "1e3", "five", "+"} {
		if err := a.UnmarshalText([]byte(bad)); err == nil ||
			!strings.HasPrefix(err.Error(), "must be a plain decimal such as ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if got := AmountOf(money.MustParse("5.5", "USD")); got != "5.50" {
		t.Errorf("5.5 USD is written as %s", got)
	}
	if got := AmountOf(money.Amount{}); got != "" {
		t.Errorf("no amount is written as %s", got)
	}
}

// Each operation is described once, and its path has the parameters of its request.
func TestOperations(t *testing.T) {
	ids, paths := map[string]bool{}, map[string]bool{}
	for _, o := range Operations() {
		place := o.Method + " " + o.Path
		if ids[o.ID] || paths[place] {
			t.Errorf("%s, %s is there twice", o.ID, place)
		}
		ids[o.ID], paths[place] = true, true
		if o.Chapter == nil || o.Scope == "" || o.Summary == "" {
			t.Errorf("%s has no chapter, scope or summary", o.ID)
		}
		if o.Replays && o.Status != 201 {
			t.Errorf("%s creates something, with status %d", o.ID, o.Status)
		}
	}
	if len(ids) < 30 {
		t.Errorf("%d operations: these cannot be all", len(ids))
	}
}

// Reads and changes that set a value may be sent twice, and a rate only with its instant: without
// one, a repeat would be another rate.
func TestSafeToRepeat(t *testing.T) {
	at := NewRate{AsOf: At(time.Unix(1, 0))}
	for _, c := range []struct {
		op   *Operation
		in   any
		safe bool
	}{
		{GetRate.Operation, RateQuery{}, true},
		{DeleteRate.Operation, Pair{}, true},
		{SetOverdraft.Operation, SetOverdraftRequest{}, true},
		{SaveRate.Operation, SaveRateRequest{}, false},
		{SaveRate.Operation, SaveRateRequest{NewRate: at}, true},
		{FetchRates.Operation, None{}, false},
		{RepairDates.Operation, RepairDatesRequest{}, false},
		{PostTransaction.Operation, PostRequest{}, true},
	} {
		if got := c.op.SafeToRepeat(c.in); got != c.safe {
			t.Errorf("%s of %+v: %v", c.op.ID, c.in, got)
		}
	}
}
