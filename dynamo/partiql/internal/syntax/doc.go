// Package syntax parses statements in DynamoDB's dialect of PartiQL and translates them to
// DynamoDB's expression language.
//
// A [Parser] parses the text of a statement to a [Statement], a syntax tree that does not depend on
// a table, and caches it. [Statement.Bind] combines it with the parameters of one call. The
// [Binding] then translates its conditions and changes to the expressions of PutItem, UpdateItem,
// DeleteItem, Query and Scan. A statement can therefore do exactly what those calls can, and the
// rules about values, operands and paths are implemented once.
//
//	st, err := parser.Parse(`UPDATE "Music" SET Plays = Plays + 1 WHERE Artist = ?`)
//	...
//	b, err := st.Bind([]dynamo.Value{dynamo.S("Acme Band")})
//	...
//	update, err := b.Update(st.Changes)   // SET #0 = #0 + :0
//	condition, err := b.Condition(st.Where) // #1 = :1
//
// The package uses no store and no clock. All errors are [dynamo.Error] with the service's code
// and, if it is known, its text. Positions in texts count lines, and characters of a line, from 1.
//
// The grammar is that of "PartiQL - a SQL-compatible query language for Amazon DynamoDB" in the
// developer guide, completed by the observed behavior of the service.
package syntax
