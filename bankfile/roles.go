package bankfile

import (
	"fmt"
	"slices"
	"strings"
)

// assign gives the columns their roles: those of the mapping, those that the header names, and
// for date and amount those that the cells show.
func (t *table) assign(mapped []Column) error {
	width := max(t.width, len(t.header))
	for _, c := range mapped {
		width = max(width, c.Index+1)
	}
	t.roles = make([]Role, width)
	given, err := t.resolve(mapped)
	if err != nil {
		return err
	}
	whole := false
	for _, role := range given {
		whole = whole || role == RoleAmount || role == RoleDebit || role == RoleCredit
	}
	if whole {
		whole = false
		for _, role := range given {
			whole = whole || role == RoleDate
		}
	}
	if !whole {
		t.assignByHeader()
		t.assignByCells()
	}
	taken := make(map[Role]bool)
	for _, role := range given {
		taken[role] = role != RoleMemo && role != RoleIgnore
	}
	for i, role := range t.roles {
		if _, ok := given[i]; !ok && taken[role] {
			t.roles[i] = ""
		}
	}
	for i, role := range given {
		t.roles[i] = role
	}
	t.index()
	return nil
}

// resolve finds the columns of a mapping in this file.
func (t *table) resolve(mapped []Column) (map[int]Role, error) {
	given := make(map[int]Role, len(mapped))
	for _, c := range mapped {
		at := -1
		if c.Name == "" || t.header == nil {
			at = c.Index
		} else {
			at = t.named(c)
		}
		if at < 0 || at >= len(t.roles) {
			return nil, &FormatError{Line: t.headerLine, Why: fmt.Sprintf(
				"the mapping has a column %q that this file does not have", clip(c.Name))}
		}
		given[at] = c.Role
	}
	return given, nil
}

// named finds a column by its header. Of several with that name the nearest one is meant; the
// exact name comes before one that differs in accents or case.
func (t *table) named(c Column) int {
	at, least := -1, 0
	key := headerKey(c.Name)
	for i, name := range t.header {
		d := 0
		switch {
		case name == c.Name:
		case headerKey(name) == key && key != "":
			d = columnsMax
		default:
			continue
		}
		d += abs(i - c.Index)
		if at < 0 || d < least {
			at, least = i, d
		}
	}
	return at
}

// roleOrder is the order in which roles choose their columns.
var roleOrder = []Role{
	RoleDate, RoleAmount, RoleDebit, RoleCredit, RoleDirection, RoleBalance, RoleValueDate,
	RoleAuthorisedDate,
	RoleCurrency, RoleID, RoleCounterparty, RoleAccount, RoleForeign, RoleForeignCurrency,
	RoleName, RoleReference, RoleStatus, RoleCategory,
}

func (t *table) assignByHeader() {
	keys := make([]string, len(t.header))
	for i, h := range t.header {
		keys[i] = headerKey(h)
	}
	for _, role := range roleOrder {
		best, bestRank := -1, 0
		for i, key := range keys {
			if t.roles[i] != "" || key == "" || !t.fits(i, role) {
				continue
			}
			if rank := rankOf(role, key); rank >= 0 && (best < 0 || rank < bestRank) {
				best, bestRank = i, rank
			}
		}
		if best >= 0 {
			t.roles[best] = role
		}
	}
	named := false // Some column is of accounts.
	for i, key := range keys {
		named = named || t.roles[i] == RoleCounterparty || t.roles[i] == RoleAccount
		if t.roles[i] == "" && rankOf(RoleMemo, key) >= 0 {
			t.roles[i] = RoleMemo
		}
	}
	for i, key := range keys {
		if !named && t.roles[i] == "" && slices.Contains(accountNumbers, key) {
			t.roles[i], named = RoleCounterparty, true
		}
	}
	t.ownOrOther(keys)
}

// ownOrOther corrects a name that banks give to accounts of either side: an account that is the
// same in all rows, where nothing else is the user's, is the user's.
func (t *table) ownOrOther(keys []string) {
	for i, role := range t.roles {
		if role == RoleAccount {
			return
		}
		if role != RoleCounterparty || i >= len(keys) || keys[i] != "kontonummer" ||
			len(t.samples) < 2 || !t.ownAccount(i) {
			continue
		}
		for _, row := range t.samples {
			if row[i] != t.samples[0][i] {
				return
			}
		}
		t.roles[i] = RoleAccount
	}
}

// accountNumbers are names of columns that banks give to accounts of either side.
var accountNumbers = []string{"account number", "account no", "iban", "konto", "account"}

// ownAccountsMax is how many accounts the sampled rows of an export may have. One with more is
// about the other sides' accounts.
const ownAccountsMax = 20

// ownAccount tells whether a column can be that of the user's accounts: they stand in every row.
// N26 calls the other side's account just "Account number".
func (t *table) ownAccount(col int) bool {
	seen := make(map[string]bool)
	for _, row := range t.samples {
		if col >= len(row) || strings.TrimSpace(row[col]) == "" {
			return false
		}
		seen[row[col]] = true
	}
	return len(seen) <= ownAccountsMax
}

// fits tells whether the cells of a column can be what the role says. Empty ones can.
func (t *table) fits(col int, role Role) bool {
	if role == RoleAccount {
		return t.ownAccount(col)
	}
	filled, good := 0, 0
	for _, row := range t.samples {
		if col >= len(row) || strings.TrimSpace(row[col]) == "" {
			continue
		}
		cell := row[col]
		if (role == RoleDebit || role == RoleCredit) && isDashes(trimBlanks(cell)) {
			continue
		}
		filled++
		ok := true
		switch role {
		case RoleDate, RoleValueDate, RoleAuthorisedDate:
			ok = isDate(cell)
		case RoleAmount, RoleDebit, RoleCredit, RoleBalance, RoleForeign:
			ok = isAmount(cell)
		case RoleDirection:
			ok = flagOf(cell, nil, nil) != 0
		case RoleCurrency, RoleForeignCurrency:
			ok = currencyOf(cell) != "" || strings.TrimSpace(cell) == "$"
		}
		if ok {
			good++
		}
	}
	return good*2 >= filled && (filled > 0 || role != RoleDate || len(t.samples) == 0)
}

// assignByCells finds date and amount where no header does.
func (t *table) assignByCells() {
	has := make(map[Role]bool)
	for _, role := range t.roles {
		has[role] = true
	}
	if !has[RoleDate] {
		for i := range t.roles {
			if t.roles[i] == "" && t.share(i, isDate) >= 80 {
				t.roles[i] = RoleDate
				break
			}
		}
	}
	if !has[RoleDirection] && !has[RoleDebit] && has[RoleAmount] {
		t.findFlag()
	}
	if has[RoleAmount] || has[RoleDebit] || has[RoleCredit] {
		return
	}
	var found []int
	for i := range t.roles {
		if t.roles[i] == "" && t.share(i, isStrongAmount) >= 50 && t.share(i, isAmount) == 100 &&
			t.share(i, isDate) < 50 {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		t.roles[found[0]] = RoleAmount
	case 2:
		// Of two, the one that runs on from row to row by the other is the balance.
		a, b := found[0], found[1]
		switch ab, ba := t.runs(a, b), t.runs(b, a); {
		case ab && !ba:
			t.roles[a], t.roles[b] = RoleAmount, RoleBalance
		case ba && !ab:
			t.roles[b], t.roles[a] = RoleAmount, RoleBalance
		}
	}
	if t.header == nil {
		for i := range t.roles {
			if t.roles[i] == "" && t.share(i, isAmount) < 50 && t.share(i, isDate) < 50 &&
				t.share(i, func(c string) bool { return strings.TrimSpace(c) != "" }) > 0 {
				t.roles[i] = RoleMemo
			}
		}
	}
}

// share returns how many of a hundred filled cells of a column are so.
func (t *table) share(col int, is func(string) bool) int {
	filled, good := 0, 0
	for _, row := range t.samples {
		if col < len(row) && strings.TrimSpace(row[col]) != "" {
			filled++
			if is(row[col]) {
				good++
			}
		}
	}
	if filled == 0 {
		return 0
	}
	return good * 100 / filled
}

// findFlag finds a column that says debit or credit beside amounts without signs.
func (t *table) findFlag() {
	for i, role := range t.roles {
		if role == RoleAmount && t.share(i, func(c string) bool {
			a, err := splitAmount(c)
			return err == nil && a.negative
		}) > 0 {
			return
		}
	}
	for i, role := range t.roles {
		if role != "" && role != RoleCategory && role != RoleMemo {
			continue
		}
		out := t.share(i, func(c string) bool { return flagOf(c, nil, nil) < 0 })
		in := t.share(i, func(c string) bool { return flagOf(c, nil, nil) > 0 })
		// In a column of texts, a lone D may be the text.
		if (role != RoleMemo || out > 0 && in > 0) && t.share(i, func(c string) bool {
			return flagOf(c, nil, nil) != 0
		}) == 100 {
			t.roles[i] = RoleDirection
			return
		}
	}
}

// runs tells whether each balance is the one before plus the amount, from either end.
func (t *table) runs(amount, balance int) bool {
	up, down := true, true
	for i := 1; i < len(t.samples); i++ {
		if max(amount, balance) >= min(len(t.samples[i]), len(t.samples[i-1])) {
			return false
		}
		a0, b0, ok0 := alone(t.samples[i-1][amount], t.samples[i-1][balance])
		a1, b1, ok1 := alone(t.samples[i][amount], t.samples[i][balance])
		if !ok0 || !ok1 {
			return false
		}
		step, err := b1.Sub(b0)
		if err != nil {
			return false
		}
		up = up && step == a1
		down = down && step == a0.Neg()
	}
	return len(t.samples) > 1 && (up || down)
}
