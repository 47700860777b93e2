package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts and the other tests run the program as a process of its own: this test's binary under
// another name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"exchequer": func() { os.Exit(mainExit()) }})
}

// Each script is a session: commands in order, in a directory of its own, and what they print.
func TestSessions(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXCHEQUER_DATA", "data")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": mustExit},
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
