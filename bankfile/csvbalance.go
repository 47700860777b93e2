package bankfile

import (
	"cmp"
	"fmt"

	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/money"
)

// running is the balance column of one account. It is compared for both orders of the rows.
type running struct {
	sum    money.Decimal // Of all entries so far.
	day    Date          // Of the previous row, and the sum before the first row of that day.
	dayOld money.Decimal
	top    Date // Of the first row and of the last one.
	bottom Date
	seen   bool
	first  runningRow // The first row that has a balance, and the last one.
	last   runningRow
	broken bool // A sum has too many digits, or mixes two currencies.
	money  money.Currency
}

// runningRow is a row with a balance, the sums before and after it, and the sums before and after
// the rows of its day, because some banks give one balance per day and write it next to any row.
type runningRow struct {
	line                   int
	day                    Date
	balance, before, after money.Decimal
	dayBefore, dayAfter    money.Decimal
}

// follow reads the balance of a row and keeps what agree needs.
func (p *csvParser) follow(r *scan.Record, e *Entry) {
	run := &p.runs[p.w.at]
	before := run.sum
	if run.top == "" {
		run.top = e.Date
	}
	run.bottom = e.Date
	if e.Date != run.day {
		run.day, run.dayOld = e.Date, before
	}
	if run.money == "" {
		run.money = e.Currency
	}
	run.broken = run.broken || e.Currency != "" && e.Currency != run.money
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
	b, _, err := p.w.amount(cell, r.Line)
	if err != nil {
		return
	}
	if p.t.before && !e.Pending {
		if b, err = b.Add(e.Amount); err != nil {
			return
		}
	}
	e.Balance, e.HasBalance = b, true
	if e.Pending {
		return // Some banks include it, others do not.
	}
	row := runningRow{r.Line, e.Date, b, before, run.sum, run.dayOld, run.sum}
	if !run.seen {
		run.seen, run.first = true, row
	}
	run.last = row
}

// agree compares the balances with the rows between them. If they agree, it returns the balances
// before the oldest row and after the newest one.
func (run *running) agree() (opening, closing *Balance, ok bool) {
	f, l := &run.first, &run.last
	// With the oldest row first, a balance includes its row and those above; with the newest row
	// first, its row and those below. If there is one balance per day, it may include all rows of
	// the day.
	up := [][2]money.Decimal{{f.after, l.after}, {f.dayAfter, l.dayAfter}}
	down := [][2]money.Decimal{{f.before, l.before}, {f.dayBefore, l.dayBefore}}
	for i := range up {
		// The difference between balance and sum is the balance before the first row of the file.
		start, err1 := f.balance.Sub(up[i][0])
		again, err2 := l.balance.Sub(up[i][1])
		if err1 == nil && err2 == nil && start == again {
			end, err := start.Add(run.sum)
			return &Balance{Amount: start, Date: run.top}, &Balance{Amount: end, Date: run.bottom},
				err == nil
		}
		end, err1 := f.balance.Add(down[i][0])
		again, err2 = l.balance.Add(down[i][1])
		if err1 == nil && err2 == nil && end == again {
			start, err := end.Sub(run.sum)
			return &Balance{Amount: start, Date: run.bottom}, &Balance{Amount: end, Date: run.top},
				err == nil
		}
	}
	return nil, nil, false
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
		total.Checked = true
		if total.Opening, total.Closing, total.Agrees = run.agree(); total.Agrees {
			for _, b := range []*Balance{total.Opening, total.Closing} {
				b.Currency = cmp.Or(p.w.before[i].Currency, p.t.set.defaultCurrency())
			}
			continue
		}
		rise, err1 := run.last.balance.Sub(run.first.balance)
		oldest, err2 := run.last.after.Sub(run.first.after)
		newest, err3 := run.last.before.Sub(run.first.before)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		why := fmt.Sprintf("The balances of lines %d and %d differ by %s, but the entries "+
			"between them make %s.", run.first.line, run.last.line, rise, oldest)
		if rise == oldest.Neg() || rise == newest {
			why += " With all signs inverted they would agree."
		}
		if total.Refused > 0 {
			why += fmt.Sprintf(" %d rows were refused.", total.Refused)
		}
		if !p.w.warn(run.last.line, why) {
			return errStopped
		}
	}
	return nil
}
