package main

import (
	"fmt"
	"slices"
	"strings"
)

// mess returns the damaged and useless lines that real files have, to be inserted between ordinary
// ones. It changes some line ends of the ordinary ones.
func mess(w *world, ordinary []line) []line {
	m := &messMaker{diary: &diary{world: w, day: firstDay}, ordinary: ordinary}
	m.repeats()
	m.conflicts()
	m.overdrawn()
	m.wrongAccounts()
	m.wrongAmounts()
	m.wrongCurrencies()
	m.malformed()
	m.overdraft()
	m.secondAttempts()
	m.lineEnds()
	return m.lines
}

type messMaker struct {
	*diary   // for its random choices and keys
	ordinary []line
}

// place draws a place between two ordinary rows, from the given one on.
func (m *messMaker) place(from int) float64 {
	return float64(m.between(from, len(m.ordinary)-2)) + 0.5
}

func (m *messMaker) put(place float64, meant outcome, fields []string) {
	m.lines = append(m.lines, line{place: place, fields: fields, meant: meant})
}

// sample returns the place and a copy of the fields of an ordinary row that a test accepts, early
// enough in the file for something to follow.
func (m *messMaker) sample(accept func(fields []string) bool) (int, []string) {
	for {
		i := m.between(0, len(m.ordinary)-3*reorderMax)
		if fields := m.ordinary[i].fields; accept == nil || accept(fields) {
			return i, slices.Clone(fields)
		}
	}
}

// purchase returns a row that pays a merchant in a currency, with a new key.
func (m *messMaker) purchase(currency string) []string {
	_, fields := m.sample(func(fields []string) bool {
		return strings.HasPrefix(fields[keyColumn], "card-") && fields[currencyColumn] == currency
	})
	fields[keyColumn] = m.keyOf("card")
	return fields
}

// keyOf makes a key of any day.
func (m *messMaker) keyOf(prefix string) string {
	m.day = firstDay.AddDate(0, 0, m.between(0, days-1))
	return m.key(prefix)
}

// repeats are sent again by a till that lost the answer, some with the amount spelled otherwise.
func (m *messMaker) repeats() {
	for range 60 {
		i, fields := m.sample(nil)
		m.put(float64(i+m.between(0, 2*reorderMax))+0.5, repeated, fields)
	}
	for range 6 {
		i, fields := m.sample(func(fields []string) bool {
			return strings.HasSuffix(fields[amountColumn], "0") && fields[currencyColumn] != jpy
		})
		fields[amountColumn] = strings.TrimSuffix(fields[amountColumn], "0")
		m.put(float64(i)+0.5, repeated, fields)
	}
}

// conflicts returns rows that reuse a key for another payment. They are more than reorderMax rows
// after the row that used the key first, because the first to arrive is posted.
func (m *messMaker) conflicts() {
	for n := range 26 {
		i, fields := m.sample(func(fields []string) bool { return fields[toColumn] != withdrawals })
		switch {
		case n < 18:
			amount, _ := strings.CutSuffix(fields[amountColumn], ".00")
			fields[amountColumn] = "1" + amount
		case n < 22:
			fields[descriptionColumn] += " (2)"
		default:
			fields[toColumn] = withdrawals
			if fields[fromColumn] == deposits {
				fields[toColumn] = m.people[n].everyday.id
			}
		}
		m.put(m.place(i+reorderMax+20), idempotencyConflict, fields)
	}
}

// overdrawn spend what the account never has.
func (m *messMaker) overdrawn() {
	for _, wish := range []struct {
		currency, what string
		count          int
		min, max       int
	}{
		{nzd, "Deposit on a house", 14, 60_000_00, 180_000_00},
		{nzd, "Used car, good nick", 10, 40_000_00, 58_000_00},
		{usd, "Annual licence, 250 seats", 5, 20_000_00, 90_000_00},
		{jpy, "団体予約", 5, 900_000, 2_500_000},
	} {
		for range wish.count {
			fields := m.purchase(wish.currency)
			fields[amountColumn] = decimal(m.between(wish.min, wish.max), wish.currency)
			fields[descriptionColumn] = wish.what
			m.put(m.place(0), insufficientFunds, fields)
		}
	}
}

// wrongAccounts name accounts that are not there, not now, or no more.
func (m *messMaker) wrongAccounts() {
	for n := range 18 {
		fields := m.purchase(nzd)
		column := fromColumn + n%2
		switch n % 3 {
		case 0:
			fields[column] = idOf("account", fmt.Sprint("nobody ", n))
		case 1: // One digit of a real id is mistyped.
			fields[column] = mistyped(fields[column])
		case 2:
			fields[column] = m.people[n].user
		}
		m.put(m.place(0), accountNotFound, fields)
	}
	for n := range 22 {
		who, meant := m.people[frozenPerson], accountFrozen
		if n%2 == 1 {
			who, meant = m.people[closedPerson], accountClosed
		}
		fields := m.purchase(nzd)
		if n%3 == 0 {
			fields = row{
				key: m.keyOf("pay"), kind: "deposit", from: deposits, to: who.everyday.id,
				amount: "1850.00", currency: nzd, description: "Salary – " + who.name,
			}.fields()
		} else {
			fields[fromColumn] = who.everyday.id
		}
		m.put(m.place(0), meant, fields)
	}
}

// mistyped returns an id with another last digit.
func mistyped(id string) string {
	start, last := id[:len(id)-1], id[len(id)-1:]
	if last == "7" {
		return start + "1"
	}
	return start + "7"
}

// wrongAmounts are numbers, but none that can be paid.
func (m *messMaker) wrongAmounts() {
	for _, wrong := range []struct {
		currency string
		meant    outcome
		amounts  []string
	}{
		{nzd, amountNotPositive, []string{"0", "0.00", "0.00", "-0.00", "-5.50", "-12.00", "-1"}},
		{jpy, amountNotPositive, []string{"0", "-1200"}},
		{usd, amountNotPositive, []string{"0.00", "-9.99"}},
		{nzd, tooManyFractionDigits, []string{
			"10.005", "4.999", "0.001", "33.3333", "12.345", "7.125", "18.6666666667", "99.995",
		}},
		{jpy, tooManyFractionDigits, []string{"100.5", "1200.01", "0.5", "980.25"}},
		{usd, tooManyFractionDigits, []string{"9.999", "14.9950001"}},
	} {
		for _, amount := range wrong.amounts {
			fields := m.purchase(wrong.currency)
			fields[amountColumn] = amount
			m.put(m.place(0), wrong.meant, fields)
		}
	}
}

// wrongCurrencies pay from, or into, an account that is kept in another one.
func (m *messMaker) wrongCurrencies() {
	others := []string{usd, jpy, nzd}
	for n := range 15 {
		currency := []string{nzd, usd, jpy}[n%3]
		fields := m.purchase(currency)
		switch {
		case n < 8: // Everything is right but the currency.
			fields[currencyColumn] = others[n%3]
			fields[amountColumn] = "25"
		case n < 12: // The shop takes another currency than the customer has.
			fields[toColumn] = m.purchase(others[n%3])[toColumn]
		default: // A deposit arrives in the wrong account.
			fields = row{
				key: m.keyOf("pay"), kind: "deposit", from: deposits, to: fields[fromColumn],
				amount: "300", currency: others[n%3], description: "From abroad",
			}.fields()
		}
		m.put(m.place(0), currencyMismatch, fields)
	}
}

// malformed rows cannot be read as payments at all.
func (m *messMaker) malformed() {
	for _, text := range []string{
		"ten dollars", "12,50", "$12.50", "1,250.00", "12.50 NZD", "", "NaN", "1e3", "12.5O", "—",
		"12..50", "0x10",
	} {
		fields := m.purchase(nzd)
		fields[amountColumn] = text
		m.put(m.place(0), malformedRow, fields)
	}
	for n := range 10 {
		fields := m.purchase(nzd)
		switch n % 3 {
		case 0: // The export dropped its last column,
			fields = fields[:len(fields)-1]
		case 1: // ended in the middle of a line,
			fields = fields[:fromColumn+1]
		case 2: // or did not quote a comma.
			fields = append(fields, "see attachment")
		}
		m.put(m.place(0), malformedRow, fields)
	}
}

// pay writes a row of a special account; unlike all other mess it may be posted.
func (m *messMaker) pay(place float64, meant outcome, r row) {
	if r.key == "" {
		r.key = m.keyOf("card")
	}
	r.currency = nzd
	m.put(place, meant, r.fields())
}

// overdraft lives below zero, where its limit allows it, and once beyond.
func (m *messMaker) overdraft() {
	who := m.people[overdraftPerson]
	m.pay(300.25, posted, row{
		kind: "deposit", from: deposits, to: who.everyday.id, amount: "60.00",
		description: "Talofa, student allowance",
	})
	shop := m.merchant("groceries")
	groceries := func(place float64, meant outcome, amount string) {
		m.pay(place, meant, row{
			kind: "payment", from: who.everyday.id, to: shop.settlement.id, merchant: shop.id,
			amount: amount, description: shop.name,
		})
	}
	for i, amount := range []string{"48.90", "71.35", "104.10", "86.00", "93.45", "120.20"} {
		groceries(600.25+float64(i)*500, posted, amount)
	}
	// The balance is -464.00 now, so 36.00 are left of the limit of 500.00.
	groceries(3600.25, insufficientFunds, "640.00")
	groceries(3800.25, posted, "36.00")
	groceries(4100.25, insufficientFunds, "620.00")
}

// secondAttempts are refused at first and then posted under the same key, which a refusal leaves
// free: after payday, or with the amount put right.
func (m *messMaker) secondAttempts() {
	shop := m.merchant("books")
	for i, who := range []*person{m.people[poorPerson], m.people[poorerPerson]} {
		start := 400.75 + float64(i)*90
		deposit := row{kind: "deposit", from: deposits, to: who.everyday.id, amount: "40.00",
			description: "Pocket money – " + who.name}
		purchase := row{key: m.keyOf("card"), kind: "payment", from: who.everyday.id,
			to: shop.settlement.id, merchant: shop.id, amount: "85.00",
			description: shop.name + "\nOrder no. " + fmt.Sprint(7001+i)}
		m.pay(start, posted, deposit)
		m.pay(start+700, insufficientFunds, purchase)
		deposit.amount, deposit.key = "300.00", ""
		m.pay(start+1500, posted, deposit)
		m.pay(start+2300, posted, purchase)

		corrected := purchase
		corrected.key, corrected.amount = m.keyOf("card"), "24.995"
		corrected.description = shop.name
		m.pay(start+2800, tooManyFractionDigits, corrected)
		corrected.amount = "25.00"
		m.pay(start+2810, posted, corrected)
	}
}

// lineEnds puts in blank lines, and gives some ordinary rows the line ends of another system.
func (m *messMaker) lineEnds() {
	for range 2 {
		m.put(m.place(0), "", nil)
	}
	for range 9 {
		m.ordinary[m.random.IntN(len(m.ordinary))].crlf = true
	}
}
