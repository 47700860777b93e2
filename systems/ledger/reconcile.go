package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// Bounds of a reconciliation.
const (
	// FindingsDefault is how many divergences are listed by default.
	FindingsDefault = 100
	// FindingsMax bounds the divergences of one list, because cursors carry them.
	FindingsMax = 1000
	// settleTime is how long a posting may take from its instant until every reader sees it. What
	// an index lacks of younger items, and sums that change during the run, decide nothing.
	settleTime = time.Minute
)

// ReconcileQuery asks whether the books are right: all of them, or the transactions of calendar
// days. The days begin in the ledger's zone.
type ReconcileQuery struct {
	// From and To are the first and the last day. An empty day leaves that end open.
	From, To Date
	// Skip and Limit choose the divergences that are listed: Limit of them, after the first Skip.
	// 0 means FindingsDefault, at most FindingsMax. All are counted. Their order is that of
	// the pages of the store, so the parts of two runs fit together only if its pages end alike,
	// as those of the embedded store do.
	Skip, Limit int
	// Cursor continues an earlier run of the same query, from the Cursor of its last progress.
	Cursor string
	// Progress, if set, is called after each page, by the goroutine of the caller.
	Progress func(ReconcileProgress)

	page int // items of a page, for tests; 0 means reconcilePage
}

// ReconcileProgress is how far a reconciliation has come.
type ReconcileProgress struct {
	// Step is the part of the run: table, GSI1, GSI2, and, if these disagree, locate and recount.
	Step                                string
	Items, Transactions, Legs, Accounts int
	Found                               int
	// Cursor lets another run continue from here.
	Cursor string
}

// Reconciliation is the result of a check of the books.
type Reconciliation struct {
	From, To Date
	// Until is the instant that the sums are pinned to: the end of the days, or the beginning of
	// the run if that was earlier. What is posted later changes none of them.
	Until time.Time
	// Items counts all items of the table; Others those that are not the ledger's, which were not
	// looked at.
	Items, Others                int
	Transactions, Legs, Accounts int
	// Totals has one entry for each currency, by its code. Amounts without a currency are in none
	// of them: they are divergences.
	Totals []CurrencyTotal
	// Divergences are those that the query asked to list, in the order in which they were met;
	// Found counts all.
	Divergences []Divergence
	Found       int
	// Undecided lists what could not be compared, and why; Open counts all. Run the check again.
	Undecided []Divergence
	Open      int
}

// Verdict is the result of a reconciliation.
type Verdict string

// The verdicts.
const (
	// VerdictBalanced means that everything was compared and nothing diverges.
	VerdictBalanced Verdict = "balanced"
	// VerdictDiverges means that something diverges.
	VerdictDiverges Verdict = "diverges"
	// VerdictUndecided means that nothing was found, but not everything could be compared.
	VerdictUndecided Verdict = "undecided"
)

// Verdict returns the verdict.
func (r Reconciliation) Verdict() Verdict {
	switch {
	case r.Found > 0:
		return VerdictDiverges
	case r.Open > 0:
		return VerdictUndecided
	}
	return VerdictBalanced
}

// Balanced reports whether everything was compared and nothing diverges.
func (r Reconciliation) Balanced() bool { return r.Verdict() == VerdictBalanced }

// CurrencyTotal sums up one currency.
type CurrencyTotal struct {
	Currency money.Currency
	// Debits and Credits are the sums of all legs of the days.
	Debits, Credits money.Amount
	// Balances is the sum of all balances at the end of the days, those of the ledger's own
	// accounts included.
	Balances money.Amount
	// Beyond means that a sum has more than 38 digits. It is not given in full then; it is compared
	// all the same.
	Beyond bool
}

// DivergenceKind is the kind of a divergence.
type DivergenceKind string

// What can be wrong. In each kind Want is what should be there, and Got what is.
const (
	// ItemUnreadable is an item that cannot be understood. Nothing that depends on it is known.
	ItemUnreadable DivergenceKind = "item_unreadable"
	// ItemWrong is an item with an attribute that is missing, or differs from the item's key.
	ItemWrong DivergenceKind = "item_wrong"
	// IndexWrong is an item whose index keys are missing or are not those of its values, so that
	// no pattern finds it there.
	IndexWrong DivergenceKind = "index_wrong"
	// IndexMissing is an item that an index lacks.
	IndexMissing DivergenceKind = "index_missing"
	// IndexStale is an entry of an index that is not so in the table.
	IndexStale DivergenceKind = "index_stale"
	// HeaderMissing is a transaction of which there are only legs.
	HeaderMissing DivergenceKind = "header_missing"
	// LegsMissing is a completed transaction without legs.
	LegsMissing DivergenceKind = "legs_missing"
	// TransactionUnbalanced has debits as Want and credits as Got.
	TransactionUnbalanced DivergenceKind = "transaction_unbalanced"
	// AmountWrong is a header whose amount is not the sum of the debits.
	AmountWrong DivergenceKind = "amount_wrong"
	// StatusWrong is a transaction that has moved money and is neither completed nor reversed.
	StatusWrong DivergenceKind = "status_wrong"
	// TimeWrong is a leg, or an account, whose time is not that of its transaction.
	TimeWrong DivergenceKind = "time_wrong"
	// NotLinked is a reversal and its original that do not name each other.
	NotLinked DivergenceKind = "not_linked"
	// MerchantMissing is a merchant that a transaction or the record of a request names and that
	// is not in the table.
	MerchantMissing DivergenceKind = "merchant_missing"
	// VersionGap is a leg that does not follow the one before it on its account.
	VersionGap DivergenceKind = "version_gap"
	// BalanceAfterWrong is a leg whose balance is not the one before and its amount.
	BalanceAfterWrong DivergenceKind = "balance_after_wrong"
	// CurrencyWrong is a leg in another currency than its account.
	CurrencyWrong DivergenceKind = "currency_wrong"
	// BalanceWrong is an account whose stored balance is not that after its last leg.
	BalanceWrong DivergenceKind = "balance_wrong"
	// AccountWrong is an account with a state that no account can have.
	AccountWrong DivergenceKind = "account_wrong"
	// AccountMissing is an account that the directory, a leg or the record of a request names and
	// that is not in the table.
	AccountMissing DivergenceKind = "account_missing"
	// RequestMissing is an account or a merchant whose record of its request is not in the table or
	// names another one, so that the idempotency key could be used again.
	RequestMissing DivergenceKind = "request_missing"
	// AccountUnlisted is an account that the directory lacks.
	AccountUnlisted DivergenceKind = "account_unlisted"
	// TotalsDiffer is a currency whose debits and credits differ.
	TotalsDiffer DivergenceKind = "totals_differ"
	// BalancesNotZero is a currency whose balances do not sum to zero.
	BalancesNotZero DivergenceKind = "balances_not_zero"
)

// What can be undecided.
const (
	// IndexBehind is an index that lacks an item, which is so young that the index may follow yet.
	IndexBehind DivergenceKind = "index_behind"
	// StillMoving is a sum that changed while it was worked out.
	StillMoving DivergenceKind = "still_moving"
)

// Divergence is one thing that is not as it should be.
type Divergence struct {
	Kind          DivergenceKind
	TransactionID TransactionID  `json:",omitempty"`
	AccountID     AccountID      `json:",omitempty"`
	LegID         LegID          `json:",omitempty"`
	Currency      money.Currency `json:",omitempty"`
	// Entry is the primary key of the item, its partition key and its sort key.
	Entry     string `json:",omitempty"`
	Want, Got string
}

// String returns the divergence in one line.
func (d Divergence) String() string {
	var where []string
	for _, part := range [...]string{
		string(d.TransactionID), string(d.AccountID), string(d.LegID), string(d.Currency),
	} {
		if part != "" {
			where = append(where, part)
		}
	}
	if len(where) == 0 {
		where = append(where, d.Entry)
	}
	return fmt.Sprintf("%s: %s: want %s, got %s", d.Kind, strings.Join(where, " "), d.Want, d.Got)
}

// Reconcile checks the books. It reads the whole table once, consistently, and compares in it each
// transaction's header with its legs, both ways; each leg, and each entry of the directory, with
// its account; each account with its entry in the directory; each reversal with its original; and
// the index keys of each item with its values. For each account it follows all legs through GSI1,
// from the first to the last, and compares the stored balance with them. Then it reads both indexes
// once, and compares the sums of what they hold with those of the table. It keeps no more in memory
// than some pages and the sums, however many transactions there are.
//
// Days choose which transactions are counted and whose divergences are reported; what cannot be
// dated, and what concerns an account as a whole, is always reported. Where the balances do not sum
// to zero, divergences of all days are.
//
// Postings may go on. The sums are pinned to an instant. What was seen in one place and not in
// another is looked up again, one by one, before it counts. What still cannot be decided is listed
// as Undecided, and the books do not count as balanced.
//
// A divergence is no error: errors are those of the request and of the store.
func (l *Ledger) Reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	r, err := l.newReconciler(q)
	if err != nil {
		return Reconciliation{}, err
	}
	if r.design, err = l.auditDesign(ctx); err != nil {
		return Reconciliation{}, err
	}
	for r.state.Step != stepDone {
		if err := r.step(ctx); err != nil {
			return Reconciliation{}, err
		}
	}
	return r.result(), nil
}

// step carries out the next step of the state.
func (r *reconciler) step(ctx context.Context) error {
	switch r.state.Step {
	case stepTable:
		return r.scan(ctx, "", r.tablePage)
	case stepGSI1, stepGSI2:
		return r.scan(ctx, r.state.Step, r.indexPage)
	case stepLocate:
		return r.scan(ctx, "", r.locateInIndexes)
	case stepLocate1:
		return r.scan(ctx, indexGSI1, r.locateInTable)
	case stepLocate2:
		return r.scan(ctx, indexGSI2, r.locateInTable)
	case stepRecount:
		return r.scan(ctx, "", r.recountPage)
	}
	return ErrInvalidCursor.New()
}

// next returns the step after one that is done.
func (r *reconciler) next() string {
	s := &r.state
	switch s.Step {
	case stepTable:
		return stepGSI1
	case stepGSI1:
		return stepGSI2
	case stepGSI2:
		if s.differs() {
			return stepLocate
		}
	case stepLocate:
		return stepLocate1
	case stepLocate1:
		return stepLocate2
	case stepRecount:
		return stepDone
	}
	// Sums that are not zero need no second look where something is wrong already.
	if s.Found == 0 && s.unbalanced() {
		return stepRecount
	}
	return stepDone
}

// newReconciler checks a query and begins a run, or continues one.
func (l *Ledger) newReconciler(q ReconcileQuery) (*reconciler, error) {
	r := &reconciler{Ledger: l, query: q}
	var wrong problem.Fields
	if q.Skip < 0 {
		wrong.Add("skip", "must not be negative")
	}
	if q.Limit < 0 || q.Limit > FindingsMax {
		wrong.Addf("limit", "must be from 1 to %d", FindingsMax)
	}
	if q.Limit == 0 {
		r.query.Limit = FindingsDefault
	}
	if q.page == 0 {
		r.query.page = reconcilePage
	}
	var ok bool
	if q.From != "" {
		if r.from, ok = q.From.start(l.opts.Zone); !ok {
			wrong.Add("from", "must be a day such as 2026-01-31")
		}
		r.from = storable(r.from)
	}
	if q.To != "" {
		end, ok := q.To.next(l.opts.Zone)
		if !ok {
			wrong.Add("to", "must be a day such as 2026-01-31")
		}
		end = storable(end)
		r.end = &end
	}
	if len(wrong) == 0 && r.end != nil && !r.from.Before(*r.end) {
		wrong.Add("to", "must not be before from")
	}
	if err := wrong.Err(ErrInvalidRequest); err != nil {
		return nil, err
	}
	return r, r.begin()
}

// result puts together what the run has found out.
func (r *reconciler) result() Reconciliation {
	s := &r.state
	out := Reconciliation{
		From: s.From, To: s.To, Until: s.Until, Items: s.Items, Others: s.Others,
		Transactions: s.Transactions, Legs: s.Legs, Accounts: s.Accounts,
	}
	for currency, sums := range s.Sums {
		total := CurrencyTotal{Currency: currency}
		for _, part := range [...]struct {
			from *exact
			to   *money.Amount
		}{
			{&sums.Debits, &total.Debits}, {&sums.Credits, &total.Credits},
			{&sums.Balances, &total.Balances},
		} {
			amount, fits := part.from.amount(currency)
			*part.to = amount
			total.Beyond = total.Beyond || !fits
		}
		out.Totals = append(out.Totals, total)
	}
	slices.SortFunc(out.Totals, func(a, b CurrencyTotal) int {
		return strings.Compare(string(a.Currency), string(b.Currency))
	})
	for _, t := range out.Totals {
		r.compareTotals(t)
	}
	// A leg without a currency is a divergence and the total of no currency.
	out.Totals = slices.DeleteFunc(out.Totals, func(t CurrencyTotal) bool {
		return t.Currency == ""
	})
	out.Divergences, out.Found = s.Divergences, s.Found
	out.Undecided, out.Open = s.Undecided, s.Open
	return out
}

// compareTotals judges the sums of a currency, once both walks are done.
func (r *reconciler) compareTotals(t CurrencyTotal) {
	s, sums := &r.state, r.state.Sums[t.Currency]
	if d := sums.Debits.minus(&sums.Credits); d != "0" {
		s.found(r.query, Divergence{Kind: TotalsDiffer, Currency: t.Currency,
			Want: sums.Debits.String() + " debit", Got: sums.Credits.String() + " credit"})
	}
	total := sums.Balances.String()
	if total == "0" {
		return
	}
	zero := t.Balances.Currency()
	d := Divergence{Kind: BalancesNotZero, Currency: t.Currency, Want: amountOf(
		money.Decimal{}, t.Currency).Text(), Got: total}
	if zero != "" && !t.Beyond {
		d.Got = t.Balances.Text()
	}
	if s.Found == 0 && !s.Closed && s.First[t.Currency] != total {
		d.Kind = StillMoving
		s.undecided(d)
		return
	}
	// What is wrong on other days explains it.
	for _, other := range s.Elsewhere {
		s.found(r.query, other)
	}
	s.Elsewhere = nil
	s.found(r.query, d)
}
