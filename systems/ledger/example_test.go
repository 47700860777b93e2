package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// openExample opens a ledger on a database in memory, with a clock that stands still.
func openExample(ctx context.Context) (*ledger.Ledger, func()) {
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	books, err := ledger.New(singletable.NewStore(db, singletable.Options{}), ledger.Options{
		Now: func() time.Time { return time.Date(2026, 1, 2, 10, 30, 0, 0, time.UTC) },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := books.Table().Ensure(ctx, db); err != nil {
		log.Fatal(err)
	}
	return books, func() { _ = db.Close() }
}

// must stands for the error handling of a real program.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func open(ctx context.Context, books *ledger.Ledger, id ledger.AccountID) {
	must(books.OpenAccount(ctx, ledger.NewAccount{
		ID: id, UserID: "ann", AccountType: "checking", Currency: "USD",
	}))
}

func Example() {
	ctx := context.Background()
	books, closeBooks := openExample(ctx)
	defer closeBooks()

	open(ctx, books, "ann")
	open(ctx, books, "till")
	must(books.CreateMerchant(ctx, ledger.NewMerchant{
		ID: "coffee", Name: "Coffee Shop Inc", SettlementAccountID: "till",
	}))
	must(books.Post(ctx, ledger.DepositInto("ann", money.MustParse("20", "USD"))))

	payment := ledger.PayMerchant("ann", "coffee", money.MustParse("5.50", "USD"))
	payment.IdempotencyKey = "order-17"
	first := must(books.Post(ctx, payment))
	again := must(books.Post(ctx, payment)) // The answer was lost on the way; nobody pays twice.
	same := first.Transaction.ID == again.Transaction.ID
	fmt.Println(first.Transaction.Amount, same, again.Replayed)

	_, err := books.Post(ctx, ledger.PayMerchant("ann", "coffee", money.MustParse("15", "USD")))
	fmt.Println(errors.Is(err, ledger.ErrInsufficientFunds), problem.From(err).Sentence)
	// Output:
	// 5.50 USD true true
	// true Account ann has 14.50 USD to spend, but 15.00 USD is needed
}

func ExampleLedger_Post() {
	ctx := context.Background()
	books, closeBooks := openExample(ctx)
	defer closeBooks()
	open(ctx, books, "ann")
	open(ctx, books, "ben")
	must(books.Post(ctx, ledger.DepositInto("ann", money.MustParse("100", "USD"))))

	// A transfer with a fee: three legs that balance.
	receipt := must(books.Post(ctx, ledger.Posting{
		Type: ledger.Transfer, Description: "Rent", IdempotencyKey: "rent-2026-01",
		Legs: []ledger.PostingLeg{
			{AccountID: "ann", Type: ledger.Debit, Amount: money.MustParse("80.50", "USD")},
			{AccountID: "ben", Type: ledger.Credit, Amount: money.MustParse("80", "USD")},
			{AccountID: ledger.Fees, Type: ledger.Credit, Amount: money.MustParse("0.50", "USD")},
		},
	}))
	for _, leg := range receipt.Legs {
		fmt.Println(leg.Type, leg.Amount, "leaves", leg.AccountID, "with", leg.BalanceAfter)
	}
	// Output:
	// credit 80.00 USD leaves ben with 80.00 USD
	// credit 0.50 USD leaves @fees-USD with 0.50 USD
	// debit 80.50 USD leaves ann with 19.50 USD
}

func ExampleLedger_Reverse() {
	ctx := context.Background()
	books, closeBooks := openExample(ctx)
	defer closeBooks()
	open(ctx, books, "ann")
	deposit := must(books.Post(ctx, ledger.DepositInto("ann", money.MustParse("100", "USD"))))

	ask := ledger.Reversing{TransactionID: deposit.Transaction.ID, Description: "Wrong account"}
	reversal := must(books.Reverse(ctx, ask))
	original := must(books.Transaction(ctx, deposit.Transaction.ID))
	fmt.Println(original.Status, original.ReversedBy == reversal.Transaction.ID)
	fmt.Println(must(books.Account(ctx, "ann")).Balance)

	ask.Description = "Once more"
	_, err := books.Reverse(ctx, ask)
	fmt.Println(errors.Is(err, ledger.ErrAlreadyReversed))
	// Output:
	// reversed true
	// 0.00 USD
	// true
}

func ExampleLedger_Statement() {
	ctx := context.Background()
	books, closeBooks := openExample(ctx)
	defer closeBooks()
	open(ctx, books, "ann")
	must(books.Post(ctx, ledger.DepositInto("ann", money.MustParse("100", "USD"))))
	must(books.Post(ctx, ledger.WithdrawFrom("ann", money.MustParse("40", "USD"))))

	statement := must(books.Statement(ctx, ledger.StatementQuery{
		AccountID: "ann", From: "2026-01-01", To: "2026-01-31",
	}))
	fmt.Println("closing", statement.Closing)
	for _, leg := range statement.Legs {
		fmt.Println(leg.CreatedAt.Format(time.DateOnly), leg.Type, leg.Amount, leg.BalanceAfter)
	}
	fmt.Println("opening", statement.Opening)
	// Output:
	// closing 60.00 USD
	// 2026-01-02 debit 40.00 USD 60.00 USD
	// 2026-01-02 credit 100.00 USD 100.00 USD
	// opening 0.00 USD
}

func ExampleLedger_Reconcile() {
	ctx := context.Background()
	books, closeBooks := openExample(ctx)
	defer closeBooks()
	open(ctx, books, "ann")
	must(books.Post(ctx, ledger.DepositInto("ann", money.MustParse("100", "USD"))))

	january := ledger.ReconcileQuery{From: "2026-01-01", To: "2026-01-31"}
	report := must(books.Reconcile(ctx, january))
	fmt.Println("balanced", report.Balanced())
	for _, total := range report.Totals {
		fmt.Println(total.Debits, "debit,", total.Credits, "credit, balances of", total.Balances)
	}
	// Output:
	// balanced true
	// 100.00 USD debit, 100.00 USD credit, balances of 0.00 USD
}

func ExampleLedger_PostTx() {
	ctx := context.Background()
	db := must(engine.OpenMemory(engine.Options{}))
	defer func() { _ = db.Close() }()
	store := singletable.NewStore(db, singletable.Options{})
	books := must(ledger.New(store, ledger.Options{}))
	if err := books.Table().Ensure(ctx, db); err != nil {
		log.Fatal(err)
	}
	open(ctx, books, "ann")

	// The posting happens together with whatever else is in the transaction, or not at all.
	tx := store.NewTx()
	must(books.PostTx(ctx, tx, ledger.DepositInto("ann", money.MustParse("100", "USD"))))
	if err := tx.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(must(books.Account(ctx, "ann")).Balance)
	// Output: 100.00 USD
}
