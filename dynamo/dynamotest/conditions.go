package dynamotest

import (
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const conditionFailed = "The conditional request failed"

// subject returns the item on which conditions are tested.
func subject() vals {
	return vals{
		"t": str("banana"), "n": num("10.50"), "b": bin([]byte("bytes")), "yes": dynamo.Bool(true),
		"nil": dynamo.Null(), "l": list(num("1"), str("x")), "m": dict(vals{"in": num("5")}),
		"ss": dynamo.SS("a", "b"), "ns": dynamo.NS("1", "2"),
	}
}

func conditions() []behaviour {
	all := []behaviour{
		{"a write whose condition fails changes nothing and returns the item", func(k *kit) {
			old := k.item("a", vals{"x": num("1")})
			k.put(old)
			_, err := k.Put(k.ctx, &dynamo.PutInput{
				TableName: k.main, Item: k.item("a", vals{"x": num("2")}),
				ConditionExpression:                 "attribute_not_exists(pk)",
				ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
			})
			k.failed(err, old)
			_, err = k.Delete(k.ctx, &dynamo.DeleteInput{
				TableName: k.main, Key: k.key("a"), ConditionExpression: "x > :x",
				Expressions: dynamo.Expressions{
					ExpressionAttributeValues: vals{":x": num("1")},
				},
			})
			k.failed(err, nil)
			_, err = k.Update(k.ctx, &dynamo.UpdateInput{
				TableName: k.main, Key: k.key("a"), UpdateExpression: "SET x = :x",
				ConditionExpression: "x = :x",
				Expressions: dynamo.Expressions{
					ExpressionAttributeValues: vals{":x": num("9")},
				},
				ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
			})
			k.failed(err, old)
			k.same(k.read(k.key("a")), old)
		}},
		{"a condition on a missing item returns none", func(k *kit) {
			_, err := k.Update(k.ctx, &dynamo.UpdateInput{
				TableName: k.main, Key: k.key("a"), UpdateExpression: "REMOVE x",
				ConditionExpression:                 "attribute_exists(pk)",
				ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
			})
			k.failed(err, nil)
			k.same(k.read(k.key("a")), nil)
		}},
	}
	for _, c := range conditionCases {
		name := fmt.Sprintf("%s is %t with %v", c.condition, c.holds, dynamo.Item(c.values))
		all = append(all, behaviour{name, func(k *kit) {
			k.put(k.item("a", subject()))
			in := &dynamo.DeleteInput{
				TableName: k.main, Key: k.key("a"), ConditionExpression: c.condition,
			}
			if len(c.values) > 0 {
				in.ExpressionAttributeValues = c.values
			}
			_, err := k.Delete(k.ctx, in)
			if c.holds {
				k.must(err)
			} else {
				k.failed(err, nil)
			}
		}})
	}
	return all
}

// failed checks that a condition failed, and the item in the error.
func (k *kit) failed(err error, found dynamo.Item) {
	k.Helper()
	k.refused(err, dynamo.CodeConditionalCheckFailed, conditionFailed)
	var e *dynamo.Error
	if errors.As(err, &e) {
		k.same(e.Item, found)
	}
}

var conditionCases = []struct {
	condition string
	values    vals
	holds     bool
}{
	{"n = :v", vals{":v": num("10.5")}, true},
	{"n <> :v", vals{":v": num("10.5")}, false},
	{"n <> :v", vals{":v": str("10.5")}, true},
	{"absent <> :v", vals{":v": str("x")}, true},
	{"absent = :v", vals{":v": str("x")}, false},
	{"absent < :v", vals{":v": str("x")}, false},
	{"n < :v", vals{":v": num("9")}, false},
	{"n >= :v", vals{":v": num("10.50")}, true},
	{"n < :v", vals{":v": str("99")}, false},
	{"t > :v", vals{":v": str("Z")}, true},
	{"b BETWEEN :v AND :w", vals{":v": bin([]byte("a")), ":w": bin([]byte("c"))}, true},
	{"n BETWEEN :v AND :w", vals{":v": num("2"), ":w": num("100")}, true},
	{"n IN (:v, :w)", vals{":v": num("1"), ":w": num("1.05e1")}, true},
	{"t IN (:v)", vals{":v": str("apple")}, false},
	{"begins_with(t, :v)", vals{":v": str("ban")}, true},
	{"begins_with(b, :v)", vals{":v": bin([]byte("by"))}, true},
	{"begins_with(n, :v)", vals{":v": str("10")}, false},
	{"contains(t, :v)", vals{":v": str("nan")}, true},
	{"contains(ss, :v)", vals{":v": str("a")}, true},
	{"contains(ns, :v)", vals{":v": num("2.0")}, true},
	{"contains(l, :v)", vals{":v": str("x")}, true},
	{"contains(l, :v)", vals{":v": str("y")}, false},
	{"attribute_type(nil, :v)", vals{":v": str("NULL")}, true},
	{"attribute_type(n, :v)", vals{":v": str("S")}, false},
	{"attribute_exists(m)", nil, true},
	{"attribute_not_exists(m.absent)", nil, true},
	{"size(t) = :v", vals{":v": num("6")}, true},
	{"size(l) = :v", vals{":v": num("2")}, true},
	{"size(n) = :v", vals{":v": num("2")}, false},
	{"ss = :v", vals{":v": dynamo.SS("b", "a")}, true},
	{"ns = :v", vals{":v": dynamo.NS("2.0", "1")}, true},
	{"m = :v", vals{":v": dict(vals{"in": num("5.0")})}, true},
	{"l[1] = :v", vals{":v": str("x")}, true},
	{"l[9] = :v", vals{":v": str("x")}, false},
	{"nil = :v", vals{":v": dynamo.Null()}, true},
	{"NOT n = :v", vals{":v": num("1")}, true},
	{"n = :v OR t = :w AND yes = :x",
		vals{":v": num("10.5"), ":w": str("no"), ":x": dynamo.Bool(false)}, true},
	{"(n = :v OR t = :w) AND yes = :x",
		vals{":v": num("10.5"), ":w": str("no"), ":x": dynamo.Bool(false)}, false},
	{"NOT (absent = gone) and n <> t", nil, true},
}
