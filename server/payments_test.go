package server_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// due is a payment of alice to bob that is due already by the tests' clock.
func due(key, amount string) client.NewPayment {
	return client.NewPayment{
		IdempotencyKey: key, AccountID: "alice", PayeeID: "bob", Amount: usd(amount),
		At: time.Date(2026, time.January, 1, 9, 0, 0, 0, time.UTC), Description: "Rent",
	}
}

func (w *world) schedule(n client.NewPayment) client.ScheduledPayment {
	w.t.Helper()
	return must[client.PaymentReceipt](w.t)(w.SchedulePayment(w.t.Context(), n)).ScheduledPayment
}

// once lets a failed attempt be the last one.
func once(o *server.Options) { o.Payments.Retry.Attempts = 1 }

// Each way to the server is tried with the life of payments.
func TestLifeOfPaymentsOverTheAPI(t *testing.T) {
	for _, way := range []string{"in one process", "through a socket"} {
		t.Run(way, func(t *testing.T) {
			w := start(t, once)
			if way == "through a socket" {
				w.Client = w.client(client.Options{})
			}
			w.furnish()
			t.Run("a repeat gets the payment as it is", w.paymentRepeats)
			t.Run("a change is made to what the caller knows", w.paymentChanges)
			t.Run("an end is final", w.paymentEnds)
			t.Run("lists find them", w.paymentLists)
			t.Run("a day is moved", w.paymentDays)
			t.Run("shards grow", w.paymentShards)
		})
	}
}

func (w *world) paymentRepeats(t *testing.T) {
	ctx := t.Context()
	n := due("rent-1", "5.50")
	n.Data = []byte("invoice \x00 7")
	first := must[client.PaymentReceipt](t)(w.SchedulePayment(ctx, n))
	if first.Replayed || first.Status != client.PaymentScheduled || first.Version != 1 ||
		first.Amount != usd("5.50") || string(first.Data) != string(n.Data) ||
		!first.At.Equal(n.At) {
		t.Errorf("scheduled %+v", first)
	}
	again := must[client.PaymentReceipt](t)(w.SchedulePayment(ctx, n))
	if !again.Replayed || !cmp.Equal(again.ScheduledPayment, first.ScheduledPayment) {
		t.Errorf("again %+v", again)
	}
	got := must[client.ScheduledPayment](t)(w.Client.Payment(ctx, first.ID))
	if !cmp.Equal(got, first.ScheduledPayment) {
		t.Error(cmp.Diff(first.ScheduledPayment, got))
	}
	n.Data = []byte("another")
	_, err := w.SchedulePayment(ctx, n)
	if !errors.Is(err, payments.ErrKeyConflict) || !strings.Contains(err.Error(), "another data") {
		t.Errorf("same key, other data: %v", err)
	}
	unnamed := due("", "1")
	if a, b := w.schedule(unnamed), w.schedule(unnamed); a.ID == b.ID {
		t.Error("two requests without a key are one payment")
	}
}

func (w *world) paymentChanges(t *testing.T) {
	ctx := t.Context()
	p := w.schedule(due("change", "1"))
	merchant, text, amount := client.MerchantID("coffee"), "Coffee", usd("2")
	at := p.At.Add(24 * time.Hour)
	changed := must[client.ScheduledPayment](t)(w.ChangePayment(ctx, p.ID, client.PaymentChange{
		Version: 1, Amount: &amount, MerchantID: &merchant, Description: &text, At: &at,
	}))
	if changed.Version != 2 || changed.Amount != amount || changed.MerchantID != "coffee" ||
		changed.PayeeID != "" || changed.Description != text || !changed.At.Equal(at) {
		t.Errorf("changed to %+v", changed)
	}
	_, err := w.ChangePayment(ctx, p.ID, client.PaymentChange{Version: 1, Amount: &amount})
	if !errors.Is(err, payments.ErrChanged) {
		t.Errorf("with the version before: %v", err)
	}
	if _, err := w.CancelPayment(ctx, p.ID, 1); !errors.Is(err, payments.ErrChanged) {
		t.Errorf("cancel with the version before: %v", err)
	}
	cancelled := must[client.ScheduledPayment](t)(w.CancelPayment(ctx, p.ID, 2))
	if cancelled.Status != client.PaymentCancelled {
		t.Errorf("cancelled %+v", cancelled)
	}
	must[client.ScheduledPayment](t)(w.CancelPayment(ctx, p.ID, 0))
	_, err = w.ChangePayment(ctx, p.ID, client.PaymentChange{Amount: &amount})
	if !errors.Is(err, payments.ErrFinal) {
		t.Errorf("change what was cancelled: %v", err)
	}
	if _, err := w.ReplayPayment(ctx, p.ID); !errors.Is(err, payments.ErrNotFailed) {
		t.Errorf("replay what was cancelled: %v", err)
	}
}

func (w *world) paymentEnds(t *testing.T) {
	ctx := t.Context()
	paid := w.schedule(due("paid", "3"))
	got, outcome, err := w.PayPayment(ctx, paid.ID)
	if err != nil || outcome != client.OutcomeProcessed || got.Status != client.PaymentProcessed {
		t.Fatalf("%s, %+v, %v", outcome, got, err)
	}
	entry := must[client.Entry](t)(w.Entry(ctx, got.TransactionID))
	if entry.Transaction.Amount != usd("3") || entry.Transaction.IdempotencyKey != string(paid.ID) {
		t.Errorf("it became %+v", entry.Transaction)
	}
	by := must[client.ScheduledPayment](t)(w.PaymentByTransaction(ctx, got.TransactionID))
	if by.ID != paid.ID {
		t.Errorf("by its transaction: %+v", by)
	}
	if _, err := w.CancelPayment(ctx, paid.ID, 0); !errors.Is(err, payments.ErrFinal) {
		t.Errorf("cancel what was paid: %v", err)
	}
	dear := w.schedule(due("dear", "1000"))
	got, outcome, err = w.PayPayment(ctx, dear.ID)
	if err != nil || outcome != client.OutcomeFailed || got.Reason != "insufficient_funds" ||
		!strings.Contains(got.ReasonText, "1000.00 USD is needed") {
		t.Errorf("%s, %+v, %v", outcome, got, err)
	}
	replayed := must[client.ScheduledPayment](t)(w.ReplayPayment(ctx, dear.ID))
	if replayed.Status != client.PaymentScheduled || replayed.Attempts != 0 {
		t.Errorf("replayed %+v", replayed)
	}
	must[client.ScheduledPayment](t)(w.CancelPayment(ctx, dear.ID, 0))
	later := due("later", "1")
	later.At = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)
	_, outcome, err = w.PayPayment(ctx, w.schedule(later).ID)
	if err != nil || outcome != client.OutcomeNotDue {
		t.Errorf("what is not due: %s, %v", outcome, err)
	}
}

// ids collects the ids of a list.
func ids(t *testing.T, list func(func(client.ScheduledPayment, error) bool)) []client.PaymentID {
	t.Helper()
	var found []client.PaymentID
	for p, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, p.ID)
	}
	return found
}

func (w *world) paymentLists(t *testing.T) {
	ctx := t.Context()
	must[client.AccountReceipt](t)(w.OpenAccount(ctx, client.NewAccount{
		ID: "kiri", UserID: "kiri", AccountType: "checking", Currency: "USD",
		Zone: "Pacific/Auckland",
	}))
	// Midnight of 1 February in Auckland is 11:00 of 31 January in UTC.
	midnight := time.Date(2026, time.January, 31, 11, 0, 0, 0, time.UTC)
	var want []client.PaymentID
	for i := range 25 {
		n := due(fmt.Sprint("list-", i), "1")
		n.AccountID, n.At = "kiri", midnight
		want = append(want, w.schedule(n).ID)
	}
	slices.Sort(want)
	early := due("early", "1")
	early.AccountID, early.At = "kiri", midnight.Add(-time.Millisecond)
	before := w.schedule(early).ID
	for name, list := range map[string]struct {
		got  func(func(client.ScheduledPayment, error) bool)
		want []client.PaymentID
	}{
		"of a day of the account": {w.AllPaymentsOfAccount(ctx, client.AccountPaymentsQuery{
			AccountID: "kiri", From: "2026-02-01", To: "2026-02-01",
			PageQuery: client.PageQuery{Limit: 4},
		}), want},
		"of the day before": {w.AllPaymentsOfAccount(ctx, client.AccountPaymentsQuery{
			AccountID: "kiri", To: "2026-01-31",
		}), []client.PaymentID{before}},
		"of the next days": {w.AllPaymentsOfAccount(ctx, client.AccountPaymentsQuery{
			AccountID: "kiri", Days: 90, PageQuery: client.PageQuery{Limit: 7},
		}), append([]client.PaymentID{before}, want...)},
		"of a status and a day": {w.AllPayments(ctx, client.PaymentsQuery{
			Status: client.PaymentScheduled, Date: "2026-02-01", Zone: "Pacific/Auckland",
			PageQuery: client.PageQuery{Limit: 4},
		}), want},
		"of a status and instants": {w.AllPayments(ctx, client.PaymentsQuery{
			Status: client.PaymentScheduled, From: midnight.Add(-time.Millisecond), To: midnight,
		}), []client.PaymentID{before}},
	} {
		if diff := cmp.Diff(list.want, ids(t, list.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func (w *world) paymentDays(t *testing.T) {
	ctx := t.Context()
	told := 0
	report := must[client.PaymentReport](t)(w.RunPayments(ctx, client.PaymentRun{
		Callers: 4, Progress: func(client.PaymentReport) { told++ },
	}))
	// rent-1 and the two without a key are due.
	if report.Processed != 3 || report.Failed != 0 || told == 0 {
		t.Errorf("%+v, told %d times", report, told)
	}
	day := must[client.MovedDay](t)(w.MovePaymentDay(ctx, "2026-01-01", "", nil))
	want := client.MovedDay{
		Day: "2026-01-01", Begun: true, Moved: true, Copied: 5, Removed: 5,
		Totals: []client.PaymentTotal{
			{Status: client.PaymentProcessed, Count: 4, Sum: usd("10.50")},
			{Status: client.PaymentCancelled, Count: 1, Sum: usd("1000")},
		},
	}
	if diff := cmp.Diff(want, day); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	want.Copied, want.Removed = 0, 0
	noted := must[client.MovedDay](t)(w.PaymentDay(ctx, "2026-01-01", ""))
	if diff := cmp.Diff(want, noted); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
	history := ids(t, w.AllPayments(ctx, client.PaymentsQuery{
		Date: "2026-01-01", PageQuery: client.PageQuery{Limit: 2},
	}))
	if len(history) != 5 {
		t.Errorf("the history of the day has %v", history)
	}
	again := must[client.PaymentReceipt](t)(w.SchedulePayment(ctx, due("paid", "3")))
	if !again.Replayed || again.Status != client.PaymentProcessed {
		t.Errorf("scheduled again after it was archived: %+v", again)
	}
	by := must[client.ScheduledPayment](t)(w.PaymentByTransaction(ctx, again.TransactionID))
	if by.ID != again.ID {
		t.Errorf("by its transaction: %+v", by)
	}
	_, err := w.MovePaymentDay(ctx, "2026-12-31", "", nil)
	if !errors.Is(err, payments.ErrDayNotOver) {
		t.Errorf("move a day that is not over: %v", err)
	}
	if d := must[client.MovedDay](t)(w.PaymentDay(ctx, "2025-01-01", "")); d.Begun || d.Moved {
		t.Errorf("a day that nobody moved: %+v", d)
	}
}

func (w *world) paymentShards(t *testing.T) {
	ctx := t.Context()
	for range 2 {
		shards := must[[]client.PaymentShards](t)(w.GrowPaymentShards(ctx, 20, "2026-02-10"))
		if len(shards) != 2 || shards[0].Count != 5 || shards[1].Count != 20 ||
			shards[1].From.Format(time.DateOnly) != "2026-02-10" {
			t.Errorf("shards %+v", shards)
		}
	}
	var want []client.PaymentID
	for i := range 40 {
		n := due(fmt.Sprint("grown-", i), "1")
		n.At = time.Date(2026, time.February, 10, 0, 0, 0, 0, time.UTC)
		want = append(want, w.schedule(n).ID)
	}
	slices.Sort(want)
	got := ids(t, w.AllPayments(ctx, client.PaymentsQuery{
		Status: client.PaymentScheduled, Date: "2026-02-10",
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the shards grew (-want +got):\n%s", diff)
	}
	q := client.PatternQuery{Inputs: map[string]string{
		"Status": "SCHEDULED", "From": "2026-02-10T00:00:00Z", "To": "2026-02-11T00:00:00Z",
	}}
	rows := 0
	for more := true; more; more = q.Cursor != "" {
		run := must[client.PatternRun](t)(w.RunPattern(ctx, "payments-by-status", q))
		rows, q.Cursor = rows+len(run.Rows), run.Next
	}
	if rows != len(want) {
		t.Errorf("the access pattern has %d rows, want %d", rows, len(want))
	}
	plan := w.send(get, "/v1/payments/plan?payments=1000000&window=30m&paymentBytes=8192", "")
	if !strings.Contains(plan.body, `"whole":4445,"wholeShards":5`) {
		t.Errorf("the plan is %s", plan.body)
	}
}

// Of a cancellation and an attempt to pay at the same moment one wins, and both sides are told.
func TestOfCancellingAndPayingOneWins(t *testing.T) {
	const rounds = 60
	w := start(t)
	w.furnish()
	ctx := t.Context()
	paid, cancelled := 0, 0
	for i := range rounds {
		p := w.schedule(due(fmt.Sprint("race-", i), "1"))
		var (
			group     sync.WaitGroup
			outcome   client.PaymentOutcome
			pay, take error
		)
		begin := make(chan struct{})
		group.Go(func() {
			<-begin
			_, outcome, pay = w.PayPayment(ctx, p.ID)
		})
		group.Go(func() {
			<-begin
			if i%3 == 1 {
				time.Sleep(time.Duration(i) * 20 * time.Microsecond) // Let either be first.
			}
			_, take = w.CancelPayment(ctx, p.ID, 0)
		})
		close(begin)
		group.Wait()
		now := must[client.ScheduledPayment](t)(w.Client.Payment(ctx, p.ID))
		if pay != nil {
			t.Fatal(pay)
		}
		switch now.Status {
		case client.PaymentProcessed:
			paid++
			if outcome != client.OutcomeProcessed ||
				!errors.Is(take, payments.ErrClaimed) && !errors.Is(take, payments.ErrFinal) {
				t.Errorf("round %d was paid: %s, and cancelling said %v", i, outcome, take)
			}
		case client.PaymentCancelled:
			cancelled++
			if outcome != client.OutcomeCancelled || take != nil {
				t.Errorf("round %d was cancelled: %s, and cancelling said %v", i, outcome, take)
			}
		default:
			t.Errorf("round %d: the payment is %s", i, now.Status)
		}
	}
	alice := must[client.Account](t)(w.Account(ctx, "alice"))
	left := must[client.Account](t)(w.Account(ctx, "bob"))
	sum, err := alice.Balance.Add(left.Balance)
	if err != nil || sum != usd("100") || left.Balance != usd(fmt.Sprint(paid)) {
		t.Errorf("%d paid, %d cancelled; alice has %s, bob %s", paid, cancelled, alice.Balance,
			left.Balance)
	}
}

// Two runs at once, and a hundred payments: each is settled once.
func TestRunsShareThePayments(t *testing.T) {
	const many = 90
	w := start(t)
	w.furnish()
	ctx := t.Context()
	for i := range many {
		w.schedule(due(fmt.Sprint("run-", i), "1"))
	}
	var (
		group   sync.WaitGroup
		reports [3]client.PaymentReport
		errs    [3]error
	)
	for i := range reports {
		group.Go(func() {
			reports[i], errs[i] = w.RunPayments(ctx, client.PaymentRun{Callers: 8})
		})
	}
	group.Wait()
	sum := 0
	for _, r := range reports {
		sum += r.Processed
	}
	if err := errors.Join(errs[:]...); err != nil || sum != many {
		t.Errorf("%d of %d payments were processed: %+v, %v", sum, many, reports, err)
	}
	if bob := must[client.Account](t)(w.Account(ctx, "bob")); bob.Balance != usd(fmt.Sprint(many)) {
		t.Errorf("bob has %s", bob.Balance)
	}
}

// A server that was told to settles payments beside its answers, and stops with them.
func TestServeSettlesPayments(t *testing.T) {
	w := start(t, func(o *server.Options) {
		o.RunPayments = server.PaymentWork{Every: time.Millisecond}
	})
	w.furnish()
	p := w.schedule(due("served", "1"))
	if lag := w.measured("exchequer_payments_lag_seconds"); lag < "9" {
		t.Errorf("before anybody settles the lag is %q", lag) // 91,800 seconds and some more.
	}
	ctx, cancel := context.WithCancel(t.Context())
	listener, err := w.server.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, listener) }()
	for p.Status != client.PaymentProcessed {
		time.Sleep(time.Millisecond)
		p = must[client.ScheduledPayment](t)(w.Client.Payment(t.Context(), p.ID))
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if n := w.measured(`exchequer_payments_total{outcome="processed"}`); n != "1" {
		t.Errorf("%q payments are counted", n)
	}
	if lag := w.measured("exchequer_payments_lag_seconds"); lag != "0" {
		t.Errorf("with nothing left to settle the lag is %q", lag)
	}
	w.schedule(due("too late", "1"))
	if !strings.Contains(w.log.String(), "processed=1 failed=0") {
		t.Error("the log does not tell of payments")
	}
}

// measured returns the value of a measurement.
func (w *world) measured(name string) string {
	w.t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).
		FindStringSubmatch(w.send(get, "/metrics", "").body)
	if found == nil {
		return ""
	}
	return found[1]
}

func TestScopesOfPaymentsAreTheirOwn(t *testing.T) {
	w := start(t, withKeys)
	w.furnish()
	key := func(scopes ...string) *client.Client {
		created := must[client.CreatedKey](t)(w.CreateKey(t.Context(),
			client.NewAPIKey{Name: strings.Join(scopes, " "), Scopes: scopes}))
		return w.client(client.Options{Key: created.Secret})
	}
	p := w.schedule(due("scopes", "1"))
	reader, writer := key("payments:read"), key("payments:write")
	books := key("ledger:read", "ledger:write", "ledger:admin")
	if _, err := reader.Payment(t.Context(), p.ID); err != nil {
		t.Errorf("the reader reads: %v", err)
	}
	if _, err := writer.CancelPayment(t.Context(), p.ID, 1); err != nil {
		t.Errorf("the writer cancels: %v", err)
	}
	for name, err := range map[string]error{
		"the reader cancels":      second(reader.CancelPayment(t.Context(), p.ID, 0)),
		"the reader runs":         second(reader.RunPayments(t.Context(), client.PaymentRun{})),
		"the reader grows shards": second(reader.GrowPaymentShards(t.Context(), 20, "2027-01-01")),
		"the writer reads":        second(writer.Payment(t.Context(), p.ID)),
		"the ledger's reads":      second(books.Payment(t.Context(), p.ID)),
		"the ledger's schedules":  second(books.SchedulePayment(t.Context(), due("no", "1"))),
		"the writer posts": second(writer.Post(t.Context(), client.Posting{
			Type: client.Transfer, From: "alice", To: "bob", Amount: usd("1"),
		})),
		"the reader reads an account": second(reader.Account(t.Context(), "alice")),
	} {
		if !errors.Is(err, apikey.ErrScopeMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestETagsOfPayments(t *testing.T) {
	w := start(t)
	w.furnish()
	made := w.send(post, "/v1/payments", `{"accountId":"alice","payeeId":"bob","amount":"1",`+
		`"currency":"USD","at":"2026-01-01T00:00:00Z"}`, "Idempotency-Key", "tag")
	path := made.header.Get("Location")
	if made.status != http.StatusCreated || made.header.Get("ETag") != `"1"` {
		t.Fatalf("status %d, ETag %s: %s", made.status, made.header.Get("ETag"), made.body)
	}
	if r := w.send(get, path, "", "If-None-Match", `"1"`); r.status != http.StatusNotModified {
		t.Errorf("known: status %d", r.status)
	}
	stale := w.send(http.MethodPatch, path, `{"amount":"2"}`, "If-Match", `"2"`)
	if p := stale.problem(t); stale.status != http.StatusPreconditionFailed ||
		p.Code != "version_changed" {
		t.Errorf("with another tag: %s", stale.body)
	}
	changed := w.send(http.MethodPatch, path, `{"amount":"2"}`, "If-Match", `"1"`)
	if changed.status != 200 || changed.header.Get("ETag") != `"2"` {
		t.Errorf("with the tag: status %d, ETag %s", changed.status, changed.header.Get("ETag"))
	}
	if r := w.send(post, path+"/cancel", "", "If-Match", "*"); r.status != 200 {
		t.Errorf("with any tag: %s", r.body)
	}
	again := w.send(post, "/v1/payments", `{"accountId":"alice","payeeId":"bob","amount":"1.0",`+
		`"currency":"USD","at":"2026-01-01T00:00:00.000Z"}`, "Idempotency-Key", "tag")
	if again.status != 200 || again.header.Get("Idempotent-Replayed") != "true" ||
		again.header.Get("ETag") != `"3"` || !strings.Contains(again.body, "CANCELLED") {
		t.Errorf("the repeat: status %d, %s", again.status, again.body)
	}
}

func TestWrongRequestsAboutPaymentsAreRefused(t *testing.T) {
	w := start(t)
	w.furnish()
	p := w.schedule(due("salary", "1"))
	path := "/v1/payments/" + string(p.ID)
	body := func(members string) string {
		return `{"accountId":"alice","at":"2026-01-01T00:00:00Z",` + members + `}`
	}
	ok := `"payeeId":"bob","amount":"1","currency":"USD"`
	big := base64.StdEncoding.EncodeToString(make([]byte, payments.DataMax+1))
	const patch = http.MethodPatch
	for _, c := range []wrong{
		{"nothing", post, "/v1/payments", `{}`, nil, 400, "request_invalid",
			[]string{"currency is missing", "amount is missing", "at is missing"}},
		{"no payee", post, "/v1/payments", body(`"amount":"1","currency":"USD"`), nil,
			400, "request_invalid", []string{"payeeId is missing"}},
		{"two payees", post, "/v1/payments", body(ok + `,"merchantId":"coffee"`), nil,
			400, "request_invalid", []string{"merchantId must not be given together"}},
		{"no time", post, "/v1/payments",
			strings.Replace(body(ok), "2026-01-01T00:00:00Z", "soon", 1), nil,
			400, "request_invalid", []string{"at must be an instant"}},
		{"data that are not base64", post, "/v1/payments", body(ok + `,"data":"?"`), nil,
			400, "request_invalid", []string{"data must be base64"}},
		{"much data", post, "/v1/payments", body(ok + `,"data":"` + big + `"`), nil,
			413, "payment_data_too_large", nil},
		{"a long key", post, "/v1/payments", body(ok),
			[]string{"Idempotency-Key", strings.Repeat("k", 256)},
			400, "idempotency_key_invalid", nil},
		{"an amount of nothing", post, "/v1/payments",
			strings.Replace(body(ok), `"1"`, `"0"`, 1), nil,
			400, "amount_not_positive", nil},
		{"three fraction digits", post, "/v1/payments",
			strings.Replace(body(ok), `"1"`, `"1.001"`, 1), nil,
			400, "too_many_fraction_digits", nil},
		{"another currency", post, "/v1/payments", strings.Replace(body(ok), "USD", "NZD", 1), nil,
			422, "currency_mismatch", nil},
		{"nobody pays", post, "/v1/payments", strings.Replace(body(ok), "alice", "nobody", 1), nil,
			404, "account_not_found", nil},
		{"the ledger pays", post, "/v1/payments",
			strings.Replace(body(ok), "alice", "@fees", 1), nil,
			400, "request_invalid", []string{"accountId must not be one of the ledger's own"}},
		{"the same key for something else", post, "/v1/payments", body(ok),
			[]string{"Idempotency-Key", "salary"}, 409, "idempotency_conflict", nil},
		{"an unknown member", post, "/v1/payments", body(ok + `,"to":"bob"`), nil,
			400, "request_invalid", []string{"to is not known here"}},
		{"unknown", get, "/v1/payments/0", "", nil, 404, "payment_not_found", nil},
		{"pay what is not there", post, "/v1/payments/0/pay", "", nil,
			404, "payment_not_found", nil},
		{"change what is not there", patch, "/v1/payments/0", `{"amount":"1"}`, nil,
			404, "payment_not_found", nil},
		{"a change of the currency", patch, path, `{"currency":"USD"}`, nil,
			400, "request_invalid", []string{"currency must be left out"}},
		{"a change to another currency", patch, path, `{"amount":"1","currency":"EUR"}`, nil,
			422, "currency_mismatch", nil},
		{"a change to no amount", patch, path, `{"amount":"much"}`, nil,
			400, "request_invalid", []string{"amount must be a plain decimal"}},
		{"a change to the payer", patch, path, `{"payeeId":"alice"}`, nil,
			400, "request_invalid", []string{"payeeId must be another account"}},
		{"a weak tag", patch, path, `{"amount":"1"}`, []string{"If-Match", `W/"1"`},
			412, "version_changed", nil}, // A weak tag equals nothing (RFC 9110, 8.8.3.2).
		{"no tag", post, path + "/cancel", "", []string{"If-Match", `1`},
			400, "request_invalid", []string{"If-Match must be * or a list of ETags"}},
		{"replay what is not there", post, "/v1/payments/0/replay", "", nil,
			404, "payment_not_found", nil},
		{"no status", get, "/v1/payments", "", nil, 400, "request_invalid",
			[]string{"status is missing"}},
		{"unknown status", get, "/v1/payments?status=LOST", "", nil, 400, "request_invalid",
			[]string{"status must be one of"}},
		{"a day and an instant", get, "/v1/payments?status=FAILED&date=2026-01-01&from=2026-01-01T00:00:00Z",
			"", nil, 400, "request_invalid", []string{"date must be left out"}},
		{"no day", get, "/v1/payments/history?date=2026-02-30", "", nil, 400, "request_invalid",
			[]string{"date must be a day"}},
		{"a zone without a day", get, "/v1/payments/history?zone=UTC", "", nil,
			400, "request_invalid", []string{"zone must be left out"}},
		{"no zone", get, "/v1/payments/history?date=2026-01-01&zone=Mars/Base", "", nil,
			400, "request_invalid", []string{"zone must be a name"}},
		{"the zone of this computer", get, "/v1/payments/history?date=2026-01-01&zone=Local", "",
			nil, 400, "request_invalid", []string{"zone must be a name"}},
		{"an end before its begin", get,
			"/v1/payments/history?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "", nil,
			400, "request_invalid", []string{"to must not be before from"}},
		{"a bad cursor", get, "/v1/payments?status=FAILED&cursor=nonsense", "", nil,
			400, "cursor_invalid", nil},
		{"a bad cursor of days", get, "/v1/accounts/alice/payments?days=90&cursor=1.2.nonsense", "",
			nil, 400, "cursor_invalid", nil},
		{"another cursor of days", get, "/v1/accounts/alice/payments?days=90&cursor=nonsense", "",
			nil, 400, "cursor_invalid", nil},
		{"days and a day", get, "/v1/accounts/alice/payments?days=90&from=2026-01-01", "", nil,
			400, "request_invalid", []string{"days must be left out"}},
		{"payments of nobody", get, "/v1/accounts/nobody/payments", "", nil,
			404, "account_not_found", nil},
		{"next payments of nobody", get, "/v1/accounts/nobody/payments?days=90", "", nil,
			404, "account_not_found", nil},
		{"of no transaction", get, "/v1/payments/by-transaction/0", "", nil,
			404, "payment_not_found", nil},
		{"many callers", post, "/v1/payments/run", `{"concurrency":1025,"units":-1}`, nil,
			400, "request_invalid", []string{"concurrency must be", "units must be"}},
		{"a day that is not over", post, "/v1/payments/days/2026-01-02/move", `{}`, nil,
			422, "payment_day_not_over", nil},
		{"a day that is not over, as a stream", post, "/v1/payments/days/2026-01-02/move", `{}`,
			[]string{"Accept", "application/x-ndjson"}, 422, "payment_day_not_over", nil},
		{"move no day", post, "/v1/payments/days/today/move", `{}`, nil,
			400, "request_invalid", []string{"date must be a day"}},
		{"move a day of nowhere", post, "/v1/payments/days/2026-01-01/move", `{"zone":"Mars/Base"}`,
			nil, 400, "request_invalid", []string{"zone must be a name"}},
		{"fewer shards", post, "/v1/payments/shards", `{"count":4,"from":"2027-01-01"}`, nil,
			400, "shards_invalid", []string{"count must only grow"}},
		{"shards from no day", post, "/v1/payments/shards", `{"count":9,"from":"soon"}`, nil,
			400, "request_invalid", []string{"from must be a day"}},
		{"a plan of nothing", get, "/v1/payments/plan", "", nil, 400, "request_invalid",
			[]string{"payments is missing", "window is missing", "paymentBytes is missing"}},
		{"a plan for no time", get, "/v1/payments/plan?payments=1&window=soon&paymentBytes=1", "",
			nil,
			400, "request_invalid", []string{"window must be a time"}},
		{"a plan for an instant", get, "/v1/payments/plan?payments=1&window=1ms&paymentBytes=1",
			"", nil,
			400, "request_invalid", []string{"window must be at least a second"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			c.check(w, w.send(c.method, c.path, c.body, c.headers...))
		})
	}
	w.t = t
	now := must[client.ScheduledPayment](t)(w.Client.Payment(t.Context(), p.ID))
	if !cmp.Equal(now, p) {
		t.Errorf("the refused requests changed the payment:\n%s", cmp.Diff(p, now))
	}
	if page := must[client.Page[client.ScheduledPayment]](t)(w.Payments(t.Context(),
		client.PaymentsQuery{Status: client.PaymentScheduled})); len(page.Items) != 1 {
		t.Errorf("there are %d payments", len(page.Items))
	}
}

// check compares an answer with what it must be.
func (c wrong) check(w *world, r reply) {
	w.t.Helper()
	p := r.problem(w.t)
	if r.status != c.status || p.Code != c.code {
		w.t.Errorf("status %d, code %s: %s", r.status, p.Code, r.body)
	}
	var got []string
	for _, f := range p.Fields {
		got = append(got, f.Name+" "+f.Wrong)
	}
	for _, want := range c.fields {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, want) }) {
			w.t.Errorf("fields %v, want one that begins %q", got, want)
		}
	}
}

// A run whose caller goes away finishes what it has in hand, also when the server closes at once.
func TestARunThatIsLeftFinishesItsPayments(t *testing.T) {
	const many = 40
	w := start(t)
	w.furnish()
	for i := range many {
		w.schedule(due(fmt.Sprint("left-", i), "1"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := w.RunPayments(ctx, client.PaymentRun{
		Callers: 2, Progress: func(client.PaymentReport) { cancel() },
	})
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	cancel()
	server.WaitInside(w.server)
	pending := client.PaymentsQuery{Status: client.PaymentPending}
	for p, err := range w.AllPayments(t.Context(), pending) {
		t.Errorf("the payment %s is left pending, %v", p.ID, err)
	}
	entries := must[client.Page[client.Transaction]](t)(w.TransactionsByStatus(t.Context(),
		client.StatusQuery{Status: client.Completed, PageQuery: client.PageQuery{Limit: 1000}}))
	paid := len(ids(t, w.AllPayments(t.Context(),
		client.PaymentsQuery{Status: client.PaymentProcessed})))
	if len(entries.Items) != paid+1 { // And the salary.
		t.Errorf("%d payments are processed, and %d transactions completed", paid,
			len(entries.Items))
	}
}
