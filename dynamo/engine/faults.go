package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Faults make a database as unkind as the service may be, so that tests find what a program takes
// for granted. Every answer is one that the service gives, and what was acknowledged stays true:
// writes, conditions, transactions and strong reads always work on what is there.
//
// What goes wrong follows from the seed, from how often a rule was asked, and from the clock of
// Options: a program that calls from one goroutine meets the same faults each time.
type Faults struct {
	// Seed decides which calls are met. Zero is a seed like any other.
	Seed uint64
	// Rules say what may go wrong, and where. A call that several refuse gets the first one's
	// answer.
	Rules []Fault
	// Sleep waits for FaultLatency, by default until the time has passed or the context is done.
	// Tests put a function here that only notes the time.
	Sleep func(ctx context.Context, d time.Duration) error
}

// FaultKind is what a rule does.
type FaultKind string

// The kinds of faults.
const (
	// FaultThrottle refuses calls for their rate, with Code and Reason. In transactions an action
	// is cancelled for it; the members of a batch come back unprocessed, if any others are left.
	FaultThrottle FaultKind = "throttle"
	// FaultConflict refuses single writes with a TransactionConflictException, and cancels
	// transactions with a TransactionConflict on one of their actions.
	FaultConflict FaultKind = "conflict"
	// FaultUnprocessed leaves members of batches undone: each by itself, but never all of a batch
	// unless All is set, so that whoever asks again comes to an end.
	FaultUnprocessed FaultKind = "unprocessed"
	// FaultEarlyPage ends pages of Query and Scan after up to Items evaluated items, with a
	// LastEvaluatedKey even where nothing follows. A filter may leave nothing of such a page.
	FaultEarlyPage FaultKind = "early-page"
	// FaultLatency makes calls take longer: by Delay, or by something between Delay and DelayMax.
	FaultLatency FaultKind = "latency"
	// FaultIndexLag lets reads of global indexes see what they held a while ago: index rows and
	// items as of one moment, at most Delay (or something up to DelayMax) before. With Held they
	// see nothing newer until [DB.CatchUp].
	FaultIndexLag FaultKind = "index-lag"
	// FaultStaleRead lets reads that do not ask for consistency see an older state, in the same
	// way. A later one may see a still older state, as on the service.
	FaultStaleRead FaultKind = "stale-read"
	// FaultExpiryDelay keeps items for Delay after their time to live is over.
	FaultExpiryDelay FaultKind = "expiry-delay"
	// FaultLostAnswer does a write and then answers it with an InternalServerError, after which
	// the service does not say whether a write happened either.
	FaultLostAnswer FaultKind = "lost-answer"
)

// Fault is one rule: what goes wrong, where and how often. The zero values of the fields that say
// where stand for everywhere.
type Fault struct {
	Kind FaultKind

	// Table, Index and Operation narrow down the calls. An operation has its name in the service's
	// API, such as "PutItem". Statements count as the operations that they stand for. A throttle of
	// writes that names an index is that index's back pressure on its table.
	Table, Index, Operation string

	// Rate is the share of the calls that are met, from 0 to 1; Every meets every n-th instead.
	// With neither all are met. For FaultUnprocessed members of batches count, not calls.
	Rate  float64
	Every int
	// Times ends the rule after it has met so many; 0 is no end.
	Times int

	// Code and Reason are those of a FaultThrottle: one of ThrottleCodes and of ThrottleReasons.
	// By default they follow from the table's billing and from what the call does to it.
	Code   dynamo.ErrorCode
	Reason string

	// Delay and DelayMax are times of the kinds that have one, by the clock of Options but for
	// FaultLatency.
	Delay, DelayMax time.Duration
	// Held makes a FaultIndexLag or FaultStaleRead last until [DB.CatchUp].
	Held bool
	// Items bounds the items that a FaultEarlyPage evaluates; 3 by default.
	Items int
	// All lets a FaultUnprocessed leave a whole batch undone.
	All bool
}

// itemsDefault is few enough that even the small data of tests takes several pages.
const itemsDefault = 3

// Strict returns the faults that find the most bugs and that a right program need not notice: pages
// that end early, batches that are done in part, transactions that meet conflicts, and global
// indexes that are a moment behind. Change Seed for other calls to be met.
func Strict() Faults {
	return Faults{Seed: 1, Rules: []Fault{
		{Kind: FaultEarlyPage, Rate: 0.5},
		{Kind: FaultUnprocessed, Rate: 0.3},
		{Kind: FaultConflict, Rate: 0.1},
		{Kind: FaultIndexLag, Rate: 0.5, Delay: strictLag},
	}}
}

// strictLag is about what the service's global indexes take when nothing is wrong.
const strictLag = 20 * time.Millisecond

// The operations that rules may name.
const (
	opGet           = "GetItem"
	opPut           = "PutItem"
	opUpdate        = "UpdateItem"
	opDelete        = "DeleteItem"
	opQuery         = "Query"
	opScan          = "Scan"
	opBatchGet      = "BatchGetItem"
	opBatchWrite    = "BatchWriteItem"
	opTransactGet   = "TransactGetItems"
	opTransactWrite = "TransactWriteItems"
)

// faultOperations lists the operations that each kind can meet.
func faultOperations(kind FaultKind) []string {
	switch kind {
	case FaultThrottle, FaultLatency:
		return []string{opGet, opPut, opUpdate, opDelete, opQuery, opScan, opBatchGet,
			opBatchWrite, opTransactGet, opTransactWrite}
	case FaultConflict:
		return []string{opPut, opUpdate, opDelete, opTransactGet, opTransactWrite}
	case FaultUnprocessed:
		return []string{opBatchGet, opBatchWrite}
	case FaultEarlyPage, FaultIndexLag:
		return []string{opQuery, opScan}
	case FaultStaleRead:
		return []string{opGet, opQuery, opScan, opBatchGet}
	case FaultLostAnswer:
		return []string{opPut, opUpdate, opDelete, opBatchWrite, opTransactWrite}
	}
	return nil
}

// FaultKinds lists the kinds of faults, in the order of their constants.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultThrottle, FaultConflict, FaultUnprocessed, FaultEarlyPage,
		FaultLatency, FaultIndexLag, FaultStaleRead, FaultExpiryDelay, FaultLostAnswer}
}

// ThrottleCodes lists the exceptions of throttled calls.
func ThrottleCodes() []dynamo.ErrorCode {
	return []dynamo.ErrorCode{dynamo.CodeProvisionedThroughput, dynamo.CodeThrottling,
		dynamo.CodeRequestLimitExceeded}
}

// The limits that a throttled call may have met, the last part of a reason.
const (
	limitProvisioned = "ProvisionedThroughputExceeded"
	limitAccount     = "AccountLimitExceeded"
	limitKeyRange    = "KeyRangeThroughputExceeded"
	limitOnDemand    = "MaxOnDemandThroughputExceeded"
)

// ThrottleReasons lists the sixteen texts that the service explains a throttled call with.
func ThrottleReasons() []string {
	var reasons []string
	for _, where := range []string{"Table", "Index"} {
		for _, side := range []string{"Read", "Write"} {
			for _, limit := range []string{limitProvisioned, limitAccount, limitKeyRange,
				limitOnDemand} {
				reasons = append(reasons, where+side+limit)
			}
		}
	}
	return reasons
}

// check reports what is wrong with a rule.
func (f *Fault) check() error {
	if !slices.Contains(FaultKinds(), f.Kind) {
		return fmt.Errorf("there is no fault %q; the faults are %s", f.Kind,
			listed(FaultKinds()))
	}
	has := f.parts()
	for _, part := range []struct {
		name     string
		set, has bool
	}{
		{"index", f.Index != "", has.index},
		{"code", f.Code != "", f.Kind == FaultThrottle},
		{"reason", f.Reason != "", f.Kind == FaultThrottle},
		{"delay", f.Delay != 0 || f.DelayMax != 0, has.delay},
		{"held", f.Held, has.held},
		{"items", f.Items != 0, f.Kind == FaultEarlyPage},
		{"all", f.All, f.Kind == FaultUnprocessed},
		{"rate", f.Rate != 0, f.Kind != FaultExpiryDelay},
		{"every", f.Every != 0, f.Kind != FaultExpiryDelay},
		{"times", f.Times != 0, f.Kind != FaultExpiryDelay},
	} {
		if part.set && !part.has {
			return fmt.Errorf("fault %s has no %s", f.Kind, part.name)
		}
	}
	if ops := faultOperations(f.Kind); f.Operation != "" && !slices.Contains(ops, f.Operation) {
		return fmt.Errorf("fault %s does not meet operation %q; it meets %s", f.Kind,
			f.Operation, listed(ops))
	}
	return f.checkNumbers(has)
}

// faultParts says which optional parts a kind has.
type faultParts struct{ index, delay, held bool }

func (f *Fault) parts() faultParts {
	switch f.Kind {
	case FaultThrottle, FaultEarlyPage:
		return faultParts{index: true}
	case FaultLatency:
		return faultParts{index: true, delay: true}
	case FaultIndexLag, FaultStaleRead:
		return faultParts{index: true, delay: true, held: true}
	case FaultExpiryDelay:
		return faultParts{delay: true}
	}
	return faultParts{}
}

func (f *Fault) checkNumbers(has faultParts) error {
	switch {
	case !(f.Rate >= 0 && f.Rate <= 1):
		return fmt.Errorf("fault %s: the rate is from 0 to 1, not %v", f.Kind, f.Rate)
	case f.Rate != 0 && f.Every != 0:
		return fmt.Errorf("fault %s: give a rate or every, not both", f.Kind)
	case f.Every < 0, f.Times < 0, f.Items < 0, f.Delay < 0:
		return fmt.Errorf("fault %s: a number is negative", f.Kind)
	case f.DelayMax != 0 && (f.DelayMax < f.Delay || f.Kind == FaultExpiryDelay):
		return fmt.Errorf("fault %s: a delay up to %v is not possible", f.Kind, f.DelayMax)
	case has.delay && f.Delay == 0 && f.DelayMax == 0 && !f.Held:
		return fmt.Errorf("fault %s needs a delay", f.Kind)
	case f.Held && (f.Delay != 0 || f.DelayMax != 0):
		return fmt.Errorf("fault %s: what is held has no delay", f.Kind)
	case f.Code != "" && !slices.Contains(ThrottleCodes(), f.Code):
		return fmt.Errorf("fault throttle: there is no code %q; the codes are %s", f.Code,
			listed(ThrottleCodes()))
	case f.Reason != "" && !slices.Contains(ThrottleReasons(), f.Reason):
		return fmt.Errorf("fault throttle: there is no reason %q; the reasons are %s", f.Reason,
			listed(ThrottleReasons()))
	}
	return nil
}

func listed[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// SetFaults replaces the faults of the database, from the next call on. Faults without rules turn
// all off. What older faults held back is let go.
func (db *DB) SetFaults(f Faults) error {
	plan, err := db.newFaultPlan(f)
	if err != nil {
		return err
	}
	if err := db.begin(context.Background()); err != nil {
		return err
	}
	defer db.end()
	return db.faults.Swap(plan).close()
}

// CatchUp brings global indexes, and reads that are served late, up to what is written now. Those
// of a rule with Held then stay at that.
func (db *DB) CatchUp() error {
	if err := db.begin(context.Background()); err != nil {
		return err
	}
	defer db.end()
	return db.faults.Load().catchUp()
}

// FaultCount tells what a rule did so far.
type FaultCount struct {
	Fault Fault
	// Asked is how often the rule could have struck, Met how often it did.
	Asked, Met int64
}

// FaultCounts tells what each rule did since SetFaults, in their order; nil without faults.
func (db *DB) FaultCounts() []FaultCount {
	p := db.faults.Load()
	if p == nil {
		return nil
	}
	counts := make([]FaultCount, len(p.rules))
	for i, r := range p.rules {
		r.mu.Lock()
		counts[i] = FaultCount{Fault: r.Fault, Asked: r.asked, Met: r.met}
		r.mu.Unlock()
	}
	return counts
}
