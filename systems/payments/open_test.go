package payments_test

import (
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// A payment that cannot be read may be one of the account: the count is not decided.
func TestOpenPaymentsOfAnUnreadablePaymentAreUndecided(t *testing.T) {
	b := openRich(t)
	got, err := b.OpenPayments(t.Context(), "nobody")
	if err != nil || got != (payments.OpenPayments{}) || got.Err("nobody") != nil {
		t.Errorf("of an account without payments: %+v, %v", got, err)
	}
	item := dynamo.Item{
		"AccountID": dynamo.S("stranger"), "ScheduledTime": dynamo.S("2019-09-25T01:01:01"),
		"Sharded-GSI-PK": dynamo.S("0"), "Status#Time": dynamo.S("SCHEDULED#2019-09-25T01:01:01"),
		"Amount": dynamo.S("a lot"), "Currency": dynamo.S("USD"), "PayeeID": dynamo.S("bob"),
	}
	if err := storetest.Retry(func() error {
		_, err := b.db.Put(t.Context(), &dynamo.PutInput{TableName: "PaymentScheduler", Item: item})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got, err = b.OpenPayments(t.Context(), "nobody")
	if err != nil || !got.Undecided {
		t.Errorf("%+v, %v", got, err)
	}
	if err := got.Err("nobody"); !errors.Is(err, payments.ErrWaitingUnknown) {
		t.Error(err)
	}
}
