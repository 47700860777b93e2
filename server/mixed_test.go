package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// given is what the server answered to one request.
type given struct {
	status   int
	replayed bool
	body     string
}

// history keeps the answers to all requests of a load by name: the path and the key. What it is
// called with is the promise that is checked at the end.
type history struct {
	t    *testing.T
	base string
	http *http.Client

	mu    sync.Mutex
	names map[string]*requested
}

// requested is one request, which was sent once or more.
type requested struct {
	path, key string
	answers   []given
	// lost counts the requests whose caller went away before the answer.
	lost int
}

// send sends a request with a key and keeps the answer. A wait of zero means that the caller does
// not go away. It returns a status of zero if the caller went.
func (h *history) send(path, key, body string, wait time.Duration) given {
	ctx := context.WithoutCancel(h.t.Context())
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	g, err := h.try(ctx, path, key, body)
	h.mu.Lock()
	defer h.mu.Unlock()
	name := path + " " + key
	r := h.names[name]
	if r == nil {
		r = &requested{path: path, key: key}
		h.names[name] = r
	}
	switch {
	case err != nil && wait > 0 && ctx.Err() != nil:
		r.lost++
	case err != nil:
		h.t.Errorf("%s: %v", name, err)
	default:
		r.answers = append(r.answers, g)
	}
	return g
}

func (h *history) try(ctx context.Context, path, key, body string) (given, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base+path, strings.NewReader(body))
	if err != nil {
		return given{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	response, err := h.http.Do(r)
	if err != nil {
		return given{}, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return given{}, err
	}
	return given{response.StatusCode, response.Header.Get("Idempotent-Replayed") == "true",
		string(data)}, nil
}

// stored is what is compared of a transaction: everything but the status, which a reversal changes.
type stored struct {
	ID, IdempotencyKey, Type, Description, Amount, Currency, ReversalOf, CreatedAt string

	Metadata map[string]string
	Legs     []struct {
		ID, AccountID, Type, Amount, Currency, BalanceAfter, CreatedAt string
		AccountVersion                                                 int
	}
}

// read returns a transaction in a form that can be compared.
func read(t *testing.T, body string) (text string, s stored) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Error(err)
	}
	return string(data), s
}

// check compares every answer with the store. It returns how many requests were acknowledged.
func (h *history) check(w *world) (acknowledged int) {
	for name, r := range h.names {
		var first string
		created, refused := 0, 0
		for _, g := range r.answers {
			switch {
			case g.status == 201 && !g.replayed:
				created++
			case g.status == 200 && g.replayed:
			case g.status == 409 || g.status == 422:
				refused++
				continue
			default:
				h.t.Errorf("%s: status %d, replayed %t: %s", name, g.status, g.replayed, g.body)
				continue
			}
			text, _ := read(h.t, g.body)
			if first == "" {
				first = text
			}
			if text != first {
				h.t.Errorf("%s: two answers:\n%s\n%s", name, first, text)
			}
		}
		if created > 1 {
			h.t.Errorf("%s: %d answers have status 201", name, created)
		}
		if first == "" {
			if refused > 0 && r.key != "" {
				got := w.send(
					http.MethodGet,
					"/v1/transactions?legs=true&idempotencyKey="+r.key,
					"",
				)
				switch {
				case got.status == 404:
				case r.lost > 0:
					// The server began with a request only when its caller had left, and its repeat
					// had an answer.
					acknowledged++
					h.t.Logf("%s was refused, and posted by a request whose caller had left", name)
				default:
					h.t.Errorf("%s was refused and left %s", name, got.body)
				}
			}
			continue
		}
		if acknowledged++; created == 0 && r.lost == 0 {
			h.t.Errorf("%s: no answer has status 201", name)
		}
		_, s := read(h.t, first)
		got := w.send(http.MethodGet, "/v1/transactions/"+s.ID+"?legs=true", "")
		if text, _ := read(h.t, got.body); got.status != 200 || text != first {
			h.t.Errorf(
				"%s: answered\n%s\nstored, status %d:\n%s",
				name,
				first,
				got.status,
				got.body,
			)
		}
	}
	return acknowledged
}

// mixedLoad is how long the load lasts; EXCHEQUER_ROUNDS multiplies it.
const mixedLoad = time.Second

// Callers of every kind at once: each acknowledged posting is stored once, as it was answered, and
// each key is answered 201 once.
func TestEveryAcknowledgedPostingIsStored(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := start(t)
	w.furnishLoad()
	h := &history{t: t, base: w.http.URL, names: map[string]*requested{},
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	defer h.http.CloseIdleConnections()
	h.send("/v1/transactions", "old", oldBody, 0)
	until := time.Now().Add(mixedLoad * time.Duration(storetest.Rounds(1)))
	l := &load{history: h, w: w, until: until}
	var group sync.WaitGroup
	for i := range 12 {
		l.pair(&group, i, rand.New(rand.NewPCG(seed, uint64(i))))
	}
	for i, caller := range []func(int, *rand.Rand){
		l.repeats, l.repeats, l.repeats, l.repeats, l.conflicts, l.refused, l.impatient,
		l.impatient, l.impatient, l.reverses, l.exchanges, l.settles,
	} {
		group.Go(func() { caller(i, rand.New(rand.NewPCG(seed, uint64(100+i)))) })
	}
	group.Wait()
	n := h.check(w)
	t.Logf("%d requests were acknowledged", n)
	if n == 0 {
		t.Error("nothing was acknowledged")
	}
	l.counts(n)
}

// load is a load that runs.
type load struct {
	*history
	w     *world
	until time.Time
}

func (l *load) runs() bool { return time.Now().Before(l.until) }

var loadAccounts = []string{"alice", "bob", "shop"}

func (w *world) furnishLoad() {
	w.furnish()
	ctx := context.Background()
	for id, currency := range map[client.AccountID]string{"swiss": "CHF", "yen": "JPY"} {
		must[client.AccountReceipt](w.t)(w.OpenAccount(ctx, client.NewAccount{
			ID: id, UserID: "u", AccountType: "checking", Currency: money.Currency(currency),
		}))
	}
	for _, body := range []string{
		`{"type":"deposit","to":"alice","amount":"900","currency":"USD"}`,
		`{"type":"deposit","to":"swiss","amount":"100000","currency":"CHF"}`,
	} {
		if r := w.send(post, "/v1/transactions", body, "Idempotency-Key", body); r.status != 201 {
			w.t.Fatal(r.body)
		}
	}
}

const oldBody = `{"type":"transfer","from":"alice","to":"bob","amount":"1","currency":"USD"}`

// transferBody is a transfer that may be refused, because there is not money enough.
func transferBody(r *rand.Rand) string {
	from := r.IntN(len(loadAccounts))
	to := (from + 1 + r.IntN(len(loadAccounts)-1)) % len(loadAccounts)
	return fmt.Sprintf(`{"type":"transfer","from":%q,"to":%q,"amount":"%d","currency":"USD"}`,
		loadAccounts[from], loadAccounts[to], 1+r.IntN(900))
}

// pair is a client and its own retry: both send the same new key at the same moment.
func (l *load) pair(group *sync.WaitGroup, i int, r *rand.Rand) {
	group.Go(func() {
		for n := 0; l.runs(); n++ {
			key, body := fmt.Sprintf("pair-%d-%d", i, n), transferBody(r)
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { l.send("/v1/transactions", key, body, 0) })
			}
			both.Wait()
		}
	})
}

// repeats sends an old key again.
func (l *load) repeats(int, *rand.Rand) {
	for l.runs() {
		if g := l.send("/v1/transactions", "old", oldBody, 0); g.status != 200 {
			l.t.Errorf("the old key is answered %d: %s", g.status, g.body)
			return
		}
	}
}

// conflicts sends the old key with another amount.
func (l *load) conflicts(int, *rand.Rand) {
	body := strings.Replace(oldBody, `"1"`, `"2"`, 1)
	for l.runs() {
		g, err := l.try(context.Background(), "/v1/transactions", "old", body)
		if err != nil || g.status != 409 || !strings.Contains(g.body, `"amount"`) {
			l.t.Errorf("the old key with another amount is answered %d, %v: %s", g.status, err,
				g.body)
			return
		}
	}
}

// refused sends what can never be paid.
func (l *load) refused(i int, _ *rand.Rand) {
	for n := 0; l.runs(); n++ {
		l.send("/v1/transactions", fmt.Sprintf("refused-%d-%d", i, n),
			`{"type":"transfer","from":"bob","to":"alice","amount":"5000","currency":"USD"}`, 0)
	}
}

// impatient gives up after some milliseconds and sends the same again, until it has an answer.
func (l *load) impatient(i int, r *rand.Rand) {
	for n := 0; l.runs(); n++ {
		key, body := fmt.Sprintf("impatient-%d-%d", i, n), transferBody(r)
		for range 5 {
			wait := time.Duration(1+r.IntN(12)) * time.Millisecond
			if l.send("/v1/transactions", key, body, wait).status != 0 {
				break
			}
		}
		l.send("/v1/transactions", key, body, 0)
	}
}

// reverses posts, and reverses twice at the same moment.
func (l *load) reverses(i int, r *rand.Rand) {
	for n := 0; l.runs(); n++ {
		g := l.send("/v1/transactions", fmt.Sprintf("wrong-%d-%d", i, n), transferBody(r), 0)
		if g.status != 201 {
			continue
		}
		_, s := read(l.t, g.body)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { l.send("/v1/transactions/"+s.ID+"/reverse", "", "{}", 0) })
		}
		both.Wait()
	}
}

// exchanges sends exchanges with one key from two callers.
func (l *load) exchanges(i int, r *rand.Rand) {
	for n := 0; l.runs(); n++ {
		key := fmt.Sprintf("exchange-%d-%d", i, n)
		body := fmt.Sprintf(`{"from":"swiss","to":"yen","amount":"%d","currency":"CHF",`+
			`"rate":"100.5"}`, 1+r.IntN(9))
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { l.send("/v1/transactions/exchange", key, body, 0) })
		}
		both.Wait()
	}
}

// settles schedules payments and pays each from two callers: it is paid once or waits for money.
func (l *load) settles(i int, r *rand.Rand) {
	for n := 0; l.runs(); n++ {
		at := time.Date(2026, time.January, 1, 9, 0, 0, 0, time.UTC)
		p, err := l.w.SchedulePayment(context.Background(), client.NewPayment{
			IdempotencyKey: fmt.Sprintf("payment-%d-%d", i, n), AccountID: "alice",
			PayeeID: "bob", Amount: usd(fmt.Sprint(1 + r.IntN(9))), At: at,
		})
		if err != nil {
			l.t.Error(err)
			return
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, _, err := l.w.PayPayment(context.Background(), p.ID); err != nil {
					l.t.Errorf("pay: %v", err)
				}
			})
		}
		both.Wait()
		l.settled(p.ID)
	}
}

// settled compares a payment with its transaction.
func (l *load) settled(id client.PaymentID) {
	ctx := context.Background()
	p, err := l.w.Payment(ctx, id)
	if err != nil {
		l.t.Error(err)
		return
	}
	if p.Status != client.PaymentProcessed {
		if p.TransactionID != "" {
			l.t.Errorf("a payment that is %s has the transaction %s", p.Status, p.TransactionID)
		}
		return
	}
	if _, err := l.w.Entry(ctx, p.TransactionID); err != nil {
		l.t.Errorf("a processed payment has no transaction: %v", err)
	}
	// It is not one of the history, which knows requests by their keys; counts must know it.
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names["payment "+string(id)] = &requested{}
}

// counts compares how many transactions there are with how many were acknowledged, and looks
// whether the books balance.
func (l *load) counts(acknowledged int) {
	ctx := context.Background()
	want := acknowledged + 3 // Two deposits by hand and one of furnish; the old one is in both.
	for name, r := range l.names {
		if strings.HasPrefix(name, "payment ") && r.path == "" {
			want++
		}
	}
	for _, r := range l.names {
		if r.lost > 0 && len(r.answers) == 0 {
			l.t.Errorf("%s: the caller never got an answer", r.key)
		}
	}
	stored := 0
	for _, status := range []client.TransactionStatus{client.Completed, client.Reversed} {
		for _, err := range l.w.AllTransactionsByStatus(ctx, client.StatusQuery{Status: status}) {
			if err != nil {
				l.t.Fatal(err)
			}
			stored++
		}
	}
	if stored != want {
		l.t.Errorf("%d transactions are stored, %d were acknowledged", stored, want)
	}
	r, err := l.w.Reconcile(ctx, client.ReconcileQuery{From: "2026-01-01", To: "2026-01-03"})
	if err != nil || len(r.Divergences) > 0 {
		l.t.Errorf("the books: %+v, %v", r, err)
	}
}
