package payments_test

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// A payment is scheduled, paid when it is due, and moved into the history when the day is over.
func Example() {
	ctx := context.Background()
	now := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	must := func(err error) {
		if err != nil {
			fmt.Println("unexpected:", err)
		}
	}
	store := singletable.NewStore(db, singletable.Options{Now: clock})
	books, err := ledger.New(store, ledger.Options{Now: clock})
	must(err)
	scheduler, err := payments.New(store, books, payments.Options{Now: clock})
	must(err)
	must(books.Model().Ensure(ctx, db))
	must(scheduler.Model().Ensure(ctx, db))
	for _, id := range []ledger.AccountID{"ann", "landlord"} {
		_, err := books.OpenAccount(ctx, ledger.NewAccount{
			ID: id, UserID: ledger.UserID(id), AccountType: "checking", Currency: "NZD",
		})
		must(err)
	}
	_, err = books.Post(ctx, ledger.DepositInto("ann", money.MustParse("1000", "NZD")))
	must(err)

	rent := payments.NewPayment{
		Key: "rent 2026-01", AccountID: "ann", PayeeID: "landlord",
		Amount: money.MustParse("850", "NZD"), At: now.Add(time.Hour), Description: "Rent",
	}
	first, err := scheduler.Schedule(ctx, rent)
	must(err)
	again, err := scheduler.Schedule(ctx, rent)
	must(err)
	fmt.Println(first.Status, again.Replayed, first.ID == again.ID)

	now = now.Add(time.Hour)
	report, err := scheduler.Run(ctx, payments.RunOptions{})
	must(err)
	fmt.Println("paid:", report.Paid)
	paid, err := scheduler.Payment(ctx, first.ID)
	must(err)
	landlord, err := books.Account(ctx, "landlord")
	must(err)
	fmt.Println(paid.Status, landlord.Balance)

	now = now.Add(24 * time.Hour)
	day, err := scheduler.MoveDay(ctx, "2026-01-02", time.UTC, nil)
	must(err)
	fmt.Println("moved:", day.Moved, day.Totals[0].Status, day.Totals[0].Count, day.Totals[0].Sum)
	// Output:
	// SCHEDULED true true
	// paid: 1
	// PROCESSED 850.00 NZD
	// moved: true PROCESSED 1 850.00 NZD
}
