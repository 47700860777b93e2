package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

func TestReverse(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	original := b.post(keyed("k", coffee()))
	r, err := b.Reverse(t.Context(), reversing(original.Transaction.ID))
	if err != nil {
		t.Fatal(err)
	}
	b.wantBalance("alice", usd("100"))
	b.wantBalance("bob", usd("0"))

	now, err := b.Transaction(t.Context(), original.Transaction.ID)
	if err != nil {
		t.Fatal(err)
	}
	if now.Status != ledger.Reversed || now.ReversedBy != r.Transaction.ID {
		t.Errorf("the original is %s, by %q", now.Status, now.ReversedBy)
	}
	got := r.Transaction
	if got.Status != ledger.Completed || got.ReversalOf != now.ID || got.Type != ledger.Reversal ||
		got.Amount != usd("5.50") || got.Description != "Coffee" {
		t.Errorf("the reversal is %+v", got)
	}
	for status, want := range map[ledger.TransactionStatus]ledger.TransactionID{
		ledger.Reversed: now.ID, ledger.Completed: got.ID,
	} {
		page, err := b.TransactionsByStatus(t.Context(), ledger.StatusQuery{Status: status})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, item := range page.Items {
			if item.ID == want {
				found++
			}
			if status == ledger.Completed && item.ID == now.ID {
				t.Error("the original is found as completed")
			}
		}
		if found != 1 {
			t.Errorf("found %d times as %s", found, status)
		}
	}
	if replay := b.post(keyed("k", coffee())); !replay.Replayed ||
		replay.Transaction.Status != ledger.Reversed {
		t.Errorf("the original's key answers with %+v", replay)
	}
	b.sound()
}

func TestReverseHappensOnce(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	other := booksOn(t, b.db, ledger.Options{})
	id := b.post(coffee()).Transaction.ID
	receipts := make([]ledger.Receipt, 40)
	errs := together(len(receipts), func(i int) (err error) {
		receipts[i], err = [...]*books{b, other}[i%2].Reverse(t.Context(),
			ledger.Reversing{TransactionID: id, Description: "Cold"})
		return err
	})
	fresh := 0
	for i, r := range receipts {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if !r.Replayed {
			fresh++
		}
		if diff := sameReceipt(receipts[0], r); diff != "" {
			t.Fatal(diff)
		}
	}
	if fresh != 1 {
		t.Errorf("%d callers are told that theirs was the first", fresh)
	}
	b.wantBalance("alice", usd("100"))
	_, err := b.Reverse(t.Context(), ledger.Reversing{TransactionID: id, Description: "Late"})
	if e := problem.From(err); !isProblem(err, ledger.ErrAlreadyReversed) ||
		e.Details["reversal"] != string(receipts[0].Transaction.ID) ||
		e.Details["field"] != "description" {
		t.Errorf("got %v", err)
	}
	b.sound()
}

func TestWhatCannotBeReversed(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	reverse := func(id ledger.TransactionID) (ledger.Receipt, error) {
		return b.Reverse(t.Context(), reversing(id))
	}
	wantProblem := func(id ledger.TransactionID, want *problem.Definition) {
		t.Helper()
		if _, err := reverse(id); !isProblem(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	wantProblem("", ledger.ErrInvalidRequest)
	wantProblem("unknown", ledger.ErrTransactionNotFound)

	spent := b.post(coffee())
	b.post(ledger.WithdrawFrom("bob", usd("5")))
	wantProblem(spent.Transaction.ID, ledger.ErrInsufficientFunds)

	frozen := b.post(coffee())
	if _, err := b.FreezeAccount(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	wantProblem(frozen.Transaction.ID, ledger.ErrAccountFrozen)
	if _, err := b.UnfreezeAccount(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	reversal, err := reverse(frozen.Transaction.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(reversal.Transaction.ID, ledger.ErrReversalOfReversal)

	pending := b.post(coffee())
	b.setStatus(pending.Transaction.ID, "pending")
	wantProblem(pending.Transaction.ID, ledger.ErrNotCompleted)
	b.setStatus(pending.Transaction.ID, "completed")
	b.sound()
}

// setStatus changes a status as another program would.
func (b *books) setStatus(id ledger.TransactionID, status string) {
	b.t.Helper()
	b.update("TXN#"+string(id), "METADATA", "SET #s = :s, GSI1PK = :p", dynamo.Expressions{
		ExpressionAttributeNames: map[string]string{"#s": "Status"},
		ExpressionAttributeValues: map[string]dynamo.Value{
			":s": dynamo.S(status), ":p": dynamo.S("STATUS#" + status),
		},
	})
}

func (b *books) update(pk, sk, update string, with dynamo.Expressions) {
	b.t.Helper()
	err := storetest.Retry(func() error {
		_, err := b.db.Update(b.t.Context(), &dynamo.UpdateInput{
			TableName:        "FinancialTransactions",
			Key:              dynamo.Key{"PK": dynamo.S(pk), "SK": dynamo.S(sk)},
			UpdateExpression: update, Expressions: with,
		})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// mirrored compares the legs of a reversal with those of its original: as many on each account,
// each in the other direction, whatever the order.
func mirrored(t *testing.T, original, reversal ledger.Entry) {
	t.Helper()
	count := map[ledger.PostingLeg]int{}
	for _, l := range original.Legs {
		count[ledger.PostingLeg{AccountID: l.AccountID, Type: l.Type, Amount: l.Amount}]++
	}
	for _, l := range reversal.Legs {
		other := ledger.Debit
		if l.Type == ledger.Debit {
			other = ledger.Credit
		}
		count[ledger.PostingLeg{AccountID: l.AccountID, Type: other, Amount: l.Amount}]--
	}
	for l, n := range count {
		if n != 0 {
			t.Errorf("%+v is %d times more in the original", l, n)
		}
	}
	if reversal.Transaction.Amount != original.Transaction.Amount {
		t.Errorf("the reversal is of %s, the original of %s", reversal.Transaction.Amount,
			original.Transaction.Amount)
	}
}

// A reversal shows on each account what the original showed, with the opposite sign. An account
// that money only passed through may be empty.
func TestAReversalMirrorsEachLeg(t *testing.T) {
	through := transfer("alice", "bob", "40")
	move(&through, "bob", "carol", usd("40"))
	parts := transfer("alice", "bob", "10")
	move(&parts, "alice", "bob", usd("15"))
	move(&parts, "bob", "carol", usd("5"))
	for name, p := range map[string]ledger.Posting{
		"of money that passes through an account": through,
		"of several legs on one account":          parts,
		"of nothing in the end":                   transfer("alice", "alice", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			b := aliceAndBob(t, ledger.Options{})
			b.account("carol", usd("0"))
			original := b.post(p)
			r, err := b.Reverse(t.Context(), reversing(original.Transaction.ID))
			if err != nil {
				t.Fatal(err)
			}
			mirrored(t, original.Entry, r.Entry)
			b.wantBalance("alice", usd("100"))
			b.wantBalance("bob", usd("0"))
			b.wantBalance("carol", usd("0"))
			b.sound()
		})
	}
}

// A reversal of an exchange mirrors both currencies.
func TestAReversalMirrorsAnExchange(t *testing.T) {
	b := exchangeBooks(t)
	original, err := b.Exchange(t.Context(), ledger.Exchanging{
		From: "alice-USD", To: "alice-CHF", Sold: usd("100"), Currency: "CHF",
		Rate: rateOf("0.7912", "1"), Bought: money.MustParse("79.13", "CHF"),
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Reverse(t.Context(), reversing(original.Transaction.ID))
	if err != nil {
		t.Fatal(err)
	}
	mirrored(t, original.Entry, r.Entry)
	b.sound()
}

// The terms of a reversal are its description and metadata. A repeat that names the same ones in
// another way is the same request.
func TestARepeatOfAReversal(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	id := b.post(coffee()).Transaction.ID // Its description is Coffee.
	if _, err := b.Reverse(t.Context(), reversing(id)); err != nil {
		t.Fatal(err)
	}
	r, err := b.Reverse(t.Context(), ledger.Reversing{TransactionID: id, Description: "Coffee"})
	if err != nil || !r.Replayed {
		t.Errorf("with the description that it has: %+v, %v", r, err)
	}
	for field, other := range map[string]ledger.Reversing{
		"description": {TransactionID: id, Description: "Tea"},
		"metadata":    {TransactionID: id, Metadata: map[string]string{"a": "b"}},
	} {
		_, err := b.Reverse(t.Context(), other)
		if !isProblem(err, ledger.ErrAlreadyReversed) ||
			problem.From(err).Details["field"] != field {
			t.Errorf("with another %s: %v", field, err)
		}
	}
}

// The original is completed when it is read, and is not any more when the reversal is written: the
// reversal is refused, and nothing moves.
func TestAReversalDemandsThatTheOriginalIsStillCompleted(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	id := b.post(coffee()).Transaction.ID
	once := true
	b.faces.onWrite(func(*dynamo.TransactWriteInput) error {
		if once {
			once = false
			b.setStatus(id, "pending")
		}
		return nil
	})
	_, err := b.Reverse(t.Context(), reversing(id))
	wantProblem(t, err, ledger.ErrNotCompleted)
	b.faces.onWrite(nil)
	b.wantBalance("alice", usd("94.50"))
	now, err := b.Transaction(t.Context(), id)
	if err != nil || now.ReversedBy != "" {
		t.Errorf("the original is reversed by %q, %v", now.ReversedBy, err)
	}
}

// The largest transactions are within the limit of a write, and so is the reversal of each.
func TestTheLargestTransactions(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for i := range 49 {
		b.account(accountID(i), usd("100"))
	}
	for name, c := range map[string]struct {
		legs, accounts int
		fits           bool
	}{
		"98 legs on one account":    {98, 1, true},
		"50 legs on 49 accounts":    {50, 49, true},
		"66 legs on 33 accounts":    {66, 33, true},
		"52 legs on 48 accounts":    {52, 48, false},
		"100 legs on one account":   {100, 1, false},
		"64 legs on 35 accounts":    {64, 35, true},
		"two legs on two accounts":  {2, 2, true},
		"98 legs on two accounts":   {98, 2, false},
		"96 legs on three accounts": {96, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := ledger.Posting{Type: ledger.Transfer}
			for i := 0; i < c.legs; i += 2 {
				move(&p, accountID(i%c.accounts), accountID((i+1)%c.accounts), usd("1"))
			}
			r, err := b.Post(t.Context(), p)
			if !c.fits {
				if !isProblem(err, ledger.ErrTooManyLegs) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			entry, err := b.Entry(t.Context(), r.Transaction.ID)
			if err != nil || len(entry.Legs) != c.legs {
				t.Errorf("it has %d legs, %v", len(entry.Legs), err)
			}
			if diff := cmp.Diff(r.Legs, entry.Legs); diff != "" {
				t.Errorf("the receipt differs (-receipt +stored):\n%s", diff)
			}
			if _, err := b.Reverse(t.Context(), reversing(r.Transaction.ID)); err != nil {
				t.Error(err)
			}
			for i := range 49 {
				b.wantBalance(accountID(i), usd("100"))
			}
		})
	}
	b.sound()
}
