package sim

import (
	"fmt"
	"slices"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// minor returns an amount in cents.
func minor(a money.Amount) int64 {
	n, err := a.Minor()
	if err != nil {
		panic(err) // Amounts here are small.
	}
	return n
}

// addsUp reports where legs, the oldest first, do not follow from one another.
func addsUp(legs []client.Leg, balance int64) error {
	for i, l := range legs {
		if l.Type == client.Debit {
			balance -= minor(l.Amount)
		} else {
			balance += minor(l.Amount)
		}
		if got := minor(l.BalanceAfter); got != balance {
			return fmt.Errorf("the balance after leg %d (%s) is %d, and the legs add up to %d",
				l.AccountVersion, l.ID, got, balance)
		}
		if i > 0 && l.AccountVersion != legs[i-1].AccountVersion+1 {
			return fmt.Errorf("leg %d follows leg %d", l.AccountVersion, legs[i-1].AccountVersion)
		}
		if i > 0 && l.CreatedAt.Before(legs[i-1].CreatedAt) {
			return fmt.Errorf("leg %d is older than the one before", l.AccountVersion)
		}
	}
	return nil
}

// compareLedger compares the ledger with what was asked for and answered, when all is quiet.
func (w *world) compareLedger(c *caller, entries map[client.TransactionID]*stored) error {
	for _, x := range w.sortedWrites() {
		if err := w.compareWrite(c, x, entries); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if !e.known {
			return fmt.Errorf("there is a transaction that no client asked for: %s", told(e.Entry))
		}
	}
	if err := w.compareAccounts(c, entries); err != nil {
		return err
	}
	if err := w.compareLedgerLists(c, entries); err != nil {
		return err
	}
	return w.compareReconciliation(c, len(entries))
}

// stored is a transaction of the store, and whether the model knows where it came from.
type stored struct {
	client.Entry
	known bool
}

// readEntries reads all transactions with their legs, by the lists.
func (w *world) readEntries(c *caller) (map[client.TransactionID]*stored, error) {
	found := map[client.TransactionID]*stored{}
	for _, status := range []client.TransactionStatus{client.Completed, client.Reversed} {
		q := client.StatusQuery{Status: status, PageQuery: client.PageQuery{Limit: 100}}
		for t, err := range c.AllTransactionsByStatus(w.ctx, q) {
			if err != nil {
				return nil, cannotTell("list transactions", err)
			}
			if found[t.ID] != nil {
				return nil, fmt.Errorf("transaction %s is in the lists twice", t.ID)
			}
			e, err := c.Entry(w.ctx, t.ID)
			if err != nil {
				return nil, fmt.Errorf(
					"transaction %s is in a list and cannot be read: %w",
					t.ID,
					err,
				)
			}
			if e.Transaction.Status != status {
				return nil, fmt.Errorf(
					"transaction %s is in the list of those that are %s and is %s",
					t.ID,
					status,
					e.Transaction.Status,
				)
			}
			found[t.ID] = &stored{Entry: e}
		}
	}
	return found, nil
}

func (w *world) sortedWrites() []*write {
	var all []*write
	for _, x := range w.ledger.writes {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *write) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return all
}

// compareWrite compares everything that is known of one key with what is stored.
func (w *world) compareWrite(
	c *caller, x *write, entries map[client.TransactionID]*stored,
) error {
	var of []*stored
	for _, e := range entries {
		t := e.Transaction
		if x.kind == "reverse" && t.ReversalOf != "" && reversalKey(t.ReversalOf) == x.key ||
			x.kind != "reverse" && t.ReversalOf == "" && t.IdempotencyKey == x.key {
			e.known = true
			of = append(of, e)
		}
	}
	switch {
	case len(of) > 1:
		return fmt.Errorf("key %q has %d transactions: %s and %s", x.key, len(of),
			told(of[0].Entry), told(of[1].Entry))
	case len(of) == 0 && x.answer != nil:
		_, err := c.Entry(w.ctx, x.answer.Transaction.ID)
		return fmt.Errorf("key %q was acknowledged at %v and is not there: %s (read by its id: %w)",
			x.key, x.at, told(x.answer.Entry), err)
	case len(of) == 1 && x.answer != nil && told(of[0].Entry) != told(x.answer.Entry):
		return fmt.Errorf("key %q was acknowledged as\n  %s\nand is\n  %s", x.key,
			told(x.answer.Entry), told(of[0].Entry))
	}
	if len(of) == 1 {
		if err := comesFrom(x, of[0]); err != nil {
			return err
		}
		if err := linked(of[0], entries); err != nil {
			return err
		}
	}
	return w.compareRefusals(x)
}

// comesFrom reports whether some body of a key may have made its transaction.
func comesFrom(x *write, e *stored) error {
	var err error
	for _, a := range x.asks {
		switch wrong := a.fits(e.Entry); {
		case wrong != nil:
			err = wrong
		case !a.done && !a.doubt:
			err = fmt.Errorf("its body %q was refused each time: %v", a.body, a.denied)
		default:
			return nil
		}
	}
	return fmt.Errorf("key %q left a trace, %s: %w", x.key, told(e.Entry), err)
}

// linked checks that a reversal and what it reverses point at each other.
func linked(e *stored, entries map[client.TransactionID]*stored) error {
	t := e.Transaction
	if t.ReversalOf != "" {
		other := entries[t.ReversalOf]
		if other == nil || other.Transaction.ReversedBy != t.ID {
			return fmt.Errorf("transaction %s is the reversal of %s, which does not say so", t.ID,
				t.ReversalOf)
		}
	}
	if (t.Status == client.Reversed) != (t.ReversedBy != "") {
		return fmt.Errorf("transaction %s is %s, and its reversal is %q", t.ID, t.Status,
			t.ReversedBy)
	}
	if t.ReversedBy != "" {
		other := entries[t.ReversedBy]
		if other == nil || other.Transaction.ReversalOf != t.ID {
			return fmt.Errorf("transaction %s is reversed by %s, which does not say so", t.ID,
				t.ReversedBy)
		}
	}
	return nil
}

// compareRefusals checks that each refusal had a reason.
func (w *world) compareRefusals(x *write) error {
	for _, a := range x.asks {
		for _, code := range a.denied {
			if reason := needsReason[code]; reason != nil && !reason(w, a, x) {
				return fmt.Errorf("key %q, %s, was refused with %s without a reason", x.key, a.body,
					code)
			}
			if impossible[code] {
				return fmt.Errorf("key %q, %s, was refused with %s", x.key, a.body, code)
			}
		}
	}
	return nil
}

// impossible are refusals that no request of a plan can meet.
var impossible = map[problem.Code]bool{
	"transaction_unbalanced": true, "account_not_found": true, "transaction_not_found": true,
	"merchant_not_found": true, "request_invalid": true, "account_exists": true,
	"joined_write_refused": true, "transaction_not_completed": false,
}

// compareAccounts compares balances, statements and lists with what the transactions add up to.
func (w *world) compareAccounts(c *caller, entries map[client.TransactionID]*stored) error {
	legs := map[client.AccountID][]client.Leg{}
	for _, e := range entries {
		for _, l := range e.Legs {
			legs[l.AccountID] = append(legs[l.AccountID], l)
		}
	}
	sums := map[money.Currency]int64{}
	listed := map[client.AccountID]bool{}
	owners := map[client.AccountID]client.UserID{}
	for a, err := range c.AllAccounts(w.ctx) {
		if err != nil {
			return cannotTell("list accounts", err)
		}
		if listed[a.ID] {
			return fmt.Errorf("account %s is listed twice", a.ID)
		}
		listed[a.ID] = true
		if a.UserID != "" {
			owners[a.ID] = a.UserID
		}
		of := legs[a.ID]
		slices.SortFunc(of, func(a, b client.Leg) int {
			return int(a.AccountVersion) - int(b.AccountVersion)
		})
		if err := w.compareAccount(c, a, of); err != nil {
			return fmt.Errorf("account %s: %w", a.ID, err)
		}
		sums[a.Balance.Currency()] += minor(a.Balance)
	}
	for currency, sum := range sums {
		if sum != 0 {
			return fmt.Errorf("the balances of %s add up to %d", currency, sum)
		}
	}
	for id, a := range w.ledger.accounts {
		if a.sure && !listed[id] {
			return fmt.Errorf("account %s was opened and is not in the list", id)
		}
	}
	for id := range legs {
		if !listed[id] {
			return fmt.Errorf("account %s has legs and is not in the list", id)
		}
	}
	return w.compareUsers(c, owners)
}

func (w *world) compareAccount(c *caller, a client.Account, legs []client.Leg) error {
	if len(legs) > 0 && legs[0].AccountVersion != 1 {
		return fmt.Errorf("its first leg is number %d", legs[0].AccountVersion)
	}
	if err := addsUp(legs, 0); err != nil {
		return err
	}
	sum := int64(0)
	if len(legs) > 0 {
		sum = minor(legs[len(legs)-1].BalanceAfter)
	}
	if sum != minor(a.Balance) || a.Version != uint64(len(legs)) {
		return fmt.Errorf("its balance is %s at version %d, and %d legs add up to %d", a.Balance,
			a.Version, len(legs), sum)
	}
	var listed []client.Leg
	for l, err := range c.AllLegsOfAccount(w.ctx, a.ID) {
		if err != nil {
			return cannotTell("list legs", err)
		}
		listed = append(listed, l)
	}
	slices.Reverse(listed)
	if !slices.Equal(listed, legs) {
		return fmt.Errorf(
			"its list has the legs\n  %v\nand its transactions have\n  %v",
			listed,
			legs,
		)
	}
	m := w.ledger.accounts[a.ID]
	if m == nil {
		if a.UserID != "" {
			return fmt.Errorf("no client asked for it")
		}
		return nil
	}
	if !m.sure && !m.asked {
		return fmt.Errorf("opening it was refused each time")
	}
	for _, l := range legs {
		if l.Type == client.Debit && minor(l.BalanceAfter) < -int64(m.limit) {
			return fmt.Errorf("leg %d leaves it at %s, and its overdraft was never more than %d",
				l.AccountVersion, l.BalanceAfter, m.limit)
		}
	}
	return m.compareStatus(a)
}

// compareStatus checks the status of an account against the changes that were asked for.
func (m *accountModel) compareStatus(a client.Account) error {
	possible := map[client.AccountStatus]bool{}
	all := append([]*statusChange{{to: client.AccountActive}}, m.changes...)
	for _, c := range all {
		if c.refused() {
			continue
		}
		// Nothing that was acknowledged began after it had ended.
		later := slices.ContainsFunc(m.changes, func(o *statusChange) bool {
			return o.ok() && !c.doubt && o.begin > c.end
		})
		possible[c.to] = possible[c.to] || !later
		if c.to == client.AccountClosed && c.ok() && a.Status != client.AccountClosed {
			return fmt.Errorf("it was closed and is %s", a.Status)
		}
	}
	if !possible[a.Status] {
		return fmt.Errorf("its status is %s, which none of %d changes can have left", a.Status,
			len(m.changes))
	}
	return nil
}

// compareUsers checks that each account is in the list of its user, and in no other one.
func (w *world) compareUsers(c *caller, owners map[client.AccountID]client.UserID) error {
	listed := map[client.AccountID]client.UserID{}
	for _, user := range []client.UserID{"u0", "u1"} {
		for a, err := range c.AllAccountsOfUser(w.ctx, user) {
			if err != nil {
				return cannotTell("list accounts of a user", err)
			}
			if listed[a.ID] != "" {
				return fmt.Errorf("account %s is twice in the lists of users", a.ID)
			}
			listed[a.ID] = user
			if owners[a.ID] != user {
				return fmt.Errorf("account %s of user %q is in the list of %q", a.ID, owners[a.ID],
					user)
			}
		}
	}
	for id, user := range owners {
		if listed[id] != user {
			return fmt.Errorf("account %s of user %q is not in that user's list", id, user)
		}
	}
	for id, a := range w.ledger.accounts {
		if got := listed[id]; a.sure && got != a.user {
			return fmt.Errorf("account %s is in the list of user %q, not of %q", id, got, a.user)
		}
	}
	return nil
}

// compareReconciliation checks that the product's own check agrees.
func (w *world) compareReconciliation(c *caller, transactions int) error {
	got, err := c.Reconcile(w.ctx, client.ReconcileQuery{From: firstDay, To: lastDay})
	if err != nil {
		return cannotTell("reconcile", err)
	}
	if !got.Balanced || got.Found != 0 {
		return fmt.Errorf("the books are right, and the reconciliation found %+v", got)
	}
	if got.Transactions != transactions {
		return fmt.Errorf("the reconciliation looked at %d transactions of %d", got.Transactions,
			transactions)
	}
	return nil
}
