package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// plain is the ledger as a textbook has it: balances in cents, and what was posted with each key.
type plain struct {
	accounts map[ledger.AccountID]*plainAccount
	posted   map[string]*plainPosting
	order    []*plainPosting
}

type plainAccount struct {
	currency money.Currency
	cents    int64
	limit    int64
	status   ledger.AccountStatus
	legs     int
}

type plainPosting struct {
	id       ledger.TransactionID
	request  string
	sides    []ledger.PostingLeg
	change   map[ledger.AccountID]int64
	legs     map[ledger.AccountID]int
	reversed bool
	reversal bool
}

// judge returns what should come of moving money, in the order of precedence.
func (m *plain) judge(
	legs []ledger.PostingLeg,
) (change map[ledger.AccountID]int64, code problem.Code) {
	change = map[ledger.AccountID]int64{}
	sum := map[money.Currency]int64{}
	for _, l := range legs {
		cents, _ := l.Amount.Minor()
		if l.Type == ledger.Debit {
			cents = -cents
		}
		change[l.AccountID] += cents
		sum[l.Amount.Currency()] += cents
	}
	rules := []struct {
		code problem.Code
		hold func(l ledger.PostingLeg, a *plainAccount) bool
	}{
		{"account_not_found", func(_ ledger.PostingLeg, a *plainAccount) bool { return a != nil }},
		{"currency_mismatch", func(l ledger.PostingLeg, a *plainAccount) bool {
			return l.Amount.Currency() == a.currency
		}},
		{"account_closed", func(_ ledger.PostingLeg, a *plainAccount) bool {
			return a.status != ledger.AccountClosed
		}},
		{"account_frozen", func(_ ledger.PostingLeg, a *plainAccount) bool {
			return a.status != ledger.AccountFrozen
		}},
		{"insufficient_funds", func(l ledger.PostingLeg, a *plainAccount) bool {
			c := change[l.AccountID]
			return c >= 0 || a.cents+c >= -a.limit
		}},
	}
	for _, s := range sum {
		if s != 0 {
			return nil, "transaction_unbalanced"
		}
	}
	for _, rule := range rules {
		for _, l := range legs {
			if !rule.hold(l, m.accounts[l.AccountID]) {
				return nil, rule.code
			}
		}
	}
	return change, "none"
}

func (m *plain) apply(p *plainPosting) {
	for id, cents := range p.change {
		m.accounts[id].cents += cents
	}
	for id, n := range p.legs {
		m.accounts[id].legs += n
	}
	m.order = append(m.order, p)
}

// world drives the ledger and the model with the same random requests.
type world struct {
	*books
	r     *rand.Rand
	model *plain
	ids   []ledger.AccountID
	keys  []string
	sent  map[string]ledger.Posting
}

func TestTheLedgerAndAPlainModelAgree(t *testing.T) {
	for round := range storetest.Rounds(4) {
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { agree(t, seed, 250, false) })
	}
}

// agree makes random requests of the ledger and of the model. With late indexes nothing of what is
// written shows in an index before all is done.
func agree(t *testing.T, seed uint64, steps int, late bool) {
	w := &world{
		books: openBooks(t, ledger.Options{StatusShards: int(seed%3) + 1}),
		r:     rand.New(rand.NewPCG(seed, 1)),
		model: &plain{
			accounts: map[ledger.AccountID]*plainAccount{}, posted: map[string]*plainPosting{},
		},
		sent: map[string]ledger.Posting{},
	}
	w.open()
	// Another process works on the same books, so that nothing remembered can be trusted.
	other := booksOn(t, w.db,
		ledger.Options{StatusShards: int(seed%3) + 1, Now: w.clock.Now})
	mine := w.Ledger
	if late {
		w.holdIndexes(seed)
		w.faces.settle, other.faces.settle = nil, nil
	}
	for step := range steps {
		if t.Failed() {
			t.Fatalf("seed %d, step %d", seed, step)
		}
		w.clock.Move(time.Duration(w.r.IntN(3)) * time.Hour)
		w.Ledger = mine
		if w.r.IntN(4) == 0 {
			w.Ledger = other.Ledger
		}
		switch w.r.IntN(12) {
		case 0:
			w.changeAccount()
		case 1, 2:
			w.reverse()
		default:
			w.postRandom()
		}
	}
	w.faces.settle, other.faces.settle = w.db.CatchUp, w.db.CatchUp
	w.compare()
}

func (w *world) open() {
	for i, currency := range []money.Currency{"USD", "USD", "USD", "USD", "NZD", "NZD"} {
		limit := int64(w.r.IntN(3) * 1000)
		amount, _ := money.FromMinor(limit, currency)
		id := accountID(i)
		_, err := w.OpenAccount(w.t.Context(), ledger.NewAccount{
			ID: id, UserID: "u", AccountType: "t", Currency: currency, OverdraftLimit: amount,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.ids = append(w.ids, id)
		w.model.accounts[id] = &plainAccount{
			currency: currency, limit: limit, status: ledger.AccountActive,
		}
	}
	for _, currency := range []money.Currency{"USD", "NZD"} {
		id := ledger.SystemAccount(ledger.Deposits, currency)
		w.ids = append(w.ids, id)
		w.model.accounts[id] = &plainAccount{
			currency: currency, limit: 1 << 60, status: ledger.AccountActive,
		}
	}
	w.ids = append(w.ids, "missing")
}

func (w *world) pick() ledger.AccountID { return w.ids[w.r.IntN(len(w.ids))] }

// randomLegs are mostly good and sometimes not.
func (w *world) randomLegs() (legs []ledger.PostingLeg) {
	for range 1 + w.r.IntN(3) {
		from, to := w.pick(), w.pick()
		if w.r.IntN(8) > 0 { // Mostly of one currency and not missing.
			for w.model.accounts[from] == nil {
				from = w.pick()
			}
			for w.model.accounts[to] == nil ||
				w.model.accounts[to].currency != w.model.accounts[from].currency {
				to = w.pick()
			}
		}
		currency := money.Currency("USD")
		if a := w.model.accounts[from]; a != nil {
			currency = a.currency
		}
		amount, _ := money.FromMinor(int64(1+w.r.IntN(2000)), currency)
		legs = append(legs,
			ledger.PostingLeg{AccountID: from, Type: ledger.Debit, Amount: amount},
			ledger.PostingLeg{AccountID: to, Type: ledger.Credit, Amount: amount})
	}
	if w.r.IntN(25) == 0 {
		amount, _ := money.FromMinor(1, "USD")
		legs = append(legs,
			ledger.PostingLeg{AccountID: w.pick(), Type: ledger.Debit, Amount: amount})
	}
	w.r.Shuffle(len(legs), func(i, j int) { legs[i], legs[j] = legs[j], legs[i] })
	return legs
}

func (w *world) postRandom() {
	key := fmt.Sprint("key#", w.r.Uint64())
	p := ledger.Posting{Type: ledger.Transfer, Legs: w.randomLegs()}
	if len(w.keys) > 0 && w.r.IntN(5) == 0 { // Again, or with another body.
		key = w.keys[w.r.IntN(len(w.keys))]
		if w.r.IntN(2) == 0 {
			p = w.sent[key]
		}
	}
	p.IdempotencyKey = key
	request := fmt.Sprint(p.Legs)
	change, want := w.model.judge(p.Legs)
	first := w.model.posted[key]
	if first != nil && want != "transaction_unbalanced" {
		want = "none"
		if first.request != request {
			want = "idempotency_conflict"
		}
	}
	r, err := w.Post(w.t.Context(), p)
	if got := code(err); got != want {
		w.t.Errorf("post %s: got %s (%v), want %s", request, got, err, want)
		return
	}
	if err != nil {
		return
	}
	if first != nil {
		if !r.Replayed || r.Transaction.ID != first.id {
			w.t.Errorf("a repeat is %+v", r)
		}
		return
	}
	if r.Replayed || len(r.Legs) != len(p.Legs) {
		w.t.Errorf("a new one is %+v", r)
	}
	made := &plainPosting{id: r.Transaction.ID, request: request, sides: p.Legs, change: change,
		legs: map[ledger.AccountID]int{}}
	for _, l := range p.Legs {
		made.legs[l.AccountID]++
	}
	w.model.posted[key] = made
	w.keys, w.sent[key] = append(w.keys, key), p
	w.model.apply(made)
}

func (w *world) reverse() {
	if len(w.model.order) == 0 {
		return
	}
	target := w.model.order[w.r.IntN(len(w.model.order))]
	back := &plainPosting{reversal: true, change: map[ledger.AccountID]int64{},
		legs: map[ledger.AccountID]int{}}
	var legs []ledger.PostingLeg
	for _, l := range target.sides {
		if l.Type == ledger.Debit {
			l.Type = ledger.Credit
		} else {
			l.Type = ledger.Debit
		}
		legs = append(legs, l)
		back.change[l.AccountID] = -target.change[l.AccountID]
		back.legs[l.AccountID]++
	}
	want := problem.Code("none")
	switch {
	case target.reversal:
		want = "transaction_is_reversal"
	case target.reversed:
	default:
		_, want = w.model.judge(legs)
	}
	r, err := w.Reverse(w.t.Context(), reversing(target.id))
	if got := code(err); got != want {
		w.t.Errorf("reverse %v: got %s (%v), want %s", target.change, got, err, want)
		return
	}
	if err == nil && r.Replayed != target.reversed {
		w.t.Errorf("reversed before: %v, replayed: %v", target.reversed, r.Replayed)
	}
	if err == nil && !target.reversed {
		target.reversed = true
		back.id = r.Transaction.ID
		w.model.apply(back)
	}
}

func (w *world) changeAccount() {
	id := accountID(w.r.IntN(6))
	a := w.model.accounts[id]
	ctx, want := w.t.Context(), problem.Code("none")
	var err error
	if a.status == ledger.AccountClosed {
		want = "account_closed"
	}
	switch kind := w.r.IntN(7); {
	case kind < 2:
		_, err = w.FreezeAccount(ctx, id)
		if want == "none" {
			a.status = ledger.AccountFrozen
		}
	case kind < 5:
		_, err = w.UnfreezeAccount(ctx, id)
		if want == "none" {
			a.status = ledger.AccountActive
		}
	case kind == 5:
		limit := int64(w.r.IntN(2000))
		amount, _ := money.FromMinor(limit, a.currency)
		_, err = w.SetOverdraft(ctx, id, amount, false)
		if want == "none" {
			a.limit = limit
		}
	case a.cents != 0:
		want = "account_not_empty"
		_, err = w.CloseAccount(ctx, id)
	default:
		want = "none"
		_, err = w.CloseAccount(ctx, id)
		a.status = ledger.AccountClosed
	}
	if got := code(err); got != want {
		w.t.Errorf("change %s: got %s (%v), want %s", id, got, err, want)
	}
}

// compare looks at everything once the dust has settled.
func (w *world) compare() {
	for id, want := range w.model.accounts {
		got, err := w.Account(w.t.Context(), id)
		if isProblem(err, ledger.ErrAccountNotFound) && want.legs == 0 {
			continue // A system account that was never used.
		}
		if err != nil {
			w.t.Fatal(err)
		}
		cents, err := got.Balance.Minor()
		if err != nil || cents != want.cents || got.Status != want.status ||
			got.Version != uint64(want.legs) {
			w.t.Errorf("%s is %+v, want %+v", id, got, want)
		}
		rows := consistent(w.t, w.pages(ledger.StatementQuery{
			AccountID: id, From: "2026-01-01", To: "2027-12-31", PageQuery: pagesOf(13),
		}, nil))
		if len(rows) != want.legs {
			w.t.Errorf("%s has %d rows, want %d", id, len(rows), want.legs)
		}
		floor, _ := money.FromMinor(-want.limit, want.currency)
		for _, row := range rows {
			if below, _ := row.BalanceAfter.Cmp(floor); below < 0 && want.limit == 0 &&
				row.Type == ledger.Debit && !w.hadLimit(id) {
				w.t.Errorf("%s was at %s", id, row.BalanceAfter)
			}
		}
	}
	r := w.sound()
	if r.Transactions != len(w.model.order) {
		w.t.Errorf("%d transactions, want %d", r.Transactions, len(w.model.order))
	}
}

// hadLimit tells whether an account may have had an overdraft limit at some time.
func (w *world) hadLimit(id ledger.AccountID) bool {
	a, err := w.Account(w.t.Context(), id)
	return err != nil || a.Revision > 1 || a.OverdraftLimit.Sign() > 0
}
