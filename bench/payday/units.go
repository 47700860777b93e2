package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// statusIndex is how a meter names the index by status.
const statusIndex = payments.TableNameDefault + "/Query_All_Scheduled_Payments"

// measureCost lets one payment live, in memory, and reads off what the index took.
func measureCost(ctx context.Context, projection payments.Projection) (c cost, err error) {
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	store := singletable.NewStore(db, singletable.Options{})
	books, err := ledger.New(store, ledger.Options{})
	if err != nil {
		return c, err
	}
	scheduler, err := payments.New(store, books, payments.Options{Projection: projection})
	if err != nil {
		return c, err
	}
	err = errors.Join(books.Model().Ensure(ctx, db), scheduler.Model().Ensure(ctx, db))
	if err != nil {
		return c, err
	}
	for _, id := range []ledger.AccountID{payerID(0), hotID(0)} {
		_, err := books.OpenAccount(ctx, ledger.NewAccount{
			ID: id, UserID: "user", AccountType: "checking", Currency: currency,
			OverdraftLimit: money.MustParse("1000", currency),
		})
		if err != nil {
			return c, err
		}
	}
	o := order{to: toHot, minor: 100, due: time.Now()}
	n, err := o.request(make([]byte, dataSize))
	if err != nil {
		return c, err
	}
	metered, meter := singletable.WithMeter(ctx)
	receipt, err := scheduler.Schedule(metered, n)
	if err != nil {
		return c, err
	}
	c.insert = meter.ByTable()[statusIndex].Write
	metered, meter = singletable.WithMeter(ctx)
	_, outcome, err := scheduler.Pay(metered, receipt.ID)
	if err != nil || outcome != payments.Paid {
		return c, fmt.Errorf("the payment is %s: %w", outcome, err)
	}
	// A claim and a settlement each take an entry away and write one.
	flips := meter.ByTable()[statusIndex].Write
	c.claim, c.settle = flips/2, flips/2
	return c, nil
}

// heatShards are the numbers of shards that are compared: none, the seed's own, and plenty.
var heatShards = [...]int{1, 5, 20}

// heatScenes lists the cases of the table.
func heatScenes(ctx context.Context) ([]scene, error) {
	var out []scene
	for _, projection := range []payments.Projection{
		payments.ProjectAll, payments.ProjectNarrow,
	} {
		c, err := measureCost(ctx, projection)
		if err != nil {
			return nil, fmt.Errorf("measure the units of %s: %w", projection, err)
		}
		for _, flips := range []bool{false, true} {
			for _, count := range heatShards {
				out = append(out, scene{projection, count, flips, c})
			}
		}
	}
	return out, nil
}

// reportHeat runs the model and prints its table.
func reportHeat(ctx context.Context, out io.Writer) error {
	scenes, err := heatScenes(ctx)
	if err != nil {
		return err
	}
	w := workload{payers: payersDefault, day: time.Now().UTC().Truncate(24 * time.Hour)}
	fmt.Fprintf(out, "\nA model of DynamoDB's partitions: %d payments in %v, %d write units a second "+
		"for a shard of the index.\n\n", heatPayments, heatWindow, shardUnits)
	lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(lines, "projection\twrites\tshards\tunits/s\tfullest shard\tshards that throttle\t"+
		"throttled\tlongest wait\tbacklog\t")
	for _, h := range simulate(w, heatPayments, heatWindow, scenes) {
		what := "inserts"
		if h.flips {
			what = "inserts, flips"
		}
		fmt.Fprintf(lines, "%s\t%s\t%d\t%.0f\t%.0f\t%d of %d\t%d\t%v\t%v\t\n", h.projection, what,
			h.shards, h.all, h.demand, h.hot, h.shards, h.throttled, h.wait.Round(time.Second),
			h.backlog.Round(time.Second))
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "\nFlips are the changes of a status, to PENDING and to PROCESSED. "+
		"Throttled are writes that found no units left; each is counted once and waits its turn.")
	return err
}
