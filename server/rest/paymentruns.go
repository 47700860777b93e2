package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// runPayments is the body that asks for a run.
type runPayments struct {
	Callers int `json:"concurrency,omitempty" minimum:"1" maximum:"1024" doc:"How many payments are settled side by side, at most 1024; 64 without it" example:"64"`
	Units   int `json:"units,omitempty" minimum:"1" doc:"Bounds what the run takes from the store, in write units a second; no bound without it" example:"4000"`
}

// paymentRun returns what a run has done, so far or in all.
type paymentRun struct {
	Processed       int          `json:"processed" doc:"Payments that were settled through the ledger"`
	Failed          int          `json:"failed" doc:"Payments that cannot be settled, or were tried often enough"`
	Postponed       int          `json:"postponed" doc:"Payments that wait for their next attempt now"`
	Elsewhere       int          `json:"elsewhere" doc:"Payments that somebody else had, changed or cancelled first"`
	Waiting         int          `json:"waiting" doc:"Payments that were left alone because their wait for the next attempt lasts"`
	Claimed         int          `json:"claimed" doc:"Due payments that were left alone because another worker has claimed them. If it lives, it settles them; otherwise the first run after claimedUntil does"`
	ClaimedUntil    instant      `json:"claimedUntil,omitzero" doc:"When the last of these claims ends; absent if there are none"`
	Shards          int          `json:"shards" doc:"Shards that another worker has, and that the run waits for"`
	ShardsUntil     instant      `json:"shardsUntil,omitzero" doc:"When the last of their leases ends, unless it is renewed; absent if there are none"`
	Oldest          instant      `json:"oldest,omitzero" doc:"When the payment that was due longest, of those met last, was due"`
	Lag             float64      `json:"lag" doc:"How many seconds ago that was" example:"1.5"`
	Units           float64      `json:"units" doc:"The write units that were taken, if the run was paced"`
	Unreadable      []unreadable `json:"unreadable,omitempty" nullable:"false" doc:"The first 100 due payments that cannot be read, or that only the program that scheduled them can execute; absent if there are none"`
	UnreadableCount int          `json:"unreadableCount,omitempty" doc:"How many of them there are"`
}

// movedDay returns how far the move of a day into the history has come.
type movedDay struct {
	Day             string         `json:"day" format:"date" example:"2026-01-31"`
	Begun           bool           `json:"begun" doc:"Whether a move of the day was begun"`
	Moved           bool           `json:"moved" doc:"Whether all of the day is in the history, and counts and sums agree"`
	Waiting         int            `json:"waiting" doc:"How many payments of the day are scheduled or pending still, or again; counted by a move, and of a day that was moved"`
	Copied          int            `json:"copied" doc:"How many payments this move copied"`
	Removed         int            `json:"removed" doc:"How many payments this move removed from the scheduler's table"`
	Totals          []paymentTotal `json:"totals" nullable:"false" doc:"What of the day is in the history"`
	Unreadable      []unreadable   `json:"unreadable,omitempty" nullable:"false" doc:"The first 100 items that hold the day up because they cannot be read, or because only the program that wrote them can execute them; absent if there are none"`
	UnreadableCount int            `json:"unreadableCount,omitempty" doc:"How many of them there are"`
}

// paymentTotal counts the payments of a status in a currency, and adds them up.
type paymentTotal struct {
	Status   payments.Status `json:"status" enum:"PROCESSED,CANCELLED,FAILED"`
	Count    int             `json:"count" example:"1000000"`
	Sum      string          `json:"sum" example:"5500000.00"`
	Currency money.Currency  `json:"currency" example:"USD"`
}

// moveDay is the body that asks for a move.
type moveDay struct {
	Zone string `json:"zone,omitempty" doc:"Where the day begins, a name of the IANA database; UTC without it" example:"Pacific/Auckland"`
}

// moveProgress returns how far a move has come.
type moveProgress struct {
	Copied  int `json:"copied"`
	Removed int `json:"removed"`
}

// runLine and moveLine are lines of streams; one member is set.
type (
	runLine struct {
		Progress *paymentRun  `json:"progress,omitempty"`
		Report   *paymentRun  `json:"report,omitempty" doc:"What the run did, on the last line"`
		Problem  *api.Problem `json:"problem,omitempty" doc:"What ended the run, on the last line"`
	}
	moveLine struct {
		Progress *moveProgress `json:"progress,omitempty"`
		Report   *movedDay     `json:"report,omitempty" doc:"How far the day has come, on the last line"`
		Problem  *api.Problem  `json:"problem,omitempty" doc:"What ended the move, on the last line"`
	}
)

// DayPath is the parameter that names a calendar day.
type DayPath struct {
	Date string `path:"date" format:"date" doc:"The calendar day" example:"2026-01-31"`
}

type (
	dayParams struct {
		DayPath
		Zone string `query:"zone" doc:"Where the day begins, a name of the IANA database; UTC without it" example:"Pacific/Auckland"`
	}
	runPaymentsParams struct {
		WithBody
		Accept string `header:"Accept" hidden:"true"`
	}
	moveDayParams struct {
		WithBody
		DayPath
		Accept string `header:"Accept" hidden:"true"`
	}
)

// callersMax keeps one request from settling with more callers than a store can use.
const callersMax = 1024

func (a *API) registerPaymentRuns() {
	streams := "It may take long: with Accept: " + mediaLines + " the answer is a stream of JSON " +
		"objects, one a line, each with the member progress, and at last one with the member report " +
		"or problem. "
	registerBody(a.Router, operation{
		id: "run-payments", method: http.MethodPost, path: "/v1/payments/run", tag: tagPayments,
		scope: api.PaymentsWrite, stream: true, summary: "Settle all payments that are due",
		description: "Those of earlier days too, and those whose attempt or wait is over, until " +
			"there are none. Any number of runs, here and on other servers, share the shards by " +
			"leases. When the caller goes away, the payments in hand are finished and no others " +
			"begun. " + streams + "The body may be {}.",
		example: runPayments{Callers: payments.CallersDefault},
	}, a.runPayments)
	registerBody(a.Router, operation{
		id: "move-payment-day", method: http.MethodPost, path: "/v1/payments/days/{date}/move",
		tag: tagPayments, scope: api.PaymentsWrite, stream: true,
		summary: "Move a day's payments into the history",
		description: "Those that came to their end, whatever it was. It can be broken off anywhere " +
			"and asked for again. The day is declared moved when all its payments are there and " +
			"counts and sums of each status agree. " + streams + "The body may be {}.",
		example: moveDay{Zone: "Pacific/Auckland"},
		problems: []*problem.Definition{
			payments.ErrInvalidRequest, payments.ErrDayNotOver, payments.ErrDayDiffers,
			payments.ErrCopyDiffers,
		},
	}, a.movePaymentDay)
	register(a.Router, operation{
		id: "get-payment-day", method: http.MethodGet, path: "/v1/payments/days/{date}",
		tag: tagPayments, scope: api.PaymentsRead,
		summary: "Tell how far the move of a day has come",
		description: "As it was noted last. A day to which payments came back since, by a replay or " +
			"as they were scheduled or changed late, is not moved until it is moved again; its " +
			"totals are those of the move before.",
		problems: []*problem.Definition{payments.ErrInvalidRequest},
	}, a.paymentDay)
	for path, schemas := range map[string][2]*huma.Schema{
		"/v1/payments/run": {
			a.schema(typeOf[paymentRun]()), a.schema(typeOf[runLine]()),
		},
		"/v1/payments/days/{date}/move": {
			a.schema(typeOf[movedDay]()), a.schema(typeOf[moveLine]()),
		},
	} {
		response := a.huma.OpenAPI().Paths[path].Post.Responses["200"]
		response.Description = "The outcome"
		response.Content = map[string]*huma.MediaType{
			mediaJSON: {Schema: schemas[0]}, mediaLines: {Schema: schemas[1]},
		}
	}
}

// paymentRunOf returns a report in the form of answers.
func (a *API) paymentRunOf(r payments.Report) paymentRun {
	made := paymentRun{
		Processed: r.Paid, Failed: r.Failed, Postponed: r.Postponed, Elsewhere: r.Elsewhere,
		Waiting: r.Waiting, Claimed: r.Claimed, ClaimedUntil: instant(r.ClaimedUntil),
		Shards: r.Shards, ShardsUntil: instant(r.ShardsUntil),
		Oldest: instant(r.Oldest), Units: r.Units,
		Unreadable: unreadablesOf(r.Unreadable), UnreadableCount: r.Unreadable.Len(),
	}
	if !r.Oldest.IsZero() {
		made.Lag = max(0, a.opts.Now().Sub(r.Oldest).Seconds())
	}
	return made
}

func (a *API) runPayments(
	_ context.Context, in *runPaymentsParams, body *runPayments,
) (*streamed, error) {
	var wrong problem.Fields
	if body.Callers < 0 || body.Callers > callersMax {
		wrong.Addf("concurrency", "must be 1 to %d", callersMax)
	}
	if body.Units < 0 {
		wrong.Add("units", "must be more than zero")
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return nil, err
	}
	opts := payments.RunOptions{Callers: body.Callers, Units: float64(body.Units)}
	return stream(a.Router, in.Accept, func(
		ctx context.Context, tell func(paymentRun),
	) (paymentRun, error) {
		counted := payments.Report{}
		opts.Progress = func(r payments.Report) {
			a.counted(counted, r)
			counted = r
			tell(a.paymentRunOf(r))
		}
		r, err := a.deps.Payments.Run(ctx, opts)
		return a.paymentRunOf(r), err
	}, func(p, r *paymentRun, d *api.Problem) any { return runLine{p, r, d} }), nil
}

// counted adds to the metrics what a report has beyond an earlier report of the same run.
func (a *API) counted(before, after payments.Report) {
	if a.opts.Paid == nil {
		return
	}
	for outcome, n := range Outcomes(before, after) {
		a.opts.Paid(outcome, n)
	}
}

// Outcomes counts what came on top of an earlier report of the same run, by outcome.
func Outcomes(before, after payments.Report) map[payments.Outcome]int {
	made := map[payments.Outcome]int{}
	for outcome, n := range map[payments.Outcome]int{
		payments.Paid: after.Paid - before.Paid, payments.Refused: after.Failed - before.Failed,
		payments.Postponed: after.Postponed - before.Postponed,
		payments.Elsewhere: after.Elsewhere - before.Elsewhere,
	} {
		if n > 0 {
			made[outcome] = n
		}
	}
	return made
}

func (a *API) movePaymentDay(
	_ context.Context, in *moveDayParams, body *moveDay,
) (*streamed, error) {
	var wrong problem.Fields
	zone := readZone(&wrong, body.Zone)
	if err := wrong.Err(payments.ErrInvalidRequest); err != nil {
		return nil, err
	}
	return stream(a.Router, in.Accept, func(
		ctx context.Context, tell func(moveProgress),
	) (movedDay, error) {
		m, err := a.deps.Payments.MoveDay(ctx, in.Date, zone,
			func(p payments.MoveProgress) { tell(moveProgress(p)) })
		return movedDayOf(m, true), err
	}, func(p *moveProgress, r *movedDay, d *api.Problem) any { return moveLine{p, r, d} }), nil
}

func movedDayOf(m payments.MovedDay, begun bool) movedDay {
	return movedDay{
		Day: m.Day, Begun: begun, Moved: m.Moved, Waiting: m.Waiting, Copied: m.Copied,
		Unreadable: Unreadable(m.Unreadable.Items), UnreadableCount: m.Unreadable.Count,
		Removed: m.Removed,
		Totals: All(m.Totals, func(t payments.Total) paymentTotal {
			return paymentTotal{t.Status, t.Count, t.Sum.Text(), t.Sum.Currency()}
		}),
	}
}

func (a *API) paymentDay(ctx context.Context, in *dayParams) (*answer[movedDay], error) {
	var wrong problem.Fields
	zone := readZone(&wrong, in.Zone)
	if err := wrong.Err(payments.ErrInvalidRequest); err != nil {
		return nil, err
	}
	m, begun, err := a.deps.Payments.MovedDay(ctx, in.Date, zone)
	if err != nil {
		return nil, err
	}
	return &answer[movedDay]{Body: movedDayOf(m, begun)}, nil
}
