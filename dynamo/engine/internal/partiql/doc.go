// Package partiql reads statements of DynamoDB's dialect of PartiQL and says what they mean in
// DynamoDB's expression language.
//
// A [Parser] turns the text of a statement into a [Statement], a syntax tree that knows no table,
// and remembers it. [Statement.Bind] joins it with the parameters of one call; the [Binding] then
// writes its conditions and changes as expressions, the very ones that PutItem, UpdateItem,
// DeleteItem, Query and Scan have. So a statement can do no more and no less than those calls,
// and every rule about values, operands and paths is kept in one place.
//
//	st, err := parser.Parse(`UPDATE "Music" SET Plays = Plays + 1 WHERE Artist = ?`)
//	...
//	b, err := st.Bind([]dynamo.Value{dynamo.S("Acme Band")})
//	...
//	update, err := b.Update(st.Changes)   // SET #0 = #0 + :0
//	condition, err := b.Condition(st.Where) // #1 = :1
//
// Nothing here reads a store or a clock. All errors are [dynamo.Error] with the service's code
// and, where it is known, its text. Positions in texts count lines, and characters of a line,
// from 1.
//
// The grammar is the one of "PartiQL - a SQL-compatible query language for Amazon DynamoDB" in
// the developer guide. Where that is silent, it is what the service was seen to accept.
package partiql
