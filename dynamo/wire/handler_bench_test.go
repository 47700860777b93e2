package wire_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// sink is a response that nobody reads.
type sink struct {
	header http.Header
	status int
	size   int
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(b []byte) (int, error) {
	s.size += len(b)
	return len(b), nil
}

// caller sends one request again and again, with a number in place of each "%06d".
type caller struct {
	h      http.Handler
	target string
	body   string
	n      int
}

func (c *caller) call(b *testing.B) *sink {
	body := c.body
	if n := strings.Count(body, "%06d"); n > 0 {
		numbers := make([]any, n)
		for i := range numbers {
			numbers[i] = c.n
		}
		body = fmt.Sprintf(body, numbers...)
	}
	c.n++
	req, err := http.NewRequest("POST", "http://localhost/", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header["X-Amz-Target"] = []string{"DynamoDB_20120810." + c.target}
	w := &sink{header: http.Header{}}
	c.h.ServeHTTP(w, req)
	if w.status != 200 {
		b.Fatalf("status %d: %s", w.status, body)
	}
	return w
}

func benchmarkCall(b *testing.B, h http.Handler, target, body string) {
	c := caller{h: h, target: target, body: body}
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		size = c.call(b).size
	}
	b.SetBytes(int64(len(body) + size))
}

// What a request costs inside of the server, with an engine in memory: reading it, doing it and
// writing the answer, but no network.
func BenchmarkHandler(b *testing.B) {
	h := wire.NewHandler(openStore(b), wire.Options{})
	data := strings.Repeat("abcdefgh", 120)
	fill := caller{h: h, target: "PutItem", body: `{"TableName":"Test","Item":{"pk":{"S":"page"},` +
		`"sk":{"S":"2026-01-02T10:30:00Z#%06d"},"Amount":{"N":"12.5"},"Currency":{"S":"NZD"},` +
		`"CreatedAt":{"S":"2026-01-02T10:30:00Z"},"Memo":{"S":"` + data[:90] + `"}}}`}
	for range 100 {
		fill.call(b)
	}
	put := `{"TableName":"Test","Item":{"pk":{"S":"a"},"sk":{"S":"%06d"},"Data":{"S":"` + data + `"}}}`
	(&caller{h: h, target: "PutItem", body: put}).call(b)
	b.Run("Nothing", func(b *testing.B) {
		none := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(200)
		})
		benchmarkCall(b, none, "PutItem", put)
	})
	b.Run("PutItem 1 KB", func(b *testing.B) { benchmarkCall(b, h, "PutItem", put) })
	b.Run("GetItem 1 KB", func(b *testing.B) {
		benchmarkCall(b, h, "GetItem", `{"TableName":"Test","Key":{"pk":{"S":"a"},`+
			`"sk":{"S":"000000"}}}`)
	})
	b.Run("Query of 100", func(b *testing.B) {
		benchmarkCall(b, h, "Query", `{"TableName":"Test","KeyConditionExpression":"pk = :p",`+
			`"ExpressionAttributeValues":{":p":{"S":"page"}}}`)
	})
	b.Run("Payment", func(b *testing.B) { benchmarkCall(b, h, "TransactWriteItems", payment()) })
}

// payment is a transaction of six actions on new items of 400 bytes with an entry in the index.
func payment() string {
	var actions []string
	for i := range 4 {
		actions = append(actions, fmt.Sprintf(`{"Put":{"TableName":"Test","Item":{"pk":`+
			`{"S":"TX#%%06d"},"sk":{"S":"LEG#%d"},"gpk":{"S":"ACCOUNT#%d"},`+
			`"gsk":{"S":"2026-01-02#%%06d"},"Amount":{"N":"12.5"},"Currency":{"S":"NZD"},`+
			`"Memo":{"S":"%s"}},"ConditionExpression":"attribute_not_exists(pk)"}}`,
			i, i, strings.Repeat("m", 200)))
	}
	for i := range 2 {
		actions = append(actions, fmt.Sprintf(`{"Update":{"TableName":"Test","Key":{"pk":`+
			`{"S":"ACCOUNT#%d"},"sk":{"S":"META"}},"UpdateExpression":"ADD Balance :a",`+
			`"ExpressionAttributeValues":{":a":{"N":"12.5"}}}}`, i))
	}
	return `{"TransactItems":[` + strings.Join(actions, ",") + "]}"
}
