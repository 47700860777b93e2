package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// faulting applies the faults of a database to its calls.
type faulting struct {
	db   *DB
	plan atomic.Pointer[faultPlan] // nil without faults
}

// faultPlan holds the rules of Faults with their state. A nil plan has no rules.
type faultPlan struct {
	db    *DB
	rules []*faultRule
	sleep func(ctx context.Context, d time.Duration) error
}

// faultRule is one rule and its state.
type faultRule struct {
	Fault
	past *past // for the kinds that read older states

	mu         sync.Mutex
	rng        *rand.Rand
	asked, met int64
}

// newPlan returns the plan of the rules, or nil without any. Each rule has random numbers of
// its own, so that a rule that is added does not change when the others apply.
func (f *faulting) newPlan(given Faults) (*faultPlan, error) {
	if len(given.Rules) == 0 {
		return nil, nil
	}
	p := &faultPlan{db: f.db, sleep: given.Sleep}
	if p.sleep == nil {
		p.sleep = sleepFor
	}
	for i, fault := range given.Rules {
		if err := fault.check(); err != nil {
			return nil, err
		}
		r := &faultRule{Fault: fault, rng: rand.New(rand.NewPCG(given.Seed, uint64(i)))}
		if fault.Kind == FaultIndexLag || fault.Kind == FaultStaleRead {
			r.past = &past{db: f.db, age: max(fault.Delay, fault.DelayMax), held: fault.Held}
		}
		p.rules = append(p.rules, r)
	}
	return p, nil
}

func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close releases the snapshots of the plan.
func (p *faultPlan) close() error {
	if p == nil {
		return nil
	}
	var err error
	for _, r := range p.rules {
		if r.past != nil {
			err = errors.Join(err, r.past.close())
		}
	}
	return err
}

// catchUp makes the present state visible to all delayed reads.
func (p *faultPlan) catchUp() error {
	if p == nil {
		return nil
	}
	var err error
	for _, r := range p.rules {
		if r.past != nil {
			err = errors.Join(err, r.past.forget())
		}
	}
	return err
}

// applies counts a call that the rule matches, and reports whether the rule applies to it.
func (r *faultRule) applies() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	// This call counts, so that Every=3 applies to the third call.
	r.asked++
	met := true
	switch {
	case r.Times > 0 && r.met >= int64(r.Times):
		met = false
	case r.Every > 0:
		met = r.asked%int64(r.Every) == 0
	case r.Rate > 0:
		met = r.rng.Float64() < r.Rate
	}
	if met {
		r.met++
	}
	return met
}

// number returns a random number below n.
func (r *faultRule) number(n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.Int64N(n)
}

// delay returns the rule's delay, a random one if the rule has a range.
func (r *faultRule) delay() time.Duration {
	// A fixed delay takes no random number, so it does not change the numbers of the calls after
	// it.
	if r.DelayMax <= r.Delay {
		return r.Delay
	}
	return r.Delay + time.Duration(r.number(int64(r.DelayMax-r.Delay)+1))
}

// site is the table, index and operation that rules are matched with. A call on several tables has
// a site for each of them.
type site struct {
	op, table, index string
}

// at reports whether the rule matches a site.
func (f *Fault) at(c site) bool {
	return (f.Operation == "" || f.Operation == c.op) && (f.Table == "" || f.Table == c.table) &&
		(f.Index == "" || f.Index == c.index)
}

func writes(op string) bool {
	switch op {
	case opPut, opUpdate, opDelete, opBatchWrite, opTransactWrite:
		return true
	}
	return false
}

// enter is begin for an operation of the data plane, whose input is in. Injected latency is spent
// here, before the call holds locks that others wait for.
func (db *DB) enter(ctx context.Context, in any) error {
	if p := db.faults.plan.Load(); p != nil {
		if err := p.pause(ctx, sitesOf(in)); err != nil {
			return err
		}
	}
	return db.begin(ctx)
}

// pause waits for the delays of all latency rules that apply to a call.
func (p *faultPlan) pause(ctx context.Context, sites []site) error {
	for _, r := range p.rules {
		if r.Kind != FaultLatency || !slices.ContainsFunc(sites, r.at) || !r.applies() {
			continue
		}
		if err := p.sleep(ctx, r.delay()); err != nil {
			return err
		}
	}
	return nil
}

// sitesOf returns the places of a call: its operation with each table that it uses. The tables are
// sorted, so that equal seeds give equal faults.
func sitesOf(in any) []site {
	var tables []string
	var c site
	switch in := in.(type) {
	case *dynamo.GetInput:
		c = site{op: opGet, table: in.TableName}
	case *dynamo.PutInput:
		c = site{op: opPut, table: in.TableName}
	case *dynamo.UpdateInput:
		c = site{op: opUpdate, table: in.TableName}
	case *dynamo.DeleteInput:
		c = site{op: opDelete, table: in.TableName}
	case *dynamo.QueryInput:
		c = site{op: opQuery, table: in.TableName, index: in.IndexName}
	case *dynamo.ScanInput:
		c = site{op: opScan, table: in.TableName, index: in.IndexName}
	case *dynamo.BatchGetInput:
		c.op, tables = opBatchGet, sorted(in.RequestItems)
	case *dynamo.BatchWriteInput:
		c.op, tables = opBatchWrite, sorted(in.RequestItems)
	case *dynamo.TransactGetInput:
		c.op = opTransactGet
		// The actions of a transaction already have an order.
		for i := range in.Items {
			tables = append(tables, in.Items[i].TableName)
		}
	case *dynamo.TransactWriteInput:
		c.op = opTransactWrite
		for i := range in.Items {
			tables = append(tables, tableNamed(&in.Items[i]))
		}
	}
	if c.table != "" {
		tables = []string{c.table}
	}
	sites := make([]site, len(tables))
	for i, name := range tables {
		sites[i] = site{op: c.op, table: bareName(name), index: c.index}
	}
	return sites
}

func tableNamed(item *dynamo.TransactWriteItem) string {
	switch {
	case item.Put != nil:
		return item.Put.TableName
	case item.Update != nil:
		return item.Update.TableName
	case item.Delete != nil:
		return item.Delete.TableName
	case item.ConditionCheck != nil:
		return item.ConditionCheck.TableName
	}
	return ""
}

// commitCall is commitOne for the write of one item, with the faults applied.
func (f *faulting) commitCall(op string, w *write) error {
	p := f.plan.Load()
	if p == nil {
		return f.db.writer.commitOne(w)
	}
	t := w.actions[0].table
	// Throttled before a conflict, because a throttled call does not reach the item.
	if err := p.throttle(op, t, nil); err != nil {
		return err
	}
	for _, r := range p.rules {
		if r.Kind == FaultConflict && r.at(site{op: op, table: t.Name}) && r.applies() {
			return &dynamo.Error{
				Code: dynamo.CodeTransactionConflict, Message: dynamo.Conflict().Message,
			}
		}
	}
	if err := f.db.writer.commitOne(w); err != nil {
		return err
	}
	// The write is durable at this point: only its answer is lost.
	return p.loseAnswer(op, w)
}

// loseAnswer returns the error of a write whose answer is lost although the write was made, or nil.
func (p *faultPlan) loseAnswer(op string, w *write) error {
	for _, r := range p.rules {
		if r.Kind != FaultLostAnswer || !slices.ContainsFunc(w.actions, func(a action) bool {
			return r.at(site{op: op, table: a.table.Name})
		}) {
			continue
		}
		if r.applies() {
			return &dynamo.Error{
				Code: dynamo.CodeInternalServerError, Message: "Internal server error",
			}
		}
	}
	return nil
}

// commitTransact is commit for the actions of a transaction, with the faults applied.
func (f *faulting) commitTransact(w *write) (failures []*dynamo.Error, err error) {
	p := f.plan.Load()
	if p == nil {
		return f.db.writer.commit(w)
	}
	tables := make([]*table, len(w.actions))
	for i := range w.actions {
		tables[i] = w.actions[i].table
	}
	reasons, err := p.cancel(opTransactWrite, tables)
	if err != nil {
		return nil, err
	}
	if reasons != nil {
		// The service evaluates the other actions too, so their failed conditions are reported as
		// well.
		if err := f.addFailed(w, reasons); err != nil {
			return nil, err
		}
		return nil, dynamo.Canceled(reasons)
	}
	failures, err = f.db.writer.commit(w)
	if err == nil && failures == nil {
		err = p.loseAnswer(opTransactWrite, w)
	}
	return failures, err
}

// addFailed adds the failed conditions to the reasons of a cancelled transaction.
func (f *faulting) addFailed(w *write, reasons []dynamo.CancellationReason) error {
	var stripes []uint16
	for i := range w.actions {
		w.actions[i].stripe = stripeOf(w.actions[i].rowKey)
		stripes = append(stripes, w.actions[i].stripe)
	}
	stripes = f.db.locks.lock(stripes)
	failures, err := f.db.writer.evaluate(w)
	f.db.locks.unlock(stripes)
	err = errors.Join(err, f.db.writer.awaitStripes(stripes))
	for i, f := range failures {
		if f != nil && f.Code == dynamo.CodeConditionalCheckFailed && reasons[i].Code == "" {
			reasons[i] = dynamo.ConditionFailed(f.Item)
		}
	}
	return err
}

// cancelRead returns the cancellation of a TransactGet, or nil.
func (p *faultPlan) cancelRead(reads []keyRead) error {
	if p == nil {
		return nil
	}
	tables := make([]*table, len(reads))
	for i := range reads {
		tables[i] = reads[i].table
	}
	reasons, err := p.cancel(opTransactGet, tables)
	if err == nil && reasons != nil {
		err = dynamo.Canceled(reasons)
	}
	return err
}

// cancel decides whether a transaction is refused; tables are those of its actions. It returns the
// reasons of a cancellation, with a reason at an action that a rule matches, or an error of the
// whole call. Both are nil if the transaction may proceed.
func (p *faultPlan) cancel(op string, tables []*table) ([]dynamo.CancellationReason, error) {
	for _, r := range p.rules {
		if r.Kind != FaultThrottle && r.Kind != FaultConflict {
			continue
		}
		var about []int
		for i, t := range tables {
			if r.Kind == FaultThrottle && r.throttles(op, t, nil) ||
				r.Kind == FaultConflict && r.at(site{op: op, table: t.Name}) {
				about = append(about, i)
			}
		}
		if len(about) == 0 || !r.applies() {
			continue
		}
		at := about[r.number(int64(len(about)))]
		reason := dynamo.Conflict()
		if r.Kind == FaultThrottle {
			refusal := p.db.faults.throttled(r, op, tables[at], nil)
			switch refusal.Code {
			case dynamo.CodeRequestLimitExceeded:
				return nil, refusal // the limit of the account concerns the whole call
			case dynamo.CodeThrottling:
				reason.Code = dynamo.ReasonThrottling
			default:
				reason.Code = dynamo.ReasonProvisionedThroughput
			}
			reason.Message = refusal.Message
		}
		reasons := make([]dynamo.CancellationReason, len(tables))
		reasons[at] = reason
		return reasons, nil
	}
	return nil, nil
}
