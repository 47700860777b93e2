package reading

import (
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
)

// The points for a name that fits a role.
const (
	exactName = 40 // The whole name is known; a more specific one has up to 20 more.
	partName  = 20 // One of its words is known.
)

// partWords are words within the names of columns of money.
var partWords = map[Role][]string{
	Amount: {
		"amount", "amt", "betrag", "bedrag", "montant", "importe", "importo", "kwota", "castka",
		"osszeg", "belopp", "belop", "belob", "summa", "maara", "valor", "tutar", "сумма", "ποσο",
		"金額", "金额", "금액", "umsatz",
	},
	Debit: {
		"debit", "debet", "debits", "withdrawal", "withdrawals", "out", "soll", "belastung",
		"lastschrift", "sortie", "depense", "cargo", "dare", "uscite", "spent", "utbetalt", "ut",
		"ud", "dr", "rashod", "borc", "ausgang", "uitgaven", "egreso", "出金", "支出", "расход",
		"χρεωση", "debito", "retrait",
	},
	Credit: {
		"credit", "credits", "deposit", "deposits", "in", "haben", "gutschrift", "entree",
		"recette", "abono", "avere", "entrate", "received", "innbetalt", "inn", "ind", "cr",
		"prihod", "alacak", "eingang", "inkomsten", "ingreso", "入金", "收入", "приход",
		"πιστωση", "credito", "versement",
	},
	Balance: {
		"balance", "saldo", "solde", "kontostand", "zustatek", "egyenleg", "bakiye", "bal",
		"stanje", "sold", "accountbalance", "остаток", "баланс", "υπολοιπο", "残高", "余额", "잔액",
	},
	Foreign: {
		"foreign", "original", "originalbetrag", "fremdwahrung", "devise", "divisa", "local",
		"oorspronkelijk", "utlandsk", "opprinnelig", "puvodni", "oryginalna", "fx", "source",
	},
}

// otherNumbers are words within the names of columns of numbers that are not amounts of the
// account.
var otherNumbers = []string{
	"fee", "fees", "rate", "kurs", "koers", "taux", "cours", "cambio", "tasso", "points", "punkte",
	"gebuhr", "gebuhren", "frais", "kosten", "commission", "comision", "commissione", "tax", "vat",
	"mwst", "tva", "iva", "poplatek", "oplata", "number", "no", "nr", "nummer", "numero", "id",
	"code", "mcc", "serial", "check", "cheque", "reference", "ref", "limit", "interest", "quantity",
	"blz", "bankleitzahl", "bic", "sort", "index", "row", "lp", "cashback", "reward", "rewards",
	"volgnr", "phone", "postcode", "zip", "year", "month", "terminal", "exchange",
	"umrechnungskurs",
	"курс", "комиссия", "mandatsreferenz", "kundenreferenz", "referenz", "symbol", "vs", "ks", "ss",
}

// named returns the points for the name of a column and a role.
func (t *Table) named(role Role, col int) int {
	name := t.name(col)
	if name == "" {
		return 0
	}
	if r := Rank(role, name); r >= 0 {
		return exactName + max(0, 20-r/2)
	}
	words := tokens(name)
	for _, w := range partWords[role] {
		if slices.Contains(words, w) || len(w) > 5 && strings.Contains(squash(Key(name)), w) ||
			w[0] >= 0x80 && strings.Contains(Fold(name), w) {
			return partName
		}
	}
	return 0
}

// otherNumber reports whether the name of a column is one of numbers that are not money.
func (t *Table) otherNumber(col int) bool {
	return slices.ContainsFunc(tokens(t.name(col)), func(w string) bool {
		return slices.Contains(otherNumbers, w)
	})
}

// fullProof is the number of points if the amounts explain every change of the balances.
const fullProof = 120

// weighSingle returns the points of one column of amounts, without those of balances.
func (t *Table) weighSingle(a int) int {
	c := &t.cols[a]
	points := t.named(Amount, a)
	for _, role := range []Role{Balance, Foreign, Debit, Credit} {
		if p := t.named(role, a); p > points || p > 0 && role == Foreign {
			points = min(points, 10) - p
		}
	}
	if points < exactName && t.otherNumber(a) {
		points -= 40
	}
	if points > 0 || c.filled > 0 {
		points += shape(c)
	}
	if len(t.Rows) > 0 {
		points -= 80 * (len(t.Rows) - c.numbers) / len(t.Rows)
	}
	if t.Fixed[a] == Amount {
		points += 500
	}
	if rank(Amount, Key(c.name)) < 0 && points >= exactName && t.plainAmount(a) {
		points -= 25
	}
	return points + t.weighUnit(a)
}

// plainAmount reports whether another column has the name of an amount without a currency: of
// "Amount" and "Amount EUR", every row has the first one.
func (t *Table) plainAmount(a int) bool {
	for i := range t.cols {
		if i != a && t.cols[i].filled == len(t.Rows) && rank(Amount, Key(t.cols[i].name)) >= 0 {
			return true
		}
	}
	return false
}

// shape returns points for cells that look like amounts.
func shape(c *column) int {
	points := 0
	if c.strong*2 >= c.filled && c.strong > 0 {
		points += 15
	}
	if c.negative > 0 {
		points += 10
		if c.positive > 0 {
			points += 5
		}
	}
	if c.filled >= 3 && len(c.distinct) == 1 {
		points -= 10
	}
	return points
}

// weighPair returns the points of a pair of columns, without those of balances.
func (t *Table) weighPair(d, c int) int {
	debit, credit := t.named(Debit, d), t.named(Credit, c)
	points := 0
	switch {
	case debit >= exactName && credit >= exactName:
		points = (debit+credit)/2 + 10
	case debit > 0 && credit > 0:
		points = 50
	case debit > 0 || credit > 0:
		points = 45
	}
	// Names of the opposite side and of something else subtract points.
	if t.named(Credit, d) > debit {
		points -= 60
	}
	if t.named(Debit, c) > credit {
		points -= 60
	}
	for _, i := range []int{d, c} {
		if t.named(Balance, i) >= partName || t.named(Foreign, i) >= partName {
			points -= 40
		}
		if t.named(Amount, i) >= exactName {
			points -= 15
		}
		if t.otherNumber(i) && t.named(Debit, i)+t.named(Credit, i) == 0 {
			points -= 40
		}
	}
	if t.cols[d].filled > 0 && t.cols[c].filled > 0 {
		points += 20
		if t.cols[d].strong+t.cols[c].strong > 0 {
			points += 15
		}
	}
	missing, both := 0, 0
	for r := range t.Rows {
		switch d, c := t.cell(r, d), t.cell(r, c); {
		case !d.Number && !c.Number:
			missing++
		case d.Value.Sign() != 0 && c.Value.Sign() != 0:
			both++
		}
	}
	if len(t.Rows) > 0 {
		points -= (80*missing + 40*both) / len(t.Rows)
	}
	for _, i := range []int{d, c} {
		if role := t.Fixed[i]; role == Debit || role == Credit {
			points += 250
		}
	}
	return points
}

// weighBalances finds the column of balances that fits a reading of the amounts best, and adds its
// points.
func (t *Table) weighBalances(m *Money, columns []int) {
	best := 0
	for _, b := range columns {
		if b == m.Amount || b == m.Debit || b == m.Credit {
			continue
		}
		name := t.named(Balance, b)
		for _, role := range []Role{Foreign, Amount, Debit, Credit} {
			if p := t.named(role, b); p > name {
				name = min(name, 0) - p/2
			}
		}
		points, inverted, before := t.proof(m.values, b)
		if inverted && m.Amount < 0 {
			points = 0 // The exchanged pair is a separate reading.
		}
		if before {
			points -= 5 // Prefer a column of balances after the rows.
		}
		proven := points > 0
		if t.Fixed[b] == Balance {
			points += 60
		}
		if name > 0 {
			points += 10 + name/8
			if !proven && t.cols[b].filled > 1 {
				points -= 10
			}
		} else if name < 0 {
			points += name
		}
		if points > best {
			best, m.Balance, m.Proven, m.Before = points, b, proven && !inverted, before
			// One step may be a coincidence.
			m.Inverted = inverted && points >= fullProof
		}
	}
	if m.Flag < 0 && m.Amount >= 0 && !m.Proven {
		best = max(best, t.learnFlag(m, columns))
	}
	if m.Inverted {
		// A card shows its debt, so the other sign proves less.
		best = best * 3 / 4
	}
	m.Points += best
}

// proof returns the points if the amounts explain the changes of the balances, for both orders of
// the rows and for both signs. Before is whether they are the balances before the rows; only the
// order of the dates distinguishes that from the other sign.
func (t *Table) proof(values []value, balance int) (points int, inverted, before bool) {
	var up, down, upNot, downNot, steps int
	var last money.Decimal
	// With the oldest row first, a balance differs from the previous one by the rows up to its own;
	// with the newest row first, by the rows from the previous one to the row before its own.
	var above, below money.Decimal
	seen := false
	for r := range min(len(values), provenRows) {
		var n money.Decimal
		if values[r].ok {
			n = values[r].n
		}
		var err error
		if above, err = above.Add(n); err != nil {
			return 0, false, false
		}
		cell := t.cell(r, balance)
		if cell.Number {
			if seen && (above.Sign() != 0 || below.Sign() != 0) {
				step, err := cell.Value.Sub(last)
				if err != nil {
					return 0, false, false
				}
				steps++
				up += one(step == above)
				upNot += one(step == above.Neg())
				down += one(step == below.Neg())
				downNot += one(step == below)
			}
			seen, last = true, cell.Value
			above, below = money.Decimal{}, money.Decimal{}
		}
		if below, err = below.Add(n); err != nil {
			return 0, false, false
		}
	}
	order := t.order()
	before = order > 0 && downNot > max(up, down, upNot) ||
		order < 0 && upNot > max(up, down, downNot)
	straight, other := max(up, down), max(upNot, downNot)
	if before {
		straight, other = other, straight
	}
	right := max(straight, other)
	switch {
	case steps == 0 || right*100 < steps*80:
		return 0, false, false
	case steps == 1:
		points = 70
	case right == steps:
		points = fullProof
	default:
		points = 60
	}
	return points, other > straight, before
}

// order returns 1 for a table with the oldest row first, -1 for one with the newest row first, and
// 0 if the days show neither.
func (t *Table) order() int {
	at := -1
	for i, role := range t.Fixed {
		if role == Date {
			at = i
		}
	}
	up, down, last := false, false, ""
	for r := range t.Rows {
		day := t.cell(r, at).Date
		if day == "" {
			continue
		}
		up = up || last != "" && day > last
		down = down || last != "" && day < last
		last = day
	}
	switch {
	case up == down:
		return 0
	case up:
		return 1
	}
	return -1
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
