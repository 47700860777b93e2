package reading

import (
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
)

// unitNames are the names of currencies in names of columns, in addition to their codes.
var unitNames = map[string]money.Currency{
	"euro": "EUR", "euros": "EUR", "円": "JPY", "元": "CNY", "원": "KRW", "pounds": "GBP",
	"dollars": "USD", "kronor": "SEK", "forint": "HUF", "zl": "PLN", "kc": "CZK",
}

// unitOf returns the currency at the end of a column's name, such as "Amount (EUR)" and "CAD$".
func unitOf(name string) money.Currency {
	words := tokens(name)
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	if c, ok := unitNames[last]; ok {
		return c
	}
	if c := money.Currency(strings.ToUpper(last)); len(last) == 3 && (c.Known() || c.Retired()) {
		return c
	}
	return ""
}

// weighUnit returns the points of a column of amounts for the currency in its name: if there is a
// column of amounts in another currency, or a column of the same name in another one.
func (t *Table) weighUnit(a int) int {
	unit := unitOf(t.name(a))
	if unit == "" {
		return 0
	}
	if original, _ := t.converted(a); original >= 0 {
		return 40
	}
	if unit != t.Currency {
		return 0
	}
	base := withoutUnit(Key(t.name(a)))
	for i := range t.cols {
		if i != a && t.cols[i].numbers > 0 && t.name(i) != t.name(a) &&
			withoutUnit(Key(t.name(i))) == base && unitOf(t.name(i)) != unit {
			return 25
		}
	}
	return 0
}

// converted returns the columns of the original amounts and of their currencies, or -1, for a
// column of converted amounts. Those differ from the original ones only in rows of another
// currency.
func (t *Table) converted(a int) (original, currency int) {
	unit := unitOf(t.name(a))
	if unit == "" {
		return -1, -1
	}
	for c := range t.cols {
		if t.cols[c].currencies == 0 || t.cols[c].currencies < t.cols[c].filled {
			continue
		}
		for o := range t.cols {
			if o != a && t.isAmounts(o) && t.convertedIn(a, o, c, unit) {
				return o, c
			}
		}
	}
	return -1, -1
}

// isOriginal reports whether amounts are those before conversion, because another column has the
// converted ones.
func (t *Table) isOriginal(values []value) bool {
	for a := range t.cols {
		original, _ := t.converted(a)
		if original < 0 {
			continue
		}
		same := true
		for r, v := range values {
			cell := t.cell(r, original)
			same = same && (!v.ok || !cell.Number || v.n == cell.Value)
		}
		if same {
			return true
		}
	}
	return false
}

// convertedIn reports whether amounts differ in rows of another currency and are the same in those
// of the unit.
func (t *Table) convertedIn(a, original, currency int, unit money.Currency) bool {
	differ := 0
	for r := range t.Rows {
		x, y, code := t.cell(r, a), t.cell(r, original), t.cell(r, currency).Currency
		switch {
		case !x.Number || !y.Number || code == "":
		case (x.Value != y.Value) == (code == unit):
			return false
		case code != unit:
			differ++
		}
	}
	return differ > 0
}

// originals sets the roles of the original amount and its currency, if the amount that was read is
// the converted one.
func (t *Table) originals(r *Result) {
	if r.Money.Amount < 0 || slices.Contains(r.Roles, Foreign) {
		return
	}
	original, currency := t.converted(r.Money.Amount)
	if original < 0 {
		return
	}
	for i, role := range map[int]Role{original: Foreign, currency: ForeignCurrency} {
		if _, fixed := t.Fixed[i]; !fixed && (r.Roles[i] == "" || r.Roles[i] == Currency) {
			r.Roles[i] = role
		}
	}
}
