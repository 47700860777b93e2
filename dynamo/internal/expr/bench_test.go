package expr_test

import (
	"strconv"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

func createRequest() *expr.Request {
	return &expr.Request{Condition: "attribute_not_exists(PK)"}
}

func debitRequest() *expr.Request {
	return &expr.Request{
		Condition: "Version = :old AND Balance >= :a",
		Update:    "SET Balance = Balance - :a, Version = :v",
		Values: map[string]dynamo.Value{
			":a": dynamo.N("12.5"), ":v": dynamo.Int(8), ":old": dynamo.Int(7),
		},
	}
}

func namedRequest() *expr.Request {
	return &expr.Request{
		Condition: "#v = :old AND #b >= :a",
		Update:    "SET #b = #b - :a, #v = :v",
		Names:     map[string]string{"#b": "Balance", "#v": "Version"},
		Values: map[string]dynamo.Value{
			":a": dynamo.N("12.5"), ":v": dynamo.Int(8), ":old": dynamo.Int(7),
		},
	}
}

func queryRequest() *expr.Request {
	return &expr.Request{
		KeyCondition: "PK = :pk AND begins_with(SK, :sk)",
		Values:       map[string]dynamo.Value{":pk": dynamo.S("A#1"), ":sk": dynamo.S("TX#")},
	}
}

func BenchmarkPrepare(b *testing.B) {
	for _, bench := range []struct {
		name    string
		request *expr.Request
	}{
		{"create", createRequest()},
		{"debit", debitRequest()},
		{"debit with names", namedRequest()},
		{"query", queryRequest()},
	} {
		b.Run(bench.name, func(b *testing.B) {
			parser := expr.NewParser()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parser.Prepare(bench.request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("texts that are always new", func(b *testing.B) {
		parser := expr.NewParser()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			request := debitRequest()
			request.Update += ", A" + strconv.Itoa(i) + " = :a"
			if _, err := parser.Prepare(request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("debit in parallel", func(b *testing.B) {
		parser, request := expr.NewParser(), debitRequest()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := parser.Prepare(request); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func account() dynamo.Item {
	return dynamo.Item{
		"PK": dynamo.S("ACCOUNT#1"), "SK": dynamo.S("ACCOUNT#1"),
		"Balance": dynamo.CanonicalN("1500.5"), "Version": dynamo.Int(7),
		"Name": dynamo.S("everyday"), "Tags": dynamo.MarkChecked(dynamo.SS("a", "b")),
	}
}

func BenchmarkHolds(b *testing.B) {
	prepared, err := expr.NewParser().Prepare(debitRequest())
	if err != nil {
		b.Fatal(err)
	}
	item := account()
	b.ReportAllocs()
	for b.Loop() {
		if !prepared.Condition.Holds(item) {
			b.Fatal("the condition does not hold")
		}
	}
}

func BenchmarkApply(b *testing.B) {
	prepared, err := expr.NewParser().Prepare(debitRequest())
	if err != nil {
		b.Fatal(err)
	}
	item := account()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := prepared.Update.Apply(item); err != nil {
			b.Fatal(err)
		}
	}
}
