package main

import (
	"context"
	"flag"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
	"github.com/exchequer-dev/exchequer/server"
)

// sessionsAtOnce is how many sessions run side by side: a command waits for the disk half of its
// time.
const sessionsAtOnce = 4

// The scripts and the other tests run the program as a process of its own: this test's binary under
// another name.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", strconv.Itoa(max(sessionsAtOnce, runtime.GOMAXPROCS(0))))
	testscript.Main(m, map[string]func(){"exchequer": func() { os.Exit(mainExit()) }})
}

// Each script is a session: commands in order, in a directory of its own, and what they print. A
// short run has one of them: each command is a process, with the race detector a slow one, while
// what it does there is tried by the tests of the server, in one process.
func TestSessions(t *testing.T) {
	sessions := testscript.Params{Dir: "testdata/script"}
	if testing.Short() {
		sessions = testscript.Params{Files: []string{"testdata/script/pay.txt"}}
	}
	testscript.Run(t, testscript.Params{
		Dir: sessions.Dir, Files: sessions.Files,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXCHEQUER_DATA", "data")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("AWS_EC2_METADATA_DISABLED", "true")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": mustExit, "endpoint": startEndpoint, "silent": startSilent,
			"served": startServed,
		},
	})
}

// mustExit runs a command that must end with a status: exits 3 exchequer ledger pay ...
func mustExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status command...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = statusOf(err)
	}
	if got != args[0] {
		ts.Fatalf("%v ended with status %s, want %s", args[1:], got, args[0])
	}
}

// startSilent listens until the script ends, and answers nobody; $SILENT is its address.
func startSilent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: silent")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ts.Check(listener.Close()) })
	ts.Setenv("SILENT", "http://"+listener.Addr().String())
}

// startServed serves the API over a store in memory until the script ends; $SERVED is its address.
func startServed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: served")
	}
	s, err := server.Open(context.Background(), server.Options{Memory: true})
	ts.Check(err)
	front := httptest.NewServer(s.Handler())
	ts.Defer(func() {
		front.Close()
		ts.Check(s.Close())
	})
	ts.Setenv("SERVED", front.URL)
}

// tableDelay is how long the endpoint of scripts takes to create a table: long enough that commands
// meet tables in the making.
const tableDelay = 50 * time.Millisecond

// startEndpoint serves a new database by DynamoDB's protocol until the script ends; $ENDPOINT is
// its address. It has a table Odd, which is not as anyone needs it.
func startEndpoint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: endpoint")
	}
	db, err := engine.OpenMemory(engine.Options{TableDelay: tableDelay})
	ts.Check(err)
	_, err = db.CreateTable(context.Background(), &dynamo.CreateTableInput{
		TableName: "Odd", KeySchema: dynamo.HashKey("PK"),
		BillingMode: dynamo.BillingPayPerRequest,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindS},
			{AttributeName: "GSI9PK", AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
			IndexName: "GSI9", KeySchema: dynamo.HashKey("GSI9PK"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
		}},
	})
	ts.Check(err)
	server := httptest.NewServer(wire.NewHandler(db, wire.Options{}))
	ts.Defer(func() {
		server.Close()
		ts.Check(db.Close())
	})
	ts.Setenv("ENDPOINT", server.URL)
}
