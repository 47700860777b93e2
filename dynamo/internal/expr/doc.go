// Package expr implements DynamoDB's expression language: condition, filter, key condition,
// projection and update expressions.
//
// Texts are prepared in two steps. A [Parser] parses each distinct set of texts once and caches the
// result. [Parser.Prepare] then combines it with the names and values of one call and reports all
// errors before any item is read: syntax, limits, reserved words, missing or unused placeholders,
// operands of the wrong type, overlapping paths. The result can be applied to any number of items.
// A [Condition] never fails, and an [Update] fails only because of the content of the item.
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
// The grammar, the order of the checks and the messages are those of the service. They follow
// "Expressions in DynamoDB" of the developer guide, and the observed behavior of the service where
// the guide is incomplete.
package expr
