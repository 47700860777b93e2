package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

// envPrefix begins the variable of each flag of every command, of serve and of dynamodb:
// --log-level is EXCHEQUER_LOG_LEVEL. A flag goes before its variable, and a variable before the
// default.
const envPrefix = "EXCHEQUER_"

// variableOf returns the variable of a flag.
func variableOf(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// oldVariables are names from before there was a rule, by the names that hold now.
var oldVariables = map[string]string{
	"EXCHEQUER_PAYMENT_SHARDS":     "EXCHEQUER_PAYMENTS_SHARDS",
	"EXCHEQUER_PAYMENT_PROJECTION": "EXCHEQUER_PAYMENTS_PROJECTION",
	"EXCHEQUER_PAYMENT_ATTEMPTS":   "EXCHEQUER_PAYMENTS_ATTEMPTS",
	"EXCHEQUER_OIDC_CLIENT_ID":     "EXCHEQUER_OIDC_CLIENT_IDS",
	envLocationsTable:              locations.TableNameEnv,
}

// otherVariables are those of no flag: variables of this project's own tests and measurements, and
// of the clusters that give each process the addresses of services by their names.
var otherVariables = regexp.MustCompile(
	`^EXCHEQUER_(ROUNDS|STRICT|SEED|FREEZE|LOCATIONS_TABLE|TEST_\w+|BENCH_\w+|DYNAMODB_\w+|` +
		`SERVICE_HOST|SERVICE_PORT\w*|PORT_\d+_(TCP|UDP)\w*)$`)

// clusterPort matches what a cluster puts into EXCHEQUER_PORT for a service named exchequer.
var clusterPort = regexp.MustCompile(`^(tcp|udp|sctp)://`)

// ownVariable are flags whose variables are read where the flags are: other rules hold between
// them, or the commands without these flags read them too.
var (
	ownVariable = []string{
		"data", "server", "store", "region", "endpoint", "api-key", "token", "output", "help",
	}
	ownVariableOfServe = []string{"oidc-issuer", "oidc-client-id", "help"}
)

// env returns the value of a variable, by its old name too. It warns of an old name once.
func (a *app) env(name string) string {
	if value := a.getenv(name); value != "" && !clusterPort.MatchString(value) {
		return value
	}
	old, ok := oldVariables[name]
	if !ok {
		return ""
	}
	value := a.getenv(old)
	if value != "" && old != locations.TableNameEnv && !a.warned[old] {
		if a.warned == nil {
			a.warned = map[string]bool{}
		}
		a.warned[old] = true
		a.remark("%s is the old name of %s and still works: rename it", old, name)
	}
	return value
}

// fromEnvironment gives flags of a command that were not given the values of their variables.
func (a *app) fromEnvironment(command *cobra.Command) error {
	var wrong error
	set := func(besides []string) func(*pflag.Flag) {
		return func(f *pflag.Flag) {
			if wrong != nil || f.Changed || slices.Contains(besides, f.Name) {
				return
			}
			name := variableOf(f.Name)
			if text := a.env(name); text != "" {
				wrong = setFlag(f, name, text)
			}
		}
	}
	command.InheritedFlags().VisitAll(set(ownVariable))
	if takesVariables(command) {
		command.LocalNonPersistentFlags().VisitAll(set(ownVariableOfServe))
	}
	return wrong
}

// takesVariables reports whether all flags of a command have variables.
func takesVariables(command *cobra.Command) bool {
	return command.Name() == "serve" || command.Name() == "dynamodb"
}

// setFlag sets a flag to the value of a variable.
func setFlag(f *pflag.Flag, name, text string) error {
	if text == "true" && f.NoOptDefVal != "" {
		text = f.NoOptDefVal
	}
	values := []string{text}
	// A rule of faults has commas of its own.
	if f.Value.Type() == "stringArray" && f.Name != "fault" {
		values = strings.Split(text, ",")
	}
	for _, value := range values {
		if err := f.Value.Set(value); err != nil {
			shown := fmt.Sprintf("invalid argument %q for \"--%s\" flag: %v", value, f.Name, err)
			return usagef("Correct or unset "+name, "%s: %s", name, sentence(shown))
		}
	}
	return nil
}

// checkVariables looks for variables that nothing reads: a setting that is ignored is worse than
// one that is refused. A server is not started with one; other commands go on with a warning.
func (a *app) checkVariables(command *cobra.Command) error {
	known := a.knownVariables(command.Root())
	for _, entry := range a.environ() {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(known, name) ||
			otherVariables.MatchString(name) || value == "" {
			continue
		}
		try := "Unset it"
		if near := nearest(name, known); near != "" {
			try = "Unset it, or rename it to " + near
		}
		if takesVariables(command) {
			return usagef(try, "There is no setting %s", name)
		}
		a.remark(
			"there is no setting %s, so it is ignored; %s",
			name,
			strings.ToLower(try[:1])+try[1:],
		)
	}
	return nil
}

func (a *app) environ() []string {
	if a.environment == nil {
		return os.Environ()
	}
	return a.environment
}

// knownVariables returns all variables that something reads.
func (a *app) knownVariables(root *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) { names = append(names, variableOf(f.Name)) }
	root.PersistentFlags().VisitAll(add)
	for _, command := range root.Commands() {
		if takesVariables(command) {
			command.LocalFlags().VisitAll(add)
		}
	}
	for name, old := range oldVariables {
		names = append(names, name, old)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nearestMax is how many characters may differ in a name that is suggested.
const nearestMax = 8

// nearest returns the known name that differs least from another one; "" if none is near.
func nearest(name string, known []string) string {
	best, least := "", nearestMax+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is how many characters must be changed, added or removed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
