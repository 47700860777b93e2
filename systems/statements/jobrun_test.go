package statements_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// killable is a context that ends with the process that it stands for.
type killable = context.Context

// killed lets another process work on the same data until it has written a number of times, and
// then ends it: nothing of it reaches the store any more. It reports whether it was ended.
func (d *desk) killed(writes int, work func(p *statements.Person, ctx killable)) bool {
	d.t.Helper()
	ctx, kill := context.WithCancel(d.t.Context())
	defer kill()
	var left atomic.Int64
	left.Store(int64(writes))
	store := singletable.NewStore(d.db, singletable.Options{Now: d.time.Now,
		OnCall: func(c singletable.Call) {
			if c.Operation == "TransactWriteItems" && c.Err == nil && left.Add(-1) == 0 {
				kill()
			}
		}})
	b, err := statements.New(store, statements.Options{Now: d.time.Now})
	if err != nil {
		d.t.Fatal(err)
	}
	p, err := b.Person(d.ID())
	if err != nil {
		d.t.Fatal(err)
	}
	if writes == 0 {
		kill()
	}
	work(p, ctx)
	return ctx.Err() != nil
}

// TestAJobThatIsKilledAtAnyWriteEndsTheSame runs each kind of job with a process that ends after
// every single write, and compares with a job that is left alone.
func TestAJobThatIsKilledAtAnyWriteEndsTheSame(t *testing.T) {
	const months, rows = 4, 12
	begin := map[string]func(*desk, string, string) statements.Job{
		"rename": func(d *desk, a, _ string) statements.Job {
			_, j, err := d.RenameTag(d.t.Context(), a, "Renamed", 0)
			if err != nil {
				d.t.Fatal(err)
			}
			return *j
		},
		"merge": func(d *desk, a, b string) statements.Job { return d.merge(a, b) },
		"delete": func(d *desk, a, _ string) statements.Job {
			j, err := d.DeleteTag(d.t.Context(), a, 0)
			if err != nil {
				d.t.Fatal(err)
			}
			return j
		},
		"rules": func(d *desk, _, b string) statements.Job {
			d.rule(statements.Rule{Conditions: contains("shop"),
				Set: statements.Setting{Notes: "Shopping", TagIDs: []string{b}}})
			j, err := d.ApplyRules(d.t.Context(), year)
			if err != nil {
				d.t.Fatal(err)
			}
			return j
		},
	}
	for name, begin := range begin {
		t.Run(name, func(t *testing.T) {
			end := func(killing bool) (string, statements.Job) {
				d := newDesk(t)
				a, b := d.tag("A"), d.tag("B")
				var made []statements.Transaction
				for i := range rows {
					n := statements.NewTransaction{Amount: dec("-1"),
						Merchant: fmt.Sprint("Shop ", i),
						Date:     statements.Date(fmt.Sprintf("2025-%02d-10", i%months+1))}
					if i%3 != 0 {
						n.TagIDs = []string{a}
					}
					n.Transfer = i%5 == 0
					made = append(made, d.add(n))
				}
				d.coffee("2025-12-24")
				job, kills := begin(d, a, b), 0
				for killing && d.killed(1, func(p *statements.Person, ctx killable) {
					if _, err := p.RunJob(ctx, job.ID, nil); err != nil &&
						!errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}) {
					kills++
				}
				if killing && kills < months {
					t.Errorf("it was killed %d times in %d months", kills, months)
				}
				job = d.run(job)
				text := ""
				for _, row := range made {
					got := d.read(row)
					text += fmt.Sprintln(got.Merchant, got.Notes, got.Tags, got.Version)
				}
				for month, s := range d.sheets() {
					text += fmt.Sprintln(month, s.Tags[a], s.Tags[b], s.Untagged, s.All)
				}
				return sortedLines(text), job
			}
			want, wantJob := end(false)
			got, gotJob := end(true)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if gotJob.Changed != wantJob.Changed || gotJob.Read != wantJob.Read {
				t.Errorf("counted %d of %d, want %d of %d", gotJob.Changed, gotJob.Read,
					wantJob.Changed, wantJob.Read)
			}
		})
	}
}

func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// TestAJobMayRunTwiceAtOnce lets several processes run one job on a store that is unkind.
func TestAJobMayRunTwiceAtOnce(t *testing.T) {
	d := newDesk(t)
	a, b := d.tag("A"), d.tag("B")
	const rows = 150 // More than one write of the largest month.
	for i := range rows {
		d.tagged(statements.Date(fmt.Sprintf("2025-%02d-10", 1+i%2)), a)
	}
	job := d.merge(a, b)
	if !storetest.Remote() {
		f := engine.Strict()
		f.Rules = append(f.Rules, engine.Fault{Kind: engine.FaultThrottle, Rate: 0.02},
			engine.Fault{Kind: engine.FaultLostAnswer, Rate: 0.1})
		storetest.SetFaults(t, d.db, f)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := d.RunJob(t.Context(), job.ID, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !storetest.Remote() {
		storetest.SetFaults(t, d.db, engine.Faults{})
	}
	done, err := d.Job(t.Context(), job.ID)
	if err != nil || !done.Done || done.Changed != rows || done.Read != rows {
		t.Errorf("the job: %+v %v", done, err)
	}
	for month, s := range d.sheets() {
		if len(s.Tags) != 1 || s.Tags[b].Count != rows/2 {
			t.Errorf("%s: %v", month, s.Tags)
		}
	}
}

func TestAJobTellsHowFarItIs(t *testing.T) {
	d := newDesk(t)
	a := d.tag("A")
	for month := range 3 {
		d.tagged(statements.Date(fmt.Sprintf("2025-%02d-10", month+1)), a)
	}
	_, job, err := d.RenameTag(t.Context(), a, "B", 0)
	if err != nil {
		t.Fatal(err)
	}
	var months []statements.Date
	_, err = d.RunJob(t.Context(), job.ID, func(j statements.Job) {
		months = append(months, j.Month)
		if j.AccountID != d.account || j.Changed != min(len(months), 3) {
			t.Errorf("told: %+v", j)
		}
	})
	want := []statements.Date{"2025-01-01", "2025-02-01", "2025-03-01", "2025-03-01"}
	if err != nil || !slices.Equal(months, want) {
		t.Errorf("months %v: %v", months, err)
	}
	if _, err := d.RunJob(t.Context(), "job-none", nil); !errors.Is(err, statements.ErrNoJob) {
		t.Errorf("a job that is not there: %v", err)
	}
}
