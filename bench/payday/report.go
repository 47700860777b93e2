package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"
)

// report gathers the phases and prints them.
type report struct {
	settings settings
	load     float64 // of the machine before the run, in threads that want a core
	phases   []phase
}

func (r *report) add(p phase) { r.phases = append(r.phases, p) }

// find returns a phase by its name, or nil.
func (r *report) find(name string) *phase {
	for i := range r.phases {
		if r.phases[i].name == name {
			return &r.phases[i]
		}
	}
	return nil
}

// quietMax is the load for each core up to which a machine counts as idle enough to measure on.
const quietMax = 0.25

func (p phase) rate() float64 { return float64(p.payments) / p.took.Seconds() }

// write prints what was measured, and what was checked if the day came to its end.
func (r *report) write(out io.Writer, whole bool) {
	s := r.settings
	fmt.Fprintf(out, "\n%d payments, inserted by %d callers, settled by %d, %d payers. "+
		"%d cores, %s/%s, %s.\n\n", s.payments, s.inserters, s.callers, s.payers,
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(lines, "phase\ttime\tpayments/s\tCPU each\tmemory at 1/4\tpeak\t"+
		"written/payload\tdisk\tpeak\t")
	for _, p := range r.phases {
		fmt.Fprintf(lines, "%s\t%s\t%.0f\t%d µs\t%s\t%s\t%s\t%s\t%s\t\n", p.name,
			p.took.Round(100*time.Millisecond), p.rate(),
			(p.cpu / time.Duration(p.payments)).Microseconds(), bytesText(p.quarter),
			bytesText(p.peak), r.amplified(p), bytesText(p.disk), bytesText(p.diskPeak))
	}
	_ = lines.Flush()
	fmt.Fprintln(out)
	insert := r.find(phaseInsert)
	for _, sync := range []bool{false, true} {
		if floor := r.find(floorName(sync)); floor != nil && insert != nil {
			fmt.Fprintf(out, "Inserting ran at %.2f of the rate of %s.\n",
				insert.rate()/floor.rate(), floor.name)
		}
	}
	if whole {
		fmt.Fprintf(out, "Checked: all %d payments are in the history as PROCESSED, each with a completed "+
			"transaction of its amount; every balance is what they make it; no payment is in another "+
			"state.\n", s.payments)
	}
	if r.load > quietMax*float64(runtime.NumCPU()) {
		fmt.Fprintf(out, "The machine was busy before the run began (load %.1f on %d cores): times "+
			"are too long, CPU each is the figure to look at.\n", r.load, runtime.NumCPU())
	}
}

// amplified is how many bytes were written for each byte of payload.
func (r *report) amplified(p phase) string {
	if !p.wroteKnown || p.name == phaseCheck {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(p.written)/(float64(p.payments)*payloadSize))
}
