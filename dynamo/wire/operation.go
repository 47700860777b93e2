package wire

import (
	"context"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
)

// operation decodes its input from the body of a request, calls the store and writes the response.
type operation func(ctx context.Context, r *reader, w *writer) error

// operations maps the targets of requests, such as "DynamoDB_20120810.GetItem", to operations. A
// missing target returns an UnknownOperationException.
type operations map[string]operation

// The prefixes of targets, one for each of the service's two models.
const (
	targetTables  = "DynamoDB_20120810."
	targetStreams = "DynamoDBStreams_20120810."
)

// offer adds an operation under its target. decode sets the fields of the input and keeps errors in
// the reader; encode writes the response, or nothing for an empty body.
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

// inItsWords converts a store's error to the form of parameters that the request used.
func (r *reader) inItsWords(err error) error {
	if r.legacy {
		return inLegacyWords(err)
	}
	return err
}

// operationsOf returns the operations of a store: those on items, and those of its other
// interfaces.
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
	if statements := statementsOf(db); statements != nil {
		offerStatements(ops, statements)
	}
	if archiver, ok := db.(dynamo.Archiver); ok {
		offerArchives(ops, archiver)
	}
	return ops
}

// statementsOf returns what executes the statements of a store: the store itself, if it does, or an
// executor over its operations.
func statementsOf(db dynamo.DB) dynamo.PartiQL {
	if statements, ok := db.(dynamo.PartiQL); ok {
		return statements
	}
	if store, ok := db.(partiql.Store); ok {
		return partiql.New(store)
	}
	return nil
}

// textOf returns a string that aliases b.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
