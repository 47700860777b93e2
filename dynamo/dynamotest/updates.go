package dynamotest

import "github.com/exchequer-dev/exchequer/dynamo"

// updateCase is an update of an item and the expected result.
type updateCase struct {
	name   string
	before vals // nil if the item does not exist
	update string
	values vals
	names  map[string]string
	after  vals // nil if the update must not create an item
	code   dynamo.ErrorCode
}

var updateCases = []updateCase{
	{
		name:  "without an expression it creates an item of its key",
		after: vals{},
	},
	{
		name: "set creates the item and may read nothing of it", update: "SET x = :x, y = :y",
		values: vals{":x": num("1"), ":y": str("two")},
		after:  vals{"x": num("1"), "y": str("two")},
	},
	{
		name: "right sides are what was before", update: "SET x = y, y = x",
		before: vals{"x": num("1"), "y": num("2")}, after: vals{"x": num("2"), "y": num("1")},
	},
	{
		name: "sums and differences", update: "SET x = x + :a, y = :a - y",
		values: vals{":a": num("0.1")},
		before: vals{"x": num("0.2"), "y": num("1")},
		after:  vals{"x": num("0.3"), "y": num("-0.9")},
	},
	{
		name: "if_not_exists", update: "SET x = if_not_exists(x, :v), y = if_not_exists(y, :v) + :v",
		values: vals{":v": num("5")},
		before: vals{"x": num("1")}, after: vals{"x": num("1"), "y": num("10")},
	},
	{
		name:   "list_append at both ends",
		update: "SET l = list_append(l, :a), m = list_append(:a, m)",
		values: vals{":a": list(num("9"))},
		before: vals{"l": list(num("1")), "m": list(num("2"))},
		after:  vals{"l": list(num("1"), num("9")), "m": list(num("9"), num("2"))},
	},
	{
		name: "members of maps and elements of lists", update: "SET m.x = :v, l[1] = :v",
		values: vals{":v": str("new")},
		before: vals{"m": dict(vals{"y": num("1")}), "l": list(num("0"), num("1"), num("2"))},
		after: vals{
			"m": dict(vals{"x": str("new"), "y": num("1")}),
			"l": list(num("0"), str("new"), num("2")),
		},
	},
	{
		name: "an element beyond the end is appended", update: "SET l[7] = :v",
		values: vals{":v": num("1")},
		before: vals{"l": list(num("0"))}, after: vals{"l": list(num("0"), num("1"))},
	},
	{
		name: "a member of a missing map is refused", update: "SET m.x = :v",
		values: vals{":v": num("1")},
		before: vals{"a": num("1")}, after: vals{"a": num("1")}, code: dynamo.CodeValidation,
	},
	{
		name:   "remove takes elements by the numbers they had",
		update: "REMOVE l[0], l[2], m.x, gone",
		before: vals{
			"l": list(num("0"), num("1"), num("2"), num("3")), "m": dict(vals{"x": num("1")}),
		},
		after: vals{"l": list(num("1"), num("3")), "m": dict(vals{})},
	},
	{
		name: "remove creates no item", update: "REMOVE x",
	},
	{
		name: "add to numbers and sets", update: "ADD n :n, fresh :n, s :s, newset :s",
		values: vals{":n": num("2.5"), ":s": dynamo.SS("b", "c")},
		before: vals{"n": num("1"), "s": dynamo.SS("a", "b")},
		after: vals{
			"n": num("3.5"), "fresh": num("2.5"), "s": dynamo.SS("a", "b", "c"),
			"newset": dynamo.SS("b", "c"),
		},
	},
	{
		name: "delete from sets, and an empty one goes", update: "DELETE s :s, t :s, gone :s",
		values: vals{":s": dynamo.SS("a")},
		before: vals{"s": dynamo.SS("a", "b"), "t": dynamo.SS("a")},
		after:  vals{"s": dynamo.SS("b")},
	},
	{
		name: "all four clauses at once", update: "ADD n :n SET x = :x REMOVE y DELETE s :s",
		values: vals{":n": num("1"), ":x": str("x"), ":s": dynamo.NS("1")},
		before: vals{"n": num("1"), "y": num("1"), "s": dynamo.NS("1.0", "2")},
		after:  vals{"n": num("2"), "x": str("x"), "s": dynamo.NS("2")},
	},
	{
		name: "names with placeholders", update: "SET #a.#b = :v",
		names:  map[string]string{"#a": "size", "#b": "in.the"},
		values: vals{":v": num("1")},
		before: vals{"size": dict(vals{})},
		after:  vals{"size": dict(vals{"in.the": num("1")})},
	},
	{
		name: "the sum of a text is refused", update: "SET x = x + :a",
		values: vals{":a": num("1")},
		before: vals{"x": str("1")}, after: vals{"x": str("1")}, code: dynamo.CodeValidation,
	},
	{
		name: "add of a text is refused", update: "ADD x :a", values: vals{":a": num("1")},
		before: vals{"x": str("1")}, after: vals{"x": str("1")}, code: dynamo.CodeValidation,
	},
	{
		name: "a missing operand is refused", update: "SET x = y + :a",
		values: vals{":a": num("1")},
		before: vals{"x": num("1")}, after: vals{"x": num("1")}, code: dynamo.CodeValidation,
	},
	{
		name: "two writes of one path are refused", update: "SET x = :a, x = :a",
		values: vals{":a": num("1")}, code: dynamo.CodeValidation,
	},
	{
		name: "a change of the key is refused", update: "SET sk = :a",
		values: vals{":a": str("b")},
		code:   dynamo.CodeValidation,
	},
}

func updates() []behaviour {
	all := []behaviour{
		{"return values are of what was touched, or all", returnValues},
		{"an item may become an index key's and stop being it", func(k *kit) {
			k.put(k.item("a", vals{"n": num("1")}))
			k.update("a", "REMOVE n", nil)
			if got := k.everyPage(k.byNumber()); len(got) != 0 {
				k.Errorf("the index has %v", got)
			}
			k.update("a", "SET n = :n", vals{":n": num("2")})
			if got := k.everyPage(k.byNumber()); len(got) != 1 {
				k.Errorf("the index has %v", got)
			}
		}},
	}
	for _, c := range updateCases {
		all = append(all, behaviour{c.name, func(k *kit) {
			if c.before != nil {
				k.put(k.item("a", c.before))
			}
			in := &dynamo.UpdateInput{
				TableName: k.main, Key: k.key("a"), UpdateExpression: c.update,
			}
			in.ExpressionAttributeNames, in.ExpressionAttributeValues = c.names, c.values
			_, err := k.Update(k.ctx, in)
			if c.code != "" {
				k.refused(err, c.code, "")
			} else {
				k.must(err)
			}
			if c.after == nil {
				k.same(k.read(k.key("a")), nil)
			} else {
				k.same(k.read(k.key("a")), k.item("a", c.after))
			}
		}})
	}
	return all
}

func (k *kit) update(sort, expression string, values vals) {
	k.Helper()
	in := &dynamo.UpdateInput{
		TableName: k.main, Key: k.key(sort), UpdateExpression: expression,
	}
	in.ExpressionAttributeValues = values
	_, err := k.Update(k.ctx, in)
	k.must(err)
}

// byNumber returns a query of the behaviour's partition of the local index.
func (k *kit) byNumber() dynamo.QueryInput {
	in := k.inPartition("", nil)
	in.IndexName = indexLocal
	return in
}

func returnValues(k *kit) {
	before := vals{"x": num("1"), "y": num("2"), "m": dict(vals{"in": num("1"), "out": num("2")})}
	for _, c := range []struct {
		ask  dynamo.ReturnValues
		want func() dynamo.Item
	}{
		{dynamo.ReturnNone, func() dynamo.Item { return nil }},
		{dynamo.ReturnAllOld, func() dynamo.Item { return k.item("a", before) }},
		{dynamo.ReturnUpdatedOld, func() dynamo.Item {
			return dynamo.Item{"x": num("1"), "m": dict(vals{"in": num("1")})}
		}},
		{dynamo.ReturnAllNew, func() dynamo.Item {
			return k.item("a", vals{
				"x": num("2"), "y": num("2"), "z": num("1"),
				"m": dict(vals{"in": num("5"), "out": num("2")}),
			})
		}},
		{dynamo.ReturnUpdatedNew, func() dynamo.Item {
			return dynamo.Item{"x": num("2"), "z": num("1"), "m": dict(vals{"in": num("5")})}
		}},
	} {
		k.put(k.item("a", before))
		in := &dynamo.UpdateInput{
			TableName: k.main, Key: k.key("a"), ReturnValues: c.ask,
			UpdateExpression: "SET x = x + :one, z = :one, m.#in = :five",
		}
		in.ExpressionAttributeValues = vals{":one": num("1"), ":five": num("5")}
		in.ExpressionAttributeNames = map[string]string{"#in": "in"}
		out, err := k.Update(k.ctx, in)
		k.must(err)
		k.same(out.Attributes, c.want())
	}
}
