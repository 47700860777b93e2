package dynamo

import (
	"context"
	"iter"
)

// Attributes is an item whose attributes are decoded one by one, in no particular order, for
// callers that only pass them on.
type Attributes = iter.Seq2[string, Value]

// Pager is a store that passes the items of a page one by one to a function while it reads them,
// without building a list. An item is valid only until the function returns, and no item may be
// used before the method has returned without an error. Items in the output stays empty; everything
// else is as in [DB].
type Pager interface {
	QueryEach(ctx context.Context, in *QueryInput, each func(Attributes)) (*QueryOutput, error)
	ScanEach(ctx context.Context, in *ScanInput, each func(Attributes)) (*ScanOutput, error)
}
