package main

import (
	"encoding/hex"
	"fmt"
	"time"
)

const (
	days = 90
	// paydayEvery is a fortnight, as wages are paid in New Zealand.
	paydayEvery = 14

	// reorderMax is how many rows may be posted in any order without changing the final balances.
	reorderMax = 100
	// creditDelay is how many rows later money that came in is spent at the earliest. With it, no
	// reordering within reorderMax can make an account short.
	creditDelay = reorderMax + 20
)

// firstDay is the day of the opening balances.
var firstDay = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// diary writes the rows of everyday life and keeps in mind what each account can certainly pay.
type diary struct {
	*world
	lines     []line
	day       time.Time
	available map[*account]int // in minor units, without what came in of late
	arriving  []arrival
}

// arrival is money that an account has but does not spend yet.
type arrival struct {
	place  int
	to     *account
	amount int
}

// everyday returns three months of ordinary payments, all of which can be posted.
func everyday(w *world) []line {
	d := &diary{
		world:     w,
		day:       firstDay,
		available: map[*account]int{},
	}
	d.start()
	for n := range days {
		if n > 0 && n%paydayEvery == 0 {
			d.payday("Salary")
		}
		if d.day.Day() == 1 {
			d.rent()
		}
		for _, i := range d.random.Perm(len(d.people)) {
			if !special(i) {
				d.live(d.people[i])
			}
		}
		if n%7 == 6 {
			d.payOut()
		}
		d.day = d.day.AddDate(0, 0, 1)
	}
	return d.lines
}

// between draws from min to max, both included.
func (d *diary) between(min, max int) int { return min + d.random.IntN(max-min+1) }

// chance is true so many times in a thousand.
func (d *diary) chance(perMille int) bool { return d.random.IntN(1000) < perMille }

// key makes an idempotency key as a till or a bank's app would.
func (d *diary) key(prefix string) string {
	var random [6]byte
	for i := range random {
		random[i] = byte(d.random.Uint32())
	}
	return prefix + "-" + d.day.Format("0102") + "-" + hex.EncodeToString(random[:])
}

// move writes a row if the payer can certainly pay it. A payer or payee that is nil is outside.
func (d *diary) move(r row, from, to *account, amount int) bool {
	for len(d.arriving) > 0 && d.arriving[0].place <= len(d.lines) {
		d.available[d.arriving[0].to] += d.arriving[0].amount
		d.arriving = d.arriving[1:]
	}
	if from != nil && d.available[from] < amount {
		return false
	}
	r.from, r.to = deposits, withdrawals
	if from != nil {
		r.from, r.currency = from.id, from.currency
		d.available[from] -= amount
	}
	if to != nil {
		r.to, r.currency = to.id, to.currency
		d.arriving = append(d.arriving, arrival{len(d.lines) + creditDelay, to, amount})
	}
	r.amount = decimal(amount, r.currency)
	d.lines = append(d.lines, line{
		place: float64(len(d.lines)), fields: r.fields(), meant: posted,
	})
	return true
}

// start brings in what people own. These rows are more than creditDelay, so that there is money to
// spend after them.
func (d *diary) start() {
	for _, a := range d.accounts {
		amount := 0
		switch a.kind + a.currency {
		case "checking" + nzd:
			amount = d.between(1800_00, 4200_00)
		case "savings" + nzd:
			amount = d.between(500_00, 9000_00)
		case "travel" + usd:
			amount = d.between(900_00, 2400_00)
		case "travel" + jpy:
			amount = d.between(90_000, 240_000)
		}
		if amount > 0 && !d.isSpecial(a) {
			d.move(row{key: d.key("open"), kind: "deposit", description: "Opening balance"},
				nil, a, amount)
		}
	}
	d.payday("Salary")
	d.payday("Holiday pay")
}

func (d *diary) isSpecial(a *account) bool {
	for i, p := range d.people {
		if special(i) && p.everyday == a {
			return true
		}
	}
	return false
}

// payday adds wages. Their rows have the time of the payment, as payroll files do.
func (d *diary) payday(what string) {
	for i, p := range d.people {
		if special(i) {
			continue
		}
		d.move(row{
			key: d.key("pay"), kind: "deposit", at: d.day.Add(6 * time.Hour).Format(time.RFC3339),
			description: fmt.Sprintf("%s %s – %s", what, d.day.Format("2 Jan"), p.name),
		}, nil, p.everyday, d.between(1450_00, 2600_00))
	}
}

// rent is paid by every other person on the first of the month.
func (d *diary) rent() {
	for i, p := range d.people {
		if i%2 == 0 && !special(i) {
			d.buy(p.everyday, d.merchant("rent"), "Rent "+d.day.Format("January 2006"))
		}
	}
}

// live is one day of one person.
func (d *diary) live(p *person) {
	if d.chance(455) {
		drinks := []string{"flat white", "long black", "2 × flat white", "mocha, extra hot", "chai"}
		d.buy(p.everyday, d.merchant("cafe"), drinks[d.random.IntN(len(drinks))])
	}
	for _, habit := range []struct {
		category string
		perMille int
	}{
		{"groceries", 285}, {"transport", 190}, {"fuel", 90}, {"health", 60}, {"books", 45},
		{"trades", 4},
	} {
		if d.chance(habit.perMille) {
			d.buy(p.everyday, d.merchant(habit.category), "")
		}
	}
	if d.chance(50) {
		d.move(row{key: d.key("atm"), kind: "withdrawal", description: "Cash machine"},
			p.everyday, nil, d.between(1, 10)*20_00)
	}
	if d.chance(70) {
		d.share(p)
	}
	if p.savings != nil && d.chance(90) {
		d.move(row{key: d.key("own"), kind: "transfer", description: "To savings"},
			p.everyday, p.savings, d.between(2, 30)*10_00)
	}
	if p.savings != nil && d.chance(25) {
		d.move(row{key: d.key("own"), kind: "transfer", description: "From savings"},
			p.savings, p.everyday, d.between(5, 40)*10_00)
	}
	if p.foreign != nil && d.chance(380) {
		category := "restaurant"
		switch {
		case p.foreign.currency == usd && d.chance(500):
			category = "software"
		case p.foreign.currency == usd:
			category = "entertainment"
		case d.chance(400):
			category = "stationery"
		}
		d.buy(p.foreign, d.merchant(category), "")
	}
}

// buy pays a merchant; one purchase in eighty comes back some rows later.
func (d *diary) buy(from *account, m *merchant, what string) {
	amount := d.between(m.costMin, m.costMax)
	description := m.name
	if what != "" {
		description += ", " + what
	}
	bought := d.move(row{
		key: d.key("card"), kind: "payment", merchant: m.id, description: description,
	}, from, m.settlement, amount)
	if bought && d.chance(12) {
		// The refund is a payment back. The till has the money of earlier days.
		d.move(row{
			key: d.key("refund"), kind: "payment", merchant: m.id,
			description: "Refund: " + description,
		}, m.settlement, from, amount)
	}
}

// share pays a friend back.
func (d *diary) share(p *person) {
	i := d.random.IntN(len(d.people))
	friend := d.people[i]
	if special(i) || friend == p {
		return
	}
	reasons := []string{
		"🍕 Friday", "Half of the petrol", "Thanks! 🎂", "Kai at ours", "“Concert” tickets",
		"Cinema, popcorn & \"the good seats\"", "Ngā mihi nui 💚",
	}
	d.move(row{
		key: d.key("p2p"), kind: "transfer",
		description: p.name + " → " + friend.name + ": " + reasons[d.random.IntN(len(reasons))],
	}, p.everyday, friend.everyday, d.between(5_00, 60_00))
}

// payOut sends most of what merchants took to their banks.
func (d *diary) payOut() {
	for _, m := range d.merchants {
		if amount := d.available[m.settlement] * 4 / 5; amount > 0 {
			d.move(row{
				key: d.key("payout"), kind: "withdrawal", merchant: m.id,
				description: "Weekly payout to " + m.name,
			}, m.settlement, nil, amount)
		}
	}
}
