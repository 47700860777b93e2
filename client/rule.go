package client

import (
	"context"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// RuleID identifies a rule of a person.
type RuleID string

// Rule tags and renames rows automatically, but never changes fields that a person set.
type Rule struct {
	ID RuleID `json:"id"`
	RuleFields
	Version   uint64    `json:"version"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
}

// RuleFields are the fields of a rule.
type RuleFields struct {
	Name string `json:"name"`
	// Order determines when the rule is tried: the smallest first.
	Order    int  `json:"order,omitempty"`
	Disabled bool `json:"disabled,omitempty"`
	// Any requires only one condition to hold; otherwise all must hold.
	Any        bool            `json:"any,omitempty"`
	Conditions []RuleCondition `json:"conditions"`
	// Set is the changes of the rule if they hold.
	Set RuleSetting `json:"set"`
	// Stop ends the rules for a row if this one matched.
	Stop bool `json:"stop,omitempty"`
}

// RuleCondition is a condition of a rule on a row. It uses the fields as the bank wrote them.
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

// RuleSetting is the fields that a rule sets.
type RuleSetting struct {
	Merchant string  `json:"merchant,omitempty"`
	Notes    string  `json:"notes,omitempty"`
	TagIDs   []TagID `json:"tagIds,omitempty"`
	Transfer *bool   `json:"transfer,omitempty"`
}

// NewRule is a request to create a rule.
type NewRule struct {
	// ID makes the request safe to repeat. If it is empty, the server generates one.
	ID RuleID `json:"id,omitempty"`
	RuleFields
}

// RuleScope selects the rows on which rules are tried.
type RuleScope struct {
	// AccountIDs are the accounts; none means all.
	AccountIDs []BankAccountID `json:"accountIds,omitempty"`
	// From and To are days, both included.
	From Date `json:"from"`
	To   Date `json:"to"`
	// RuleIDs are the rules to try; none means all that are not disabled.
	RuleIDs []RuleID `json:"ruleIds,omitempty"`
}

// RulesPreview is the changes that rules would make.
type RulesPreview struct {
	Read    int          `json:"read"`    // rows that were checked
	Changed int          `json:"changed"` // rows that would change, including those not listed
	Rows    []RuleChange `json:"rows"`
}

// RuleChange is the change that rules would make to one row.
type RuleChange struct {
	Transaction BankTransaction `json:"transaction"` // in its present state
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
	return page.Rows(err)
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

// ChangeRule replaces a rule. A version other than 0 must be the current one.
func (c *Client) ChangeRule(
	ctx context.Context, id RuleID, version uint64, f RuleFields,
) (Rule, error) {
	r := c.guarded(http.MethodPut, "/v1/me/rules/"+segment(id), version, f)
	r.safe = version == 0
	return answer[Rule](ctx, r)
}

// DeleteRule deletes a rule; fields that it set keep their values.
func (c *Client) DeleteRule(ctx context.Context, id RuleID, version uint64) error {
	return done(ctx, c.guarded(http.MethodDelete, "/v1/me/rules/"+segment(id), version, nil))
}

// PreviewRules returns the changes that rules would make, without making them. A draft, which may
// be nil, is tried alone.
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

// ApplyRules starts to apply rules to existing rows; the job must be run.
func (c *Client) ApplyRules(ctx context.Context, scope RuleScope) (Job, error) {
	return answer[Job](ctx, c.post("/v1/me/rules/apply", scope))
}
