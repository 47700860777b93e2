package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/server"
)

func patternColumns() []column[client.Pattern] {
	type pattern = client.Pattern
	return []column[pattern]{
		col("NAME", func(p pattern) string { return p.Name }),
		col("OPERATION", operationText),
		col("INPUTS", inputNames),
		col("ANSWERS", func(p pattern) string { return p.Sentence }),
	}
}

func operationText(p client.Pattern) string {
	if p.Index == "" {
		return p.Operation
	}
	return p.Operation + " " + p.Index
}

// inputNames lists inputs; those in brackets may be left out.
func inputNames(p client.Pattern) string {
	var names []string
	for _, in := range p.Inputs {
		name := in.Name
		if !in.Required {
			name = "[" + name + "]"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func inputColumns() []column[client.PatternInput] {
	type input = client.PatternInput
	return []column[input]{
		col("INPUT", func(i input) string { return i.Name }),
		col("TYPE", func(i input) string { return i.Type }),
		col("REQUIRED", func(i input) string {
			if i.Required {
				return "yes"
			}
			return "no"
		}),
		col("USE", func(i input) string { return i.Use }),
	}
}

func (a *app) patternsCommand() *cobra.Command {
	patterns := group("patterns", "List, show and run access patterns",
		`List, show and run access patterns: the named questions that the tables answer. Each is one call, or
one call a page for each partition that it reads, and its cost is known before it runs.`,
		a.patternsList(), a.patternsShow(), a.patternsRun())
	patterns.GroupID = groupStore
	return patterns
}

func (a *app) patternsList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the access patterns",
		Example: "  exchequer patterns list",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			patterns, err := c.Patterns(ctx)
			if err != nil {
				return err
			}
			return page(a, patternColumns(), whole(patterns), "no patterns")
		}),
	}
}

func (a *app) patternsShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show PATTERN",
		Short:   "Show an access pattern: its inputs, its requests, and what a page costs",
		Example: "  exchequer patterns show transaction-with-legs",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			p, err := c.Pattern(ctx, args[0])
			if err != nil {
				return err
			}
			columns := append(patternColumns(),
				col("TABLE", func(p client.Pattern) string { return p.Table }),
				col("WHERE", func(p client.Pattern) string { return p.Where }),
				col("PARTITIONS", func(p client.Pattern) string { return p.Partitions }),
				col("ENTITIES", func(p client.Pattern) string {
					return strings.Join(p.Entities, ", ")
				}))
			err = one(a, columns, p)
			if err != nil || p.Plan == nil || a.flags.output != outputTable {
				return err
			}
			if err := a.plan(*p.Plan); err != nil || len(p.Inputs) == 0 {
				return err
			}
			return newPrinter(a, inputColumns()).rows(p.Inputs)
		}),
	}
}

// plan shows the requests of a plan, each as the JSON that DynamoDB would be sent.
func (a *app) plan(p client.Plan) error {
	text := fmt.Sprintf("plan      %s, %s", count(p.Calls, "call"), readUnits(p.ReadUnits))
	if len(p.Notes) > 0 {
		text += ": " + strings.Join(p.Notes, "; ")
	}
	if _, err := fmt.Fprintln(a.out, text); err != nil {
		return err
	}
	if p.CallsMost > p.Calls || p.ReadUnitsMost > p.ReadUnits {
		_, err := fmt.Fprintf(a.out, "at most   %s, %s\n", count(p.CallsMost, "call"),
			readUnits(p.ReadUnitsMost))
		if err != nil {
			return err
		}
	}
	for _, request := range p.Requests {
		if _, err := fmt.Fprintf(a.out, "  %s\n", request); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) patternsRun() *cobra.Command {
	var p pages
	command := &cobra.Command{
		Use:   "run PATTERN [INPUT=VALUE]...",
		Short: "Run an access pattern: plan, rows, measured units and time",
		Example: `  exchequer patterns run account-by-id ID=alice
  exchequer patterns run transactions-by-status Status=completed From=2026-01-31T10:30:00Z --limit 10`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.withTables(server.TablesCreate, func(
			ctx context.Context, c *client.Client, args []string,
		) error {
			q := client.PatternQuery{Inputs: make(map[string]string), PageQuery: p.query()}
			for _, arg := range args[1:] {
				name, value, ok := strings.Cut(arg, "=")
				if !ok {
					return usagef("exchequer patterns show "+args[0],
						"The input %q must be name=value", arg)
				}
				q.Inputs[name] = value
			}
			run, err := c.RunPattern(ctx, args[0], q)
			if err != nil {
				return err
			}
			return a.patternRun(run)
		}),
	}
	f := command.Flags()
	f.IntVar(&p.limit, "limit", 0, "maximum `number` of rows of a page, up to 1000 (default 100)")
	f.StringVar(&p.cursor, "cursor", "", "`cursor` of the next page, as the page before printed it")
	return command
}

func (a *app) patternRun(r client.PatternRun) error {
	switch a.flags.output {
	case outputJSON:
		if err := a.json(r); err != nil {
			return err
		}
		return a.unreadable(r.Unreadable)
	case outputCSV:
		rows := whole(r.Rows)
		rows.Unreadable = r.Unreadable
		return page(a, []column[json.RawMessage]{
			col("ITEM", func(row json.RawMessage) string { return string(row) }),
		}, rows, "no rows")
	}
	if err := a.plan(r.Plan); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "measured  %s, %s, %s\n", count(r.Calls, "call"),
		readUnits(r.ReadUnits), duration(time.Duration(r.Took)))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", count(len(r.Rows), "row"))
	for _, row := range r.Rows {
		if err == nil {
			_, err = fmt.Fprintf(a.out, "  %s\n", row)
		}
	}
	a.more(r.Next, "")
	if err != nil {
		return err
	}
	return a.unreadable(r.Unreadable)
}
