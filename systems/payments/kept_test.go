package payments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

var errBroken = errors.New("the store is broken")

// Only a failure that the payment itself causes counts as an attempt. A failure of the store is
// retried without a limit.
func TestTroubleOfTheStoreUsesUpNoAttempts(t *testing.T) {
	b := openBank(t, payments.Options{
		Retry: payments.Retry{Attempts: 2, First: time.Second, Last: time.Second},
	})
	b.account("alice", "100")
	b.account("bob", "")
	p := b.schedule(order("k", "10"))
	b.faces.on(func(op string, _ any) error {
		if op == "TransactWrite" {
			return errBroken
		}
		return nil
	}, nil)
	for attempt := 1; attempt <= 5; attempt++ {
		if r := b.run(); r.Failed != 0 || r.Postponed != 1 {
			t.Fatalf("attempt %d: %+v", attempt, r)
		}
		b.clock.Move(time.Minute)
	}
	b.faces.on(nil, nil)
	if r := b.run(); r.Paid != 1 {
		t.Errorf("with the store in order: %+v, %+v", r, b.payment(p.ID))
	}
	b.wantBalances(map[ledger.AccountID]string{"alice": "90.00", "bob": "10.00"})
}

// A payee that has too much now may have less later.
func TestABalanceThatIsTooLargeMayPass(t *testing.T) {
	b := openBank(t, payments.Options{})

	b.open(ledger.NewAccount{ID: "alice", UserID: "user-alice", AccountType: "checking",
		Currency: "NZD", OverdraftLimit: nzd("100")}, "")
	b.account("bob", strings.Repeat("9", 36)+".99")
	p := b.schedule(order("k", "10"))
	if r := b.run(); r.Postponed != 1 || r.Failed != 0 {
		t.Fatalf("%+v, %+v", r, b.payment(p.ID))
	}
	if reason := b.payment(p.ID).Reason; reason != "balance_too_large" {
		t.Errorf("the reason is %s", reason)
	}
}

// A run that is stopped first finishes each payment that it has claimed.
func TestAStopCutsOffNothingThatWasClaimed(t *testing.T) {
	for _, write := range []string{"Update", "TransactWrite"} {
		t.Run(write, func(t *testing.T) {
			b := openBank(t, payments.Options{})
			b.account("alice", "100")
			b.account("bob", "")
			p := b.schedule(order("k", "10"))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			b.faces.on(func(op string, in any) error {
				update, ok := in.(*dynamo.UpdateInput)
				claims := ok && update.Key["AccountID"].S() == "alice"
				if op == write && (claims || op != "Update") {
					stop()
				}
				return nil
			}, nil)
			_, err := b.Run(ctx, payments.RunOptions{})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("the run ended with %v", err)
			}
			b.faces.on(nil, nil)
			got := b.payment(p.ID)
			if got.Status == payments.Pending ||
				write == "TransactWrite" && got.Status != payments.Processed {
				t.Errorf("the payment is %s", got.Status)
			}
		})
	}
}

// A change to a merchant drops the payee that was there, and the other way round.
func TestAChangeOfWhoIsPaidLeavesOne(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.account("alice", "100")
	b.account("bob", "")
	b.account("shop", "")
	_, err := b.books.CreateMerchant(t.Context(), ledger.NewMerchant{
		ID: "m", Name: "Shop", Category: "food", SettlementAccountID: "shop",
	})
	if err != nil {
		t.Fatal(err)
	}
	p := b.schedule(order("k", "10"))
	merchant, payee := ledger.MerchantID("m"), ledger.AccountID("bob")
	p = b.change(p.ID, payments.Change{MerchantID: &merchant})
	if p.MerchantID != merchant || p.PayeeID != "" {
		t.Errorf("changed to a merchant: payee %q, merchant %q", p.PayeeID, p.MerchantID)
	}
	p = b.change(p.ID, payments.Change{PayeeID: &payee})
	if p.MerchantID != "" || p.PayeeID != payee {
		t.Errorf("changed to a payee: payee %q, merchant %q", p.PayeeID, p.MerchantID)
	}
	_, err = b.Change(t.Context(), p.ID,
		payments.Change{MerchantID: &merchant, PayeeID: &payee})
	if !errors.Is(err, payments.ErrInvalidRequest) {
		t.Errorf("changed to both: %v", err)
	}
}

// Shards that could not be stored are no shards.
func TestShardsThatCannotBeStoredAreAnError(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.account("alice", "100")
	b.account("bob", "")
	b.schedule(order("k", "10"))
	before, err := b.Epochs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.faces.on(func(op string, _ any) error {
		if op == "Put" {
			return errBroken
		}
		return nil
	}, nil)
	more := before[len(before)-1].Count * 2
	if _, err := b.Grow(t.Context(), more, start.Add(time.Hour)); !errors.Is(err, errBroken) {
		t.Errorf("grown to %d: %v", more, err)
	}
	b.faces.on(nil, nil)
	after, err := b.Epochs(t.Context())
	if err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v became %v, %v", before, after, err)
	}
}

// TestAMoveLosesNothingToACopyThatIsNotWhatItWas spoils a copy between its writing and the removal
// of what was copied. A payment is removed only where its copy is the payment as it is.
func TestAMoveLosesNothingToACopyThatIsNotWhatItWas(t *testing.T) {
	for name, spoil := range map[string]func(dynamo.Item) dynamo.Item{
		"the copy is gone": func(dynamo.Item) dynamo.Item { return nil },
		"the copy is older": func(item dynamo.Item) dynamo.Item {
			item["Version"] = dynamo.Int(0)
			item["Description"] = dynamo.S("as it once was")
			return item
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := openRich(t)
			ids := endedDay(b, 5)
			before := map[payments.PaymentID]payments.Payment{}
			for _, id := range ids {
				before[id] = b.payment(id)
			}
			spoilt := false
			b.faces.serial()
			b.faces.on(nil, func(op string, in any) error {
				put, ok := in.(*dynamo.PutInput)
				if spoilt || !ok || put.TableName != "TransactionHistory" {
					return nil
				}
				spoilt = true
				return storetest.Retry(func() error {
					if item := spoil(put.Item.Clone()); item != nil {
						_, err := b.db.Put(context.Background(),
							&dynamo.PutInput{TableName: put.TableName, Item: item})
						return err
					}
					_, err := b.db.Delete(context.Background(), &dynamo.DeleteInput{
						TableName: put.TableName, Key: dynamo.Key{
							"AccountID": put.Item["AccountID"],
							"Timestamp": put.Item["Timestamp"],
						},
					})
					return err
				})
			})
			// It may find what differs, or mend it; what it must not do is to lose anything.
			if _, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil); err != nil &&
				!errors.Is(err, payments.ErrDayDiffers) {
				t.Fatal(err)
			}
			b.faces.on(nil, nil)
			if !spoilt {
				t.Fatal("no copy was spoilt")
			}
			for _, id := range ids {
				got, want := b.payment(id), before[id]
				if got.Description != want.Description || got.Version != want.Version {
					t.Errorf("payment %s came out as %+v", id, got)
				}
			}
			if there := b.items("PaymentScheduler", "Payment") +
				b.items("TransactionHistory", "Payment"); there < len(ids) {
				t.Errorf("%d payments are left of %d", there, len(ids))
			}
		})
	}
}

// A move compares what it copied with what is there before it removes anything: where one copy is
// lost each time, it says so, and removes nothing.
func TestAMoveComparesBeforeItRemoves(t *testing.T) {
	b := openRich(t)
	ids := endedDay(b, 5)
	b.faces.on(nil, func(_ string, in any) error {
		put, ok := in.(*dynamo.PutInput)
		if !ok || put.TableName != "TransactionHistory" ||
			!strings.HasSuffix(put.Item["Timestamp"].S(), string(ids[0])) {
			return nil
		}
		return storetest.Retry(func() error {
			_, err := b.db.Delete(context.Background(), &dynamo.DeleteInput{
				TableName: put.TableName, Key: dynamo.Key{
					"AccountID": put.Item["AccountID"], "Timestamp": put.Item["Timestamp"],
				},
			})
			return err
		})
	})
	_, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil)
	b.faces.on(nil, nil)
	if !errors.Is(err, payments.ErrDayDiffers) {
		t.Errorf("the move ended with %v", err)
	}
	if left := b.items("PaymentScheduler", "Payment"); left != len(ids) {
		t.Errorf("%d payments of %d are left where they were", left, len(ids))
	}
}

// TestACopyThatIsNotWhatThePaymentIsIsNamed changes one attribute of a copy at a time, but not its
// version, between its writing and the removal of the payment.
func TestACopyThatIsNotWhatThePaymentIsIsNamed(t *testing.T) {
	for attribute, value := range map[string]dynamo.Value{
		"Amount": dynamo.N("0.01"), "PayeeID": dynamo.S("another"), "Status": dynamo.S("CANCELLED"),
		"Description": dynamo.S("as it never was"), "DataBlob": dynamo.B([]byte("other")),
		"TransactionID": dynamo.S("none"), "CreatedAt": dynamo.S("2019-01-01T00:00:00.000Z"),
		"Another": dynamo.S("of nobody"), "DataBlob, gone": {},
	} {
		t.Run(attribute, func(t *testing.T) {
			b := openRich(t)
			id := endedDay(b, 1)[0]
			spoil := true
			b.faces.serial()
			b.faces.on(nil, func(_ string, in any) error {
				put, ok := in.(*dynamo.PutInput)
				if !spoil || !ok || put.TableName != "TransactionHistory" {
					return nil
				}
				spoil = false
				item := put.Item.Clone()
				name, _, gone := strings.Cut(attribute, ",")
				if item[name] = value; gone {
					delete(item, name)
				}
				return storetest.Retry(func() error {
					_, err := b.db.Put(context.Background(),
						&dynamo.PutInput{TableName: put.TableName, Item: item})
					return err
				})
			})
			_, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil)
			b.faces.on(nil, nil)
			named := errors.Is(err, payments.ErrCopyDiffers) && strings.Contains(err.Error(),
				string(id))
			if spoil || !named && !errors.Is(err, payments.ErrDayDiffers) {
				t.Errorf("the move ended with %v", err)
			}
			if left := b.items("PaymentScheduler", "Payment"); left != 1 {
				t.Errorf("%d payments are left where they were", left)
			}
			if _, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil); !errors.Is(err,
				payments.ErrCopyDiffers) {
				t.Errorf("the next move ended with %v", err)
			}
		})
	}
}
