package engine

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// The service's messages about queries.
const (
	messageNoIndex      = "The table does not have the specified index: %s"
	messageBackfilling  = "Cannot read from backfilling global secondary index: %s"
	messageStrongGlobal = "Consistent reads are not supported on global secondary indexes"
	messageMissedKey    = "Query condition missed key schema element: %s"
	messageKeyOperator  = "Query key condition not supported"
	messageConditionFor = "One or more parameter values were invalid: Condition parameter type does not match schema type"
	messageEmptyValue   = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s"
	messageFilterKey    = "Filter Expression can only contain non-primary key attributes: Primary key attribute: %s"
	messageBadStartKey  = "The provided starting key is invalid"
	messageStartOutside = "The provided starting key is outside query boundaries based on provided conditions"
	messageStartRange   = "The provided starting key does not match the range key predicate"
	messageStartSingle  = "The query can return at most one row and cannot be restarted"
	messageStartKey     = "The provided starting key is invalid: The provided key element does not match the schema"
)

// Query reads one page of a partition; see [dynamo.DB].
func (db *DB) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	return db.QueryEach(ctx, in, nil)
}

// QueryEach is Query for callers that receive the items one by one; see [dynamo.Pager].
func (db *DB) QueryEach(ctx context.Context, in *dynamo.QueryInput,
	each func(dynamo.Attributes),
) (*dynamo.QueryOutput, error) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	if err := db.checkNamed(in.TableName); err != nil {
		return nil, err
	}
	if err := checkPage("Query", in.Select, in.Limit, in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	// KeyConditions, the older form, was translated to an expression before.
	if in.KeyConditionExpression == "" {
		return nil, dynamo.Invalid("Either the KeyConditions or KeyConditionExpression " +
			"parameter must be specified in the request.")
	}
	// Expressions are parsed before the table is looked up, because the service reports their
	// errors even if there is no table.
	exprs, err := db.requests.prepare(&expr.Request{
		KeyCondition: in.KeyConditionExpression, Filter: in.FilterExpression,
		Projection: in.ProjectionExpression, Names: in.ExpressionAttributeNames,
		Values: in.ExpressionAttributeValues, Takes: expr.TakesFilter | expr.TakesKeyCondition,
	})
	if err != nil {
		return nil, err
	}
	p, err := db.newPage(in.TableName, in.IndexName, exprs, in.Select, in.ConsistentRead,
		in.ProjectionExpression != "")
	if err != nil {
		return nil, err
	}
	p.limit, p.reverse, p.each = in.Limit, in.ScanIndexBackward, each
	p.level = in.ReturnConsumedCapacity
	// The range of keys is needed first, because a start key must be within it.
	if err := p.restrict(exprs.Key); err != nil {
		return nil, err
	}
	if err := p.startAfter(in.ExclusiveStartKey, true); err != nil {
		return nil, err
	}
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	return &dynamo.QueryOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last,
		ConsumedCapacity: p.consumed(),
	}, nil
}

// scanSegmentsMax is the maximum number of segments of a parallel scan.
const scanSegmentsMax = 1_000_000

// Scan reads one page of a table or index; see [dynamo.DB].
func (db *DB) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	return db.ScanEach(ctx, in, nil)
}

// ScanEach is Scan for callers that receive the items one by one; see [dynamo.Pager].
func (db *DB) ScanEach(ctx context.Context, in *dynamo.ScanInput, each func(dynamo.Attributes)) (
	*dynamo.ScanOutput, error,
) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	if err := db.checkNamed(in.TableName); err != nil {
		return nil, err
	}
	if err := checkPage("Scan", in.Select, in.Limit, in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	if err := checkSegments(in.Segment, in.TotalSegments); err != nil {
		return nil, err
	}
	exprs, err := db.requests.prepare(&expr.Request{
		Filter: in.FilterExpression, Projection: in.ProjectionExpression,
		Names: in.ExpressionAttributeNames, Values: in.ExpressionAttributeValues,
		Takes: expr.TakesFilter,
	})
	if err != nil {
		return nil, err
	}
	p, err := db.newPage(in.TableName, in.IndexName, exprs, in.Select, in.ConsistentRead,
		in.ProjectionExpression != "")
	if err != nil {
		return nil, err
	}
	p.limit, p.level, p.each = in.Limit, in.ReturnConsumedCapacity, each
	// Segments are ranges of hashes, so a start key belongs to exactly one of them.
	p.segment(in.Segment, in.TotalSegments)
	if err := p.startAfter(in.ExclusiveStartKey, false); err != nil {
		return nil, err
	}
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	return &dynamo.ScanOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last,
		ConsumedCapacity: p.consumed(),
	}, nil
}

// checkPage validates the options that Query and Scan share. The service's messages for them differ
// in one word.
func checkPage(operation string, s dynamo.Select, limit int,
	level dynamo.ReturnConsumedCapacity,
) error {
	var wrong constraint.List
	switch s {
	case "", dynamo.SelectAllAttributes, dynamo.SelectAllProjectedAttributes,
		dynamo.SelectSpecificAttributes, dynamo.SelectCount:
	default:
		wrong.Enum(string(s), "select", "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, "+
			"ALL_PROJECTED_ATTRIBUTES]")
	}
	// Zero means no limit here, because the wire format refuses an explicit zero before.
	if limit < 0 {
		field := "limit"
		if operation == "Query" {
			field = "Limit"
		}
		wrong.Add(strconv.Itoa(limit), field, "Member must have value greater than or equal to 1")
	}
	wrong.Capacity(level)
	return wrong.Err()
}

// checkSegments checks the two parameters of a parallel scan, which must be given together.
func checkSegments(segment, total int) error {
	switch {
	// This is a scan that is not parallel.
	case total == 0 && segment == 0:
		return nil
	case total == 0:
		return dynamo.Invalid("The TotalSegments parameter is required but was not present in " +
			"the request when Segment parameter is present")
	}
	var wrong constraint.List
	if segment < 0 {
		wrong.Add(strconv.Itoa(segment), "segment",
			"Member must have value greater than or equal to 0")
	}
	if total < 1 {
		wrong.Add(strconv.Itoa(total), "totalSegments",
			"Member must have value greater than or equal to 1")
	}
	if total > scanSegmentsMax {
		wrong.Add(strconv.Itoa(total), "totalSegments",
			"Member must have value less than or equal to 1000000")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if segment >= total {
		return dynamo.Invalid(fmt.Sprintf("The Segment parameter is zero-based and must be "+
			"less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d",
			segment, total))
	}
	return nil
}

// newPage finds the table or index and validates the options for it.
func (db *DB) newPage(tableName, indexName string, exprs *expr.Prepared, s dynamo.Select,
	consistent, projected bool,
) (*page, error) {
	t, err := db.tableOf(tableName)
	if err != nil {
		return nil, err
	}
	p := &page{
		db: db, table: t, filter: exprs.Filter, projection: exprs.Projection,
		consistent: consistent, countOnly: s == dynamo.SelectCount,
	}
	p.hash, p.sort = t.keys[:1], t.keys[1:]
	prefix := t.prefix
	if indexName != "" {
		// The table is known here, so an unknown index is an invalid request and not a missing
		// resource.
		if p.index = t.index(indexName); p.index == nil {
			return nil, dynamo.Invalid(fmt.Sprintf(messageNoIndex, indexName))
		}
		// An index can be read only after its backfill, because its page would miss items.
		if !p.index.ready() {
			return nil, dynamo.Invalid(fmt.Sprintf(messageBackfilling, indexName))
		}
		// Global indexes are updated asynchronously on the service, so it offers no consistent
		// read.
		if consistent && !p.index.Local {
			return nil, dynamo.Invalid(messageStrongGlobal)
		}
		p.hash, p.sort, prefix = p.index.hash, p.index.sort, p.index.prefix
	}
	p.lower, p.upper = prefix, keyspace.After(prefix)
	return p, p.selects(s, projected)
}

// selects validates the Select parameter against the projection and the index.
func (p *page) selects(s dynamo.Select, projected bool) error {
	switch {
	case projected && s != "" && s != dynamo.SelectSpecificAttributes:
		return dynamo.Invalid("Cannot specify the ProjectionExpression when choosing to get " +
			selectWords[s])
	case !projected && s == dynamo.SelectSpecificAttributes:
		return dynamo.Invalid("Must specify the AttributesToGet or ProjectionExpression when " +
			"choosing to get SPECIFIC_ATTRIBUTES")
	case s == dynamo.SelectAllProjectedAttributes && p.index == nil:
		return dynamo.Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using " +
			"an IndexName")
	}
	// The table and indexes that project ALL have every attribute.
	if p.index == nil || p.index.include == nil {
		return nil
	}
	switch {
	case s == dynamo.SelectAllAttributes && !p.index.Local:
		return dynamo.Invalid("One or more parameter values were invalid: Select type " +
			"ALL_ATTRIBUTES is not supported for global secondary index " + p.index.Name +
			" because its projection type is not ALL")
	// A local index reads the missing attributes from the table, and the caller pays for that.
	case s == dynamo.SelectAllAttributes:
		p.fetch = true
	case projected:
		return p.fetchesFor(p.projection.TopLevel())
	}
	return nil
}

var selectWords = map[dynamo.Select]string{
	dynamo.SelectAllAttributes:          "ALL_ATTRIBUTES",
	dynamo.SelectAllProjectedAttributes: "ALL_PROJECTED_ATTRIBUTES",
	dynamo.SelectCount:                  "only the Count",
}

// fetchesFor decides whether the requested attributes must be read from the table. Only a local
// index can do that; a global one refuses the request.
func (p *page) fetchesFor(names []string) error {
	for _, name := range names {
		if p.index.include[name] {
			continue
		}
		if !p.index.Local {
			return dynamo.Invalid(fmt.Sprintf("One or more parameter values were invalid: "+
				"Global secondary index %s does not project [%s]", p.index.Name, name))
		}
		p.fetch = true
	}
	return nil
}

// restrict reduces the page to the rows of the key condition: equality on each partition key
// attribute, then conditions on the sort key attributes from left to right. Only the last of these
// may be a range, because otherwise the rows would not be one range.
func (p *page) restrict(kc *expr.KeyCondition) error {
	terms := map[string]*expr.KeyTerm{}
	for i := range kc.Terms {
		terms[kc.Terms[i].Attribute] = &kc.Terms[i]
	}
	var partition []byte
	for _, k := range p.hash {
		term := terms[k.name]
		// Without every partition key attribute the partition is unknown.
		if term == nil {
			return dynamo.Invalid(fmt.Sprintf(messageMissedKey, k.name))
		}
		if term.Op != expr.OpEqual {
			return dynamo.Invalid(messageKeyOperator)
		}
		if err := checkTerm(k, term); err != nil {
			return err
		}
		delete(terms, k.name)
		if p.index != nil {
			partition = p.index.appendPartition(partition, term.Values[0])
		} else {
			partition = appendKeyValue(partition, term.Values[0])
		}
	}
	// Rows of a partition begin with the hash of its key, which spreads them over the segments of a
	// scan, and then the key, because two keys may have one hash.
	p.partition = keyspace.AppendPartition(bytes.Clone(p.lower), p.db.hash, partition)
	p.lower, p.upper = p.partition, keyspace.After(p.partition)
	sorted := false
	for _, k := range p.sort {
		term := terms[k.name]
		if term == nil {
			break
		}
		sorted = true
		if err := checkTerm(k, term); err != nil {
			return err
		}
		delete(terms, k.name)
		p.narrow(term)
		// A range ends the conditions: the rows that meet a condition on a later attribute would
		// not be contiguous.
		if term.Op != expr.OpEqual {
			break
		}
	}
	// The remaining terms are on attributes that are not in the key, or after a gap or a range.
	if len(terms) > 0 {
		if len(p.sort) == 1 && !sorted {
			return dynamo.Invalid(fmt.Sprintf(messageMissedKey, p.sort[0].name))
		}
		return dynamo.Invalid(messageKeyOperator)
	}
	return p.checkFilter()
}

// checkTerm validates the values of a condition on a key attribute.
func checkTerm(k keyAttribute, term *expr.KeyTerm) error {
	for _, v := range term.Values {
		if v.Kind() != k.kind {
			return dynamo.Invalid(messageConditionFor)
		}
		// Key attributes of an item cannot be empty, so no item could match.
		if v.Size() == 0 {
			return dynamo.Invalid(fmt.Sprintf(messageEmptyValue, typeWord(k.kind), k.name))
		}
	}
	return nil
}

// narrow applies a condition on the next sort key attribute. All rows in the range share the key
// before this attribute, so every bound begins with it.
func (p *page) narrow(term *expr.KeyTerm) {
	prefix := p.lower
	at := func(v dynamo.Value) []byte {
		key := bytes.Clone(prefix)
		if p.index != nil {
			return appendEndedKeyValue(key, v)
		}
		return appendKeyValue(key, v)
	}
	after := func(v dynamo.Value) []byte {
		if p.index != nil {
			return keyspace.After(at(v)) // the key of the item follows
		}
		return append(at(v), 0) // nothing follows
	}
	switch v := term.Values; term.Op {
	case expr.OpEqual:
		p.lower, p.upper = at(v[0]), after(v[0])
	case expr.OpLess:
		p.upper = at(v[0])
	case expr.OpLessEqual:
		p.upper = after(v[0])
	case expr.OpGreater:
		p.lower = after(v[0])
	case expr.OpGreaterEqual:
		p.lower = at(v[0])
	case expr.OpBetween:
		p.lower, p.upper = at(v[0]), after(v[1])
	case expr.OpBeginsWith:
		// A prefix is not a complete value, so it must not get the end mark that separates a value
		// from the next one.
		key := appendKeyValue(nil, v[0])
		if p.index != nil {
			p.lower = keyspace.AppendOpen(bytes.Clone(prefix), key)
		} else {
			p.lower = append(bytes.Clone(prefix), key...)
		}
		p.upper = keyspace.After(p.lower)
	}
}

// checkFilter refuses a filter on a key attribute, because DynamoDB does.
func (p *page) checkFilter() error {
	if p.filter == nil {
		return nil
	}
	for _, name := range p.filter.TopLevel() {
		for _, k := range append(append([]keyAttribute(nil), p.hash...), p.sort...) {
			if k.name == name {
				return dynamo.Invalid(fmt.Sprintf(messageFilterKey, name))
			}
		}
	}
	return nil
}

// segment reduces a scan to one of several equal ranges of partition hashes.
func (p *page) segment(segment, total int) {
	if total <= 1 {
		return
	}
	prefix := p.lower
	// Hashes are distributed evenly, so ranges of one width have about as many partitions each.
	width := ^uint64(0) / uint64(total)
	p.lower = keyspace.AppendHash(bytes.Clone(prefix), width*uint64(segment))
	// The last segment ends with the table, because the division may leave a remainder.
	if segment < total-1 {
		p.upper = keyspace.AppendHash(bytes.Clone(prefix), width*uint64(segment+1))
	}
}

// startAfter makes the page begin after a key. The key need not exist, but the page must be able to
// end with it.
func (p *page) startAfter(key dynamo.Key, query bool) error {
	if key == nil {
		return nil
	}
	keys := p.table.keys
	if p.index != nil {
		// Several items may have one index key, so a position in an index also has the key of the
		// table.
		keys = mergeKeys(p.index.keyAttributes(), keys)
	}
	if len(key) != len(keys) {
		return dynamo.Invalid(messageBadStartKey)
	}
	checked := make(dynamo.Key, len(key))
	for _, k := range keys {
		v, ok := key[k.name]
		if !ok || v.Kind() != k.kind {
			return dynamo.Invalid(messageStartKey)
		}
		c, err := expr.CheckValue(v)
		if err != nil {
			return err
		}
		if c.Size() == 0 {
			return dynamo.Invalid(fmt.Sprintf(messageEmptyKey, typeWord(k.kind), k.name))
		}
		checked[k.name] = c
	}
	// A partition without a sort key has one item, so there is no next page.
	if query && p.index == nil && len(p.sort) == 0 {
		return dynamo.Invalid(messageStartSingle)
	}
	start := p.db.itemKey(p.table, checked)
	if p.index != nil {
		start = p.index.appendRowKey(nil, p.db.hash, checked, start)
	}
	// The page would have no rows, or rows that the key condition excludes.
	if start == nil || bytes.Compare(start, p.lower) < 0 || bytes.Compare(start, p.upper) >= 0 {
		switch {
		case query && start != nil && bytes.HasPrefix(start, p.partition):
			return dynamo.Invalid(messageStartRange)
		case query:
			return dynamo.Invalid(messageStartOutside)
		}
		return dynamo.Invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. " +
			"Please use ExclusiveStartKey with correct Segment. ")
	}
	if p.reverse {
		// Upper bounds are exclusive, so the item at the start key is not returned again.
		p.upper = start
	} else {
		p.lower = append(start, 0)
	}
	return nil
}

// mergeKeys joins key attributes without duplicates, because an index may use those of the table.
func mergeKeys(a, b []keyAttribute) []keyAttribute {
	for _, k := range b {
		found := false
		for _, have := range a {
			found = found || have.name == k.name
		}
		if !found {
			a = append(a, k)
		}
	}
	return a
}
