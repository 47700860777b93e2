package dynamotest

import (
	"fmt"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func queries() []behaviour {
	cases := []struct {
		condition string
		values    vals
		want      []string
	}{
		{"", nil, []string{"a", "a1", "b", "b1", "b2", "c"}},
		{"sk = :s", vals{":s": str("b")}, []string{"b"}},
		{"sk < :s", vals{":s": str("b")}, []string{"a", "a1"}},
		{"sk <= :s", vals{":s": str("b")}, []string{"a", "a1", "b"}},
		{"sk > :s", vals{":s": str("b1")}, []string{"b2", "c"}},
		{"sk >= :s", vals{":s": str("b1")}, []string{"b1", "b2", "c"}},
		{"sk BETWEEN :s AND :t", vals{":s": str("a1"), ":t": str("b1")},
			[]string{"a1", "b", "b1"}},
		{"begins_with(sk, :s)", vals{":s": str("b")}, []string{"b", "b1", "b2"}},
		{"sk > :s", vals{":s": str("z")}, nil},
	}
	all := []behaviour{
		{"filters count what they looked at", filters},
		{"a count has no items", func(k *kit) {
			k.put(k.key("a"), k.key("b"))
			in := k.inPartition("", nil)
			in.Select = dynamo.SelectCount
			out, err := k.Query(k.ctx, &in)
			k.must(err)
			if len(out.Items) != 0 || out.Count != 2 || out.ScannedCount != 2 {
				k.Errorf("got %+v", out)
			}
		}},
		{"what is projected is what is answered", func(k *kit) {
			k.put(k.item("a", vals{"x": num("1"), "y": num("2")}), k.key("b"))
			in := k.inPartition("", nil)
			in.ProjectionExpression = "x, sk"
			got := k.everyPage(in)
			if len(got) != 2 {
				k.Fatalf("got %v", got)
			}
			k.same(got[0], dynamo.Item{"x": num("1"), "sk": str("a")})
			k.same(got[1], dynamo.Item{"sk": str("b")})
		}},
	}
	for _, c := range cases {
		name := c.condition
		if name == "" {
			name = "a partition alone"
		}
		all = append(all, behaviour{fmt.Sprintf("%s finds %d", name, len(c.want)), func(k *kit) {
			for _, sort := range []string{"b1", "c", "a", "b2", "a1", "b"} {
				k.put(k.key(sort))
			}
			in := k.inPartition(c.condition, c.values)
			k.sameOrder(sorts(k.everyPage(in)), c.want)
			in.ScanIndexBackward = true
			back := slices.Clone(c.want)
			slices.Reverse(back)
			k.sameOrder(sorts(k.everyPage(in)), back)
		}})
	}
	return all
}

func filters(k *kit) {
	for i := range 6 {
		k.put(k.item(fmt.Sprint(i), vals{"even": dynamo.Bool(i%2 == 0)}))
	}
	in := k.inPartition("sk >= :from", vals{":from": str("1"), ":yes": dynamo.Bool(true)})
	in.FilterExpression = "even = :yes"
	in.Limit = 3
	out, err := k.Query(k.ctx, &in)
	k.must(err)
	k.sameOrder(sorts(out.Items), []string{"2"})
	if out.Count != 1 || out.ScannedCount != 3 || out.LastEvaluatedKey == nil {
		k.Errorf("got %+v", out)
	}
	k.same(out.LastEvaluatedKey, k.key("3"))
	in.ExclusiveStartKey = out.LastEvaluatedKey
	k.sameOrder(sorts(k.everyPage(in)), []string{"4"})
}

func pages() []behaviour {
	return []behaviour{
		{"every page size reads the same list, both ways", func(k *kit) {
			want := make([]string, 7)
			for i := range want {
				want[i] = fmt.Sprint(i)
				k.put(k.key(want[i]))
			}
			for size := 1; size <= len(want)+1; size++ {
				in := k.inPartition("", nil)
				in.Limit = size
				k.sameOrder(sorts(k.everyPage(in)), want)
			}
			back := slices.Clone(want)
			slices.Reverse(back)
			for size := 1; size <= len(want)+1; size++ {
				in := k.inPartition("", nil)
				in.Limit, in.ScanIndexBackward = size, true
				k.sameOrder(sorts(k.everyPage(in)), back)
			}
		}},
		{"ties of a local index are neither skipped nor repeated", func(k *kit) {
			for i := range 9 {
				k.put(k.item(fmt.Sprint(i), vals{"n": num(fmt.Sprint(i / 3))}))
			}
			k.allPageSizes(k.byNumber(), 9)
		}},
		{"ties of a global index are neither skipped nor repeated", func(k *kit) {
			for i := range 9 {
				k.put(k.item(fmt.Sprint(i), vals{"g": str(k.partition), "n": num("5")}))
			}
			for _, index := range []string{indexGlobal, indexKeys} {
				k.eventually(k.inGroup(index), 9)
				k.allPageSizes(k.inGroup(index), 9)
			}
		}},
		{"a start need not exist", func(k *kit) {
			k.put(k.key("a"), k.key("c"))
			in := k.inPartition("", nil)
			in.ExclusiveStartKey = k.key("b")
			k.sameOrder(sorts(k.everyPage(in)), []string{"c"})
		}},
		{"a page has at most 1 MB", func(k *kit) {
			const size, count = 200 << 10, 7
			for i := range count {
				k.put(k.item(fmt.Sprint(i), vals{"x": bin(make([]byte, size))}))
			}
			in := k.inPartition("", nil)
			out, err := k.Query(k.ctx, &in)
			k.must(err)
			// The item that exceeds 1 MB is the last one of its page.
			if len(out.Items) != 1<<20/size+1 && len(out.Items) != 1<<20/size ||
				out.LastEvaluatedKey == nil {
				k.Errorf("a page has %d items", len(out.Items))
			}
			if got := k.everyPage(in); len(got) != count {
				k.Errorf("all pages have %d items", len(got))
			}
		}},
		{"starts of another place are refused", func(k *kit) {
			for _, start := range []dynamo.Key{
				{"pk": str(k.partition)},
				{"pk": str(k.partition), "sk": num("1")},
				{"pk": str(k.partition), "sk": str("a"), "more": str("x")},
				{"pk": str("another"), "sk": str("a")},
			} {
				in := k.inPartition("", nil)
				in.ExclusiveStartKey = start
				_, err := k.Query(k.ctx, &in)
				k.refused(err, dynamo.CodeValidation, "")
			}
		}},
	}
}

// allPageSizes reads a list with every page size in both directions. It checks that each item
// occurs once and that one direction is the reverse of the other.
func (k *kit) allPageSizes(in dynamo.QueryInput, count int) {
	k.Helper()
	var first []string
	for _, backward := range []bool{false, true} {
		for size := 1; size <= count+1; size++ {
			in.Limit, in.ScanIndexBackward = size, backward
			got := sorts(k.everyPage(in))
			if backward {
				slices.Reverse(got)
			}
			if first == nil {
				first = got
				distinct := slices.Compact(slices.Sorted(slices.Values(got)))
				if len(distinct) != count {
					k.Fatalf("got %q", got)
				}
			}
			k.sameOrder(got, first)
		}
	}
}
