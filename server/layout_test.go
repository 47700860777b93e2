package server_test

import (
	"slices"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// started returns a server of this process on a directory, and a client of it. Close it before the
// next one is started.
func started(t *testing.T, opts server.Options) (*server.Server, *client.Client) {
	t.Helper()
	s := must[*server.Server](t)(server.Open(t.Context(), opts))
	return s, must[*client.Client](t)(client.New("http://exchequer",
		client.Options{Transport: s.Transport()}))
}

// wantOnlyRefused asks each system a question, and fails unless those that are named refuse theirs
// with a code, and the others answer.
func wantOnlyRefused(t *testing.T, c *client.Client, code string, refused ...string) {
	t.Helper()
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"ledger": func() error {
			_, err := c.Accounts(ctx, client.PageQuery{})
			return err
		},
		"payments": func() error {
			_, err := c.Payments(ctx, client.PaymentsQuery{Status: client.PaymentScheduled})
			return err
		},
		"locations": func() error {
			_, err := c.Locations(ctx, client.LocationQuery{})
			return err
		},
		"rates": func() error {
			_, err := c.Rates().List(ctx, client.PageQuery{})
			return err
		},
		"statements": func() error {
			_, err := c.BankAccounts(ctx)
			return err
		},
		"tables": func() error {
			_, err := c.Tables(ctx)
			return err
		},
	} {
		err := ask()
		switch {
		case slices.Contains(refused, name):
			if err == nil || string(problemOf(t, err).Code) != code {
				t.Errorf("%s: %v, want %s", name, err, code)
			}
		case err != nil:
			t.Errorf("%s, which is not concerned: %v", name, err)
		}
	}
}

func closed(t *testing.T, s *server.Server) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// codesBy returns the codes of the locations in an order.
func codesBy(t *testing.T, c *client.Client, order string) (codes []string) {
	t.Helper()
	page, err := c.Locations(t.Context(), client.LocationQuery{Order: order})
	if err != nil {
		t.Errorf("locations by %s: %v", order, err)
	}
	for _, l := range page.Items {
		codes = append(codes, l.Code)
	}
	return codes
}

func TestOptionalIndexesAreTheTables(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	place := func(c *client.Client, code string) {
		t.Helper()
		must[client.LocationReceipt](t)(c.CreateLocation(ctx, client.NewLocation{Code: code,
			LocationFields: client.LocationFields{Name: new("Name of " + code)}}))
	}
	s, c := started(t, server.Options{DataDir: dir,
		Locations: locations.Options{NameIndex: true}})
	place(c, "b")
	closed(t, s)

	// A start without the index writes its keys, and reads it, nevertheless.
	s, c = started(t, server.Options{DataDir: dir})
	wantOnlyRefused(t, c, "")
	place(c, "a")
	if got := codesBy(t, c, "name"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("by name: %v", got)
	}
	if err := s.CheckLayout(); err != nil {
		t.Error(err)
	}
	closed(t, s)

	// An index that the table lacks stops nothing but the list that needs it.
	wanted := server.Options{DataDir: dir,
		Locations: locations.Options{CodeIndex: true, CellIndex: true}}
	s, c = started(t, wanted)
	wantOnlyRefused(t, c, "")
	if err := s.CheckLayout(); err != nil {
		t.Error(err)
	}
	if got := codesBy(t, c, "name"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("by name: %v", got)
	}
	_, err := c.Locations(ctx, client.LocationQuery{Order: "code"})
	if err == nil || problemOf(t, err).Code != "location_order_missing" {
		t.Errorf("by code: %v", err)
	}
	check := must[client.TableCheck](t)(c.CheckTable(ctx, locations.TableNameDefault))
	if want := []string{"index GSI2 is missing", "index GSI4 is missing"}; check.OK ||
		!slices.Equal(check.Differences, want) {
		t.Errorf("the check: %+v", check)
	}
	must[[]client.Table](t)(c.CreateTables(ctx)) // This adds it.
	closed(t, s)

	s, c = started(t, server.Options{DataDir: dir})
	defer closed(t, s)
	must[int](t)(c.ReindexLocations(ctx))
	place(c, "aa")
	if got := codesBy(t, c, "code"); !slices.Equal(got, []string{"a", "aa", "b"}) {
		t.Errorf("by code: %v", got)
	}
	check = must[client.TableCheck](t)(c.CheckTable(ctx, locations.TableNameDefault))
	if !check.OK {
		t.Errorf("the check: %+v", check)
	}
}

// An index that this release does not know, in the table of any system, is no reason to refuse.
func TestAnUnknownIndexStopsNothing(t *testing.T) {
	dir := t.TempDir()
	s, _ := started(t, server.Options{DataDir: dir})
	closed(t, s)
	db := must[*engine.DB](t)(engine.Open(dir, engine.Options{}))
	tables := []string{ledger.TableNameDefault, locations.TableNameDefault,
		payments.TableNameDefault}
	for _, table := range tables {
		_, err := db.UpdateTable(t.Context(), &dynamo.UpdateTableInput{
			TableName: table,
			AttributeDefinitions: []dynamo.AttributeDefinition{
				{AttributeName: "Colour", AttributeType: dynamo.KindS},
			},
			GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{
				Create: &dynamo.GlobalSecondaryIndex{IndexName: "ByColour",
					KeySchema:  dynamo.HashKey("Colour"),
					Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll}},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, c := started(t, server.Options{DataDir: dir})
	defer closed(t, s)
	wantOnlyRefused(t, c, "")
	if err := s.CheckLayout(); err != nil {
		t.Error(err)
	}
	for _, table := range tables {
		check := must[client.TableCheck](t)(c.CheckTable(t.Context(), table))
		if check.OK || len(check.Differences) != 1 {
			t.Errorf("the check of %s: %+v", table, check)
		}
	}
}

// The table of one system that cannot be used, whatever differs, stops that system alone.
func TestATableThatDiffersStopsItsSystemAlone(t *testing.T) {
	for table, refused := range map[string][]string{
		"aolfclub-entities": {"locations"}, "PaymentScheduler": {"payments"},
		"TransactionHistory": {"payments"}, "ExchangeRates": {"rates"},
		"ExchangeRateHistory": {"rates"}, "PuteaMatai": {"statements"},
	} {
		t.Run(table, func(t *testing.T) {
			dir := t.TempDir()
			db := must[*engine.DB](t)(engine.Open(dir, engine.Options{}))
			_, err := db.CreateTable(t.Context(), &dynamo.CreateTableInput{
				TableName: table, KeySchema: dynamo.HashKey("Other"),
				AttributeDefinitions: []dynamo.AttributeDefinition{
					{AttributeName: "Other", AttributeType: dynamo.KindS},
				},
				BillingMode: dynamo.BillingPayPerRequest,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s, c := started(t, server.Options{DataDir: dir})
			defer closed(t, s)
			wantOnlyRefused(t, c, "table_differs", refused...)
			if err := s.CheckLayout(); err == nil {
				t.Error("the layout is right")
			}
		})
	}
}

// What shapes the tables of payments is read from them: another setting is refused by payments
// alone, none is right always.
func TestAnotherLayoutOfPaymentsIsRefusedByThemAlone(t *testing.T) {
	first := payments.Options{Projection: payments.ProjectKeys, Shards: 3}
	for name, test := range map[string]struct {
		later   payments.Options
		refused bool
	}{
		"the same":             {first, false},
		"none":                 {payments.Options{}, false},
		"another projection":   {payments.Options{Projection: payments.ProjectAll}, true},
		"the usual projection": {payments.Options{Projection: payments.ProjectNarrow}, true},
		"more shards":          {payments.Options{Shards: 4}, true},
		"the usual shards":     {payments.Options{Shards: payments.ShardsDefault}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, c := started(t, server.Options{DataDir: dir, Payments: first})
			openTwo(t, c)
			for _, key := range []string{"k1", "k2", "k3"} {
				scheduleOne(t, c, key)
			}
			closed(t, s)
			s, c = started(t, server.Options{DataDir: dir, Payments: test.later})
			defer closed(t, s)
			if test.refused {
				wantOnlyRefused(t, c, "layout_differs", "payments")
				check := must[client.TableCheck](t)(
					c.CheckTable(t.Context(), payments.TableNameDefault))
				if check.OK || len(check.Differences) != 1 {
					t.Errorf("the check: %+v", check)
				}
				if err := s.CheckLayout(); err == nil {
					t.Error("the layout is right")
				}
				return
			}
			page := must[client.Page[client.ScheduledPayment]](t)(c.Payments(t.Context(),
				client.PaymentsQuery{Status: client.PaymentScheduled}))
			if len(page.Items) != 3 {
				t.Errorf("%d of 3 payments are listed", len(page.Items))
			}
		})
	}
}

// openTwo opens the accounts alice and bob.
func openTwo(t *testing.T, c *client.Client) {
	t.Helper()
	for _, id := range []client.AccountID{"alice", "bob"} {
		must[client.AccountReceipt](t)(c.OpenAccount(t.Context(), client.NewAccount{
			ID: id, UserID: "u",
			AccountType: "checking", Currency: "USD"}))
	}
}

// scheduleOne schedules a payment of alice to bob.
func scheduleOne(t *testing.T, c *client.Client, key string) client.ScheduledPayment {
	t.Helper()
	made := must[client.PaymentReceipt](t)(c.SchedulePayment(t.Context(), client.NewPayment{
		IdempotencyKey: key, AccountID: "alice", PayeeID: "bob",
		Amount: money.MustParse("1", "USD"),
		Due:    "2099-01-01",
	}))
	return made.ScheduledPayment
}
