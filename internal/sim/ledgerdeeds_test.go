package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

var ledgerDeeds = map[string]deed{
	"post": post, "pay merchant": payMerchant, "deposit": deposit, "withdraw": withdraw,
	"exchange": exchange, "reverse": reverse, "repeat": repeat, "same key": postSameKey,
	"other body": postOtherBody, "open": openAccount, "freeze": freeze, "unfreeze": unfreeze,
	"key of the moment": postKeyOfTheMoment, "close": closeAccount, "overdraft": overdraft,
	"read key":          readKey,
	"list transactions": listTransactions, "list legs": listLegs, "statement": statement,
	"reconcile": reconcileNow, "balance": readAccount,
}

var ledgerTheme = []weight{
	{"post", 14}, {"pay merchant", 5}, {"deposit", 6}, {"withdraw", 4}, {"exchange", 4},
	{"reverse", 5}, {"repeat", 10}, {"same key", 10}, {"other body", 2}, {"open", 2}, {"freeze", 2},
	{"unfreeze", 4}, {"close", 1}, {"overdraft", 2}, {"read key", 4}, {"list transactions", 2},
	{"list legs", 2}, {"statement", 2}, {"reconcile", 1}, {"balance", 2},
}

// The accounts of each round: the first ones in dollars, the rest in another currency. Few, so that
// requests meet on them.
const (
	dollarAccounts = 5
	allAccounts    = 7
	merchantCount  = 2
)

func accountID(n int) client.AccountID {
	return client.AccountID(fmt.Sprintf("a%d", n%allAccounts))
}

// pair returns two different accounts of one currency.
func pair(a, b int) (from, to client.AccountID, currency money.Currency) {
	n := dollarAccounts
	first, currency := 0, money.Currency("USD")
	if a%5 == 0 {
		n, first, currency = allAccounts-dollarAccounts, dollarAccounts, "NZD"
	}
	x := a % n
	y := (x + 1 + b%(n-1)) % n
	return accountID(first + x), accountID(first + y), currency
}

func (w *world) setUpLedger(c *caller) error {
	for n := range allAccounts {
		if err := c.open(step{ID: -1 - n}, accountID(n), n); err != nil {
			return err
		}
	}
	for n := range merchantCount {
		_, err := c.CreateMerchant(w.ctx, client.NewMerchant{
			ID: client.MerchantID(fmt.Sprintf("m%d", n)), Name: "Merchant",
			SettlementAccountID: accountID(n),
		})
		if err != nil {
			return err
		}
	}
	for n := range allAccounts {
		c.deposit(step{ID: -100 - n, B: 20_000}, accountID(n), fmt.Sprintf("first of %d", n))
	}
	return w.failed()
}

func (c *caller) open(s step, id client.AccountID, n int) error {
	a := &accountModel{id: id, currency: "USD", user: client.UserID(fmt.Sprintf("u%d", n%2))}
	if n%allAccounts >= dollarAccounts {
		a.currency = "NZD"
	}
	if n%2 == 0 {
		a.zone = zone
	}
	if n%3 == 0 {
		a.limit = 5000
	}
	m := c.w.ledger
	c.w.mu.Lock()
	if m.accounts[id] == nil {
		m.accounts[id] = a
	}
	a = m.accounts[id]
	c.w.mu.Unlock()
	o := c.call(s, "open "+string(id), func(ctx context.Context) (string, error) {
		got, err := c.OpenAccount(ctx, client.NewAccount{
			ID: id, UserID: a.user, AccountType: "checking", Currency: a.currency, Zone: a.zone,
			OverdraftLimit: cents(a.limit, a.currency),
		})
		return string(got.ID), err
	})
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	a.sure = a.sure || o.ok()
	a.asked = a.asked || o.doubt
	return o.err
}

func openAccount(c *caller, s step) {
	_ = c.open(s, client.AccountID(fmt.Sprintf("b%d", s.A%10)), s.A%10)
}

// keyed makes a write that has a key, notes it, and compares its answer.
func (c *caller) keyed(s step, kind, key, body string, fits func(client.Entry) error,
	accounts []client.AccountID, send func(context.Context, *caller) (client.Receipt, error),
) {
	w, m := c.w, c.w.ledger
	w.mu.Lock()
	x := m.write(kind, key)
	a := x.ask(&ask{body: body, send: send, fits: fits, accounts: accounts})
	a.doubt = a.doubt || !a.done // Until the answer comes; a list may show it before that.
	a.asked++
	w.mu.Unlock()
	c.again(s, x, a)
}

// again sends a write that was noted.
func (c *caller) again(s step, x *write, a *ask) {
	w, m := c.w, c.w.ledger
	var got client.Receipt
	o := c.call(
		s,
		fmt.Sprintf("key %q %s", x.key, a.body),
		func(ctx context.Context) (string, error) {
			var err error
			got, err = a.send(ctx, c)
			if got.Replayed {
				return "the first transaction " + told(got.Entry), err
			}
			return "transaction " + told(got.Entry), err
		},
	)
	w.mu.Lock()
	a.asked--
	a.uncertain = a.uncertain || o.doubt
	if a.asked == 0 {
		a.doubt = a.uncertain
	}
	first, since, uncertain := x.answer, x.at, a.uncertain
	if o.ok() {
		a.done = true
		if x.answer == nil {
			x.answer, x.at = &got, o.end
			m.order = append(m.order, x)
		}
	} else if !o.doubt {
		a.denied = append(a.denied, o.code())
	}
	w.mu.Unlock()
	if !o.ok() {
		return
	}
	if err := a.fits(got.Entry); err != nil {
		w.fail("%v: key %q: the answer does not fit: %w", s, x.key, err)
	}
	if first != nil && told(first.Entry) != told(got.Entry) {
		w.fail("%v: key %q was answered\n  %s\nand then\n  %s", s, x.key, told(first.Entry),
			told(got.Entry))
	}
	if first != nil && !got.Replayed && since < o.begin {
		w.fail("%v: key %q was acknowledged already, and is new again", s, x.key)
	}
	if got.Replayed || uncertain {
		return
	}
	for _, id := range a.accounts {
		w.mu.Lock()
		status, bad := m.accounts[id].unusable(o)
		w.mu.Unlock()
		if bad {
			w.fail("%v: key %q was posted to account %s, which was %s before", s, x.key, id, status)
		}
	}
}

func (c *caller) transfer(s step, key string, a, b, n int) {
	from, to, currency := pair(a, b)
	amount := cents(1+n*7, currency)
	p := client.Posting{IdempotencyKey: key, Type: client.Transfer, From: from, To: to,
		Amount: amount, Description: "transfer"}
	c.keyed(s, "post", key, fmt.Sprintf("%s from %s to %s", amount, from, to),
		moves(fmt.Sprintf("debit %s %s", from, amount), fmt.Sprintf("credit %s %s", to, amount)),
		[]client.AccountID{from, to},
		func(ctx context.Context, c *caller) (client.Receipt, error) { return c.Post(ctx, p) })
}

func post(c *caller, s step) { c.transfer(s, fmt.Sprintf("p%d", s.ID), s.A, s.B, s.C) }

// sharedKeys is how many keys all clients share; each has one body.
const sharedKeys = 8

func postSameKey(c *caller, s step) {
	n := s.A % sharedKeys
	c.transfer(s, fmt.Sprintf("k%d", n), 1+n, n/2, 100+n)
}

// postKeyOfTheMoment posts with the key that other clients use at about the same time.
func postKeyOfTheMoment(c *caller, s step) {
	n := s.ID / 5
	c.transfer(s, fmt.Sprintf("moment %d", n), 1, n, 50+n%50)
}

func postOtherBody(c *caller, s step) {
	n := s.A % sharedKeys
	c.transfer(s, fmt.Sprintf("k%d", n), 1+n, n/2, 200+s.B%3)
}

func payMerchant(c *caller, s step) {
	from := accountID(2 + s.B%3)
	merchant := client.MerchantID(fmt.Sprintf("m%d", s.A%merchantCount))
	amount := cents(1+s.C, "USD")
	key := fmt.Sprintf("m%d", s.ID)
	p := client.Posting{IdempotencyKey: key, Type: client.Payment, From: from,
		MerchantID: merchant, Amount: amount}
	to := accountID(s.A % merchantCount)
	c.keyed(s, "pay", key, fmt.Sprintf("%s from %s to merchant %s", amount, from, merchant),
		moves(fmt.Sprintf("debit %s %s", from, amount), fmt.Sprintf("credit %s %s", to, amount)),
		[]client.AccountID{from, to},
		func(ctx context.Context, c *caller) (client.Receipt, error) { return c.Post(ctx, p) })
}

func (c *caller) deposit(s step, to client.AccountID, key string) {
	currency := c.w.currencyOf(to)
	amount := cents(1+s.B, currency)
	p := client.Posting{IdempotencyKey: key, Type: client.Deposit, To: to, Amount: amount}
	c.keyed(s, "deposit", key, fmt.Sprintf("%s to %s", amount, to),
		moves(fmt.Sprintf("debit @deposits-%s %s", currency, amount),
			fmt.Sprintf("credit %s %s", to, amount)),
		[]client.AccountID{to},
		func(ctx context.Context, c *caller) (client.Receipt, error) { return c.Post(ctx, p) })
}

func deposit(c *caller, s step) { c.deposit(s, accountID(s.A), fmt.Sprintf("d%d", s.ID)) }

func withdraw(c *caller, s step) {
	from := accountID(s.A)
	currency := c.w.currencyOf(from)
	amount := cents(1+s.B, currency)
	key := fmt.Sprintf("w%d", s.ID)
	p := client.Posting{IdempotencyKey: key, Type: client.Withdrawal, From: from, Amount: amount}
	c.keyed(s, "withdraw", key, fmt.Sprintf("%s from %s", amount, from),
		moves(fmt.Sprintf("credit @withdrawals-%s %s", currency, amount),
			fmt.Sprintf("debit %s %s", from, amount)),
		[]client.AccountID{from},
		func(ctx context.Context, c *caller) (client.Receipt, error) { return c.Post(ctx, p) })
}

func exchange(c *caller, s step) {
	from, to := accountID(s.A%dollarAccounts), accountID(dollarAccounts+s.B%2)
	sold := cents(1+s.C, "USD")
	bought := cents(2*(1+s.C), "NZD")
	key := fmt.Sprintf("x%d", s.ID)
	if s.A%3 == 0 {
		key = fmt.Sprintf("shared exchange %d", s.A%4)
		from, to = accountID(1), accountID(dollarAccounts)
		sold, bought = cents(300+s.A%4, "USD"), cents(2*(300+s.A%4), "NZD")
	}
	e := client.Exchanging{IdempotencyKey: key, From: from, To: to, Sold: sold,
		Rate: money.MustParse("2", "USD").Units()}
	c.keyed(s, "exchange", key, fmt.Sprintf("%s of %s into %s", sold, from, to),
		moves(fmt.Sprintf("debit %s %s", from, sold), fmt.Sprintf("credit @exchange-USD %s", sold),
			fmt.Sprintf("debit @exchange-NZD %s", bought), fmt.Sprintf("credit %s %s", to, bought)),
		[]client.AccountID{from, to},
		func(ctx context.Context, c *caller) (client.Receipt, error) { return c.Exchange(ctx, e) })
}

// acknowledged returns one of the writes that were acknowledged, or nil.
func (w *world) acknowledged(n int) *write {
	w.mu.Lock()
	defer w.mu.Unlock()
	order := w.ledger.order
	if len(order) == 0 {
		return nil
	}
	return order[n%len(order)]
}

func reverse(c *caller, s step) {
	x := c.w.acknowledged(s.A)
	if x == nil {
		return
	}
	id := x.answer.Transaction.ID
	var want []string
	for _, l := range x.answer.Legs {
		back := client.Debit
		if l.Type == client.Debit {
			back = client.Credit
		}
		want = append(want, fmt.Sprintf("%s %s %s", back, l.AccountID, l.Amount))
	}
	c.w.mu.Lock()
	x.reversals = true
	c.w.mu.Unlock()
	c.keyed(s, "reverse", reversalKey(id), "reversal", moves(want...), nil,
		func(ctx context.Context, c *caller) (client.Receipt, error) {
			return c.Reverse(ctx, client.Reversing{TransactionID: id})
		})
}

func repeat(c *caller, s step) {
	x := c.w.acknowledged(s.A)
	if x == nil {
		return
	}
	c.w.mu.Lock()
	a := x.asks[slices.IndexFunc(x.asks, func(a *ask) bool { return a.done })]
	a.asked++
	c.w.mu.Unlock()
	c.again(s, x, a)
}

func (c *caller) changeStatus(s step, id client.AccountID, to client.AccountStatus,
	f func(context.Context, client.AccountID) (client.Account, error),
) {
	c.w.mu.Lock()
	a := c.w.ledger.accounts[id]
	change := &statusChange{to: to, outcome: outcome{begin: time.Since(c.w.began),
		end: forever, err: client.ErrNoAnswer, doubt: true}}
	a.changes = append(a.changes, change)
	c.w.mu.Unlock()
	o := c.call(s, fmt.Sprintf("%s becomes %s", id, to), func(ctx context.Context) (string, error) {
		got, err := f(ctx, id)
		return fmt.Sprintf("%s %s", got.ID, got.Status), err
	})
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	change.outcome = o
}

// forever is later than anything that happens in a round.
const forever = 1 << 62

func freeze(c *caller, s step) {
	c.changeStatus(s, accountID(s.A), client.AccountFrozen, c.FreezeAccount)
}

func unfreeze(c *caller, s step) {
	c.changeStatus(s, accountID(s.A), client.AccountActive, c.UnfreezeAccount)
}

func closeAccount(c *caller, s step) {
	c.changeStatus(s, accountID(s.A), client.AccountClosed, c.CloseAccount)
}

func overdraft(c *caller, s step) {
	limit := s.B * 20
	c.w.mu.Lock()
	a := c.w.ledger.accounts[accountID(s.A)]
	a.limit = max(a.limit, limit)
	c.w.mu.Unlock()
	c.call(s, fmt.Sprintf("%s may have %d below zero", a.id, limit),
		func(ctx context.Context) (string, error) {
			got, err := c.SetOverdraft(ctx, a.id, cents(limit, a.currency), false)
			return got.OverdraftLimit.String(), err
		})
}

// problems of a refusal that need a reason which the model knows of.
var needsReason = map[problem.Code]func(*world, *ask, *write) bool{
	"account_frozen": func(w *world, a *ask, x *write) bool {
		return anyAccount(w, a, client.AccountFrozen)
	},
	"account_closed": func(w *world, a *ask, x *write) bool {
		return anyAccount(w, a, client.AccountClosed)
	},
	"idempotency_conflict": func(w *world, a *ask, x *write) bool { return len(x.asks) > 1 },
}

func anyAccount(w *world, a *ask, status client.AccountStatus) bool {
	return a.accounts == nil || slices.ContainsFunc(a.accounts, func(id client.AccountID) bool {
		return w.ledger.accounts[id].everAsked(status)
	})
}
