package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const expressionPut = `"ConditionExpression":"attribute_not_exists(PK)"`

// putBody is a PutItem of 1 KB.
func putBody() []byte {
	return []byte(`{"TableName":"Accounts","Item":{"PK":{"S":"ACCOUNT#0000000001"},` +
		`"SK":{"S":"META"},"Balance":{"N":"1500.25"},"Version":{"N":"17"},"Data":{"S":"` +
		strings.Repeat("abcdefgh", 120) + `"}}}`)
}

// paymentBody is a transaction of six actions on items of 400 bytes.
func paymentBody() []byte {
	var b strings.Builder
	b.WriteString(`{"ClientRequestToken":"0b6c3cbb-6d3b-4c3f-8f0e-8c6a4a5b2f10","TransactItems":[`)
	for i := range 4 {
		fmt.Fprintf(&b, `{"Put":{"TableName":"Ledger","Item":{"PK":{"S":"TX#%d"},"SK":{"S":"LEG#%d"},`+
			`"GSI1PK":{"S":"ACCOUNT#%d"},"GSI1SK":{"S":"2026-01-02T10:30:00.123Z#%d"},`+
			`"Amount":{"N":"12.5"},"Currency":{"S":"NZD"},"CreatedAt":{"S":"2026-01-02T10:30:00Z"},`+
			`"Memo":{"S":"%s"}},%s}},`, i, i, i, i, strings.Repeat("m", 160), expressionPut)
	}
	for i := range 2 {
		fmt.Fprintf(&b, `{"Update":{"TableName":"Ledger","Key":{"PK":{"S":"ACCOUNT#%d"},`+
			`"SK":{"S":"META"}},"UpdateExpression":"SET Balance = Balance + :a, Version = :v",`+
			`"ConditionExpression":"Version = :w","ExpressionAttributeValues":{":a":{"N":"12.5"},`+
			`":v":{"N":"18"},":w":{"N":"17"}}}},`, i)
	}
	return []byte(strings.TrimSuffix(b.String(), ",") + "]}")
}

// pageOf100 is a page of 100 items of 230 bytes.
func pageOf100() *dynamo.QueryOutput {
	out := &dynamo.QueryOutput{Count: 100, ScannedCount: 100}
	for i := range 100 {
		out.Items = append(out.Items, dynamo.Item{
			"PK":        dynamo.S("ACCOUNT#0000000001"),
			"SK":        dynamo.S(fmt.Sprintf("TX#2026-01-02T10:30:00.123Z#%06d", i)),
			"Amount":    dynamo.CanonicalN("12.5"),
			"Currency":  dynamo.S("NZD"),
			"CreatedAt": dynamo.S("2026-01-02T10:30:00Z"),
			"Memo":      dynamo.S(strings.Repeat("m", 90)),
		})
	}
	return out
}

func BenchmarkDecodePut(b *testing.B) { benchmarkDecode(b, putBody(), decodePut) }

func BenchmarkDecodePayment(b *testing.B) { benchmarkDecode(b, paymentBody(), decodeTransactWrite) }

func benchmarkDecode[In any](b *testing.B, body []byte, decode func(*reader, *In)) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r := newReader(body)
		decode(r, new(In))
		if err := r.end(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeQuery(b *testing.B) {
	out := pageOf100()
	var w writer
	b.ReportAllocs()
	for b.Loop() {
		w.b = w.b[:0]
		encodeQuery(&w, &dynamo.QueryInput{}, out)
	}
	b.SetBytes(int64(len(w.b)))
}
