// Command exchequer is the whole product in one binary: the server, and a command line that speaks
// to it. Without --server a command puts the same server together inside its own process, over the
// data directory, so nothing has to be started first.
package main

//go:generate go test . -run TestSettingsPage|TestExitStatusPage -update

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(mainExit()) }

// mainExit runs the program and returns its exit status. The first interrupt ends what can be ended
// cleanly; the second one ends the process.
func mainExit() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv,
		terminal: isTerminal(os.Stderr),
	}
	return a.run(ctx, os.Args[1:])
}

// isTerminal reports whether a person is likely to look at what is written to f.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull &&
		os.Getenv("TERM") != "dumb"
}

// app is one run of the program.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	// environment replaces the environment of the process in tests, if it is not nil.
	environment []string
	warned      map[string]bool // Old names of variables that were warned of.
	terminal    bool            // err is a terminal

	flags   flags
	started bool // the command line was understood
}
