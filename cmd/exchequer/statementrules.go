package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
)

func (a *app) statementsRules() *cobra.Command {
	return group("rules", "Rules that tag and rename transactions by themselves",
		`Rules that tag and rename transactions by themselves. They are tried on every row that a file
brings, and on what is there already when they are applied. They look at what the bank wrote, and never
change what you have set yourself.`,
		a.rulesList(), a.rulesAdd(), a.rulesRemove(), a.rulesPreview(), a.rulesApply())
}

func (a *app) rulesList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the rules, in the order in which they are tried",
		Example: "  exchequer statements rules list",
		Args:    cobra.NoArgs,
		RunE: a.withMine(func(ctx context.Context, m *mine, _ []string) error {
			found, err := readable(m.c.Rules(ctx))
			if err != nil {
				return err
			}
			return page(a, m.ruleColumns(), found, "no rules yet")
		}),
	}
}

// ruleFlags say what a rule is.
type ruleFlags struct {
	where, tags []string
	merchant    string
	notes       string
	transfer    bool
	any, stop   bool
	order       int
}

func (r *ruleFlags) add(command *cobra.Command) {
	f := command.Flags()
	f.StringArrayVar(&r.where, "where", nil,
		"`condition`: FIELD OP VALUE, such as \"text contains market\"; may be repeated")
	f.BoolVar(&r.any, "any", false, "one of the conditions is enough")
	f.StringSliceVar(&r.tags, "tag", nil, "`tags` to give; those that are not there are made")
	f.StringVar(&r.merchant, "merchant", "", "`name` of the merchant to show")
	f.StringVar(&r.notes, "notes", "", "`text` to note")
	f.BoolVar(&r.transfer, "transfer", false, "it moves money between your own accounts")
	f.BoolVar(&r.stop, "stop", false, "try no later rule where this one held")
	f.IntVar(&r.order, "order", 0, "`number`: the least is tried first, of equals the older rule")
}

const conditionHelp = `A condition is FIELD OP VALUE. Fields: text (what the bank wrote), merchant,
counterparty, reference, category, amount, account, currency. Comparisons of texts, in any case:
contains, equals, begins, ends, regexp; of amounts, which are negative for money out: equals, less,
more, and "between LOW and HIGH". "not" before the comparison turns it round.`

// fields makes a rule of the flags.
func (r *ruleFlags) fields(
	ctx context.Context, command *cobra.Command, m *mine, name string,
) (rule client.RuleFields, err error) {
	rule = client.RuleFields{Name: name, Order: r.order, Any: r.any, Stop: r.stop}
	if len(r.where) == 0 {
		return rule, usagef(`--where "text contains market"`, "A rule needs a condition")
	}
	for _, text := range r.where {
		c, err := m.condition(text)
		if err != nil {
			return rule, err
		}
		rule.Conditions = append(rule.Conditions, c)
	}
	rule.Set.Merchant, rule.Set.Notes = r.merchant, r.notes
	if command.Flags().Changed("transfer") {
		rule.Set.Transfer = &r.transfer
	}
	rule.Set.TagIDs, err = m.tags(ctx, splitWords(r.tags), true)
	if err == nil && len(rule.Set.TagIDs) == 0 && r.merchant == "" && r.notes == "" &&
		rule.Set.Transfer == nil {
		err = usagef("--tag, --merchant, --notes or --transfer", "A rule needs something to set")
	}
	return rule, err
}

// condition reads a condition as a person writes it.
func (m *mine) condition(text string) (c client.RuleCondition, err error) {
	wrong := func(why string) error {
		return usagef(`--where "text contains market" or --where "amount between -50 and -20"`,
			"The condition %q %s", text, why)
	}
	field, rest, ok := strings.Cut(strings.TrimSpace(text), " ")
	if !ok {
		return c, wrong("has no comparison")
	}
	c.Field = field
	rest = strings.TrimSpace(rest)
	if after, not := strings.CutPrefix(rest, "not "); not {
		c.Not, rest = true, strings.TrimSpace(after)
	}
	op, value, _ := strings.Cut(rest, " ")
	c.Op, value = op, strings.TrimSpace(value)
	if value == "" {
		return c, wrong("has no value to compare with")
	}
	switch field {
	case "amount":
		low, high, between := strings.Cut(value, " and ")
		if between != (op == "between") {
			return c, wrong("is no range: between LOW and HIGH")
		}
		d, err := plainAmount("the amount", low)
		if err != nil {
			return c, err
		}
		c.Amount = &d
		if between {
			var to money.Decimal
			if to, err = plainAmount("the amount", high); err != nil {
				return c, err
			}
			c.To = &to
		}
	case "account":
		found, err := m.account(value)
		if err != nil {
			return c, err
		}
		c.Text = string(found.ID)
	default:
		c.Text = value
	}
	return c, nil
}

func (a *app) rulesAdd() *cobra.Command {
	var (
		r     ruleFlags
		id    string
		apply bool
	)
	command := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a rule",
		Long: "Add a rule for what comes from now on. It is tried on what is there with --apply, or by\n" +
			"\"rules apply\"; look before with \"rules preview\".\n\n" + conditionHelp,
		Example: `  exchequer statements rules add Groceries --where "text contains market" --tag Groceries
  exchequer statements rules add Rent --where "text contains kowhai" --where "amount less 0" --tag Rent --apply
  exchequer statements rules add Card --where "text begins card payment" --transfer`,
		Args: cobra.ExactArgs(1),
	}
	command.RunE = a.withMine(func(ctx context.Context, m *mine, args []string) error {
		fields, err := r.fields(ctx, command, m, args[0])
		if err != nil {
			return err
		}
		made, err := m.c.CreateRule(ctx, client.NewRule{ID: client.RuleID(id), RuleFields: fields})
		if err != nil {
			return err
		}
		err = created(a, m.ruleColumns(), made.Rule, made.Replayed, "rule")
		if err != nil || !apply {
			return err
		}
		var d dayFlags
		return a.applyRules(ctx, m, d, nil, []string{string(made.ID)})
	})
	r.add(command)
	f := command.Flags()
	f.StringVar(&id, "id", "", "`id` to use, which makes a repeat safe")
	f.BoolVar(&apply, "apply", false, "apply it to the last ten years at once")
	return command
}

// rule finds a rule by its id or name.
func (m *mine) rule(ctx context.Context, name string) (client.Rule, error) {
	rules, err := m.c.Rules(ctx)
	if err != nil {
		return client.Rule{}, err
	}
	found, some := named(rules, name, func(r client.Rule) (string, []string) {
		return string(r.ID), []string{r.Name}
	})
	if found != nil {
		return *found, nil
	}
	if len(some) > 0 {
		return client.Rule{}, usagef("its id: exchequer statements rules list",
			"%q may be any of %s", name, listed(some, func(r client.Rule) string { return r.Name }))
	}
	return client.Rule{}, &failure{exit: exitNotFound,
		text: fmt.Sprintf("There is no rule %q", name),
		try:  "exchequer statements rules list"}
}

func (a *app) rulesRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove RULE",
		Short:   "Remove a rule; what it set stays",
		Example: "  exchequer statements rules remove Groceries",
		Args:    cobra.ExactArgs(1),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			r, err := m.rule(ctx, args[0])
			if err != nil {
				return err
			}
			if err := m.c.DeleteRule(ctx, r.ID, r.Version); err != nil {
				return err
			}
			a.remark("removed: %s", r.Name)
			return nil
		}),
	}
}

// yearsOfRules is what rules are tried on unless days are given: as much as can be asked at once.
const yearsOfRules = 10

// scope returns what rules are tried on.
func (m *mine) scope(
	ctx context.Context, d dayFlags, accounts, rules []string,
) (s client.RuleScope, err error) {
	if s.From, s.To, err = d.days(m, yearsOfRules*12); err != nil {
		return s, err
	}
	if s.AccountIDs, err = m.accounts(splitWords(accounts)); err != nil {
		return s, err
	}
	for _, name := range rules {
		r, err := m.rule(ctx, name)
		if err != nil {
			return s, err
		}
		s.RuleIDs = append(s.RuleIDs, r.ID)
	}
	return s, nil
}

func (a *app) rulesPreview() *cobra.Command {
	var (
		r        ruleFlags
		d        dayFlags
		accounts []string
	)
	command := &cobra.Command{
		Use:   "preview [RULE...]",
		Short: "Show what rules would change, field by field, and change no transaction",
		Long: "Show what rules would change of what is there: all rules, those that are named, or one that is\n" +
			"not saved yet and described by flags. Tags of --tag that are not there are made already.\n\n" +
			conditionHelp,
		Example: `  exchequer statements rules preview
  exchequer statements rules preview --where "text contains ferry" --tag Transport --from 2026-01`,
		Args: cobra.ArbitraryArgs,
	}
	command.RunE = a.withMine(func(ctx context.Context, m *mine, args []string) error {
		scope, err := m.scope(ctx, d, accounts, args)
		if err != nil {
			return err
		}
		var draft *client.RuleFields
		if len(r.where) > 0 {
			fields, err := r.fields(ctx, command, m, "draft")
			if err != nil {
				return err
			}
			draft = &fields
		}
		found, err := m.c.PreviewRules(ctx, scope, draft)
		if err != nil {
			return err
		}
		return a.rulesChanges(m, found)
	})
	r.add(command)
	d.add(command)
	command.Flags().StringSliceVar(&accounts, "account", nil, "only these `accounts`")
	return command
}

// rulesChanges prints what rules would change.
func (a *app) rulesChanges(m *mine, p client.RulesPreview) error {
	if a.flags.output == outputJSON {
		return a.json(p)
	}
	t := grid.New(grid.Left("DATE"), grid.Left("ACCOUNT").UpTo(16),
		grid.Left("BANK WROTE").UpTo(32),
		grid.Right("AMOUNT"), grid.Left("FIELD"), grid.Left("IS").UpTo(24),
		grid.Left("BECOMES").UpTo(24))
	for _, row := range p.Rows {
		for _, f := range row.Fields {
			t.Add(string(row.Transaction.Date), m.accountName(row.Transaction.AccountID),
				row.Transaction.Text, rowAmount(row.Transaction), f.Field, f.Before, f.After)
		}
	}
	if len(p.Rows) > 0 {
		if err := t.Write(a.out, ""); err != nil {
			return err
		}
	}
	a.remark("%s of %s would change", count(p.Changed, "row"), thousands(p.Read))
	return nil
}

func (a *app) rulesApply() *cobra.Command {
	var (
		d        dayFlags
		accounts []string
	)
	command := &cobra.Command{
		Use:   "apply [RULE...]",
		Short: "Apply rules to what is there: all rules, or those that are named",
		Long: `Apply rules to what is there, of the last ten years unless days are given. What you have set
yourself stays. Stopped, it goes on by "exchequer statements tags resume".`,
		Example: "  exchequer statements rules apply\n" +
			"  exchequer statements rules apply Groceries --from 2026-01",
		Args: cobra.ArbitraryArgs,
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			return a.applyRules(ctx, m, d, accounts, args)
		}),
	}
	d.add(command)
	command.Flags().StringSliceVar(&accounts, "account", nil, "only these `accounts`")
	return command
}

func (a *app) applyRules(
	ctx context.Context, m *mine, d dayFlags, accounts, rules []string,
) error {
	scope, err := m.scope(ctx, d, accounts, rules)
	if err != nil {
		return err
	}
	j, err := m.c.ApplyRules(ctx, scope)
	if err != nil {
		return err
	}
	return a.finish(ctx, m.c, j, "applying rules")
}
