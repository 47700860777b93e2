package bulk

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/problem"
)

// Limits of the number of rows in progress.
const (
	// ConcurrencyDefault is enough for the rows to share the syncs of an engine on one disk.
	ConcurrencyDefault = 32
	// ConcurrencyMax prevents a typing error from opening thousands of connections.
	ConcurrencyMax = 1024
	// ahead is the number of rows that are read for each posted one, to find some that need not
	// wait for others.
	ahead = 16
	// settlementsMax is the maximum number of cached merchants' accounts.
	settlementsMax = 10_000
)

// Ledger is the part of the API that an import uses. *client.Client implements it.
type Ledger interface {
	Post(ctx context.Context, p client.Posting) (client.Receipt, error)
	Merchant(ctx context.Context, id client.MerchantID) (client.Merchant, error)
}

// Status is the result of a row.
type Status string

// The results of rows.
const (
	Posted  Status = "posted"  // by this import
	There   Status = "there"   // earlier, by an equal row or by an import that was stopped
	Refused Status = "refused" // the ledger is as if the row were not in the file
)

// Outcome is the result of one row.
type Outcome struct {
	Row    Row
	Status Status
	// TransactionID is the transaction of a row that was not refused.
	TransactionID client.TransactionID
	// PaymentID is the payment of such a row in a file of payments to schedule.
	PaymentID client.PaymentID
	// Problem is the reason why the row was refused.
	Problem *problem.Error
}

// Options configure an import. The zero value works.
type Options struct {
	// Concurrency is the number of rows in progress; 0 means ConcurrencyDefault.
	Concurrency int
	// Report, if it is set, is called with the outcome of each row, in file order, from one
	// goroutine.
	Report func(Outcome) error
}

// Result is the summary of an import.
type Result struct {
	Posted, There, Refused int
	// Reasons counts the refused rows by the code of the problem.
	Reasons map[problem.Code]int
	// Stopped reports whether the context ended before the file. Rows that were in progress are
	// counted.
	Stopped bool
}

// Rows is the number of rows that have an outcome.
func (r Result) Rows() int { return r.Posted + r.There + r.Refused }

// Import posts the rows of a file. If ctx ends, rows in progress are finished, no others are
// started, and Stopped is set in the result; another import of the same file continues. An error
// means that the ledger or Report failed; the result counts the rows until then.
func Import(ctx context.Context, ledger Ledger, f *File, opts Options) (Result, error) {
	i := &run{}
	books := &poster{run: i, ledger: ledger, settlements: make(map[client.MerchantID]string)}
	i.send, i.uses = books.post, books.uses
	return i.run(ctx, f, opts)
}

// run executes the import.
func (i *run) run(ctx context.Context, f *File, opts Options) (Result, error) {
	if opts.Concurrency <= 0 {
		opts.Concurrency = ConcurrencyDefault
	}
	opts.Concurrency = min(opts.Concurrency, ConcurrencyMax)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	i.report, i.cancel = opts.Report, cancel
	i.window = newWindow(opts.Concurrency * ahead)
	i.result = Result{Reasons: make(map[problem.Code]int)}
	// Requests continue after the end of ctx, because the result of a sent row is needed.
	requests := context.WithoutCancel(ctx)
	workers := i.window.work(stop, opts.Concurrency, func(j *job) { i.post(requests, j) })
	i.feed(stop, requests, f)
	close(i.window.ready)
	workers.Wait()
	if failure := i.failure.Load(); failure != nil {
		return i.result, *failure
	}
	i.result.Stopped = ctx.Err() != nil
	return i.result, nil
}

// run is an import in progress.
type run struct {
	// send sends the request of a row, and reports whether its result already existed. uses lists
	// what the row shares with others.
	send    func(ctx context.Context, row Row, o *Outcome) (there bool, err error)
	uses    func(ctx context.Context, row Row) []use
	report  func(Outcome) error
	cancel  context.CancelFunc
	failure atomic.Pointer[error] // the first one
	window  *window
	result  Result
}

// poster sends rows to a ledger.
type poster struct {
	run         *run
	ledger      Ledger
	settlements map[client.MerchantID]string
}

// feed moves rows from the file through the window until the file or stop ends.
func (i *run) feed(stop, requests context.Context, f *File) {
	for row, err := range f.Read() {
		if err != nil {
			i.fail(err)
		}
		if stop.Err() != nil {
			break
		}
		i.window.admit(&job{row: row, uses: i.uses(requests, row)})
		for i.window.full() {
			i.take()
		}
	}
	for !i.window.empty() {
		i.take()
	}
}

// take waits for one row and reports its outcome.
func (i *run) take() {
	i.window.finish(<-i.window.finished)
	i.window.reported(i.count)
}

func (i *run) count(j *job) {
	switch j.outcome.Status {
	case Posted:
		i.result.Posted++
	case There:
		i.result.There++
	case Refused:
		i.result.Refused++
		i.result.Reasons[j.outcome.Problem.Code]++
	default:
		return // it was not started, or failed
	}
	if i.report == nil {
		return
	}
	if err := i.report(j.outcome); err != nil {
		i.fail(err)
	}
}

// fail ends the import with its first error.
func (i *run) fail(err error) {
	i.failure.CompareAndSwap(nil, &err)
	i.cancel()
}

// post sends one row. Workers call it.
func (i *run) post(ctx context.Context, j *job) {
	j.outcome.Row = j.row
	if j.row.Wrong != nil {
		j.outcome.Status, j.outcome.Problem = Refused, j.row.Wrong
		return
	}
	there, err := i.send(ctx, j.row, &j.outcome)
	switch {
	case err == nil && there:
		j.outcome.Status = There
	case err == nil:
		j.outcome.Status = Posted
	case refuses(err):
		j.outcome.Status, j.outcome.Problem = Refused, problem.From(err)
	default:
		i.fail(&RowError{Line: j.row.Line, Err: err})
	}
}

func (p *poster) post(ctx context.Context, row Row, o *Outcome) (there bool, err error) {
	receipt, err := p.ledger.Post(ctx, row.Posting)
	o.TransactionID = receipt.Transaction.ID
	return receipt.Replayed, err
}

// RowError reports the row at which the ledger failed.
type RowError struct {
	Line int
	Err  error
}

// refuses reports whether an error concerns only the row, so that the next row may be posted.
func refuses(err error) bool {
	switch problem.KindOf(err) {
	case problem.Invalid, problem.NotFound, problem.Conflict, problem.Changed, problem.Refused,
		problem.TooLarge:
		return true
	}
	return false
}

// uses lists what a row shares with others: its key, and the accounts of users. System accounts may
// go below zero without limit, so no row has to wait because of them.
func (p *poster) uses(ctx context.Context, row Row) []use {
	if row.Wrong != nil {
		return nil
	}
	uses := []use{{name: "key/" + row.Key(), exclusive: true}}
	for _, leg := range row.Posting.Legs {
		account := string(leg.AccountID)
		if leg.AccountID == settlement {
			account = p.settlementOf(ctx, row.Posting.MerchantID)
		}
		if account != "" && account[0] != '@' {
			uses = addUse(uses, use{"account/" + account, leg.Type != client.Credit})
		}
	}
	return uses
}

func addUse(uses []use, u use) []use {
	for n := range uses {
		if uses[n].name == u.name {
			uses[n].exclusive = uses[n].exclusive || u.exclusive
			return uses
		}
	}
	return append(uses, u)
}

// settlementOf returns the account of a merchant, or "" if there is none and the row will be
// refused. Merchants never change, so the result is cached.
func (p *poster) settlementOf(ctx context.Context, id client.MerchantID) string {
	account, known := p.settlements[id]
	if known {
		return account
	}
	m, err := p.ledger.Merchant(ctx, id)
	if err != nil && !refuses(err) {
		p.run.fail(err)
		return ""
	}
	if err == nil && len(p.settlements) < settlementsMax {
		p.settlements[id] = string(m.SettlementAccountID)
	}
	return string(m.SettlementAccountID)
}

// Error returns the line and the failure.
func (e *RowError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the failure.
func (e *RowError) Unwrap() error { return e.Err }
