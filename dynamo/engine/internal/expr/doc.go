// Package expr is DynamoDB's expression language: condition, filter, key condition, projection
// and update expressions.
//
// Text becomes something to run in two steps. A [Parser] parses each distinct set of texts once
// and keeps the result. [Parser.Prepare] then joins it with the names and values of one call and
// reports everything that can be wrong with them, before any item is read: syntax, limits,
// reserved words, placeholders that are missing or unused, operands of the wrong type,
// paths that overlap. What Prepare returns can be applied to any number of items; a [Condition]
// never fails, and an [Update] fails only for what the item holds.
//
//	prepared, err := parser.Prepare(&expr.Request{
//		Condition: "attribute_exists(PK) AND Balance >= :amount",
//		Update:    "SET Balance = Balance - :amount",
//		Values:    map[string]dynamo.Value{":amount": dynamo.N("12.50")},
//	})
//	if err != nil {
//		return err // a *dynamo.Error with the service's text
//	}
//	if !prepared.Condition.Holds(item) {
//		return dynamo.ConditionalCheckFailed(nil)
//	}
//	item, err = prepared.Update.Apply(item)
//
// The grammar, the order of the checks and the wording of the refusals follow the service. They
// are documented in "Expressions in DynamoDB" of the developer guide as far as it goes; the rest
// is what the service was seen to answer.
package expr
