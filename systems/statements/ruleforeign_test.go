package statements

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestAJobWithoutAScopeGoesByTheSheets runs one as an archive may bring it.
func TestAJobWithoutAScopeGoesByTheSheets(t *testing.T) {
	for _, scope := range []RuleScope{{}, {From: "0001-01-01", To: "9999-12-31"}} {
		p := newShelf(t, Options{Now: spring}).user(t, "someone", "a")
		put(t, p, Transaction{AccountID: "a", Date: "2025-06-20", Amount: dec("-5")})
		job := Job{UserID: p.id, ID: "job-1", Kind: ApplyingRules, Scope: scope, Version: 1}
		if err := modelOf(p).jobs.Put(t.Context(), p.store(), job); err != nil {
			t.Fatal(err)
		}
		job, err := p.RunJob(t.Context(), "job-1", nil)
		if err != nil || job.Read != 1 || !job.Done {
			t.Errorf("the job: %+v, %v", job, err)
		}
	}
}

// TestAPreviewTellsWhatTheJobDoesToRowsOfAnotherProgram has months that no sheet tells of, and
// stops the job whenever it has told how far it is.
func TestAPreviewTellsWhatTheJobDoesToRowsOfAnotherProgram(t *testing.T) {
	for _, stop := range []bool{false, true} {
		t.Run(fmt.Sprintf("stopped %v", stop), func(t *testing.T) {
			p := newShelf(t, Options{Now: spring}).user(t, "someone", "a", "b", "c")
			put(t, p, Transaction{AccountID: "a", Date: "2025-06-20", Amount: dec("-5"),
				Text: "Market"}, Transaction{AccountID: "b", Date: "2024-11-30",
				Amount: dec("-5"), Text: "Café"})
			for i, date := range []Date{"2024-01-31", "2024-02-01", "2024-02-20", "2025-06-10",
				"2026-02-01", "2026-02-02"} {
				for _, account := range []string{"a", "b"} {
					foreign(t, p, Transaction{AccountID: account, ID: fmt.Sprintf("row-%d", i),
						Date: date, Currency: "NZD", Amount: dec("-4"), Text: "Café"})
				}
			}
			_, _, err := p.CreateRule(t.Context(), Rule{Name: "r", Conditions: []Condition{
				{Field: OnText, Op: OpContains, Text: "café"}}, Set: Setting{Notes: "coffee"}})
			if err != nil {
				t.Fatal(err)
			}
			scope := RuleScope{From: "2024-02-01", To: "2026-02-01"}
			want, err := p.PreviewRules(t.Context(), scope, nil)
			if err != nil || want.Read != 10 || want.Changed != 9 {
				t.Fatalf("preview: %+v, %v", want, err)
			}
			job, err := p.ApplyRules(t.Context(), scope)
			if err != nil {
				t.Fatal(err)
			}
			stops := 0
			for !job.Done {
				ctx, cancel := context.WithCancel(t.Context())
				job, err = p.RunJob(ctx, job.ID, func(Job) {
					if stop {
						stops++
						cancel()
					}
				})
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
			if job.Read != want.Read || job.Changed != want.Changed || stop && stops < 7 {
				t.Errorf("the job, stopped %d times: %+v", stops, job)
			}
			row, err := p.Transaction(t.Context(), "b", "row-2")
			if err != nil || row.Notes != "coffee" || row.Version != 1 {
				t.Errorf("a row: %+v, %v", row, err)
			}
			again, err := p.PreviewRules(t.Context(), scope, nil)
			if err != nil || again.Read != want.Read || again.Changed != 0 {
				t.Errorf("preview afterwards: %+v, %v", again, err)
			}
			// What is outside the scope stays a row of the other program.
			if c := checkTotals(t, p, "a", CheckOptions{}); c.Rows != 7 || c.Differ != 2 {
				t.Errorf("totals: %+v", c)
			}
		})
	}
}
