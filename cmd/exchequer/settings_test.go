package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite the generated page")

// settingsPage is the page that lists flags and their variables.
var settingsPage = filepath.Join("..", "..", "docs", "settings.md")

// settled is an app whose environment is a list of pairs.
func settled(environment ...string) (*app, *bytes.Buffer) {
	var out bytes.Buffer
	a := &app{out: &out, err: &out, environment: environment}
	a.getenv = func(name string) string {
		for _, entry := range environment {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
	if environment == nil {
		a.environment = []string{}
	}
	return a, &out
}

// started returns a command after the settings were read, as it is before it runs.
func started(t *testing.T, a *app, args ...string) (*cobra.Command, error) {
	t.Helper()
	root := a.root()
	command, rest, err := root.Find(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := command.ParseFlags(rest); err != nil {
		t.Fatal(err)
	}
	return command, a.start(command, nil)
}

// TestEachFlagOfAServerHasAVariable sets the variable of each flag, and then the flag as well.
func TestEachFlagOfAServerHasAVariable(t *testing.T) {
	samples := map[string]string{
		"bool": "true", "int": "7", "int64": "7", "float64": "7.5", "duration": "7s",
		"stringToString": "a=b",
	}
	given := map[string]string{
		"bool": "false", "int": "8", "int64": "8", "float64": "8.5", "duration": "8s",
		"stringToString": "c=d",
	}
	for _, name := range []string{"serve", "dynamodb"} {
		none, _ := settled()
		command, err := started(t, none, name)
		if err != nil {
			t.Fatal(err)
		}
		command.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			switch f.Name {
			case "help", "oidc-issuer", "oidc-client-id": // Read with the flags of sign-in.
				return
			}
			sample, other := samples[f.Value.Type()], given[f.Value.Type()]
			if sample == "" {
				sample, other = "sample", "given"
			}
			a, _ := settled(variableOf(f.Name) + "=" + sample)
			command, err := started(t, a, name)
			if err != nil {
				t.Errorf("%s: %v", f.Name, err)
				return
			}
			if got := command.Flag(f.Name).Value.String(); !strings.Contains(got, sample) {
				t.Errorf("%s --%s is %q with its variable", name, f.Name, got)
			}
			command, err = started(t, a, name, "--"+f.Name+"="+other)
			if err != nil {
				t.Errorf("%s: %v", f.Name, err)
				return
			}
			got := command.Flag(f.Name).Value.String()
			if !strings.Contains(got, other) || sample != "true" && strings.Contains(got, sample) {
				t.Errorf("%s --%s is %q with a flag and its variable", name, f.Name, got)
			}
		})
	}
}

func TestSettingsThatNothingReads(t *testing.T) {
	for entry, near := range map[string]string{
		"EXCHEQUER_LISTENS=x":               "EXCHEQUER_LISTEN",
		"EXCHEQUER_LOGLEVEL=debug":          "EXCHEQUER_LOG_LEVEL",
		"EXCHEQUER_PAYMENTS_CONCURRENCY=3":  "EXCHEQUER_PAYMENT_CONCURRENCY",
		"EXCHEQUER_SOMETHING_FAR_AWAY=9999": "",
	} {
		for _, name := range []string{"serve", "dynamodb"} {
			a, _ := settled(entry)
			_, err := started(t, a, name)
			variable, _, _ := strings.Cut(entry, "=")
			f, ok := err.(*failure)
			if !ok || f.exit != exitUsage || !strings.Contains(f.text, variable) ||
				near != "" && !strings.HasSuffix(f.try, " "+near) {
				t.Errorf("%s with %s: %v", name, entry, err)
			}
		}
		a, out := settled(entry)
		if _, err := started(t, a, "version"); err != nil ||
			!strings.Contains(out.String(), "ignored") {
			t.Errorf("version with %s: %v, %s", entry, err, out)
		}
	}
	// What tests set, what clusters set, and what is empty, is no mistake.
	a, out := settled("EXCHEQUER_ROUNDS=3", "EXCHEQUER_STRICT=1", "EXCHEQUER_SERVICE_HOST=10.0.0.1",
		"EXCHEQUER_PORT=tcp://10.0.0.1:80", "EXCHEQUER_PORT_80_TCP_ADDR=10.0.0.1",
		"EXCHEQUER_NOTHING=", "OTHER_PREFIX=1")
	for _, name := range []string{"serve", "dynamodb"} {
		if _, err := started(t, a, name); err != nil || out.Len() > 0 {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}

func TestOldNamesOfSettingsStillWork(t *testing.T) {
	for name, old := range oldVariables {
		if !strings.HasPrefix(old, envPrefix) {
			continue
		}
		a, out := settled(old + "=7")
		if got := a.env(name); got != "7" || !strings.Contains(out.String(), name) {
			t.Errorf("%s is %q; %s", name, got, out)
		}
		a, _ = settled(old+"=7", name+"=8")
		if got := a.env(name); got != "8" {
			t.Errorf("%s is %q next to its old name", name, got)
		}
	}
}

func TestAWrongValueNamesItsVariable(t *testing.T) {
	a, _ := settled("EXCHEQUER_PAYMENT_CONCURRENCY=many")
	_, err := started(t, a, "serve")
	f, ok := err.(*failure)
	if !ok || f.exit != exitUsage || !strings.Contains(f.text, "EXCHEQUER_PAYMENT_CONCURRENCY") {
		t.Errorf("got %v", err)
	}
}

// TestSettingsPage compares the page about settings with the flags; -update writes it.
func TestSettingsPage(t *testing.T) {
	a, _ := settled()
	root := a.root()
	var page bytes.Buffer
	page.WriteString(settingsIntroduction)
	list := func(title string, flags *pflag.FlagSet) {
		fmt.Fprintf(
			&page,
			"\n## %s\n\n| flag | variable | default | meaning |\n|---|---|---|---|\n",
			title,
		)
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			meaning := strings.ReplaceAll(f.Usage, "|", "\\|")
			meaning = strings.ReplaceAll(meaning, "`", "")
			fmt.Fprintf(&page, "| `--%s` | `%s` | %s | %s |\n", f.Name, variableOf(f.Name),
				shownDefault(f), meaning)
		})
	}
	list("Every command", root.PersistentFlags())
	for _, name := range []string{"serve", "dynamodb"} {
		command, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		list("exchequer "+name, command.LocalNonPersistentFlags())
	}
	if *update {
		if err := os.WriteFile(settingsPage, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, page.Bytes()) {
		t.Errorf("%s is not what the flags are: go generate ./cmd/exchequer", settingsPage)
	}
}

func shownDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "[]", "0", "0s", "false":
		return ""
	}
	return "`" + f.DefValue + "`"
}

const settingsIntroduction = `# Settings

This page is generated from the flags: ` + "`go generate ./cmd/exchequer`" + ` writes it.

Each flag of every command, of ` + "`serve`" + ` and of ` + "`dynamodb`" + ` has a variable: ` +
	"`EXCHEQUER_`" + ` and the name of the flag in
capitals, with ` + "`_`" + ` for ` + "`-`" + `. A flag goes before its variable, and the variable
before the default. A list has commas between its values. A variable that is set and empty is not set.

A variable that begins with ` + "`EXCHEQUER_`" + ` and that nothing reads is an error of ` +
	"`serve`" + ` and ` + "`dynamodb`" + `; other commands warn of
it. The names that a cluster sets for a service of the name exchequer are ignored.

Old names still work, with a warning: ` + "`EXCHEQUER_PAYMENTS_SHARDS`" + `, ` +
	"`EXCHEQUER_PAYMENTS_PROJECTION`" + `,
` + "`EXCHEQUER_PAYMENTS_ATTEMPTS`" + ` and ` + "`EXCHEQUER_OIDC_CLIENT_IDS`" + `. The table of
locations is in ` + "`DYNAMODB_TABLE_NAME`" + `, or in ` + "`EXCHEQUER_LOCATIONS_TABLE`" + `.

The variables that shape a server, such as ` + "`EXCHEQUER_TABLE`" + `, hold for every command that
works on a store by itself.
`
