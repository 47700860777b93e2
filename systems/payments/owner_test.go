package payments_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// callers posts as a caller does who uses a payment's id as the key.
func (b *bank) callers(p payments.Payment, posting ledger.Posting) ledger.Receipt {
	b.t.Helper()
	posting.IdempotencyKey = string(p.ID)
	r, err := b.books.Post(b.t.Context(), posting)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// posting is what the payment order(key, amount) asks the ledger for.
func posting(amount string) ledger.Posting {
	p := ledger.TransferBetween("alice", "bob", nzd(amount))
	p.Type, p.Description = ledger.Payment, "Rent"
	return p
}

func feeOf(amount string) ledger.Posting {
	p := ledger.TransferBetween("alice", "bob", nzd(amount))
	p.Type = "fee"
	return p
}

// A caller who posts with a payment's id as the key neither stops the payment nor takes its place.
func TestACallersKeyIsNoPayments(t *testing.T) {
	for name, theirs := range map[string]ledger.Posting{
		"a fee": feeOf("1"), "an equal posting": posting("50"),
	} {
		for _, before := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				b := openBank(t, payments.Options{})
				b.account("alice", "200")
				b.account("bob", "")
				p := b.schedule(order("pk", "50"))
				if before {
					b.callers(p, theirs)
				}
				b.run()
				paid := b.payment(p.ID)
				if !before {
					b.callers(p, theirs)
				}
				if paid.Status != payments.Processed {
					t.Fatalf("got %+v", paid)
				}
				again := b.callers(p, theirs)
				if !again.Replayed || again.Transaction.ID == paid.TransactionID {
					t.Errorf("the caller's, repeated: %+v", again)
				}
				want := "149.00"
				if name == "an equal posting" {
					want = "100.00"
				}
				if got := b.balance("alice"); got != want {
					t.Errorf("the balance is %s, want %s", got, want)
				}
				by, err := b.PaymentByTransaction(t.Context(), paid.TransactionID)
				if err != nil || by.ID != p.ID {
					t.Errorf("by its transaction: %+v, %v", by, err)
				}
				if by, err = b.PaymentByTransaction(t.Context(), again.Transaction.ID); err == nil {
					t.Errorf("by the caller's transaction: %+v", by)
				}
				b.run()
				if got := b.balance("alice"); got != want {
					t.Errorf("after another run the balance is %s, want %s", got, want)
				}
			})
		}
	}
}

// A payment that an earlier release paid under the key that callers have as well, and whose end is
// not marked, is not paid again.
func TestAPaymentThatAnEarlierReleasePaidIsNotPaidAgain(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.account("alice", "200")
	b.account("bob", "")
	p := b.schedule(order("pk", "50"))
	first := b.callers(p, posting("50"))
	for _, item := range storetest.Items(t, b.db, ledger.TableNameDefault) {
		if item["ID"].S() != string(first.Transaction.ID) || item["Type"].S() != "Transaction" {
			continue
		}
		item["RequestHash"] = dynamo.S("a" + item["RequestHash"].S()[1:])
		err := storetest.Retry(func() error {
			_, err := b.db.Put(t.Context(), &dynamo.PutInput{
				TableName: ledger.TableNameDefault, Item: item,
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		b.run()
		got := b.payment(p.ID)
		if got.Status != payments.Processed || got.TransactionID != first.Transaction.ID {
			t.Errorf("got %+v", got)
		}
	}
	if got := b.balance("alice"); got != "150.00" {
		t.Errorf("the balance is %s, want 150.00", got)
	}
	by, err := b.PaymentByTransaction(t.Context(), first.Transaction.ID)
	if err != nil || by.ID != p.ID {
		t.Errorf("by its transaction: %+v, %v", by, err)
	}
}
