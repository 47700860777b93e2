package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/chart"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
)

// reportFlags are the flags of a report.
type reportFlags struct {
	days     dayFlags
	accounts []string
	by       string
	home     string
	flow     bool
	top      int
	svg, png string
	ascii    bool
}

// The bounds of what is drawn.
const (
	reportMonths = 6 // unless days are given
	reportTop    = 8 // more colours than that nobody tells apart
)

func (a *app) statementsReport() *cobra.Command {
	var r reportFlags
	command := &cobra.Command{
		Use:   "report",
		Short: "Show where the money went: by tag, merchant or account, or the cash flow",
		Long: `Show where the money went, by whole months: spending by tag, merchant or account, or with
--cash-flow what came in and went out. What moves between your own accounts is no part of it. A
transaction with two tags counts for both.

Each currency is shown by itself; --home converts all into one, each transaction at the rate of its day
(see exchequer rates load), and tells what had no rate.`,
		Example: `  exchequer statements report --from 2026-01 --to 2026-03
  exchequer statements report --by merchant --top 5 --month 2026-02
  exchequer statements report --cash-flow --home NZD --svg flow.svg`,
		Args: cobra.NoArgs,
	}
	r.days.add(command)
	f := command.Flags()
	f.StringSliceVar(&r.accounts, "account", nil, "only these `accounts`")
	f.StringVar(&r.by, "by", "tag", "what to divide by: `tag`, merchant or account")
	f.StringVar(&r.home, "home", "", "`currency` to convert to; \"profile\" for that of the profile")
	f.BoolVar(&r.flow, "cash-flow", false, "what came in and went out, and what is left")
	f.IntVar(&r.top, "top", reportTop, "`number` that are told apart; the others are one")
	f.StringVar(&r.svg, "svg", "", "draw into this SVG `file`")
	f.StringVar(&r.png, "png", "", "draw into this PNG `file`")
	f.BoolVar(&r.ascii, "ascii", false, "draw with plain characters only")
	_ = command.RegisterFlagCompletionFunc("by", fixed("tag", "merchant", "account"))
	command.MarkFlagsMutuallyExclusive("cash-flow", "by")
	command.RunE = a.withMine(func(ctx context.Context, m *mine, _ []string) error {
		q, err := r.query(m)
		if err != nil {
			return err
		}
		if r.flow {
			flow, err := m.c.CashFlow(ctx, q)
			if err != nil {
				return err
			}
			return a.cashFlow(r, flow)
		}
		spent, err := m.c.Spending(ctx, q)
		if err != nil {
			return err
		}
		return a.spending(r, spent)
	})
	return command
}

func (r *reportFlags) query(m *mine) (q client.ReportQuery, err error) {
	q = client.ReportQuery{By: r.by, Top: r.top}
	if r.flow {
		q.By, q.Top = "", 0
	}
	if q.From, q.To, err = r.days.days(m, reportMonths); err != nil {
		return q, err
	}
	if q.Accounts, err = m.accounts(splitWords(r.accounts)); err != nil {
		return q, err
	}
	q.Currency = money.Currency(strings.ToUpper(r.home))
	if r.home == "profile" {
		if m.Profile == nil || m.Profile.Preferences.Currency == "" {
			return q, usagef("exchequer statements profile --currency NZD",
				"The profile has no currency")
		}
		q.Currency = m.Profile.Preferences.Currency
	}
	return q, nil
}

// seriesLabel is what a series is called.
func seriesLabel(s client.SpendingSeries) string {
	switch {
	case s.Label != "":
		return s.Label
	case s.Kind == "untagged":
		return "(no tag)"
	case s.Kind == "unnamed":
		return "(no merchant)"
	}
	return "(others)"
}

// spending prints and draws spending.
func (a *app) spending(r reportFlags, s client.Spending) error {
	if a.flags.output == outputJSON {
		return a.json(s)
	}
	type line struct {
		currency money.Currency
		series   client.SpendingSeries
	}
	var lines []line
	var charts []chart.Chart
	for _, of := range s.Currencies {
		c := chart.Chart{Title: "Spending by " + r.by, Unit: string(of.Currency), Stacked: true,
			Categories: s.Months, Digits: of.Currency.Digits()}
		for _, series := range of.Series {
			lines = append(lines, line{of.Currency, series})
			if series.Total.Out.Sign() == 0 {
				continue
			}
			drawn := chart.Series{Label: seriesLabel(series)}
			for _, f := range series.Flows {
				drawn.Values = append(drawn.Values, f.Out.Neg())
			}
			c.Series = append(c.Series, drawn)
		}
		charts = append(charts, c)
	}
	if len(lines) == 0 {
		a.remark("%s", noRows)
		return nil
	}
	columns := []column[line]{
		col("CURRENCY", func(l line) string { return string(l.currency) }),
		col(strings.ToUpper(r.by), func(l line) string { return seriesLabel(l.series) }).upTo(28),
	}
	for i, month := range s.Months {
		columns = append(columns, num(month, func(l line) string {
			return digitsText(l.series.Flows[i].Out, l.currency)
		}))
	}
	columns = append(columns,
		num("OUT", func(l line) string { return digitsText(l.series.Total.Out, l.currency) }),
		num("IN", func(l line) string { return digitsText(l.series.Total.In, l.currency) }),
		num("ROWS", func(l line) string { return thousands(l.series.Total.Count) }))
	if err := page(a, columns, whole(lines), noRows); err != nil {
		return err
	}
	a.unrated(s.Converted)
	return a.draw(r, charts)
}

// cashFlow prints and draws what came in and went out.
func (a *app) cashFlow(r reportFlags, flow client.CashFlow) error {
	if a.flags.output == outputJSON {
		return a.json(flow)
	}
	type line struct {
		currency money.Currency
		month    string
		flow     client.MonthFlow
	}
	var lines []line
	var charts []chart.Chart
	for _, of := range flow.Currencies {
		in, out, net := chart.Series{Label: "in"}, chart.Series{Label: "out"},
			chart.Series{Label: "left"}
		for i, m := range of.Months {
			lines = append(lines, line{of.Currency, flow.Months[i], m})
			in.Values = append(in.Values, m.In)
			out.Values = append(out.Values, m.Out)
			net.Values = append(net.Values, m.Net)
		}
		lines = append(lines, line{of.Currency, "all", of.Total})
		charts = append(charts, chart.Chart{Title: "Cash flow", Unit: string(of.Currency),
			Categories: flow.Months, Series: []chart.Series{in, out}, Line: &net,
			Digits: of.Currency.Digits()})
	}
	amount := func(get func(client.MonthFlow) money.Decimal) func(line) string {
		return func(l line) string {
			return digitsText(get(l.flow), l.currency)
		}
	}
	columns := []column[line]{
		col("CURRENCY", func(l line) string { return string(l.currency) }),
		col("MONTH", func(l line) string { return l.month }),
		num("IN", amount(func(f client.MonthFlow) money.Decimal { return f.In })),
		num("OUT", amount(func(f client.MonthFlow) money.Decimal { return f.Out })),
		num("LEFT", amount(func(f client.MonthFlow) money.Decimal { return f.Net })),
		num("ROWS", func(l line) string { return thousands(l.flow.Count) }),
		num("TRANSFERS", func(l line) string { return thousands(l.flow.Transfers.Count) }),
	}
	if err := page(a, columns, whole(lines), noRows); err != nil {
		return err
	}
	a.unrated(flow.Converted)
	return a.draw(r, charts)
}

// unrated returns what is in no sum, since it could not be converted.
func (a *app) unrated(c *client.HomeConversion) {
	if c == nil {
		return
	}
	for _, u := range c.Unrated {
		a.remark("not in the sums: %s in %s of %s, since there is no rate for %s",
			count(u.Flow.Count, "row"), u.Currency, u.Month, u.First)
	}
}

// draw draws charts on the terminal, and the first one into files.
func (a *app) draw(r reportFlags, charts []chart.Chart) error {
	if a.flags.output == outputTable && r.svg == "" && r.png == "" {
		for _, c := range charts {
			if len(c.Series) == 0 {
				continue
			}
			if err := a.drawText(r, c); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range []struct {
		path string
		kind chart.Picture
	}{{r.svg, chart.SVG}, {r.png, chart.PNG}} {
		if p.path == "" {
			continue
		}
		if len(charts) != 1 {
			return usagef("--home with one of them, or --account",
				"There are %d currencies, and a picture has one", len(charts))
		}
		if err := drawFile(p.path, charts[0], p.kind); err != nil {
			return err
		}
		a.remark("drawn into %s", grid.Plain(p.path))
	}
	return nil
}

func drawFile(path string, c chart.Chart, kind chart.Picture) error {
	return writeFile(path, func(w io.Writer) error { return chart.Draw(w, c, kind) })
}

func (a *app) drawText(r reportFlags, c chart.Chart) error {
	if _, err := a.out.Write([]byte("\n")); err != nil {
		return err
	}
	return chart.Text(a.out, c, chart.TextOptions{ASCII: r.ascii, Color: false})
}
