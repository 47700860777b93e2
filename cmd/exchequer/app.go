package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// The environment that the program reads. A flag goes before its variable.
const (
	envData   = "EXCHEQUER_DATA"
	envServer = "EXCHEQUER_SERVER"
	envAPIKey = "EXCHEQUER_API_KEY"
	envOutput = "EXCHEQUER_OUTPUT"

	envStore    = "EXCHEQUER_STORE"
	envRegion   = "EXCHEQUER_REGION"
	envEndpoint = "EXCHEQUER_ENDPOINT"

	// These shape the server that a command puts together in its own process, and serve.
	envTable  = "EXCHEQUER_TABLE"
	envTenant = "EXCHEQUER_TENANT"
	envZone   = "EXCHEQUER_ZONE"
	envShards = "EXCHEQUER_STATUS_SHARDS"
	envFiles  = "EXCHEQUER_FILES"
)

// The groups of commands in the help text.
const (
	groupMoney = "money"
	groupStore = "store"
	groupRun   = "run"
)

// flags are those that every command has.
type flags struct {
	data, server            string
	apiKey, token           string
	store, region, endpoint string
	output                  string
	quiet, usage            bool
	timeout                 time.Duration

	rates           rateFlags
	locationIndexes []string // of serve; without it the environment says
	locationShards  int

	paymentAttempts int // of the demo; without it the environment says
}

const rootLong = `Exchequer keeps double-entry books in one DynamoDB table and moves money exactly once.

Without --server a command works on the data directory by itself; only one process at a time can do
that. With --server it speaks to one that runs. With --store dynamodb the books are in Amazon
DynamoDB, with the settings and credentials of every AWS tool, or at an --endpoint that speaks its
protocol; any number of processes can work on them.

Environment: each flag below, and each of serve and dynamodb, has a variable, EXCHEQUER_ and its name
in capitals with _ for -, such as EXCHEQUER_API_KEY or EXCHEQUER_STATUS_SHARDS. A flag goes before its
variable. Those of serve shape the store of every command that works by itself. docs/settings.md has all.
Without EXCHEQUER_DATA the data directory is exchequer in XDG_DATA_HOME, or where this system keeps data
of programs, such as ~/.local/share/exchequer. DYNAMODB_TABLE_NAME is the table of locations.

Exit status:
` + exitStatuses

// run carries out one command line and returns the exit status.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var f *failure
	if !a.started && !errors.As(err, &f) {
		err = usagef(command.CommandPath()+" --help", "%s", sentence(err.Error()))
	}
	a.explain(err)
	return exitOf(err)
}

// flagGroup finds the flags in the library's error about flags that belong together.
var flagGroup = regexp.MustCompile(`flags in the group \[([^\]]+)\]`)

// badValue finds the parts of the library's error about a flag whose value it cannot read.
var badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-\w, )?(--[\w-]+)" flag: (.*)$`)

// takes returns what a flag takes, by how the reason begins for which its value was not read.
var takes = []struct{ reason, what string }{
	{"strconv.ParseInt", "a whole number"}, {"strconv.ParseUint", "a whole number, zero or more"},
	{"strconv.ParseFloat", "a number"}, {"strconv.ParseBool", "true or false"},
	{"time: ", "a time such as 90s, 30m or 1h30m"},
}

// sentence makes the texts of the library that reads the command line look like ours.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if bad := badValue.FindStringSubmatch(first); bad != nil {
		if strings.HasSuffix(bad[3], "value out of range") {
			return fmt.Sprintf("%s is %s, which is out of range", bad[2], bad[1])
		}
		for _, t := range takes {
			if strings.HasPrefix(bad[3], t.reason) {
				return fmt.Sprintf("%s is %q and takes %s", bad[2], bad[1], t.what)
			}
		}
		return fmt.Sprintf("%s is %q: %s", bad[2], bad[1], bad[3])
	}
	if group := flagGroup.FindStringSubmatch(first); group != nil {
		flags := "--" + strings.ReplaceAll(group[1], " ", " or --")
		if strings.HasPrefix(first, "at least one") {
			return "Give " + flags
		}
		return "Give only one of " + flags
	}
	return strings.ToUpper(first[:1]) + first[1:]
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:               "exchequer",
		Short:             "Move money exactly once, on a ledger in a single DynamoDB table",
		Long:              rootLong,
		Args:              cobra.NoArgs,
		RunE:              help,
		PersistentPreRunE: a.start,
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.AddGroup(
		&cobra.Group{ID: groupMoney, Title: "Money:"},
		&cobra.Group{ID: groupStore, Title: "The store:"},
		&cobra.Group{ID: groupRun, Title: "Running:"},
	)
	root.SetHelpCommandGroupID(groupRun)
	root.SetCompletionCommandGroupID(groupRun)
	a.globalFlags(root)
	root.AddCommand(
		a.ledgerCommand(), a.paymentsCommand(),
		a.locationsCommand(),
		a.ratesCommand(), a.statementsCommand(),
		a.tablesCommand(), a.patternsCommand(), a.keysCommand(), a.whoamiCommand(), a.copyCommand(),
		a.serveCommand(), a.dynamodbCommand(), a.demoCommand(), a.versionCommand(),
	)
	a.markStart(root)
	return root
}

// markStart notes for all commands when they begin: until then every error is about the command
// line, wherever it comes from.
func (a *app) markStart(command *cobra.Command) {
	if run := command.RunE; run != nil {
		command.RunE = func(command *cobra.Command, args []string) error {
			a.started = true
			return run(command, args)
		}
	}
	for _, below := range command.Commands() {
		a.markStart(below)
	}
}

func (a *app) globalFlags(root *cobra.Command) {
	p := root.PersistentFlags()
	p.StringVar(&a.flags.data, "data", a.getenv(envData),
		"data `directory` of the embedded database (default: this user's)")
	p.StringVar(&a.flags.server, "server", a.getenv(envServer),
		"`address` of a running server, such as http://127.0.0.1:8080")
	p.StringVar(&a.flags.store, "store", firstOf(a.getenv(envStore), storeEmbedded),
		"`place` of the books: embedded (the data directory) or dynamodb")
	p.StringVar(&a.flags.region, "region", a.getenv(envRegion),
		"AWS `region` of the store (default: that of the environment or profile)")
	p.StringVar(&a.flags.endpoint, "endpoint", a.getenv(envEndpoint),
		"`address` of a store that speaks DynamoDB's protocol, such as http://127.0.0.1:8000")
	p.StringVar(&a.flags.apiKey, "api-key", "", "API `key` for the server")
	p.StringVar(&a.flags.token, "token", "", "`token` of a user for the server, in place of a key")
	p.StringVarP(&a.flags.output, "output", "o", firstOf(a.getenv(envOutput), outputTable),
		"`form` of what is printed: table, json or csv")
	p.BoolVarP(&a.flags.quiet, "quiet", "q", false, "print results only: no progress, no remarks")
	p.DurationVar(&a.flags.timeout, "timeout", 0, "longest `time` to wait for a server or a store "+
		"that does not answer or go on (default "+timeoutsText+")")
	p.BoolVar(&a.flags.usage, "usage", false,
		"tell what the command took: calls and capacity units")
	_ = root.RegisterFlagCompletionFunc("output", fixed(outputs...))
	_ = root.RegisterFlagCompletionFunc("store", fixed(storeEmbedded, storeDynamoDB))
	_ = root.MarkPersistentFlagDirname("data")
}

// start checks what all commands share, once the command line was understood.
func (a *app) start(command *cobra.Command, _ []string) error {
	if err := a.checkVariables(command); err != nil {
		return err
	}
	if err := a.fromEnvironment(command); err != nil {
		return err
	}
	if !slices.Contains(outputs, a.flags.output) {
		return usagef("--output table", "There is no output %q; choose table, json or csv",
			a.flags.output)
	}
	if err := checkGiven(command); err != nil {
		return err
	}
	set := command.Flags().Changed
	if set("server") && set("data") {
		return usagef("Leave one of them out", "--server and --data exclude each other")
	}
	if set("data") {
		a.flags.server = ""
	}
	if a.flags.timeout < 0 {
		return usagef("--timeout 30s", "--timeout is %s, which is no time to wait", a.flags.timeout)
	}
	if err := a.checkStore(command); err != nil {
		return err
	}
	return a.credentials(command)
}

// help is what a command does that only has others below it.
func help(command *cobra.Command, _ []string) error { return command.Help() }

// group returns a command that only has others below it.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs, RunE: help}
	g.AddCommand(commands...)
	return g
}

// timeoutsText returns how long commands wait by themselves.
var timeoutsText = fmt.Sprintf("%s for a server, %s in long work; %s for a call to a store",
	shortTime(client.TimeoutDefault), shortTime(client.LongTimeoutDefault),
	shortTime(awssdk.TimeoutDefault))

// shortTime shows a time without units that are zero.
func shortTime(d time.Duration) string {
	text := d.String()
	text = strings.TrimSuffix(text, "m0s")
	if text != d.String() {
		text += "m"
	}
	return text
}

func fixed(words ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// dataDir returns the data directory: that of the flag or its variable, or else one of the user's
// own, so that the books are the same whatever directory a command is given in.
func (a *app) dataDir() (string, error) {
	if a.flags.data != "" {
		return a.flags.data, nil
	}
	if dir := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "exchequer"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usagef("Give --data or set "+envData, "There is no place for data: %v", err)
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "exchequer"), nil
	case "windows":
		if dir := a.getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "exchequer"), nil
		}
	}
	return filepath.Join(home, ".local", "share", "exchequer"), nil
}

// serverOptions returns the options that every server of this process has.
func (a *app) serverOptions() (server.Options, error) {
	dir, err := a.dataDir()
	if err != nil {
		return server.Options{}, err
	}
	opts := server.Options{
		DataDir: dir, DynamoDB: a.dynamoDB(),
		TableName: a.env(envTable), Tenant: a.env(envTenant),
		FilesURL: a.env(envFiles), User: person.Subject(a.env(envUser)),
		Version: versionText(),
	}
	if text := a.env(envShards); text != "" {
		if opts.StatusShards, err = strconv.Atoi(text); err != nil {
			return opts, usagef("Set it to a number", "%s is %q", envShards, text)
		}
	}
	if opts.Payments, err = a.paymentOptions(); err != nil {
		return opts, err
	}
	if err := a.rateOptions(&opts); err != nil {
		return opts, err
	}
	if opts.Locations, err = a.locationOptions(); err != nil {
		return opts, err
	}
	if name := a.env(envZone); name != "" {
		if opts.Zone, err = zone(name); err != nil {
			return opts, err
		}
	}
	return opts, nil
}

func zone(name string) (*time.Location, error) {
	z, err := time.LoadLocation(name)
	if err != nil {
		return nil, usagef("A name such as Pacific/Auckland", "There is no time zone %q", name)
	}
	return z, nil
}

// inProcess is the address under which requests reach the server of this process. No socket is
// opened for it.
const inProcess = "http://127.0.0.1"

// connect returns a client of the server to speak to, and what has to be closed after it.
func (a *app) connect(
	ctx context.Context, tables server.Tables,
) (*client.Client, io.Closer, error) {
	agent := "exchequer/" + versionText()
	if a.flags.server != "" {
		c, err := client.New(a.flags.server, client.Options{
			Key: a.flags.apiKey, Token: a.flags.token, UserAgent: agent,
			Timeout: a.flags.timeout, LongTimeout: a.flags.timeout,
		})
		if err != nil {
			return nil, nil, usagef("--server http://127.0.0.1:8080", "%v", err)
		}
		return c, io.NopCloser(nil), nil
	}
	opts, err := a.serverOptions()
	if err != nil {
		return nil, nil, err
	}
	opts.Tables = tables
	if opts.DynamoDB != nil {
		opts.Limits.Answer = tablesTime
	}
	s, err := server.Open(ctx, opts)
	if err != nil {
		return nil, nil, err
	}
	c, err := client.New(inProcess, client.Options{
		Transport: s.Transport(), UserAgent: agent,
		Timeout: -1, LongTimeout: -1, // The store has a bound of its own.
	})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return c, s, nil
}

// call is what a command does with a client.
type call func(ctx context.Context, c *client.Client, args []string) error

// with returns the function of a command that needs a client.
func (a *app) with(do call) func(*cobra.Command, []string) error {
	return a.withTables(server.TablesCreate, do)
}

// withTables is with for commands that do not want missing tables to be created.
func (a *app) withTables(tables server.Tables, do call) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) (err error) {
		ctx := command.Context()
		c, closer, err := a.connect(ctx, tables)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closer.Close()) }()
		if !a.flags.usage {
			return do(ctx, c, args)
		}
		var used client.Usage
		begin := time.Now()
		err = do(client.WithUsage(ctx, &used), c, args)
		a.remark("%s", usageText(used, time.Since(begin)))
		return err
	}
}

// usageText returns what calls took.
func usageText(u client.Usage, took time.Duration) string {
	return fmt.Sprintf("%s, %s to the store, %s, %s, %s",
		count(u.Requests, "request"), count(u.Calls, "call"), readUnits(u.ReadUnits),
		writeUnits(u.WriteUnits), duration(took))
}

// remark writes something that is not the result, unless the user wants results only.
func (a *app) remark(format string, args ...any) {
	if !a.flags.quiet {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}
