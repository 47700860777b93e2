package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/exchequer-dev/exchequer/systems/payments"
)

// Payments settles payments that are due, again and again.
type Payments struct {
	// Run settles all that is due now; it is a Scheduler's.
	Run func(context.Context, payments.RunOptions) (payments.Report, error)
	// Every is the time from one run's end to the next one's begin.
	Every time.Duration
	// Options are those of each run; Progress, if set, is called as well.
	Options payments.RunOptions
	// Counted, if set, is called after every payment with the report of the run before it and after
	// it.
	Counted func(before, after payments.Report)
	// Logger receives runs that did something, and errors; nil means no logging.
	Logger *slog.Logger
}

// Loop runs until ctx ends. A failed run is logged and repeated at the next interval, because its
// payments are still due. The payments in progress when ctx ends are finished.
func (w Payments) Loop(ctx context.Context) {
	if w.Logger == nil {
		w.Logger = slog.New(slog.DiscardHandler)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if ctx.Err() != nil { // Of two cases that are ready, select takes any.
			return
		}
		w.once(ctx)
		timer.Reset(w.Every)
	}
}

// once is one run.
func (w Payments) once(ctx context.Context) {
	before := payments.Report{}
	opts := w.Options
	opts.Progress = func(r payments.Report) {
		if w.Counted != nil {
			w.Counted(before, r)
		}
		before = r
		if w.Options.Progress != nil {
			w.Options.Progress(r)
		}
	}
	began := time.Now()
	r, err := w.Run(ctx, opts)
	attrs := []any{
		"processed", r.Paid, "failed", r.Failed, "postponed", r.Postponed,
		"took", time.Since(began),
	}
	switch {
	case err != nil && errors.Is(err, ctx.Err()):
		w.Logger.Info("payments: stopped", attrs...)
	case err != nil:
		w.Logger.Error("payments: the run broke off", append(attrs, "err", err)...)
	case r.Paid+r.Failed+r.Postponed > 0:
		w.Logger.Info("payments: settled", attrs...)
	}
}
