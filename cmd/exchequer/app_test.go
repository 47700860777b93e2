package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

var catalogues = []*problem.Catalogue{
	problem.Shared, ledger.Problems, rest.Problems, payload.Problems, apikey.Problems,
	client.Problems,
}

func TestEveryKindOfProblemHasAStatus(t *testing.T) {
	for _, kind := range problem.Kinds() {
		if _, known := exits[kind]; !known {
			t.Errorf("%s has no exit status", kind)
		}
	}
}

func TestHintsAreAboutProblemsThatExist(t *testing.T) {
	if err := problem.Check(catalogues...); err != nil {
		t.Error(err)
	}
	codes := make(map[problem.Code]bool)
	for _, c := range catalogues {
		for _, d := range c.Definitions() {
			codes[d.Code()] = true
		}
	}
	for code := range hints {
		if !codes[code] {
			t.Errorf("there is no problem %q to hint at", code)
		}
	}
}

func TestValuesThatAFlagCannotTakeAreExplained(t *testing.T) {
	plan := []string{"payments", "plan", "--per-day", "9", "--window", "30m",
		"--payment-bytes", "100"}
	for given, want := range map[string]string{
		"--payment-bytes=8KB": `--payment-bytes is "8KB" and takes a whole number`,
		"--per-day=1" + strings.Repeat("0", 30): "--per-day is 1" + strings.Repeat("0", 30) +
			", which is out of range",
		"--window=30": `--window is "30" and takes a time such as 90s, 30m or 1h30m`,
		"--window=":   `--window is "" and takes a time such as 90s, 30m or 1h30m`,
		"--quiet=yes": `--quiet is "yes" and takes true or false`,
	} {
		var out bytes.Buffer
		a := &app{out: &out, err: &out, getenv: func(string) string { return "" }}
		if exit := a.run(t.Context(), append(plan, given)); exit != exitUsage {
			t.Errorf("%s: exit %d", given, exit)
		}
		want = "exchequer: " + want + "\ntry: exchequer payments plan --help\n"
		if out.String() != want {
			t.Errorf("%s: got %q, want %q", given, out.String(), want)
		}
	}
}

func TestErrorsAreExplained(t *testing.T) {
	refused := ledger.ErrInsufficientFunds.With("account", "a").With("available", "1.00 NZD").
		With("needed", "2.00 NZD").Field("legs[0].amount", "is more than the account has")
	invalid := ledger.ErrInvalidRequest.Field("currency", "must be a code of ISO 4217")
	damaged := &dynamo.StoreFailedError{Store: "books", Cause: &engine.DamagedError{
		File: "books/000004.log", Offset: 70, Reason: errors.New("gone")}}
	for _, test := range []struct {
		name, output string
		err          error
		exit         int
		want         string
	}{
		{"a refusal", outputTable, refused, exitRefused,
			"exchequer: Account a has 1.00 NZD to spend, but 2.00 NZD is needed\n" +
				"try: Deposit money first, or raise the account's overdraft limit\n"},
		{"fields that are wrong", outputTable, fmt.Errorf("wrapped: %w", invalid), exitUsage,
			"exchequer: The request is incomplete or malformed\n" +
				"  currency must be a code of ISO 4217\n" +
				"try: Correct the named fields and send the request again\n"},
		{"what may move the cursor", outputTable, errors.New("bad\x1b[2Jname"), exitFailed,
			"exchequer: bad [2Jname\n"},
		{"a damaged directory", outputTable, fmt.Errorf("open: %w", damaged), exitStoreFailed,
			"exchequer: The database in books cannot be used: the directory is damaged: " +
				"the file books/000004.log, from byte 70 on: gone\n" +
				"try: restore a copy of the directory; docs/copy.md shows how to make one\n"},
		{"an error that was told", outputTable, &failure{exit: exitDiffers, silent: true},
			exitDiffers, ""},
		{"JSON of a mistake on the command line", outputJSON, usagef("this", "That is wrong"),
			exitUsage, `{"kind":"invalid","code":"usage","sentence":"That is wrong","hint":"this"}` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{err: &out, flags: flags{output: test.output}}
			a.explain(test.err)
			if out.String() != test.want {
				t.Errorf("got %q, want %q", out.String(), test.want)
			}
			if got := exitOf(test.err); got != test.exit {
				t.Errorf("status %d, want %d", got, test.exit)
			}
		})
	}
}

func TestProgressIsABarForPeopleAndALineForLogs(t *testing.T) {
	for _, test := range []struct {
		name            string
		terminal, quiet bool
		want            string
	}{
		{"on a terminal", true, false,
			"\rimporting  50% ████████████░░░░░░░░░░░░ 600 of 1,200 rows, RATE/s, 3 refused"},
		{"in a log", false, false, "importing  50% 600 of 1,200 rows, RATE/s, 3 refused\n"},
		{"when results alone are wanted", true, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{err: &out, terminal: test.terminal, flags: flags{quiet: test.quiet}}
			p := a.newProgress("importing", "row", 1200)
			p.set(600, "too early to tell")
			p.begin = time.Now().Add(-10 * time.Second)
			p.last = p.begin
			p.set(600, "3 refused")
			got := regexp.MustCompile(`[\d,]+/s`).ReplaceAllString(out.String(), "RATE/s")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			out.Reset()
			p.clear()
			if left := strings.Trim(out.String(), "\r "); left != "" || p.width != 0 {
				t.Errorf("clearing the bar left %q", left)
			}
		})
	}
}

func TestTheDataDirectoryIsTheUsers(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("there is no home directory")
	}
	env := map[string]string{}
	a := &app{getenv: func(name string) string { return env[name] }}
	if dir, err := a.dataDir(); err != nil || !strings.HasPrefix(dir, home) {
		t.Errorf("got %q, %v", dir, err)
	}
	env["XDG_DATA_HOME"] = home + "/elsewhere"
	if dir, err := a.dataDir(); err != nil || dir != home+"/elsewhere/exchequer" {
		t.Errorf("got %q, %v", dir, err)
	}
	a.flags.data = "here"
	if dir, err := a.dataDir(); err != nil || dir != "here" {
		t.Errorf("got %q, %v", dir, err)
	}
}

// No command may give a flag that all commands share another meaning: --data is the data directory
// everywhere.
func TestNoCommandHidesAFlagOfAll(t *testing.T) {
	a := &app{getenv: func(string) string { return "" }}
	root := a.root()
	commands, flags := 0, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		commands++
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			flags++
			for above := c.Parent(); above != nil; above = above.Parent() {
				if above.PersistentFlags().Lookup(f.Name) != nil {
					t.Errorf("%s: --%s is a flag of %s too", c.CommandPath(), f.Name,
						above.CommandPath())
				}
				if f.Shorthand != "" &&
					above.PersistentFlags().ShorthandLookup(f.Shorthand) != nil {
					t.Errorf("%s: -%s is a flag of %s too", c.CommandPath(), f.Shorthand,
						above.CommandPath())
				}
			}
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	if commands < 60 || flags < 200 {
		t.Errorf("%d commands with %d flags of their own: these cannot be all", commands, flags)
	}
}
