package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// pattern is an access pattern in an answer.
type pattern struct {
	Name       string         `json:"name" example:"transactions-by-status"`
	Sentence   string         `json:"sentence" doc:"What it answers"`
	System     string         `json:"system" doc:"The system whose question it is" example:"ledger"`
	Table      string         `json:"table" example:"FinancialTransactions"`
	Index      string         `json:"index,omitempty" doc:"Absent where the table itself is read" example:"GSI1"`
	Operation  string         `json:"operation" enum:"GetItem,Query,Scan"`
	Where      string         `json:"where,omitempty" doc:"The key condition, with inputs in angle brackets"`
	Partitions string         `json:"partitions" doc:"Over how many partitions the rows are spread" example:"1"`
	Entities   []string       `json:"entities" nullable:"false" doc:"The kinds of items that it returns"`
	Inputs     []patternInput `json:"inputs" nullable:"false"`
	Plan       *plan          `json:"plan,omitempty" doc:"What a page does and costs, with the inputs' names in place of their values; in the answer about one pattern"`
}

type patternInput struct {
	Name     string `json:"name" example:"Status"`
	Type     string `json:"type" enum:"text,time,integer,number,boolean,bytes" doc:"How the text of the input is read"`
	Required bool   `json:"required"`
	Use      string `json:"use" doc:"What the input is for" example:"partition key"`
}

// plan returns what a pattern will do.
type plan struct {
	Requests      []planRequest `json:"requests" nullable:"false" doc:"The requests, in DynamoDB's terms"`
	Calls         int           `json:"calls" doc:"How many calls a page typically takes"`
	CallsMost     int           `json:"callsMost" doc:"How many calls it takes at the most"`
	ReadUnits     float64       `json:"readUnits" doc:"The capacity units that a page typically takes"`
	ReadUnitsMost float64       `json:"readUnitsMost" doc:"The capacity units that it takes at the most"`
	Notes         []string      `json:"notes" nullable:"false" doc:"What the figures assume"`
}

// planRequest is a request to the store, as DynamoDB's API has it.
type planRequest struct {
	Operation string                       `json:"Operation"`
	Table     string                       `json:"TableName"`
	Index     string                       `json:"IndexName,omitempty"`
	Key       map[string]map[string]string `json:"Key,omitempty"`
	Condition string                       `json:"KeyConditionExpression,omitempty"`
	Filter    string                       `json:"FilterExpression,omitempty"`
	Names     map[string]string            `json:"ExpressionAttributeNames,omitempty"`
	Values    map[string]map[string]string `json:"ExpressionAttributeValues,omitempty"`
	Forward   *bool                        `json:"ScanIndexForward,omitempty"`
	Limit     int                          `json:"Limit,omitempty"`
	Strong    bool                         `json:"ConsistentRead,omitempty"`
}

// runPattern is the body that runs a pattern.
type runPattern struct {
	Inputs map[string]string `json:"inputs,omitempty" doc:"The inputs as text, by name"`
	Limit  int               `json:"limit,omitempty" minimum:"1" maximum:"1000" doc:"The maximum number of rows; 100 without it"`
	Cursor string            `json:"cursor,omitempty" doc:"The member next of the page before; leave it out for the first page"`
}

// patternRun is what a pattern returned.
type patternRun struct {
	Rows       []json.RawMessage `json:"rows" nullable:"false" doc:"The items, as objects"`
	Next       string            `json:"next,omitempty" doc:"The cursor of the next page; absent on the last"`
	Unreadable []unreadable      `json:"unreadable,omitempty" nullable:"false" doc:"The stored items among the rows of this page that cannot be read; absent if all can"`
	Plan       plan              `json:"plan"`
	Calls      int               `json:"calls" doc:"How many calls the page took"`
	ReadUnits  float64           `json:"readUnits" doc:"The capacity units that the page took, measured"`
	Took       int64             `json:"tookNanoseconds" doc:"How long the page took"`
}

type patternParams struct {
	Name string `path:"name" doc:"The pattern's name" example:"transactions-by-status"`
}

type runParams struct {
	WithBody
	Name string `path:"name" doc:"The pattern's name" example:"transactions-by-status"`
}

func (a *API) registerPatterns() {
	const tag = "Patterns"
	register(a.Router, operation{
		id: "list-patterns", method: http.MethodGet, path: "/v1/patterns", tag: tag,
		scope: api.StoreRead, summary: "List the access patterns",
		description: "Everything that the systems of this server ask of their tables.",
	}, a.patterns)
	register(a.Router, operation{
		id: "get-pattern", method: http.MethodGet, path: "/v1/patterns/{name}", tag: tag,
		scope: api.StoreRead, summary: "Describe an access pattern, with its plan",
		problems: []*problem.Definition{ErrPatternNotFound},
	}, a.pattern)
	registerBody(a.Router, operation{
		id: "run-pattern", method: http.MethodPost, path: "/v1/patterns/{name}/run", tag: tag,
		scope: api.StoreRead, summary: "Run an access pattern",
		description: "Answers a page of items as they are stored, the plan, and what the page took. " +
			"Patterns over the data of persons are run only where nobody is asked who they are: on " +
			"this machine, or in the process that has the data directory.",
		example: runPattern{Inputs: map[string]string{"Status": "completed"}, Limit: 10},
		problems: []*problem.Definition{
			ErrPatternNotFound, ErrPersonalPattern, ErrInvalidInput, problem.ErrCursorInvalid,
		},
	}, a.runPattern)
}

// find returns a pattern, and the model that it belongs to.
func (a *API) find(
	ctx context.Context, name string,
) (*singletable.Model, singletable.AccessPattern, error) {
	for _, models := range []func() []*singletable.Model{
		func() []*singletable.Model { return slices.Concat(a.deps.Models, a.deps.Personal) },
		func() []*singletable.Model { return a.currentModels(ctx) },
	} {
		for _, m := range models() {
			if p, ok := m.Pattern(name); ok {
				return m, p, nil
			}
		}
	}
	return nil, nil, ErrPatternNotFound.With("pattern", name)
}

func (a *API) patterns(context.Context, *struct{}) (*answer[list[pattern]], error) {
	made := []pattern{}
	for _, m := range a.models() {
		for _, p := range m.Patterns() {
			made = append(made, patternOf(m, p))
		}
	}
	return &answer[list[pattern]]{Body: list[pattern]{Items: made}}, nil
}

func (a *API) pattern(ctx context.Context, in *patternParams) (*answer[pattern], error) {
	m, p, err := a.find(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	made := patternOf(m, p)
	// The names of the inputs stand in for what only a caller knows.
	inputs := map[string]string{}
	for _, i := range p.Info().Inputs {
		if i.Required {
			inputs[i.Name] = "<" + i.Name + ">"
		}
	}
	if planned, err := p.PlanText(a.deps.Store, inputs, ledger.PageDefault); err == nil {
		full := planOf(planned)
		made.Plan = &full
	}
	return &answer[pattern]{Body: made}, nil
}

func (a *API) runPattern(
	ctx context.Context, in *runParams, body *runPattern,
) (*answer[patternRun], error) {
	m, p, err := a.find(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if slices.Contains(a.deps.Personal, m) && exchangeOf(ctx).caller.by != byNothing {
		return nil, ErrPersonalPattern.With("pattern", in.Name)
	}
	size := body.Limit
	if size == 0 {
		size = ledger.PageDefault
	}
	if size < 0 || size > ledger.PageMax {
		return nil, problem.ErrRequestInvalid.Field("limit",
			fmt.Sprintf("must be 1 to %d", ledger.PageMax))
	}
	// Planning does no I/O: what it finds wrong is wrong with the inputs.
	planned, err := p.PlanText(a.deps.Store, body.Inputs, size)
	if err != nil {
		return nil, ErrInvalidInput.With("pattern", in.Name).With("reason", err).Wrap(err)
	}
	began := time.Now()
	page, err := p.RunText(ctx, a.deps.Store, body.Inputs, size, body.Cursor)
	took := time.Since(began)
	var cursor *singletable.CursorError
	switch {
	case errors.As(err, &cursor):
		return nil, problem.ErrCursorInvalid.Wrap(err)
	case err != nil:
		return nil, fmt.Errorf("run pattern %s: %w", in.Name, err)
	}
	run := patternRun{
		Rows: []json.RawMessage{}, Next: page.Next, Plan: planOf(planned), Calls: page.Calls,
		ReadUnits: page.Capacity, Took: took.Nanoseconds(),
		Unreadable: Unreadable(page.Unreadable),
	}
	for _, row := range page.Items {
		text, err := row.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("write a row of pattern %s: %w", in.Name, err)
		}
		run.Rows = append(run.Rows, text)
	}
	return &answer[patternRun]{Body: run}, nil
}

// operations are the names that the kinds of patterns have at the store.
var operations = map[string]string{
	"lookup": "GetItem", "query": "Query", "collection": "Query", "scan": "Scan",
}

func patternOf(m *singletable.Model, p singletable.AccessPattern) pattern {
	info := p.Info()
	return pattern{
		Name: info.Name, Sentence: info.Description, System: m.Name(), Table: info.Table,
		Index: info.Index, Operation: operations[info.Kind], Where: info.Where,
		Partitions: info.Partitions, Entities: append([]string{}, info.Entities...),
		Inputs: All(info.Inputs, func(i singletable.InputInfo) patternInput {
			return patternInput(i)
		}),
	}
}

func planOf(p singletable.Plan) plan {
	made := plan{
		Requests: []planRequest{}, Calls: int(p.Calls.Typical), CallsMost: int(p.Calls.Most),
		ReadUnits: p.Read.Typical, ReadUnitsMost: p.Read.Most,
		Notes: append([]string{}, p.Notes...),
	}
	for _, r := range p.Requests {
		q := planRequest{
			Operation: r.Operation, Table: r.Table, Index: r.Index, Condition: r.KeyCondition,
			Filter: r.Filter, Names: maps.Clone(r.Names), Limit: r.Limit, Strong: r.Consistent,
			Key: map[string]map[string]string{}, Values: map[string]map[string]string{},
		}
		for name, v := range r.Key {
			q.Key[name] = shown(v.Kind().String(), v.S(), v.N(), v.String())
		}
		for name, v := range r.Values {
			q.Values[name] = shown(v.Kind().String(), v.S(), v.N(), v.String())
		}
		if r.Descending {
			q.Forward = new(bool)
		}
		made.Requests = append(made.Requests, q)
	}
	return made
}

// shown is a value of the store as DynamoDB's JSON has it. Keys are strings and numbers; whatever
// else there may be is shown as the store shows it.
func shown(kind, text, number, other string) map[string]string {
	switch kind {
	case "S":
		return map[string]string{kind: text}
	case "N":
		return map[string]string{kind: number}
	}
	return map[string]string{kind: other}
}
