package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// shards is a number of shards and since when it holds.
type shards struct {
	Count int     `json:"count" doc:"Over how many shards payments are spread" example:"5"`
	From  instant `json:"from,omitzero" doc:"For payments that are due from then on; absent on the first"`
}

// moreShards is the body that grows the number of shards.
type moreShards struct {
	Count int    `json:"count" doc:"More than there are; at most 200" example:"20"`
	From  string `json:"from" format:"date" doc:"The day from which on it holds, in UTC" example:"2026-02-01"`
}

// shardPlan returns how many shards a load needs.
type shardPlan struct {
	PerSecond   float64  `json:"perSecond" doc:"How many payments arrive in a second" example:"555.6"`
	TableUnits  int      `json:"tableUnits" doc:"Write units of an insertion into the table" example:"8"`
	IndexUnits  int      `json:"indexUnits" doc:"Write units of an entry of the index" example:"1"`
	Whole       int      `json:"whole" doc:"Write units a second if the index had whole payments" example:"4445"`
	WholeShards int      `json:"wholeShards" doc:"The least number of shards for that" example:"5"`
	Inserts     int      `json:"inserts" doc:"Write units a second that insertions take of the index" example:"556"`
	Changes     int      `json:"changes" doc:"Those that changes of status add" example:"2223"`
	Least       int      `json:"least" doc:"The least number of shards for both" example:"3"`
	Advised     int      `json:"advised" doc:"The number that leaves room for shards being uneven" example:"4"`
	Lines       []string `json:"lines" nullable:"false" doc:"The same in sentences"`
}

type shardPlanParams struct {
	Payments   int                 `query:"payments" required:"true" minimum:"1" doc:"How many arrive within the window" example:"1000000"`
	Window     string              `query:"window" required:"true" doc:"The time in which they arrive" example:"30m"`
	Size       int                 `query:"paymentBytes" required:"true" minimum:"1" maximum:"409600" doc:"The size of one in bytes" example:"8192"`
	Projection payments.Projection `query:"projection" enum:"ALL,INCLUDE,KEYS_ONLY" default:"INCLUDE" doc:"What the index has of each"`
	RunWindow  string              `query:"runWindow" doc:"The time in which they are settled; the window without it" example:"30m"`
}

func (a *API) registerPaymentShards() {
	register(a.Router, operation{
		id: "list-payment-shards", method: http.MethodGet, path: "/v1/payments/shards",
		anyLayout: true, tag: tagPayments, scope: api.PaymentsRead,
		summary:     "List over how many shards payments are spread",
		description: "The earliest number first, each with the day from which on it holds.",
	}, a.paymentShards)
	registerBody(a.Router, operation{
		id: "grow-payment-shards", method: http.MethodPost, path: "/v1/payments/shards",
		anyLayout: true, tag: tagPayments, scope: api.PaymentsWrite,
		summary: "Spread payments over more shards from a day on",
		description: "Nothing that is stored is rewritten: lists ask the shards of all numbers that " +
			"their range of time had. Growing to the same number from the same day changes nothing.",
		example: moreShards{Count: 20, From: "2026-02-01"},
		problems: []*problem.Definition{
			payments.ErrInvalidRequest, payments.ErrTooManyShards, payments.ErrEpochTooEarly,
		},
	}, a.growPaymentShards)
	register(a.Router, operation{
		id: "plan-payment-shards", method: http.MethodGet, path: "/v1/payments/plan",
		tag: tagPayments, scope: api.PaymentsRead,
		summary:     "Work out how many shards a load needs",
		description: "From the write units that DynamoDB gives one partition key, with the reasons.",
		problems:    []*problem.Definition{payments.ErrInvalidRequest},
	}, a.planPaymentShards)
}

func shardsOf(epochs []payments.Epoch) *answer[list[shards]] {
	return &answer[list[shards]]{Body: list[shards]{
		Items: All(epochs, func(e payments.Epoch) shards {
			return shards{Count: e.Count, From: instant(e.From)}
		}),
	}}
}

func (a *API) paymentShards(
	ctx context.Context, _ *struct{},
) (*answer[list[shards]], error) {
	epochs, err := a.deps.Payments.Epochs(ctx)
	if err != nil {
		return nil, err
	}
	return shardsOf(epochs), nil
}

func (a *API) growPaymentShards(
	ctx context.Context, _ *WithBody, body *moreShards,
) (*answer[list[shards]], error) {
	day, err := time.Parse(time.DateOnly, body.From)
	if err != nil {
		return nil, payments.ErrInvalidRequest.Field("from", "must be a day such as 2026-02-01")
	}
	epochs, err := a.deps.Payments.Grow(ctx, body.Count, day)
	if err != nil {
		return nil, err
	}
	return shardsOf(epochs), nil
}

func (a *API) planPaymentShards(
	_ context.Context, in *shardPlanParams,
) (*answer[shardPlan], error) {
	var wrong problem.Fields
	input := payments.PlanInput{
		Payments: in.Payments, Size: in.Size, Projection: in.Projection,
		Window: readDuration(&wrong, "window", in.Window),
	}
	if in.RunWindow != "" {
		input.RunWindow = readDuration(&wrong, "runWindow", in.RunWindow)
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return nil, err
	}
	p, err := payments.PlanShards(input)
	if err != nil {
		return nil, err
	}
	return &answer[shardPlan]{Body: shardPlan{
		PerSecond: p.PerSecond, TableUnits: p.TableUnits, IndexUnits: p.IndexUnits,
		Whole: p.Whole, WholeShards: p.WholeShards, Inserts: p.Inserts, Changes: p.Changes,
		Least: p.Least, Advised: p.Advised, Lines: p.Lines(),
	}}, nil
}

func readDuration(wrong *problem.Fields, field, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		wrong.Add(field, "must be a time such as 30m or 1h30m")
	}
	return d
}
