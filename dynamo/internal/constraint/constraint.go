// Package constraint collects the violated constraints of a request and reports them as the service
// does: all of them in one message. It is shared by the packages that validate requests, because
// programs compare these messages.
package constraint

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// List holds the violated constraints of one request in the order in which they were found.
type List []string

// Enum adds a value that is not in a set.
func (c *List) Enum(value, field, set string) {
	c.Add(value, field, "Member must satisfy enum value set: "+set)
}

// Add adds a value that breaks a rule.
func (c *List) Add(value, field, rule string) {
	*c = append(*c, fmt.Sprintf("Value '%s' at '%s' failed to satisfy constraint: %s",
		value, field, rule))
}

// Capacity checks the level of the reported capacity.
func (c *List) Capacity(level dynamo.ReturnConsumedCapacity) {
	switch level {
	case "", dynamo.CapacityNone, dynamo.CapacityTotal, dynamo.CapacityIndexes:
	default:
		c.Enum(string(level), "returnConsumedCapacity", "[INDEXES, TOTAL, NONE]")
	}
}

// Metrics checks whether the size of item collections is reported.
func (c *List) Metrics(m dynamo.ReturnItemCollectionMetrics) {
	switch m {
	case "", dynamo.MetricsNone, dynamo.MetricsSize:
	default:
		c.Enum(string(m), "returnItemCollectionMetrics", "[SIZE, NONE]")
	}
}

// OnFailure checks the item that is returned if a condition fails.
func (c *List) OnFailure(values dynamo.ReturnValues) {
	switch values {
	case "", dynamo.ReturnNone, dynamo.ReturnAllOld:
	default:
		c.Enum(string(values), "returnValuesOnConditionCheckFailure", "[ALL_OLD, NONE]")
	}
}

// Err returns one error for all violated constraints, in the form of DynamoDB's message, or nil.
func (c List) Err() error {
	switch len(c) {
	case 0:
		return nil
	case 1:
		return dynamo.Invalid("1 validation error detected: " + c[0])
	}
	return dynamo.Invalid(fmt.Sprintf("%d validation errors detected: %s", len(c),
		strings.Join(c, "; ")))
}
