package dynamotest_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/dynamotest"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// The store that TestAnEndpoint is for: its address, a file of behaviours that it lacks, and
// "exact" in the last where its texts of errors should be the service's.
const (
	endpointVariable = "EXCHEQUER_DYNAMODB_ENDPOINT"
	skipVariable     = "EXCHEQUER_DYNAMODB_SKIP"
	textsVariable    = "EXCHEQUER_DYNAMODB_TEXTS"
)

func openEngine(t *testing.T, opts engine.Options) *engine.DB {
	t.Helper()
	db, err := engine.OpenMemory(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openSDK(t *testing.T, opts awssdk.Options) *awssdk.DB {
	t.Helper()
	db, err := awssdk.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// throughSDK returns the SDK over the protocol over a store, in one process.
func throughSDK(t *testing.T, db *engine.DB) *awssdk.DB {
	t.Helper()
	return openSDK(t, awssdk.Options{
		Endpoint: "http://localhost:8000",
		HTTPClient: &http.Client{
			Transport: wire.Transport{Handler: wire.NewHandler(db, wire.Options{})},
		},
	})
}

func TestTheEngine(t *testing.T) {
	dynamotest.Run(t, openEngine(t, engine.Options{}), dynamotest.Options{ExactTexts: true})
}

func TestTheEngineThroughTheProtocolAndTheSDK(t *testing.T) {
	db := throughSDK(t, openEngine(t, engine.Options{}))
	dynamotest.Run(t, db, dynamotest.Options{ExactTexts: true})
}

func TestAnEndpoint(t *testing.T) {
	endpoint := os.Getenv(endpointVariable)
	if endpoint == "" {
		t.Skip("set " + endpointVariable + " to the address of a store to test it")
	}
	dynamotest.Run(t, openSDK(t, awssdk.Options{Endpoint: endpoint}), dynamotest.Options{
		ExactTexts: os.Getenv(textsVariable) == "exact", Skip: skips(t),
	})
}

// skips reads lines such as "area/behaviour # reason".
func skips(t *testing.T) map[string]string {
	t.Helper()
	path := os.Getenv(skipVariable)
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	skip := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, ok := strings.Cut(line, " # ")
		if !ok {
			t.Fatalf("%s: there is no reason in %q", path, line)
		}
		skip[name] = why
	}
	return skip
}

func TestAViewWithTablesOfItsOwn(t *testing.T) {
	db := openEngine(t, engine.Options{})
	one, other := dynamotest.NewApart(db), dynamotest.NewApart(db)
	dynamotest.Run(t, one, dynamotest.Options{})
	for _, view := range []*dynamotest.Apart{one, other} {
		_, err := view.CreateTable(t.Context(), &dynamo.CreateTableInput{
			TableName: "same", KeySchema: dynamo.HashKey("id"),
			BillingMode: dynamo.BillingPayPerRequest,
			AttributeDefinitions: []dynamo.AttributeDefinition{
				{AttributeName: "id", AttributeType: dynamo.KindS},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := other.ListTables(t.Context(), &dynamo.ListTablesInput{}); err != nil ||
		len(out.TableNames) != 1 || out.TableNames[0] != "same" {
		t.Errorf("the other view has %v, %v", out, err)
	}
	if out, err := db.ListTables(t.Context(), &dynamo.ListTablesInput{}); err != nil ||
		len(out.TableNames) != 1 {
		t.Errorf("the store has %v, %v", out, err)
	}
}
