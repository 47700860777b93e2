package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/transfer"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// copying are the flags of copy.
type copying struct {
	from, to              string
	tables                []string
	segments              int
	resume                string
	overwrite, verifyOnly bool
}

// The values of --resume that are no files.
const (
	resumeDefault = "default" // a file in this user's cache
	resumeNone    = "none"    // no file
)

// differencesShown is how many differing items of a table are named.
const differencesShown = 20

func (a *app) copyCommand() *cobra.Command {
	var c copying
	command := &cobra.Command{
		Use:   "copy",
		Short: "Copy a store to another one: out of one machine, and back",
		Long: `Copy tables from one store to another: their definitions, items, expiry, stream setting and tags, but
not the bank files that people uploaded. A store is one of

  DIR or engine:DIR   a data directory of the embedded engine
  http://HOST:PORT    an endpoint that speaks the DynamoDB protocol
  dynamodb:REGION     Amazon DynamoDB, with the usual credentials

Stop writing to the source first. The command can be stopped at any time, by Ctrl-C or harder, and given
again: it goes on where it was. At the end both sides are read and compared, by number of items and a
checksum that does not depend on their order. The exit status is 8 when they differ, and 5 when a table
on the other side is in the way: one that is defined otherwise, or has items and no --overwrite is given.

With --verify-only, keys, indexes, expiry, stream and deletion protection are compared too. Each item that
differs is read again: the exit status is 9 when all that differed was written in the meantime.`,
		Example: `  exchequer copy --from ./books --to dynamodb:eu-west-1
  exchequer copy --from http://127.0.0.1:8000 --to ./copy --table Orders
  exchequer copy --from ./books --to ./copy --verify-only`,
		GroupID: groupStore,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			for _, flag := range []string{"data", "server", "store", "region", "endpoint"} {
				if command.InheritedFlags().Changed(flag) {
					return usagef("--from and --to, which name the stores",
						"copy has no --%s", flag)
				}
			}
			return a.copyStore(command.Context(), c)
		},
	}
	f := command.Flags()
	f.StringVar(&c.from, "from", "", "the `store` to copy")
	f.StringVar(&c.to, "to", "", "the `store` to copy to")
	f.StringSliceVar(&c.tables, "table", nil, "`table` to copy; may be given again (default all)")
	f.IntVar(&c.segments, "segments", transfer.SegmentsDefault,
		"`number` of readers that share a table")
	f.StringVar(
		&c.resume,
		"resume",
		resumeDefault,
		"`file` that keeps how far the copy is; default is one in this user's cache, none keeps nothing",
	)
	f.BoolVar(&c.overwrite, "overwrite", false,
		"replace the items of tables that have some: in the end only those of the source are there")
	f.BoolVar(&c.verifyOnly, "verify-only", false, "copy nothing; compare, and name what differs")
	_ = command.MarkFlagRequired("from")
	_ = command.MarkFlagRequired("to")
	command.MarkFlagsMutuallyExclusive("overwrite", "verify-only")
	return command
}

func (a *app) copyStore(ctx context.Context, c copying) (err error) {
	opts, err := c.options()
	if err != nil {
		return err
	}
	from, closeFrom, err := openStore(ctx, opts.From, false, a.flags.timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFrom.Close()) }()
	to, closeTo, err := openStore(ctx, opts.To, !c.verifyOnly, a.flags.timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTo.Close()) }()
	bar := &copyBar{app: a}
	opts.Progress = bar.set
	if c.verifyOnly {
		return a.verifyCopy(ctx, from, to, opts, bar)
	}
	results, err := transfer.Copy(ctx, from, to, opts)
	bar.clear()
	if printErr := a.copied(results); printErr != nil {
		return printErr
	}
	if err == nil {
		a.remarkFiles(results)
		return nil
	}
	return copyFailure(ctx, err, opts.State != "")
}

// options checks the flags.
func (c copying) options() (transfer.Options, error) {
	opts := transfer.Options{
		Tables: c.tables, Segments: c.segments, Overwrite: c.overwrite,
	}
	if c.segments < 1 || c.segments > transfer.SegmentsMax {
		return opts, usagef("--segments 8", "--segments must be 1 to %d", transfer.SegmentsMax)
	}
	var err error
	if opts.From, err = storeName(c.from); err != nil {
		return opts, err
	}
	if opts.To, err = storeName(c.to); err != nil {
		return opts, err
	}
	if opts.From == opts.To {
		return opts, usagef("Name two stores", "--from and --to are the same")
	}
	switch c.resume {
	case resumeNone:
	case resumeDefault:
		opts.State, err = copyState(opts)
	default:
		opts.State = c.resume
	}
	return opts, err
}

// copyState is where a copy keeps how far it is: the same file for the same two stores and tables.
func copyState(opts transfer.Options) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", usagef("--resume FILE", "There is no place to keep how far the copy is: %v", err)
	}
	what := slices.Concat([]string{opts.From, opts.To}, slices.Sorted(slices.Values(opts.Tables)))
	sum := sha256.Sum256([]byte(strings.Join(what, "\x00")))
	return filepath.Join(dir, "exchequer", "copy-"+hex.EncodeToString(sum[:8])+".json"), nil
}

// copyBar shows how far a copy is: a bar for each stage of each table.
type copyBar struct {
	app   *app
	bar   *progress
	stage string
}

func (b *copyBar) set(p transfer.Progress) {
	stage := string(p.Stage) + " " + p.Table
	if b.bar == nil || b.stage != stage {
		b.clear()
		b.stage = stage
		b.bar = b.app.newProgress(stage+":", "item", int(p.Total))
		b.bar.before = int(p.Before)
	}
	remark := ""
	if p.Waiting != nil {
		remark = "waiting: " + grid.Plain(p.Waiting.Error())
	}
	b.bar.set(int(p.Items), remark)
}

func (b *copyBar) clear() {
	if b.bar != nil {
		b.bar.clear()
	}
}

// copied prints what was copied or compared.
func (a *app) copied(results []transfer.Result) error {
	type result = transfer.Result
	if len(results) == 0 {
		return nil // why, the error says
	}
	return page(a, []column[result]{
		col("TABLE", func(r result) string { return r.Table }),
		num("ITEMS", func(r result) string { return thousands(int(r.Items)) }),
		num("COPIED BEFORE", func(r result) string { return thousands(int(r.CopiedBefore)) }),
		col("CHECKSUM", func(r result) string { return r.Checksum }),
	}, whole(results), "")
}

// remarkFiles returns what a copy of bank statements leaves behind, because nothing shows later why
// a file is missing.
func (a *app) remarkFiles(results []transfer.Result) {
	if slices.ContainsFunc(results, func(r transfer.Result) bool {
		return r.Table == statements.TableNameDefault && r.Items > 0
	}) {
		a.remark("uploaded bank files are not copied: copy the folder %s by hand, "+
			"or keep them in a bucket", server.FilesDir)
	}
}

func (a *app) verifyCopy(ctx context.Context, from, to transfer.Store, opts transfer.Options,
	bar *copyBar,
) error {
	results, found, err := transfer.Verify(ctx, from, to, opts, differencesShown)
	bar.clear()
	if len(found) == 0 {
		if printErr := a.copied(results); printErr != nil {
			return printErr
		}
	} else if printErr := a.differing(found); printErr != nil {
		return printErr
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, transfer.ErrDiffers):
		return &failure{
			exit: exitDiffers, text: oneSentence(err),
			try: "a copy with --overwrite, while nothing writes to the source",
		}
	case errors.Is(err, transfer.ErrUndecided):
		return &failure{
			exit: exitUndecided, text: oneSentence(err),
			try: "the same command again, while nothing writes to either side",
		}
	}
	return copyFailure(ctx, err, false)
}

// difference is what is printed of an item that differs.
type difference struct {
	Table      string          `json:"table"`
	Difference transfer.What   `json:"difference"`
	Key        json.RawMessage `json:"key,omitempty"` // as DynamoDB's tools take it
	// Definition is the part of the definition of the table that differs.
	Definition string `json:"definition,omitempty"`
}

// differing prints the first items that differ.
func (a *app) differing(found []transfer.Difference) error {
	rows := make([]difference, len(found))
	for i, d := range found {
		if d.What == transfer.Defined {
			rows[i] = difference{Table: d.Table, Difference: d.What, Definition: d.Text}
			continue
		}
		key := make(map[string]map[string]string, len(d.Key))
		for name, v := range d.Key {
			text := v.S() + v.N() + base64.StdEncoding.EncodeToString(v.B())
			key[name] = map[string]string{v.Kind().String(): text}
		}
		raw, err := json.Marshal(key)
		if err != nil {
			return err
		}
		rows[i] = difference{Table: d.Table, Difference: d.What, Key: raw}
	}
	a.remark("the first %d items that differ of each table:", differencesShown)
	return page(a, []column[difference]{
		col("TABLE", func(d difference) string { return d.Table }),
		col("DIFFERENCE", func(d difference) string { return string(d.Difference) }),
		col("KEY", func(d difference) string { return string(d.Key) + d.Definition }),
	}, whole(rows), "")
}

// copyFailure returns how a copy ended, and what to do about it.
func copyFailure(ctx context.Context, err error, resumable bool) error {
	again := "the same command again"
	if resumable {
		again += ": it goes on where it was"
	}
	var refused *transfer.RefusedError
	var state *transfer.StateError
	switch {
	case ctx.Err() != nil:
		return &failure{exit: exitStopped, text: "Stopped; what is copied stays copied", try: again}
	case errors.Is(err, transfer.ErrDiffers):
		return &failure{
			exit: exitDiffers, text: oneSentence(err),
			try: "--verify-only, which names the items; was the source written to meanwhile? " +
				"--overwrite copies again",
		}
	case errors.As(err, &refused):
		try := "rename it there or delete it"
		if len(refused.Differences) == 0 {
			try = "--overwrite if they are not needed, or delete the table there"
		}
		return &failure{exit: exitConflict, text: oneSentence(err), try: try}
	case errors.As(err, &state):
		return &failure{
			exit: exitUsage, text: oneSentence(err),
			try: "--resume with another file, or delete this one",
		}
	case errors.Is(err, dynamo.ErrResourceNotFound):
		return &failure{
			exit: exitNotFound, text: oneSentence(err), try: "--table with the name of a table",
		}
	case dynamo.Retryable(err):
		return &failure{
			exit: exitUnavailable, text: "A store does not answer: " + err.Error(),
			try: "see that it runs, and then " + again,
		}
	}
	return err
}

// oneSentence makes a sentence of an error, which may join several.
func oneSentence(err error) string {
	return sentence(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// The beginnings of the names of stores.
const (
	enginePrefix = "engine:"
	regionPrefix = "dynamodb:"
)

// storeName returns the full name of a store, which is the same wherever the command is given.
func storeName(name string) (string, error) {
	if strings.HasPrefix(name, regionPrefix) {
		return name, nil
	}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return strings.TrimRight(name, "/"), nil
	}
	dir := strings.TrimPrefix(name, enginePrefix)
	if dir == "" {
		return "", usagef("A data directory, an address or dynamodb:REGION",
			"The name of a store is empty")
	}
	dir, err := filepath.Abs(dir)
	return enginePrefix + dir, err
}

// speaksDynamoDB asks an address for its tables. An address that answers, but not by the protocol,
// is most often that of a server of the API.
func speaksDynamoDB(ctx context.Context, db *awssdk.DB, name string) error {
	if strings.HasPrefix(name, regionPrefix) {
		return nil
	}
	_, err := db.ListTables(ctx, &dynamo.ListTablesInput{Limit: 1})
	if err == nil || ctx.Err() != nil || dynamo.Retryable(err) {
		return nil // What is in the way is met again, and said, by the copy.
	}
	var refusal *dynamo.Error
	if errors.As(err, &refusal) && strings.HasSuffix(string(refusal.Code), "Exception") {
		return err
	}
	return &failure{
		exit: exitUsage,
		text: name + " does not speak the DynamoDB protocol, so nothing can be copied from or to it",
		try: "If it is a server that exchequer serve started, stop it and give its data directory; an " +
			"endpoint is what exchequer dynamodb serves",
	}
}

// lockFile is in every data directory.
const lockFile = "LOCK"

// openStore opens one side of a copy by its full name. A directory that is to be read must be
// there.
func openStore(
	ctx context.Context, name string, create bool, timeout time.Duration,
) (transfer.Store, io.Closer, error) {
	dir, embedded := strings.CutPrefix(name, enginePrefix)
	if !embedded {
		opts := awssdk.Options{Endpoint: name, Timeout: timeout}
		if region, ok := strings.CutPrefix(name, regionPrefix); ok {
			opts = awssdk.Options{Region: region, Timeout: timeout}
		}
		db, err := awssdk.Open(ctx, opts)
		if err != nil {
			return nil, nil, usagef("A region, or an address such as http://127.0.0.1:8000",
				"%v", err)
		}
		if err := speaksDynamoDB(ctx, db, name); err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
		return db, db, nil
	}
	if _, err := os.Stat(filepath.Join(dir, lockFile)); err != nil && !create {
		return nil, nil, usagef("A data directory, an address or dynamodb:REGION",
			"There is no store in %s", dir)
	}
	// Nothing expires while it is copied.
	db, err := engine.Open(dir, engine.Options{SweepInterval: -1})
	var inUse *engine.InUseError
	switch {
	case errors.As(err, &inUse):
		return nil, nil, &failure{
			exit: exitUnavailable, text: heldBy(inUse),
			try: "stop it; or give the address of an endpoint in place of the directory",
		}
	case err != nil:
		return nil, nil, err
	}
	return db, db, nil
}
