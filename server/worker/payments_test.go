package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/server/worker"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// What a run left is due at the next turn, so one that fails does not end the loop; the end of the
// context does.
func TestPaymentsRunAgainAfterARunThatFailed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var (
		log     bytes.Buffer
		runs    int
		counted []int
	)
	worker.Payments{
		Every:   time.Microsecond,
		Options: payments.RunOptions{Callers: 7},
		Logger:  slog.New(slog.NewTextHandler(&log, nil)),
		Counted: func(before, after payments.Report) {
			counted = append(counted, after.Paid-before.Paid)
		},
		Run: func(ctx context.Context, o payments.RunOptions) (payments.Report, error) {
			if o.Callers != 7 {
				t.Errorf("a run has %d callers", o.Callers)
			}
			runs++
			switch runs {
			case 1:
				return payments.Report{}, errors.New("the store is away")
			case 2:
				o.Progress(payments.Report{Paid: 1})
				o.Progress(payments.Report{Paid: 3})
				return payments.Report{Paid: 3}, nil
			case 3:
				return payments.Report{}, nil
			}
			o.Progress(payments.Report{Paid: 2})
			cancel()
			return payments.Report{Paid: 2}, ctx.Err()
		},
	}.Loop(ctx)
	if runs != 4 {
		t.Errorf("there were %d runs, want 4", runs)
	}
	if diff := cmp.Diff([]int{1, 2, 2}, counted); diff != "" {
		t.Errorf("payments counted (-want +got):\n%s", diff)
	}
	for _, must := range []string{
		"the store is away", "payments: settled\" processed=3", "payments: stopped\" processed=2",
	} {
		if !strings.Contains(log.String(), must) {
			t.Errorf("the log does not say %q:\n%s", must, log.String())
		}
	}
	if n := strings.Count(log.String(), "payments:"); n != 3 {
		t.Errorf("the log tells of %d runs, want 3: one did nothing", n)
	}
}
