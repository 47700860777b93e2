package bulk

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/problem"
)

// Bounds of how many rows are on their way at once.
const (
	// ConcurrencyDefault is enough for the rows to share the syncs of an engine on one disk.
	ConcurrencyDefault = 32
	// ConcurrencyMax keeps a slip of the finger from opening thousands of connections.
	ConcurrencyMax = 1024
	// ahead is how many rows are read for each one that is posted, to find some that do not have
	// to wait for others.
	ahead = 16
	// settlementsMax bounds how many merchants' accounts are remembered.
	settlementsMax = 10_000
)

// Ledger is what an import needs of the API. *client.Client is one.
type Ledger interface {
	Post(ctx context.Context, p client.Posting) (client.Receipt, error)
	Merchant(ctx context.Context, id client.MerchantID) (client.Merchant, error)
}

// Status is what became of a row.
type Status string

// What becomes of rows.
const (
	Posted  Status = "posted"  // now, by this import
	There   Status = "there"   // earlier, by an equal row or by an import that was stopped
	Refused Status = "refused" // and the books are as if the row were not in the file
)

// Outcome is what became of one row.
type Outcome struct {
	Row    Row
	Status Status
	// TransactionID is the transaction of a row that was not refused.
	TransactionID client.TransactionID
	// PaymentID is the payment of such a row in a file of payments to schedule.
	PaymentID client.PaymentID
	// Problem is why the row was refused.
	Problem *problem.Error
}

// Options are the choices of an import. The zero value works.
type Options struct {
	// Concurrency is how many rows are on their way at once; 0 means ConcurrencyDefault.
	Concurrency int
	// Report, if set, is told the outcome of each row, in file order, from one goroutine.
	Report func(Outcome) error
}

// Result sums up an import.
type Result struct {
	Posted, There, Refused int
	// Reasons counts the refused rows by the code of the problem.
	Reasons map[problem.Code]int
	// Stopped tells that the context ended before the file did. Rows that were on their way are
	// counted.
	Stopped bool
}

// Rows is the number of rows that have an outcome.
func (r Result) Rows() int { return r.Posted + r.There + r.Refused }

// Import posts the rows of a file. When ctx ends, rows that are on their way are still finished, no
// other is begun, and the result says Stopped; importing the same file again goes on from there. An
// error means that the ledger, or Report, failed: what was counted until then is done.
func Import(ctx context.Context, ledger Ledger, f *File, opts Options) (Result, error) {
	i := &run{}
	books := &poster{run: i, ledger: ledger, settlements: make(map[client.MerchantID]string)}
	i.send, i.uses = books.post, books.uses
	return i.run(ctx, f, opts)
}

// run carries the import out.
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
	// Requests outlive the end of ctx: a row that was sent is waited for.
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

// run is an import under way.
type run struct {
	// send asks for what a row says, and tells whether that was there already; uses lists what the
	// row shares with others.
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

// feed moves rows from the file through the window until the file ends, or stop does.
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

// take waits for one row and tells what became of it.
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
		return // It was never begun, or failed.
	}
	if i.report == nil {
		return
	}
	if err := i.report(j.outcome); err != nil {
		i.fail(err)
	}
}

// fail ends the import with an error; the first one counts.
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

// RowError says at which row the ledger failed.
type RowError struct {
	Line int
	Err  error
}

// refuses tells whether an error is about the row, so that the next row may well be posted.
func refuses(err error) bool {
	switch problem.KindOf(err) {
	case problem.Invalid, problem.NotFound, problem.Conflict, problem.Changed, problem.Refused,
		problem.TooLarge:
		return true
	}
	return false
}

// uses lists what a row shares with others: its key, and the accounts of users. The ledger's own
// accounts may go below zero without limit, so no row has to wait for another because of them.
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

// settlementOf returns the account of a merchant, or "" when there is none: then the row will be
// refused. Merchants never change, so the answer is remembered.
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

// Error names the line.
func (e *RowError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the failure.
func (e *RowError) Unwrap() error { return e.Err }
