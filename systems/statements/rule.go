package statements

import (
	"context"
	"errors"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// Rule tags and renames rows by itself. It looks at what the bank wrote, which never changes, so
// that it can be tried again at any time; and it never changes what a person set.
type Rule struct {
	UserID string `dynamodbav:"userId,keyonly"`
	ID     string `dynamodbav:"ruleId,keyonly"`
	Name   string `dynamodbav:"name"`
	// Order says when it is tried: the least first, and of equals the older one.
	Order    int  `dynamodbav:"order"`
	Disabled bool `dynamodbav:"disabled,omitempty"`
	// Any makes one condition suffice; otherwise all must hold. There are 1 to ConditionsMax.
	Any        bool        `dynamodbav:"any,omitempty"`
	Conditions []Condition `dynamodbav:"conditions"`
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

// The fields of conditions. The merchant is the one that the bank's text tells, whatever a person
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

// CreateRule makes a rule. A repeat with the same id and contents returns the first one. What the
// books count themselves is ignored: user, times and version. The error is ErrInvalid, ErrNoTag,
// ErrNoAccount, ErrKeyUsed or ErrTooMany.
func (p *Person) CreateRule(ctx context.Context, r Rule) (Rule, error) {
	return Rule{}, errors.ErrUnsupported
}

// ChangeRule makes a rule what r says. Its version is the one that the caller has seen; 0 means
// any. The error is ErrInvalid, ErrNoRule, ErrNoTag, ErrNoAccount or ErrChanged.
func (p *Person) ChangeRule(ctx context.Context, r Rule) (Rule, error) {
	return Rule{}, errors.ErrUnsupported
}

// DeleteRule removes a rule; what it set stays. The error is ErrNoRule or ErrChanged.
func (p *Person) DeleteRule(ctx context.Context, id string, version uint64) error {
	return errors.ErrUnsupported
}

// Rule returns a rule. The error is ErrNoRule.
func (p *Person) Rule(ctx context.Context, id string) (Rule, error) {
	return Rule{}, errors.ErrUnsupported
}

// Rules returns the rules of the user in the order in which they are tried.
func (p *Person) Rules(ctx context.Context) ([]Rule, error) {
	return nil, errors.ErrUnsupported
}

// replaceInRules makes another tag of one in rules, or none.
func (p *Person) replaceInRules(ctx context.Context, id, to string) error { return nil }
