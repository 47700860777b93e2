package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// The design's own figures: a million payments of 8 KB in half an hour.
func TestTheDesignsFiguresComeOut(t *testing.T) {
	p, err := payments.PlanShards(payments.PlanInput{
		Payments: 1_000_000, Window: 30 * time.Minute, Size: 8192, Projection: payments.ProjectAll,
	})
	if err != nil {
		t.Fatal(err)
	}
	if int(p.PerSecond) != 555 || p.TableUnits != 8 || p.Whole != 4445 || p.WholeShards != 5 {
		t.Errorf("plan %+v", p)
	}
	// Two changes of status of whole payments take 32 units each: 555.6 x 32.
	if p.Inserts != 4445 || p.Changes != 17778 || p.Least != 23 {
		t.Errorf("plan %+v", p)
	}
	text := strings.Join(p.Lines(), "\n")
	for _, want := range []string{"555.6 a second", "4445 units", "at least 5 shards", "17778"} {
		if !strings.Contains(text, want) {
			t.Errorf("the explanation lacks %q:\n%s", want, text)
		}
	}
	p, err = payments.PlanShards(payments.PlanInput{
		Payments: 1_000_000, Window: 30 * time.Minute, Size: 8192,
	})
	if err != nil || p.WholeShards != 5 || p.Inserts != 556 || p.Changes != 2223 || p.Least != 3 ||
		p.Advised != 4 {
		t.Errorf("narrow: %+v, %v", p, err)
	}
}

func TestAPlanRefuses(t *testing.T) {
	good := payments.PlanInput{Payments: 1, Window: time.Second, Size: 1}
	for name, change := range map[string]func(*payments.PlanInput){
		"payments":     func(in *payments.PlanInput) { in.Payments = 0 },
		"window":       func(in *payments.PlanInput) { in.Window = 0 },
		"paymentBytes": func(in *payments.PlanInput) { in.Size = 500_000 },
		"projection":   func(in *payments.PlanInput) { in.Projection = "SOME" },
	} {
		in := good
		change(&in)
		_, err := payments.PlanShards(in)
		if !errors.Is(err, payments.ErrInvalidRequest) || !slices.Equal(fieldsOf(err),
			[]string{name}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLivesAreMeasured(t *testing.T) {
	lives, err := payments.Lives(t.Context(), 8192, func(now func() time.Time) (payments.Trial,
		error) {
		db, err := engine.OpenMemory(engine.Options{})
		if err != nil {
			return payments.Trial{}, err
		}
		t.Cleanup(func() { _ = db.Close() })
		return payments.Trial{
			Store: singletable.NewStore(db, singletable.Options{Now: now}),
			Ensure: func(ctx context.Context, m *singletable.Model) error {
				return m.Ensure(ctx, db)
			},
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lives {
		line := string(l.Projection)
		for _, s := range l.Steps {
			line += fmt.Sprintf(" %s %g", s.Name, s.Units)
		}
		got = append(got, line+fmt.Sprintf(" = %g, ledger %g", l.Total(), l.Ledger))
	}
	want := []string{
		// Whole payments: 8 units for the item, 8 for its entry, twice that where the entry moves.
		"ALL insert 17 claim 24 settle 34 copy to the history 25 remove 17 = 117, ledger 16",
		// All but the data costs what keys alone do, and lists need no second read.
		"INCLUDE insert 10 claim 10 settle 20 copy to the history 11 remove 10 = 61, ledger 16",
		"KEYS_ONLY insert 10 claim 10 settle 20 copy to the history 11 remove 10 = 61, ledger 16",
	}
	if !slices.Equal(got, want) {
		t.Errorf("lives:\n%s", strings.Join(got, "\n"))
	}
}
