package dynamotest

import (
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func indexes() []behaviour {
	return []behaviour{
		{"items are in the order of the index's number", func(k *kit) {
			for i, n := range []string{"10", "9", "-1", "1e2", "0.5", "-20"} {
				k.put(k.item(fmt.Sprint(i), vals{"n": num(n), "g": str(k.partition)}))
			}
			want := []string{"5", "2", "4", "1", "0", "3"}
			k.sameOrder(sorts(k.everyPage(k.byNumber())), want)
			k.sameOrder(sorts(k.eventually(k.inGroup(indexGlobal), 6)), want)
		}},
		{"only items with the whole key are in", func(k *kit) {
			k.put(
				k.item("both", vals{"g": str(k.partition), "n": num("1")}),
				k.item("group", vals{"g": str(k.partition)}),
				k.item("number", vals{"n": num("1")}),
				k.key("none"),
			)
			k.sameOrder(sorts(k.eventually(k.inGroup(indexGlobal), 1)), []string{"both"})
			k.eventually(k.inGroup(indexKeys), 2)
			k.sameOrder(sorts(k.everyPage(k.byNumber())), []string{"both", "number"})
		}},
		{"a projection holds its attributes and both keys", func(k *kit) {
			k.put(k.item("x", vals{
				"g": str(k.partition), "n": num("1"), "a": num("2"), "b": num("3"),
			}))
			keys := k.item("x", vals{"g": str(k.partition)})
			some := k.item("x", vals{"g": str(k.partition), "a": num("2")})
			k.same(k.eventually(k.inGroup(indexKeys), 1)[0], keys)
			k.same(k.eventually(k.inGroup(indexSome), 1)[0], some)
			k.same(k.eventually(k.inGroup(indexGlobal), 1)[0], k.read(k.key("x")))
		}},
		{"an item moves with its index key", func(k *kit) {
			other := k.partition + "-other"
			k.put(k.item("x", vals{"g": str(k.partition), "n": num("1")}))
			k.eventually(k.inGroup(indexGlobal), 1)
			k.update("x", "SET g = :g", vals{":g": str(other)})
			k.eventually(k.inGroup(indexGlobal), 0)
			moved := k.inGroup(indexGlobal)
			moved.ExpressionAttributeValues = vals{":g": str(other)}
			k.eventually(moved, 1)
			k.update("x", "SET g = :g", vals{":g": str(other)})
			k.eventually(moved, 1)
			k.update("x", "REMOVE g", nil)
			k.eventually(moved, 0)
		}},
		{"a deleted item leaves every index", func(k *kit) {
			k.put(k.item("x", vals{"g": str(k.partition), "n": num("1")}))
			k.eventually(k.inGroup(indexSome), 1)
			_, err := k.Delete(k.ctx, &dynamo.DeleteInput{TableName: k.main, Key: k.key("x")})
			k.must(err)
			for _, index := range []string{indexGlobal, indexKeys, indexSome} {
				k.eventually(k.inGroup(index), 0)
			}
		}},
		{"a local index reads what it does not hold too", func(k *kit) {
			k.put(k.item("x", vals{"n": num("1"), "a": num("2")}))
			in := k.byNumber()
			in.Select = dynamo.SelectAllAttributes
			k.same(k.everyPage(in)[0], k.read(k.key("x")))
		}},
		{"a wrong type of an index key is refused", func(k *kit) {
			_, err := k.Put(k.ctx, &dynamo.PutInput{
				TableName: k.main, Item: k.item("x", vals{"g": num("1")}),
			})
			k.refused(err, dynamo.CodeValidation, "")
			_, err = k.Put(k.ctx, &dynamo.PutInput{
				TableName: k.main, Item: k.item("x", vals{"n": str("1")}),
			})
			k.refused(err, dynamo.CodeValidation, "")
			k.same(k.read(k.key("x")), nil)
		}},
		{"a global index is not read consistently", func(k *kit) {
			in := k.inGroup(indexGlobal)
			in.ConsistentRead = true
			_, err := k.Query(k.ctx, &in)
			k.refused(err, dynamo.CodeValidation,
				"Consistent reads are not supported on global secondary indexes")
		}},
	}
}

func scans() []behaviour {
	return []behaviour{
		{"segments divide a table", func(k *kit) {
			want := map[string]bool{}
			for i := range 40 {
				id := fmt.Sprintf("%s-%d", k.partition, i)
				want[id] = true
				k.put(dynamo.Item{"pk": str(id), "sk": str("x")})
			}
			for _, segments := range []int{0, 1, 3, 8} {
				seen := map[string]int{}
				for segment := range max(segments, 1) {
					for _, it := range k.scan(dynamo.ScanInput{
						TotalSegments: segments, Segment: segment, Limit: 7,
					}) {
						seen[it["pk"].S()]++
					}
				}
				for id := range want {
					if seen[id] != 1 {
						k.Errorf("%d segments have %s %d times", segments, id, seen[id])
					}
				}
			}
		}},
		{"filters and projections", func(k *kit) {
			k.put(k.item("a", vals{"x": num("1")}), k.item("b", vals{"x": num("2")}))
			in := dynamo.ScanInput{
				FilterExpression: "pk = :p AND x > :x", ProjectionExpression: "x",
			}
			in.ExpressionAttributeValues = vals{":p": str(k.partition), ":x": num("1")}
			got := k.scan(in)
			if len(got) != 1 {
				k.Fatalf("got %v", got)
			}
			k.same(got[0], dynamo.Item{"x": num("2")})
		}},
		{"an index has its own items", func(k *kit) {
			k.put(k.item("in", vals{"g": str(k.partition), "n": num("1")}), k.key("out"))
			k.eventually(k.inGroup(indexGlobal), 1)
			in := dynamo.ScanInput{IndexName: indexGlobal, FilterExpression: "pk = :p"}
			in.ExpressionAttributeValues = vals{":p": str(k.partition)}
			k.sameOrder(sorts(k.scan(in)), []string{"in"})
		}},
		{"a segment beyond the total is refused", func(k *kit) {
			_, err := k.Scan(k.ctx, &dynamo.ScanInput{
				TableName: k.main, Segment: 3, TotalSegments: 3,
			})
			k.refused(err, dynamo.CodeValidation, "")
		}},
	}
}

// scan reads all pages of the main table or of an index of it.
func (k *kit) scan(in dynamo.ScanInput) []dynamo.Item {
	k.Helper()
	in.TableName = k.main
	var all []dynamo.Item
	for {
		out, err := k.Scan(k.ctx, &in)
		k.must(err)
		all = append(all, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return all
		}
	}
}
