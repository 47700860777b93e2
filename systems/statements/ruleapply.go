package statements

import (
	"context"
	"errors"
)

// RuleScope says which rows rules are tried on.
type RuleScope struct {
	// AccountIDs are the accounts; none means all.
	AccountIDs []string `dynamodbav:"accountIds,omitempty"`
	// From and To are the first and the last day, at most MonthsMax months apart.
	From Date `dynamodbav:"from,omitempty"`
	To   Date `dynamodbav:"to,omitempty"`
	// RuleIDs are the rules to try, also disabled ones; none means all that are not disabled.
	RuleIDs []string `dynamodbav:"ruleIds,omitempty"`
}

// Preview is what rules would change.
type Preview struct {
	Read    int // Rows that were looked at.
	Changed int // Rows that would change, also those not listed.
	// Rows are the first PreviewMax rows that would change.
	Rows []RowChange
}

// RowChange is what would become of one row.
type RowChange struct {
	Transaction Transaction // As it is.
	Fields      []FieldChange
}

// FieldChange is what would become of one field. Tags are their texts, joined by commas.
type FieldChange struct {
	Field         string // One of those of Transaction.Ruled.
	RuleID        string
	Before, After string
}

// PreviewRules tells what rules would change in a scope, and changes nothing. A draft is tried
// alone, in place of the rules of the scope. The error is ErrInvalid, ErrInvalidRange, ErrNoRule,
// ErrNoTag or ErrNoAccount.
func (p *Person) PreviewRules(
	ctx context.Context, scope RuleScope, draft *Rule,
) (Preview, error) {
	return Preview{}, errors.ErrUnsupported
}

// ApplyRules begins to apply rules to rows that are there already; the caller runs the returned job
// with RunJob. The error is ErrInvalidRange, ErrNoRule or ErrNoAccount.
func (p *Person) ApplyRules(ctx context.Context, scope RuleScope) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

func (r *jobRun) prepareRules(ctx context.Context) error { return nil }
