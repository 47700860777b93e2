package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/when"
)

// The environment that shapes the board of rates.
const (
	envRatesSource   = "EXCHEQUER_RATES_SOURCE"
	envRatesEvery    = "EXCHEQUER_RATES_EVERY"
	envRatesStaleFor = "EXCHEQUER_RATES_STALE_FOR"
)

// rateFlags are the flags of serve about rates.
type rateFlags struct {
	source          string
	every, staleFor string
	private         bool
}

// add adds the flags to serve; the environment says otherwise.
func (r *rateFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.source, "rates-source", "",
		"`source` to fetch rates from: ecb, ecb-90-days, ecb-history, frankfurter, or an address")
	f.BoolVar(&r.private, "rates-private", false,
		"let the name of the source lead to an address of this machine or its network")
	f.StringVar(&r.every, "rates-every", "",
		"`time` between two fetches (default: after each publication of the ECB)")
	f.StringVar(&r.staleFor, "rates-stale-for", "",
		"`time` for which a rate is kept once it is no longer fresh (default 336h; 0 for none)")
}

// rateOptions fills in what the flags and the environment say about rates.
func (a *app) rateOptions(o *server.Options) error {
	r := a.flags.rates
	o.FetchRates.Source = firstOf(r.source, a.env(envRatesSource))
	o.FetchRates.Private = r.private || a.env(variableOf("rates-private")) == "true"
	for _, t := range []struct {
		flag, given, variable string
		set                   func(time.Duration)
	}{
		{"--rates-every", r.every, envRatesEvery, func(d time.Duration) { o.FetchRates.Every = d }},
		{"--rates-stale-for", r.staleFor, envRatesStaleFor, func(d time.Duration) {
			o.Rates.StaleFor, o.SeedRates = d, d == 0
		}},
	} {
		text := firstOf(t.given, a.env(t.variable))
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return usagef(t.flag+" 24h", "%q is no time", text)
		}
		t.set(d)
	}
	return nil
}

func (a *app) ratesCommand() *cobra.Command {
	command := group("rates", "Exchange rates of now and of each day",
		`Exchange rates of now and of each day.

A rate says how much of the target one of the base costs. Pairs that are not stored are derived, as
an inverse or through EUR or USD, and say so. A rate that is no longer fresh is served as stale for
two weeks (EXCHEQUER_RATES_STALE_FOR), and for the two days after them that the store may take to remove it.`,
		a.ratesGet(), a.ratesConvert(), a.ratesList(), a.ratesSave(), a.ratesDelete(),
		a.ratesHistory(), a.ratesLoad(), a.ratesFetch(), a.ratesHealth())
	command.GroupID = groupMoney
	return command
}

func rateColumns() []column[api.Rate] {
	type rate = api.Rate
	return []column[rate]{
		col("BASE", func(r rate) string { return string(r.Base) }),
		col("TARGET", func(r rate) string { return string(r.Target) }),
		num("RATE", func(r rate) string { return r.Rate.String() }),
		col("AS OF", func(r rate) string { return r.AsOf.String() }),
		col("STATE", func(r rate) string { return string(r.State) }),
		col("FRESH UNTIL", func(r rate) string { return r.FreshUntil.String() }),
		col("EXPIRES", func(r rate) string { return r.Expires.String() }),
		col("SOURCE", func(r rate) string { return r.Source }),
	}
}

func quoteColumns() []column[api.Quote] {
	type quote = api.Quote
	return []column[quote]{
		col("PAIR", func(q quote) string { return string(q.Base) + "/" + string(q.Target) }),
		num("RATE", func(q quote) string { return q.Rate.String() }),
		col("DATE", func(q quote) string { return string(q.Date) }),
		col("AS OF", func(q quote) string { return q.AsOf.String() }),
		col("STATE", func(q quote) string { return stateText(q) }),
		col("SOURCE", func(q quote) string { return q.Source }),
		col("MADE OF", madeOf),
	}
}

func stateText(q api.Quote) string {
	switch {
	case q.AsOf.IsZero():
		return ""
	case q.Stale:
		return "stale"
	}
	return "fresh"
}

// madeOf writes the legs of a derived rate.
func madeOf(q api.Quote) string {
	if !q.Derived {
		return ""
	}
	var parts []string
	for _, l := range q.Legs {
		text := fmt.Sprintf("%s/%s %s", l.Base, l.Target, l.Rate)
		if l.Inverted {
			text = "1 / (" + text + ")"
		}
		if l.Fixed {
			text += " fixed"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " × ")
}

// warn remarks on a rate that is stale.
func (a *app) warn(q api.Quote) {
	if q.Stale {
		age := time.Duration(q.AgeSeconds) * time.Second
		a.remark("the rate is stale: it is of %s, %s ago", q.AsOf.String(), age)
	}
}

// pairArgs reads two codes as people type them.
func pairArgs(args []string) (base, target money.Currency) {
	return money.Currency(strings.ToUpper(args[0])), money.Currency(strings.ToUpper(args[1]))
}

// askFlags are the flags of questions for a rate.
type askFlags struct {
	on    string
	fresh bool
}

func (q *askFlags) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&q.on, "date", "", "`day` whose rate is wanted, such as 2026-01-31 (default: now)")
	f.BoolVar(&q.fresh, "fresh", false, "refuse a rate that is stale")
}

func (q *askFlags) query(base, target money.Currency) api.RateQuery {
	return api.RateQuery{Base: base, Target: target, On: api.Date(q.on), Fresh: q.fresh}
}

func (a *app) ratesGet() *cobra.Command {
	var q askFlags
	command := &cobra.Command{
		Use:   "get BASE TARGET",
		Short: "Show the rate of a pair",
		Long: `Show the rate of a pair, now or on a day. The rate of a weekend or of a holiday is that of the
last day before it that has one, at most 14 days back, and comes with its own date.`,
		Example: "  exchequer rates get USD EUR\n  exchequer rates get EUR HRK --date 2022-12-31",
		Args:    cobra.ExactArgs(2),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			found, err := c.Rates().Get(ctx, q.query(pairArgs(args)))
			if err != nil {
				return err
			}
			a.warn(found)
			return one(a, quoteColumns(), found)
		}),
	}
	q.add(command)
	return command
}

// roundingNames are the ways to round.
var roundingNames = []string{"half-up", "half-even", "down", "up"}

func (a *app) ratesConvert() *cobra.Command {
	var (
		q    askFlags
		rule api.ConvertQuery
	)
	command := &cobra.Command{
		Use:   "convert AMOUNT BASE TARGET",
		Short: "Convert an amount",
		Long: `Convert an amount. It is rounded once, at the end, to the digits of the target, half up unless
--rounding says otherwise; with --cash, to what can be paid in coins.`,
		Example: "  exchequer rates convert 100 USD JPY\n" +
			"  exchequer rates convert 9.99 EUR CHF --cash --date 2026-04-13",
		Args: cobra.ExactArgs(3),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			base, target := pairArgs(args[1:])
			amount, err := money.Parse(args[0], base)
			if err != nil {
				return usagef("exchequer rates convert 100 USD JPY", "The amount %q: %v", args[0],
					err)
			}
			rule.RateQuery, rule.Amount = q.query(base, target), api.AmountOf(amount)
			found, err := c.Rates().Convert(ctx, rule)
			if err != nil {
				return err
			}
			a.warn(found.Quote)
			return one(a, conversionColumns(), found)
		}),
	}
	q.add(command)
	f := command.Flags()
	f.StringVar(&rule.Rounding, "rounding", "half-up",
		"`way` to round: "+strings.Join(roundingNames, ", "))
	f.BoolVar(&rule.Cash, "cash", false, "round to what can be paid in coins")
	_ = command.RegisterFlagCompletionFunc("rounding", fixed(roundingNames...))
	return command
}

func conversionColumns() []column[api.Conversion] {
	type conversion = api.Conversion
	made := []column[conversion]{
		col(
			"AMOUNT",
			func(c conversion) string { return string(c.Amount) + " " + string(c.Currency) },
		),
		col(
			"CONVERTED",
			func(c conversion) string { return string(c.Converted) + " " + string(c.Into) },
		),
	}
	for _, column := range quoteColumns() {
		made = append(made, col(column.Head, func(c conversion) string {
			return column.text(c.Quote)
		}))
	}
	return made
}

func (a *app) ratesList() *cobra.Command {
	var (
		stale bool
		p     pages
	)
	command := &cobra.Command{
		Use:   "list [BASE]",
		Short: "List stored rates: those of a base that are fresh, or all",
		Long: `List stored rates. With a base, those of it that are fresh, sorted by target. Without one, all
that are in the table, in no order and in every state.`,
		Example: "  exchequer rates list EUR\n  exchequer rates list --all -o csv",
		Args:    cobra.MaximumNArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			const empty = "there are no rates"
			if len(args) == 1 {
				base, _ := pairArgs([]string{args[0], ""})
				found, err := readable(
					c.Rates().OfBase(ctx, api.BaseQuery{Base: base, Stale: stale}),
				)
				if err != nil {
					return err
				}
				return page(a, rateColumns(), found, empty)
			}
			if p.all {
				return all(a, rateColumns(), c.Rates().All(ctx, p.query()), empty)
			}
			found, err := c.Rates().List(ctx, p.query())
			if err != nil {
				return err
			}
			return page(a, rateColumns(), found, empty)
		}),
	}
	p.add(command)
	command.Flags().BoolVar(&stale, "stale", false, "with a base: list stale rates as well")
	return command
}

func (a *app) ratesSave() *cobra.Command {
	var (
		n    api.NewRate
		ttl  time.Duration
		asOf string
	)
	command := &cobra.Command{
		Use:   "save BASE TARGET RATE",
		Short: "Save a rate",
		Long: `Save a rate. It never replaces a newer one. An unknown code, a date far ahead and a jump away
from the rate before are refused unless --force is given.`,
		Example: "  exchequer rates save USD EUR 0.85 --ttl 24h",
		Args:    cobra.ExactArgs(3),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) (err error) {
			base, target := pairArgs(args)
			if n.Rate, err = money.ParseDecimal(args[2]); err != nil {
				return usagef("exchequer rates save USD EUR 0.85", "The rate %q: %v", args[2], err)
			}
			if asOf != "" {
				at, err := when.Instant(asOf)
				n.AsOf = api.At(at)
				if err != nil {
					return usagef("--as-of 2026-01-31T10:30:00Z",
						"--as-of %q is no instant: it %v", asOf, err)
				}
			}
			n.TTLSeconds = int(ttl / time.Second)
			saved, err := c.Rates().Save(ctx, base, target, n)
			if err != nil {
				return err
			}
			return one(a, rateColumns(), saved)
		}),
	}
	f := command.Flags()
	f.DurationVar(&ttl, "ttl", 24*time.Hour, "`time` for which it is fresh")
	f.StringVar(&asOf, "as-of", "", "`instant` at which it was so (default: now)")
	f.StringVar(&n.Source, "source", "", "`name` of where it is from")
	f.BoolVar(&n.Force, "force", false, "save it though a check speaks against it")
	return command
}

func (a *app) ratesDelete() *cobra.Command {
	return &cobra.Command{
		Use:     "delete BASE TARGET",
		Short:   "Delete the stored rate of a pair; its history stays",
		Example: "  exchequer rates delete USD EUR",
		Args:    cobra.ExactArgs(2),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			base, target := pairArgs(args)
			if err := c.Rates().Delete(ctx, base, target); err != nil {
				return err
			}
			a.remark("there is no stored rate of %s/%s any more", base, target)
			return nil
		}),
	}
}

func (a *app) ratesHistory() *cobra.Command {
	var from, to string
	command := &cobra.Command{
		Use:   "history BASE TARGET",
		Short: "List the rates of a pair day by day",
		Long: `List the rates of a pair day by day: one for each day that has its own. The first one is the
rate of the first day, though it be older, so that a plot has a beginning.`,
		Example: "  exchequer rates history EUR USD --from 2026-01-01 --to 2026-03-31 -o csv",
		Args:    cobra.ExactArgs(2),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			base, target := pairArgs(args)
			if to == "" {
				to = string(rates.DateOf(time.Now().UTC()))
			}
			found, err := readable(
				c.Rates().History(ctx, api.RateHistoryQuery{
					Base: base, Target: target, From: api.Date(from), To: api.Date(to),
				}),
			)
			if err != nil {
				return err
			}
			return page(a, quoteColumns(), found, "there are no rates")
		}),
	}
	f := command.Flags()
	f.StringVar(&from, "from", "", "first `day` (required)")
	f.StringVar(&to, "to", "", "last `day`, which is included (default: today)")
	require(command, "from")
	return command
}

func (a *app) ratesHealth() *cobra.Command {
	type health = api.RatesHealth
	return &cobra.Command{
		Use:   "health",
		Short: "Check whether the rates are fresh, and how the fetching of them goes",
		Long: `Check whether each stored rate can be read and is fresh, and show how the fetching of rates goes. The exit
status is 8 when a rate is stale or cannot be read, and 9 when there is no rate, so that nothing could be
checked.`,
		Example: "  exchequer rates health -o json",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			found, err := c.Rates().Health(ctx)
			if err != nil {
				return err
			}
			fetches := api.RateFetches{}
			if found.Fetches != nil {
				fetches = *found.Fetches
			}
			err = one(a, []column[health]{
				col("STATUS", func(h health) string { return h.Status }),
				num("FRESH", func(h health) string { return thousands(h.Fresh) }),
				num("STALE", func(h health) string { return thousands(h.Stale) }),
				num("GONE", func(h health) string { return thousands(h.Gone) }),
				col("NEWEST", func(h health) string { return h.Newest.String() }),
				col("SOURCE", func(health) string { return fetches.Source }),
				col("FETCHED", func(health) string { return fetches.Succeeded.String() }),
				col("PROBLEM", func(health) string { return fetches.Problem }),
			}, found)
			if err != nil {
				return err
			}
			switch {
			case len(found.Unreadable) > 0:
				return a.unreadable(found.Unreadable)
			case found.Status == "ok":
				return nil
			case found.Status == "empty":
				return &failure{exit: exitUndecided,
					text: "It is not decided whether the rates are fresh: there is none",
					try:  "exchequer rates fetch, or exchequer rates save"}
			}
			return &failure{exit: exitDiffers, try: "exchequer rates fetch",
				text: count(found.Stale+found.Gone, "rate") + " older than allowed"}
		}),
	}
}

func (a *app) ratesFetch() *cobra.Command {
	command := &cobra.Command{
		Use:   "fetch",
		Short: "Fetch rates from a source now",
		Long: `Fetch rates from a source now: that of the server, or, without --server, of --rates-source or
EXCHEQUER_RATES_SOURCE. When it fails, the rates that are there stay.`,
		Example: "  exchequer rates fetch --rates-source ecb",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			loaded, err := c.Rates().Fetch(ctx)
			if err != nil {
				return err
			}
			return a.loadedRates(loaded)
		}),
	}
	command.Flags().StringVar(&a.flags.rates.source, "rates-source", "",
		"`source`: ecb, ecb-90-days, ecb-history, frankfurter, or an address")
	return command
}
