// Package ledger serves the operations of the ledger.
package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// Options of the operations. What another system knows comes in as a function.
type Options struct {
	// Posted, if set, is called for every posting that was asked for, with its outcome.
	Posted func(kind ledger.TransactionType, outcome string)
	// OpenPayments returns an error if payments from or to an account are scheduled, or if that
	// cannot be decided.
	OpenPayments func(context.Context, ledger.AccountID) error
	// Quote returns the stored rate of a pair: that of a day, or the current one if the day is
	// empty.
	Quote func(ctx context.Context, q api.RateQuery) (ledger.ExchangeRate, error)
}

type handlers struct {
	ledger *ledger.Ledger
	opts   Options
}

// Mount adds the operations to a router.
func Mount(r *rest.Router, l *ledger.Ledger, opts Options) {
	h := &handlers{l, opts}
	rest.Serve(r, api.CreateMerchant, h.createMerchant)
	rest.Serve(r, api.GetMerchant, h.merchant)

	rest.Serve(r, api.OpenAccount, h.openAccount)
	rest.Serve(r, api.ListAccounts, h.accounts)
	rest.Serve(r, api.GetAccount, h.account)
	rest.Serve(r, api.ListAccountsOfUser, h.accountsOfUser)
	rest.Serve(r, api.FreezeAccount, h.changeStatus(l.FreezeAccount))
	rest.Serve(r, api.UnfreezeAccount, h.changeStatus(l.UnfreezeAccount))
	rest.Serve(r, api.CloseAccount, h.closeAccount)
	rest.Serve(r, api.SetOverdraft, h.setOverdraft)
	rest.Serve(r, api.ListLegsOfAccount, h.legsOfAccount)
	rest.Serve(r, api.GetAccountStatement, h.accountStatement)

	rest.Serve(r, api.PostTransaction, h.post)
	rest.Serve(r, api.ReverseTransaction, h.reverse)
	rest.Serve(r, api.Exchange, h.exchange)
	rest.Serve(r, api.ListTransactions, h.transactions)
	rest.Serve(r, api.GetTransaction, h.transaction)
	rest.Serve(r, api.ListLegsOfTransaction, h.legsOfTransaction)

	rest.ServeStream(r, api.Reconcile, h.reconcile)
	rest.Serve(r, api.RepairDates, h.repairDates)
	rest.Serve(r, api.ListTransactionShards, h.shards)
	rest.Serve(r, api.GrowTransactionShards, h.growShards)
}

// pageOf returns the ledger's form of a page.
func pageOf(p api.Page) ledger.PageQuery {
	return ledger.PageQuery{Size: p.Limit, Cursor: p.Cursor}
}

// readAmount returns an amount of a body and collects a missing one. The decoder has checked that
// it is a number, and the currency has a check of its own.
func readAmount(
	wrong *problem.Fields, field string, amount api.Amount, currency money.Currency,
) money.Amount {
	if amount == "" {
		wrong.Add(field, "is missing")
		return money.Amount{}
	}
	made, err := amount.In(currency)
	if err != nil {
		return money.Amount{}
	}
	return made
}
