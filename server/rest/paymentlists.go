package rest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

func (p PageParams) payments() payments.PageQuery {
	return payments.PageQuery{Size: p.Limit, Cursor: p.Cursor}
}

// PaymentRange is the range of times of a list over all accounts.
type PaymentRange struct {
	Date string `query:"date" format:"date" doc:"One calendar day, in place of from and to" example:"2026-01-31"`
	Zone string `query:"zone" doc:"Where the day begins, a name of the IANA database; UTC without it" example:"Pacific/Auckland"`
	From bound  `query:"from" doc:"The first instant of the range; open without it" example:"2026-01-01T00:00:00Z"`
	To   bound  `query:"to" doc:"The instant at which the range has ended; open without it" example:"2026-02-01T00:00:00Z"`
}

// read returns the range. A day cannot be given together with instants.
func (r PaymentRange) read() (payments.Range, error) {
	var wrong problem.Fields
	zone := readZone(&wrong, r.Zone)
	switch {
	case r.Date == "" && r.Zone != "":
		wrong.Add("zone", "must be left out without date")
	case r.Date != "" && (r.From.Given() || r.To.Given()):
		wrong.Add("date", "must be left out where from or to is given")
	}
	if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
		return payments.Range{}, err
	}
	if r.Date == "" {
		return payments.Range{From: r.From.instant(), To: r.To.instant()}, nil
	}
	return payments.Day(r.Date, zone)
}

// readZone reads the name of a time zone; UTC is meant without one.
func readZone(wrong *problem.Fields, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	// Local is a name for whatever this computer is set to, which is no caller's business.
	if err != nil || name == "Local" {
		wrong.Add("zone", "must be a name of the IANA database, such as Pacific/Auckland")
		return time.UTC
	}
	return zone
}

type (
	accountPaymentsParams struct {
		AccountPageParams
		From ledger.Date `query:"from" format:"date" doc:"The first day in the account's zone; open without it" example:"2026-01-01"`
		To   ledger.Date `query:"to" format:"date" doc:"The last day, which is included; open without it" example:"2026-01-31"`
		Days int         `query:"days" minimum:"1" maximum:"3660" doc:"In place of from and to: from now on, so many days ahead" example:"90"`
	}
	paymentsParams struct {
		PageParams
		PaymentRange
		Status payments.Status `query:"status" required:"true" enum:"SCHEDULED,PENDING,PROCESSED,CANCELLED,FAILED" doc:"The status to look for"`
	}
	historyParams struct {
		PageParams
		PaymentRange
	}
	paymentTransactionParams struct {
		Conditional
		TransactionPath
	}
)

func (a *API) registerPaymentLists() {
	register(a.Router, operation{
		id: "list-payments-of-account", method: http.MethodGet,
		path: "/v1/accounts/{id}/payments", tag: tagPayments, scope: api.PaymentsRead,
		summary: "List the payments of an account",
		description: "By time, those in the history among them. Days are calendar days in the " +
			"account's zone, both included.",
		problems: []*problem.Definition{
			payments.ErrInvalidRequest, payments.ErrInvalidCursor, ledger.ErrAccountNotFound,
		},
	}, a.paymentsOfAccount)
	register(a.Router, operation{
		id: "list-payments", method: http.MethodGet, path: "/v1/payments", tag: tagPayments,
		scope: api.PaymentsRead, summary: "List the payments of a status",
		description: "Of all accounts, by time, those in the history among them. The list is whole, " +
			"or there is none: when a shard cannot be read, that is the answer.",
		problems: []*problem.Definition{payments.ErrInvalidRequest, payments.ErrInvalidCursor},
	}, a.paymentsByStatus)
	register(a.Router, operation{
		id: "list-payment-history", method: http.MethodGet, path: "/v1/payments/history",
		tag: tagPayments, scope: api.PaymentsRead,
		summary: "List the payments that came to their end",
		description: "Whatever it was, of all accounts, by time; those too that wait to be moved " +
			"into the history.",
		problems: []*problem.Definition{payments.ErrInvalidRequest, payments.ErrInvalidCursor},
	}, a.paymentHistory)
	register(a.Router, operation{
		id: "get-payment-by-transaction", method: http.MethodGet,
		path: "/v1/payments/by-transaction/{id}", tag: tagPayments, scope: api.PaymentsRead,
		summary:  "Get the payment that a transaction settled",
		problems: []*problem.Definition{payments.ErrNotFound},
	}, a.paymentByTransaction)
}

func (a *API) paymentsOfAccount(
	ctx context.Context, in *accountPaymentsParams,
) (*answer[list[payment]], error) {
	if in.Days > 0 {
		return a.nextPaymentsOfAccount(ctx, in)
	}
	zone, err := a.deps.Payments.Zone(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	var (
		r     payments.Range
		wrong problem.Fields
	)
	for _, bound := range []struct {
		name string
		day  ledger.Date
		set  func(payments.Range)
	}{
		{"from", in.From, func(day payments.Range) { r.From = day.From }},
		{"to", in.To, func(day payments.Range) { r.To = day.To }},
	} {
		if bound.day == "" {
			continue
		}
		day, err := payments.Day(string(bound.day), zone)
		if err != nil {
			wrong.Add(bound.name, "must be a day such as 2026-01-31")
		}
		bound.set(day)
	}
	if err := wrong.Err(payments.ErrInvalidRequest); err != nil {
		return nil, err
	}
	page, err := a.deps.Payments.PaymentsOfAccount(ctx, in.ID, r, in.payments())
	if err != nil {
		return nil, err
	}
	return convert(page, paymentOf), nil
}

// nextPaymentsOfAccount lists from now on. The first page decides when that is; its cursor brings
// the range along, since a cursor belongs to one range.
func (a *API) nextPaymentsOfAccount(
	ctx context.Context, in *accountPaymentsParams,
) (*answer[list[payment]], error) {
	if in.From != "" || in.To != "" {
		return nil, problem.ErrRequestInvalid.Field("days",
			"must be left out where from or to is given")
	}
	query := in.payments()
	r, rest, ok := cutRange(query.Cursor)
	switch {
	case query.Cursor == "":
		var err error
		if r, err = a.deps.Payments.NextDays(ctx, in.ID, in.Days); err != nil {
			return nil, err
		}
	case !ok:
		return nil, payments.ErrInvalidCursor
	default:
		query.Cursor = rest
	}
	page, err := a.deps.Payments.PaymentsOfAccount(ctx, in.ID, r, query)
	if err != nil {
		return nil, err
	}
	if page.Next != "" {
		page.Next = joinRange(r, page.Next)
	}
	return convert(page, paymentOf), nil
}

// rangeBase and rangeSeparator write a range in front of a cursor. What stands behind it is signed
// for the range, so that neither can be changed.
const (
	rangeBase      = 36
	rangeSeparator = "."
)

func joinRange(r payments.Range, cursor string) string {
	to := "" // open
	if r.To != nil {
		to = strconv.FormatInt(r.To.UnixMilli(), rangeBase)
	}
	return strings.Join([]string{
		strconv.FormatInt(r.From.UnixMilli(), rangeBase), to, cursor,
	}, rangeSeparator)
}

func cutRange(text string) (r payments.Range, cursor string, ok bool) {
	const parts = 3
	split := strings.SplitN(text, rangeSeparator, parts)
	if len(split) != parts {
		return r, "", false
	}
	if r.From, ok = parseMillis(split[0]); !ok {
		return r, "", false
	}
	if split[1] != "" {
		if r.To, ok = parseMillis(split[1]); !ok {
			return r, "", false
		}
	}
	return r, split[2], true
}

// parseMillis reads an instant of a cursor. One that no key can hold is none of ours.
func parseMillis(text string) (*time.Time, bool) {
	ms, err := strconv.ParseInt(text, rangeBase, 64)
	t := time.UnixMilli(ms).UTC()
	return &t, err == nil && t.Year() >= 1 && t.Year() <= 9999
}

func (a *API) paymentsByStatus(
	ctx context.Context, in *paymentsParams,
) (*answer[list[payment]], error) {
	r, err := in.read()
	if err != nil {
		return nil, err
	}
	page, err := a.deps.Payments.PaymentsByStatus(ctx, in.Status, r, in.payments())
	return paymentPage(page, err)
}

func (a *API) paymentHistory(
	ctx context.Context, in *historyParams,
) (*answer[list[payment]], error) {
	r, err := in.read()
	if err != nil {
		return nil, err
	}
	page, err := a.deps.Payments.History(ctx, r, in.payments())
	return paymentPage(page, err)
}

func paymentPage(
	page singletable.Page[payments.Payment], err error,
) (*answer[list[payment]], error) {
	if err != nil {
		return nil, err
	}
	return convert(page, paymentOf), nil
}

func (a *API) paymentByTransaction(
	ctx context.Context, in *paymentTransactionParams,
) (*tagged[payment], error) {
	p, err := a.deps.Payments.PaymentByTransaction(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return taggedPayment(in.IfNoneMatch, p), nil
}
