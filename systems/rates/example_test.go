package rates_test

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/rates/feed"
)

// A file of the European Central Bank is taken in, and a million dollars are so many yen.
func ExampleBoard_Quote() {
	ctx := context.Background()
	now := func() time.Time { return time.Date(2026, time.April, 13, 15, 0, 0, 0, time.UTC) }
	db, err := engine.OpenMemory(engine.Options{Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	store := singletable.NewStore(db, singletable.Options{Now: now})
	board, err := rates.New(store, rates.Options{Now: now, StaleFor: rates.StaleForDefault})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := board.Model().Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	days, err := feed.Read([]byte("Date, USD, JPY, \n13 April 2026, 1.1684, 186.75, \n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := board.Load(ctx, days, rates.LoadOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	quote, err := board.Quote(ctx, rates.Ask{Base: "USD", Target: "JPY"})
	if err != nil {
		fmt.Println(err)
		return
	}
	yen, err := quote.Convert(money.MustParse("1000000", "USD"), money.HalfUp)
	fmt.Println(yen, err)
	fmt.Println(quote.Rate, "through", quote.Via, "as of", quote.AsOf.Format(time.RFC3339))
	// Output:
	// 159833961 JPY <nil>
	// 159.833960972 through [EUR] as of 2026-04-13T14:00:00Z
}
