package demo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
)

// measured is how often each call is made for a median.
const measured = 100

// listed is how many rows the calls that list have, as in the design's table.
const listed = 100

// operation is a row of the table of performance: the target of the design, and the call to
// measure.
type operation struct {
	name, method          string
	designUnits, designMs string
	units                 func(client.Usage) string
	do                    func(ctx context.Context, n int) error
}

func readUnits(u client.Usage) string  { return number(u.ReadUnits) + " RCU" }
func writeUnits(u client.Usage) string { return number(u.WriteUnits) + " WCU" }

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// performance measures the operations of the design's table "Performance Characteristics".
func (s *story) performance(ctx context.Context) error {
	s.title("What the design promises, and what was measured here")
	operations, err := s.operations(ctx)
	if err != nil {
		return err
	}
	t := grid.New(grid.Left("OPERATION"), grid.Left("METHOD"), grid.Right("DESIGN"),
		grid.Right("HERE"), grid.Right("DESIGN"), grid.Right("HERE"))
	for _, o := range operations {
		used, median, err := o.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		t.Add(o.name, o.method, o.designUnits, o.units(used), o.designMs, milliseconds(median))
	}
	s.table(t)
	s.say("   Medians of %d calls, one after the other, through the API in this process; a write is", measured)
	s.say("   on disk when it returns. The design's latencies are those of a network and a service.")
	s.say("   Its payment counts three items; ours has five and their index entries, each twice in a")
	s.say("   transaction: header, two legs, two balances.")
	s.command("ledger get %s --legs --usage", s.shown.ID)
	return nil
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// operations returns the lines of the table, in its order.
func (s *story) operations(ctx context.Context) ([]operation, error) {
	payer := s.world.find("checking", "NZD")
	shop := s.world.merchants[0]
	c, id := s.client, s.shown.ID
	hundred := client.PageQuery{Limit: listed}
	legs, err := c.LegsOfAccount(ctx, shop.SettlementAccountID, hundred)
	if err != nil {
		return nil, err
	}
	if len(legs.Items) < listed {
		return nil, fmt.Errorf("account %s has %d legs, too few to measure %d",
			shop.SettlementAccountID, len(legs.Items), listed)
	}
	return []operation{
		{"Get transaction by ID", "GetItem", "0.5-1 RCU", "1-3 ms", readUnits,
			func(ctx context.Context, _ int) error {
				_, err := c.Transaction(ctx, id)
				return err
			}},
		{"Get transaction + legs", "Query", "1-3 RCU", "3-8 ms", readUnits,
			func(ctx context.Context, _ int) error {
				_, err := c.Entry(ctx, id)
				return err
			}},
		{"Query by status (100 items)", "Query GSI1", "5-10 RCU", "10-30 ms", readUnits,
			func(ctx context.Context, _ int) error {
				_, err := c.TransactionsByStatus(ctx, client.StatusQuery{
					Status: client.Completed, PageQuery: hundred,
				})
				return err
			}},
		{"Check idempotency", "Query GSI2", "0.5 RCU", "2-5 ms", readUnits,
			func(ctx context.Context, _ int) error {
				_, err := c.TransactionByKey(ctx, s.shown.IdempotencyKey)
				return err
			}},
		{"Atomic payment", "TransactWriteItems", "6 WCU", "15-50 ms", writeUnits,
			func(ctx context.Context, n int) error {
				_, err := c.Post(ctx, client.Posting{
					IdempotencyKey: fmt.Sprintf("demo-measure-%d", n), Type: client.Payment,
					From: payer.ID, MerchantID: shop.ID, Amount: money.MustParse("0.01", "NZD"),
				})
				return err
			}},
		{"Account history (100 items)", "Query GSI1", "5-10 RCU", "10-30 ms", readUnits,
			func(ctx context.Context, _ int) error {
				_, err := c.LegsOfAccount(ctx, shop.SettlementAccountID, hundred)
				return err
			}},
	}, nil
}

// measure makes the calls, and returns what one takes and the median of their times.
func (o operation) measure(ctx context.Context) (client.Usage, time.Duration, error) {
	var used client.Usage
	times := make([]time.Duration, measured)
	for n := range times {
		used = client.Usage{} // That of the last call stays.
		begin := time.Now()
		if err := o.do(client.WithUsage(ctx, &used), n); err != nil {
			return used, 0, err
		}
		times[n] = time.Since(begin)
	}
	slices.Sort(times)
	return used, times[len(times)/2], nil
}
