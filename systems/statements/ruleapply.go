package statements

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Preview is what rules would change.
type Preview struct {
	Read    int // Rows that were looked at.
	Changed int // Rows that would change, also those not listed.
	// Rows are the first PreviewMax rows that would change.
	Rows []RowChange
}

// RowChange is what would change in one row.
type RowChange struct {
	Transaction Transaction // As it is.
	Fields      []FieldChange
}

// FieldChange is what would change in one field. Tags are their texts, joined by commas.
type FieldChange struct {
	Field         string // One of those of Transaction.Ruled.
	RuleID        string
	Before, After string
}

// PreviewRules is what rules would change in a scope, and changes nothing. A draft is tried
// alone, in place of the rules of the scope; it needs no id. The error is ErrInvalid,
// ErrRangeTooLong, ErrNoRule, ErrNoTag or ErrNoAccount.
func (p *Person) PreviewRules(
	ctx context.Context, scope RuleScope, draft *Rule,
) (Preview, error) {
	if err := p.rules().checkScope(ctx, scope); err != nil {
		return Preview{}, err
	}
	rules, err := p.rules().rulesOfPreview(ctx, scope, draft)
	if err != nil {
		return Preview{}, err
	}
	accounts, err := p.rules().accountsOfScope(ctx, scope)
	if err != nil {
		return Preview{}, err
	}
	var out Preview
	for _, account := range accounts {
		r := Range{AccountID: account, From: scope.From, To: scope.To}
		for t, err := range p.All(ctx, r) {
			if err != nil {
				return Preview{}, err
			}
			out.Read++
			after := t.Clone()
			if !rules.apply(after) {
				continue
			}
			out.Changed++
			if len(out.Rows) < PreviewMax {
				out.Rows = append(out.Rows, RowChange{t, fieldChanges(&t, after)})
			}
		}
	}
	return out, nil
}

func (p rulebook) rulesOfPreview(
	ctx context.Context, scope RuleScope, draft *Rule,
) (*ruleset, error) {
	if draft == nil {
		return p.rulesetOfScope(ctx, scope)
	}
	rule := *draft
	if rule.ID == "" {
		rule.ID = "draft"
	}
	rule, err := p.checkedRule(ctx, rule)
	if err != nil {
		return nil, err
	}
	return p.rulesetOf(ctx, []Rule{rule})
}

// fieldChanges are the fields that rules changed.
func fieldChanges(before, after *Transaction) []FieldChange {
	var out []FieldChange
	add := func(field, was, is string) {
		if was != is {
			out = append(out, FieldChange{field, after.Ruled[field], was, is})
		}
	}
	add(FieldMerchant, before.Merchant, after.Merchant)
	add(FieldNotes, before.Notes, after.Notes)
	add(FieldTags, strings.Join(before.Tags, ", "), strings.Join(after.Tags, ", "))
	add(FieldTransfer, strconv.FormatBool(before.Transfer), strconv.FormatBool(after.Transfer))
	return out
}

// ApplyRules begins to apply rules to rows that are there already; the caller runs the returned job
// with RunJob. The rules are those that there are when it runs. The error is ErrRangeTooLong,
// ErrNoRule, ErrNoAccount or ErrTooMany.
func (p *Person) ApplyRules(ctx context.Context, scope RuleScope) (Job, error) {
	if err := p.rules().checkScope(ctx, scope); err != nil {
		return Job{}, err
	}
	jobs, err := p.Jobs(ctx)
	if err != nil {
		return Job{}, err
	}
	tx := p.store().NewTx()
	tx.SetToken(newToken())
	j, err := p.tagger().beginTx(tx, jobs, Job{Kind: ApplyingRules, Scope: scope})
	if err != nil {
		return Job{}, err
	}
	return j, wrapped("begin job", tx.Commit(ctx))
}

// checkScope refuses a scope of what is not there.
func (p rulebook) checkScope(ctx context.Context, scope RuleScope) error {
	if err := checkRange(scope.From, scope.To); err != nil {
		return err
	}
	if len(scope.AccountIDs) > AccountsMax || len(scope.RuleIDs) > RulesMax {
		return ErrInvalid.Field("scope", "names more accounts or rules than there can be")
	}
	if _, err := p.rulesetOfScope(ctx, scope); err != nil {
		return err
	}
	_, err := p.accountsOfScope(ctx, scope)
	return err
}

// rulesetOfScope returns the rules of a scope in the order in which rules are tried.
func (p rulebook) rulesetOfScope(ctx context.Context, scope RuleScope) (*ruleset, error) {
	rules, err := p.Rules(ctx)
	if err != nil {
		return nil, err
	}
	if len(scope.RuleIDs) == 0 {
		rules = slices.DeleteFunc(rules, func(r Rule) bool { return r.Disabled })
		return p.rulesetOf(ctx, rules)
	}
	var chosen []Rule
	for _, r := range rules {
		if slices.Contains(scope.RuleIDs, r.ID) {
			chosen = append(chosen, r)
		}
	}
	for _, id := range scope.RuleIDs {
		if !slices.ContainsFunc(chosen, func(r Rule) bool { return r.ID == id }) {
			return nil, ErrNoRule.With("rule", id)
		}
	}
	return p.rulesetOf(ctx, chosen)
}

// accountsOfScope returns the ids of the accounts in order.
func (p rulebook) accountsOfScope(ctx context.Context, scope RuleScope) ([]string, error) {
	accounts, err := p.accountsNamed(ctx, scope.AccountIDs)
	ids := idsOf(accounts)
	slices.Sort(ids)
	return ids, err
}

// prepareRules is for rows that rules change. Rules that were removed since the job began are left
// out.
func (r *jobRun) prepareRules(ctx context.Context) error {
	scope := r.job.Scope
	rules, err := r.p.Rules(ctx)
	if err != nil {
		return err
	}
	rules = slices.DeleteFunc(rules, func(rule Rule) bool {
		if len(scope.RuleIDs) == 0 {
			return rule.Disabled
		}
		return !slices.Contains(scope.RuleIDs, rule.ID)
	})
	ready, err := r.p.rules().rulesetOf(ctx, rules)
	if err != nil {
		return err
	}
	r.fix = ready.apply
	r.holds = func(s *Sheet) bool { return s.All.Count > 0 }
	if checkRange(scope.From, scope.To) == nil { // It may come from an archive.
		// Rows of another program are in no sheet, so every month is visited.
		r.visits = monthsOf(scope.From, scope.To)
	}
	return nil
}
