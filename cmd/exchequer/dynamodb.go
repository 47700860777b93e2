package main

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
	"github.com/exchequer-dev/exchequer/server/endpoint"
)

// emulating are the flags of dynamodb.
type emulating struct {
	port                  int
	listen, host          string
	memory, open          bool
	names                 []string
	tables                []string
	parameters            map[string]string
	keys, faults          []string
	keyFile               string
	data                  bool // --data was given
	tableDelay            time.Duration
	archive               string
	logFormat, logMinimum string
}

// hostDefault and portDefault are where an endpoint listens: on this machine, at the port that
// programs expect a local DynamoDB on.
const (
	hostDefault = "127.0.0.1"
	portDefault = 8000
)

func (a *app) dynamodbCommand() *cobra.Command {
	var e emulating
	command := &cobra.Command{
		Use:   "dynamodb",
		Short: "Serve the embedded engine as a local DynamoDB, for any AWS SDK",
		Long: `Serve the embedded engine by the DynamoDB protocol, until a signal ends it: a local DynamoDB for
programs and tests that use any AWS SDK. Point them at http://127.0.0.1:8000; any credentials do.

With --data what was acknowledged is on the disk. With --memory nothing is kept. Without either, the
database is in a directory of this command alone, which the first line names: neither the books of the
other commands nor EXCHEQUER_DATA are served unless --data names them. Tables may be made at
the start from files: the input of CreateTable, the answer of DescribeTable, or a CloudFormation or SAM
template, as JSON or YAML.

Other machines are let in with --host 0.0.0.0 and --access-key-file FILE, which has a line ID:SECRET for
each key (EXCHEQUER_ACCESS_KEYS has them too, separated by commas), and then every request must be
signed with a key that was given; or with --host 0.0.0.0 and --open, whoever they are.

--fault makes the database as unkind as the service can be, for tests.`,
		Example: `  exchequer dynamodb --memory
  exchequer dynamodb --data ./db --tables template.yaml --parameter Stage=test
  exchequer dynamodb --memory --fault strict
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000`,
		GroupID: groupRun,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if set := command.InheritedFlags().Changed; set("store") || set("endpoint") {
				return usagef("Leave out --store and --endpoint",
					"dynamodb serves the embedded database")
			}
			e.data = command.Flags().Changed("data")
			own := command.Flags().Changed
			switch {
			case own("listen") && (own("host") || own("port")):
				return usagef("Leave --host and --port out",
					"--listen says the address and the port already")
			case own("host") || own("port"):
				e.listen = "" // Of the environment.
			}
			return a.emulate(command.Context(), e)
		},
	}
	f := command.Flags()
	f.StringVar(&e.listen, "listen", "", "`address` and port to listen on (default "+
		net.JoinHostPort(hostDefault, strconv.Itoa(portDefault))+"); in place of --host and --port")
	f.IntVar(&e.port, "port", portDefault, "`port` to listen on; 0 takes a free one")
	f.StringVar(&e.host, "host", hostDefault, "`address` to listen on")
	f.BoolVar(&e.memory, "memory", false, "keep everything in memory, and lose it at the end")
	f.StringArrayVar(&e.tables, "tables", nil, "`file` that defines tables to make at the start")
	f.StringToStringVar(&e.parameters, "parameter", nil,
		"`name=value` for a parameter of a template")
	f.StringArrayVar(
		&e.keys,
		"access-key",
		nil,
		"`id:secret` that requests must be signed with, visible to other users of this machine; may "+
			"be given again",
	)
	f.StringVar(&e.keyFile, "access-key-file", "",
		"`file` with a line id:secret for each key that requests must be signed with")
	f.BoolVar(&e.open, "open", false, "let other machines in, whoever they are")
	f.StringSliceVar(&e.names, "name", nil,
		"`name` under which it may be asked, besides localhost")
	f.StringArrayVar(&e.faults, "fault", nil,
		"`fault` to inject, such as strict (docs/faults.md)")
	f.DurationVar(&e.tableDelay, "table-delay", 0,
		"`time` that tables and indexes take to be created and deleted")
	f.StringVar(&e.archive, "archive", "",
		"`directory` whose folders are the buckets of exports and imports")
	f.StringVar(&e.logFormat, "log", "text", "`form` of the log: text or json")
	f.StringVar(&e.logMinimum, "log-level", "info",
		"least `level` that is logged: debug, info, warn, error")
	_ = command.MarkFlagDirname("archive")
	return command
}

func (a *app) emulate(ctx context.Context, e emulating) (err error) {
	if a.flags.server != "" {
		return usagef("Leave out --server, and unset "+envServer,
			"dynamodb starts a server and cannot speak to another one")
	}
	opts, err := a.endpointOptions(e)
	if err != nil {
		return err
	}
	fresh := isFresh(opts.DataDir)
	running, err := endpoint.Open(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Close()) }()
	if len(running.Created()) > 0 {
		a.remark("created %s", strings.Join(running.Created(), ", "))
	}
	listener, err := running.Listen(ctx,
		firstOf(e.listen, net.JoinHostPort(e.host, strconv.Itoa(e.port))))
	if err != nil {
		return err
	}
	from := opts.DataDir
	switch {
	case opts.Memory:
		from = "memory"
	case fresh:
		from += " (new)"
	}
	a.remark("DynamoDB on http://%s from %s", listener.Addr(), from)
	return running.Serve(ctx, listener)
}

func (a *app) endpointOptions(e emulating) (opts endpoint.Options, err error) {
	if e.memory && e.data {
		return opts, usagef("Leave one of them out", "--memory and --data exclude each other")
	}
	opts = endpoint.Options{
		Memory: e.memory, Open: e.open, Engine: engine.Options{Region: a.flags.region},
	}
	if !e.memory {
		if opts.DataDir, err = a.emulatedDir(e); err != nil {
			return opts, err
		}
	}
	if opts.Logger, err = a.logger(e.logFormat, e.logMinimum); err != nil {
		return opts, err
	}
	opts.Wire.Region, opts.Wire.AllowedHosts = a.flags.region, e.names
	keys, err := a.accessKeys(e)
	if err != nil {
		return opts, err
	}
	for _, key := range keys {
		id, secret, ok := strings.Cut(key, ":")
		if !ok || id == "" || secret == "" {
			return opts, usagef("--access-key ID:SECRET",
				"--access-key needs an id, a colon and a secret")
		}
		opts.Wire.AccessKeys = append(opts.Wire.AccessKeys,
			wire.AccessKey{ID: id, Secret: secret})
	}
	if opts.Engine.Faults, err = engine.ParseFaults(e.faults...); err != nil {
		return opts, usagef("See docs/faults.md", "%v", err)
	}
	opts.Engine.ArchiveDir = e.archive
	opts.Engine.TableDelay = e.tableDelay
	for _, file := range e.tables {
		definitions, err := endpoint.ReadDefinitions(file, e.parameters)
		if err != nil {
			return opts, usagef("See exchequer dynamodb --help", "%v", err)
		}
		opts.Definitions = append(opts.Definitions, definitions...)
	}
	return opts, nil
}

// emulatedDir returns the directory of the database. Callers of this command need no key and may
// delete every table, so it is never the directory of the books unless --data says so.
func (a *app) emulatedDir(e emulating) (string, error) {
	if e.data {
		return a.flags.data, nil
	}
	own := *a
	own.flags.data = ""
	dir, err := own.dataDir()
	return dir + "-dynamodb", err
}

// isFresh reports whether a directory has no database yet.
func isFresh(dir string) bool {
	entries, err := os.ReadDir(dir)
	return errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0
}

// envAccessKeys has keys that requests to dynamodb must be signed with, separated by commas.
const envAccessKeys = "EXCHEQUER_ACCESS_KEYS"

// accessKeys returns the keys of the flags, of the file and of the environment.
func (a *app) accessKeys(e emulating) ([]string, error) {
	keys := slices.Clone(e.keys)
	if e.keyFile != "" {
		raw, err := os.ReadFile(e.keyFile)
		if err != nil {
			return nil, usagef("--access-key-file FILE", "The file of access keys: %v", err)
		}
		found := false
		for line := range strings.Lines(string(raw)) {
			if line = strings.TrimSpace(line); line != "" {
				keys, found = append(keys, line), true
			}
		}
		if !found {
			return nil, usagef("A line id:secret for each key", "The file %s has no access key",
				e.keyFile)
		}
	}
	if text := a.getenv(envAccessKeys); text != "" {
		for key := range strings.SplitSeq(text, ",") {
			keys = append(keys, strings.TrimSpace(key))
		}
	}
	return keys, nil
}
