package server_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
	"github.com/exchequer-dev/exchequer/server"
)

// A comparison of all tables includes those that are missing, and does not report success for those
// that the store is still creating.
func TestTablesThatAreMissingOrInTheMakingAreNotSound(t *testing.T) {
	db := must[*engine.DB](t)(engine.OpenMemory(engine.Options{TableDelay: time.Hour}))
	endpoint := httptest.NewServer(wire.NewHandler(db, wire.Options{}))
	t.Cleanup(func() {
		endpoint.Close()
		closedStore(t, db)
	})
	_, err := db.CreateTable(t.Context(), &dynamo.CreateTableInput{
		TableName: "PuteaMatai", KeySchema: dynamo.HashRangeKey("PK", "SK"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindS},
			{AttributeName: "SK", AttributeType: dynamo.KindS},
		},
		BillingMode: dynamo.BillingPayPerRequest,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, c := started(t, server.Options{Tables: server.TablesKeep, DynamoDB: &awssdk.Options{
		Endpoint: endpoint.URL, Region: "eu-central-1", Timeout: time.Second,
	}})
	defer closed(t, s)
	checks := must[[]client.TableCheck](t)(c.CheckTables(t.Context()))
	missing := []string{"the table is missing"}
	var want []client.TableCheck
	for _, name := range []string{
		"ExchangeRateHistory", "ExchangeRates", "ExchequerKeys", "FinancialTransactions",
		"PaymentScheduler", "PuteaMatai", "TransactionHistory", "aolfclub-entities",
	} {
		one := client.TableCheck{Name: name, Verdict: client.VerdictFaulty, Differences: missing,
			Undecided: []string{}}
		if name == "PuteaMatai" {
			one.Verdict, one.Differences = client.VerdictUndecided, []string{}
			one.Undecided = []string{"the table is CREATING"}
		}
		want = append(want, one)
		got := must[client.TableCheck](t)(c.CheckTable(t.Context(), name))
		if diff := cmp.Diff(one, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if diff := cmp.Diff(want, checks); diff != "" {
		t.Error(diff)
	}
}

func closedStore(t *testing.T, db *engine.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// Once every table is there, all of them are sound.
func TestTablesOfANewStoreAreSound(t *testing.T) {
	s, c := started(t, server.Options{Memory: true})
	defer closed(t, s)
	checks := must[[]client.TableCheck](t)(c.CheckTables(t.Context()))
	if len(checks) != 8 {
		t.Errorf("%d tables were compared", len(checks))
	}
	for _, check := range checks {
		if !check.OK || check.Verdict != client.VerdictSound {
			t.Errorf("%+v", check)
		}
	}
}
