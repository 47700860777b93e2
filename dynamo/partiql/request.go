package partiql

import (
	"context"
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// request is one Query or Scan of a SELECT.
type request struct {
	*span
	limit int // 0 means none
	after dynamo.Key
	level dynamo.ReturnConsumedCapacity
}

// part is the result of a request.
type part struct {
	items    []dynamo.Item
	filtered bool // the store evaluated the filter
	scanned  int
	last     dynamo.Key
	consumed *dynamo.ConsumedCapacity
}

// ask sends a request to the store.
func (s *selection) ask(ctx context.Context, r *request) (*part, error) {
	p := &part{filtered: s.filters()}
	if r.scan {
		in := &dynamo.ScanInput{
			TableName: s.st.Table, IndexName: s.st.Index, Select: s.attributes(),
			ConsistentRead: s.consistent, Limit: r.limit, ExclusiveStartKey: r.after,
			ReturnConsumedCapacity: r.level,
		}
		if p.filtered {
			in.FilterExpression, in.Expressions = s.st.condition, s.st.bound.Expressions
		}
		out, err := s.db.Scan(ctx, in)
		if err != nil {
			return nil, err
		}
		p.items, p.scanned, p.last = out.Items, out.ScannedCount, out.LastEvaluatedKey
		p.consumed = out.ConsumedCapacity
		return p, nil
	}
	in := &dynamo.QueryInput{
		TableName: s.st.Table, IndexName: s.st.Index, Select: s.attributes(),
		ConsistentRead: s.consistent, Limit: r.limit, ExclusiveStartKey: r.after,
		ScanIndexBackward: s.reverse, ReturnConsumedCapacity: r.level,
	}
	if p.filtered {
		in.FilterExpression = s.st.condition
		in.ExpressionAttributeNames = maps.Clone(s.st.bound.Expressions.ExpressionAttributeNames)
		in.ExpressionAttributeValues = maps.Clone(s.st.bound.Expressions.ExpressionAttributeValues)
	}
	s.keyCondition(in, r.span)
	out, err := s.db.Query(ctx, in)
	if err != nil {
		return nil, err
	}
	p.items, p.scanned, p.last = out.Items, out.ScannedCount, out.LastEvaluatedKey
	p.consumed = out.ConsumedCapacity
	return p, nil
}

// attributes returns the attributes that are read. A local index reads those that it does not hold
// from the table.
func (s *selection) attributes() dynamo.Select {
	if s.fetch {
		return dynamo.SelectAllAttributes
	}
	return ""
}

// filters reports whether the store can evaluate the filter. A Query refuses a filter on the keys.
// With several ranges, the sizes of all evaluated items are needed, because a page ends at 1 MB.
func (s *selection) filters() bool {
	if s.filter == nil || len(s.spans) > 1 {
		return false
	}
	return s.spans[0].scan || !slices.ContainsFunc(s.filter.TopLevel(), func(name string) bool {
		return name == s.hash.name || s.sort != nil && name == s.sort.name
	})
}

// Placeholders of the key condition. Those of a statement's condition are numbered.
const (
	hashName, hashValue  = "#hash", ":hash"
	sortName             = "#sort"
	sortValue, sortUntil = ":sort", ":until"
)

// keyCondition sets the key condition of a range.
func (s *selection) keyCondition(in *dynamo.QueryInput, sp *span) {
	if in.ExpressionAttributeNames == nil {
		in.ExpressionAttributeNames = map[string]string{}
	}
	if in.ExpressionAttributeValues == nil {
		in.ExpressionAttributeValues = map[string]dynamo.Value{}
	}
	in.KeyConditionExpression = hashName + " = " + hashValue
	in.ExpressionAttributeNames[hashName] = s.hash.name
	in.ExpressionAttributeValues[hashValue] = sp.hash
	text, values := sp.sortCondition()
	if text == "" {
		return
	}
	in.KeyConditionExpression += " AND " + text
	in.ExpressionAttributeNames[sortName] = s.sort.name
	for i, placeholder := range []string{sortValue, sortUntil}[:len(values)] {
		in.ExpressionAttributeValues[placeholder] = values[i]
	}
}

// sortCondition returns the condition on the sort key and its values. That of a union may hold for
// more than the union, because a key condition cannot exclude one end of a range with two ends.
func (sp *span) sortCondition() (text string, values []dynamo.Value) {
	switch {
	case sp.merged:
		return sp.mergedCondition()
	case sp.term == nil:
		return "", nil
	}
	switch term := sp.term[0]; term.Op {
	case expr.OpBetween:
		return sortName + " BETWEEN " + sortValue + " AND " + sortUntil, term.Values
	case expr.OpBeginsWith:
		return "begins_with(" + sortName + ", " + sortValue + ")", term.Values
	default:
		return sortName + " " + term.Op.String() + " " + sortValue, term.Values
	}
}

func (sp *span) mergedCondition() (text string, values []dynamo.Value) {
	lower := sp.lower.end == 0
	upper := sp.upper.end == 0 && !sp.upper.v.IsAbsent() // otherwise it is no key
	switch {
	case lower && upper:
		return sortName + " BETWEEN " + sortValue + " AND " + sortUntil,
			[]dynamo.Value{sp.lower.v, sp.upper.v}
	case lower:
		return sortName + " >= " + sortValue, []dynamo.Value{sp.lower.v}
	case upper:
		return sortName + " <= " + sortValue, []dynamo.Value{sp.upper.v}
	}
	return "", nil
}
