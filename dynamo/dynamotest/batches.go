package dynamotest

import (
	"fmt"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The limits of batches ("Service, account, and table quotas in Amazon DynamoDB").
const (
	batchGetMax   = 100
	batchWriteMax = 25
)

func batches() []behaviour {
	return []behaviour{
		{"puts and deletes of several tables", func(k *kit) {
			k.put(k.item("old", vals{"x": num("1")}))
			k.batch(map[string][]dynamo.WriteRequest{
				k.main: {
					{Put: k.item("a", vals{"x": num("1")})}, {Delete: k.key("old")},
					{Delete: k.key("never")},
				},
				k.plain: {{Put: dynamo.Item{"id": num("77"), "x": str("plain")}}},
			})
			k.same(k.read(k.key("old")), nil)
			got := k.batchRead(map[string]dynamo.KeysAndAttributes{
				k.main: {
					Keys:           []dynamo.Key{k.key("a"), k.key("old"), k.key("never")},
					ConsistentRead: true,
				},
				k.plain: {Keys: []dynamo.Key{{"id": num("77.0")}}, ConsistentRead: true},
			})
			if len(got[k.main]) != 1 || len(got[k.plain]) != 1 {
				k.Fatalf("got %v", got)
			}
			k.same(got[k.main][0], k.item("a", vals{"x": num("1")}))
			k.same(got[k.plain][0], dynamo.Item{"id": num("77"), "x": str("plain")})
		}},
		{"as many as may be", func(k *kit) {
			ask := dynamo.KeysAndAttributes{ConsistentRead: true}
			for from := 0; from < batchGetMax; from += batchWriteMax {
				var writes []dynamo.WriteRequest
				for i := from; i < from+batchWriteMax; i++ {
					sort := fmt.Sprintf("%03d", i)
					writes = append(writes, dynamo.WriteRequest{Put: k.key(sort)})
					ask.Keys = append(ask.Keys, k.key(sort))
				}
				k.batch(map[string][]dynamo.WriteRequest{k.main: writes})
			}
			got := sorts(k.batchRead(map[string]dynamo.KeysAndAttributes{k.main: ask})[k.main])
			slices.Sort(got)
			if distinct := slices.Compact(got); len(distinct) != batchGetMax {
				k.Errorf("%d items came back", len(distinct))
			}
		}},
		{"what is projected is what is answered", func(k *kit) {
			k.put(k.item("a", vals{"size": num("1"), "y": num("2")}))
			got := k.batchRead(map[string]dynamo.KeysAndAttributes{k.main: {
				Keys: []dynamo.Key{k.key("a")}, ConsistentRead: true,
				ProjectionExpression:     "#s",
				ExpressionAttributeNames: map[string]string{"#s": "size"},
			}})
			if len(got[k.main]) != 1 {
				k.Fatalf("got %v", got)
			}
			k.same(got[k.main][0], dynamo.Item{"size": num("1")})
		}},
		{"more than may be are refused", func(k *kit) {
			var writes []dynamo.WriteRequest
			var keys []dynamo.Key
			for i := range batchGetMax + 1 {
				keys = append(keys, k.key(fmt.Sprint(i)))
			}
			for i := range batchWriteMax + 1 {
				writes = append(writes, dynamo.WriteRequest{Put: k.key(fmt.Sprint(i))})
			}
			_, err := k.BatchWrite(k.ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{k.main: writes},
			})
			k.refused(err, dynamo.CodeValidation, "")
			_, err = k.BatchGet(k.ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{k.main: {Keys: keys}},
			})
			k.refused(err, dynamo.CodeValidation, "")
			k.same(k.read(k.key("0")), nil)
		}},
		{"an item twice is refused", func(k *kit) {
			_, err := k.BatchWrite(k.ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{
					k.main: {{Put: k.key("a")}, {Delete: k.key("a")}},
				},
			})
			k.refused(err, dynamo.CodeValidation,
				"Provided list of item keys contains duplicates")
			_, err = k.BatchGet(k.ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{
					k.main: {Keys: []dynamo.Key{k.key("a"), k.key("a")}},
				},
			})
			k.refused(err, dynamo.CodeValidation,
				"Provided list of item keys contains duplicates")
		}},
		{"empty batches are refused", func(k *kit) {
			_, err := k.BatchWrite(k.ctx, &dynamo.BatchWriteInput{})
			k.refused(err, dynamo.CodeValidation, "")
			_, err = k.BatchGet(k.ctx, &dynamo.BatchGetInput{})
			k.refused(err, dynamo.CodeValidation, "")
		}},
	}
}

// batch writes a batch and repeats the unprocessed writes.
func (k *kit) batch(writes map[string][]dynamo.WriteRequest) {
	k.Helper()
	done := await(k.ctx, func() bool {
		out, err := k.BatchWrite(k.ctx, &dynamo.BatchWriteInput{RequestItems: writes})
		k.must(err)
		writes = out.UnprocessedItems
		return len(writes) == 0
	})
	if !done {
		k.Fatalf("never written: %v", writes)
	}
}

// batchRead reads a batch and repeats the unprocessed keys.
func (k *kit) batchRead(ask map[string]dynamo.KeysAndAttributes) map[string][]dynamo.Item {
	k.Helper()
	got := map[string][]dynamo.Item{}
	done := await(k.ctx, func() bool {
		out, err := k.BatchGet(k.ctx, &dynamo.BatchGetInput{RequestItems: ask})
		k.must(err)
		for table, found := range out.Responses {
			got[table] = append(got[table], found...)
		}
		ask = out.UnprocessedKeys
		return len(ask) == 0
	})
	if !done {
		k.Fatalf("never read: %v", ask)
	}
	return got
}
