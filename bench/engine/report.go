package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// report gathers what was measured and prints it.
type report struct {
	settings settings
	missing  []string
	order    []string // of the stores
	notes    map[string]string
	samples  map[cell][]sample
	started  map[string][]time.Duration
	idle     map[string]int64
	most     map[string]int64
}

// cell is a place in the table.
type cell struct {
	kase    string
	callers int
	target  string
}

func newReport(s settings, missing []string) *report {
	return &report{
		settings: s, missing: missing, notes: map[string]string{},
		samples: map[cell][]sample{}, started: map[string][]time.Duration{},
		idle: map[string]int64{}, most: map[string]int64{},
	}
}

func (r *report) know(t *target) {
	if _, ok := r.notes[t.name]; !ok {
		r.notes[t.name] = t.note
		r.order = append(r.order, t.name)
	}
}

func (r *report) add(t *target, kase string, callers int, s sample) {
	r.know(t)
	c := cell{kase, callers, t.name}
	r.samples[c] = append(r.samples[c], s)
}

// process notes how long a server took to start, and its memory once the tables were filled.
func (r *report) process(t *target, idle int64) {
	r.know(t)
	r.started[t.name] = append(r.started[t.name], t.child.started)
	r.idle[t.name] = idle
}

func (r *report) peak(t *target, most int64) { r.most[t.name] = max(r.most[t.name], most) }

func (r *report) write(out io.Writer) error {
	fmt.Fprintf(out, "%d cores, %s/%s; medians of %d rounds of %s each\n\n", runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, r.settings.rounds, r.settings.duration)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range cases() {
		for _, callers := range r.settings.callers {
			r.writeCase(w, k.name, callers)
		}
	}
	r.writeProcesses(w)
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range r.missing {
		if _, err := fmt.Fprintln(out, "not measured:", m); err != nil {
			return err
		}
	}
	return nil
}

// writeCase prints one case. The last column compares with dynoxide on disk, the fastest durable
// peer.
func (r *report) writeCase(w io.Writer, kase string, callers int) {
	var lines []string
	peer := r.at(kase, callers, nameDynoxide)
	for _, name := range r.order {
		s := r.at(kase, callers, name)
		if s.perSecond == 0 {
			continue
		}
		ratio := "-"
		if peer.perSecond > 0 && strings.Contains(name, "HTTP") {
			ratio = fmt.Sprintf("%.2f", s.perSecond/peer.perSecond)
		}
		line := fmt.Sprintf("%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s", name, s.perSecond, micros(s.p50),
			micros(s.p99), micros(s.serverCPU), micros(s.clientCPU), ratio, r.notes[name])
		if s.broken > 0 {
			line += fmt.Sprintf(" (%d calls lost by the client)", s.broken)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "%s, %d callers\tcalls/s\tp50 us\tp99 us\tserver CPU us\tclient CPU us\t"+
		"x dynoxide disk\t\n%s\n\t\n", kase, callers, strings.Join(lines, "\n"))
}

func (r *report) at(kase string, callers int, name string) sample {
	rounds := r.samples[cell{kase, callers, name}]
	if len(rounds) == 0 {
		return sample{}
	}
	return median(rounds)
}

func (r *report) writeProcesses(w io.Writer) {
	if len(r.started) == 0 {
		return
	}
	fmt.Fprintf(w, "process\tstart ms\tMB after filling\tMB at most\t\n")
	for _, name := range r.order {
		starts := r.started[name]
		if len(starts) == 0 {
			continue
		}
		best := starts[0]
		for _, s := range starts {
			best = min(best, s)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t\n", name, best.Milliseconds(), megabytes(r.idle[name]),
			megabytes(r.most[name]))
	}
}

func micros(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprint(d.Microseconds())
}

func megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n >> 20)
}
