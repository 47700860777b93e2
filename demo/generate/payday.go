package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The payday is a file of payments that are due on one day, and their expected results.
const (
	paydayFile     = "payday.csv"
	paydayExpected = "payday.json"

	// paydayRows is a few thousand, so that the demo stays short.
	paydayRows = 3000
	// Of some kinds there are a handful.
	paydayPoor     = 9  // whose payer has no money at first
	paydayClosed   = 6  // to an account that is closed
	paydayMistakes = 5  // that are cancelled before the day
	paydayRepeats  = 20 // sent twice
)

// paydayBegin is the beginning of the bank's night. It is long ago, so that the day is over
// whenever the demo runs.
var paydayBegin = time.Date(2025, time.September, 25, 1, 0, 0, 0, time.UTC)

// paydayTime is how long payments fall due.
const paydayTime = 10 * time.Hour

// mistakePrefix begins the keys of payments that are cancelled.
const mistakePrefix = "mistake-"

// payer is who pays, and what is deposited before the day, and after the first run.
type payer struct {
	ID    string `json:"id"`
	User  string `json:"user"`
	Funds string `json:"funds,omitempty"`
	Later string `json:"later,omitempty"`

	poor bool
}

// payday is the content of the file of expected results. Everything is in NZD.
type payday struct {
	Day       string `json:"day"`
	Rows      int    `json:"rows"`
	Scheduled int    `json:"scheduled"`
	Repeats   int    `json:"repeats"`
	// Refused counts the rows that are not scheduled because they can never be paid.
	Refused map[outcome]int `json:"refused"`
	// Cancelled are the keys of the payments to cancel; Processed and Failed are the expected
	// counts of the first run.
	Cancelled []paydayKey     `json:"cancelled"`
	Processed int             `json:"processed"`
	Failed    map[outcome]int `json:"failed"`
	// Totals are those of the day in the end, once payers without money have got some.
	Totals []paydayTotal `json:"totals"`
	// Balances are those of the payers in the end.
	Balances map[string]string `json:"balances"`
	Payers   []payer           `json:"payers"`
}

type paydayKey struct {
	Account string `json:"account"`
	Key     string `json:"key"`
}

type paydayTotal struct {
	Status string `json:"status"`
	Count  int    `json:"count"`
	Sum    string `json:"sum"`
}

var paydayColumns = []string{
	"key", "account", "payee", "merchant", "amount", "currency", "at", "description",
}

// Places of columns that the simulation looks at.
const (
	dueKey     = 0
	duePayer   = 1
	duePayee   = 2
	dueAmount  = 4
	paydayCent = 100
)

func newPayers() []payer {
	var made []payer
	for _, name := range []string{
		"Kererū Coffee", "Pātaka Groceries", "Harbour Ferries", "Tūī Property", "Kākā Fuel",
	} {
		user := "employer." + strings.ReplaceAll(userOf(name), ".", "-")
		made = append(made, payer{ID: idOf("account", user), User: user})
	}
	made[len(made)-1].poor = true
	return made
}

// paydayCSV returns the file. It draws from a random source that no other file uses, so that the
// other files do not change.
func paydayCSV(w *world, payers []payer) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	rich, poor := payers[:len(payers)-1], payers[len(payers)-1]
	var paid []*account
	for i, p := range w.people {
		if !special(i) {
			paid = append(paid, p.everyday)
		}
	}
	closed := w.people[closedPerson].everyday
	var rows [][]string
	add := func(key string, from payer, payee, merchant, what string, cents int) {
		after := random.IntN(int(paydayTime / time.Millisecond))
		at := paydayBegin.Add(time.Duration(after) * time.Millisecond)
		rows = append(rows, []string{
			key, from.ID, payee, merchant, decimal(cents, nzd), nzd,
			at.Format("2006-01-02T15:04:05.000Z"), what,
		})
	}
	kinds := []string{"Wages", "Overtime", "Holiday pay", "Expenses", "Allowance", "Refund"}
	for i := range paydayRows {
		from, what := rich[random.IntN(len(rich))], kinds[random.IntN(len(kinds))]
		key := fmt.Sprintf("payday-%04d", i)
		if i%10 == 0 { // Employers have landlords too.
			add(key, from, "", w.merchant("rent").id, "Rent", 420_00+random.IntN(300_00))
			continue
		}
		add(key, from, paid[random.IntN(len(paid))].id, "", what, 5_00+random.IntN(1200_00))
	}
	for i := range paydayPoor {
		to := paid[random.IntN(len(paid))].id
		add(fmt.Sprintf("late-%d", i), poor, to, "", "Wages", 100_00+random.IntN(900_00))
	}
	for i := range paydayClosed {
		add(fmt.Sprintf("gone-%d", i), rich[0], closed.id, "", "Wages", 100_00+random.IntN(900_00))
	}
	for i := range paydayMistakes {
		to := paid[random.IntN(len(paid))].id
		add(mistakePrefix+strconv.Itoa(i), rich[1], to, "", "Bonus", 9000_00+random.IntN(900_00))
	}
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for range paydayRepeats {
		rows = append(rows, rows[random.IntN(paydayRows)])
	}
	return table(append([][]string{paydayColumns}, rows...))
}

var errPayday = errors.New("the payday depends on the order of its payments")

// simulatePayday works out from the finished files what must come out.
func simulatePayday(accountsCSV, paydayCSV []byte, payers []payer) ([]byte, error) {
	books, err := openBooks(accountsCSV)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(paydayCSV)).ReadAll()
	if err != nil {
		return nil, err
	}
	made := payday{
		Day: paydayBegin.Format(time.DateOnly), Rows: len(rows) - 1, Failed: map[outcome]int{},
		Refused: map[outcome]int{}, Balances: map[string]string{}, Payers: payers,
	}
	seen := map[string]bool{}
	spent := map[string]int{} // In cents, by payer.
	counts, sums := map[string]int{}, map[string]int{}
	for _, row := range rows[1:] {
		cents, err := strconv.Atoi(strings.Replace(row[dueAmount], ".", "", 1))
		if err != nil {
			return nil, err
		}
		payee := books.accounts[row[duePayee]]
		if payee != nil && payee.status == "closed" {
			made.Refused[accountClosed]++
			continue
		}
		name := row[duePayer] + "/" + row[dueKey]
		if seen[name] {
			made.Repeats++
			continue
		}
		seen[name] = true
		status := "PROCESSED"
		at := slices.IndexFunc(payers, func(p payer) bool { return p.ID == row[duePayer] })
		poor := payers[at].poor
		switch {
		case strings.HasPrefix(row[dueKey], mistakePrefix):
			status = "CANCELLED"
			made.Cancelled = append(made.Cancelled, paydayKey{row[duePayer], row[dueKey]})
		case poor:
			made.Failed[insufficientFunds]++
			spent[row[duePayer]] += cents
		default:
			made.Processed++
			spent[row[duePayer]] += cents
		}
		counts[status]++
		sums[status] += cents
	}
	made.Scheduled = len(seen)
	for i, p := range payers {
		// A rich payer has some left; a poor one gets exactly what is missing.
		left := (i + 1) * 1000 * paydayCent
		if p.poor {
			left = 0
			payers[i].Later = decimal(spent[p.ID], nzd)
		} else {
			payers[i].Funds = decimal(spent[p.ID]+left, nzd)
		}
		made.Balances[p.ID] = decimal(left, nzd)
		if spent[p.ID] == 0 {
			return nil, errPayday
		}
	}
	for _, status := range []string{"PROCESSED", "CANCELLED"} {
		made.Totals = append(made.Totals, paydayTotal{
			status, counts[status], decimal(sums[status], nzd),
		})
	}
	text, err := json.MarshalIndent(made, "", "  ")
	return append(text, '\n'), err
}
