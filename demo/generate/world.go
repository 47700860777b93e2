package main

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"
)

// seed decides everything that is drawn.
const seed = 20260101

// space is the name space of all ids here, so that they are the same in every run.
var space = uuid.MustParse("2f0c9a64-4d0e-5b7e-8c55-6f3b1de0a7c4")

// idOf derives an id from what it names.
func idOf(kind, name string) string {
	return uuid.NewSHA1(space, []byte(kind+"/"+name)).String()
}

// Currencies of the demo, and the fraction digits that ISO 4217 gives them.
const (
	nzd = "NZD"
	usd = "USD"
	jpy = "JPY"
)

var currencies = map[string]int{nzd: 2, usd: 2, jpy: 0}

// account is a line of the accounts file.
type account struct {
	id, user, kind, currency, status, overdraft string
}

// merchant is a line of the merchants file, with what a purchase there costs in minor units.
type merchant struct {
	id, name, category string
	settlement         *account
	costMin, costMax   int
}

// person is a user and the accounts that money is moved between.
type person struct {
	name     string // as people write it, macrons included
	user     string // as the user is called in the files
	everyday *account
	savings  *account
	foreign  *account
}

// world is who takes part.
type world struct {
	random    *rand.Rand
	people    []*person
	merchants []*merchant
	accounts  []*account
}

const peopleNames = `Aroha Ngata, Wiremu Parata, Māia Tūhoe, Hēmi Walker, Jean McAllister, Sione Faleolo,
Anahera Rēweti, Tama Kīngi, Ngaio Pōtae, Grace O'Connor, Mei-Ling Zhao, Rangi Te Ao, Kahurangi Mānuka,
Ewan Mackenzie, Priya Raman, Tāne Hōhepa, Lucy Fraser, Mele Tupou, Hana Wīremu, Oliver Baird,
Ruia Tīpene, Søren Lindqvist, Amelia Grant, Pita Rāwiri, Zoë Marchetti, Kiri Waititi, Daniel Novák,
Moana Hāpai, Isla Robertson, Tūī Kerehoma, Yuki Tanaka, Ihaia Pēwhairangi, François Leroy, Ruby Chapman,
Whetū Marama, Noah Sinclair, Atarangi Tō, Leilani Kealoha, José Álvarez, Erena Matiu`

// Indexes in peopleNames of people with special accounts. They make no everyday payments.
const (
	frozenPerson    = 1 // Wiremu Parata's account is frozen
	closedPerson    = 4 // Jean McAllister's account is closed
	overdraftPerson = 5 // Sione Faleolo may overdraw
	poorPerson      = 7 // Tama Kīngi pays in two attempts, before and after payday
	poorerPerson    = 8 // so does Ngaio Pōtae
)

const (
	savers         = 12 // people with a savings account
	dollarHolders  = 5
	yenHolders     = 3
	overdraftLimit = 500_00 // of the account that may overdraw, in minor units
)

func newWorld() *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 0))}
	for i, name := range strings.Split(strings.ReplaceAll(peopleNames, "\n", " "), ", ") {
		p := &person{name: name, user: userOf(name)}
		p.everyday = w.open(p.user, "checking", nzd)
		if !special(i) {
			w.openMore(p)
		}
		w.people = append(w.people, p)
	}
	w.people[frozenPerson].everyday.status = "frozen"
	w.people[closedPerson].everyday.status = "closed"
	w.people[overdraftPerson].everyday.overdraft = decimal(overdraftLimit, nzd)
	w.openShops()
	return w
}

func special(i int) bool {
	switch i {
	case frozenPerson, closedPerson, overdraftPerson, poorPerson, poorerPerson:
		return true
	}
	return false
}

// openMore gives the first ordinary people savings, and some of them money of other countries.
func (w *world) openMore(p *person) {
	count := map[string]int{}
	for _, a := range w.accounts {
		count[a.kind+a.currency]++
	}
	if count["savings"+nzd] < savers {
		p.savings = w.open(p.user, "savings", nzd)
	}
	switch {
	case count["travel"+usd] < dollarHolders:
		p.foreign = w.open(p.user, "travel", usd)
	case count["travel"+jpy] < yenHolders:
		p.foreign = w.open(p.user, "travel", jpy)
	}
}

func (w *world) open(user, kind, currency string) *account {
	a := &account{
		id: idOf("account", user+"/"+kind+"/"+currency), user: user, kind: kind,
		currency: currency, status: "active", overdraft: "0",
	}
	w.accounts = append(w.accounts, a)
	return a
}

func (w *world) openShops() {
	for _, shop := range []struct {
		name, category, currency string
		costMin, costMax         int
	}{
		{"Kererū Coffee ☕", "cafe", nzd, 450, 1650},
		{"Pātaka Groceries", "groceries", nzd, 850, 18_500},
		{"Tōtara Pharmacy", "health", nzd, 600, 6400},
		{"Kākā Fuel", "fuel", nzd, 3000, 14_000},
		{"Harbour Ferries", "transport", nzd, 400, 2600},
		{"Tūī Property, Residential", "rent", nzd, 420_00, 690_00},
		{`The "Wee" Bookshop`, "books", nzd, 1200, 8900},
		{"O'Hara & Daughters, Plumbers", "trades", nzd, 9000, 48_000},
		{"Blue Heron Streaming", "entertainment", usd, 799, 1999},
		{"Cascade Software, Inc.", "software", usd, 500, 12_000},
		{"寿司 みどり", "restaurant", jpy, 900, 6800},
		{"東京文具店", "stationery", jpy, 200, 4200},
	} {
		w.merchants = append(w.merchants, &merchant{
			id: idOf("merchant", shop.name), name: shop.name, category: shop.category,
			settlement: w.open("merchant."+shop.category, "settlement", shop.currency),
			costMin:    shop.costMin, costMax: shop.costMax,
		})
	}
}

// merchant returns the one of a category; categories are unique.
func (w *world) merchant(category string) *merchant {
	for _, m := range w.merchants {
		if m.category == category {
			return m
		}
	}
	return nil
}

// plain maps the letters of peopleNames that are not ASCII, and what else a user's name has not.
var plain = strings.NewReplacer("ā", "a", "ē", "e", "ī", "i", "ō", "o", "ū", "u", "ë", "e",
	"ø", "o", "á", "a", "é", "e", "ç", "c", " ", ".", "'", "")

// userOf spells a name as the name of a user: Hēmi Walker is hemi.walker.
func userOf(name string) string { return plain.Replace(strings.ToLower(name)) }

func (w *world) accountsCSV() []byte {
	rows := [][]string{{"id", "user", "type", "currency", "status", "overdraft"}}
	for _, a := range w.accounts {
		rows = append(rows, []string{a.id, a.user, a.kind, a.currency, a.status, a.overdraft})
	}
	return table(rows)
}

func (w *world) merchantsCSV() []byte {
	rows := [][]string{{"id", "name", "category", "settlement"}}
	for _, m := range w.merchants {
		rows = append(rows, []string{m.id, m.name, m.category, m.settlement.id})
	}
	return table(rows)
}

// table writes CSV; writing to memory cannot fail.
func table(rows [][]string) []byte {
	var out bytes.Buffer
	csv.NewWriter(&out).WriteAll(rows)
	return out.Bytes()
}
