// Package dynamo holds DynamoDB's words as Go types: values, items and keys, the inputs and
// outputs of its operations, its errors, its sizes and capacity units, and the interfaces of
// stores.
//
// [DB] is the data plane (items), [Admin] the control plane (tables). [Streams], [PartiQL],
// [Tagger] and [Archiver] are what not every store has, and [Pager] is a faster way through pages
// where a store has one. Whatever implements them is interchangeable: the embedded engine (package
// engine) and Amazon DynamoDB answer the same calls with the same results and the same errors. The
// package itself stores nothing and imports only the standard library.
//
// # Values
//
// A [Value] is one of DynamoDB's ten types. It is small (24 bytes), cheap to make and immutable:
// a value aliases the string, bytes, slice or map it was made from, which must not be changed
// afterwards.
//
//	item := dynamo.Item{
//		"PK":      dynamo.S("ACCOUNT#1"),
//		"Balance": dynamo.N("1500.5"),
//		"Tags":    dynamo.SS("personal", "checking"),
//	}
//
// A number is decimal text of up to 38 significant digits and never passes through a float. [N]
// accepts any text that DynamoDB accepts; the store refuses other text when it is asked to use
// it, as the service does. What comes back from a store is canonical: plain notation, no
// needless zeros.
//
// # Errors
//
// Every refusal is an [*Error] with DynamoDB's code and message. Ask questions with errors.Is
// and the sentinels ([ErrConditionalCheckFailed], [ErrValidation], ...), with [Retryable], or,
// for a cancelled transaction, with [Reasons], which answers by the position of the action.
package dynamo
