package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// orderOf is the body of a payment of 1 USD. more is added to it.
func orderOf(payer, payee, more string) string {
	return fmt.Sprintf(`{"accountId":%q,"payeeId":%q,"amount":"1","currency":"USD",%s}`, payer, payee,
		more)
}

// A day and a local time are those of the account that pays, when a payment is scheduled and when
// it is changed, and the list of that day has the payment.
func TestDaysOfPaymentsAreThePayersOverHTTP(t *testing.T) {
	w := start(t)
	w.furnish()
	payers := map[string]string{"utc": "", "la": "America/Los_Angeles", "akl": "Pacific/Auckland"}
	for id, zone := range payers {
		must[client.AccountReceipt](t)(w.OpenAccount(t.Context(), client.NewAccount{
			ID: client.AccountID(id), UserID: "u", AccountType: "x", Currency: "USD", Zone: zone,
		}))
	}
	for _, c := range []struct{ payer, at, due, day string }{
		{"utc", "2027-10-01", "2027-10-01T00:00:00.000Z", "2027-10-01"},
		{"la", "2027-10-01", "2027-10-01T07:00:00.000Z", "2027-10-01"},
		{"la", "2027-10-01T09:00", "2027-10-01T16:00:00.000Z", "2027-10-01"},
		{"la", "2027-10-01T09:00:00Z", "2027-10-01T09:00:00.000Z", "2027-10-01"},
		{"la", "2027-10-01T06:59:59Z", "2027-10-01T06:59:59.000Z", "2027-09-30"},
		{"akl", "2027-10-01", "2027-09-30T11:00:00.000Z", "2027-10-01"},
		// The clocks are put forward from 2 to 3, and back from 3 to 2.
		{"akl", "2027-09-26T02:30", "2027-09-25T14:00:00.000Z", "2027-09-26"},
		{"akl", "2027-04-04T02:30", "2027-04-03T13:30:00.000Z", "2027-04-04"},
	} {
		for _, door := range []string{"scheduled", "changed"} {
			at, key := c.at, c.payer+c.at+door
			if door == "changed" {
				at = "2027-01-01T00:00:00Z"
			}
			made := w.send(post, "/v1/payments", orderOf(c.payer, "bob", `"at":"`+at+`"`),
				"Idempotency-Key", key)
			if door == "changed" {
				made = w.send("PATCH", made.header.Get("Location"), `{"at":"`+c.at+`"}`)
			}
			if made.status >= 300 || !strings.Contains(made.body, `"at":"`+c.due+`"`) {
				t.Errorf("%s of %s is %s as %d: %s; want it due at %s", c.at, c.payer, door,
					made.status, made.body, c.due)
				continue
			}
			list := w.send(get, "/v1/accounts/"+c.payer+"/payments?from="+c.day+"&to="+c.day, "")
			if !strings.Contains(list.body, `"at":"`+c.due+`"`) {
				t.Errorf("%s of %s, %s, is not listed on %s: %s", c.at, c.payer, door, c.day,
					list.body)
			}
		}
	}
}

// A time after the first request is fixed by the first request, so that it can be repeated.
func TestATimeAfterTheRequestIsRepeatedOverHTTP(t *testing.T) {
	w := start(t)
	w.furnish()
	body := orderOf("alice", "bob", `"afterSeconds":129600`)
	first := w.send(post, "/v1/payments", body, "Idempotency-Key", "f")
	again := w.send(post, "/v1/payments", body, "Idempotency-Key", "f")
	if first.status != 201 || again.status != 200 || again.body != first.body ||
		again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("first %d %s\nagain %d %s", first.status, first.body, again.status, again.body)
	}
	for more, want := range map[string]int{
		`"afterSeconds":129601`:                               409,
		`"at":"2026-01-31T09:00:00Z"`:                         409,
		`"afterSeconds":-1`:                                   400,
		`"afterSeconds":3153600001`:                           400,
		`"afterSeconds":60,"at":"2026-01-31T09:00:00Z"`:       400,
		`"afterSeconds":60,"at":""`:                           400,
		`"at":""`:                                             400,
		`"at":"36h"`:                                          400,
		`"at":"0001-01-01T00:00:00Z"`:                         400,
		`"description":"when it is due is not said anywhere"`: 400,
	} {
		r := w.send(post, "/v1/payments", orderOf("alice", "bob", more), "Idempotency-Key", "f")
		if r.status != want || len(r.problem(t).Fields) == 0 {
			t.Errorf("%s: status %d, want %d: %s", more, r.status, want, r.body)
		}
	}
	if r := w.send(post, "/v1/payments", orderOf("alice", "bob", `"at":""`)); len(
		r.problem(t).Fields) != 1 || r.problem(t).Fields[0].Name != "at" {
		t.Errorf("an empty time: %s", r.body)
	}
}

// Each state in which an attempt to pay does nothing has an answer of its own.
func TestWhyNothingWasPaidOverHTTP(t *testing.T) {
	w := start(t)
	w.furnish()
	pay := func(key, amount, at string) (string, func() reply) {
		made := w.send(post, "/v1/payments", fmt.Sprintf(`{"accountId":"alice","payeeId":"bob",`+
			`"amount":%q,"currency":"USD","at":%q}`, amount, at), "Idempotency-Key", key)
		path := made.header.Get("Location")
		return path, func() reply { return w.send(post, path+"/pay", "") }
	}
	const past, ahead = "2026-01-01T09:00:00Z", "2027-01-01T00:00:00Z"
	_, later := pay("later", "1", ahead)
	gone, cancelled := pay("gone", "1", ahead)
	w.send(post, gone+"/cancel", "")
	_, dear := pay("dear", "1000", past)
	if first := dear(); !strings.Contains(first.body, `"outcome":"postponed"`) {
		t.Errorf("the first attempt: %s", first.body)
	}
	_, done := pay("done", "1", past)
	done()
	for name, c := range map[string]struct {
		got             reply
		outcome, detail string
	}{
		"not due":   {later(), "not_due", "The payment is not due until 2027-01-01T00:00:00.000Z"},
		"cancelled": {cancelled(), "cancelled", "The payment is cancelled"},
		"waiting":   {dear(), "waiting", "The payment waits for its next attempt at 2026-01-0"},
		"paid":      {done(), "processed", "The payment is paid"},
	} {
		if c.got.status != 200 || !strings.Contains(c.got.body, `"outcome":"`+c.outcome+`"`) ||
			!strings.Contains(c.got.body, `"detail":"`+c.detail) {
			t.Errorf("%s: status %d: %s", name, c.got.status, c.got.body)
		}
	}
}

// The days of a statement that are left out are those of the account's zone.
func TestTheDefaultStatementIsTheAccountsOverHTTP(t *testing.T) {
	w := start(t)
	w.clock.set(time.Date(2026, time.November, 28, 23, 19, 0, 0, time.UTC))
	must[client.AccountReceipt](t)(w.OpenAccount(t.Context(), client.NewAccount{
		ID: "akl", UserID: "u", AccountType: "x", Currency: "USD", Zone: "Pacific/Auckland",
	}))
	for i := range 3 {
		must[client.Receipt](t)(w.Post(t.Context(), client.Posting{
			IdempotencyKey: fmt.Sprint(i), Type: client.Deposit, To: "akl", Amount: usd("10"),
		}))
	}
	legs := 0
	for s, err := range w.StatementPages(t.Context(), client.StatementQuery{
		AccountID: "akl", PageQuery: client.PageQuery{Limit: 1},
	}) {
		if err != nil || s.From != "2026-10-30" || s.To != "2026-11-29" ||
			s.Closing != usd("30") {
			t.Fatalf("%s to %s, closing %s, %v", s.From, s.To, s.Closing, err)
		}
		legs += len(s.Legs)
	}
	if legs != 3 {
		t.Errorf("%d legs, want 3", legs)
	}
}

// What can never be paid is refused where it is scheduled and where it is changed, and names the
// member; a repeat of what was accepted before is not refused.
func TestOrdersThatCanNeverBePaidAreRefusedOverHTTP(t *testing.T) {
	w := start(t)
	w.furnish()
	for _, id := range []client.AccountID{"gone", "later"} {
		must[client.AccountReceipt](t)(w.OpenAccount(t.Context(), client.NewAccount{
			ID: id, UserID: "u", AccountType: "x", Currency: "USD",
		}))
	}
	const at = `"at":"2026-12-28T00:00:00Z"`
	early := orderOf("alice", "later", at)
	first := w.send(post, "/v1/payments", early, "Idempotency-Key", "early")
	must[client.Account](t)(w.CloseAccount(t.Context(), "gone"))
	// A payment to it is scheduled.
	must[client.Account](t)(w.CloseAccountWithPayments(t.Context(), "later"))
	again := w.send(post, "/v1/payments", early, "Idempotency-Key", "early")
	if first.status != 201 || again.status != 200 || again.body != first.body {
		t.Errorf("a repeat has status %d: %s", again.status, again.body)
	}
	open := w.send(post, "/v1/payments", orderOf("alice", "bob", at)).header.Get("Location")
	for _, c := range []struct {
		method, path, body string
		status             int
		code, field        string
	}{
		{post, "/v1/payments", orderOf("gone", "bob", at), 422, "account_closed", "accountId"},
		{post, "/v1/payments", orderOf("alice", "gone", at), 422, "account_closed", "payeeId"},
		{post, "/v1/payments", orderOf("alice", "nobody", at), 404, "account_not_found", "payeeId"},
		{post, "/v1/payments", orderOf("nobody", "bob", at), 404, "account_not_found", "accountId"},
		{"PATCH", open, `{"payeeId":"gone"}`, 422, "account_closed", "payeeId"},
		{"PATCH", open, `{"merchantId":"nowhere"}`, 404, "merchant_not_found", "merchantId"},
	} {
		r := w.send(c.method, c.path, c.body)
		p := r.problem(t)
		if r.status != c.status || p.Code != c.code || len(p.Fields) != 1 ||
			p.Fields[0].Name != c.field {
			t.Errorf("%s: status %d, want %d %s of %s: %s", c.body, r.status, c.status, c.code,
				c.field, r.body)
		}
	}
}
