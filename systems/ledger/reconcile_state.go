package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// The steps of a run. Those of the indexes have their names.
const (
	stepTable   = "table"
	stepGSI1    = indexGSI1
	stepGSI2    = indexGSI2
	stepLocate  = "locate"
	stepLocate1 = "locate in " + indexGSI1
	stepLocate2 = "locate in " + indexGSI2
	stepRecount = "recount"
	stepDone    = "done"
)

const (
	// reconcileVersion is the version of cursors. A cursor of another version is refused.
	reconcileVersion = 2
	// reconcileSegments is how many parts of the table are read in parallel. It is a constant
	// because cursors hold one place for each.
	reconcileSegments = 4
	// reconcilePage is the maximum number of items of a page.
	reconcilePage = 500
	// digestBuckets is into how many sets of items the sums of table and indexes are split, so
	// that only some have to be looked at one by one if they differ.
	digestBuckets = 64
	// missingMax bounds the accounts that are remembered as missing, and so reported once.
	missingMax = 1000
)

// reconciler is a run. Its state is all that another run needs to continue.
type reconciler struct {
	*Ledger
	// design is that of the table during the whole run, because stored items belong to one.
	design *model
	query  ReconcileQuery
	from   time.Time
	end    *time.Time // nil if the days have no end
	state  reconcileState
	known  knownAccounts
	ticks  chan int // legs that were followed, while a page is in progress
}

// digests are sums of digests in buckets. Table and index cancel each other out.
type digests [digestBuckets]uint64

func (d *digests) add(digest uint64)  { d[digest%digestBuckets] += digest }
func (d *digests) take(digest uint64) { d[digest%digestBuckets] -= digest }

// tally is what one page, or all pages so far, add up to.
type tally struct {
	Items, Others, Transactions, Legs, Accounts int

	Sums map[money.Currency]*currencySums
	// ByIndex1 and ByIndex2 are the table without the index; ByChain the legs of the table without
	// those that were met when the accounts were followed.
	ByIndex1, ByIndex2, ByChain digests

	// finds has the divergences of a page, away those of other days, unsure what is undecided.
	finds, away, unsure []Divergence
}

type reconcileState struct {
	Version     int
	From, To    Date
	Skip, Limit int
	Until       time.Time
	Closed      bool // The days had ended when the run began.
	Step        string
	Places      []string // where each segment goes on; nil at the beginning of a step
	Ended       []bool   // segments that are at their end

	tally
	Found, Open int
	Divergences []Divergence
	Undecided   []Divergence
	Elsewhere   []Divergence
	Missing     []AccountID
	// First has the sums of balances of the first count, if there was a second one.
	First map[money.Currency]string
}

// currencySums holds the sums of one currency.
type currencySums struct {
	Debits, Credits, Balances exact
}

func (t *tally) sums(currency money.Currency) *currencySums {
	s := t.Sums[currency]
	if s == nil {
		s = &currencySums{}
		if t.Sums == nil {
			t.Sums = map[money.Currency]*currencySums{}
		}
		t.Sums[currency] = s
	}
	return s
}

// begin starts a run, or continues one.
func (r *reconciler) begin() error {
	if r.query.Cursor == "" {
		now := instant(r.opts.Now())
		r.state = reconcileState{
			Version: reconcileVersion, From: r.query.From, To: r.query.To,
			Skip: r.query.Skip, Limit: r.query.Limit, Step: stepTable,
			// A leg of this very millisecond belongs to the run: who posts and then asks means it.
			Until: now.Add(time.Millisecond),
		}
		if r.end != nil && r.end.Before(r.state.Until) {
			r.state.Until = *r.end
			r.state.Closed = !r.end.After(now.Add(-settleTime))
		}
		return nil
	}
	text, ok := r.store.Unseal(r.cursorPurpose(), r.query.Cursor)
	if !ok {
		return ErrInvalidCursor.New()
	}
	var s reconcileState
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return ErrInvalidCursor.Wrap(err)
	}
	if s.Version != reconcileVersion || s.From != r.query.From || s.To != r.query.To ||
		s.Skip != r.query.Skip || s.Limit != r.query.Limit {
		return ErrInvalidCursor.New()
	}
	r.state = s
	return nil
}

// cursorPurpose is what cursors are signed for, so that those of other books are refused.
func (r *reconciler) cursorPurpose() string {
	return "ledger reconcile\x00" + r.opts.TableName + "\x00" + r.opts.Tenant
}

// progress reports where the run is. A page that is in progress has met some legs already.
func (r *reconciler) progress(pending int) error {
	if r.query.Progress == nil {
		return nil
	}
	data, err := json.Marshal(&r.state)
	if err != nil {
		return err
	}
	s := &r.state
	r.query.Progress(ReconcileProgress{
		Step: s.Step, Items: s.Items + pending, Transactions: s.Transactions, Legs: s.Legs,
		Accounts: s.Accounts, Found: s.Found, Cursor: r.store.Seal(r.cursorPurpose(), string(data)),
	})
	return nil
}

// pageVisit looks at a page of a step, and adds to a tally. It is called for several pages
// concurrently.
type pageVisit func(ctx context.Context, t *tally, items []singletable.AuditItem) error

// scan carries out a step: it reads the table, or an index, in parallel segments, and merges what
// was found in their order, so that the result does not depend on which was faster.
func (r *reconciler) scan(ctx context.Context, index string, visit pageVisit) error {
	s := &r.state
	if s.Places == nil {
		s.Places, s.Ended = make([]string, reconcileSegments), make([]bool, reconcileSegments)
	}
	for slices.Contains(s.Ended, false) {
		pages := make([]segmentPage, reconcileSegments)
		done := make(chan error, 1)
		r.ticks = make(chan int)
		go func() {
			done <- inParallel(ctx, reconcileSegments, func(ctx context.Context, i int) error {
				if s.Ended[i] {
					return nil
				}
				pages[i].read = true
				return r.segment(ctx, &pages[i], index, i, visit)
			})
		}()
		if err := r.await(done); err != nil {
			return err
		}
		for i := range pages {
			if pages[i].read {
				s.merge(r.query, &pages[i].tally)
				s.Places[i], s.Ended[i] = pages[i].next, pages[i].next == ""
			}
		}
		if !slices.Contains(s.Ended, false) {
			r.turn()
		}
		if err := r.progress(0); err != nil {
			return err
		}
		if s.Places == nil {
			return nil
		}
	}
	r.turn()
	return nil
}

// await waits for the pages of a round, and reports how many legs were followed in the meantime.
func (r *reconciler) await(done <-chan error) error {
	pending := 0
	var failed error
	for {
		select {
		case n := <-r.ticks:
			if pending += n; failed == nil {
				failed = r.progress(pending)
			}
		case err := <-done:
			return errors.Join(err, failed)
		}
	}
}

// turn goes on to the next step.
func (r *reconciler) turn() {
	s := &r.state
	next := r.next()
	if next == stepRecount {
		s.First = map[money.Currency]string{}
		for currency, sums := range s.Sums {
			s.First[currency] = sums.Balances.String()
			sums.Balances = exact{}
		}
	}
	s.Step, s.Places, s.Ended = next, nil, nil
}

type segmentPage struct {
	read bool
	next string
	tally
}

// segment reads the next page of a segment that has items. In the table it reads whole
// transactions: the last one of a page may go on behind it, and is left to the next page.
func (r *reconciler) segment(
	ctx context.Context, p *segmentPage, index string, i int, visit pageVisit,
) error {
	q := singletable.AuditQuery{Table: r.design.table, Index: index, Segment: i,
		Segments: reconcileSegments, Limit: r.query.page, After: r.state.Places[i]}
	var items []singletable.AuditItem
	for {
		page, err := r.store.Audit(ctx, q)
		if err != nil {
			return failed("read", "table", err)
		}
		if items, p.next = page.Items, page.Next; len(items) > 0 || p.next == "" {
			break
		}
		q.After = p.next
	}
	if index == "" && p.next != "" {
		var err error
		if items, err = r.wholeTransactions(ctx, items); err != nil {
			return err
		}
		p.next = items[len(items)-1].Place()
	}
	return visit(ctx, &p.tally, items)
}

// wholeTransactions leaves the last transaction of a page out, or completes it if the page holds
// nothing else.
func (r *reconciler) wholeTransactions(
	ctx context.Context, items []singletable.AuditItem,
) ([]singletable.AuditItem, error) {
	last := items[len(items)-1].Partition()
	if !isTransactionKey(last) {
		return items, nil
	}
	first := slices.IndexFunc(items, func(a singletable.AuditItem) bool {
		return a.Partition() == last
	})
	if first > 0 {
		return items[:first], nil
	}
	return r.partition(ctx, last)
}

// partition reads all items of a partition key of the table.
func (r *reconciler) partition(
	ctx context.Context, key string,
) (items []singletable.AuditItem, err error) {
	q := singletable.AuditQuery{Table: r.design.table, Partition: key}
	for {
		page, err := r.store.Audit(ctx, q)
		if err != nil {
			return nil, failed("read", key, err)
		}
		items = append(items, page.Items...)
		if q.After = page.Next; q.After == "" {
			return items, nil
		}
	}
}

// differs reports whether table and indexes hold different items.
func (s *reconcileState) differs() bool {
	return s.ByIndex1 != digests{} || s.ByIndex2 != digests{} || s.ByChain != digests{}
}

// unbalanced reports whether the balances of a currency do not sum to zero.
func (s *reconcileState) unbalanced() bool {
	for _, sums := range s.Sums {
		if sums.Balances.String() != "0" {
			return true
		}
	}
	return false
}

// merge adds a page to the state.
func (s *reconcileState) merge(q ReconcileQuery, t *tally) {
	s.Items += t.Items
	s.Others += t.Others
	s.Transactions += t.Transactions
	s.Legs += t.Legs
	s.Accounts += t.Accounts
	for currency, sums := range t.Sums {
		to := s.sums(currency)
		to.Debits.merge(&sums.Debits)
		to.Credits.merge(&sums.Credits)
		to.Balances.merge(&sums.Balances)
	}
	for i := range digestBuckets {
		s.ByIndex1[i] += t.ByIndex1[i]
		s.ByIndex2[i] += t.ByIndex2[i]
		s.ByChain[i] += t.ByChain[i]
	}
	for _, d := range t.finds {
		s.found(q, d)
	}
	for _, d := range t.away {
		if len(s.Elsewhere) < FindingsDefault {
			s.Elsewhere = append(s.Elsewhere, d)
		}
	}
	for _, d := range t.unsure {
		s.undecided(d)
	}
}

// found counts a divergence, and keeps it if it is one of those to list. An account that is missing
// is named by each of its legs, and counts once.
func (s *reconcileState) found(q ReconcileQuery, d Divergence) {
	if d.Kind == AccountMissing {
		if slices.Contains(s.Missing, d.AccountID) {
			return
		}
		if len(s.Missing) < missingMax {
			s.Missing = append(s.Missing, d.AccountID)
		}
	}
	if s.Found >= q.Skip && s.Found < q.Skip+q.Limit {
		s.Divergences = append(s.Divergences, d)
	}
	s.Found++
}

func (s *reconcileState) undecided(d Divergence) {
	if len(s.Undecided) < FindingsDefault {
		s.Undecided = append(s.Undecided, d)
	}
	s.Open++
}

// exact is a sum without a bound on its digits.
type exact struct {
	near money.Amount // the sum of the latest amounts, as long as it fits
	far  *big.Rat     // of all earlier ones; nil for zero
}

func (e *exact) add(a money.Amount) {
	sum, err := e.near.Add(a)
	if err == nil {
		e.near = sum
		return
	}
	e.far = e.total()
	e.near = a
}

func (e *exact) merge(o *exact) {
	if o.far != nil {
		e.far = new(big.Rat).Add(orZero(e.far), o.far)
	}
	e.add(o.near)
}

func orZero(r *big.Rat) *big.Rat {
	if r == nil {
		return new(big.Rat)
	}
	return r
}

func (e *exact) total() *big.Rat {
	near, ok := new(big.Rat).SetString(e.near.Decimal())
	if !ok {
		near = new(big.Rat)
	}
	return near.Add(near, orZero(e.far))
}

// minus returns the difference of two sums as text.
func (e *exact) minus(o *exact) string { return ratText(new(big.Rat).Sub(e.total(), o.total())) }

// String returns the sum as a decimal number.
func (e *exact) String() string { return ratText(e.total()) }

// ratText writes a sum of decimals, which has a finite number of digits.
func ratText(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	digits, _ := r.FloatPrec()
	return r.FloatString(digits)
}

// amount returns the sum, and whether it fits into an amount. One that does not is given as far as
// it was added up last.
func (e *exact) amount(currency money.Currency) (money.Amount, bool) {
	sum, err := money.Parse(e.String(), currency)
	if err != nil {
		return amountOf(e.near.Units(), currency), false
	}
	return sum, true
}

// MarshalText writes the sum for a cursor.
func (e exact) MarshalText() ([]byte, error) { return e.total().MarshalText() }

// UnmarshalText reads it again. The currency of an amount comes back with the next one added.
func (e *exact) UnmarshalText(text []byte) error {
	e.far = new(big.Rat)
	return e.far.UnmarshalText(text)
}
