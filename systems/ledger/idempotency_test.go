package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// sameReceipt compares answers but for whether they are replays.
func sameReceipt(a, b ledger.Receipt) string {
	return cmp.Diff(a.Entry, b.Entry, cmpopts.IgnoreUnexported(ledger.Transaction{}))
}

func coffee() ledger.Posting {
	p := transfer("alice", "bob", "5.50")
	p.Description = "Coffee"
	p.Metadata = map[string]string{"table": "7", "till": "2"}
	return p
}

func aliceAndBob(t testing.TB, opts ledger.Options) *books {
	b := openBooks(t, opts)
	b.account("alice", usd("100"))
	b.account("bob", usd("0"))
	return b
}

func TestAKeyPostsOnce(t *testing.T) {
	for name, key := range map[string]string{
		"plain":                     "abc123def456",
		"with separators":           "a#b%23#c",
		"as a reversal's":           "reversal:abc",
		"in another script":         "ключ-鍵-🔑",
		"of 255 characters":         strings.Repeat("k", 255),
		"of 255 characters, 4 each": strings.Repeat("🔑", 255),
		"of 255 separators":         strings.Repeat("#", 255),
		"with zero bytes":           "a\x00b",
		"of one space":              " ",
	} {
		t.Run(name, func(t *testing.T) {
			b := aliceAndBob(t, ledger.Options{})
			first := b.post(keyed(key, coffee()))
			if first.Replayed {
				t.Error("the first is a replay")
			}
			// DynamoDB's own token forgets after ten minutes; the key does not.
			for _, later := range []time.Duration{0, 11 * time.Minute, 1000 * 24 * time.Hour} {
				b.clock.Move(later)
				again := b.post(keyed(key, coffee()))
				if !again.Replayed {
					t.Errorf("after %s it is no replay", later)
				}
				if diff := sameReceipt(first, again); diff != "" {
					t.Errorf("after %s (-first +again):\n%s", later, diff)
				}
			}
			// Another process has nothing in memory.
			again := booksOn(t, b.db, ledger.Options{}).post(keyed(key, coffee()))
			if diff := sameReceipt(first, again); !again.Replayed || diff != "" {
				t.Errorf("elsewhere (-first +again):\n%s", diff)
			}
			b.wantBalance("alice", usd("94.50"))
			found, err := b.TransactionByKey(t.Context(), key)
			if err != nil || found.ID != first.Transaction.ID {
				t.Errorf("by key: %v, %v", found.ID, err)
			}
			entry, err := b.EntryByKey(t.Context(), key)
			if err != nil || entry.Transaction.ID != first.Transaction.ID || len(entry.Legs) != 2 {
				t.Errorf("by key, as of now: %v, %v", entry, err)
			}
			b.sound()
		})
	}
}

func TestKeysAreRefused(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	for name, key := range map[string]string{
		"256 characters": strings.Repeat("🔑", 256),
		"not UTF-8":      "a\xff",
	} {
		_, err := b.Post(t.Context(), keyed(key, coffee()))
		if !isProblem(err, ledger.ErrInvalidIdempotencyKey) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, find := range map[string]func() error{
		"by key": func() error {
			_, err := b.TransactionByKey(t.Context(), "")
			return err
		},
		"by key, as of now": func() error {
			_, err := b.EntryByKey(t.Context(), "")
			return err
		},
	} {
		if err := find(); !isProblem(err, ledger.ErrInvalidIdempotencyKey) {
			t.Errorf("empty, %s: got %v", name, err)
		}
	}
	_, err := b.TransactionByKey(t.Context(), "unused")
	wantProblem(t, err, ledger.ErrTransactionNotFound)
}

func TestWithoutAKeyEqualRequestsAreTwo(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	first, second := b.post(coffee()), b.post(coffee())
	if second.Replayed || first.Transaction.ID == second.Transaction.ID {
		t.Errorf("got %v and %v", first.Transaction.ID, second.Transaction.ID)
	}
	b.wantBalance("alice", usd("89"))
	b.sound()
}

// An honest repeat may be spelled differently.
func TestWhatIsTheSameRequest(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	first := b.post(keyed("k", coffee()))
	for name, vary := range map[string]func(*ledger.Posting){
		"zeros at the end": func(p *ledger.Posting) {
			p.Legs[0].Amount, p.Legs[1].Amount = usd("5.5"), usd("05.500")
		},
		"the currency spelled out": func(p *ledger.Posting) { p.Currency = "USD" },
	} {
		p := coffee()
		vary(&p)
		again := b.post(keyed("k", p))
		if diff := sameReceipt(first, again); !again.Replayed || diff != "" {
			t.Errorf("%s: (-first +again):\n%s", name, diff)
		}
	}
	b.post(keyed("d", ledger.DepositInto("bob", usd("1"))))
	again := b.post(keyed("d", ledger.Posting{Type: ledger.Deposit, Legs: []ledger.PostingLeg{
		{AccountID: "@deposits-USD", Type: ledger.Debit, Amount: usd("1")},
		{AccountID: "bob", Type: ledger.Credit, Amount: usd("1")},
	}}))
	if !again.Replayed {
		t.Error("the full id of a system account is another request")
	}
}

func TestAnotherBodyIsAConflict(t *testing.T) {
	for field, vary := range map[string]func(*ledger.Posting){
		"type":        func(p *ledger.Posting) { p.Type = ledger.Payment },
		"merchantId":  func(p *ledger.Posting) { p.MerchantID = "m" },
		"description": func(p *ledger.Posting) { p.Description = "Tea" },
		"metadata":    func(p *ledger.Posting) { p.Metadata["till"] = "3" },
		"amount": func(p *ledger.Posting) {
			p.Legs[0].Amount, p.Legs[1].Amount = usd("5"), usd("5")
		},
		"legs": func(p *ledger.Posting) { p.Legs[1].AccountID = "carol" },
		"currency": func(p *ledger.Posting) {
			for i := range p.Legs {
				p.Legs[i].AccountID += "-nz"
				p.Legs[i].Amount = nzd("5.50")
			}
		},
	} {
		t.Run(field, func(t *testing.T) {
			b := aliceAndBob(t, ledger.Options{})
			b.account("carol", usd("0"))
			b.account("alice-nz", nzd("100"))
			b.account("bob-nz", nzd("0"))
			m := ledger.NewMerchant{ID: "m", Name: "M"}
			if _, err := b.CreateMerchant(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			first := b.post(keyed("k", coffee()))
			other := keyed("k", coffee())
			vary(&other)
			// Twice: once with what this process remembers, once as another process.
			for _, books := range []*books{b, booksOn(t, b.db, ledger.Options{})} {
				_, err := books.Post(t.Context(), other)
				e := problem.From(err)
				if !isProblem(err, ledger.ErrIdempotencyConflict) ||
					e.Details["first"] != string(first.Transaction.ID) ||
					e.Details["field"] != field || e.Fields[0].Name != field {
					t.Errorf("got %v, %+v", err, e)
				}
			}
			b.wantBalance("alice", usd("94.50"))
			b.wantBalance("alice-nz", nzd("100"))
			if again := b.post(keyed("k", coffee())); !again.Replayed {
				t.Error("the key does not answer to the first request any more")
			}
		})
	}
}

func TestTenantsHaveKeysOfTheirOwn(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	other := booksOn(t, b.db, ledger.Options{Tenant: "other"})
	one := b.post(keyed("k", coffee()))
	two := other.post(keyed("k", coffee()))
	if two.Replayed || one.Transaction.ID == two.Transaction.ID {
		t.Error("two tenants share a key")
	}
	for _, c := range []struct {
		books *books
		want  ledger.TransactionID
	}{{b, one.Transaction.ID}, {other, two.Transaction.ID}} {
		found, err := c.books.TransactionByKey(t.Context(), "k")
		if err != nil || found.ID != c.want {
			t.Errorf("got %v, %v", found.ID, err)
		}
	}
}

// The policy for a request that was refused: nothing remembers it, so it is tried again.
func TestARefusedRequestMaySucceedLater(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	big := keyed("k", transfer("alice", "bob", "150"))
	for range 2 {
		if _, err := b.Post(t.Context(), big); !isProblem(err, ledger.ErrInsufficientFunds) {
			t.Fatalf("got %v", err)
		}
	}
	if _, err := b.EntryByKey(t.Context(), "k"); !isProblem(err, ledger.ErrTransactionNotFound) {
		t.Errorf("the refusal left a row: %v", err)
	}
	b.post(ledger.DepositInto("alice", usd("50")))
	if r := b.post(big); r.Replayed {
		t.Error("it is a replay")
	}
	// And once it succeeded, it stays so, though there is no money any more.
	if r := b.post(big); !r.Replayed {
		t.Error("it is no replay")
	}
	b.wantBalance("alice", usd("0"))
	b.sound()
}

func TestAHundredCallersWithOneKey(t *testing.T) {
	for name, opts := range batching {
		t.Run(name, func(t *testing.T) {
			b := aliceAndBob(t, opts)
			both := [...]*books{b, booksOn(t, b.db, opts)} // Half of them in another process.
			receipts := make([]ledger.Receipt, 100)
			errs := together(100, func(i int) (err error) {
				receipts[i], err = both[i%2].Post(t.Context(), keyed("k", coffee()))
				return err
			})
			fresh := 0
			for i, r := range receipts {
				if errs[i] != nil {
					t.Fatalf("caller %d: %v", i, errs[i])
				}
				if !r.Replayed {
					fresh++
				}
				if diff := sameReceipt(receipts[0], r); diff != "" {
					t.Fatalf("caller %d (-first +this):\n%s", i, diff)
				}
			}
			if fresh != 1 {
				t.Errorf("%d callers are told that theirs was the first", fresh)
			}
			b.wantBalance("alice", usd("94.50"))
			b.sound()
		})
	}
}

// Callers with one key and different bodies, on other accounts: one wins, the others are told.
func TestOneKeyWithManyBodies(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	for i := range 20 {
		b.account(accountID(i), usd("10"))
	}
	errs := together(20, func(i int) error {
		p := ledger.TransferBetween(accountID(i), accountID((i+1)%20), usd("1"))
		_, err := b.Post(t.Context(), keyed("k", p))
		return err
	})
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !isProblem(err, ledger.ErrIdempotencyConflict):
			t.Errorf("got %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d of them were posted", won)
	}
	b.sound()
}

// A write of which nobody knows whether it happened must not happen twice.
func TestAnUnknownOutcomeIsFoundOut(t *testing.T) {
	for name, happened := range map[string]bool{"it happened": true, "it did not happen": false} {
		t.Run(name, func(t *testing.T) {
			b := aliceAndBob(t, ledger.Options{})
			failed := false
			b.faces.onWrite(func(in *dynamo.TransactWriteInput) error {
				if failed {
					return nil
				}
				failed = true
				if happened {
					if _, err := b.db.TransactWrite(context.Background(), in); err != nil {
						return err
					}
				}
				return &dynamo.Error{Code: dynamo.CodeInternalServerError}
			})
			b.post(keyed("k", coffee()))
			b.wantBalance("alice", usd("94.50"))
			b.sound()
		})
	}
}

// The context of a caller may end at any moment. The posting then happened or not, but never half.
func TestACancelledCallerLeavesAllOrNothing(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		b.faces.onWrite(func(in *dynamo.TransactWriteInput) error {
			if i%2 == 0 {
				cancel() // While the write is on its way.
			}
			return nil
		})
		if i%2 == 1 {
			go cancel()
		}
		_, err := b.Post(ctx, keyed(accountKey(i), transfer("alice", "bob", "0.01")))
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	b.faces.onWrite(nil)
	b.sound()
	for i := range 50 {
		b.post(keyed(accountKey(i), transfer("alice", "bob", "0.01")))
	}
	b.wantBalance("alice", usd("99.50"))
	b.sound()
}

func accountKey(i int) string { return "key-" + string(accountID(i)) }

func TestIDsAreUUIDsOfVersion5OverTenantAndKey(t *testing.T) {
	space := uuid.MustParse("5f0d1a52-7a0c-4c63-9b2e-0d1b7c1f9a11")
	for _, key := range []string{"", "abc123def456", strings.Repeat("long ", 100)} {
		want := uuid.NewSHA1(space, []byte("default\x00"+key)).String()
		if got := ledger.DeriveTransaction("default", key); got != want {
			t.Errorf("the id of key %q is %s, want %s", key, got, want)
		}
	}
}
