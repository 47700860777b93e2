package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// ledgerModel is what is known of the ledger. The lock of the world guards it.
type ledgerModel struct {
	writes   map[string]*write // By key; reversals by reversalKey.
	order    []*write          // Those that were acknowledged, in that order.
	accounts map[client.AccountID]*accountModel
}

// accountModel is what is known of an account.
type accountModel struct {
	id       client.AccountID
	currency money.Currency
	user     client.UserID
	zone     string
	limit    int  // The largest overdraft that was ever asked for, in cents.
	sure     bool // Whether opening it was acknowledged.
	asked    bool // Whether it may have been opened though that was not acknowledged.
	changes  []*statusChange
}

// statusChange is an attempt to change the status of an account.
type statusChange struct {
	to client.AccountStatus
	outcome
}

// write is everything that was asked for under one key.
type write struct {
	key  string
	asks []*ask
	// answer is the first successful one.
	answer *client.Receipt
	at     time.Duration // When it had arrived.
	kind   string
	// reversals tells that somebody asked for its reversal.
	reversals bool
}

// ask is one body of a write's key.
type ask struct {
	body string
	// send sends it again.
	send func(context.Context, *caller) (client.Receipt, error)
	// fits reports how an entry differs from what was asked for.
	fits     func(client.Entry) error
	accounts []client.AccountID // Which must be usable.
	asked    int                // How many clients wait for an answer.
	doubt    bool               // It may have been done though no client was told.
	// uncertain tells that some call of it ended without a certain answer.
	uncertain bool
	done      bool // It was acknowledged.
	denied    []problem.Code
}

func reversalKey(id client.TransactionID) string { return "reversal of " + string(id) }

// currencyOf returns the currency of an account that was opened.
func (w *world) currencyOf(id client.AccountID) money.Currency {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.accounts[id].currency
}

// write returns the record of a key.
func (m *ledgerModel) write(kind, key string) *write {
	found := m.writes[key]
	if found == nil {
		found = &write{key: key, kind: kind}
		m.writes[key] = found
	}
	return found
}

// ask returns the record of a body.
func (x *write) ask(a *ask) *ask {
	for _, old := range x.asks {
		if old.body == a.body {
			return old
		}
	}
	x.asks = append(x.asks, a)
	return a
}

// unusable reports whether an account certainly could not be posted to at any time of a call.
func (a *accountModel) unusable(o outcome) (client.AccountStatus, bool) {
	for _, c := range a.changes {
		if c.to == client.AccountActive || !c.ok() || c.end > o.begin {
			continue
		}
		thawed := slices.ContainsFunc(a.changes, func(u *statusChange) bool {
			return u.to == client.AccountActive && !u.refused() &&
				(u.end > c.begin || u.doubt) && u.begin < o.end
		})
		if c.to == client.AccountClosed || !thawed {
			return c.to, true
		}
	}
	return "", false
}

// everAsked reports whether a status was ever asked for.
func (a *accountModel) everAsked(status client.AccountStatus) bool {
	return slices.ContainsFunc(a.changes, func(c *statusChange) bool { return c.to == status })
}

// legsOf tells the legs of an entry in one line, in a fixed order.
func legsOf(e client.Entry) string {
	var legs []string
	for _, l := range e.Legs {
		legs = append(legs, fmt.Sprintf("%s %s %s after %s version %d at %s id %s", l.Type,
			l.AccountID, l.Amount, l.BalanceAfter, l.AccountVersion,
			l.CreatedAt.Format(time.RFC3339Nano), l.ID))
	}
	slices.Sort(legs)
	return strings.Join(legs, "; ")
}

// told tells what of an entry never changes, in one line.
func told(e client.Entry) string {
	t := e.Transaction
	return fmt.Sprintf("%s key %q type %s merchant %q %q amount %s of %q at %s: %s", t.ID,
		t.IdempotencyKey, t.Type, t.MerchantID, t.Description, t.Amount, t.ReversalOf,
		t.CreatedAt.Format(time.RFC3339Nano), legsOf(e))
}

// moves returns a check that an entry has exactly these legs, such as "debit a0 5.00 USD".
func moves(want ...string) func(client.Entry) error {
	slices.Sort(want)
	return func(e client.Entry) error {
		var got []string
		for _, l := range e.Legs {
			got = append(got, fmt.Sprintf("%s %s %s", l.Type, l.AccountID, l.Amount))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("it has the legs %v, and %v were asked for", got, want)
		}
		return nil
	}
}
