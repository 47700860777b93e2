package singletable_test

import (
	"testing"
	"time"

	st "github.com/exchequer-dev/exchequer/singletable"
)

type txn struct {
	ID             string
	IdempotencyKey string `dynamodbav:",omitempty"`
	Status         string
	Amount         st.Number
	CreatedAt      time.Time
	A, B, C, D, E, F, G, H string
	Version int64
}

func newTxns() *st.Entity[txn] {
	tb := st.NewTable("FinancialTransactions", st.Keys("PK", "SK"), st.GSI("GSI1", "GSI1PK", "GSI1SK"), st.GSI("GSI2", "GSI2PK", "GSI2SK"))
	return st.NewEntity[txn](tb, "Transaction", st.Primary("TXN#<ID>", "METADATA"),
		st.On("GSI1", "STATUS#<Status><ID:shardSuffix(1)>", "CREATED#<CreatedAt>"),
		st.On("GSI2", "IDEMPOTENCY#<IdempotencyKey>", "TXN", st.Sparse()),
		st.Discriminator("Type", "Transaction"))
}

func sample() txn {
	return txn{ID: "880h1733-e29b-41d4-a716-446655440000", IdempotencyKey: "abc#1", Status: "completed", Amount: "5.50", CreatedAt: time.Date(2026, 1, 2, 10, 30, 0, 123456789, time.UTC),
		A: "a", B: "b", C: "c", D: "d", E: "e", F: "f", G: "g", H: "h"}
}

func TestSmoke(t *testing.T) {
	e := newTxns()
	item, err := e.Item(sample())
	t.Log(item, err)
	v, err := e.Decode(item)
	t.Logf("%+v %v %v", v, err, e.Owns(item))
}

func BenchmarkMarshal(b *testing.B) {
	e := newTxns()
	v := sample()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Item(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	e := newTxns()
	item, _ := e.Item(sample())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Decode(item); err != nil {
			b.Fatal(err)
		}
	}
}
