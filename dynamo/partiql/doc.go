// Package partiql executes statements in DynamoDB's dialect of PartiQL over any [dynamo.DB] that
// can describe its tables. An [Executor] implements [dynamo.PartiQL].
//
//	db, err := engine.OpenMemory(engine.Options{})
//	...
//	out, err := partiql.New(db).ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
//		Statement: `SELECT Song FROM "Music" WHERE Artist = ?`, Parameters: artist,
//	})
//
// A statement is executed by the operations of the store: a SELECT by a Query, several Queries, or
// a Scan; an INSERT by a Put with the condition that the item does not exist; an UPDATE by an
// Update with its WHERE as the condition; a DELETE by a Delete. Statements therefore have the
// isolation, the limits and the errors of these operations.
//
// A page of a SELECT evaluates up to 1 MB in all its ranges together. If a filter cannot be sent to
// the store, because the store does not accept conditions on keys as filters, the items are
// filtered here. A page costs the same in both cases, because filtered items are charged too.
package partiql
