// Package wire speaks DynamoDB's JSON protocol: [NewHandler] makes of any [dynamo.DB] an HTTP
// handler that the AWS SDKs, the AWS CLI and every other client of the service can use, and
// [Transport] lets an SDK in the same process use it with no socket.
//
//	h := wire.NewHandler(db, wire.Options{})
//	server := wire.NewServer(h)
//	server.Addr = "127.0.0.1:8000"
//	err := server.ListenAndServe()
//
// # What is checked where
//
// The store checks what a request means, so that callers in process get the same errors in the
// same order. This package reports only what the store never sees: text that is no JSON or of
// wrong types (SerializationException), members that are missing, and what the typed inputs
// cannot express, such as an expression that is given but empty, or a limit of zero.
//
// A request is read in one pass into the typed input and an answer appended in one pass to a
// buffer; no tree is built on either way. Strings of the input alias the request's body. A store
// that is a [dynamo.Pager] hands over the items of a page one by one, and none is built at all.
//
// # What clients cannot do
//
// A request has at most 16 MB and an unknown member at most 512 levels; lists keep no more members
// than a store may accept; what is read from a body is a small multiple of it, and requests beyond
// 1 MB are in work as many at once as there are processors. Slow clients are for the server's
// deadlines: [NewServer] sets them, and whoever mounts the handler elsewhere sets their own. A
// panic becomes an InternalServerError, and the log says more than the client is told.
//
// # Adding an operation
//
// An operation is a decoder, a method of the store and an encoder, put together by offer in a
// function per family (offerItems in ops_items.go is one) that operationsOf calls, for an
// interface beyond [dynamo.DB] only if the store implements it.
//
// A decoder walks the members of the request with the reader; null members are passed over, and
// members that it does not know it must skip:
//
//	for r.object(); r.member(); {
//		switch string(r.name) {
//		case "TableName":
//			in.TableName = r.string()
//		default:
//			r.skip()
//		}
//	}
//
// Errors stay in the reader and end every loop, so a decoder does not look at them. It may report
// what the input cannot express with refuse (a ValidationException) and require (missing members).
// An encoder writes with key and a method for the value; commas come by themselves. One that
// writes nothing answers with an empty body.
package wire

//go:generate go test . -run TestCompatibilityPageIsCurrent -update
