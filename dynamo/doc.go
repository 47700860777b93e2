// Package dynamo defines DynamoDB's data model and API as Go types: values, items and keys, the
// inputs and outputs of operations, errors, sizes and capacity units, and the interfaces of stores.
//
// [DB] is the data plane (items), [Admin] the control plane (tables). [Streams], [PartiQL],
// [Tagger] and [Archiver] are optional interfaces of a store. [Pager] is an optional, faster way to
// read pages. Implementations are interchangeable: the embedded engine (package engine) and Amazon
// DynamoDB return the same results and errors for the same calls. The package itself stores nothing
// and imports only the standard library.
//
// # Values
//
// A [Value] has one of DynamoDB's ten types. It is small (24 bytes), cheap to create and immutable.
// A value aliases the string, bytes, slice or map from which it was created, which must not be
// changed afterwards.
//
//	item := dynamo.Item{
//		"PK":      dynamo.S("ACCOUNT#1"),
//		"Balance": dynamo.N("1500.5"),
//		"Tags":    dynamo.SS("personal", "checking"),
//	}
//
// A number is decimal text of up to 38 significant digits and is never converted to a float. [N]
// accepts any text; the store refuses an invalid number when it is used, as the service does.
// Numbers from a store are canonical: plain notation without unnecessary zeros.
//
// # Errors
//
// An error of a store is an [*Error] with DynamoDB's code and message. Test it with errors.Is and
// the sentinels ([ErrConditionalCheckFailed], [ErrValidation], ...), with [Retryable], or, for a
// cancelled transaction, with [Reasons], which returns one reason for each action.
package dynamo
