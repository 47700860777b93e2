package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/rates/feed"
)

// rateBatch is how many days are sent at once: of forty currencies they have half of what a body
// may.
const rateBatch = 100

func (a *app) ratesLoad() *cobra.Command {
	var (
		days api.RateDays
		ttl  time.Duration
	)
	command := &cobra.Command{
		Use:   "load FILE",
		Short: "Take in a file of rates: of the ECB, Frankfurter or Open Exchange Rates",
		Long: `Take in a file of rates, or standard input for "-": a file of the European Central Bank (XML of a
day or of ninety days; CSV of a day or of all time, zipped or not), or an answer of Frankfurter or
Open Exchange Rates. Which it is, is seen from its beginning.

Each day goes into the history. The newest one becomes the rates of now, unless it is too old for
that. Loading a file again changes nothing, so that what was stopped can be given again.`,
		Example: "  exchequer rates load eurofxref-hist.zip",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			days.TTLSeconds = int(ttl / time.Second)
			return a.loadRates(ctx, c, args[0], days)
		}),
	}
	f := command.Flags()
	f.BoolVar(&days.Force, "force", false, "take rates in though checks speak against them")
	f.BoolVar(&days.HistoryOnly, "history-only", false, "leave the rates of now alone")
	f.DurationVar(&ttl, "ttl", 0,
		"`time` for which the newest rates are fresh (default: until the next publication)")
	return command
}

func (a *app) loadRates(
	ctx context.Context, c *client.Client, path string, request api.RateDays,
) error {
	data, err := a.readRates(path)
	if err != nil {
		return err
	}
	days, err := feed.Read(data)
	if err != nil {
		return err
	}
	bar := a.newProgress("loading", "day", len(days))
	defer bar.clear()
	sum := api.LoadedRates{First: api.Date(days[0].Date)}
	historyOnly := request.HistoryOnly
	for begin := 0; begin < len(days); begin += rateBatch {
		end := min(begin+rateBatch, len(days))
		request.Days = request.Days[:0]
		for _, d := range days[begin:end] {
			request.Days = append(request.Days, rateDayOf(d))
		}
		// The oldest days come first, and only the last ones can be those of now.
		request.HistoryOnly = historyOnly || end < len(days)
		loaded, err := c.Rates().Load(ctx, request)
		if err != nil {
			return err
		}
		addLoaded(&sum, loaded)
		bar.set(end, "")
	}
	bar.clear()
	return a.loadedRates(sum)
}

// readRates reads a file, or standard input for "-".
func (a *app) readRates(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(a.in, feed.SizeMax+1))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, feed.SizeMax+1))
}

func rateDayOf(d rates.Day) api.RateDay {
	made := api.RateDay{
		Date: api.Date(d.Date), At: api.At(d.At), Base: d.Base, Source: d.Source,
		Rates: make(map[money.Currency]money.Decimal, len(d.Prices)),
	}
	for _, p := range d.Prices {
		made.Rates[p.Currency] = p.Value
	}
	return made
}

func addLoaded(sum *api.LoadedRates, part api.LoadedRates) {
	sum.Days += part.Days
	sum.Rates += part.Rates
	sum.Current += part.Current
	sum.Kept += part.Kept
	sum.TooOld = sum.TooOld || part.TooOld
	sum.RefusedCount += part.RefusedCount
	sum.Refused = append(sum.Refused, part.Refused...)
	sum.Last = part.Last
}

// refusedShown is how many refused rates are listed.
const refusedShown = 20

// loadedRates prints what was taken in. Refused rates are an error, after everything was said.
func (a *app) loadedRates(l api.LoadedRates) error {
	type loaded = api.LoadedRates
	if l.Refused == nil {
		l.Refused = []api.RefusedRate{}
	}
	err := one(a, []column[loaded]{
		num("DAYS", func(l loaded) string { return thousands(l.Days) }),
		num("RATES", func(l loaded) string { return thousands(l.Rates) }),
		col("FIRST", func(l loaded) string { return string(l.First) }),
		col("LAST", func(l loaded) string { return string(l.Last) }),
		num("CURRENT", func(l loaded) string { return thousands(l.Current) }),
		num("REFUSED", func(l loaded) string { return thousands(l.RefusedCount) }),
	}, l)
	if err != nil {
		return err
	}
	if l.TooOld {
		a.remark("the newest day is too old to give the rates of now: it is history")
	}
	if l.Kept > 0 {
		a.remark("%s of now newer already, and kept", count(l.Kept, "rate"))
	}
	if l.RefusedCount == 0 {
		return nil
	}
	t := grid.New(grid.Left("DATE"), grid.Left("PAIR"), grid.Left("CODE"), grid.Left("REASON"))
	for i, r := range l.Refused {
		if i == refusedShown {
			break
		}
		t.Add(string(r.Date), fmt.Sprintf("%s/%s", r.Base, r.Target), string(r.Code), r.Reason)
	}
	if a.flags.output == outputTable {
		if err := t.Write(a.out, "  "); err != nil {
			return err
		}
	}
	return &failure{
		exit: exitRefused, text: count(l.RefusedCount, "rate") + " refused",
		try: "look at them, and give --force if they are right",
	}
}
