package wire

import "github.com/exchequer-dev/exchequer/dynamo"

// offerStatements adds the operations that execute statements.
func offerStatements(ops operations, partiql dynamo.PartiQL) {
	offer(ops, targetTables+"ExecuteStatement", decodeStatement, partiql.ExecuteStatement,
		encodeStatement)
	offer(ops, targetTables+"BatchExecuteStatement", decodeBatchStatements,
		partiql.BatchExecuteStatement, encodeBatchStatements)
	offer(ops, targetTables+"ExecuteTransaction", decodeTransaction, partiql.ExecuteTransaction,
		encodeTransaction)
}

// messageNoParameters is the service's message about an empty list, which a store cannot
// distinguish from a missing one.
const messageNoParameters = "1 validation error detected: Value '[]' at 'parameters' failed to " +
	"satisfy constraint: Member must have length greater than or equal to 1"

// parameters reads the values of the question marks of a statement.
func (r *reader) parameters() []dynamo.Value {
	all := many(r, func() dynamo.Value { return r.value(1) })
	// A decoding error has no list, and is reported instead.
	if len(all) == 0 && r.err == nil {
		r.refuse(messageNoParameters)
	}
	for _, v := range all {
		// A parameter of null is not a value of type NULL.
		if v.IsAbsent() {
			r.refuse(messageNoType)
		}
	}
	return all
}

func decodeStatement(r *reader, in *dynamo.ExecuteStatementInput) {
	statement := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "Statement":
			in.Statement, statement = r.string(), true
		case "Parameters":
			in.Parameters = r.parameters()
		case "ConsistentRead":
			in.ConsistentRead = r.bool()
		case "Limit":
			in.Limit = r.limit(messageScanLimit)
		case "NextToken":
			in.NextToken = r.string()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		case "ReturnValuesOnConditionCheckFailure":
			in.ReturnValuesOnConditionCheckFailure = r.returnValues()
		default:
			r.skip()
		}
	}
	r.require(statement, "statement")
}

func encodeStatement(w *writer, _ *dynamo.ExecuteStatementInput,
	out *dynamo.ExecuteStatementOutput,
) {
	w.open('{')
	w.key("Items")
	w.items(out.Items)
	w.member("NextToken", out.NextToken)
	if out.LastEvaluatedKey != nil {
		w.key("LastEvaluatedKey")
		w.item(out.LastEvaluatedKey)
	}
	w.capacity(out.ConsumedCapacity)
	w.close('}')
}

func decodeBatchStatements(r *reader, in *dynamo.BatchExecuteStatementInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "Statements":
			in.Statements = many(r, r.batchStatement)
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		default:
			r.skip()
		}
	}
	r.require(in.Statements != nil, "statements")
}

func (r *reader) batchStatement() dynamo.BatchStatement {
	var one dynamo.BatchStatement
	for r.object(); r.member(); {
		switch string(r.name) {
		case "Statement":
			one.Statement = r.string()
		case "Parameters":
			one.Parameters = r.parameters()
		case "ConsistentRead":
			one.ConsistentRead = r.bool()
		case "ReturnValuesOnConditionCheckFailure":
			one.ReturnValuesOnConditionCheckFailure = r.returnValues()
		default:
			r.skip()
		}
	}
	return one
}

func encodeBatchStatements(w *writer, _ *dynamo.BatchExecuteStatementInput,
	out *dynamo.BatchExecuteStatementOutput,
) {
	w.open('{')
	w.key("Responses")
	w.open('[')
	for i := range out.Responses {
		one := &out.Responses[i]
		w.open('{')
		w.member("TableName", one.TableName)
		if one.Item != nil {
			w.key("Item")
			w.item(one.Item)
		}
		if e := one.Error; e != nil {
			w.key("Error")
			w.open('{')
			w.member("Code", e.Code)
			w.member("Message", e.Message)
			if e.Item != nil {
				w.key("Item")
				w.item(e.Item)
			}
			w.close('}')
		}
		w.close('}')
	}
	w.close(']')
	w.capacities(out.ConsumedCapacity)
	w.close('}')
}

func decodeTransaction(r *reader, in *dynamo.ExecuteTransactionInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TransactStatements":
			in.TransactStatements = many(r, r.parameterized)
		case "ClientRequestToken":
			in.ClientRequestToken = r.string()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		default:
			r.skip()
		}
	}
	r.require(in.TransactStatements != nil, "transactStatements")
}

func (r *reader) parameterized() dynamo.ParameterizedStatement {
	var one dynamo.ParameterizedStatement
	for r.object(); r.member(); {
		switch string(r.name) {
		case "Statement":
			one.Statement = r.string()
		case "Parameters":
			one.Parameters = r.parameters()
		case "ReturnValuesOnConditionCheckFailure":
			one.ReturnValuesOnConditionCheckFailure = r.returnValues()
		default:
			r.skip()
		}
	}
	return one
}

func encodeTransaction(w *writer, _ *dynamo.ExecuteTransactionInput,
	out *dynamo.ExecuteTransactionOutput,
) {
	w.open('{')
	if out.Items != nil {
		w.key("Responses")
		w.open('[')
		for _, item := range out.Items {
			w.open('{')
			if item != nil {
				w.key("Item")
				w.item(item)
			}
			w.close('}')
		}
		w.close(']')
	}
	w.capacities(out.ConsumedCapacity)
	w.close('}')
}
