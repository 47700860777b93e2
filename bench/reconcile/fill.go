package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

const (
	// accountsUsual is how many accounts pay each other. As many accounts as people of a small
	// bank have, with about a hundred legs each at a million transactions.
	accountsUsual = 20_000
	// callers post concurrently, so that they share the writes to the disk.
	callers = 256
)

// fill makes books of n payments between accounts that may go below zero.
func fill(ctx context.Context, dir string, n int) (err error) {
	db, books, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := books.Table().Ensure(ctx, db); err != nil {
		return err
	}
	accounts := min(accountsUsual, n)
	err = together(ctx, accounts, func(ctx context.Context, i int) error {
		_, err := books.OpenAccount(ctx, ledger.NewAccount{
			ID: accountID(i), UserID: ledger.UserID(fmt.Sprint("user-", i/2)),
			AccountType: "checking", Currency: "EUR", Unlimited: true,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("open accounts: %w", err)
	}
	amount := money.MustParse("12.34", "EUR")
	return together(ctx, n, func(ctx context.Context, _ int) error {
		from := rand.N(accounts)
		to := (from + 1 + rand.N(max(1, accounts-1))) % max(2, accounts)
		p := ledger.TransferBetween(accountID(from), accountID(to), amount)
		p.Description = "Payment"
		_, err := books.Post(ctx, p)
		return err
	})
}

func accountID(i int) ledger.AccountID { return ledger.AccountID(fmt.Sprint("account-", i)) }

// together calls do with each number below n, from some callers concurrently, until one fails.
func together(ctx context.Context, n int, do func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
