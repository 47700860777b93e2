package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// redrawAfter is how often a progress bar is drawn at most; more often is a flicker.
	redrawAfter = 100 * time.Millisecond
	// sayAfter is how often progress is told where nobody looks at a bar, such as in a log.
	sayAfter = 10 * time.Second
	// barWidth is in characters.
	barWidth = 24
)

// progress returns how far something long has come: as a bar on a terminal, as a line now and then
// elsewhere, and not at all when the user wants results only.
type progress struct {
	app         *app
	deed, thing string
	total       int // 0 when it is not known
	before      int // of them were done by an earlier run, which the rate does not count
	begin, last time.Time
	width       int // of what is drawn
}

func (a *app) newProgress(deed, thing string, total int) *progress {
	now := time.Now()
	return &progress{app: a, deed: deed, thing: thing, total: total, begin: now, last: now}
}

// set returns how many things are done, and something else that is worth knowing.
func (p *progress) set(done int, remark string) {
	every := sayAfter
	if p.app.terminal {
		every = redrawAfter
	}
	now := time.Now()
	if p.app.flags.quiet || now.Sub(p.last) < every {
		return
	}
	p.last = now
	line := p.line(done, now.Sub(p.begin), remark)
	if !p.app.terminal {
		p.app.remark("%s", line)
		return
	}
	width := utf8.RuneCountInString(line)
	fmt.Fprintf(p.app.err, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-width)))
	p.width = width
}

func (p *progress) line(done int, took time.Duration, remark string) string {
	rate := thousands(int(float64(done-p.before) / took.Seconds()))
	text := fmt.Sprintf("%s, %s/s", count(done, p.thing), rate)
	if p.total > 0 {
		share := float64(done) / float64(p.total)
		text = fmt.Sprintf("%3.0f%% %s%s of %s, %s/s", 100*share, p.bar(share), thousands(done),
			count(p.total, p.thing), rate)
	}
	if remark != "" {
		text += ", " + remark
	}
	return p.deed + " " + text
}

// bar draws a share, for those who look at it.
func (p *progress) bar(share float64) string {
	if !p.app.terminal {
		return ""
	}
	filled := min(barWidth, int(share*barWidth))
	return strings.Repeat("█", filled) + strings.Repeat("░", barWidth-filled) + " "
}

// clear removes the bar, so that something else can be printed in its place.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprintf(p.app.err, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
