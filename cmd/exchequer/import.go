package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/sheet"
)

// importing are the flags of an import.
type importing struct {
	concurrency  int
	report       string
	keep         []string
	keyColumn    string
	noKeys       bool
	allowRefused bool
}

const importLong = `Post a file of payments. It is CSV with a line of column names, or JSON with one object a line:

  key          idempotency key, which names the row
  type         payment, transfer, deposit, withdrawal or another word
  from, to     accounts that are debited and credited; a deposit needs no from, a withdrawal no to,
               and a row with a merchant no to
  amount       exact, with a decimal point
  currency     code of ISO 4217
  merchant     id of the merchant
  description  any text, newlines included

Columns come in any order. Others are left out, unless --keep names them: then they become metadata.
JSON may have metadata as an object, and legs as an array of {account, type, amount, currency}.

If another column names the rows, give it with --key-column. A file without keys is refused, unless
--no-keys is given: then a row is identified by its content, and of equal rows by its occurrence, in
whatever way the file is saved. A row that is corrected is another row.

The command can be stopped at any time, by Ctrl-C or harder, and given again: no row is posted twice.
Rows that share an account are posted as if one by one in file order. Each refused row is shown with its line and reason; it is tried again the
next time. A file that is broken as a whole is refused before anything is posted.

The exit status is 3 when rows were refused, unless --allow-refused is given.`

func (a *app) importCommand() *cobra.Command {
	var i importing
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Post a file of payments, each row exactly once",
		Long:  importLong,
		Example: `  exchequer ledger import payments.csv
  exchequer ledger import payments.csv --report refused.csv --allow-refused
  zcat payments.jsonl.gz | exchequer ledger import -`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.importFile(command.Context(), args[0], i, forLedger)
		},
	}
	i.add(command)
	command.Flags().StringSliceVar(&i.keep, "keep", nil, "`columns` that become metadata")
	return command
}

func (i *importing) add(command *cobra.Command) {
	f := command.Flags()
	f.IntVar(&i.concurrency, "concurrency", bulk.ConcurrencyDefault,
		"maximum `number` of rows on their way at once")
	f.StringVar(&i.report, "report", "", "CSV `file` for the refused rows")
	f.StringVar(&i.keyColumn, "key-column", "", "`name` of the column that has the keys")
	f.BoolVar(&i.noKeys, "no-keys", false,
		"import a file without keys: rows are identified by their content")
	f.BoolVar(&i.allowRefused, "allow-refused", false,
		"end with status 0 even if rows were refused")
}

func (a *app) importFile(
	ctx context.Context, path string, i importing, how imports,
) (err error) {
	if i.concurrency < 1 || i.concurrency > bulk.ConcurrencyMax {
		return usagef("--concurrency "+strconv.Itoa(bulk.ConcurrencyDefault),
			"The concurrency must be 1 to %d", bulk.ConcurrencyMax)
	}
	if i.noKeys && i.keyColumn != "" {
		return usagef("one of them", "--no-keys and --key-column exclude each other")
	}
	file, err := a.openRows(path, i, how)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	c, closer, err := a.connect(ctx, server.TablesCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	refusals, err := a.newRefusals(i.report)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, refusals.close()) }()

	bar := a.newProgress("importing", "row", file.Rows)
	done, refused := 0, 0
	result, err := how.send(ctx, c, file, bulk.Options{
		Concurrency: i.concurrency,
		Report: func(o bulk.Outcome) error {
			done++
			if o.Status == bulk.Refused {
				refused++
				bar.clear()
				if err := refusals.add(o); err != nil {
					return err
				}
			}
			bar.set(done, thousands(refused)+" refused")
			return nil
		},
	})
	bar.clear()
	if err := a.imported(result, file, how.did); err != nil {
		return err
	}
	switch {
	case err != nil:
		return err
	case result.Stopped:
		return &failure{
			exit: exitStopped, text: "Stopped; what was " + how.did + " stays " + how.did,
			try: "the same command again: it goes on where it stopped",
		}
	case result.Refused > 0 && !i.allowRefused:
		return &failure{
			exit: exitRefused, text: count(result.Refused, "row") + " refused",
			try: "put them right in a new file, or give --allow-refused",
		}
	}
	return nil
}

// openRows opens a file, or standard input for "-", and remarks on what is odd about it.
func (a *app) openRows(path string, i importing, how imports) (*bulk.File, error) {
	reading := bulk.Reading{Payments: how.payments, Keep: i.keep, KeyColumn: i.keyColumn}
	file, err := a.readRows(path, reading)
	var wrong *bulk.FileError
	switch {
	case errors.As(err, &wrong):
		return nil, &failure{
			exit: exitUsage, try: wrong.Try,
			text: path + ": " + wrong.Error() + "; nothing was " + how.did,
		}
	case err != nil:
		return nil, err
	}
	if !file.Keyed && !i.noKeys && file.Rows > 0 {
		return nil, errors.Join(keyless(path, file, i, how), file.Close())
	}
	if len(file.Unused) > 0 {
		text := "columns left out: " + strings.Join(file.Unused, ", ")
		if how.did == forLedger.did {
			text += " (--keep makes them metadata)"
		}
		a.remark("%s", text)
	}
	if file.Keyless > 0 {
		a.remark("%s without a key: identified by content and occurrence",
			count(file.Keyless, "row"))
	}
	return file, nil
}

func (a *app) readRows(path string, r bulk.Reading) (*bulk.File, error) {
	if path == "-" {
		return r.OpenReader(a.in)
	}
	return r.Open(path)
}

// keyless refuses a file without keys. Whether two equal rows of it are one payment or two is only
// known to the user.
func keyless(path string, file *bulk.File, i importing, how imports) error {
	column, hint := "key", "NAME"
	if i.keyColumn != "" {
		column = i.keyColumn
	}
	if len(file.Unused) > 0 {
		hint = file.Unused[0]
	}
	return &failure{
		exit: exitUsage, text: fmt.Sprintf("%s: The rows have no %q; nothing was %s", path, column,
			how.did),
		try: "--key-column " + hint + " if a column names each row, or --no-keys to identify rows " +
			"by their content",
	}
}

// summary is the last line of an import's JSON.
type summary struct {
	Rows    int                  `json:"rows"`
	Posted  int                  `json:"posted"`
	There   int                  `json:"there"`
	Refused int                  `json:"refused"`
	Reasons map[problem.Code]int `json:"reasons"`
	Stopped bool                 `json:"stopped"`
}

// imported prints the counts.
func (a *app) imported(r bulk.Result, f *bulk.File, did string) error {
	switch a.flags.output {
	case outputJSON:
		return json.NewEncoder(a.out).Encode(summary{
			f.Rows, r.Posted, r.There, r.Refused, r.Reasons, r.Stopped,
		})
	case outputCSV:
		return nil
	}
	_, err := fmt.Fprintf(a.out, "%s: %s %s, %s already there, %s refused\n",
		count(f.Rows, "row"), thousands(r.Posted), did, thousands(r.There), thousands(r.Refused))
	if err != nil || len(r.Reasons) == 0 {
		return err
	}
	t := grid.New(grid.Right(""), grid.Left(""))
	for _, code := range slices.Sorted(maps.Keys(r.Reasons)) {
		t.Add(thousands(r.Reasons[code]), string(code))
	}
	return t.Write(a.out, "  ")
}

// refusals writes refused rows to where the user looks, and to a file.
type refusals struct {
	app  *app
	csv  *sheet.Writer // on standard output
	file *sheet.Writer
	out  io.Closer
}

// refusalHeads are the columns of a CSV of refused rows.
var refusalHeads = []string{"line", "key", "code", "reason"}

func (a *app) newRefusals(path string) (*refusals, error) {
	r := &refusals{app: a}
	if a.flags.output == outputCSV {
		r.csv = sheet.NewWriter(a.out)
		if err := r.csv.Write(refusalHeads); err != nil {
			return nil, err
		}
	}
	if path == "" {
		return r, nil
	}
	out, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	r.out, r.file = out, sheet.NewWriter(out)
	if err := r.file.Write(refusalHeads); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return r, nil
}

// refusal is a refused row in JSON.
type refusal struct {
	Line   int          `json:"line"`
	Key    string       `json:"key"`
	Code   problem.Code `json:"code"`
	Reason string       `json:"reason"`
}

func (r *refusals) add(o bulk.Outcome) error {
	reason := o.Problem.Sentence
	if fields := wrongFields(o.Problem); len(fields) > 0 {
		reason += " (" + fields.String() + ")"
	}
	line := refusal{o.Row.Line, o.Row.Key(), o.Problem.Code, reason}
	cells := []string{strconv.Itoa(line.Line), line.Key, string(line.Code), line.Reason}
	if r.file != nil {
		if err := r.file.Write(cells); err != nil {
			return err
		}
	}
	switch r.app.flags.output {
	case outputJSON:
		return encode(r.app.out, line, "")
	case outputCSV:
		return r.csv.Write(cells)
	}
	_, err := fmt.Fprintf(r.app.out, "line %d: %s: %s\n", line.Line, line.Code, grid.Plain(reason))
	return err
}

func (r *refusals) close() error {
	var errs []error
	if r.csv != nil {
		r.csv.Flush()
		errs = append(errs, r.csv.Error())
	}
	if r.file != nil {
		r.file.Flush()
		errs = append(errs, r.file.Error(), r.out.Close())
	}
	return errors.Join(errs...)
}
