package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Faults inject errors and delays that the service can produce, to find wrong assumptions in tests.
// Every response is one that the service may give, and acknowledged writes stay true: writes,
// conditions, transactions and strongly consistent reads always use the present state.
//
// The faults are determined by the seed, by the number of calls that matched each rule, and by the
// clock of Options. A program that makes its calls from one goroutine gets the same faults each
// time.
type Faults struct {
	// Seed selects the calls that get faults. Zero is a valid seed.
	Seed uint64
	// Rules are the faults to inject. If several rules refuse a call, the first one decides its
	// error.
	Rules []Fault
	// Sleep waits for FaultLatency. By default it waits for the time or the end of the context.
	// Tests can set a function that only records the time.
	Sleep func(ctx context.Context, d time.Duration) error
}

// FaultKind is the effect of a rule.
type FaultKind string

// The kinds of faults.
const (
	// FaultThrottle refuses calls because of their rate, with Code and Reason. In a transaction, an
	// action is cancelled for this reason. In a batch, the members of a throttled table stay
	// unprocessed, or the batch is refused if all tables are throttled.
	FaultThrottle FaultKind = "throttle"
	// FaultConflict refuses single writes with a TransactionConflictException, and cancels
	// transactions with the reason TransactionConflict at one of their actions.
	FaultConflict FaultKind = "conflict"
	// FaultUnprocessed leaves members of batches unprocessed, each independently. At least one
	// member of a batch succeeds unless All is set, so that retries terminate.
	FaultUnprocessed FaultKind = "unprocessed"
	// FaultEarlyPage ends pages of Query and Scan after at most Items evaluated items, with a
	// LastEvaluatedKey even if no item follows. With a filter such a page may be empty.
	FaultEarlyPage FaultKind = "early-page"
	// FaultLatency delays calls by Delay, or by a random time from Delay to DelayMax.
	FaultLatency FaultKind = "latency"
	// FaultIndexLag serves reads of global indexes from an older state: index rows and items of one
	// moment, at most Delay (or a random time up to DelayMax) ago. With Held the reads see no later
	// write until [DB.CatchUp].
	FaultIndexLag FaultKind = "index-lag"
	// FaultStaleRead serves eventually consistent reads from an older state in the same way. A
	// later read may see an even older state, as on the service.
	FaultStaleRead FaultKind = "stale-read"
	// FaultExpiryDelay keeps items for Delay after they expired.
	FaultExpiryDelay FaultKind = "expiry-delay"
	// FaultLostAnswer makes a write and returns an InternalServerError. On the service, too, the
	// result of a write is unknown after this error.
	FaultLostAnswer FaultKind = "lost-answer"
)

// Fault is one rule: its kind, the calls that it matches and how often it applies. An empty field
// does not restrict the calls.
type Fault struct {
	Kind FaultKind

	// Table, Index and Operation restrict the rule to calls on them. An operation has its name in
	// the service's API, such as "PutItem". A PartiQL statement counts as the operation that
	// executes it. A rule that throttles writes and names an index is the back pressure of that
	// index on its table.
	Table, Index, Operation string

	// Rate is the share of matching calls to which the rule applies, from 0 to 1. Every applies the
	// rule to every n-th matching call instead. With neither, the rule applies to all. For
	// FaultUnprocessed, the members of batches are counted and not the calls.
	Rate  float64
	Every int
	// Times is the maximum number of times that the rule applies; 0 means no maximum.
	Times int

	// Code and Reason are the error of a FaultThrottle: one of ThrottleCodes and one of
	// ThrottleReasons. By default they follow from the billing mode of the table and from the call.
	Code   dynamo.ErrorCode
	Reason string

	// Delay and DelayMax are the times of the kinds that have one. They are measured by the clock
	// of Options, except for FaultLatency.
	Delay, DelayMax time.Duration
	// Held makes a FaultIndexLag or FaultStaleRead last until [DB.CatchUp].
	Held bool
	// Items is the maximum number of items that a FaultEarlyPage evaluates; 3 by default.
	Items int
	// All allows a FaultUnprocessed to leave a whole batch unprocessed.
	All bool
}

// itemsDefault is small, so that even the small data of tests needs several pages.
const itemsDefault = 3

// Strict returns the faults that find the most bugs and that a correct program handles: pages that
// end early, partially processed batches, transaction conflicts, and global indexes with a short
// delay. Change Seed to select other calls.
func Strict() Faults {
	return Faults{Seed: 1, Rules: []Fault{
		{Kind: FaultEarlyPage, Rate: 0.5},
		{Kind: FaultUnprocessed, Rate: 0.3},
		{Kind: FaultConflict, Rate: 0.1},
		{Kind: FaultIndexLag, Rate: 0.5, Delay: strictLag},
	}}
}

// strictLag is the approximate delay of the service's global indexes in normal operation.
const strictLag = 20 * time.Millisecond

// The operations that rules can name.
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

// faultOperations returns the operations that a kind applies to.
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

// FaultKinds returns the kinds of faults, in the order of their constants.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultThrottle, FaultConflict, FaultUnprocessed, FaultEarlyPage,
		FaultLatency, FaultIndexLag, FaultStaleRead, FaultExpiryDelay, FaultLostAnswer}
}

// ThrottleCodes returns the error codes of throttled calls.
func ThrottleCodes() []dynamo.ErrorCode {
	return []dynamo.ErrorCode{dynamo.CodeProvisionedThroughput, dynamo.CodeThrottling,
		dynamo.CodeRequestLimitExceeded}
}

// The limits that a throttled call can exceed. They are the last part of a reason.
const (
	limitProvisioned = "ProvisionedThroughputExceeded"
	limitAccount     = "AccountLimitExceeded"
	limitKeyRange    = "KeyRangeThroughputExceeded"
	limitOnDemand    = "MaxOnDemandThroughputExceeded"
)

// ThrottleReasons returns the sixteen reasons that the service gives for a throttled call.
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

// check returns an error if the rule is invalid.
func (f *Fault) check() error {
	if !slices.Contains(FaultKinds(), f.Kind) {
		return fmt.Errorf("unknown fault %q; use one of %s", f.Kind,
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
	ops := faultOperations(f.Kind)
	switch {
	case f.Operation == "", slices.Contains(ops, f.Operation):
	case ops == nil:
		return fmt.Errorf("fault %s has no op, because it does not depend on calls", f.Kind)
	default:
		return fmt.Errorf("fault %s does not apply to operation %q, only to %s", f.Kind,
			f.Operation, listed(ops))
	}
	return f.checkNumbers(has)
}

// faultParts are the optional fields that a kind supports.
type faultParts struct{ index, delay, held bool }

// parts returns the options that the kind of the fault has.
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
		return fmt.Errorf("fault %s: use held or a delay, not both", f.Kind)
	case f.Code != "" && !slices.Contains(ThrottleCodes(), f.Code):
		return fmt.Errorf("fault throttle: unknown code %q; use one of %s", f.Code,
			listed(ThrottleCodes()))
	case f.Reason != "" && !slices.Contains(ThrottleReasons(), f.Reason):
		return fmt.Errorf("fault throttle: unknown reason %q; use one of %s", f.Reason,
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

// SetFaults replaces the faults of the database, beginning with the next call. Faults without rules
// turn all faults off. Data that previous faults delayed becomes visible.
func (db *DB) SetFaults(f Faults) error {
	plan, err := db.faults.newPlan(f)
	if err != nil {
		return err
	}
	if err := db.begin(context.Background()); err != nil {
		return err
	}
	defer db.end()
	return db.faults.plan.Swap(plan).close()
}

// CatchUp makes all writes visible to global indexes and eventually consistent reads that faults
// delay. A rule with Held then shows this state until the next CatchUp.
func (db *DB) CatchUp() error {
	if err := db.begin(context.Background()); err != nil {
		return err
	}
	defer db.end()
	return db.faults.plan.Load().catchUp()
}

// FaultCount is the activity of a rule.
type FaultCount struct {
	Fault Fault
	// Asked is the number of calls that the rule matched, Met the number to which it applied.
	Asked, Met int64
}

// FaultCounts returns the activity of each rule since SetFaults, in their order, or nil without
// faults.
func (db *DB) FaultCounts() []FaultCount {
	p := db.faults.plan.Load()
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
