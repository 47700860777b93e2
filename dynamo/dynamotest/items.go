package dynamotest

import (
	"bytes"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// everyKind has an attribute of each type, with contents that are easily lost.
func everyKind() vals {
	return vals{
		"text":                      str("Kererū \"quoted\" \u2028 \x00 😀"),
		"empty":                     str(""),
		"number":                    num("-12345678901234567890.123456789012345678"),
		"bytes":                     bin([]byte{0, 1, 0xfe, 0xff}),
		"nothing":                   bin([]byte{}),
		"true":                      dynamo.Bool(true),
		"false":                     dynamo.Bool(false),
		"null":                      dynamo.Null(),
		"list":                      list(str("a"), num("1"), list(), dict(vals{})),
		"map":                       dict(vals{"in": dict(vals{"deep": list(dynamo.Null())})}),
		"texts":                     dynamo.SS("b", "a", "ā"),
		"numbers":                   dynamo.NS("3", "-1", "2.5"),
		"blobs":                     dynamo.BS([]byte{1}, []byte{0}),
		"with a dot.and [brackets]": str("names are free"),
	}
}

func items() []behaviour {
	return []behaviour{
		{"every kind of value comes back as it was", func(k *kit) {
			it := k.item("a", everyKind())
			k.put(it)
			k.same(k.read(k.key("a")), it)
		}},
		{"a missing item is none", func(k *kit) { k.same(k.read(k.key("a")), nil) }},
		{"put replaces the whole item", func(k *kit) {
			k.put(k.item("a", vals{"x": num("1"), "y": num("2")}))
			out, err := k.Put(k.ctx, &dynamo.PutInput{
				TableName: k.main, Item: k.item("a", vals{"x": num("3")}),
				ReturnValues: dynamo.ReturnAllOld,
			})
			k.must(err)
			k.same(out.Attributes, k.item("a", vals{"x": num("1"), "y": num("2")}))
			k.same(k.read(k.key("a")), k.item("a", vals{"x": num("3")}))
		}},
		{"put of a new item has nothing old", func(k *kit) {
			out, err := k.Put(k.ctx, &dynamo.PutInput{
				TableName: k.main, Item: k.key("a"), ReturnValues: dynamo.ReturnAllOld,
			})
			k.must(err)
			k.same(out.Attributes, nil)
		}},
		{"delete answers with what it removed", func(k *kit) {
			k.put(k.item("a", vals{"x": num("1")}))
			in := &dynamo.DeleteInput{
				TableName: k.main, Key: k.key("a"), ReturnValues: dynamo.ReturnAllOld,
			}
			out, err := k.Delete(k.ctx, in)
			k.must(err)
			k.same(out.Attributes, k.item("a", vals{"x": num("1")}))
			k.same(k.read(k.key("a")), nil)
			out, err = k.Delete(k.ctx, in)
			k.must(err)
			k.same(out.Attributes, nil)
		}},
		{"an item of 400 KB fits and one byte more does not", func(k *kit) {
			const itemMax = 400 << 10
			it := k.key("a")
			used := len(k.partition) + len("pk") + len("sk") + len("a") + len("x")
			it["x"] = str(strings.Repeat("x", itemMax-used))
			k.put(it)
			k.same(k.read(k.key("a")), it)
			it["x"] = str(it["x"].S() + "x")
			_, err := k.Put(k.ctx, &dynamo.PutInput{TableName: k.main, Item: it})
			k.refused(err, dynamo.CodeValidation,
				"Item size has exceeded the maximum allowed size")
		}},
		{"keys are compared by their bytes", func(k *kit) {
			k.put(k.key("a"), k.key("A"), k.key("a\u0301"), k.key("á"), k.key("😀"), k.key("\uffff"))
			k.sameOrder(sorts(k.everyPage(k.inPartition("", nil))),
				[]string{"A", "a", "a\u0301", "á", "\uffff", "😀"})
		}},
		{"number keys are equal in any notation", func(k *kit) {
			put := func(id, note string) {
				_, err := k.Put(k.ctx, &dynamo.PutInput{
					TableName: k.plain, Item: dynamo.Item{"id": num(id), "note": str(note)},
				})
				k.must(err)
			}
			put("1000", "first")
			put("1e3", "second")
			out, err := k.Get(k.ctx, &dynamo.GetInput{
				TableName: k.plain, Key: dynamo.Key{"id": num("+1000.00")}, ConsistentRead: true,
			})
			k.must(err)
			k.same(out.Item, dynamo.Item{"id": num("1000"), "note": str("second")})
		}},
		{"what a caller gave stays the caller's", func(k *kit) {
			blob := []byte("before")
			it := k.item("a", vals{"x": bin(blob)})
			k.put(it)
			copy(blob, "after!")
			if got := k.read(k.key("a"))["x"].B(); !bytes.Equal(got, []byte("before")) {
				k.Errorf("got %q", got)
			}
		}},
	}
}

func projections() []behaviour {
	whole := func(k *kit) dynamo.Item {
		return k.item("a", vals{
			"m": dict(vals{"x": num("1"), "y": num("2"), "l": list(num("7"), num("8"), num("9"))}),
			"l": list(str("zero"), dict(vals{"in": str("one")}), str("two")),
			"s": dynamo.SS("a"), "size": num("5"),
		})
	}
	cases := []struct {
		name, projection string
		names            map[string]string
		want             dynamo.Item
	}{
		{"attributes", "s, absent", nil, dynamo.Item{"s": dynamo.SS("a")}},
		{"members of maps", "m.x, m.l[1]", nil, dynamo.Item{
			"m": dict(vals{"x": num("1"), "l": list(num("8"))}),
		}},
		{"elements of lists close up", "l[2], l[0], l[7]", nil, dynamo.Item{
			"l": list(str("zero"), str("two")),
		}},
		{"names with placeholders", "#s, #l[1].#i", map[string]string{
			"#s": "size", "#l": "l", "#i": "in",
		}, dynamo.Item{"size": num("5"), "l": list(dict(vals{"in": str("one")}))}},
		{"nothing that is there is an empty item", "absent", nil, dynamo.Item{}},
	}
	var all []behaviour
	for _, c := range cases {
		all = append(all, behaviour{c.name, func(k *kit) {
			k.put(whole(k))
			out, err := k.Get(k.ctx, &dynamo.GetInput{
				TableName: k.main, Key: k.key("a"), ConsistentRead: true,
				ProjectionExpression: c.projection,
				Expressions:          dynamo.Expressions{ExpressionAttributeNames: c.names},
			})
			k.must(err)
			k.same(out.Item, c.want)
		}})
	}
	return all
}
