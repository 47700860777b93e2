package bankfile

import (
	"fmt"

	"github.com/exchequer-dev/exchequer/money"
)

// running follows the balance column, without knowing whether the oldest row stands first.
type running struct {
	sum    money.Decimal // Of all entries so far.
	day    Date          // Of the row before, and the sum before its first row.
	dayOld money.Decimal
	seen   bool
	first  runningRow // The first row that has a balance, and the last one.
	last   runningRow
	broken bool // A sum has too many digits.
}

// runningRow is a row with a balance, and the sums around it and around the rows of its day: some
// banks give one balance a day and put it beside any row.
type runningRow struct {
	line                   int
	day                    Date
	balance, before, after money.Decimal
	dayBefore, dayAfter    money.Decimal
}

// follow reads the balance of a row and keeps what the check at the end needs.
func (p *csvParser) follow(r *record, e *Entry) {
	run := &p.runs[p.w.at]
	before := run.sum
	if e.Date != run.day {
		run.day, run.dayOld = e.Date, before
	}
	if !e.Pending {
		after, err := before.Add(e.Amount)
		run.sum, run.broken = after, run.broken || err != nil
	}
	for _, row := range []*runningRow{&run.first, &run.last} {
		if row.day == e.Date {
			row.dayAfter = run.sum
		}
	}
	cell := p.cell(r, p.t.balance)
	if cell == "" {
		return
	}
	b, _, err := p.w.amount(cell, r.line)
	if err != nil {
		return
	}
	e.Balance, e.HasBalance = b, true
	row := runningRow{r.line, e.Date, b, before, run.sum, run.dayOld, run.sum}
	if !run.seen {
		run.seen, run.first = true, row
	}
	run.last = row
}

// finish compares balances with entries, for each account of the file.
func (p *csvParser) finish() error {
	if p.w.first {
		return nil
	}
	for i := range p.runs {
		run := &p.runs[i]
		if !run.seen || run.broken || run.first.line == run.last.line {
			continue
		}
		p.w.at = i
		total := &p.w.totals[i]
		// With the oldest row first, a balance contains its row and those above; with the newest
		// row first, its row and those below.
		rise, err1 := run.last.balance.Sub(run.first.balance)
		oldest, err2 := run.last.after.Sub(run.first.after)
		newest, err3 := run.last.before.Sub(run.first.before)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		// With one balance a day, it may contain all rows of the day.
		days, err1 := run.last.dayAfter.Sub(run.first.dayAfter)
		back, err2 := run.last.dayBefore.Sub(run.first.dayBefore)
		total.Checked = true
		total.Agrees = rise == oldest || rise == newest.Neg() ||
			err1 == nil && rise == days || err2 == nil && rise == back.Neg()
		if total.Agrees {
			continue
		}
		why := fmt.Sprintf("The balances of lines %d and %d differ by %s, but the entries "+
			"between them make %s.", run.first.line, run.last.line, rise, oldest)
		if total.Refused > 0 {
			why += fmt.Sprintf(" %d rows were refused.", total.Refused)
		}
		if !p.w.warn(run.last.line, why) {
			return errStopped
		}
	}
	return nil
}
