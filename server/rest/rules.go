package rest

import (
	"context"
	"fmt"
	"net/http"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// The forms of rules.
type (
	rule struct {
		ID string `json:"id" example:"rule-01k3zj8q0v9x2c4r6t8w0y2a4b"`
		RuleFields
		Version   uint64  `json:"version" doc:"Counts the changes; the ETag without its quotes"`
		CreatedAt instant `json:"createdAt,omitzero"`
		UpdatedAt instant `json:"updatedAt,omitzero"`
	}

	newRule struct {
		ID string `json:"id,omitempty" doc:"Makes the request safe to repeat; without it one is made"`
		RuleFields
	}

	// RuleFields are embedded, and so exported: the framework describes no others.
	RuleFields struct {
		Name       string      `json:"name" example:"Coffee"`
		Order      int         `json:"order,omitempty" minimum:"-2147483648" maximum:"2147483647" doc:"The least is tried first, of equals the older one"`
		Disabled   bool        `json:"disabled,omitempty"`
		Any        bool        `json:"any,omitempty" doc:"Whether one condition suffices; otherwise all must hold"`
		Conditions []condition `json:"conditions" nullable:"false" doc:"1 to 20; they look at what the bank wrote"`
		Set        setting     `json:"set" doc:"What the rule does where they hold; never over a person's own edit"`
		Stop       bool        `json:"stop,omitempty" doc:"Whether no later rule is tried on a row where it held"`
	}

	condition struct {
		Field  statements.RuleField `json:"field" enum:"text,merchant,counterparty,reference,category,amount,account,currency"`
		Op     statements.RuleOp    `json:"op" enum:"contains,equals,begins,ends,regexp,less,more,between"`
		Not    bool                 `json:"not,omitempty" doc:"Whether it must not hold"`
		Text   string               `json:"text,omitempty" doc:"In any case" example:"coffee"`
		Amount *payload.Decimal     `json:"amount,omitempty" doc:"With its sign: less than 0 is money out" example:"-20"`
		To     *payload.Decimal     `json:"to,omitempty" doc:"The upper end of between, included" example:"0"`
	}

	setting struct {
		Merchant string   `json:"merchant,omitempty" example:"Coffee Supreme"`
		Notes    string   `json:"notes,omitempty"`
		TagIDs   []string `json:"tagIds,omitempty" nullable:"false"`
		Transfer *bool    `json:"transfer,omitempty"`
	}

	ruleScope struct {
		AccountIDs []string `json:"accountIds,omitempty" nullable:"false" doc:"None means all"`
		From       bankDate `json:"from" format:"date" doc:"The first day" example:"2025-08-01"`
		To         bankDate `json:"to" format:"date" doc:"The last day, which is included" example:"2025-08-31"`
		RuleIDs    []string `json:"ruleIds,omitempty" nullable:"false" doc:"None means all that are not disabled"`
	}

	previewRules struct {
		Scope ruleScope   `json:"scope"`
		Draft *RuleFields `json:"draft,omitempty" doc:"A rule that is not saved yet; it is tried alone"`
	}

	rulesPreview struct {
		Read    int         `json:"read" doc:"Rows that were looked at"`
		Changed int         `json:"changed" doc:"Rows that would change, also those not listed"`
		Rows    []rowChange `json:"rows" nullable:"false" doc:"The first that would change"`
	}

	rowChange struct {
		Transaction bankTransaction `json:"transaction" doc:"As it is"`
		Fields      []ruledField    `json:"fields" nullable:"false"`
	}

	ruledField struct {
		Field  string `json:"field" example:"merchant"`
		RuleID string `json:"ruleId"`
		Before string `json:"before"`
		After  string `json:"after"`
	}
)

// RulePath is the parameter that names a rule of the caller.
type RulePath struct {
	Rule string `path:"rule" doc:"The rule's id" example:"rule-01k3zj8q0v9x2c4r6t8w0y2a4b"`
}

type (
	rulesBodyParams struct{ WithBody }
	ruleParams      struct {
		Conditional
		RulePath
	}
	changeRuleParams struct {
		WithBody
		Guarded
		RulePath
	}
	deleteRuleParams struct {
		Guarded
		RulePath
	}
)

func ruleOf(r statements.Rule) rule {
	return rule{
		ID: r.ID, Version: r.Version, CreatedAt: instant(r.CreatedAt),
		UpdatedAt: instant(r.UpdatedAt),
		RuleFields: RuleFields{
			Name: r.Name, Order: r.Order, Disabled: r.Disabled, Any: r.Any, Stop: r.Stop,
			Set: setting(r.Set),
			Conditions: All(r.Conditions, func(c statements.Condition) condition {
				out := condition{Field: c.Field, Op: c.Op, Not: c.Not, Text: c.Text}
				if c.Amount != nil {
					out.Amount = decimal(c.Amount.String())
				}
				if c.To != nil {
					out.To = decimal(c.To.String())
				}
				return out
			}),
		},
	}
}

func decimal(s string) *payload.Decimal {
	d := payload.Decimal(s)
	return &d
}

// rule reads a rule of a body.
func (f *RuleFields) rule() (statements.Rule, error) {
	var wrong problem.Fields
	r := statements.Rule{
		Name: f.Name, Order: f.Order, Disabled: f.Disabled, Any: f.Any, Stop: f.Stop,
		Set: statements.Setting(f.Set),
	}
	for i, c := range f.Conditions {
		at := fmt.Sprintf("conditions[%d].", i)
		r.Conditions = append(r.Conditions, statements.Condition{
			Field: c.Field, Op: c.Op, Not: c.Not, Text: c.Text,
			Amount: readDecimal(&wrong, at+"amount", c.Amount),
			To:     readDecimal(&wrong, at+"to", c.To),
		})
	}
	return r, wrong.Err(statements.ErrInvalid)
}

func (s ruleScope) scope() statements.RuleScope { return statements.RuleScope(s) }

func (a *API) registerRules() {
	const chapter, read, write = tagRules, api.StatementsRead, api.StatementsWrite
	example := RuleFields{
		Name:       "Coffee",
		Conditions: []condition{{Field: "text", Op: "contains", Text: "coffee"}},
		Set:        setting{Merchant: "Coffee Supreme"},
	}
	scope := ruleScope{From: "2025-08-01", To: "2025-08-31"}
	wrong := []*problem.Definition{
		statements.ErrInvalid, statements.ErrNoTag, statements.ErrNoAccount,
	}
	register(a.Router, operation{
		id: "list-rules", method: http.MethodGet, path: "/v1/me/rules", tag: chapter, scope: read,
		personal: true, summary: "List the rules",
		description: "In the order in which they are tried.",
	}, a.rules)
	registerBody(a.Router, operation{
		id: "create-rule", method: http.MethodPost, path: "/v1/me/rules", tag: chapter,
		scope: write, personal: true, status: http.StatusCreated, repeats: true,
		summary: "Create a rule",
		description: "It is tried on what comes from now on; apply it to have it tried on what is " +
			"there. A repeat with the same id and contents gets the rule with status 200 and " +
			"Idempotent-Replayed: true; with other contents it is a conflict that names the member.",
		example: newRule{RuleFields: example},
		problems: append(wrong[:len(wrong):len(wrong)], statements.ErrKeyUsed,
			statements.ErrTooMany, statements.ErrChanged),
	}, a.createRule)
	register(a.Router, operation{
		id: "get-rule", method: http.MethodGet, path: "/v1/me/rules/{rule}", tag: chapter,
		scope: read, personal: true, summary: "Get a rule",
		problems: []*problem.Definition{statements.ErrNoRule},
	}, a.rule)
	registerBody(a.Router, operation{
		id: "change-rule", method: http.MethodPut, path: "/v1/me/rules/{rule}", tag: chapter,
		scope: write, personal: true, summary: "Change a rule",
		description: "All of it is replaced, its place in the order too.", example: example,
		problems: append(wrong[:len(wrong):len(wrong)], statements.ErrNoRule,
			statements.ErrChanged),
	}, a.changeRule)
	register(a.Router, operation{
		id: "delete-rule", method: http.MethodDelete, path: "/v1/me/rules/{rule}", tag: chapter,
		scope: write, personal: true, status: http.StatusNoContent, summary: "Delete a rule",
		description: "What it set stays.",
		problems:    []*problem.Definition{statements.ErrNoRule, statements.ErrChanged},
	}, a.deleteRule)
	registerBody(a.Router, operation{
		id: "preview-rules", method: http.MethodPost, path: "/v1/me/rules/preview", tag: chapter,
		scope: read, personal: true, stream: true, summary: "Tell what rules would change",
		description: "Nothing is changed. A draft is tried alone, in place of the rules of the scope.",
		example:     previewRules{Scope: scope, Draft: &example},
		problems: append(wrong[:len(wrong):len(wrong)], statements.ErrRangeTooLong,
			statements.ErrNoRule),
	}, a.previewRules)
	registerBody(a.Router, operation{
		id: "apply-rules", method: http.MethodPost, path: "/v1/me/rules/apply", tag: chapter,
		scope: write, personal: true, status: http.StatusAccepted,
		summary:     "Begin to apply rules to what is there",
		description: "It answers a job; run it. What a person set is never changed.",
		example:     scope,
		problems: []*problem.Definition{
			statements.ErrRangeTooLong, statements.ErrInvalid, statements.ErrNoRule,
			statements.ErrNoAccount, statements.ErrTooMany,
		},
	}, a.applyRules)
}

func (a *API) rules(ctx context.Context, _ *struct{}) (*answer[list[rule]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := p.Rules(ctx)
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return nil, err
	}
	return convert(singletable.Page[statements.Rule]{Items: rules, Unreadable: bad}, ruleOf), nil
}

func (a *API) createRule(
	ctx context.Context, _ *rulesBodyParams, body *newRule,
) (*made[rule], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	r, err := body.rule()
	if err != nil {
		return nil, err
	}
	r.ID = body.ID
	r, fresh, err := p.CreateRule(ctx, r)
	if err != nil {
		return nil, err
	}
	return newMade(fresh, "/v1/me/rules/"+escape(r.ID), r.Version, ruleOf(r)), nil
}

func (a *API) rule(ctx context.Context, in *ruleParams) (*tagged[rule], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.Rule(ctx, in.Rule)
	if err != nil {
		return nil, err
	}
	return newVersioned(in.IfNoneMatch, r.Version, ruleOf(r)), nil
}

func (a *API) changeRule(
	ctx context.Context, in *changeRuleParams, body *RuleFields,
) (*stated[rule], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	r, err := body.rule()
	if err != nil {
		return nil, err
	}
	r.ID = in.Rule
	r.Version = in.version()
	if r, err = p.ChangeRule(ctx, r); err != nil {
		return nil, err
	}
	return newStated(r.Version, ruleOf(r)), nil
}

func (a *API) deleteRule(ctx context.Context, in *deleteRuleParams) (*struct{}, error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	return nil, p.DeleteRule(ctx, in.Rule, in.version())
}

func (a *API) previewRules(
	ctx context.Context, _ *rulesBodyParams, body *previewRules,
) (*answer[rulesPreview], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	var draft *statements.Rule
	if body.Draft != nil {
		r, err := body.Draft.rule()
		if err != nil {
			return nil, err
		}
		draft = &r
	}
	v, err := p.PreviewRules(ctx, body.Scope.scope(), draft)
	if err != nil {
		return nil, err
	}
	return &answer[rulesPreview]{Body: rulesPreview{
		Read: v.Read, Changed: v.Changed,
		Rows: All(v.Rows, func(c statements.RowChange) rowChange {
			return rowChange{
				bankTransactionOf(c.Transaction),
				All(c.Fields, func(f statements.FieldChange) ruledField {
					return ruledField(f)
				}),
			}
		}),
	}}, nil
}

func (a *API) applyRules(
	ctx context.Context, _ *rulesBodyParams, body *ruleScope,
) (*created[job], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	return begunJob(p.ApplyRules(ctx, body.scope()))
}
