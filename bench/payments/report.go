package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/exchequer-dev/exchequer/bench/machine"
)

// missing is a store that could not be run, with the reason in words.
type missing struct {
	Store  string `json:"store"`
	Reason string `json:"reason"`
}

// series are the samples of one case on one store, by round; a failed round has no sample.
type series struct {
	store   string
	kind    kind
	callers int
	rounds  map[int]sample
	failure error
}

// report gathers samples and turns them into the table or JSON.
type report struct {
	settings settings
	cases    []*series
	missing  []missing
	began    time.Time
	load     float64 // of the machine before the run, in threads that want a core
}

// quietMax is the load for each core up to which a machine counts as idle enough to measure on.
const quietMax = 0.25

// busy reports whether other programs used so much of the machine that the figures mean little.
func (r *report) busy() bool { return r.load > quietMax*float64(runtime.NumCPU()) }

func newReport(s settings) *report {
	return &report{settings: s, began: time.Now(), load: machine.Load()}
}

// find returns the series of a case, or nil.
func (r *report) find(store string, kind kind, callers int) *series {
	for _, one := range r.cases {
		if one.store == store && one.kind == kind && one.callers == callers {
			return one
		}
	}
	return nil
}

func (r *report) add(store string, kind kind, callers, round int, taken sample, err error) {
	one := r.find(store, kind, callers)
	if one == nil {
		one = &series{store: store, kind: kind, callers: callers, rounds: map[int]sample{}}
		r.cases = append(r.cases, one)
	}
	if err != nil {
		one.failure = err
		return
	}
	one.rounds[round] = taken
}

// failed reports whether any case of any store failed, its check included.
func (r *report) failed() bool {
	for _, one := range r.cases {
		if one.failure != nil {
			return true
		}
	}
	return false
}

// ratio returns the median over rounds of this case's rate divided by the other's in the same
// round, because a ratio of two medians is more sensitive to a drift of the machine. It is 0 if
// there is none.
func (one *series) ratio(other *series) float64 {
	if other == nil {
		return 0
	}
	var ratios []float64
	for round, taken := range one.rounds {
		if against, ok := other.rounds[round]; ok {
			ratios = append(ratios, taken.perSecond/against.perSecond)
		}
	}
	return median(ratios)
}

// row is one line of the table.
type row struct {
	Store       string  `json:"store"`
	Case        kind    `json:"case"`
	Callers     int     `json:"callers"`
	PerSecond   float64 `json:"per_second"`
	P50         float64 `json:"p50_ms"`
	P99         float64 `json:"p99_ms"`
	ToPostgres  float64 `json:"ratio_to_postgres,omitempty"`
	ToFloor     float64 `json:"ratio_to_floor,omitempty"`
	Rounds      int     `json:"rounds"`
	Transaction int     `json:"acknowledged_payments,omitempty"`
	Failure     string  `json:"failure,omitempty"`
}

// rows lists all cases, stores of one case together in the order of the contenders.
func (r *report) rows() []row {
	reference := floor
	if r.settings.reads {
		reference = (&pebbleRows{}).name()
	}
	var rows []row
	for _, kind := range r.settings.kinds() {
		for _, callers := range r.settings.callers {
			for _, store := range contenders(r.settings.reads) {
				one := r.find(store.name(), kind, callers)
				if one == nil {
					continue
				}
				line := one.row()
				line.ToPostgres = one.ratio(r.find(baseline, kind, callers))
				line.ToFloor = one.ratio(r.find(reference, kind, callers))
				if r.settings.reads {
					line.Transaction = 0
				}
				rows = append(rows, line)
			}
		}
	}
	return rows
}

func (one *series) row() row {
	line := row{
		Store: one.store, Case: one.kind, Callers: one.callers, Rounds: len(one.rounds),
	}
	if one.failure != nil {
		line.Failure = one.failure.Error()
	}
	var rates []float64
	var p50s, p99s []time.Duration
	for _, taken := range one.rounds {
		rates = append(rates, taken.perSecond)
		p50s = append(p50s, taken.p50)
		p99s = append(p99s, taken.p99)
		line.Transaction += taken.acknowledged
	}
	line.PerSecond = median(rates)
	line.P50 = milliseconds(median(p50s))
	line.P99 = milliseconds(median(p99s))
	return line
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (r *report) write(out io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Machine string    `json:"machine"`
			Began   time.Time `json:"began"`
			Load    float64   `json:"load_before"`
			Rows    []row     `json:"rows"`
			Missing []missing `json:"not_installed,omitempty"`
		}{computer(), r.began, r.load, r.rows(), r.missing})
	}
	return r.table(out)
}

// computer returns a short description of the machine.
func computer() string {
	return fmt.Sprintf("%d cores, %s/%s, %s",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func (r *report) table(out io.Writer) error {
	s := r.settings
	what, unit := "Double-entry payments, durable when acknowledged", "payments/s"
	if s.reads {
		what, unit = "Point look-ups by id and ranges of 100 rows of one account", "reads/s"
	}
	fmt.Fprintf(out, "\n%s. %s.\n", what, computer())
	fmt.Fprintf(out, "Medians of %d rounds of %v after %v; %d accounts, %d older payments.\n\n",
		s.rounds, s.duration, s.warmUp, s.accountsFor(), s.older)
	lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(lines, "case\tcallers\tstore\t%s\tp50 ms\tp99 ms\tto postgres\tto floor\t\n", unit)
	previous := row{}
	rows := r.rows()
	for _, line := range rows {
		sameCase := line.Case == previous.Case && line.Callers == previous.Callers
		if previous.Store != "" && !sameCase {
			fmt.Fprintln(lines, "\t\t\t\t\t\t\t\t")
		}
		previous = line
		if line.Rounds == 0 {
			fmt.Fprintf(lines, "%s\t%d\t%s\tfailed\t\t\t\t\t\n",
				line.Case, line.Callers, line.Store)
			continue
		}
		fmt.Fprintf(lines, "%s\t%d\t%s\t%.0f\t%.3f\t%.3f\t%s\t%s\t\n",
			line.Case, line.Callers, line.Store, line.PerSecond, line.P50, line.P99,
			ratioText(line.ToPostgres), ratioText(line.ToFloor))
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	r.words(out, rows)
	return nil
}

func ratioText(ratio float64) string {
	switch {
	case ratio == 0:
		return "-"
	case ratio < 0.1:
		return fmt.Sprintf("%.3f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

// words writes below the table what was checked, what failed, and what is not installed.
func (r *report) words(out io.Writer, rows []row) {
	fmt.Fprintln(out)
	acknowledged := map[string]int{}
	var order []string
	for _, line := range rows {
		if _, seen := acknowledged[line.Store]; !seen {
			order = append(order, line.Store)
		}
		acknowledged[line.Store] += line.Transaction
		if line.Failure != "" {
			fmt.Fprintf(out, "FAILED: %s, %s, %d callers: %s\n",
				line.Store, line.Case, line.Callers, line.Failure)
		}
	}
	for _, store := range order {
		switch n := acknowledged[store]; {
		case r.settings.reads || n == 0:
		case store == floor:
			fmt.Fprintf(out, "Checked: %s holds exactly the %d payments acknowledged; it keeps no "+
				"balances.\n", store, n)
		default:
			fmt.Fprintf(out, "Checked: %s holds exactly the %d payments acknowledged; balances sum "+
				"to what was put in, and each is the sum of its legs.\n", store, n)
		}
	}
	for _, one := range r.missing {
		fmt.Fprintf(out, "Not measured: %s: %s.\n", one.Store, strings.TrimSuffix(one.Reason, "."))
	}
	if r.busy() {
		fmt.Fprintf(out, "The machine was busy before the run began (load %.1f on %d cores): do not "+
			"quote these figures; run again when it is idle.\n", r.load, runtime.NumCPU())
	}
	if machine.MemoryBacked(r.settings.dir) {
		fmt.Fprintf(out, "%s is in memory, where a sync costs nothing: these figures say nothing "+
			"about durable stores. Give -dir a directory on a disk.\n", r.settings.dir)
	}
	if r.settings.dir != os.TempDir() {
		fmt.Fprintf(out, "Disk: %s.\n", r.settings.dir)
	}
}
