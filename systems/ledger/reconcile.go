package ledger

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// Bounds of a reconciliation.
const (
	// divergencesMax bounds the findings that are listed. Whoever has more has one cause.
	divergencesMax = 100
	// reconcileFanout is how many transactions or accounts are read at the same time.
	reconcileFanout = 8
	// settleTime is how long after its instant a posting may still be on its way. The totals of
	// days that ended earlier must agree; those of younger ones may not yet.
	settleTime = time.Minute
)

// ReconcileQuery asks whether the books are right over calendar days, both included.
type ReconcileQuery struct {
	From, To Date
	// Cursor continues an earlier run over the same days, from the Cursor of its last progress.
	Cursor string
	// Progress, if set, is called after each page, by the goroutine of the caller.
	Progress func(ReconcileProgress)
}

// ReconcileProgress tells how far a reconciliation has come.
type ReconcileProgress struct {
	Transactions, Legs, Accounts, Found int
	// Cursor lets another run continue from here.
	Cursor string
}

// Reconciliation is the outcome.
type Reconciliation struct {
	From, To Date
	// Until is the instant before which transactions were looked at: the end of the days, or the
	// beginning of the run if that was earlier.
	Until                        time.Time
	Transactions, Legs, Accounts int
	// Totals has one entry for each currency, by its code.
	Totals []CurrencyTotal
	// Divergences are the first findings, in the order in which they were met; Found counts all.
	Divergences []Divergence
	Found       int
	// Moving tells that postings went on while the books were read, so that totals could not be
	// compared. Run it again, or over days that are past.
	Moving bool
}

// Balanced tells that nothing diverges.
func (r Reconciliation) Balanced() bool { return r.Found == 0 }

// CurrencyTotal sums up one currency.
type CurrencyTotal struct {
	Currency money.Currency
	// Debits and Credits are the sums of all legs of the days.
	Debits, Credits money.Amount
	// Balances is the sum of all balances at the end of the days, those of the ledger's own
	// accounts included.
	Balances money.Amount
	// Beyond tells that the sums have more than 38 digits. They are not given in full then, and not
	// compared.
	Beyond bool
}

// DivergenceKind says what is wrong.
type DivergenceKind string

// What can be wrong. In each kind Want is what should be there, and Got what is.
const (
	// TransactionMissing is a header in an index that is not in the table.
	TransactionMissing DivergenceKind = "transaction_missing"
	// TransactionUnbalanced has debits as Want and credits as Got.
	TransactionUnbalanced DivergenceKind = "transaction_unbalanced"
	// AmountWrong is a header whose amount is not the sum of the debits.
	AmountWrong DivergenceKind = "amount_wrong"
	// NotLinked is a transaction with the status reversed that names no reversal.
	NotLinked DivergenceKind = "not_linked"
	// VersionGap is a leg that does not follow the one before it on its account.
	VersionGap DivergenceKind = "version_gap"
	// BalanceAfterWrong is a leg whose balance is not the one before and its amount.
	BalanceAfterWrong DivergenceKind = "balance_after_wrong"
	// BalanceWrong is an account whose stored balance is not that after its last leg.
	BalanceWrong DivergenceKind = "balance_wrong"
	// AccountMissing is an account in the directory that is not in the table.
	AccountMissing DivergenceKind = "account_missing"
	// TotalsDiffer has the sums of the legs of all transactions as Want, and those of the legs of
	// all accounts as Got.
	TotalsDiffer DivergenceKind = "totals_differ"
	// BalancesNotZero is a currency whose balances do not sum to zero.
	BalancesNotZero DivergenceKind = "balances_not_zero"
)

// Divergence is one thing that is not as it should be.
type Divergence struct {
	Kind          DivergenceKind
	TransactionID TransactionID  `json:",omitempty"`
	AccountID     AccountID      `json:",omitempty"`
	LegID         LegID          `json:",omitempty"`
	Currency      money.Currency `json:",omitempty"`
	Want, Got     string
}

// String tells the divergence in one line.
func (d Divergence) String() string {
	var where []string
	for _, part := range [...]string{
		string(d.TransactionID), string(d.AccountID), string(d.LegID), string(d.Currency),
	} {
		if part != "" {
			where = append(where, part)
		}
	}
	return fmt.Sprintf("%s: %s: want %s, got %s", d.Kind, strings.Join(where, " "), d.Want, d.Got)
}

// Reconcile checks the books over calendar days. It walks the transactions by status and time, and
// compares debits and credits of each; then it walks all accounts, and checks that the legs of the
// days follow one another without a gap from the leg before them, that each balance is the one
// before and the leg, and that the stored balance is that after the newest leg of all. At last it
// compares both walks, and sums up the balances. It keeps no more in memory than a page of either
// and the sums, however many transactions there are.
//
// A divergence is no error: errors are those of the request and of the store.
func (l *Ledger) Reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	from, until, err := days(q.From, q.To, l.opts.Zone)
	if err != nil {
		return Reconciliation{}, err
	}
	r := &reconciler{Ledger: l, query: q, from: from}
	if err := r.begin(until); err != nil {
		return Reconciliation{}, err
	}
	for _, status := range [...]TransactionStatus{Completed, Reversed} {
		if err := r.walkTransactions(ctx, status); err != nil {
			return Reconciliation{}, err
		}
	}
	if err := r.walkAccounts(ctx); err != nil {
		return Reconciliation{}, err
	}
	return r.finish(), nil
}

// reconciler is a run. Its state is all that another run needs to continue.
type reconciler struct {
	*Ledger
	query ReconcileQuery
	from  time.Time
	state reconcileState
}

// The steps of a run.
const (
	stepCompleted = "completed"
	stepReversed  = "reversed"
	stepAccounts  = "accounts"
)

type reconcileState struct {
	From, To Date
	Until    time.Time
	Closed   bool // The days had ended when the run began.
	Step     string
	Page     string // The cursor of the next page of the step.

	Transactions, Legs, Accounts, Found int

	Sums        map[money.Currency]*currencySums
	Divergences []Divergence
}

// currencySums holds the sums of one currency: as the transactions have them, as the accounts have
// them, and of the balances.
type currencySums struct {
	Debits, Credits, AccountDebits, AccountCredits, Balances money.Amount
	Legs, AccountLegs                                        int
	Beyond                                                   bool
}

// begin starts a run, or continues one.
func (r *reconciler) begin(until time.Time) error {
	if r.query.Cursor == "" {
		now := instant(r.opts.Now())
		r.state = reconcileState{
			From: r.query.From, To: r.query.To, Until: until, Step: stepCompleted,
			Closed: !until.After(now.Add(-settleTime)),
			Sums:   map[money.Currency]*currencySums{},
		}
		// A leg of this very millisecond belongs to the run: who posts and then asks means it.
		if ceiling := now.Add(time.Millisecond); until.After(ceiling) {
			r.state.Until = ceiling
		}
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(r.query.Cursor)
	if err == nil {
		err = json.Unmarshal(data, &r.state)
	}
	if err != nil {
		return ErrInvalidCursor.Wrap(err)
	}
	if r.state.From != r.query.From || r.state.To != r.query.To || r.state.Sums == nil {
		return ErrInvalidCursor.New()
	}
	return nil
}

// turn notes that a page is done. Without a next page the next step begins.
func (r *reconciler) turn(next, step string) error {
	r.state.Page = next
	if next == "" {
		r.state.Step = step
	}
	if r.query.Progress == nil {
		return nil
	}
	data, err := json.Marshal(&r.state)
	if err != nil {
		return err
	}
	r.query.Progress(ReconcileProgress{
		Transactions: r.state.Transactions, Legs: r.state.Legs, Accounts: r.state.Accounts,
		Found: r.state.Found, Cursor: base64.RawURLEncoding.EncodeToString(data),
	})
	return nil
}

func (r *reconciler) found(d Divergence) {
	r.state.Found++
	if len(r.state.Divergences) < divergencesMax {
		r.state.Divergences = append(r.state.Divergences, d)
	}
}

func (r *reconciler) sums(currency money.Currency) *currencySums {
	s := r.state.Sums[currency]
	if s == nil {
		s = &currencySums{}
		r.state.Sums[currency] = s
	}
	return s
}

// inParallel calls f for each index below n, some at the same time, and returns the first error.
func inParallel(ctx context.Context, n int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	indexes := make(chan int)
	for range min(reconcileFanout, n) {
		group.Go(func() {
			for i := range indexes {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		indexes <- i
	}
	close(indexes)
	group.Wait()
	return context.Cause(ctx)
}

// finish compares the walks.
func (r *reconciler) finish() Reconciliation {
	moving := false
	out := Reconciliation{From: r.state.From, To: r.state.To, Until: r.state.Until}
	for currency, s := range r.state.Sums {
		out.Totals = append(out.Totals, CurrencyTotal{
			Currency: currency, Debits: s.Debits, Credits: s.Credits, Balances: s.Balances,
			Beyond: s.Beyond,
		})
	}
	slices.SortFunc(out.Totals, func(a, b CurrencyTotal) int {
		return strings.Compare(string(a.Currency), string(b.Currency))
	})
	for _, t := range out.Totals {
		s := r.state.Sums[t.Currency]
		agree := s.Debits == s.AccountDebits && s.Credits == s.AccountCredits &&
			s.Legs == s.AccountLegs
		switch {
		case s.Beyond || agree && s.Balances.IsZero():
			continue
		case !r.state.Closed:
			moving = true
			continue
		}
		if !agree {
			r.found(Divergence{
				Kind: TotalsDiffer, Currency: t.Currency,
				Want: fmt.Sprintf("%d legs, %s debit, %s credit", s.Legs, s.Debits, s.Credits),
				Got: fmt.Sprintf("%d legs, %s debit, %s credit",
					s.AccountLegs, s.AccountDebits, s.AccountCredits),
			})
		}
		if !s.Balances.IsZero() {
			r.found(Divergence{
				Kind: BalancesNotZero, Currency: t.Currency, Want: "0", Got: s.Balances.String(),
			})
		}
	}
	out.Transactions, out.Legs, out.Accounts = r.state.Transactions, r.state.Legs, r.state.Accounts
	out.Divergences, out.Found, out.Moving = r.state.Divergences, r.state.Found, moving
	return out
}
