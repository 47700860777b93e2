package dynamo

import (
	"context"
	"iter"
)

// Attributes is an item whose attributes are made one after the other, in no order, for someone who
// only passes them on.
type Attributes = iter.Seq2[string, Value]

// Pager is a store that hands over the items of a page one by one, as it reads them, instead of
// building a list of them. An item is valid only until the function that gets it returns, and none
// counts before the method has returned without an error. Items stays empty in the output; all
// else is as in [DB].
type Pager interface {
	QueryEach(ctx context.Context, in *QueryInput, each func(Attributes)) (*QueryOutput, error)
	ScanEach(ctx context.Context, in *ScanInput, each func(Attributes)) (*ScanOutput, error)
}
