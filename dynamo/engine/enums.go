package engine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// checkReturns validates the options that all writes share. The service reports them in this order.
func checkReturns(values, onFailure dynamo.ReturnValues, level dynamo.ReturnConsumedCapacity,
	metrics dynamo.ReturnItemCollectionMetrics, update bool,
) error {
	var wrong constraints
	switch values {
	case "", dynamo.ReturnNone, dynamo.ReturnAllOld, dynamo.ReturnUpdatedOld,
		dynamo.ReturnAllNew, dynamo.ReturnUpdatedNew:
	default:
		wrong.enum(string(values), "returnValues",
			"[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]")
	}
	wrong.onFailure(onFailure)
	wrong.capacity(level)
	wrong.metrics(metrics)
	if err := wrong.err(); err != nil {
		return err
	}
	if !update && values != "" && values != dynamo.ReturnNone && values != dynamo.ReturnAllOld {
		return dynamo.Invalid("Return values set to invalid value")
	}
	return nil
}

// constraints collects the violated constraints of a request. The service reports all of them in
// one message.
type constraints []string

func (c *constraints) enum(value, field, set string) {
	c.add(value, field, "Member must satisfy enum value set: "+set)
}

func (c *constraints) add(value, field, rule string) {
	*c = append(*c, fmt.Sprintf("Value '%s' at '%s' failed to satisfy constraint: %s",
		value, field, rule))
}

func (c *constraints) capacity(level dynamo.ReturnConsumedCapacity) {
	switch level {
	case "", dynamo.CapacityNone, dynamo.CapacityTotal, dynamo.CapacityIndexes:
	default:
		c.enum(string(level), "returnConsumedCapacity", "[INDEXES, TOTAL, NONE]")
	}
}

func (c *constraints) metrics(m dynamo.ReturnItemCollectionMetrics) {
	switch m {
	case "", dynamo.MetricsNone, dynamo.MetricsSize:
	default:
		c.enum(string(m), "returnItemCollectionMetrics", "[SIZE, NONE]")
	}
}

func (c *constraints) onFailure(values dynamo.ReturnValues) {
	switch values {
	case "", dynamo.ReturnNone, dynamo.ReturnAllOld:
	default:
		c.enum(string(values), "returnValuesOnConditionCheckFailure", "[ALL_OLD, NONE]")
	}
}

// err returns one error for all failed constraints, in the form of DynamoDB's message, or nil.
func (c constraints) err() error {
	switch len(c) {
	case 0:
		return nil
	case 1:
		return dynamo.Invalid("1 validation error detected: " + c[0])
	}
	return dynamo.Invalid(fmt.Sprintf("%d validation errors detected: %s", len(c),
		strings.Join(c, "; ")))
}

// nameForm is the form of the name of a table or index.
var nameForm = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)

// Lengths of the names of tables and indexes.
const (
	nameLengthMin = 3
	nameLengthMax = 255
)

// checkTableName validates the name of a table. Calls on items accept names from one character on.
func checkTableName(name string, lengthMin int) error {
	return checkResourceName(name, "tableName", lengthMin)
}

// checkResourceName checks the name of a table or an index. An empty name fails only the minimum
// length, as in DynamoDB.
func checkResourceName(name, field string, lengthMin int) error {
	var wrong constraints
	if name != "" && !nameForm.MatchString(name) {
		wrong.add(name, field, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	switch {
	case len(name) < lengthMin:
		wrong.add(name, field,
			fmt.Sprintf("Member must have length greater than or equal to %d", lengthMin))
	case len(name) > nameLengthMax:
		wrong.add(name, field,
			fmt.Sprintf("Member must have length less than or equal to %d", nameLengthMax))
	}
	return wrong.err()
}
