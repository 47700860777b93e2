package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// script is a server that answers from a list, and keeps what it was asked.
type script struct {
	answers []func(*http.Request) (*http.Response, error)
	asked   []*http.Request
	bodies  []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.asked, s.bodies = append(s.asked, r), append(s.bodies, string(body))
	if len(s.asked) > len(s.answers) {
		return s.answers[len(s.answers)-1](r)
	}
	return s.answers[len(s.asked)-1](r)
}

type step = func(*http.Request) (*http.Response, error)

func says(status int, body string, headers ...string) step {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{
			StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r,
		}, nil
	}
}

func fails(err error) step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

const (
	transaction = `{"id":"t1","idempotencyKey":"k","type":"transfer","status":"completed","amount":"5.50","currency":"USD","createdAt":"2026-01-02T10:30:00.123Z"}`
	account     = `{"id":"a","accountType":"checking","status":"active","currency":"USD","balance":"1.00","overdraftLimit":"0.00","unlimited":false,"version":1,"createdAt":"2026-01-02T10:30:00.123Z"}`
	busy        = `{"type":"/docs#busy","title":"Busy","status":429,"detail":"The store is busy","kind":"throttled","code":"busy","instance":"R1"}`
	refused     = `{"status":422,"detail":"Account a has 1 USD to spend, but 5 USD is needed","kind":"refused","code":"insufficient_funds","hint":"Deposit money first","fields":[{"name":"amount","wrong":"is too much"}],"details":{"account":"a"},"instance":"R2"}`
)

func talk(t *testing.T, answers ...step) (*client.Client, *script) {
	t.Helper()
	s := &script{answers: answers}
	c, err := client.New("http://server.example/below/", client.Options{
		Key: "exq_1_2", Transport: s,
		Retry: client.Retry{Base: time.Microsecond, Max: 10 * time.Microsecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestNewRefusesAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://host", "http://", "http://a b"} {
		if c, err := client.New(address, client.Options{}); err == nil {
			t.Errorf("%q gave %v", address, c)
		}
	}
}

func TestRequests(t *testing.T) {
	c, s := talk(t, says(201, transaction))
	ctx := context.Background()
	_, err := c.Post(ctx, client.Posting{
		IdempotencyKey: "k", Type: client.Transfer, From: "a/b", To: "c",
		Amount: money.MustParse("5.5", "USD"), Metadata: map[string]string{"x": "y"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := s.asked[0]
	if r.Method != http.MethodPost ||
		r.URL.String() != "http://server.example/below/v1/transactions" ||
		r.Header.Get("Idempotency-Key") != "k" ||
		r.Header.Get("Authorization") != "Bearer exq_1_2" ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get("User-Agent") == "" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	want := `{"type":"transfer","metadata":{"x":"y"},"from":"a/b","to":"c","amount":"5.50","currency":"USD"}`
	if s.bodies[0] != want {
		t.Errorf("body %s", s.bodies[0])
	}
	s.answers = []step{says(200, account)}
	if _, err := c.Account(ctx, "a/b?c#d e"); err != nil {
		t.Fatal(err)
	}
	if got := s.asked[1].URL.String(); got !=
		"http://server.example/below/v1/accounts/a%2Fb%3Fc%23d%20e" {
		t.Errorf("address %s", got)
	}
	if s.asked[1].Header.Get("Content-Type") != "" || s.bodies[1] != "" {
		t.Errorf("a read has the body %q", s.bodies[1])
	}
}

func TestPostMakesUpAKeyAndKeepsItForRepeats(t *testing.T) {
	c, s := talk(t, fails(io.ErrUnexpectedEOF), says(429, busy, "Retry-After", "1"),
		says(201, transaction))
	r, err := c.Post(context.Background(), client.Posting{Type: client.Transfer})
	if err != nil || r.Transaction.ID != "t1" || len(s.asked) != 3 {
		t.Fatalf("%+v, %v, after %d requests", r, err, len(s.asked))
	}
	first := s.asked[0].Header.Get("Idempotency-Key")
	for i, again := range s.asked {
		if key := again.Header.Get("Idempotency-Key"); key != first || len(key) < 20 {
			t.Errorf("request %d has the key %q, the first %q", i, key, first)
		}
		if s.bodies[i] != s.bodies[0] {
			t.Errorf("request %d has the body %s", i, s.bodies[i])
		}
	}
}

func TestRepeats(t *testing.T) {
	ctx := context.Background()
	read := func(c *client.Client) error { _, err := c.Account(ctx, "a"); return err }
	for name, c := range map[string]struct {
		do      func(*client.Client) error
		answers []step
		asked   int
	}{
		"a read is repeated after a broken connection": {read,
			[]step{fails(io.EOF), says(200, account)}, 2},
		"a read is repeated after a throttle": {read,
			[]step{says(429, busy), says(200, account)}, 2},
		"a read is given up after four tries": {read, []step{fails(io.EOF)}, 4},
		"a refusal is final":                  {read, []step{says(422, refused)}, 1},
		"a freeze is repeated": {
			func(c *client.Client) error { _, err := c.FreezeAccount(ctx, "a"); return err },
			[]step{fails(io.EOF), says(200, account)}, 2},
		"a reversal is repeated": {func(c *client.Client) error {
			_, err := c.Reverse(ctx, client.Reversing{TransactionID: "t"})
			return err
		}, []step{fails(io.EOF), says(200, transaction)}, 2},
		"a new key is not repeated": {func(c *client.Client) error {
			_, err := c.CreateKey(ctx, client.NewAPIKey{Name: "n"})
			return err
		}, []step{fails(io.EOF)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := talk(t, c.answers...)
			err := c.do(client)
			if len(s.asked) != c.asked {
				t.Errorf("%d requests, %v", len(s.asked), err)
			}
			if (err == nil) != (c.asked == 2) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestRepeatsStopWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, s := talk(t, func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, context.Canceled
	})
	if _, err := c.Account(ctx, "a"); !errors.Is(err, context.Canceled) || len(s.asked) != 1 {
		t.Errorf("%v after %d requests", err, len(s.asked))
	}
}

// A client that meets nothing but trouble stops repeating, whatever each single request would do.
func TestRepeatsHaveABudget(t *testing.T) {
	c, s := talk(t, fails(io.EOF))
	const requests = 100
	for range requests {
		if _, err := c.Account(context.Background(), "a"); err == nil {
			t.Fatal("it worked")
		}
	}
	if repeats := len(s.asked) - requests; repeats != 20 {
		t.Errorf("%d repeats of %d requests", repeats, requests)
	}
	// Ten successes earn one repeat.
	s.answers, s.asked = []step{says(200, account)}, nil
	for range 10 {
		if _, err := c.Account(context.Background(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	s.answers, s.asked = []step{fails(io.EOF), says(200, account)}, nil
	if _, err := c.Account(context.Background(), "a"); err != nil || len(s.asked) != 2 {
		t.Errorf("%v after %d requests", err, len(s.asked))
	}
}

// However many repeats there are and however long the first wait, no wait is over the greatest.
func TestWaitsAreBounded(t *testing.T) {
	for _, base := range []time.Duration{1, time.Hour, 1 << 62} {
		s := &script{answers: []step{fails(io.EOF)}}
		c, err := client.New("http://server.example/", client.Options{
			Transport: s, Retry: client.Retry{Attempts: 100, Base: base, Max: time.Microsecond},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Account(t.Context(), "a"); err == nil || len(s.asked) < 10 {
			t.Errorf("from %v on: %v after %d requests", base, err, len(s.asked))
		}
	}
}

func TestProblems(t *testing.T) {
	local := problem.NewCatalogue("test")
	insufficient := local.Define(problem.Refused, "insufficient_funds", "S", "")
	c, _ := talk(t, says(422, refused))
	_, err := c.Account(context.Background(), "a")
	var e *problem.Error
	if !errors.Is(err, insufficient) || !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if e.Kind != problem.Refused || e.Hint != "Deposit money first" || len(e.Fields) != 1 ||
		e.Details["account"] != "a" || e.Details[client.DetailRequest] != "R2" ||
		e.Sentence != "Account a has 1 USD to spend, but 5 USD is needed" {
		t.Errorf("got %+v", e)
	}
	for name, answer := range map[string]step{
		"a page of a proxy": says(502, "<html>bad gateway</html>"), "nothing": says(500, ""),
		"another document": says(400, `{"title":"no code"}`),
		"a redirection":    says(302, "", "Location", "http://elsewhere.example"),
	} {
		c, _ := talk(t, answer)
		_, err := c.Account(context.Background(), "a")
		if !errors.Is(err, client.ErrStrangeAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, _ = talk(t, fails(errors.New("connection refused")))
	_, err = c.Account(context.Background(), "a")
	if !errors.Is(err, client.ErrNoAnswer) ||
		!strings.Contains(err.Error(), "connection refused") ||
		problem.KindOf(err) != problem.Unavailable {
		t.Errorf("no answer: %v", err)
	}
	c, _ = talk(t, says(200, "half of a"))
	if _, err := c.Account(context.Background(), "a"); err == nil {
		t.Error("half of an answer was taken")
	}
	c, _ = talk(t, says(200, strings.Replace(account, `"1.00"`, `"a lot"`, 1)))
	if _, err := c.Account(context.Background(), "a"); err == nil {
		t.Error("an amount that is none was taken")
	}
	if err := problem.Check(client.Problems); err != nil {
		t.Error(err)
	}
}

func TestStreams(t *testing.T) {
	const report = `{"report":{"from":"2026-01-01","to":"2026-01-02","balanced":true,"totals":[],"divergences":[]}}`
	const progress = `{"progress":{"transactions":7,"cursor":"c1"}}`
	for name, c := range map[string]struct {
		body string
		is   *problem.Definition
	}{
		"whole":           {progress + "\n" + report + "\n", nil},
		"without its end": {progress + "\n", client.ErrNoAnswer},
		"broken off":      {progress + "\n" + report[:20], client.ErrNoAnswer},
		"nothing":         {"", client.ErrNoAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := talk(t, says(200, c.body))
			q := reconcileQuery()
			var seen []string
			q.Progress = func(p progressOf) {
				seen = append(seen, fmt.Sprint(p.Transactions, p.Cursor))
			}
			r, err := client.Reconcile(context.Background(), q)
			if c.is == nil && (err != nil || !r.Balanced || len(seen) != 1 || seen[0] != "7c1") ||
				c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%+v, %v, %v", r, seen, err)
			}
			if got := s.asked[0].Header.Get("Accept"); got != "application/x-ndjson" {
				t.Errorf("it accepts %s", got)
			}
		})
	}
	c, _ := talk(t, says(200, progress+"\n"+`{"problem":`+busy+"}\n"))
	_, err := c.Reconcile(context.Background(), reconcileQuery())
	var e *problem.Error
	if !errors.As(err, &e) || e.Code != "busy" {
		t.Errorf("a problem in the stream: %v", err)
	}
}

type progressOf = client.ReconcileProgress

func reconcileQuery() client.ReconcileQuery {
	return client.ReconcileQuery{From: "2026-01-01", To: "2026-01-02"}
}

func TestIterators(t *testing.T) {
	page := func(next string) step {
		return says(200, `{"items":[`+account+`,`+account+`],"next":"`+next+`"}`)
	}
	c, s := talk(t, page("p2"), page(""))
	n := 0
	for a, err := range c.AllAccounts(context.Background()) {
		if err != nil || a.ID != "a" {
			t.Fatalf("%+v, %v", a, err)
		}
		n++
	}
	if n != 4 || len(s.asked) != 2 || s.asked[1].URL.Query().Get("cursor") != "p2" {
		t.Errorf("%d accounts from %d pages", n, len(s.asked))
	}
	// Who stops early asks for no further page.
	c, s = talk(t, page("p2"))
	for range c.AllAccounts(context.Background()) {
		break
	}
	if len(s.asked) != 1 {
		t.Errorf("%d pages for one account", len(s.asked))
	}
	// An error is told once, at the end.
	c, _ = talk(t, page("p2"), says(422, refused))
	var errs, items int
	for _, err := range c.AllAccounts(context.Background()) {
		if err != nil {
			errs++
		} else {
			items++
		}
	}
	if errs != 1 || items != 2 {
		t.Errorf("%d errors after %d accounts", errs, items)
	}
}

func TestATokenIsSentInPlaceOfAKey(t *testing.T) {
	s := &script{answers: []step{says(200, `{"subject":"alice","authentication":"token"}`)}}
	c, err := client.New("http://server.example", client.Options{Token: "a.b.c", Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	me, err := c.WhoAmI(t.Context())
	if err != nil || me.Subject != "alice" || me.Authentication != "token" {
		t.Errorf("got %+v, %v", me, err)
	}
	if got := s.asked[0].Header.Get("Authorization"); got != "Bearer a.b.c" {
		t.Errorf("sent %q", got)
	}
	_, err = client.New("http://server.example", client.Options{Key: "k", Token: "a.b.c"})
	if err == nil || !strings.Contains(err.Error(), "either an API key or a user's token") {
		t.Errorf("both: %v", err)
	}
}
