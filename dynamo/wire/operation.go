package wire

import (
	"context"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// operation reads its input from a request's body, calls the store and appends the answer.
type operation func(ctx context.Context, r *reader, w *writer) error

// operations maps the targets of requests, such as "DynamoDB_20120810.GetItem", to what serves
// them. An operation that is not there is answered by an UnknownOperationException.
type operations map[string]operation

// The prefixes of targets: the service's two models.
const (
	targetTables  = "DynamoDB_20120810."
	targetStreams = "DynamoDBStreams_20120810."
)

// offer adds an operation under its target. Decode fills the input from the members that it finds
// and leaves errors in the reader; encode appends the answer, or nothing for an empty body.
func offer[In, Out any](ops operations, target string, decode func(*reader, *In),
	call func(context.Context, *In) (Out, error), encode func(*writer, *In, Out),
) {
	ops[target] = func(ctx context.Context, r *reader, w *writer) error {
		in := new(In)
		decode(r, in)
		if err := r.end(); err != nil {
			return err
		}
		out, err := call(ctx, in)
		if err != nil {
			return r.inItsWords(err)
		}
		encode(w, in, out)
		return nil
	}
}

// inItsWords returns a store's error in the words of the forms that the request used.
func (r *reader) inItsWords(err error) error {
	if r.legacy {
		return inLegacyWords(err)
	}
	return err
}

// operationsOf lists what a store can serve: besides items, that is what it has an interface for.
func operationsOf(db dynamo.DB) operations {
	ops := operations{}
	offerItems(ops, db)
	offerPages(ops, db)
	offerBatches(ops, db)
	offerTransactions(ops, db)
	offerService(ops)
	if admin, ok := db.(dynamo.Admin); ok {
		offerTables(ops, admin)
		offerExpiry(ops, admin)
	}
	if tagger, ok := db.(dynamo.Tagger); ok {
		offerTags(ops, tagger)
	}
	if streams, ok := db.(dynamo.Streams); ok {
		offerStreams(ops, streams)
	}
	if partiql, ok := db.(dynamo.PartiQL); ok {
		offerStatements(ops, partiql)
	}
	if archiver, ok := db.(dynamo.Archiver); ok {
		offerArchives(ops, archiver)
	}
	return ops
}

// textOf returns a string that aliases b.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
