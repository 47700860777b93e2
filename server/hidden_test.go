package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// rowsOf counts the rows that each list of a server shows.
func rowsOf(t *testing.T, c *client.Client) (map[string]int, map[string]error) {
	t.Helper()
	ctx := t.Context()
	rows, refused := map[string]int{}, map[string]error{}
	note := func(name string, n int, err error) {
		if err != nil {
			refused[name] = err
			return
		}
		rows[name] = n
	}
	accounts, err := c.Accounts(ctx, client.PageQuery{})
	note("accounts", len(accounts.Items), err)
	transactions, err := c.TransactionsByStatus(ctx,
		client.StatusQuery{Status: client.Completed})
	note("transactions", len(transactions.Items), err)
	legs, err := c.LegsOfAccount(ctx, "alice", client.PageQuery{})
	note("legs", len(legs.Items), err)
	statement, err := c.Statement(ctx, client.StatementQuery{AccountID: "alice",
		From: "2000-01-01", To: "2099-12-31"})
	note("statement", len(statement.Legs), err)
	due, err := c.Payments(ctx, client.PaymentsQuery{Status: client.PaymentScheduled})
	note("payments", len(due.Items), err)
	own, err := c.PaymentsOfAccount(ctx, client.AccountPaymentsQuery{
		AccountID: "alice", From: "2098-12-01", To: "2099-12-31"})
	note("payments of alice", len(own.Items), err)
	places, err := c.Locations(ctx, client.LocationQuery{})
	note("locations", len(places.Items), err)
	_, err = c.LocationByCode(ctx, "p-1")
	note("location by code", 1, err)
	found, err := c.Rates().List(ctx, client.PageQuery{})
	note("rates", len(found.Items), err)
	banks, err := c.BankAccounts(ctx)
	note("bank accounts", len(banks), err)
	return rows, refused
}

// TestNoSettingHidesARow writes rows of each system with one value of a setting, and starts a
// server with another one. Either every row is there, or the system says why it is not.
func TestNoSettingHidesARow(t *testing.T) {
	seoul := must[*time.Location](t)(time.LoadLocation("Asia/Seoul"))
	first := server.Options{StatusShards: 3,
		Payments:  payments.Options{Shards: 3, Projection: payments.ProjectKeys},
		Locations: locations.Options{Shards: 4, NameIndex: true},
		Rates:     rates.Options{StaleFor: time.Hour}}
	for name, test := range map[string]struct {
		change  func(o *server.Options)
		refused []string // Their lists name both values.
		gone    []string // By design they belong to another person.
	}{
		"the same":            {change: func(*server.Options) {}},
		"none":                {change: func(o *server.Options) { *o = server.Options{} }},
		"fewer status shards": {func(o *server.Options) { o.StatusShards = 1 }, books(), nil},
		"more status shards":  {func(o *server.Options) { o.StatusShards = 5 }, books(), nil},
		"fewer payment shards": {func(o *server.Options) { o.Payments.Shards = 2 },
			[]string{"payments", "payments of alice"}, nil},
		"more payment shards": {func(o *server.Options) { o.Payments.Shards = 9 },
			[]string{"payments", "payments of alice"}, nil},
		"another projection": {
			func(o *server.Options) { o.Payments.Projection = payments.ProjectAll },
			[]string{"payments", "payments of alice"}, nil},
		"fewer location shards": {func(o *server.Options) { o.Locations.Shards = 1 },
			[]string{"locations", "location by code"}, nil},
		"more location shards": {func(o *server.Options) { o.Locations.Shards = 8 },
			[]string{"locations", "location by code"}, nil},
		"other indexes": {change: func(o *server.Options) {
			o.Locations.NameIndex, o.Locations.CodeIndex = false, true
		}},
		"another tenant": {change: func(o *server.Options) { o.Tenant = "acme" }},
		"another zone":   {change: func(o *server.Options) { o.Zone = seoul }},
		"another time that rates are kept": {
			change: func(o *server.Options) { o.Rates.StaleFor = time.Minute }},
		"other leases": {change: func(o *server.Options) {
			o.Payments.Lease, o.Payments.ShardLease = time.Hour, time.Hour
		}},
		"another person": {func(o *server.Options) { o.User = "someone" }, nil,
			[]string{"bank accounts"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			opts := first
			opts.DataDir = dir
			s, c := started(t, opts)
			writeRows(t, c)
			want, refused := rowsOf(t, c)
			if len(refused) > 0 {
				t.Fatal(refused)
			}
			closed(t, s)
			test.change(&opts)
			opts.DataDir = dir
			s, c = started(t, opts)
			defer closed(t, s)
			got, refused := rowsOf(t, c)
			for list, n := range want {
				err := refused[list]
				switch {
				case slices.Contains(test.refused, list):
					if err == nil || !strings.Contains(err.Error(), "was started with") {
						t.Errorf("%s: %d rows, %v", list, got[list], err)
					}
				case slices.Contains(test.gone, list):
					if err != nil || got[list] != 0 {
						t.Errorf("%s: %d rows of another person, %v", list, got[list], err)
					}
				case err != nil || got[list] != n || n == 0:
					t.Errorf("%s: %d of %d rows, %v", list, got[list], n, err)
				}
			}
		})
	}
}

func books() []string { return []string{"accounts", "transactions", "legs", "statement"} }

// writeRows writes rows of each system.
func writeRows(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	openTwo(t, c)
	for n := range 4 {
		must[client.Receipt](t)(c.Post(ctx, client.Posting{Type: client.Deposit, To: "alice",
			IdempotencyKey: fmt.Sprint("d", n), Amount: money.MustParse("5", "USD")}))
		scheduleOne(t, c, fmt.Sprint("p", n))
	}
	for _, code := range []string{"p-1", "p-2", "p-3"} {
		must[client.LocationReceipt](t)(c.CreateLocation(ctx, client.NewLocation{Code: code,
			LocationFields: client.LocationFields{Name: new("Name of " + code)}}))
	}
	must[api.Rate](t)(c.Rates().Save(ctx, "USD", "EUR", api.NewRate{
		Rate: must[money.Decimal](t)(money.ParseDecimal("0.85")), TTLSeconds: 3600}))
	must[client.BankAccountReceipt](t)(c.CreateBankAccount(ctx,
		client.NewBankAccount{Name: "Everyday", Currency: "USD"}))
}

// A tenant is the scope of idempotency keys alone: the ledger of another tenant in the same table
// lists, moves and reconciles the same accounts.
func TestATenantIsTheScopeOfKeysAlone(t *testing.T) {
	dir := t.TempDir()
	s, c := started(t, server.Options{DataDir: dir, Tenant: "one"})
	openTwo(t, c)
	posting := client.Posting{Type: client.Deposit, To: "alice", IdempotencyKey: "k",
		Amount: money.MustParse("5", "USD")}
	one := must[client.Receipt](t)(c.Post(t.Context(), posting))
	closed(t, s)
	s, c = started(t, server.Options{DataDir: dir, Tenant: "two"})
	defer closed(t, s)
	two := must[client.Receipt](t)(c.Post(t.Context(), posting))
	if two.Replayed || one.Transaction.ID == two.Transaction.ID {
		t.Error("two tenants share a key")
	}
	account := must[client.Account](t)(c.Account(t.Context(), "alice"))
	if account.Balance.String() != "10.00 USD" {
		t.Errorf("the balance is %s", account.Balance)
	}
	all := must[client.Page[client.Transaction]](t)(c.TransactionsByStatus(t.Context(),
		client.StatusQuery{Status: client.Completed}))
	if len(all.Items) != 2 {
		t.Errorf("%d of 2 transactions are listed", len(all.Items))
	}
	got := must[client.Transaction](t)(c.Transaction(t.Context(), one.Transaction.ID))
	if got.ID != one.Transaction.ID {
		t.Errorf("got %+v", got)
	}
}
