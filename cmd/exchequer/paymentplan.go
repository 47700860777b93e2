package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

func (a *app) paymentsPlan() *cobra.Command {
	var (
		in         payments.PlanInput
		projection string
	)
	command := &cobra.Command{
		Use:   "plan",
		Short: "Work out how many shards a load needs, and what a payment's life costs",
		Long: `Work out over how many shards the index by status must be spread for a load, with the reasons, and
measure what the life of one payment costs under each projection of that index. Nothing is read and
nothing is written but to memory.`,
		Example: `  exchequer payments plan --per-day 1000000 --window 30m --payment-bytes 8192
  exchequer payments plan --per-day 50000 --window 1h --payment-bytes 2048 --run-window 10m --projection ALL`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			in.Projection = payments.Projection(projection)
			plan, err := payments.PlanShards(in)
			if err != nil {
				return err
			}
			lives, err := measureLives(command.Context(), in.Size)
			if err != nil {
				return err
			}
			return a.shardPlan(plan, lives)
		},
	}
	f := command.Flags()
	f.IntVar(&in.Payments, "per-day", 0, "`number` of payments that arrive within the window (required)")
	f.DurationVar(&in.Window, "window", 0, "`time` in which they arrive, such as 30m (required)")
	f.IntVar(&in.Size, "payment-bytes", 0, "size of one payment in `bytes` (required)")
	f.DurationVar(&in.RunWindow, "run-window", 0,
		"`time` in which they are settled (default the window)")
	f.StringVar(&projection, "projection", string(payments.ProjectNarrow),
		"`form` of the index: INCLUDE (all but the data), ALL or KEYS_ONLY")
	require(command, "per-day", "window", "payment-bytes")
	return command
}

// measureLives lets a payment live in memory under each projection.
func measureLives(ctx context.Context, size int) (lives []payments.Life, err error) {
	var open []*engine.DB
	defer func() {
		for _, db := range open {
			err = errors.Join(err, db.Close())
		}
	}()
	return payments.Lives(ctx, size, func(now func() time.Time) (payments.Trial, error) {
		db, err := engine.OpenMemory(engine.Options{Now: now})
		if err != nil {
			return payments.Trial{}, err
		}
		open = append(open, db)
		return payments.Trial{
			Store: singletable.NewStore(db, singletable.Options{Now: now}),
			Ensure: func(ctx context.Context, m *singletable.Model) error {
				return m.Ensure(ctx, db)
			},
		}, nil
	})
}

// plannedLife is a life in JSON.
type plannedLife struct {
	Projection payments.Projection `json:"projection"`
	Steps      map[string]float64  `json:"steps"`
	Total      float64             `json:"total"`
	Ledger     float64             `json:"ledger"`
}

func (a *app) shardPlan(p payments.Plan, lives []payments.Life) error {
	if a.flags.output == outputJSON {
		made := make([]plannedLife, 0, len(lives))
		for _, l := range lives {
			steps := make(map[string]float64, len(l.Steps))
			for _, s := range l.Steps {
				steps[s.Name] = s.Units
			}
			made = append(made, plannedLife{l.Projection, steps, l.Total(), l.Ledger})
		}
		return a.json(map[string]any{
			"perSecond": p.PerSecond, "tableUnits": p.TableUnits, "indexUnits": p.IndexUnits,
			"whole": p.Whole, "wholeShards": p.WholeShards, "inserts": p.Inserts,
			"changes": p.Changes, "least": p.Least, "advised": p.Advised, "lines": p.Lines(),
			"lives": made,
		})
	}
	if a.flags.output == outputTable {
		for _, line := range p.Lines() {
			if _, err := fmt.Fprintln(a.out, line); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintln(a.out, "\nWhat the life of one payment takes, in write units, measured:")
		if err != nil {
			return err
		}
	}
	return a.lives(lives)
}

// lives prints what lives cost: a row for each projection, a column for each step.
func (a *app) lives(lives []payments.Life) error {
	if a.flags.output == outputCSV {
		columns := []column[payments.Life]{
			col("PROJECTION", func(l payments.Life) string { return string(l.Projection) }),
		}
		for i, s := range lives[0].Steps {
			columns = append(columns, num(s.Name, func(l payments.Life) string {
				return plainUnits(l.Steps[i].Units)
			}))
		}
		columns = append(columns,
			num("TOTAL", func(l payments.Life) string { return plainUnits(l.Total()) }),
			num("LEDGER", func(l payments.Life) string { return plainUnits(l.Ledger) }))
		return page(a, columns, whole(lives), "")
	}
	heads := []grid.Column{grid.Left("STEP")}
	for _, l := range lives {
		heads = append(heads, grid.Right(string(l.Projection)))
	}
	t := grid.New(heads...)
	add := func(name string, value func(payments.Life) float64) {
		cells := []string{name}
		for _, l := range lives {
			cells = append(cells, plainUnits(value(l)))
		}
		t.Add(cells...)
	}
	for i, s := range lives[0].Steps {
		add(s.Name, func(l payments.Life) float64 { return l.Steps[i].Units })
	}
	add("in all", payments.Life.Total)
	add("and the ledger", func(l payments.Life) float64 { return l.Ledger })
	return t.Write(a.out, "")
}

func plainUnits(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
