package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/transfer"
)

// copying are the flags of copy.
type copying struct {
	from, to   string
	tables     []string
	segments   int
	state      string
	verifyOnly bool
}

// differencesShown is how many differing items are named.
const differencesShown = 20

func (a *app) copyCommand() *cobra.Command {
	var c copying
	command := &cobra.Command{
		Use:   "copy",
		Short: "Copy a store to another one: out of one machine, and back",
		Long: `Copy tables from one store to another: their definitions, items, expiry, stream setting and tags. A
store is one of

  DIR                 a data directory of the embedded engine
  http://HOST:PORT    an endpoint that speaks the DynamoDB protocol
  dynamodb:REGION     Amazon DynamoDB, with the usual credentials

Stop writing to the source first. The command can be stopped at any time, by Ctrl-C or harder, and given
again: it goes on where it was. At the end both sides are read and compared, by number of items and a
checksum that does not depend on their order. The exit status is 8 when they differ.`,
		Example: `  exchequer copy --from ./books --to dynamodb:eu-west-1
  exchequer copy --from http://127.0.0.1:8000 --to ./copy --table Orders
  exchequer copy --from ./books --to ./copy --verify-only`,
		GroupID: groupStore,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return a.copyStore(command.Context(), c)
		},
	}
	f := command.Flags()
	f.StringVar(&c.from, "from", "", "the `store` to copy")
	f.StringVar(&c.to, "to", "", "the `store` to copy to")
	f.StringSliceVar(&c.tables, "table", nil, "`table` to copy (default all)")
	f.IntVar(&c.segments, "segments", transfer.SegmentsDefault,
		"`number` of readers that share a table")
	f.StringVar(&c.state, "state", "",
		"`file` that keeps how far the copy is (default in this user's cache)")
	f.BoolVar(&c.verifyOnly, "verify-only", false, "copy nothing; compare, and name what differs")
	_ = command.MarkFlagRequired("from")
	_ = command.MarkFlagRequired("to")
	return command
}

func (a *app) copyStore(ctx context.Context, c copying) (err error) {
	if c.from == c.to {
		return usagef("Name two stores", "--from and --to are the same")
	}
	from, closeFrom, err := openStore(ctx, c.from, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFrom.Close()) }()
	to, closeTo, err := openStore(ctx, c.to, !c.verifyOnly)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTo.Close()) }()
	var bar *progress
	table := ""
	opts := transfer.Options{
		Tables: c.tables, Segments: c.segments, State: c.state, From: c.from, To: c.to,
		Progress: func(p transfer.Progress) {
			deed := "copying "
			if p.Checking {
				deed = "checking "
			}
			if bar == nil || table != deed+p.Table {
				if bar != nil {
					bar.clear()
				}
				table = deed + p.Table
				bar = a.newProgress(table+":", "item", int(max(p.Total, p.Items)))
			}
			bar.set(int(p.Items), "")
		},
	}
	if c.verifyOnly {
		return a.verifyCopy(ctx, from, to, opts, &bar)
	}
	if opts.State == "" {
		if opts.State, err = copyState(c.from, c.to); err != nil {
			return err
		}
	}
	results, err := transfer.Copy(ctx, from, to, opts)
	if bar != nil {
		bar.clear()
	}
	if printErr := a.copied(results); printErr != nil {
		return printErr
	}
	next := "the same command again: it goes on where it was"
	if errors.Is(err, transfer.ErrDiffers) {
		next = "--verify-only, which names the items; and was the source written to meanwhile?"
	}
	return a.copyFailure(ctx, err, next)
}

func (a *app) verifyCopy(ctx context.Context, from, to transfer.Store, opts transfer.Options,
	bar **progress,
) error {
	results, found, err := transfer.Verify(ctx, from, to, opts, differencesShown)
	if *bar != nil {
		(*bar).clear()
	}
	if printErr := a.copied(results); printErr != nil {
		return printErr
	}
	for _, d := range found {
		a.remark("%s: %s %s", d.Table, d.What, dynamo.Item(d.Key))
	}
	return a.copyFailure(ctx, err, "a copy to an empty place, while nothing writes to the source")
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

// copyFailure says how a copy ended.
func (a *app) copyFailure(ctx context.Context, err error, next string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &failure{exit: exitStopped, text: "stopped; what is copied stays copied", try: next}
	case errors.Is(err, transfer.ErrDiffers):
		return &failure{
			exit: exitDiffers, text: sentence(err.Error()),
			try: next,
		}
	}
	return err
}

// copyState is where a copy keeps how far it is: the same file for the same two stores.
func copyState(from, to string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", usagef("--state FILE", "There is no place to keep how far the copy is: %v", err)
	}
	sum := sha256.Sum256([]byte(from + "\x00" + to))
	return filepath.Join(dir, "exchequer", "copy-"+hex.EncodeToString(sum[:8])+".json"), nil
}

// regionPrefix begins the name of a store in Amazon DynamoDB.
const regionPrefix = "dynamodb:"

// openStore opens one side of a copy. A directory that is to be read must be there.
func openStore(ctx context.Context, name string, create bool) (transfer.Store, io.Closer, error) {
	region, cloud := strings.CutPrefix(name, regionPrefix)
	if cloud || strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		opts := awssdk.Options{Region: region}
		if !cloud {
			opts = awssdk.Options{Endpoint: name}
		}
		db, err := awssdk.Open(ctx, opts)
		if err != nil {
			return nil, nil, usagef("A region, or an address such as http://127.0.0.1:8000", "%v", err)
		}
		return db, db, nil
	}
	if _, err := os.Stat(name); err != nil && !create {
		return nil, nil, usagef("The name of a data directory, an address or dynamodb:REGION",
			"There is no store %s: %v", name, err)
	}
	db, err := engine.Open(name, engine.Options{})
	if err != nil {
		return nil, nil, err
	}
	return db, db, nil
}
