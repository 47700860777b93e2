package dynamotest

import (
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func capacity() []behaviour { return append(capacityOfItems(), capacityOfMany()...) }

func capacityOfItems() []behaviour {
	return []behaviour{
		{"none is returned unless it is asked for", func(k *kit) {
			k.put(k.key("a"))
			out, err := k.Store.Get(k.ctx, &dynamo.GetInput{TableName: k.main, Key: k.key("a")})
			k.must(err)
			if out.ConsumedCapacity != nil {
				k.Errorf("got %+v", out.ConsumedCapacity)
			}
		}},
		{"reads are in steps of 4 KB and half when they may be old", func(k *kit) {
			k.put(k.item("a", vals{"x": text(5000)}))
			for _, c := range []struct {
				sort       string
				consistent bool
				units      float64
			}{{"a", true, 2}, {"a", false, 1}, {"none", true, 1}, {"none", false, 0.5}} {
				out, err := k.Store.Get(k.ctx, &dynamo.GetInput{
					TableName: k.main, Key: k.key(c.sort), ConsistentRead: c.consistent,
					ReturnConsumedCapacity: dynamo.CapacityTotal,
				})
				k.must(err)
				k.units(out.ConsumedCapacity, c.units)
			}
		}},
		{"writes are in steps of 1 KB of the larger image", func(k *kit) {
			large := dynamo.WriteUnits(2000 + len(k.partition) + len("pk"+"sk"+"a"+"x"))
			for _, c := range []struct {
				size  int
				units float64
			}{{10, 1}, {2000, large}, {10, large}, {10, 1}} {
				out, err := k.Put(k.ctx, &dynamo.PutInput{
					TableName:              k.main,
					Item:                   k.item("a", vals{"x": text(c.size)}),
					ReturnConsumedCapacity: dynamo.CapacityTotal,
				})
				k.must(err)
				k.units(out.ConsumedCapacity, c.units)
			}
		}},
		{"each index that is written has its line", func(k *kit) {
			in := &dynamo.PutInput{
				TableName: k.main, Item: k.item("a", vals{"g": str(k.partition), "n": num("1")}),
				ReturnConsumedCapacity: dynamo.CapacityIndexes,
			}
			out, err := k.Put(k.ctx, in)
			k.must(err)
			c := out.ConsumedCapacity
			k.units(c, 5)
			if c == nil || c.Table == nil || c.Table.CapacityUnits != 1 ||
				len(c.GlobalSecondaryIndexes) != 3 || len(c.LocalSecondaryIndexes) != 1 ||
				c.GlobalSecondaryIndexes[indexGlobal].CapacityUnits != 1 {
				k.Errorf("got %+v", c)
			}
			out, err = k.Put(k.ctx, in) // changes nothing in any index
			k.must(err)
			k.units(out.ConsumedCapacity, 1)
		}},
	}
}

func capacityOfMany() []behaviour {
	return []behaviour{
		{"a query pays for the sum of what it looked at", func(k *kit) {
			for _, sort := range []string{"a", "b", "c"} {
				k.put(k.item(sort, vals{"x": text(3000)}))
			}
			in := k.inPartition("", vals{":none": num("0")})
			in.FilterExpression = "x = :none"
			in.ReturnConsumedCapacity = dynamo.CapacityTotal
			out, err := k.Query(k.ctx, &in)
			k.must(err)
			k.units(out.ConsumedCapacity, 3)
		}},
		{"a transaction pays double", func(k *kit) {
			out, err := k.TransactWrite(k.ctx, &dynamo.TransactWriteInput{
				Items: []dynamo.TransactWriteItem{
					k.putAction("a", nil), k.checkAction("b", "attribute_not_exists(pk)"),
				},
				ReturnConsumedCapacity: dynamo.CapacityTotal,
			})
			k.must(err)
			if len(out.ConsumedCapacity) != 1 {
				k.Fatalf("got %+v", out.ConsumedCapacity)
			}
			k.units(&out.ConsumedCapacity[0], 4)
			read, err := k.TransactGet(k.ctx, &dynamo.TransactGetInput{
				Items: []dynamo.TransactGetItem{
					{TableName: k.main, Key: k.key("a")},
				},
				ReturnConsumedCapacity: dynamo.CapacityTotal,
			})
			k.must(err)
			if len(read.ConsumedCapacity) != 1 {
				k.Fatalf("got %+v", read.ConsumedCapacity)
			}
			k.units(&read.ConsumedCapacity[0], 2)
		}},
		{"a batch returns one of each table", func(k *kit) {
			out, err := k.BatchWrite(k.ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{
					k.main:  {{Put: k.key("a")}, {Put: k.key("b")}},
					k.plain: {{Put: dynamo.Item{"id": num("5")}}},
				},
				ReturnConsumedCapacity: dynamo.CapacityTotal,
			})
			k.must(err)
			got := map[string]float64{}
			for _, c := range out.ConsumedCapacity {
				got[c.TableName] = c.CapacityUnits
			}
			if len(got) != 2 || got[k.main] != 2 || got[k.plain] != 1 {
				k.Errorf("got %v", got)
			}
		}},
	}
}

// text returns a string of size bytes.
func text(size int) dynamo.Value { return str(strings.Repeat("x", size)) }

func (k *kit) units(c *dynamo.ConsumedCapacity, want float64) {
	k.Helper()
	if c == nil || c.CapacityUnits != want || c.TableName != k.main {
		k.Errorf("got %+v, want %v units", c, want)
	}
}
