package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/server"
)

const noTables = "no tables; create them with: exchequer tables create"

func tableColumns() []column[client.Table] {
	type table = client.Table
	return []column[table]{
		col("NAME", func(t table) string { return t.Name }),
		col("STATUS", func(t table) string { return t.Status }),
		col("KEY", func(t table) string { return keyText(t.PartitionKey, t.SortKey) }),
		col("INDEXES", indexNames),
		num("ITEMS", func(t table) string { return thousands(int(t.Items)) }),
		num("BYTES", func(t table) string { return thousands(int(t.Bytes)) }),
	}
}

func indexNames(t client.Table) string {
	var names []string
	for _, x := range t.Indexes {
		names = append(names, x.Name)
	}
	return strings.Join(names, ", ")
}

func indexColumns() []column[client.Index] {
	type index = client.Index
	return []column[index]{
		col("INDEX", func(x index) string { return x.Name }),
		col("KIND", func(x index) string { return x.Kind }),
		col("KEY", func(x index) string { return keyText(x.PartitionKey, x.SortKey) }),
		col("PROJECTION", func(x index) string {
			return strings.Join(append([]string{x.Projection}, x.Attributes...), " ")
		}),
		num("ITEMS", func(x index) string { return thousands(int(x.Items)) }),
	}
}

func keyText(partition, sort string) string {
	if sort == "" {
		return partition
	}
	return partition + ", " + sort
}

func (a *app) tablesCommand() *cobra.Command {
	tables := group("tables", "Create, list, describe, check and export the tables",
		"Create, list, describe, check and export the tables. Other commands create tables that are missing.",
		a.tablesCreate(), a.tablesList(), a.tablesDescribe(), a.tablesCheck(), a.tablesExport())
	tables.GroupID = groupStore
	return tables
}

func (a *app) tablesCreate() *cobra.Command {
	return &cobra.Command{
		Use:   "create",
		Short: "Create the tables that are missing",
		Long: `Create the tables that are missing, wait until they can be used, and turn expiry on where they have
it. In DynamoDB they are paid by request. What exists is left as it is, except that the table of locations
gets the indexes that EXCHEQUER_LOCATION_INDEXES names and that it lacks; run exchequer locations repair
--reindex after that.`,
		Example: `  exchequer tables create --data ./books
  exchequer tables create --store dynamodb --region eu-central-1
  exchequer tables create --store dynamodb --endpoint http://127.0.0.1:8000`,
		Args: cobra.NoArgs,
		RunE: a.withTables(server.TablesKeep, func(
			ctx context.Context, c *client.Client, _ []string,
		) error {
			tables, err := c.CreateTables(ctx)
			if err != nil {
				return err
			}
			columns := append([]column[client.Table]{
				col("DONE", func(t client.Table) string {
					if t.Created {
						return "created"
					}
					return "was there"
				}),
			}, tableColumns()[:4]...)
			return page(a, columns, whole(tables), noTables)
		}),
	}
}

func (a *app) tablesList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the tables",
		Example: "  exchequer tables list",
		Args:    cobra.NoArgs,
		RunE: a.withTables(server.TablesKeep, func(
			ctx context.Context, c *client.Client, _ []string,
		) error {
			tables, err := c.Tables(ctx)
			if err != nil {
				return err
			}
			return page(a, tableColumns(), whole(tables), noTables)
		}),
	}
}

func (a *app) tablesDescribe() *cobra.Command {
	return &cobra.Command{
		Use:     "describe TABLE",
		Short:   "Show the keys and indexes of a table",
		Example: "  exchequer tables describe FinancialTransactions",
		Args:    cobra.ExactArgs(1),
		RunE: a.withTables(server.TablesKeep, func(
			ctx context.Context, c *client.Client, args []string,
		) error {
			table, err := c.Table(ctx, args[0])
			if err != nil {
				return err
			}
			if a.flags.output != outputTable {
				return one(a, tableColumns(), table)
			}
			columns := append(tableColumns(),
				col("EXPIRES BY", func(t client.Table) string { return t.TTL }),
				col("CREATED", func(t client.Table) string { return instant(t.CreatedAt) }))
			if err := one(a, columns, table); err != nil || len(table.Indexes) == 0 {
				return err
			}
			return newPrinter(a, indexColumns()).rows(table.Indexes)
		}),
	}
}

func (a *app) tablesCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [TABLE]",
		Short: "Compare tables with what the systems need",
		Long: `Compare tables with what the systems need: keys, indexes, projections, expiry. Without a name all tables
that the systems need are compared. The exit status is 8 if anything differs or is missing. It is 9 if
nothing does, but the store is changing a table, an index or an expiry, so that it cannot be compared yet.`,
		Example: "  exchequer tables check",
		Args:    cobra.MaximumNArgs(1),
		RunE: a.withTables(server.TablesKeep, func(
			ctx context.Context, c *client.Client, args []string,
		) error {
			if len(args) == 0 {
				checks, err := c.CheckTables(ctx)
				if err != nil {
					return err
				}
				return a.checks(checks)
			}
			check, err := c.CheckTable(ctx, args[0])
			if err != nil {
				return err
			}
			return a.checks([]client.TableCheck{check})
		}),
	}
}

// exportForms are what tables can be written as.
var exportForms = []string{"workbench", "cloudformation", "terraform"}

func (a *app) tablesExport() *cobra.Command {
	var form string
	command := &cobra.Command{
		Use:   "export",
		Short: "Write the tables for NoSQL Workbench, CloudFormation or Terraform",
		Long: `Write the tables for another tool, to the standard output.

workbench is a data model for NoSQL Workbench: tables, indexes, a facet with a sample item for each
entity, and the access patterns in the description. cloudformation and terraform are templates that
create the same tables on AWS, paid by request.`,
		Example: `  exchequer tables export --format cloudformation > tables.json
  exchequer tables export --format terraform > tables.tf`,
		Args: cobra.NoArgs,
		RunE: a.withTables(server.TablesKeep, func(
			ctx context.Context, c *client.Client, _ []string,
		) error {
			if !slices.Contains(exportForms, form) {
				return usagef("--format "+exportForms[0], "There is no format %q; choose %s", form,
					strings.Join(exportForms, ", "))
			}
			text, err := c.ExportModel(ctx, form)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.out, text)
			return err
		}),
	}
	command.Flags().StringVar(&form, "format", "", "`form` to write: "+
		strings.Join(exportForms, ", "))
	_ = command.MarkFlagRequired("format")
	_ = command.RegisterFlagCompletionFunc("format", fixed(exportForms...))
	return command
}

func (a *app) checks(checks []client.TableCheck) error {
	columns := []column[client.TableCheck]{
		col("TABLE", func(t client.TableCheck) string { return t.Name }),
		col("RESULT", func(t client.TableCheck) string {
			switch t.Verdict {
			case client.VerdictSound:
				return "as it should be"
			case client.VerdictUndecided:
				return "not decided"
			}
			return "differs"
		}),
		col("DIFFERENCES", func(t client.TableCheck) string {
			return strings.Join(slices.Concat(t.Differences, t.Undecided), "; ")
		}),
	}
	err := page(a, columns, whole(checks), noTables)
	if err != nil {
		return err
	}
	different, open := 0, 0
	for _, t := range checks {
		switch t.Verdict {
		case client.VerdictSound:
		case client.VerdictUndecided:
			open++
		default:
			different++
		}
	}
	if different > 0 {
		return &failure{
			exit: exitDiffers, text: count(different, "table") + " not as needed",
			try: "exchequer tables create, or exchequer tables describe TABLE",
		}
	}
	if open > 0 {
		return undecided("whether the tables are as needed", open, "table",
			"exchequer tables check")
	}
	return nil
}
