// Package wire implements DynamoDB's JSON protocol. [NewHandler] returns an HTTP handler for any
// [dynamo.DB], which the AWS SDKs, the AWS CLI and all other clients of the service can use.
// [Transport] connects an SDK in the same process without a socket.
//
//	h := wire.NewHandler(db, wire.Options{})
//	server := wire.NewServer(h)
//	server.Addr = "127.0.0.1:8000"
//	err := server.ListenAndServe()
//
// # What is checked where
//
// The store validates the meaning of a request, so that callers in the same process get the same
// errors in the same order. This package reports only errors that the store cannot see: invalid
// JSON or wrong types (SerializationException), missing members, and values that the typed inputs
// cannot represent, such as an empty expression or a limit of zero.
//
// A request is decoded in one pass into the typed input, and a response is appended in one pass to
// a buffer, both without an intermediate tree. Strings of the input alias the body of the request.
// A store that is a [dynamo.Pager] passes the items of a page one by one, so that no list of items
// is built.
//
// # Limits
//
// A request has at most 16 MB, and an unknown member has at most 512 levels. Lists keep only as
// many elements as a store needs to refuse them. The memory for a decoded body is a small multiple
// of its size, and only as many requests above 1 MB are processed concurrently as there are
// processors. Slow clients are limited by the deadlines of the server: [NewServer] sets them, and a
// caller that mounts the handler elsewhere must set its own. A panic becomes an
// InternalServerError; only the log has the details.
//
// # Adding an operation
//
// An operation is a decoder, a method of the store and an encoder. A function for each family
// (offerItems in ops_items.go, for example) combines them with offer, and operationsOf calls these
// functions. Operations beyond [dynamo.DB] are added only if the store implements their interface.
//
// A decoder iterates over the members of the request with the reader, which skips null members. The
// decoder must skip unknown members:
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
// The reader keeps the first error and ends every loop, so a decoder does not check errors. It
// reports values that the input cannot represent with refuse (a ValidationException) and missing
// members with require. An encoder calls key and then a method for the value; the writer inserts
// the commas. An encoder that writes nothing makes a response with an empty body.
package wire

//go:generate go test . -run TestCompatibilityPageIsCurrent -update
