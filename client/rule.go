package client

import (
	"context"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// RuleID identifies a rule of a person.
type RuleID string

// Rule tags and renames rows by itself, but for what a person set.
type Rule struct {
	ID RuleID `json:"id"`
	RuleFields
	Version   uint64    `json:"version"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// RuleFields are what a rule is.
type RuleFields struct {
	Name string `json:"name"`
	// Order says when it is tried: the least first.
	Order    int  `json:"order,omitempty"`
	Disabled bool `json:"disabled,omitempty"`
	// Any makes one condition suffice; otherwise all must hold.
	Any        bool            `json:"any,omitempty"`
	Conditions []RuleCondition `json:"conditions"`
	// Set is what the rule does where they hold.
	Set RuleSetting `json:"set"`
	// Stop ends the work on a row where the rule held.
	Stop bool `json:"stop,omitempty"`
}

// RuleCondition is one thing that a rule demands of a row. It looks at what the bank wrote.
type RuleCondition struct {
	// Field is text, merchant, counterparty, reference, category, amount, account or currency.
	Field string `json:"field"`
	// Op is contains, equals, begins, ends, regexp, less, more or between.
	Op     string         `json:"op"`
	Not    bool           `json:"not,omitempty"`
	Text   string         `json:"text,omitempty"`
	Amount *money.Decimal `json:"amount,omitempty"`
	To     *money.Decimal `json:"to,omitempty"`
}

// RuleSetting is what a rule sets.
type RuleSetting struct {
	Merchant string  `json:"merchant,omitempty"`
	Notes    string  `json:"notes,omitempty"`
	TagIDs   []TagID `json:"tagIds,omitempty"`
	Transfer *bool   `json:"transfer,omitempty"`
}

// NewRule asks for a rule.
type NewRule struct {
	// ID makes the request safe to repeat; empty means that the server makes one up.
	ID RuleID `json:"id,omitempty"`
	RuleFields
}

// RuleScope says which rows rules are tried on.
type RuleScope struct {
	// AccountIDs are the accounts; none means all.
	AccountIDs []BankAccountID `json:"accountIds,omitempty"`
	// From and To are days, both included.
	From Date `json:"from"`
	To   Date `json:"to"`
	// RuleIDs are the rules to try; none means all that are not disabled.
	RuleIDs []RuleID `json:"ruleIds,omitempty"`
}

// RulesPreview is what rules would change.
type RulesPreview struct {
	Read    int          `json:"read"`    // Rows that were looked at.
	Changed int          `json:"changed"` // Rows that would change, also those not listed.
	Rows    []RuleChange `json:"rows"`
}

// RuleChange is what would become of one row.
type RuleChange struct {
	Transaction BankTransaction `json:"transaction"` // As it is.
	Fields      []struct {
		Field  string `json:"field"`
		RuleID RuleID `json:"ruleId"`
		Before string `json:"before"`
		After  string `json:"after"`
	} `json:"fields"`
}

// Rules returns the rules of the caller in the order in which they are tried.
func (c *Client) Rules(ctx context.Context) ([]Rule, error) {
	page, err := answer[Page[Rule]](ctx, c.get("/v1/me/rules", nil))
	return page.rows(err)
}

// RuleReceipt is the answer to a request for a rule.
type RuleReceipt struct {
	Rule
	// Replayed reports whether an earlier, equal request created it, which is as it is now.
	Replayed bool `json:"-"`
}

// CreateRule creates a rule.
func (c *Client) CreateRule(ctx context.Context, n NewRule) (RuleReceipt, error) {
	r := c.post("/v1/me/rules", n)
	r.safe = n.ID != ""
	made, replayed, err := repeatable[Rule](ctx, r)
	return RuleReceipt{made, replayed}, err
}

// Rule returns a rule.
func (c *Client) Rule(ctx context.Context, id RuleID) (Rule, error) {
	return answer[Rule](ctx, c.get("/v1/me/rules/"+segment(id), nil))
}

// ChangeRule replaces a rule. With a version it must still be that one; 0 means any.
func (c *Client) ChangeRule(
	ctx context.Context, id RuleID, version uint64, f RuleFields,
) (Rule, error) {
	r := c.guarded(http.MethodPut, "/v1/me/rules/"+segment(id), version, f)
	r.safe = version == 0
	return answer[Rule](ctx, r)
}

// DeleteRule removes a rule; what it set stays.
func (c *Client) DeleteRule(ctx context.Context, id RuleID, version uint64) error {
	return done(ctx, c.guarded(http.MethodDelete, "/v1/me/rules/"+segment(id), version, nil))
}

// PreviewRules tells what rules would change, and changes nothing. A draft, which may be nil, is
// tried alone.
func (c *Client) PreviewRules(
	ctx context.Context, scope RuleScope, draft *RuleFields,
) (RulesPreview, error) {
	r := c.post("/v1/me/rules/preview", struct {
		Scope RuleScope   `json:"scope"`
		Draft *RuleFields `json:"draft,omitempty"`
	}{scope, draft})
	r.safe = true
	return answer[RulesPreview](ctx, r)
}

// ApplyRules begins to apply rules to what is there; the job is to be run.
func (c *Client) ApplyRules(ctx context.Context, scope RuleScope) (Job, error) {
	return answer[Job](ctx, c.post("/v1/me/rules/apply", scope))
}
