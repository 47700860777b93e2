package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// BankMonths are the parameters of what is about whole months.
type BankMonths struct {
	From bankDate `query:"from" required:"true" doc:"Any day of the first month" example:"2025-08-01"`
	To   bankDate `query:"to" required:"true" doc:"Any day of the last month" example:"2025-08-31"`
}

// OfAccounts is the parameter that narrows something down to some accounts.
type OfAccounts struct {
	Accounts []string `query:"account,explode" doc:"Only these accounts, of which there may be several; all without it"`
}

type (
	spendingParams struct {
		BankMonths
		OfAccounts
		By       string         `query:"by" enum:"tag,merchant,account" default:"tag" doc:"What it is divided by"`
		Currency money.Currency `query:"currency" doc:"Everything in this currency, each row at the rate of its own day; without it each currency stands apart" example:"NZD"`
		Top      int            `query:"top" minimum:"1" doc:"How many series are told apart, those with the most spent first; all without it"`
	}
	cashFlowParams struct {
		BankMonths
		OfAccounts
		Currency money.Currency `query:"currency" doc:"As for spending" example:"NZD"`
	}
	totalsParams struct {
		BankAccountPath
		From bankDate `query:"from" doc:"Any day of the first month; the very first without it" example:"2025-08-01"`
		To   bankDate `query:"to" doc:"Any day of the last month; the very last without it" example:"2025-08-31"`
	}
	checkTotalsParams struct {
		Streaming
		BankAccountPath
		Repair bool `query:"repair" doc:"Whether to write the totals that differ anew"`
	}
)

func (a *API) registerReports() {
	const chapter, read = tagReports, api.StatementsRead
	wrong := []*problem.Definition{
		statements.ErrInvalid, statements.ErrRangeTooLong, statements.ErrNoAccount,
	}
	register(a.Router, operation{
		id: "report-spending", method: http.MethodGet, path: "/v1/me/reports/spending",
		tag: chapter, scope: read, personal: true, stream: true,
		summary: "Tell where the money went, month by month",
		description: "By tag, merchant or account, as series for a chart. Transfers between the " +
			"person's own accounts are no part of it. A row with two tags counts for both.",
		problems: wrong,
	}, a.spending)
	register(a.Router, operation{
		id: "report-cash-flow", method: http.MethodGet, path: "/v1/me/reports/cash-flow",
		tag: chapter, scope: read, personal: true, stream: true,
		summary:  "Tell what came in and went out, month by month",
		problems: wrong,
	}, a.cashFlow)
	register(a.Router, operation{
		id: "list-totals", method: http.MethodGet, path: "/v1/me/accounts/{account}/totals",
		tag: chapter, scope: read, personal: true,
		summary: "List the totals of an account's months",
		description: "By tag and merchant, one for each month and currency. They are written with " +
			"each row, so that they are what the rows add up to at every instant.",
		problems: []*problem.Definition{statements.ErrRangeTooLong, statements.ErrNoAccount},
	}, a.totals)
	registerWork(a.Router, operation{
		id: "check-totals", method: http.MethodPost,
		path: "/v1/me/accounts/{account}/totals/check", tag: chapter,
		scope: api.StatementsWrite, personal: true,
		summary: "Check the totals of an account against its rows",
		description: "No write of this server leaves a difference; another program can. Stored " +
			"items that cannot be read are named, and a month that others write to all the time " +
			"makes the verdict undecided, never sound.",
		problems: []*problem.Definition{statements.ErrNoAccount},
	}, a.checkTotals)
}

func (a *API) spending(ctx context.Context, in *spendingParams) (*answer[spending], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.Spending(ctx, statements.SpendingQuery{
		From: in.From, To: in.To, Accounts: in.Accounts, By: statements.By(in.By),
		Currency: in.Currency, Top: in.Top,
	})
	if err != nil {
		return nil, err
	}
	return &answer[spending]{Body: spendingOf(s)}, nil
}

func (a *API) cashFlow(ctx context.Context, in *cashFlowParams) (*answer[cashFlow], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	f, err := p.CashFlow(ctx, statements.CashFlowQuery{
		From: in.From, To: in.To, Accounts: in.Accounts, Currency: in.Currency,
	})
	if err != nil {
		return nil, err
	}
	return &answer[cashFlow]{Body: cashFlowOf(f)}, nil
}

func (a *API) totals(ctx context.Context, in *totalsParams) (*answer[list[monthTotal]], error) {
	p, err := a.person(ctx)
	if err != nil {
		return nil, err
	}
	sheets, err := p.Sheets(ctx, in.Account, in.From, in.To)
	bad, err := singletable.RowsOf(err)
	if err == nil && len(sheets) == 0 && len(bad) == 0 {
		_, err = p.Account(ctx, in.Account)
	}
	if err != nil {
		return nil, err
	}
	page := singletable.Page[statements.Sheet]{Items: sheets, Unreadable: bad}
	return convert(page, monthTotalOf), nil
}

func (a *API) checkTotals(
	c huma.Context, in *checkTotalsParams, tell func(totalsCheck),
) (totalsCheck, error) {
	p, err := a.person(c.Context())
	if err != nil {
		return totalsCheck{}, err
	}
	found, err := p.CheckTotals(c.Context(), in.Account, statements.CheckOptions{
		Repair: in.Repair, Progress: func(c statements.Checked) { tell(totalsCheckOf(c)) },
	})
	return totalsCheckOf(found), err
}
