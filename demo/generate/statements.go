package main

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The statements are files of several banks about the accounts of one person, and their expected
// results.
const (
	statementsDir      = "statements"
	statementsExpected = "expected.json"
	statementsYear     = "2026-"
)

// movement is one thing that happened on an account, as the bank knows it.
type movement struct {
	day   string // "2026-01-05"
	cents int64  // Money out is negative.
	who   string
	memo  string
	tag   string // The one that the person's rules must give; "transfer" for none.
}

// transferTag is used in place of a tag for movements between the person's accounts.
const transferTag = "transfer"

// What happened, in the order of the bank: day, amount, who, what for, tag. Two lines that are the
// same are two movements.
const (
	everydayStory = `
01-02 |  -46.80 | Harbour Market      | Groceries         | Groceries
01-05 | -520.00 | Kowhai Property     | Rent week 1       | Rent
01-06 |   -5.50 | Blue Door Cafe      | Flat white        | Eating out
01-06 |   -5.50 | Blue Door Cafe      | Flat white        | Eating out
01-12 | -520.00 | Kowhai Property     | Rent week 2       | Rent
01-14 | 2450.00 | Tui Software Ltd    | Salary            | Salary
01-15 |  -88.25 | Harbour Market      | Groceries         | Groceries
01-19 | -520.00 | Kowhai Property     | Rent week 3       | Rent
01-20 | -310.40 | Card payment        | To card 4711      | transfer
01-23 |  -64.10 | Meridian Power      | January           | Power
01-26 | -520.00 | Kowhai Property     | Rent week 4       | Rent
01-28 | 2450.00 | Tui Software Ltd    | Salary            | Salary
01-30 |  -71.95 | Harbour Market      | Groceries         | Groceries
02-02 | -520.00 | Kowhai Property     | Rent week 5       | Rent
02-03 |   -5.50 | Blue Door Cafe      | Flat white        | Eating out
02-03 |   -5.50 | Blue Door Cafe      | Flat white        | Eating out
02-05 |  -93.30 | Harbour Market      | Groceries         | Groceries
02-09 | -520.00 | Kowhai Property     | Rent week 6       | Rent
02-10 |  -12.00 | Ferry tickets       | Day return        | Transport
02-11 | 2450.00 | Tui Software Ltd    | Salary            | Salary
02-16 | -520.00 | Kowhai Property     | Rent week 7       | Rent
02-18 |  -67.45 | Harbour Market      | Groceries         | Groceries
02-20 | -402.15 | Card payment        | To card 4711      | transfer
02-23 | -520.00 | Kowhai Property     | Rent week 8       | Rent
02-24 |  -58.80 | Meridian Power      | February          | Power
02-25 | 2450.00 | Tui Software Ltd    | Salary            | Salary
02-27 |   -0.99 | Cloud storage       | 50 GB             | 
03-02 | -520.00 | Kowhai Property     | Rent week 9       | Rent
03-06 | -101.05 | Harbour Market      | Groceries         | Groceries
03-11 | 2450.00 | Tui Software Ltd    | Salary            | Salary
03-16 | -540.00 | Kowhai Property     | Rent week 11      | Rent
03-20 | -287.60 | Card payment        | To card 4711      | transfer
03-25 | 2450.00 | Tui Software Ltd    | Salary            | Salary
03-30 |   -0.99 | Cloud storage       | 50 GB             | 
`
	cardStory = `
01-03 |  -38.90 | Blue Door Cafe      |                   | Eating out
01-08 | -129.00 | Mountain Outfitters |                   | 
01-09 |  -24.50 | City Transport      |                   | Transport
01-17 |  -58.00 | Nori Sushi          |                   | Eating out
01-17 |  -60.00 | Harbour Market      |                   | Groceries
01-21 |  310.40 | Payment received    |                   | transfer
02-04 | -219.99 | Mountain Outfitters |                   | 
02-06 |  -24.50 | City Transport      |                   | Transport
02-06 |  -24.50 | City Transport      |                   | Transport
02-13 |   20.00 | Mountain Outfitters |                   | 
02-14 | -133.16 | Nori Sushi          |                   | Eating out
02-21 |  402.15 | Payment received    |                   | transfer
03-05 |  -24.50 | City Transport      |                   | Transport
03-12 |  -41.60 | Blue Door Cafe      |                   | Eating out
03-21 |  287.60 | Payment received    |                   | transfer
`
	cashStory = `
01-04 |  -14.00 | Night market        | Dumplings         | Groceries
01-18 |  -20.00 | Barber              |                   | 
02-15 |   -3.00 | Lemonade stall      |                   | 
02-15 |   -3.00 | Lemonade stall      |                   | 
02-22 |  -18.50 | Night market        | Noodles           | Groceries
03-08 |  -20.00 | Barber              |                   | 
03-22 |   50.00 | Garage sale         | The old bicycle   | 
`
	lisbonStory = `
01-05 |  -34.72 | Mercado da Ribeira  |                   | Groceries
01-07 |   -1.20 | Padaria São João    |                   | Eating out
02-03 |  -41.08 | Mercado da Ribeira  |                   | Groceries
02-04 |   -1.20 | Padaria São João    |                   | Eating out
02-04 |   -1.20 | Padaria São João    |                   | Eating out
02-10 | 1250.00 | Azulejo Lda         | Fatura 12         | Salary
02-11 | -300.00 | Pensão Alfama       | Quarto            | Rent
03-03 |  -28.40 | Mercado da Ribeira  |                   | Groceries
03-09 |  -11.99 | Livraria Ler        |                   | 
03-12 | -300.00 | Pensão Alfama       | Quarto            | Rent
`
	berlinStory = `
01-07 |  -22.30 | Kiezmarkt           | Einkauf           | Groceries
01-15 |  640.00 | Verlag Morgenrot    | Honorar 0126      | Salary
01-28 |   -9.90 | Strassenbahn        | Einzelkarten      | Transport
02-11 |  -31.45 | Kiezmarkt           | Einkauf           | Groceries
02-16 |  640.00 | Verlag Morgenrot    | Honorar 0226      | Salary
03-02 |   -9.90 | Strassenbahn        | Einzelkarten      | Transport
03-16 |  640.00 | Verlag Morgenrot    | Honorar 0326      | Salary
03-31 |  -47.80 | Kiezmarkt           | Einkauf           | Groceries
`
)

// bankAccount is an account of the person and all that happened on it.
type bankAccount struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Currency  string `json:"currency"`
	movements []movement
}

// bankAccounts reads the stories.
func bankAccounts() ([]bankAccount, error) {
	accounts := []bankAccount{
		{ID: "everyday", Name: "Everyday", Currency: "NZD"},
		{ID: "card", Name: "Card", Currency: "NZD"},
		{ID: "cash", Name: "Cash", Currency: "NZD"},
		{ID: "lisbon", Name: "Lisbon", Currency: "EUR"},
		{ID: "berlin", Name: "Berlin", Currency: "EUR"},
	}
	stories := []string{everydayStory, cardStory, cashStory, lisbonStory, berlinStory}
	for i, story := range stories {
		for line := range strings.Lines(strings.TrimSpace(story)) {
			m, err := readMovement(line)
			if err != nil {
				return nil, err
			}
			accounts[i].movements = append(accounts[i].movements, m)
		}
	}
	return accounts, nil
}

func readMovement(line string) (movement, error) {
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if len(cells) != 5 {
		return movement{}, fmt.Errorf("the line %q has %d cells", line, len(cells))
	}
	cents, err := strconv.ParseInt(strings.Replace(cells[1], ".", "", 1), 10, 64)
	return movement{statementsYear + cells[0], cents, cells[2], cells[3], cells[4]}, err
}

// inUnits writes cents with a point.
func inUnits(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// bankFile is a file, and the expected results of its rows if the files are imported in their
// order.
type bankFile struct {
	File    string `json:"file"`
	Account string `json:"account"`
	Format  string `json:"format"`
	// Answers are the answers that the file needs before it can be read.
	Answers map[string]string `json:"answers,omitempty"`
	New     int               `json:"new"`
	Known   int               `json:"known"`
	Merged  int               `json:"merged"`
	// Skipped are lines that are no rows, such as those before a header.
	Skipped int   `json:"skipped"`
	Refused []int `json:"refused,omitempty"` // Lines.
	// Balanced reports whether the file has both balances, so that they can be compared.
	Balanced bool `json:"balanced"`
}

// bankSums are sums of cents with a count, as decimals in the file.
type bankSums struct {
	In    string `json:"in"`
	Out   string `json:"out"`
	Count int    `json:"count"`

	in, out int64
}

func (s *bankSums) add(cents int64) {
	if s.Count++; cents < 0 {
		s.out += cents
	} else {
		s.in += cents
	}
	s.In, s.Out = inUnits(s.in), inUnits(s.out)
}

// bankTruth is the content of the file of expected results.
type bankTruth struct {
	Accounts []bankAccount `json:"accounts"`
	Files    []bankFile    `json:"files"`
	// Flows are what came in and went out by currency and month, without transfers.
	Flows map[string]map[string]*bankSums `json:"flows"`
	// Tags are by currency, month and tag.
	Tags map[string]map[string]map[string]*bankSums `json:"tags"`
	// Rows are how many transactions each account has in the end, Sums what they add up to.
	Rows map[string]int    `json:"rows"`
	Sums map[string]string `json:"sums"`
}

// sumUp adds up the movements.
func (t *bankTruth) sumUp() {
	t.Flows = map[string]map[string]*bankSums{}
	t.Tags = map[string]map[string]map[string]*bankSums{}
	t.Rows, t.Sums = map[string]int{}, map[string]string{}
	for _, a := range t.Accounts {
		if t.Flows[a.Currency] == nil {
			t.Flows[a.Currency] = map[string]*bankSums{}
			t.Tags[a.Currency] = map[string]map[string]*bankSums{}
		}
		flows, tags := t.Flows[a.Currency], t.Tags[a.Currency]
		sum := int64(0)
		for _, m := range a.movements {
			sum += m.cents
			if m.tag == transferTag {
				continue
			}
			month := m.day[:len("2026-01")]
			if flows[month] == nil {
				flows[month], tags[month] = &bankSums{}, map[string]*bankSums{}
			}
			flows[month].add(m.cents)
			if tags[month][m.tag] == nil {
				tags[month][m.tag] = &bankSums{}
			}
			tags[month][m.tag].add(m.cents)
		}
		t.Rows[a.ID], t.Sums[a.ID] = len(a.movements), inUnits(sum)
	}
}

// between returns the movements of some days, both included.
func (a *bankAccount) between(from, to string) []movement {
	return slices.DeleteFunc(slices.Clone(a.movements), func(m movement) bool {
		return m.day < statementsYear+from || m.day > statementsYear+to
	})
}

// balanceBefore is what an account has before a day.
func (a *bankAccount) balanceBefore(day string, opening int64) int64 {
	for _, m := range a.movements {
		if m.day < statementsYear+day {
			opening += m.cents
		}
	}
	return opening
}

// statements returns the content of every file about the person's accounts by its name.
func statements() (map[string][]byte, error) {
	accounts, err := bankAccounts()
	if err != nil {
		return nil, err
	}
	truth := bankTruth{Accounts: accounts}
	truth.sumUp()
	files := map[string][]byte{}
	for _, f := range bankFiles(accounts) {
		files[path.Join(statementsDir, f.File)] = []byte(f.content)
		truth.Files = append(truth.Files, f.bankFile)
	}
	text, err := json.MarshalIndent(truth, "", "  ")
	files[path.Join(statementsDir, statementsExpected)] = append(text, '\n')
	return files, err
}
