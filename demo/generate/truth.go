package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
)

// outcome is the expected result of a row.
type outcome string

// Outcomes: posted, a harmless repeat, or the code of the refusal. The refusals are in the order of
// precedence, because several may apply to one row.
const (
	posted   outcome = "posted"
	repeated outcome = "repeat"

	malformedRow          outcome = "row_invalid"
	amountNotPositive     outcome = "amount_not_positive"
	tooManyFractionDigits outcome = "too_many_fraction_digits"
	idempotencyConflict   outcome = "idempotency_conflict"
	accountNotFound       outcome = "account_not_found"
	currencyMismatch      outcome = "currency_mismatch"
	accountClosed         outcome = "account_closed"
	accountFrozen         outcome = "account_frozen"
	insufficientFunds     outcome = "insufficient_funds"
)

// truth is the content of the file of expected results.
type truth struct {
	Rows        int             `json:"rows"` // without the header and blank lines
	Posted      int             `json:"posted"`
	Repeats     int             `json:"repeats"`
	Refused     map[outcome]int `json:"refused"`
	RefusedRows []refusedRow    `json:"refused_rows"`
	// Balances are all final balances by account id, those of the ledger's own accounts as well.
	Balances map[string]string `json:"balances"`
}

// refusedRow is a row that must be refused, by the line of the file on which it begins.
type refusedRow struct {
	Line int     `json:"line"`
	Key  string  `json:"key"`
	Code outcome `json:"code"`
}

func (t *truth) json() ([]byte, error) {
	text, err := json.MarshalIndent(t, "", "  ")
	return append(text, '\n'), err
}

// books is the simulation: the simplest program that computes the expected result.
type books struct {
	accounts map[string]*holding
	bodies   map[string]string // of posted rows, by key
}

type holding struct {
	currency, status string
	balance, limit   *big.Rat // limit is how far the balance may go below zero, nil without end
}

// openBooks reads the accounts file.
func openBooks(accounts []byte) (*books, error) {
	rows, err := csv.NewReader(bytes.NewReader(accounts)).ReadAll()
	if err != nil {
		return nil, err
	}
	b := &books{accounts: map[string]*holding{}, bodies: map[string]string{}}
	for _, row := range rows[1:] {
		limit, ok := parseAmount(row[5])
		if !ok {
			return nil, fmt.Errorf("overdraft %q is no number", row[5])
		}
		b.accounts[row[0]] = &holding{
			currency: row[3], status: row[4], balance: new(big.Rat), limit: limit,
		}
	}
	for currency := range currencies {
		for _, name := range []string{deposits, withdrawals} {
			b.accounts[name+"-"+currency] = &holding{
				currency: currency, status: "active", balance: new(big.Rat),
			}
		}
	}
	return b, nil
}

// simulate works out what must come of the rows in their order.
func simulate(accounts, payments []byte) (*truth, error) {
	b, err := openBooks(accounts)
	if err != nil {
		return nil, err
	}
	rows, numbers, err := readPayments(payments)
	if err != nil {
		return nil, err
	}
	t := &truth{Rows: len(rows), Refused: map[outcome]int{}}
	for i, fields := range rows {
		switch o := b.post(fields); o {
		case posted:
			t.Posted++
		case repeated:
			t.Repeats++
		default:
			t.Refused[o]++
			t.RefusedRows = append(t.RefusedRows, refusedRow{numbers[i], fields[keyColumn], o})
		}
	}
	t.Balances = b.balances()
	return t, nil
}

// plainNumber is what an amount must look like.
var plainNumber = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

func parseAmount(text string) (*big.Rat, bool) {
	if !plainNumber.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// post judges one row and moves the money if nothing speaks against it.
func (b *books) post(fields []string) outcome {
	if len(fields) != len(columns) {
		return malformedRow
	}
	amount, ok := parseAmount(fields[amountColumn])
	if !ok {
		return malformedRow
	}
	if amount.Sign() <= 0 {
		return amountNotPositive
	}
	currency := fields[currencyColumn]
	if !whole(amount, currencies[currency]) {
		return tooManyFractionDigits
	}
	// Amounts are compared by value: 5.5 and 5.50 are the same payment. The column at is no part
	// of it.
	body := slices.Clone(fields[1 : len(fields)-1])
	body[amountColumn-1] = amount.RatString()
	key, request := fields[keyColumn], fmt.Sprintf("%q", body)
	if earlier, used := b.bodies[key]; used {
		if earlier == request {
			return repeated
		}
		return idempotencyConflict
	}
	if refusal := b.move(fields[fromColumn], fields[toColumn], currency, amount); refusal != "" {
		return refusal
	}
	b.bodies[key] = request
	return posted
}

// whole reports whether an amount has no more than digits fraction digits.
func whole(amount *big.Rat, digits int) bool {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return new(big.Rat).Mul(amount, new(big.Rat).SetInt(scale)).IsInt()
}

func (b *books) move(fromID, toID, currency string, amount *big.Rat) outcome {
	from, to := b.account(fromID, currency), b.account(toID, currency)
	switch {
	case from == nil || to == nil:
		return accountNotFound
	case from.currency != currency || to.currency != currency:
		return currencyMismatch
	case from.status == "closed" || to.status == "closed":
		return accountClosed
	case from.status == "frozen" || to.status == "frozen":
		return accountFrozen
	}
	rest := new(big.Rat).Sub(from.balance, amount)
	if from.limit != nil && new(big.Rat).Add(rest, from.limit).Sign() < 0 {
		return insufficientFunds
	}
	from.balance = rest
	to.balance = new(big.Rat).Add(to.balance, amount)
	return ""
}

// account returns an account by its id. A name of a system account means the one of the currency.
func (b *books) account(id, currency string) *holding {
	if id == deposits || id == withdrawals {
		id += "-" + currency
	}
	return b.accounts[id]
}

func (b *books) balances() map[string]string {
	balances := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(b.accounts)) {
		a := b.accounts[id]
		balances[id] = a.balance.FloatString(currencies[a.currency])
	}
	return balances
}
