// Package rest is the HTTP API of the systems: JSON under /v1, described by OpenAPI.
//
// # Words
//
// Names in URLs and bodies are those of the ledger. An amount is a JSON string next to a currency,
// since many readers of JSON turn numbers into floats. An instant is UTC with milliseconds, a day
// is 2026-01-31. A list is {"items": [...], "next": "..."}; next is an opaque cursor, absent on the
// last page.
//
// # Problems
//
// Whatever goes wrong is answered by a problem document (RFC 9457) with the members type, title,
// status, detail, instance (the id of the request), kind, code, hint, fields and details. Branch on
// the code. One table maps kinds to statuses; see Status.
//
// # Repeats
//
// POST /v1/transactions demands an Idempotency-Key. The first answer has status 201; an equal
// request gets the same body with status 200 and the header Idempotent-Replayed: true. Where the
// key is optional, an id in the body does the same; a payment to schedule has no other way, and its
// repeat gets the payment as it has become. Other operations do not read the header: what a request
// names, such as the id of a location, a rule or an upload, is its key.
//
// # Costs
//
// Every answer of /v1 has in Exchequer-Calls, Exchequer-Read-Units and Exchequer-Write-Units what
// it took of the store, in DynamoDB's capacity units.
package rest
