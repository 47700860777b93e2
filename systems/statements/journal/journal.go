package journal

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// The first parts of account names in journals.
type root int

const (
	assets root = iota
	expenses
	income
	equity
)

// posting is one side of a journal's transaction.
type posting struct {
	account  string
	amount   money.Decimal
	currency money.Currency
	notes    string
}

// journalEntry is a transaction of a journal. Its postings add up to nothing.
type journalEntry struct {
	date             book.Date
	pending          bool
	payee, narration string
	tags             []string
	meta             [][2]string
	notes            string
	postings         []posting
}

// dialect is how a journal is written.
type dialect interface {
	// name makes a part of an account's name out of what a person typed; it may be the same for
	// different texts, but never empty.
	name(text string) string
	join(r root, name string) string
	header(title string, currencies []money.Currency) error
	// open declares an account and commodity before they are used.
	open(on book.Date, account string) error
	commodity(c money.Currency) error
	entry(e *journalEntry) error
	flush() error
}

// The names of accounts that are made of nothing a person typed.
const (
	nameUntagged  = "Untagged"
	nameTransfers = "Transfers"
	nameOpening   = "Opening Balances"
)

// journal turns rows into transactions between accounts.
type journal struct {
	dialect  dialect
	known    Names
	names    map[string]string // Of accounts and tags by "account " or "tag " and the id.
	taken    map[string]bool   // In lower case, with the kind of noun in front.
	opened   map[string]bool
	openings []Opening
}

func newJournal(names Names, d dialect) *journal {
	j := &journal{dialect: d, known: names, names: map[string]string{}, taken: map[string]bool{},
		opened: map[string]bool{}}
	j.claim("tag ", nameUntagged)
	for _, a := range names.Accounts {
		j.names["account "+a.ID] = j.claim("account ", a.Name)
	}
	for _, t := range names.Tags {
		j.names["tag "+t.ID] = j.claim("tag ", t.Text)
	}
	return j
}

// claim finds a name that nothing else has: two texts may differ in what a journal cannot write.
func (j *journal) claim(kind, text string) string {
	base := j.dialect.name(text)
	name := base
	for n := 2; j.taken[kind+strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	j.taken[kind+strings.ToLower(name)] = true
	return name
}

// nameOf returns the name of an account or tag. A tag that is gone has the text that rows still
// have.
func (j *journal) nameOf(kind, id, text string) string {
	name, ok := j.names[kind+id]
	if !ok {
		name = j.claim(kind, cmp.Or(text, id))
		j.names[kind+id] = name
	}
	return name
}

func (j *journal) Begin(openings []Opening) error {
	j.openings = openings
	var currencies []money.Currency
	seen := map[money.Currency]bool{}
	for _, a := range j.known.Accounts {
		if !seen[a.Currency] {
			currencies = append(currencies, a.Currency)
		}
		seen[a.Currency] = true
	}
	return j.dialect.header("Statements", currencies)
}

// begun writes what accounts begin with, on the first day there is.
func (j *journal) begun(first book.Date) error {
	openings := j.openings
	j.openings = nil
	for _, o := range openings {
		e := &journalEntry{date: cmp.Or(o.On, first), payee: "Opening balance"}
		if e.date == "" {
			continue // Neither a range nor a row has a day.
		}
		e.postings = []posting{
			{account: j.accountName(o.AccountID), amount: o.Amount, currency: o.Currency},
			{account: j.dialect.join(equity, j.dialect.name(nameOpening)), amount: o.Amount.Neg(),
				currency: o.Currency},
		}
		if err := j.write(e); err != nil {
			return err
		}
	}
	return nil
}

func (j *journal) accountName(id string) string {
	return j.dialect.join(assets, j.nameOf("account ", id, ""))
}

func (j *journal) Row(t *book.Transaction) error {
	if err := j.begun(t.Date); err != nil {
		return err
	}
	e := &journalEntry{date: t.Date, pending: t.Pending, payee: t.Merchant, narration: t.Text,
		notes: t.Notes}
	e.postings = []posting{{account: j.accountName(t.AccountID), amount: t.Amount,
		currency: t.Currency}}
	parts := t.Splits
	if len(parts) == 0 {
		parts = []book.Split{{Amount: t.Amount, TagIDs: t.TagIDs, Tags: t.Tags}}
	}
	rest := t.Amount
	var err error
	seen := map[string]bool{}
	for _, part := range parts {
		e.postings = append(e.postings, posting{j.counter(t, part), part.Amount.Neg(), t.Currency,
			part.Notes})
		if rest, err = rest.Sub(part.Amount); err != nil {
			return err
		}
		for i, id := range part.TagIDs {
			if tag := j.tagText(id, part.Tags, i); !seen[tag] {
				e.tags, seen[tag] = append(e.tags, tag), true
			}
		}
	}
	if !rest.IsZero() { // Another program wrote parts that do not add up to the amount.
		e.postings = append(e.postings, posting{account: j.counter(t, book.Split{Amount: rest}),
			amount: rest.Neg(), currency: t.Currency})
	}
	e.describe(t)
	return j.write(e)
}

// counter returns the account on the other side of a part.
func (j *journal) counter(t *book.Transaction, part book.Split) string {
	if t.Transfer {
		return j.dialect.join(equity, j.dialect.name(nameTransfers))
	}
	r := expenses
	if part.Amount.Sign() > 0 {
		r = income
	}
	if len(part.TagIDs) == 0 {
		return j.dialect.join(r, j.dialect.name(nameUntagged))
	}
	text := ""
	if len(part.Tags) > 0 {
		text = part.Tags[0]
	}
	return j.dialect.join(r, j.nameOf("tag ", part.TagIDs[0], text))
}

// tagText is the text of a tag as it is now, or as the row has it.
func (j *journal) tagText(id string, texts []string, i int) string {
	for _, t := range j.known.Tags {
		if t.ID == id {
			return t.Text
		}
	}
	if i < len(texts) {
		return texts[i]
	}
	return id
}

// describe adds what else is known of a row.
func (e *journalEntry) describe(t *book.Transaction) {
	add := func(name, value string) {
		if value != "" {
			e.meta = append(e.meta, [2]string{name, value})
		}
	}
	add("id", t.ID)
	add("bankid", t.BankID)
	add("reference", t.Reference)
	add("counterparty", t.Counterparty)
	add("category", t.Category)
	add("details", t.Details)
	add("valued", string(t.ValueDate))
	if t.ForeignCurrency != "" {
		add("original", t.Foreign.Text(t.ForeignCurrency.Digits())+" "+string(t.ForeignCurrency))
	}
	for _, a := range t.Annotations {
		add("annotation", a.Text)
	}
}

// write declares what an entry uses and writes it.
func (j *journal) write(e *journalEntry) error {
	for _, p := range e.postings {
		if key := "commodity " + string(p.currency); !j.opened[key] {
			j.opened[key] = true
			if err := j.dialect.commodity(p.currency); err != nil {
				return err
			}
		}
		if key := "account " + p.account; !j.opened[key] {
			j.opened[key] = true
			if err := j.dialect.open(e.date, p.account); err != nil {
				return err
			}
		}
	}
	return j.dialect.entry(e)
}

func (j *journal) End() error {
	if err := j.begun(""); err != nil {
		return err
	}
	return j.dialect.flush()
}

// oneLine makes blanks of all that ends a line or cannot be seen, and leaves no two in a row:
// two blanks end an account's name in some journals.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
			unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}), " ")
}
