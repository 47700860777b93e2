package client

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/exchequer-dev/exchequer/api"
)

// Ledger are the operations of the ledger.
type Ledger struct{ client *Client }

// Ledger returns the operations of the ledger.
func (c *Client) Ledger() Ledger { return Ledger{c} }

// Receipt is the answer to a request that creates something once.
type Receipt[T any] struct {
	Body T
	// Replayed reports whether an earlier, equal request created it.
	Replayed bool
}

// receiptOf calls an operation that creates something once.
func receiptOf[In, Out any](
	ctx context.Context, c *Client, op api.Op[In, Out], in In,
) (Receipt[Out], error) {
	r, err := exchangeOp(ctx, c, op, in)
	return Receipt[Out]{Body: r.Body, Replayed: r.Replayed}, err
}

// CreateMerchant creates a merchant. The key makes the request safe to repeat; if it is empty, the
// client generates one, unless the body has an id, which makes a repeat safe too.
func (l Ledger) CreateMerchant(
	ctx context.Context, key string, n api.NewMerchant,
) (Receipt[api.Merchant], error) {
	return receiptOf(ctx, l.client, api.CreateMerchant, api.CreateMerchantRequest{
		OptionalKey: optionalKey(key, string(n.ID)), Merchant: n,
	})
}

// optionalKey returns a key, or a new one if neither a key nor an id is given.
func optionalKey(key, id string) api.OptionalKey {
	if key == "" && id == "" {
		key = newKey()
	}
	return api.OptionalKey{IdempotencyKey: key}
}

// Merchant returns a merchant.
func (l Ledger) Merchant(ctx context.Context, id api.MerchantID) (api.Merchant, error) {
	return call(ctx, l.client, api.GetMerchant, api.MerchantPath{ID: id})
}

// OpenAccount opens an account with a balance of zero. For the key see CreateMerchant.
func (l Ledger) OpenAccount(
	ctx context.Context, key string, n api.NewAccount,
) (Receipt[api.Account], error) {
	return receiptOf(ctx, l.client, api.OpenAccount, api.OpenAccountRequest{
		OptionalKey: optionalKey(key, string(n.ID)), Account: n,
	})
}

// Account returns an account.
func (l Ledger) Account(ctx context.Context, id api.AccountID) (api.Account, error) {
	return call(ctx, l.client, api.GetAccount, api.AccountPath{ID: id})
}

// Accounts returns a page of all accounts in no particular order.
func (l Ledger) Accounts(ctx context.Context, q api.Page) (api.List[api.Account], error) {
	return call(ctx, l.client, api.ListAccounts, q)
}

// AllAccounts returns all accounts in no particular order.
func (l Ledger) AllAccounts(ctx context.Context) iter.Seq2[api.Account, error] {
	return pages(api.Page{}, func(p api.Page) (api.List[api.Account], error) {
		return l.Accounts(ctx, p)
	})
}

// AccountsOfUser returns a page of a user's accounts, by account id.
func (l Ledger) AccountsOfUser(
	ctx context.Context, q api.UserAccountsQuery,
) (api.List[api.Account], error) {
	return call(ctx, l.client, api.ListAccountsOfUser, q)
}

// AllAccountsOfUser returns all accounts of a user, by account id.
func (l Ledger) AllAccountsOfUser(
	ctx context.Context, user api.UserID,
) iter.Seq2[api.Account, error] {
	return pages(api.Page{}, func(p api.Page) (api.List[api.Account], error) {
		return l.AccountsOfUser(ctx, api.UserAccountsQuery{Page: p, User: user})
	})
}

// FreezeAccount makes an active account refuse postings.
func (l Ledger) FreezeAccount(ctx context.Context, id api.AccountID) (api.Account, error) {
	return call(ctx, l.client, api.FreezeAccount,
		api.ChangeAccountRequest{AccountPath: api.AccountPath{ID: id}})
}

// UnfreezeAccount makes a frozen account active again.
func (l Ledger) UnfreezeAccount(ctx context.Context, id api.AccountID) (api.Account, error) {
	return call(ctx, l.client, api.UnfreezeAccount,
		api.ChangeAccountRequest{AccountPath: api.AccountPath{ID: id}})
}

// CloseAccount permanently closes an account whose balance is zero. It is refused if payments from
// or to the account are scheduled, unless withOpenPayments is set; these will fail.
func (l Ledger) CloseAccount(
	ctx context.Context, id api.AccountID, withOpenPayments bool,
) (api.Account, error) {
	return call(ctx, l.client, api.CloseAccount, api.CloseAccountRequest{
		AccountPath: api.AccountPath{ID: id}, WithOpenPayments: withOpenPayments,
	})
}

// SetOverdraft sets how far an account may go below zero, or removes the limit.
func (l Ledger) SetOverdraft(
	ctx context.Context, id api.AccountID, n api.NewOverdraft,
) (api.Account, error) {
	return call(ctx, l.client, api.SetOverdraft, api.SetOverdraftRequest{
		AccountPath: api.AccountPath{ID: id}, Overdraft: n,
	})
}

// LegsOfAccount returns a page of an account's legs, newest first.
func (l Ledger) LegsOfAccount(
	ctx context.Context, q api.LegsQuery,
) (api.List[api.Leg], error) {
	return call(ctx, l.client, api.ListLegsOfAccount, q)
}

// AllLegsOfAccount returns all legs of an account, newest first.
func (l Ledger) AllLegsOfAccount(
	ctx context.Context, id api.AccountID,
) iter.Seq2[api.Leg, error] {
	return pages(api.Page{}, func(p api.Page) (api.List[api.Leg], error) {
		return l.LegsOfAccount(ctx, api.LegsQuery{Page: p, AccountPath: api.AccountPath{ID: id}})
	})
}

// Statement returns a page of an account's statement.
func (l Ledger) Statement(
	ctx context.Context, q api.AccountStatementQuery,
) (api.AccountStatement, error) {
	return call(ctx, l.client, api.GetAccountStatement, q)
}

// StatementPages returns the pages of an account's statement.
func (l Ledger) StatementPages(
	ctx context.Context, q api.AccountStatementQuery,
) iter.Seq2[api.AccountStatement, error] {
	return func(yield func(api.AccountStatement, error) bool) {
		for {
			s, err := l.Statement(ctx, q)
			if !yield(s, err) || err != nil || s.Next == "" {
				return
			}
			q.From, q.To, q.Cursor = s.From, s.To, s.Next
		}
	}
}

// Post posts a transaction, exactly once for its key. If the key is empty, the client generates
// one.
func (l Ledger) Post(
	ctx context.Context, key string, p api.Posting,
) (Receipt[api.Transaction], error) {
	if key == "" {
		key = newKey()
	}
	return receiptOf(ctx, l.client, api.PostTransaction,
		api.PostRequest{IdempotencyKey: key, Posting: p})
}

// Exchange exchanges money of one currency for another, exactly once for its key. A repeat without
// a rate is the same request even if the stored rate has changed. If the key is empty, the client
// generates one.
func (l Ledger) Exchange(
	ctx context.Context, key string, n api.NewExchange,
) (Receipt[api.Transaction], error) {
	if key == "" {
		key = newKey()
	}
	return receiptOf(ctx, l.client, api.Exchange,
		api.ExchangeRequest{IdempotencyKey: key, Exchange: n})
}

// Reverse reverses a completed transaction by another transaction. It happens once: an equal second
// request returns the first result.
func (l Ledger) Reverse(
	ctx context.Context, id api.TransactionID, n api.NewReversal,
) (Receipt[api.Transaction], error) {
	return receiptOf(ctx, l.client, api.ReverseTransaction, api.ReverseRequest{
		TransactionPath: api.TransactionPath{ID: id}, Reversal: n,
	})
}

// Transaction returns a transaction, without its legs.
func (l Ledger) Transaction(
	ctx context.Context, id api.TransactionID,
) (api.Transaction, error) {
	return call(ctx, l.client, api.GetTransaction,
		api.TransactionQuery{TransactionPath: api.TransactionPath{ID: id}})
}

// Entry returns a transaction with its legs, which the server reads in one query.
func (l Ledger) Entry(ctx context.Context, id api.TransactionID) (api.Transaction, error) {
	return call(ctx, l.client, api.GetTransaction,
		api.TransactionQuery{TransactionPath: api.TransactionPath{ID: id}, Legs: true})
}

// LegsOfTransaction returns the legs of a transaction.
func (l Ledger) LegsOfTransaction(
	ctx context.Context, id api.TransactionID,
) ([]api.Leg, error) {
	list, err := call(ctx, l.client, api.ListLegsOfTransaction, api.TransactionPath{ID: id})
	return list.Rows(err)
}

// TransactionByKey returns the transaction with an idempotency key from the store's index. On a
// store with index lag it may miss the newest transactions.
func (l Ledger) TransactionByKey(ctx context.Context, key string) (api.Transaction, error) {
	return l.byKey(ctx, api.TransactionsQuery{IdempotencyKey: key})
}

// EntryByKey returns the transaction with an idempotency key and its legs, up to date.
func (l Ledger) EntryByKey(ctx context.Context, key string) (api.Transaction, error) {
	return l.byKey(ctx, api.TransactionsQuery{IdempotencyKey: key, Legs: true})
}

func (l Ledger) byKey(
	ctx context.Context, q api.TransactionsQuery,
) (found api.Transaction, err error) {
	list, err := l.Transactions(ctx, q)
	if err != nil {
		return found, err
	}
	if len(list.Items) != 1 {
		return found, fmt.Errorf("%d transactions in the answer, not one", len(list.Items))
	}
	return list.Items[0], nil
}

// Transactions returns a page of the transactions that a query selects.
func (l Ledger) Transactions(
	ctx context.Context, q api.TransactionsQuery,
) (api.List[api.Transaction], error) {
	return call(ctx, l.client, api.ListTransactions, q)
}

// AllTransactions returns all transactions that a query selects, beginning with its page.
func (l Ledger) AllTransactions(
	ctx context.Context, q api.TransactionsQuery,
) iter.Seq2[api.Transaction, error] {
	return pages(q.Page, func(p api.Page) (api.List[api.Transaction], error) {
		q.Page = p
		return l.Transactions(ctx, q)
	})
}

// Reconcile checks the ledger over some days. It may take long; the context ends it. Progress, if
// it is not nil, is called from time to time, on the caller's goroutine.
func (l Ledger) Reconcile(
	ctx context.Context, n api.NewReconciliation, progress func(api.ReconcileProgress),
) (api.Reconciliation, error) {
	return callStream(ctx, l.client, api.Reconcile,
		api.ReconcileRequest{Reconciliation: n}, progress)
}

// RepairDates finds the dates of the ledger that are ahead of the server's clock and, with repair,
// changes them to now. A repeat repairs what is left.
func (l Ledger) RepairDates(ctx context.Context, repair bool) (api.DateRepair, error) {
	return call(ctx, l.client, api.RepairDates, api.RepairDatesRequest{Repair: repair})
}

// StatusShards returns the numbers of shards of the transactions of one status, the earliest first.
func (l Ledger) StatusShards(ctx context.Context) ([]api.StatusShards, error) {
	list, err := call(ctx, l.client, api.ListTransactionShards, api.None{})
	return list.Rows(err)
}

// GrowStatusShards increases the number of shards for transactions that are created from an instant
// on; the zero time means now.
func (l Ledger) GrowStatusShards(
	ctx context.Context, count int, from time.Time,
) ([]api.StatusShards, error) {
	list, err := call(ctx, l.client, api.GrowTransactionShards, api.GrowStatusShardsRequest{
		Shards: api.MoreStatusShards{Count: count, From: api.At(from)},
	})
	return list.Rows(err)
}
