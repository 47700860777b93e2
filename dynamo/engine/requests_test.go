package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Requests on items in sessions: a verb, a table, and an item or key, with options indented below.
//
//	put T {pk: "a"}        if, names, values, return, tell, capacity, metrics
//	update T {pk: "a"}     set (the whole expression), and those of put
//	delete T {pk: "a"}
//	get T {pk: "a"}        project, names, strong, capacity
//	query T [index]        where, filter, project, names, values, select, strong, backward,
//	                       limit, start, capacity, quiet
//	scan T [index]         those of query but where and backward; segment 0/4
//	transact, transactget, batchwrite, batchget: the lines below are their members

func (s *session) call(r request) (string, error) {
	switch r.verb {
	case "put":
		out, err := s.db.Put(s.ctx, s.put(&r))
		return answer(err, func() string {
			return attributes(out.Attributes) + renderConsumed(out.ConsumedCapacity) +
				metrics(out.ItemCollectionMetrics)
		})
	case "update":
		out, err := s.db.Update(s.ctx, s.update(&r))
		return answer(err, func() string {
			return attributes(out.Attributes) + renderConsumed(out.ConsumedCapacity) +
				metrics(out.ItemCollectionMetrics)
		})
	case "delete":
		out, err := s.db.Delete(s.ctx, s.delete(&r))
		return answer(err, func() string {
			return attributes(out.Attributes) + renderConsumed(out.ConsumedCapacity) +
				metrics(out.ItemCollectionMetrics)
		})
	case "get":
		return s.get(&r)
	case "query":
		return s.query(&r)
	case "scan":
		return s.scan(&r)
	case "transact":
		return s.transact(&r)
	case "transactget":
		return s.transactGet(&r)
	case "batchwrite":
		return s.batchWrite(&r)
	case "batchget":
		return s.batchGet(&r)
	case "run", "batch", "together":
		return s.statement(&r)
	}
	return s.manage(&r)
}

func answer(err error, render func() string) (string, error) {
	if err != nil {
		return "", err
	}
	if text := render(); text != "" {
		return text, nil
	}
	return "ok", nil
}

func attributes(item dynamo.Item) string {
	if item == nil {
		return ""
	}
	return renderItem(item) + "\n"
}

func metrics(m *dynamo.ItemCollectionMetrics) string {
	if m == nil {
		return ""
	}
	return renderMetrics(*m)
}

func metricsOf(tables map[string][]dynamo.ItemCollectionMetrics) (text string) {
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		text += table + " " + renderMetrics(tables[table]...)
	}
	return text
}

// target splits a request's table and item.
func (s *session) target(r *request) (table string, item dynamo.Item) {
	table, literal, ok := strings.Cut(r.args, " ")
	if !ok {
		return table, nil
	}
	item, err := readItem(literal)
	if err != nil {
		s.t.Fatal(err)
	}
	return table, item
}

func (s *session) expressions(r *request) dynamo.Expressions {
	e := dynamo.Expressions{ExpressionAttributeNames: names(r)}
	if r.has("values") {
		values, err := readItem(r.option("values"))
		if err != nil {
			s.t.Fatal(err)
		}
		e.ExpressionAttributeValues = values
	}
	return e
}

func names(r *request) map[string]string {
	if !r.has("names") {
		return nil
	}
	m := map[string]string{}
	for _, pair := range strings.Fields(r.option("names")) {
		placeholder, name, _ := strings.Cut(pair, "=")
		m[placeholder] = name
	}
	return m
}

func (s *session) put(r *request) *dynamo.PutInput {
	table, item := s.target(r)
	return &dynamo.PutInput{
		TableName: table, Item: item, ConditionExpression: r.option("if"),
		Expressions:                         s.expressions(r),
		ReturnValues:                        dynamo.ReturnValues(r.option("return")),
		ReturnValuesOnConditionCheckFailure: dynamo.ReturnValues(r.option("tell")),
		ReturnConsumedCapacity:              dynamo.ReturnConsumedCapacity(r.option("capacity")),
		ReturnItemCollectionMetrics: dynamo.ReturnItemCollectionMetrics(
			r.option("metrics")),
	}
}

func (s *session) update(r *request) *dynamo.UpdateInput {
	p := s.put(r)
	return &dynamo.UpdateInput{
		TableName: p.TableName, Key: p.Item, UpdateExpression: r.option("set"),
		ConditionExpression: p.ConditionExpression, Expressions: p.Expressions,
		ReturnValues:                        p.ReturnValues,
		ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
		ReturnConsumedCapacity:              p.ReturnConsumedCapacity,
		ReturnItemCollectionMetrics:         p.ReturnItemCollectionMetrics,
	}
}

func (s *session) delete(r *request) *dynamo.DeleteInput {
	p := s.put(r)
	return &dynamo.DeleteInput{
		TableName: p.TableName, Key: p.Item, ConditionExpression: p.ConditionExpression,
		Expressions: p.Expressions, ReturnValues: p.ReturnValues,
		ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
		ReturnConsumedCapacity:              p.ReturnConsumedCapacity,
		ReturnItemCollectionMetrics:         p.ReturnItemCollectionMetrics,
	}
}

func (s *session) check(r *request) *dynamo.ConditionCheck {
	p := s.put(r)
	return &dynamo.ConditionCheck{
		TableName: p.TableName, Key: p.Item, ConditionExpression: p.ConditionExpression,
		Expressions:                         p.Expressions,
		ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
	}
}

func (s *session) get(r *request) (string, error) {
	table, key := s.target(r)
	out, err := s.db.Get(s.ctx, &dynamo.GetInput{
		TableName: table, Key: key, ConsistentRead: r.has("strong"),
		ProjectionExpression: r.option("project"), Expressions: s.expressions(r),
		ReturnConsumedCapacity: dynamo.ReturnConsumedCapacity(r.option("capacity")),
	})
	if err != nil {
		return "", err
	}
	return found(out.Item) + renderConsumed(out.ConsumedCapacity), nil
}

func found(item dynamo.Item) string {
	if item == nil {
		return "none\n"
	}
	return renderItem(item) + "\n"
}

func (s *session) query(r *request) (string, error) {
	table, index, _ := strings.Cut(r.args, " ")
	out, err := s.db.Query(s.ctx, &dynamo.QueryInput{
		TableName: table, IndexName: index, KeyConditionExpression: r.option("where"),
		FilterExpression: r.option("filter"), ProjectionExpression: r.option("project"),
		Expressions: s.expressions(r), Select: dynamo.Select(r.option("select")),
		ConsistentRead: r.has("strong"), ScanIndexBackward: r.has("backward"),
		Limit: s.number(r, "limit"), ExclusiveStartKey: s.start(r),
		ReturnConsumedCapacity: dynamo.ReturnConsumedCapacity(r.option("capacity")),
	})
	if err != nil {
		return "", err
	}
	return s.page(r, out), nil
}

func (s *session) scan(r *request) (string, error) {
	table, index, _ := strings.Cut(r.args, " ")
	in := &dynamo.ScanInput{
		TableName: table, IndexName: index, FilterExpression: r.option("filter"),
		ProjectionExpression: r.option("project"), Expressions: s.expressions(r),
		Select: dynamo.Select(r.option("select")), ConsistentRead: r.has("strong"),
		Limit: s.number(r, "limit"), ExclusiveStartKey: s.start(r),
		ReturnConsumedCapacity: dynamo.ReturnConsumedCapacity(r.option("capacity")),
	}
	if r.has("segment") {
		segment, total, _ := strings.Cut(r.option("segment"), "/")
		in.Segment, _ = strconv.Atoi(segment)
		in.TotalSegments, _ = strconv.Atoi(total)
	}
	out, err := s.db.Scan(s.ctx, in)
	if err != nil {
		return "", err
	}
	// The order of a scan differs from database to database.
	slices.SortFunc(out.Items, func(a, b dynamo.Item) int {
		return strings.Compare(renderItem(a), renderItem(b))
	})
	return s.page(r, (*dynamo.QueryOutput)(out)), nil
}

func (s *session) number(r *request, option string) int {
	if !r.has(option) {
		return 0
	}
	n, err := strconv.Atoi(r.option(option))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *session) start(r *request) dynamo.Key {
	literal := r.option("start")
	switch literal {
	case "":
		return nil
	case "next":
		literal = s.next
	}
	key, err := readItem(literal)
	if err != nil {
		s.t.Fatal(err)
	}
	return key
}

func (s *session) page(r *request, out *dynamo.QueryOutput) string {
	var b strings.Builder
	if !r.has("quiet") {
		for _, item := range out.Items {
			b.WriteString(renderItem(item) + "\n")
		}
	}
	fmt.Fprintf(&b, "count %d of %d\n", out.Count, out.ScannedCount)
	if out.LastEvaluatedKey != nil {
		s.next = renderItem(out.LastEvaluatedKey)
		if r.has("quiet") {
			b.WriteString("more\n")
		} else {
			b.WriteString("next " + s.next + "\n")
		}
	}
	return b.String() + renderConsumed(out.ConsumedCapacity)
}

func (s *session) transact(r *request) (string, error) {
	in := &dynamo.TransactWriteInput{
		ClientRequestToken:     r.args,
		ReturnConsumedCapacity: dynamo.ReturnConsumedCapacity(r.option("capacity")),
		ReturnItemCollectionMetrics: dynamo.ReturnItemCollectionMetrics(
			r.option("metrics")),
	}
	for i := range r.below {
		var item dynamo.TransactWriteItem
		switch b := &r.below[i]; b.verb {
		case "put":
			item.Put = s.put(b)
		case "update":
			item.Update = s.update(b)
		case "delete":
			item.Delete = s.delete(b)
		case "check":
			item.ConditionCheck = s.check(b)
		case "nothing":
		case "both":
			item.Put, item.Delete = s.put(b), s.delete(b)
		default:
			s.t.Fatalf("no action %s", b.verb)
		}
		in.Items = append(in.Items, item)
	}
	out, err := s.db.TransactWrite(s.ctx, in)
	return answer(err, func() string {
		return renderConsumption(out.ConsumedCapacity) + metricsOf(out.ItemCollectionMetrics)
	})
}

func (s *session) transactGet(r *request) (string, error) {
	in := &dynamo.TransactGetInput{
		ReturnConsumedCapacity: dynamo.ReturnConsumedCapacity(r.option("capacity")),
	}
	for i := range r.below {
		b := &r.below[i]
		table, key := s.target(b)
		in.Items = append(in.Items, dynamo.TransactGetItem{
			TableName: table, Key: key, ProjectionExpression: b.option("project"),
			ExpressionAttributeNames: names(b),
		})
	}
	out, err := s.db.TransactGet(s.ctx, in)
	if err != nil {
		return "", err
	}
	return renderEach(out.Items, found, "") + renderConsumption(out.ConsumedCapacity), nil
}

func (s *session) batchWrite(r *request) (string, error) {
	in := &dynamo.BatchWriteInput{
		RequestItems:           map[string][]dynamo.WriteRequest{},
		ReturnConsumedCapacity: dynamo.ReturnConsumedCapacity(r.option("capacity")),
		ReturnItemCollectionMetrics: dynamo.ReturnItemCollectionMetrics(
			r.option("metrics")),
	}
	for i := range r.below {
		b := &r.below[i]
		table, item := s.target(b)
		w := dynamo.WriteRequest{Put: item}
		if b.verb == "delete" {
			w = dynamo.WriteRequest{Delete: item}
		}
		in.RequestItems[table] = append(in.RequestItems[table], w)
	}
	out, err := s.db.BatchWrite(s.ctx, in)
	return answer(err, func() string {
		return renderConsumption(out.ConsumedCapacity) + metricsOf(out.ItemCollectionMetrics)
	})
}

// batchGet answers with what was found in the order of its rendering: a batch promises none.
func (s *session) batchGet(r *request) (string, error) {
	in := &dynamo.BatchGetInput{
		RequestItems:           map[string]dynamo.KeysAndAttributes{},
		ReturnConsumedCapacity: dynamo.ReturnConsumedCapacity(r.option("capacity")),
	}
	for i := range r.below {
		b := &r.below[i]
		table, key := s.target(b)
		asked := in.RequestItems[table]
		asked.Keys = append(asked.Keys, key)
		asked.ConsistentRead = asked.ConsistentRead || b.has("strong")
		if b.has("project") {
			asked.ProjectionExpression = b.option("project")
		}
		in.RequestItems[table] = asked
	}
	out, err := s.db.BatchGet(s.ctx, in)
	if err != nil {
		return "", err
	}
	var lines []string
	for table, items := range out.Responses {
		for _, item := range items {
			lines = append(lines, table+" "+renderItem(item))
		}
	}
	slices.Sort(lines)
	for table, left := range out.UnprocessedKeys {
		line := fmt.Sprintf("unprocessed %s: %d keys", table, len(left.Keys))
		if left.ConsistentRead {
			line += ", strong"
		}
		if left.ProjectionExpression != "" {
			line += ", project " + left.ProjectionExpression
		}
		lines = append(lines, line)
	}
	if r.has("quiet") {
		lines = append(lines[:0], fmt.Sprintf("%d lines", len(lines)))
	}
	return answer(nil, func() string {
		return strings.Join(append(lines, renderConsumption(out.ConsumedCapacity)), "\n")
	})
}
