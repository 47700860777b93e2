package wire_test

import (
	"encoding/json"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// checkAnswer fails unless a request was answered as the protocol has it, whatever it was.
func checkAnswer(t *testing.T, h http.Handler, target, body string) {
	t.Helper()
	w := request(h, "POST", "/", body, "X-Amz-Target", target)
	switch w.Code {
	case 200, 400, 413:
	default:
		t.Fatalf("%s %.200q: status %d, %s", target, body, w.Code, w.Body)
	}
	if answer := w.Body.Bytes(); len(answer) > 0 && !json.Valid(answer) {
		t.Fatalf("%s %.200q: answer is no JSON: %s", target, body, answer)
	}
}

func FuzzRequest(f *testing.F) {
	for i, body := range []string{
		getBody,
		`{"TableName":"Test","Item":{"pk":{"S":"a"},"sk":{"S":"1"},"n":{"N":"1e99999"},` +
			`"l":{"L":[{"M":{"a":{"NS":["1","2"]}}},{"B":"AAA="}]}}}`,
		`{"TableName":"Test","Key":{"pk":{"S":"a"},"sk":{"S":"1"}},"UpdateExpression":` +
			`"SET #a[1].b = list_append(:v, if_not_exists(c, :v)) REMOVE d",` +
			`"ExpressionAttributeNames":{"#a":"a"},"ExpressionAttributeValues":{":v":{"L":[]}}}`,
		`{"TableName":"Test","KeyConditionExpression":"pk = :p AND begins_with(sk, :s)",` +
			`"ExpressionAttributeValues":{":p":{"S":"a"},":s":{"S":"1"}},"Limit":1,` +
			`"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"1"}}}`,
		`{"RequestItems":{"Test":{"Keys":[{"pk":{"S":"a"},"sk":{"S":"1"}}]}}}`,
		`{"RequestItems":{"Test":[{"DeleteRequest":{"Key":{"pk":{"S":"a"},"sk":{"S":"1"}}}}]}}`,
		`{"TransactItems":[{"Put":{"TableName":"Test","Item":{"pk":{"S":"a"}}}}]}`,
		`{"TransactItems":[{"Get":{"TableName":"Test","Key":{"pk":{"S":"a"}}}}]}`,
		`{"TableName":"Test","FilterExpression":"` + strings.Repeat("(", 4000) + `"}`,
		`{"a":` + strings.Repeat("[", 100_000),
		"{\"TableName\":\"\\ud800\xff\"}",
	} {
		for op := range 3 {
			f.Add(uint8(i+op), body)
		}
	}
	h := wire.NewHandler(openStore(f), wire.Options{})
	// All operations but those that write and read files, which are not for random names.
	targets := slices.DeleteFunc(h.Operations(), func(target string) bool {
		return strings.Contains(target, "Export") || strings.Contains(target, "Import")
	})
	f.Fuzz(func(t *testing.T, op uint8, body string) {
		checkAnswer(t, h, targets[int(op)%len(targets)], body)
	})
}

// What nobody sends by accident. All of it is refused, in memory that is a small multiple of what
// was sent.
func TestHostileRequestsAreRefused(t *testing.T) {
	h := wire.NewHandler(openStore(t), wire.Options{})
	const put = `{"TableName":"Test","Item":{"pk":{"S":"a"},"sk":{"S":"1"},"x":`
	repeat := func(before, s, after string) string {
		return before + strings.Repeat(s, (15<<20)/len(s)) + after
	}
	for _, test := range []struct{ outcome, operation, body string }{
		{"a deep unknown list", "GetItem", repeat(`{"x":`, "[", "")},
		{"a deep unknown object", "GetItem", repeat(`{"x":`, `{"a":`, "")},
		{"a deep list value", "PutItem", repeat(put, `{"L":[`, "")},
		{"a deep map value", "PutItem", repeat(put, `{"M":{"a":`, "")},
		{"many empty values", "PutItem", repeat(put+`{"L":[{}`, ",{}", "]}}}")},
		{"many small values", "PutItem", repeat(put+`{"L":[{"S":""}`, `,{"S":""}`, "]}}}")},
		{"a set of many", "PutItem", repeat(put+`{"SS":[""`, `,""`, "]}}}")},
		{"a number of many digits", "PutItem", repeat(put+`{"N":"1`, "7", `"}}}`)},
		{"a long exponent", "PutItem", repeat(put+`{"N":"1e`, "9", `"}}}`)},
		{"a long string of escapes", "PutItem", repeat(put+`{"S":"`, `\u0000`, `"}}}`)},
		{"a long table name", "PutItem", repeat(`{"Item":{},"TableName":"`, "a", `"}`)},
		{"many actions", "TransactWriteItems", repeat(`{"TransactItems":[{}`, ",{}", "]}")},
		{"many reads", "TransactGetItems", repeat(`{"TransactItems":[{}`, ",{}", "]}")},
		{"many writes", "BatchWriteItem", repeat(`{"RequestItems":{"Test":[{}`, ",{}", "]}}")},
		{
			"many keys", "BatchGetItem",
			repeat(`{"RequestItems":{"Test":{"Keys":[{}`, ",{}", "]}}}"),
		},
		{"a limit of many digits", "Scan", repeat(`{"TableName":"Test","Limit":1`, "0", "}")},
		{
			"a filter of parentheses", "Scan",
			repeat(`{"TableName":"Test","FilterExpression":"`, "(", `"}`),
		},
		{
			"4,000 parentheses", "Scan", `{"TableName":"Test","FilterExpression":"` +
				strings.Repeat("(", 2000) + "a = b" + strings.Repeat(")", 2000) + `"}`,
		},
		{
			"4,000 NOTs", "Scan", `{"TableName":"Test","FilterExpression":"` +
				strings.Repeat("NOT ", 1000) + `a = b"}`,
		},
		{
			"a long path", "GetItem", `{"TableName":"Test","Key":{"pk":{"S":"a"},"sk":{"S":"1"}},` +
				`"ProjectionExpression":"a` + strings.Repeat("[0]", 1300) + `"}`,
		},
	} {
		t.Run(test.outcome, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := request(h, "POST", "/", test.body, "X-Amz-Target",
				"DynamoDB_20120810."+test.operation)
			runtime.ReadMemStats(&after)
			if w.Code != 400 || !strings.Contains(w.Body.String(), "Exception") {
				t.Errorf("got %d %.300s", w.Code, w.Body)
			}
			// Room for the body as it is read, its parts, and both once more while they grow.
			const factor = 30
			used := after.TotalAlloc - before.TotalAlloc
			if allowed := uint64(len(test.body)*factor + 1<<20); used > allowed {
				t.Errorf("took %d MB for %d MB", used>>20, len(test.body)>>20)
			}
			t.Logf("took %d MB: %.150s", used>>20, w.Body)
		})
	}
}
