package bulk_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/problem"
)

// TestMain lets EXCHEQUER_ROUNDS set how many files each property tries. A property that fails
// prints its seed.
func TestMain(m *testing.M) {
	if rounds := os.Getenv("EXCHEQUER_ROUNDS"); rounds != "" {
		if err := flag.Set("rapid.checks", rounds); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

var (
	problems = problem.NewCatalogue("test")
	errFunds = problems.Define(problem.Refused, "insufficient_funds", "No money", "")
	errBody  = problems.Define(problem.Conflict, "idempotency_conflict", "Another body", "")
	errDown  = problems.Define(problem.Unavailable, "down", "Nobody is there", "")
)

// books are the plainest ledger that there is, in whole dollars. Every user's account exists and
// must not go below zero. They let goroutines take turns at random places.
type books struct {
	mu       sync.Mutex
	balances map[client.AccountID]int64
	posted   map[string]string // bodies by key
	calls    int
	onPost   func(call int) error
}

func newBooks() *books {
	return &books{balances: map[client.AccountID]int64{}, posted: map[string]string{}}
}

func (b *books) Merchant(_ context.Context, id client.MerchantID) (client.Merchant, error) {
	return client.Merchant{ID: id, SettlementAccountID: client.AccountID("till-" + string(id))}, nil
}

func (b *books) Post(ctx context.Context, p client.Posting) (client.Receipt, error) {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
	if err := ctx.Err(); err != nil {
		return client.Receipt{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.onPost != nil {
		if err := b.onPost(b.calls); err != nil {
			return client.Receipt{}, err
		}
	}
	body := fmt.Sprint(p.Legs)
	switch earlier, there := b.posted[p.IdempotencyKey]; {
	case there && earlier == body:
		return client.Receipt{Replayed: true}, nil
	case there:
		return client.Receipt{}, errBody
	}
	for _, l := range p.Legs {
		units, _ := l.Amount.Units().Int64()
		if l.Type == client.Debit && l.AccountID[0] != '@' && b.balances[l.AccountID] < units {
			return client.Receipt{}, errFunds
		}
	}
	for _, l := range p.Legs {
		account := l.AccountID
		if account == "@merchant" {
			account = client.AccountID("till-" + string(p.MerchantID))
		}
		units, _ := l.Amount.Units().Int64()
		if l.Type == client.Debit {
			units = -units
		}
		b.balances[account] += units
	}
	b.posted[p.IdempotencyKey] = body
	return client.Receipt{}, nil
}

func imported(t interface{ Fatal(...any) }, ctx context.Context, b *books, content string, n int,
) (bulk.Result, []string) {
	f, err := bulk.OpenReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var outcomes []string
	result, err := bulk.Import(ctx, b, f, bulk.Options{
		Concurrency: n,
		Report: func(o bulk.Outcome) error {
			text := fmt.Sprint(o.Row.Line, " ", o.Status)
			if o.Problem != nil {
				text += " " + string(o.Problem.Code)
			}
			outcomes = append(outcomes, text)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, outcomes
}

// Any file has the outcomes, and leaves the balances, that it has when posted row by row.
func TestOutcomesAreThoseOfOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var content strings.Builder
		content.WriteString(header)
		account := rapid.SampledFrom([]string{"a", "b", "c", "till-m"})
		for range rapid.IntRange(1, 120).Draw(t, "rows") {
			key := rapid.SampledFrom([]string{"", "", "", "k1", "k2"}).Draw(t, "key")
			amount := rapid.IntRange(1, 9).Draw(t, "amount")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				to := account.Draw(t, "to")
				fmt.Fprintf(&content, "%s,deposit,,%s,%d,USD,,\n", key, to, amount)
			case 1:
				fmt.Fprintf(&content, "%s,,%s,,%d,USD,m,\n", key, account.Draw(t, "from"), amount)
			case 2:
				fmt.Fprintf(&content, "%s,,%s,%s,%d,USD,,\n", key, account.Draw(t, "from"),
					account.Draw(t, "to"), amount)
			case 3:
				fmt.Fprintf(&content, "%s,,%s,b,-,USD,,\n", key, account.Draw(t, "from"))
			}
		}
		one, many := newBooks(), newBooks()
		wantResult, want := imported(t, context.Background(), one, content.String(), 1)
		gotResult, got := imported(t, context.Background(), many, content.String(), 16)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(wantResult, gotResult); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(one.balances, many.balances); diff != "" {
			t.Fatal(diff)
		}
		if sum := len(want); wantResult.Rows() != sum {
			t.Fatalf("%d rows are counted, and %d were reported", wantResult.Rows(), sum)
		}
	})
}

// rowsOf returns a file of deposits to many accounts, and the sum of them.
func rowsOf(rows int) (content string, sum int64) {
	var text strings.Builder
	text.WriteString(header)
	for i := range rows {
		fmt.Fprintf(&text, ",deposit,,account-%d,%d,USD,,\n", i%7, 1+i%5)
		sum += int64(1 + i%5)
	}
	return text.String(), sum
}

func TestAStoppedImportGoesOnWhereItStopped(t *testing.T) {
	const rows, stops = 500, 3
	content, want := rowsOf(rows)
	b := newBooks()
	posted := 0
	for stop := 1; ; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		b.calls = 0
		b.onPost = func(call int) error {
			if stop <= stops && call == posted+50 {
				cancel()
			}
			return nil
		}
		result, _ := imported(t, ctx, b, content, 8)
		cancel()
		// A run that is stopped itself may not come to all rows that were posted before.
		if result.There > posted || !result.Stopped && result.There != posted {
			t.Errorf("run %d found %d rows there, of %d", stop, result.There, posted)
		}
		posted += result.Posted
		if !result.Stopped {
			if stop != stops+1 {
				t.Errorf("run %d was not stopped", stop)
			}
			break
		}
	}
	var got int64
	for _, balance := range b.balances {
		got += balance
	}
	if sum := -b.balances["@deposits"]; posted != rows || got != 0 || sum != want {
		t.Errorf("posted %d rows of %d, %d dollars of %d", posted, rows, sum, want)
	}
}

func TestAnImportEndsWhenTheLedgerFails(t *testing.T) {
	content, _ := rowsOf(300)
	b := newBooks()
	b.onPost = func(call int) error {
		if call > 100 {
			return errDown
		}
		return nil
	}
	f, err := bulk.OpenReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	result, err := bulk.Import(t.Context(), b, f, bulk.Options{Concurrency: 4})
	var at *bulk.RowError
	if !errors.Is(err, errDown) || !errors.As(err, &at) || at.Line < 2 {
		t.Errorf("got %v", err)
	}
	if result.Posted != 100 || result.Refused != 0 {
		t.Errorf("posted %d and refused %d, want 100 and 0", result.Posted, result.Refused)
	}
	if b.calls > 100+4 {
		t.Errorf("%d calls were made, of which at most 4 can have been on their way", b.calls)
	}
}

func TestAnImportEndsWhenItsReportFails(t *testing.T) {
	content, _ := rowsOf(2000)
	f, err := bulk.OpenReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	full := errors.New("the disk is full")
	result, err := bulk.Import(t.Context(), newBooks(), f, bulk.Options{
		Report: func(bulk.Outcome) error { return full },
	})
	if !errors.Is(err, full) || result.Posted == 2000 {
		t.Errorf("got %v after %d rows", err, result.Posted)
	}
}

func TestProblemsAreDeclaredWell(t *testing.T) {
	if err := problem.Check(problem.Shared, client.Problems); err != nil {
		t.Error(err)
	}
}

func BenchmarkRead(b *testing.B) {
	content, _ := rowsOf(10_000)
	f, err := bulk.OpenReader(strings.NewReader(content))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		for range f.Read() {
			continue
		}
	}
}

func BenchmarkImport(b *testing.B) {
	content, _ := rowsOf(10_000)
	f, err := bulk.OpenReader(strings.NewReader(content))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := bulk.Import(b.Context(), newBooks(), f, bulk.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// forgetful is a ledger that posts everything and remembers nothing.
type forgetful struct{}

func (forgetful) Post(context.Context, client.Posting) (client.Receipt, error) {
	return client.Receipt{}, nil
}

func (forgetful) Merchant(context.Context, client.MerchantID) (client.Merchant, error) {
	return client.Merchant{}, nil
}

// All rows of this file together would take some 40 MB.
func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	const rows, most = 60_000, 20 << 20
	content, _ := rowsOf(rows)
	f, err := bulk.OpenReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, peak, done := heap(), uint64(0), 0
	result, err := bulk.Import(t.Context(), forgetful{}, f, bulk.Options{
		Report: func(bulk.Outcome) error {
			if done++; done%(rows/6) == 0 {
				peak = max(peak, heap())
			}
			return nil
		},
	})
	if err != nil || result.Posted != rows {
		t.Fatalf("posted %d rows: %v", result.Posted, err)
	}
	if peak > before+most {
		t.Errorf("the import held %d MB, want %d at most", (peak-before)>>20, most>>20)
	}
}
