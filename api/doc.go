// Package api is the HTTP API as values: its JSON types, each once, and its operations, each once.
// The server serves the operations, the client calls them, and the commands show their answers.
//
// # Operations
//
// An [Op] has the type of its request and of its answer. The tags path, query and header of the
// request's fields have the name under which a field is sent. The tag body marks the body:
//
//	type SaveRateRequest struct {
//		Base    money.Currency `path:"base"`
//		Target  money.Currency `path:"target"`
//		NewRate NewRate        `body:""`
//	}
//
// Fields of embedded structs count as the struct's own. A field that is zero is not sent, unless it
// is part of the path or the body. The tags doc, example, enum, minimum, maximum, default and
// format describe a field in the OpenAPI document.
//
// # Values
//
// An amount is a string, and its currency is another member, because many readers of JSON turn
// numbers into floats.
// An [Instant] is UTC with milliseconds, a [Date] is a calendar day. A [List] is a page of rows.
package api
