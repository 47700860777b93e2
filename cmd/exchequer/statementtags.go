package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

func tagColumns() []column[client.Tag] {
	return []column[client.Tag]{
		col("TEXT", func(t client.Tag) string { return t.Text }).upTo(40),
		col("ID", func(t client.Tag) string { return string(t.ID) }),
		col("CREATED", func(t client.Tag) string { return instant(t.CreatedAt) }),
	}
}

func (a *app) statementsTags() *cobra.Command {
	return group("tags", "The tags that sort transactions", "",
		a.tagsList(), a.tagsAdd(), a.tagsRename(), a.tagsMerge(), a.tagsRemove(), a.tagsResume())
}

func (a *app) tagsList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the tags",
		Example: "  exchequer statements tags list",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			found, err := readable(c.Tags(ctx))
			if err != nil {
				return err
			}
			return page(a, tagColumns(), found, "no tags yet")
		}),
	}
}

func (a *app) tagsAdd() *cobra.Command {
	return &cobra.Command{
		Use:     "add TEXT...",
		Short:   "Add tags; those that are there already, in whatever case, stay as they are",
		Example: "  exchequer statements tags add Groceries Rent 'Eating out'",
		Args:    cobra.MinimumNArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			var made []client.Tag
			for _, text := range args {
				t, err := c.CreateTag(ctx, text)
				if err != nil {
					return err
				}
				made = append(made, t.Tag)
				if t.Replayed {
					a.remark("the tag %s was there already", t.Text)
				}
			}
			return page(a, tagColumns(), whole(made), "")
		}),
	}
}

// finish runs a job to its end and tells how far it is.
func (a *app) finish(ctx context.Context, c *client.Client, j client.Job, deed string) error {
	bar := a.newProgress(deed, "row", 0)
	done, err := c.RunJob(ctx, j.ID, func(now client.Job) {
		bar.set(now.Read, thousands(now.Changed)+" changed")
	})
	bar.clear()
	if ctx.Err() != nil {
		return &failure{exit: exitStopped, text: "Stopped while " + deed,
			try: "exchequer statements tags resume, which goes on where it stopped"}
	}
	if err != nil {
		return err
	}
	if a.flags.output == outputJSON {
		return a.json(done)
	}
	a.remark("%s of %s changed", count(done.Changed, "row"), thousands(done.Read))
	return nil
}

func (a *app) tagsRename() *cobra.Command {
	return &cobra.Command{
		Use:     "rename TAG TEXT",
		Short:   "Give a tag another text, in all its transactions",
		Example: "  exchequer statements tags rename Food Groceries",
		Args:    cobra.ExactArgs(2),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			t, err := m.tag(args[0])
			if err != nil {
				return err
			}
			_, job, err := m.c.RenameTag(ctx, t.ID, 0, args[1])
			if err != nil {
				return err
			}
			if job == nil {
				a.remark("the tag has that text already")
				return nil
			}
			return a.finish(ctx, m.c, *job, "renaming")
		}),
	}
}

func (a *app) tagsMerge() *cobra.Command {
	return &cobra.Command{
		Use:     "merge TAG INTO",
		Short:   "Make one tag of two: the transactions of the first get the second",
		Example: "  exchequer statements tags merge Supermarket Groceries",
		Args:    cobra.ExactArgs(2),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			from, err := m.tag(args[0])
			if err != nil {
				return err
			}
			into, err := m.tag(args[1])
			if err != nil {
				return err
			}
			if from.ID == into.ID {
				return usagef("two different tags", "%s and %s are one tag", args[0], args[1])
			}
			j, err := m.c.MergeTags(ctx, from.ID, into.ID, 0)
			if err != nil {
				return err
			}
			return a.finish(ctx, m.c, j, "merging")
		}),
	}
}

func (a *app) tagsRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove TAG",
		Short:   "Remove a tag, also from its transactions and rules",
		Example: "  exchequer statements tags remove Food",
		Args:    cobra.ExactArgs(1),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			t, err := m.tag(args[0])
			if err != nil {
				return err
			}
			j, err := m.c.DeleteTag(ctx, t.ID, 0)
			if err != nil {
				return err
			}
			return a.finish(ctx, m.c, j, "removing")
		}),
	}
}

func (a *app) tagsResume() *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "Finish what was stopped: renaming, merging, removing, applying rules",
		Long: `Finish what was stopped. A tag has its new text at once, but its transactions only as far as the
work has come; this goes on with it.`,
		Example: "  exchequer statements tags resume",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			jobs, err := c.Jobs(ctx)
			if err != nil {
				return err
			}
			open := 0
			for _, j := range jobs {
				if j.Done {
					continue
				}
				open++
				if err := a.finish(ctx, c, j, strings.ReplaceAll(j.Kind, "-", " ")); err != nil {
					return err
				}
			}
			if open == 0 {
				a.remark("there is nothing left to do")
			}
			return nil
		}),
	}
}

func (m *mine) ruleColumns() []column[client.Rule] {
	type rule = client.Rule
	return []column[rule]{
		col("NAME", func(r rule) string { return r.Name }).upTo(28),
		col("WHERE", m.conditionsText).upTo(48),
		col("SETS", m.settingText).upTo(40),
		col("STATUS", func(r rule) string {
			if r.Disabled {
				return "off"
			}
			return "on"
		}),
		num("ORDER", func(r rule) string { return fmt.Sprint(r.Order) }),
		col("ID", func(r rule) string { return string(r.ID) }),
	}
}

func (m *mine) conditionsText(r client.Rule) string {
	var parts []string
	for _, c := range r.Conditions {
		op := c.Op
		if c.Not {
			op = "not " + op
		}
		value := c.Text
		if c.Field == "account" {
			value = m.accountName(client.BankAccountID(c.Text))
		}
		if c.Amount != nil {
			value = c.Amount.String()
		}
		if c.To != nil {
			value += " and " + c.To.String()
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", c.Field, op, quoted(value)))
	}
	if r.Any {
		return strings.Join(parts, " or ")
	}
	return strings.Join(parts, " and ")
}

func (m *mine) settingText(r client.Rule) string {
	var parts []string
	for _, id := range r.Set.TagIDs {
		text := string(id)
		for _, t := range m.Tags {
			if t.ID == id {
				text = t.Text
			}
		}
		parts = append(parts, "tag "+quoted(text))
	}
	if r.Set.Merchant != "" {
		parts = append(parts, "merchant "+quoted(r.Set.Merchant))
	}
	if r.Set.Notes != "" {
		parts = append(parts, "notes "+quoted(r.Set.Notes))
	}
	if r.Set.Transfer != nil {
		parts = append(parts,
			map[bool]string{true: "transfer", false: "no transfer"}[*r.Set.Transfer])
	}
	return strings.Join(parts, ", ")
}
