package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/sheet"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// Bounds of one request of an import.
const (
	sheetRows = 200
	// sheetBytes keeps a request well below the 256 KB that a server reads by default.
	sheetBytes = 100 << 10
)

const locationsImportLong = `Take a CSV file of locations in, by code: a code that nobody has makes a
location, and one that is known changes that location.

Columns, in any order and under the names that people give them:
  code         unique, whatever its case; zeros before it are kept (required)
  name         needed for a new location
  lat, lng     or point, with both in one cell: decimal degrees, or degrees, minutes and seconds, with
               a sign or a letter of the hemisphere before or after
  address      lines, locality, region, postcode, country
  phone, timeZone, placeId, placeIdCheckedAt, formattedAddress
  tags         separated by ; or in quotation marks where they have one themselves

A blank cell leaves things as they are; ` + locations.Clear + ` empties. Good rows are saved and bad ones
reported, each for itself; a code in two rows is wrong in both. --preview shows what would be done, field
by field, and does nothing.

The command can be stopped at any time and given again: what was done is found to be so, and it goes on.
The exit status is 3 when rows were refused, unless --allow-refused is given.`

// sheetImport are the flags of an import.
type sheetImport struct {
	mode                  string
	preview, allowRefused bool
	unchanged             bool
}

func (a *app) locationsImport() *cobra.Command {
	var i sheetImport
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Take in a CSV file of locations",
		Long:  locationsImportLong,
		Example: `  exchequer locations import places.csv --preview
  exchequer locations import places.csv
  exchequer locations export | exchequer locations import - --mode update`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.importSheet(command.Context(), args[0], i)
		},
	}
	f := command.Flags()
	f.BoolVar(&i.preview, "preview", false, "show what would be done, and do nothing")
	f.StringVar(&i.mode, "mode", "upsert", "what rows may do: `upsert`, create or update")
	f.BoolVar(&i.allowRefused, "allow-refused", false,
		"end with status 0 even if rows were refused")
	f.BoolVar(&i.unchanged, "show-unchanged", false, "show rows that change nothing, too")
	return command
}

func (a *app) readSheet(path string) (*locations.Sheet, error) {
	in := a.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	sheet, err := locations.ReadSheet(in)
	if err != nil {
		return nil, err
	}
	for _, note := range sheet.Notes {
		a.remark("%s", note)
	}
	if len(sheet.Unused) > 0 {
		a.remark("columns left out: %s", strings.Join(sheet.Unused, ", "))
	}
	return sheet, nil
}

func (a *app) importSheet(ctx context.Context, path string, i sheetImport) (err error) {
	sheet, err := a.readSheet(path)
	if err != nil {
		return err
	}
	c, closer, err := a.connect(ctx, server.TablesCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	tally := map[string]int{}
	bar := a.newProgress("importing", "row", len(sheet.Rows))
	done := 0
	report := func(outcomes []client.RowOutcome) error {
		for _, o := range outcomes {
			tally[o.Action]++
			done++
			if o.Action == string(locations.RowSame) && !i.unchanged && len(o.Warnings) == 0 ||
				o.Action == string(locations.RowCreate) && !i.preview && len(o.Warnings) == 0 {
				continue
			}
			bar.clear()
			if err := a.rowOutcome(o); err != nil {
				return err
			}
		}
		bar.set(done, thousands(tally[string(locations.RowError)])+" refused")
		return nil
	}
	for rows := sheet.Rows; len(rows) > 0 && err == nil; {
		var batch []client.LocationRow
		var broken []client.RowOutcome
		if batch, broken, rows = nextRows(rows); len(broken) > 0 {
			err = report(broken)
		}
		if len(batch) > 0 && err == nil {
			var outcomes []client.RowOutcome
			outcomes, err = c.ImportLocations(ctx, batch, i.mode, i.preview)
			if err == nil {
				err = report(outcomes)
			}
		}
	}
	bar.clear()
	return a.sheetDone(i, tally, done, len(sheet.Rows), ctx, err)
}

// sheetDone returns what came of an import, and how it ended.
func (a *app) sheetDone(
	i sheetImport, tally map[string]int, done, rows int, ctx context.Context, err error,
) error {
	refused := tally[string(locations.RowError)]
	verb := "were"
	if i.preview {
		verb = "would be"
	}
	if a.flags.output == outputTable {
		fmt.Fprintf(a.out, "%s: %s %s created, %s changed, %s left as they are, %s refused\n",
			count(done, "row"), thousands(tally[string(locations.RowCreate)]), verb,
			thousands(tally[string(locations.RowChange)]),
			thousands(tally[string(locations.RowSame)]), thousands(refused))
	}
	switch {
	case ctx.Err() != nil:
		return &failure{
			exit: exitStopped, try: "the same command again: it goes on where it stopped",
			text: fmt.Sprintf("Stopped after %s of %s", thousands(done), count(rows, "row")),
		}
	case err != nil:
		return err
	case refused > 0 && !i.allowRefused:
		return &failure{
			exit: exitRefused, text: count(refused, "row") + " refused",
			try: "put them right and import the file again, or give --allow-refused",
		}
	}
	return nil
}

// nextRows takes rows that fit one request, and those among them that are wrong by themselves.
func nextRows(rows []locations.Row) (
	batch []client.LocationRow, broken []client.RowOutcome, rest []locations.Row,
) {
	size := 0
	for n, row := range rows {
		bytes := 32
		for name, cell := range row.Cells {
			bytes += len(name) + len(cell) + 8
		}
		if n == sheetRows || n > 0 && size+bytes > sheetBytes {
			return batch, broken, rows[n:]
		}
		size += bytes
		if row.Problem != nil {
			broken = append(broken, client.RowOutcome{
				Line: row.Line, Code: row.Cells["code"], Action: string(locations.RowError),
				Problem: problem.From(row.Problem),
			})
			continue
		}
		batch = append(batch, client.LocationRow{Line: row.Line, Cells: row.Cells})
	}
	return batch, broken, nil
}

// rowOutcome prints what came of a row.
func (a *app) rowOutcome(o client.RowOutcome) error {
	if a.flags.output == outputJSON {
		return encode(a.out, o, "")
	}
	var says []string
	for _, c := range o.Changes {
		says = append(says, fmt.Sprintf("%s: %q becomes %q", c.Field, c.From, c.To))
	}
	says = append(says, o.Warnings...)
	if o.Problem != nil {
		text := o.Problem.Sentence
		if len(o.Problem.Fields) > 0 {
			text += " (" + o.Problem.Fields.String() + ")"
		}
		says = append(says, text)
	}
	if a.flags.output == outputCSV {
		w := sheet.NewWriter(a.out)
		_ = w.Write([]string{fmt.Sprint(o.Line), o.Code, o.Action, strings.Join(says, "; ")})
		w.Flush()
		return w.Error()
	}
	line := fmt.Sprintf("line %d: %s %s", o.Line, o.Action, o.Code)
	if len(says) > 0 {
		line += ": " + strings.Join(says, "; ")
	}
	_, err := fmt.Fprintln(a.out, grid.Plain(line))
	return err
}

func (a *app) locationsExport() *cobra.Command {
	var q client.LocationQuery
	command := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write locations as a CSV file that import takes in",
		Long: `Write the locations in use as a CSV file. Imported again, it changes nothing. Opening hours
are not part of it.`,
		Example: "  exchequer locations export places.csv",
		Args:    cobra.MaximumNArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			n := 0
			err := a.into(args, func(out io.Writer) (err error) {
				n, err = writeLocations(ctx, c, q, out)
				return err
			})
			if err == nil {
				a.remark("%s", count(n, "location"))
			}
			return err
		}),
	}
	command.Flags().StringVar(&q.Tag, "tag", "", "only those that have this `word`")
	return command
}

// writeLocations writes locations as a sheet, and returns how many there are.
func writeLocations(
	ctx context.Context, c *client.Client, q client.LocationQuery, out io.Writer,
) (n int, err error) {
	w := sheet.NewWriter(out)
	if err := w.Write(locations.Columns()); err != nil {
		return 0, err
	}
	q.Limit = locations.PageMax
	for l, err := range c.AllLocations(ctx, q) {
		if err != nil {
			return n, err
		}
		if err := w.Write(locations.Record(sheetLocation(l))); err != nil {
			return n, err
		}
		n++
	}
	w.Flush()
	return n, w.Error()
}

// sheetLocation returns what a sheet shows of a location.
func sheetLocation(l client.Location) locations.Location {
	out := locations.Location{Code: l.Code, Details: locations.Details{
		Name: l.Name, Phone: l.Phone, TimeZone: l.TimeZone, Tags: l.Tags,
		Place: locations.Place{
			ID: l.PlaceID, CheckedAt: l.PlaceIDCheckedAt, FormattedAddress: l.FormattedAddress,
		},
	}}
	if l.Lat != nil && l.Lng != nil {
		out.Point = &locations.Point{Lat: *l.Lat, Lng: *l.Lng}
	}
	if l.Address != nil {
		own := locations.Address(*l.Address)
		out.Address = &own
	}
	return out
}
