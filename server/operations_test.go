package server_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// Each way to the server is tried with the same operations.
func TestClient(t *testing.T) {
	for _, way := range []string{"in one process", "through a socket"} {
		t.Run(way, func(t *testing.T) {
			w := start(t)
			if way == "through a socket" {
				w.Client = w.client(client.Options{})
			}
			w.furnish()
			t.Run("merchants", w.merchants)
			t.Run("accounts", w.accounts)
			t.Run("postings", w.postings)
			t.Run("reversals", w.reversals)
			t.Run("transactions", w.transactions)
			t.Run("statements", w.statements)
			t.Run("reconciliations", w.reconciliations)
			t.Run("tables", w.tables)
			t.Run("readiness", func(t *testing.T) {
				if err := w.Ready(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func (w *world) merchants(t *testing.T) {
	ctx := t.Context()
	got := must[client.Merchant](t)(w.Merchant(ctx, "coffee"))
	if got.Name != "Coffee Shop Inc" || got.Category != "Restaurant" ||
		got.SettlementAccountID != "shop" || got.CreatedAt.IsZero() {
		t.Errorf("got %+v", got)
	}
	if _, err := w.Merchant(ctx, "nobody"); !errors.Is(err, ledger.ErrMerchantNotFound) {
		t.Errorf("unknown merchant: %v", err)
	}
	n := client.NewMerchant{IdempotencyKey: "m1", Name: "Tea"}
	first := must[client.MerchantReceipt](t)(w.CreateMerchant(ctx, n))
	if again := must[client.MerchantReceipt](t)(w.CreateMerchant(ctx, n)); again.ID != first.ID {
		t.Errorf("a repeat made %s beside %s", again.ID, first.ID)
	}
	n.Name = "Other"
	if _, err := w.CreateMerchant(ctx, n); !errors.Is(err, ledger.ErrIdempotencyConflict) {
		t.Errorf("same key, other merchant: %v", err)
	}
	other := client.NewMerchant{ID: "coffee", Name: "Other"}
	if _, err := w.CreateMerchant(ctx, other); !errors.Is(err, ledger.ErrMerchantExists) {
		t.Errorf("same id, other merchant: %v", err)
	}
}

func (w *world) accounts(t *testing.T) {
	ctx := t.Context()
	a := must[client.AccountReceipt](t)(w.OpenAccount(ctx, client.NewAccount{
		IdempotencyKey: "a1", UserID: "carol/&?", AccountType: "savings", Currency: "JPY",
		OverdraftLimit: money.MustParse("500", "JPY"),
	}))
	if a.Balance.String() != "0 JPY" || a.OverdraftLimit.String() != "500 JPY" ||
		a.Status != client.AccountActive || a.UserID != "carol/&?" {
		t.Errorf("opened %+v", a)
	}
	if got := must[client.Account](t)(w.Account(ctx, a.ID)); !cmp.Equal(got, a.Account) {
		t.Errorf("read (-opened +read):\n%s", cmp.Diff(a.Account, got))
	}
	if _, err := w.Account(ctx, "nobody"); !errors.Is(err, ledger.ErrAccountNotFound) {
		t.Errorf("unknown account: %v", err)
	}
	page := must[client.Page[client.Account]](t)(
		w.AccountsOfUser(ctx, "carol/&?", client.PageQuery{}))
	if len(page.Items) != 1 || page.Items[0].ID != a.ID || page.Next != "" {
		t.Errorf("accounts of carol: %+v", page)
	}
	for _, step := range []struct {
		name string
		do   func() (client.Account, error)
		want client.AccountStatus
	}{
		{"freeze", func() (client.Account, error) { return w.FreezeAccount(ctx, a.ID) }, "frozen"},
		{"freeze again", func() (client.Account, error) { return w.FreezeAccount(ctx, a.ID) },
			"frozen"},
		{"unfreeze", func() (client.Account, error) { return w.UnfreezeAccount(ctx, a.ID) },
			"active"},
		{"close", func() (client.Account, error) { return w.CloseAccount(ctx, a.ID) }, "closed"},
	} {
		if got, err := step.do(); err != nil || got.Status != step.want {
			t.Errorf("%s: %+v, %v", step.name, got, err)
		}
	}
	if _, err := w.FreezeAccount(ctx, a.ID); !errors.Is(err, ledger.ErrAccountClosed) {
		t.Errorf("freeze a closed account: %v", err)
	}
	bob := must[client.Account](t)(w.SetOverdraft(ctx, "bob", usd("7.50"), false))
	if bob.OverdraftLimit != usd("7.50") {
		t.Errorf("overdraft %+v", bob)
	}
	bob = must[client.Account](t)(w.SetOverdraft(ctx, "bob", money.Amount{}, true))
	if !bob.Unlimited || !bob.OverdraftLimit.IsZero() {
		t.Errorf("without limit %+v", bob)
	}
	must[client.Account](t)(w.SetOverdraft(ctx, "bob", money.Amount{}, false))
	var ids []string
	for account, err := range w.AllAccounts(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, string(account.ID))
	}
	for _, id := range []string{"alice", "bob", "shop", "@deposits-USD", string(a.ID)} {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is not among all accounts: %v", id, ids)
		}
	}
}

func (w *world) postings(t *testing.T) {
	ctx := t.Context()
	p := client.Posting{
		IdempotencyKey: "order-1", Type: client.Payment, MerchantID: "coffee", From: "alice",
		Amount: usd("5.50"), Description: "Coffee & cake", Metadata: map[string]string{"till": "3"},
	}
	r := must[client.Receipt](t)(w.Post(ctx, p))
	got := r.Transaction
	if r.Replayed || got.IdempotencyKey != "order-1" || got.Type != client.Payment ||
		got.Status != client.Completed || got.MerchantID != "coffee" || got.Amount != usd("5.50") ||
		got.Description != "Coffee & cake" || got.Metadata["till"] != "3" || len(r.Legs) != 2 {
		t.Errorf("posted %+v", r)
	}
	again := must[client.Receipt](t)(w.Post(ctx, p))
	if !again.Replayed || !cmp.Equal(again.Entry, r.Entry) {
		t.Errorf("a repeat (-first +second):\n%s", cmp.Diff(r.Entry, again.Entry))
	}
	p.Amount = usd("6.50")
	if _, err := w.Post(ctx, p); !errors.Is(err, ledger.ErrIdempotencyConflict) {
		t.Errorf("same key, other amount: %v", err)
	}
	// The long form of the short one is the same request.
	p.From, p.Amount, p.Currency = "", money.Amount{}, "USD"
	p.Legs = []client.PostingLeg{
		{AccountID: "alice", Type: client.Debit, Amount: usd("5.5")},
		{AccountID: "@merchant", Type: client.Credit, Amount: usd("5.50")},
	}
	if same := must[client.Receipt](t)(w.Post(ctx, p)); !same.Replayed {
		t.Errorf("by legs: %+v", same)
	}
	for key, amount := range map[string]string{"out-1": "1.25", "": "1.00"} {
		must[client.Receipt](t)(w.Post(ctx, client.Posting{
			IdempotencyKey: key, Type: client.Withdrawal, From: "alice", Amount: usd(amount),
		}))
	}
	must[client.Receipt](t)(w.Post(ctx, client.Posting{
		Type: client.Transfer, From: "alice", To: "bob", Amount: usd("10"),
	}))
	alice := must[client.Account](t)(w.Account(ctx, "alice"))
	if alice.Balance != usd("82.25") || alice.Version != 5 || alice.LastPostedAt.IsZero() {
		t.Errorf("alice has %+v", alice)
	}
}

func (w *world) reversals(t *testing.T) {
	ctx := t.Context()
	paid := must[client.Receipt](t)(w.Post(ctx, client.Posting{
		IdempotencyKey: "mistake", Type: client.Payment, From: "alice", To: "bob",
		Amount: usd("3"),
	}))
	v := client.Reversing{TransactionID: paid.Transaction.ID, Description: "Not ordered"}
	r := must[client.Receipt](t)(w.Reverse(ctx, v))
	if r.Transaction.ReversalOf != paid.Transaction.ID || r.Transaction.Type != client.Reversal ||
		r.Transaction.Description != "Not ordered" || r.Replayed {
		t.Errorf("reversed by %+v", r)
	}
	again := must[client.Receipt](t)(w.Reverse(ctx, v))
	if !again.Replayed || !cmp.Equal(again.Entry, r.Entry) {
		t.Errorf("a repeat (-first +second):\n%s", cmp.Diff(r.Entry, again.Entry))
	}
	original := must[client.Transaction](t)(w.Transaction(ctx, paid.Transaction.ID))
	if original.Status != client.Reversed || original.ReversedBy != r.Transaction.ID {
		t.Errorf("the original is %+v", original)
	}
	v.TransactionID = r.Transaction.ID
	if _, err := w.Reverse(ctx, v); !errors.Is(err, ledger.ErrReversalOfReversal) {
		t.Errorf("reversal of a reversal: %v", err)
	}
	v.TransactionID = "00000000-0000-5000-8000-000000000000"
	if _, err := w.Reverse(ctx, v); !errors.Is(err, ledger.ErrTransactionNotFound) {
		t.Errorf("reversal of nothing: %v", err)
	}
}

func (w *world) transactions(t *testing.T) {
	ctx := t.Context()
	header := must[client.Transaction](t)(w.TransactionByKey(ctx, "order-1"))
	entry := must[client.Entry](t)(w.EntryByKey(ctx, "order-1"))
	if !cmp.Equal(header, entry.Transaction) || len(entry.Legs) != 2 {
		t.Errorf("by key %+v, %+v", header, entry)
	}
	if got := must[client.Entry](t)(w.Entry(ctx, header.ID)); !cmp.Equal(got, entry) {
		t.Errorf("by id (-by key +by id):\n%s", cmp.Diff(entry, got))
	}
	if got := must[client.Transaction](t)(w.Transaction(ctx, header.ID)); !cmp.Equal(got, header) {
		t.Errorf("header by id (-by key +by id):\n%s", cmp.Diff(header, got))
	}
	legs := must[[]client.Leg](t)(w.LegsOfTransaction(ctx, header.ID))
	if diff := cmp.Diff(entry.Legs, legs); diff != "" {
		t.Errorf("legs (-entry +legs):\n%s", diff)
	}
	for _, try := range []func() error{
		func() error { _, err := w.TransactionByKey(ctx, "never"); return err },
		func() error { _, err := w.EntryByKey(ctx, "never"); return err },
		func() error { _, err := w.Entry(ctx, "never"); return err },
		func() error { _, err := w.LegsOfTransaction(ctx, "never"); return err },
	} {
		if err := try(); !errors.Is(err, ledger.ErrTransactionNotFound) {
			t.Errorf("unknown transaction: %v", err)
		}
	}
	q := client.StatusQuery{Status: client.Completed}
	q.Limit = 2
	var found []client.Transaction
	for transaction, err := range w.AllTransactionsByStatus(ctx, q) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, transaction)
	}
	if len(found) != 6 || !slices.IsSortedFunc(found, func(a, b client.Transaction) int {
		return a.CreatedAt.Compare(b.CreatedAt)
	}) {
		t.Errorf("completed: %d transactions", len(found))
	}
	// A range takes its first instant in and leaves its last one out.
	q = client.StatusQuery{
		Status: client.Completed, From: found[1].CreatedAt, To: found[3].CreatedAt,
		NewestFirst: true,
	}
	page := must[client.Page[client.Transaction]](t)(w.TransactionsByStatus(ctx, q))
	if diff := cmp.Diff([]client.Transaction{found[2], found[1]}, page.Items); diff != "" {
		t.Errorf("a range, newest first (-want +got):\n%s", diff)
	}
}

func (w *world) statements(t *testing.T) {
	ctx := t.Context()
	q := client.StatementQuery{AccountID: "alice", From: "2026-01-01", To: "2026-01-31"}
	q.Limit = 3
	var legs []client.Leg
	for page, err := range w.StatementPages(ctx, q) {
		if err != nil {
			t.Fatal(err)
		}
		if page.Opening != usd("0") || page.Closing != usd("82.25") ||
			page.AccountID != "alice" || page.From != "2026-01-01" || page.To != "2026-01-31" {
			t.Errorf("page %+v", page)
		}
		legs = append(legs, page.Legs...)
	}
	if len(legs) != 7 || legs[0].BalanceAfter != usd("82.25") || legs[0].AccountVersion != 7 ||
		legs[6].BalanceAfter != usd("100") {
		t.Errorf("legs %+v", legs)
	}
	var all []client.Leg
	for leg, err := range w.AllLegsOfAccount(ctx, "alice") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, leg)
	}
	if diff := cmp.Diff(legs, all); diff != "" {
		t.Errorf("legs of the account (-statement +legs):\n%s", diff)
	}
	page := must[client.Page[client.Leg]](t)(w.LegsOfAccountBetween(ctx, "alice",
		legs[2].CreatedAt, legs[1].CreatedAt, client.PageQuery{}))
	if diff := cmp.Diff([]client.Leg{legs[2]}, page.Items); diff != "" {
		t.Errorf("legs of a range (-want +got):\n%s", diff)
	}
	q.From, q.To, q.Cursor = "2026-02-01", "2026-02-28", ""
	empty := must[client.Statement](t)(w.Statement(ctx, q))
	if len(empty.Legs) != 0 || empty.Opening != usd("82.25") || empty.Closing != usd("82.25") {
		t.Errorf("a month without legs: %+v", empty)
	}
}

func (w *world) reconciliations(t *testing.T) {
	ctx := t.Context()
	w.clock.set(time.Date(2026, time.January, 3, 12, 0, 0, 0, time.UTC))
	q := client.ReconcileQuery{From: "2026-01-01", To: "2026-01-02"}
	var cursors []string
	q.Progress = func(p client.ReconcileProgress) { cursors = append(cursors, p.Cursor) }
	r := must[client.Reconciliation](t)(w.Reconcile(ctx, q))
	if !r.Balanced || r.Verdict != client.VerdictBalanced || r.Transactions != 7 ||
		r.Legs != 14 || r.Found != 0 || len(r.Totals) != 2 {
		t.Fatalf("got %+v", r)
	}
	total := r.Totals[1] // The first is of the yen, in which an account was opened and closed.
	if total.Currency != "USD" || total.Debits != usd("123.75") || total.Credits != usd("123.75") ||
		total.Balances != usd("0") {
		t.Errorf("total %+v", total)
	}
	if len(cursors) == 0 {
		t.Fatal("no progress was told")
	}
	q.Cursor, q.Progress = cursors[0], nil
	if again := must[client.Reconciliation](t)(w.Reconcile(ctx, q)); !cmp.Equal(again, r) {
		t.Errorf("continued from the first page (-whole +continued):\n%s", cmp.Diff(r, again))
	}
	q.Cursor = "nonsense"
	if _, err := w.Reconcile(ctx, q); !errors.Is(err, ledger.ErrInvalidCursor) {
		t.Errorf("a bad cursor: %v", err)
	}
	// Whoever does not ask for a stream gets the report alone.
	plain := w.send(http.MethodPost, "/v1/reconciliation",
		`{"from":"2026-01-01","to":"2026-01-02"}`)
	if plain.status != http.StatusOK || !strings.HasPrefix(plain.body, `{"from":"2026-01-01"`) ||
		plain.header.Get("Content-Type") != "application/json" {
		t.Errorf("plain: %+v", plain)
	}
}

func (w *world) tables(t *testing.T) {
	ctx := t.Context()
	tables := must[[]client.Table](t)(w.Tables(ctx))
	var names []string
	for _, table := range tables {
		names = append(names, table.Name)
	}
	for _, want := range []string{"ExchequerKeys", "FinancialTransactions", "aolfclub-entities"} {
		if !slices.Contains(names, want) {
			t.Errorf("tables %v", names)
		}
	}
	got := must[client.Table](t)(w.Table(ctx, "FinancialTransactions"))
	if got.Status != "ACTIVE" || got.PartitionKey != "PK" || got.SortKey != "SK" ||
		len(got.Indexes) != 2 || got.Items == 0 || got.Bytes == 0 {
		t.Errorf("got %+v", got)
	}
	want := client.Index{
		Name: "GSI1", Kind: "global", Status: "ACTIVE", PartitionKey: "GSI1PK",
		SortKey: "GSI1SK", Projection: "ALL", Items: got.Indexes[0].Items,
		Bytes: got.Indexes[0].Bytes,
	}
	if diff := cmp.Diff(want, got.Indexes[0]); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	check := must[client.TableCheck](t)(w.CheckTable(ctx, "FinancialTransactions"))
	if !check.OK || len(check.Differences) != 0 || check.Differences == nil {
		t.Errorf("check %+v", check)
	}
	for name, try := range map[string]func() error{
		"describe": func() error { _, err := w.Table(ctx, "Nothing"); return err },
		"check":    func() error { _, err := w.CheckTable(ctx, "Nothing"); return err },
	} {
		if err := try(); !errors.Is(err, rest.ErrTableNotFound) {
			t.Errorf("%s an unknown table: %v", name, err)
		}
	}
	for _, table := range must[[]client.Table](t)(w.CreateTables(ctx)) {
		if table.Created {
			t.Errorf("%s was created again", table.Name)
		}
	}
}

func TestUsage(t *testing.T) {
	w := start(t)
	w.furnish()
	var u client.Usage
	ctx := client.WithUsage(t.Context(), &u)
	must[client.Account](t)(w.Account(ctx, "alice"))
	// An item of up to 4 KB, read consistently, is one unit.
	want := client.Usage{Requests: 1, Calls: 1, ReadUnits: 1, RequestID: u.RequestID}
	if u != want || u.RequestID == "" {
		t.Errorf("an account took %+v", u)
	}
	must[client.Receipt](t)(w.Post(ctx, client.Posting{
		Type: client.Transfer, From: "alice", To: "bob", Amount: usd("1"),
	}))
	// Two balances at least are changed, and three items are written, at two units each.
	if u.Requests != 2 || u.WriteUnits < 10 {
		t.Errorf("and a posting %+v", u)
	}
	if !strings.Contains(w.log.String(), u.RequestID) {
		t.Errorf("request %s is not in the log", u.RequestID)
	}
}
