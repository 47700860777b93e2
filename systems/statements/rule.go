package statements

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Rule tags and renames rows by itself. It looks at what the bank wrote, which never changes, so
// that it can be tried again at any time; and it never changes what a person set.
type Rule struct {
	UserID string `dynamodbav:"userId,keyonly"`
	ID     string `dynamodbav:"ruleId,keyonly"`
	Name   string `dynamodbav:"name,present"`
	// Order is when it is tried: the least first, and of equals the older one.
	Order    int  `dynamodbav:"order"`
	Disabled bool `dynamodbav:"disabled,omitempty"`
	// Any makes one condition suffice; otherwise all must hold. There are 1 to ConditionsMax.
	Any        bool        `dynamodbav:"any,omitempty"`
	Conditions []Condition `dynamodbav:"conditions,required"`
	// Set is what the rule does where they hold.
	Set Setting `dynamodbav:"set"`
	// Stop ends the work on a row where the rule held: no later rule is tried.
	Stop bool `dynamodbav:"stop,omitempty"`

	CreatedAt time.Time `dynamodbav:"createdAt"`
	UpdatedAt time.Time `dynamodbav:"updatedAt"`
	Version   uint64    `dynamodbav:"version,omitempty"`
}

// Setting is what a rule sets. Of several rules that hold the first to set a field wins; tags add
// up.
type Setting struct {
	Merchant string   `dynamodbav:"merchant,omitempty"`
	Notes    string   `dynamodbav:"notes,omitempty"`
	TagIDs   []string `dynamodbav:"tagIds,omitempty"`
	Transfer *bool    `dynamodbav:"transfer,omitempty"`
}

// RuleField is what a condition looks at.
type RuleField string

// The fields of conditions. The merchant is the one in the bank's text, regardless of what a person
// or a rule has made of it.
const (
	OnText         RuleField = "text"
	OnMerchant     RuleField = "merchant"
	OnCounterparty RuleField = "counterparty"
	OnReference    RuleField = "reference"
	OnCategory     RuleField = "category"
	OnAmount       RuleField = "amount"
	OnAccount      RuleField = "account" // Its id.
	OnCurrency     RuleField = "currency"
)

// RuleOp is how a condition compares.
type RuleOp string

// The comparisons. Those of texts take no notice of the case of letters; RE2's expressions are
// those of Go's package regexp. Amounts have their sign: less than 0 is money out.
const (
	OpContains RuleOp = "contains"
	OpEquals   RuleOp = "equals" // Also of amounts.
	OpBegins   RuleOp = "begins"
	OpEnds     RuleOp = "ends"
	OpRegexp   RuleOp = "regexp"
	OpLess     RuleOp = "less"
	OpMore     RuleOp = "more"
	OpBetween  RuleOp = "between" // Both ends included.
)

// Condition is one thing that a rule demands of a row.
type Condition struct {
	Field RuleField `dynamodbav:"field"`
	Op    RuleOp    `dynamodbav:"op"`
	Not   bool      `dynamodbav:"not,omitempty"` // It must not hold.
	// Text is what a text is compared with: 1 to NameMax bytes, or RegexpMax.
	Text string `dynamodbav:"text,omitempty"`
	// Amount is what an amount is compared with, or the lower end; To is the upper end.
	Amount *money.Decimal `dynamodbav:"amount,omitempty"`
	To     *money.Decimal `dynamodbav:"to,omitempty"`
}

// CreateRule makes a rule. A repeat with the same id and contents returns the first one, and made
// is false. What the books count themselves is ignored: user, times and version. The error is
// ErrInvalid, ErrNoTag, ErrNoAccount, ErrKeyUsed, ErrTooMany or ErrChanged.
func (p *Person) CreateRule(ctx context.Context, r Rule) (_ Rule, made bool, _ error) {
	if r.ID == "" {
		r.ID = p.newID("rule")
	}
	r, err := p.rules().checkedRule(ctx, r)
	if err != nil {
		return Rule{}, false, err
	}
	r.CreatedAt, r.Version = p.now(), 1
	r.UpdatedAt = r.CreatedAt
	for range editsMax {
		rules, err := p.Rules(ctx)
		if err != nil {
			return Rule{}, false, err
		}
		for _, found := range rules {
			switch {
			case found.ID != r.ID:
			case r.difference(found) == "":
				return found, false, nil
			default:
				return Rule{}, false, keyUsed(r.ID, r.difference(found))
			}
		}
		if len(rules) >= RulesMax {
			return Rule{}, false, ErrTooMany.With("what", "rules").With("limit", RulesMax)
		}
		err = p.rules().
			putRule(ctx, r, func(tx *singletable.Tx) { modelOf(p).rules.CreateTx(tx, r) })
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return r, err == nil, err
		}
	}
	return Rule{}, false, ErrContended.With("items", "the rules")
}

// ChangeRule replaces a rule by r. Its version is the one that the caller has seen; 0 means
// any. The error is ErrInvalid, ErrNoRule, ErrNoTag, ErrNoAccount or ErrChanged.
func (p *Person) ChangeRule(ctx context.Context, r Rule) (Rule, error) {
	r, err := p.rules().checkedRule(ctx, r)
	if err != nil {
		return Rule{}, err
	}
	for range editsMax {
		before, err := p.Rule(ctx, r.ID)
		if err != nil {
			return Rule{}, err
		}
		if !isSeen(r.Version, before.Version) {
			return Rule{}, ErrChanged.With("what", "Rule "+r.ID)
		}
		after := r
		after.CreatedAt, after.UpdatedAt = before.CreatedAt, p.now()
		after.Version = before.Version + 1
		err = p.rules().putRule(ctx, after, func(tx *singletable.Tx) {
			modelOf(p).rules.PutTx(tx, after, modelOf(p).rules.Exists(),
				modelOf(p).versions.rule.Equals(before.Version))
		})
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return after, err
		}
	}
	return Rule{}, ErrContended.With("items", "the rules")
}

// putRule writes a rule while all its tags are there. The error is ErrConditionFailed where the
// rule is not as it was.
func (p rulebook) putRule(ctx context.Context, r Rule, put func(*singletable.Tx)) error {
	tx := p.store().NewTx()
	tx.SetToken(newToken())
	put(tx)
	tags := modelOf(p.Person).tags
	for _, id := range r.Set.TagIDs {
		tags.CheckTx(tx, Tag{UserID: p.id, ID: id}, tags.Exists())
	}
	err := tx.Commit(ctx)
	for _, f := range singletable.FailuresOf(err) {
		if f.Entity == modelOf(p.Person).tags.Name() && f.Kind == singletable.FailedCondition {
			return ErrChanged.With("what", "A tag of the rule")
		}
	}
	if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
		return failed("save rule", err)
	}
	return err
}

// DeleteRule removes a rule; what it set stays. The error is ErrNoRule or ErrChanged.
func (p *Person) DeleteRule(ctx context.Context, id string, version uint64) error {
	for range editsMax {
		r, err := p.Rule(ctx, id)
		if err != nil {
			return err
		}
		if !isSeen(version, r.Version) {
			return ErrChanged.With("what", "Rule "+id)
		}
		err = modelOf(p).rules.Delete(ctx, p.store(), r, modelOf(p).rules.Exists(),
			modelOf(p).versions.rule.Equals(r.Version))
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return wrapped("delete rule", err)
		}
	}
	return ErrContended.With("items", "the rules")
}

// Rule returns a rule. The error is ErrNoRule.
func (p *Person) Rule(ctx context.Context, id string) (Rule, error) {
	if id == "" {
		return Rule{}, ErrNoRule.With("rule", id)
	}
	r, found, err := modelOf(p).rules.Get(ctx, p.store(), Rule{UserID: p.id, ID: id},
		singletable.Consistent())
	if err != nil {
		return Rule{}, failed("read rule", err)
	}
	if !found {
		return Rule{}, ErrNoRule.With("rule", id)
	}
	return r, nil
}

// Rules returns the rules of the user in the order in which they are tried.
func (p *Person) Rules(ctx context.Context) ([]Rule, error) {
	var rules []Rule
	var bad singletable.UnreadableRows
	for r, err := range modelOf(p).rulesOf.All(ctx, p.store(), OfUser{p.id}) {
		if item, unreadable := singletable.AsUnreadable(err); unreadable {
			bad = append(bad, item)
			continue
		}
		if err != nil {
			return nil, failed("read rules", err)
		}
		rules = append(rules, r)
	}
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.ID, b.ID))
	})
	return rules, nil
}

// difference names the first member in which a rule is not the one asked for, or returns "".
func (r *Rule) difference(found Rule) string {
	switch {
	case r.Name != found.Name:
		return "name"
	case r.Order != found.Order:
		return "order"
	case r.Disabled != found.Disabled:
		return "disabled"
	case r.Any != found.Any:
		return "any"
	case !reflect.DeepEqual(r.Conditions, found.Conditions):
		return "conditions"
	case !reflect.DeepEqual(r.Set, found.Set):
		return "set"
	case r.Stop != found.Stop:
		return "stop"
	}
	return ""
}

// replaceInRules makes another tag of one in all rules, or none where to is empty. A rule that has
// nothing left to set is disabled.
func (p rulebook) replaceInRules(ctx context.Context, id, to string) error {
	rules, err := p.Rules(ctx)
	if err != nil {
		return err
	}
	for _, r := range rules {
		for range editsMax {
			if !slices.Contains(r.Set.TagIDs, id) {
				break
			}
			before := r.Version
			r.replaceTag(id, to)
			r.UpdatedAt, r.Version = p.now(), before+1
			err := modelOf(p.Person).rules.Put(ctx, p.store(), r, modelOf(p.Person).rules.Exists(),
				modelOf(p.Person).versions.rule.Equals(before))
			if err == nil {
				break
			}
			if !errors.Is(err, singletable.ErrConditionFailed) {
				return failed("save rule", err)
			}
			if r, err = p.Rule(ctx, r.ID); errors.Is(err, ErrNoRule) {
				break
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Rule) replaceTag(id, to string) {
	var ids []string
	for _, has := range r.Set.TagIDs {
		if has == id {
			has = to
		}
		if has != "" && !slices.Contains(ids, has) {
			ids = append(ids, has)
		}
	}
	r.Set.TagIDs = ids
	if r.Set.empty() {
		r.Disabled = true
	}
}
