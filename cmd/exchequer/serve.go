package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// serving are the flags of serve.
type serving struct {
	listen                string
	signing               signing
	hosts                 []string
	table, tenant, zone   string
	files                 string
	limits                server.Limits
	quota                 statements.Quota
	shards                int
	logFormat, logMinimum string
	payments              scheduling
}

func (a *app) serveCommand() *cobra.Command {
	var s serving
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API over the store",
		Long: `Serve the HTTP API over the data directory, or over the store that --store names, until a signal ends
it. Requests in work are finished.

Without authentication the server listens on this machine only, and has one user (--user). To listen
elsewhere, create an API key first and start with --auth keys; or name the issuer that users sign in
with and the app that they do it with, and their tokens open their own data.`,
		Example: `  exchequer serve
  exchequer keys create --name shop --scope ledger:read --scope ledger:write
  exchequer serve --auth keys --listen 0.0.0.0:8080
  exchequer serve --oidc-issuer https://login.example.com --oidc-client-id books --listen 0.0.0.0:8080
  exchequer serve --run-payments
  exchequer serve --store dynamodb --region eu-central-1`,
		GroupID: groupRun,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return a.serve(command.Context(), s)
		},
	}
	f := command.Flags()
	f.StringVar(&s.listen, "listen", server.AddressDefault, "`address` and port to listen on")
	s.signing.add(f)
	f.StringSliceVar(&s.hosts, "host", nil, "`name` under which it may be asked, besides localhost")
	f.StringVar(&s.table, "table", "", "`name` of the ledger's table")
	f.StringVar(&s.files, "files", "", "`URL` of the bucket for files that people upload, such as "+
		"s3://bucket?region=eu-central-1 (default: the folder files of the data directory)")
	f.IntVar(&s.quota.Files, "quota-files", statements.QuotaFiles,
		"maximum `number` of uploaded files of one person; -1 is no bound")
	f.Int64Var(&s.quota.Bytes, "quota-bytes", statements.QuotaBytes,
		"greatest `size` of all uploaded files of one person in bytes; -1 is no bound")
	f.Int64Var(&s.limits.FreeDisk, "free-disk", server.FreeDiskMin,
		"free `bytes` of disk that uploads leave to the books; -1 is none")
	f.Int64Var(&s.limits.Spool, "restore-disk", server.SpoolMax,
		"maximum `bytes` of disk for all archives that are being restored, in the folder for "+
			"temporary files")
	f.IntVar(&s.limits.Streams, "streams", server.StreamsMax,
		"maximum `number` of concurrent downloads and other long answers, and of uploads")
	f.StringVar(&s.tenant, "tenant", "", "`scope` of idempotency keys, and of nothing "+
		"else: accounts and lists are those of the whole table")
	f.StringVar(&s.zone, "zone", "", "time `zone` in which calendar days begin (default UTC)")
	f.IntVar(&s.shards, "status-shards", 0, "`number` of partitions for "+
		"transactions of one status, stored with the first posting (default 1)")
	a.locationFlags(f)
	a.flags.rates.add(f)
	s.payments.add(f)
	f.StringVar(&s.logFormat, "log", "text", "`form` of the log: text or json")
	f.StringVar(&s.logMinimum, "log-level", "info",
		"least `level` that is logged: debug, info, warn, error")
	return command
}

func (a *app) serve(ctx context.Context, s serving) (err error) {
	if a.flags.server != "" {
		return usagef("Leave out --server, and unset "+envServer,
			"serve starts a server and cannot speak to another one")
	}
	opts, err := a.serverOptions()
	if err != nil {
		return err
	}
	s.payments.apply(&opts)
	s.signing.apply(a, &opts)
	opts.Hosts = s.hosts
	opts.Limits, opts.Statements.Quota = s.limits, s.quota
	opts.TableName = firstOf(s.table, opts.TableName)
	opts.Tenant = firstOf(s.tenant, opts.Tenant)
	opts.FilesURL = firstOf(s.files, opts.FilesURL)
	if s.shards > 0 {
		opts.StatusShards = s.shards
	}
	if s.zone != "" {
		if opts.Zone, err = zone(s.zone); err != nil {
			return err
		}
	}
	if opts.Logger, err = a.logger(s.logFormat, s.logMinimum); err != nil {
		return err
	}
	running, err := server.Open(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Close()) }()
	if err := running.CheckLayout(); err != nil {
		return layoutFailure(err)
	}
	listener, err := running.Listen(ctx, s.listen)
	if err != nil {
		return err
	}
	a.remark("serving http://%s (API: /docs) from %s", listener.Addr(),
		a.place(opts.DataDir))
	return running.Serve(ctx, listener)
}

func (a *app) logger(form, minimum string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(minimum))); err != nil {
		return nil, usagef("--log-level info", "There is no level %q", minimum)
	}
	if a.flags.quiet {
		level = max(level, slog.LevelWarn)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch form {
	case "text":
		return slog.New(slog.NewTextHandler(a.err, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.err, opts)), nil
	}
	return nil, usagef("--log text", "There is no log %q; choose text or json", form)
}

// layoutFailure returns the error of a server whose tables or settings differ from what is stored.
func layoutFailure(err error) error {
	f := &failure{
		exit: exits[problem.Refused], text: sentence(err.Error()),
		try: "Leave the setting out, and unset its variable",
	}
	if _, ok := errors.AsType[*singletable.DriftError](err); ok {
		f.text, f.try = err.Error(), "exchequer tables check"
	}
	return f
}
