package engine

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// throttle returns the error of a throttled call on one table or index, or nil.
func (p *faultPlan) throttle(op string, t *table, ix *index) error {
	for _, r := range p.rules {
		if r.Kind == FaultThrottle && r.throttles(op, t, ix) && r.applies() {
			return p.db.faults.throttled(r, op, t, ix)
		}
	}
	return nil
}

// throttles reports whether a rule can throttle a call. If the rule has a reason, the reason must
// fit the call: a read or a write, of the table or of an index.
func (f *Fault) throttles(op string, t *table, ix *index) bool {
	if !f.at(site{op: op, table: t.Name, index: f.Index}) {
		return false
	}
	var index string // the index whose capacity is used
	// A local index uses the capacity of its table.
	if ix != nil && !ix.Local {
		index = ix.Name
	}
	// A write to the table is throttled by any of its global indexes, because it must be written to
	// them, too.
	if writes(op) {
		index = t.throttledBy(f.Index)
	}
	if f.Index != "" && f.Index != index {
		return false
	}
	// Without a reason any call can be throttled.
	if f.Reason == "" {
		return true
	}
	side := "Read"
	if writes(op) {
		side = "Write"
	}
	if strings.HasPrefix(f.Reason, "Index") {
		return index != "" && strings.HasPrefix(f.Reason, "Index"+side)
	}
	// A write uses the table's capacity in any case, a read only if it is not of a global index.
	return strings.HasPrefix(f.Reason, "Table"+side) && (index == "" || writes(op))
}

// throttledBy returns the name of the global index with that name, or of the first global index if
// name is empty, or "" if there is none.
func (t *table) throttledBy(name string) string {
	for _, ix := range t.indexes {
		if !ix.Local && (name == "" || name == ix.Name) {
			return ix.Name
		}
	}
	return ""
}

// The service's messages about throttling.
const (
	messageTableProvisioned = "The level of configured provisioned throughput for the table was " +
		"exceeded. Consider increasing your provisioning level with the UpdateTable API."
	messageIndexProvisioned = "The level of configured provisioned throughput for one or more " +
		"global secondary indexes of the table was exceeded. Consider increasing your " +
		"provisioning level for the under-provisioned global secondary indexes with the " +
		"UpdateTable API"
	messageTableThrottled = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. If " +
		"exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/" +
		"amazondynamodb/latest/developerguide/bp-partition-key-design.html."
	messageIndexThrottled = "Throughput exceeds the current capacity for one or more global " +
		"secondary indexes. DynamoDB is automatically scaling your index so please try again " +
		"shortly."
	messageAccountLimit = "Throughput exceeds the current throughput limit for your account. " +
		"Please contact AWS Support at https://aws.amazon.com/support request a limit increase"
)

// throttled returns the error of a throttled call. Without a code and reason in the rule, they are
// those that a table with this billing mode usually gets.
func (f *faulting) throttled(r *faultRule, op string, t *table, ix *index) *dynamo.Error {
	index := ""
	switch {
	case writes(op) && (r.Index != "" || strings.HasPrefix(r.Reason, "Index")):
		index = t.throttledBy(r.Index)
	case !writes(op) && ix != nil && !ix.Local:
		index = ix.Name
	}
	resource, where, side := f.tableARN(t), "Table", "Read"
	if index != "" {
		resource, where = resource+"/index/"+index, "Index"
	}
	if writes(op) {
		side = "Write"
	}
	reason, code := r.Reason, r.Code
	if reason == "" {
		reason = where + side + limitOf(code, t)
	}
	if code == "" {
		code = codeOf(reason, t)
	}
	e := &dynamo.Error{Code: code, ThrottlingReasons: []dynamo.ThrottlingReason{
		{Reason: reason, Resource: resource},
	}}
	switch {
	case code == dynamo.CodeRequestLimitExceeded:
		e.Message = messageAccountLimit
	case code == dynamo.CodeThrottling && index != "" && writes(op):
		e.Message = messageIndexThrottled
	case code == dynamo.CodeThrottling:
		e.Message = messageTableThrottled
	case index != "":
		e.Message = messageIndexProvisioned
	default:
		e.Message = messageTableProvisioned
	}
	return e
}

// limitOf returns the limit that a table exceeds if it gets this error code. Without a code it is
// the usual limit of the table's billing mode.
func limitOf(code dynamo.ErrorCode, t *table) string {
	switch {
	case code == dynamo.CodeRequestLimitExceeded:
		return limitAccount
	// The service has one limit for each code, so the code selects the reason.
	case code == dynamo.CodeProvisionedThroughput,
		code == "" && t.Billing == dynamo.BillingProvisioned:
		return limitProvisioned
	}
	return limitKeyRange
}

// codeOf returns the error code that the service uses for a reason.
func codeOf(reason string, t *table) dynamo.ErrorCode {
	switch {
	case strings.HasSuffix(reason, limitAccount):
		return dynamo.CodeRequestLimitExceeded
	case strings.HasSuffix(reason, limitProvisioned),
		strings.HasSuffix(reason, limitKeyRange) && t.Billing == dynamo.BillingProvisioned:
		return dynamo.CodeProvisionedThroughput
	}
	return dynamo.CodeThrottling
}

func (f *faulting) tableARN(t *table) string {
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", f.db.opts.Region, f.db.opts.AccountID,
		t.Name)
}
