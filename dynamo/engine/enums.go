package engine

import (
	"fmt"
	"regexp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
)

// checkReturns validates the options that all writes share. The service reports them in this order.
func checkReturns(values, onFailure dynamo.ReturnValues, level dynamo.ReturnConsumedCapacity,
	metrics dynamo.ReturnItemCollectionMetrics, update bool,
) error {
	var wrong constraint.List
	switch values {
	case "", dynamo.ReturnNone, dynamo.ReturnAllOld, dynamo.ReturnUpdatedOld,
		dynamo.ReturnAllNew, dynamo.ReturnUpdatedNew:
	default:
		wrong.Enum(string(values), "returnValues",
			"[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]")
	}
	wrong.OnFailure(onFailure)
	wrong.Capacity(level)
	wrong.Metrics(metrics)
	if err := wrong.Err(); err != nil {
		return err
	}
	if !update && values != "" && values != dynamo.ReturnNone && values != dynamo.ReturnAllOld {
		return dynamo.Invalid("Return values set to invalid value")
	}
	return nil
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
	var wrong constraint.List
	if name != "" && !nameForm.MatchString(name) {
		wrong.Add(name, field, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	switch {
	case len(name) < lengthMin:
		wrong.Add(name, field,
			fmt.Sprintf("Member must have length greater than or equal to %d", lengthMin))
	case len(name) > nameLengthMax:
		wrong.Add(name, field,
			fmt.Sprintf("Member must have length less than or equal to %d", nameLengthMax))
	}
	return wrong.Err()
}
