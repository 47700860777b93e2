package singletable_test

import (
	"context"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// null is a DB that does nothing, so that only the kit's own work is measured.
type null struct{ dynamo.DB }

func (null) TransactWrite(
	context.Context, *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	return &dynamo.TransactWriteOutput{}, nil
}

// entry has 14 attributes, as a ledger's transaction has.
type entry struct {
	ID             string
	IdempotencyKey string
	Type           string
	Status         string
	MerchantID     string `dynamodbav:",omitempty"`
	Description    string `dynamodbav:",omitempty"`
	Amount         st.Number
	Currency       string
	Metadata       map[string]string `dynamodbav:",omitempty"`
	ReversalOf     string            `dynamodbav:",omitempty"`
	ReversedBy     string            `dynamodbav:",omitempty"`
	RequestHash    string
	Version        int64
	CreatedAt      time.Time
}

func entries() (*st.Entity[entry], entry) {
	table := st.NewTable("entries", st.Keys("PK", "SK"), st.GSI("GSI1", "GSI1PK", "GSI1SK"),
		st.GSI("GSI2", "GSI2PK", "GSI2SK"))
	e := st.NewEntity[entry](table, "Entry", st.Primary("TXN#<ID>", "METADATA"),
		st.On("GSI1", "STATUS#<Status><ID:shardSuffix(4)>", "CREATED#<CreatedAt>"),
		st.On("GSI2", "IDEMPOTENCY#<IdempotencyKey>", "TXN"),
		st.Discriminator("Kind", "Entry"))
	return e, entry{ID: "880e8400-e29b-41d4-a716-446655440000", IdempotencyKey: "abc123def456",
		Type: "payment", Status: "completed", MerchantID: "550e8400-e29b-41d4-a716-446655440000",
		Description: "Coffee purchase", Amount: "5.5", Currency: "USD",
		RequestHash: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", Version: 1, CreatedAt: opened}
}

func BenchmarkMarshal14Attributes(b *testing.B) {
	e, v := entries()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Item(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode14Attributes(b *testing.B) {
	e, v := entries()
	item, err := e.Item(v)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Decode(item); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPaymentTx is the kit's share of a payment: a header, two legs and two balances.
func BenchmarkPaymentTx(b *testing.B) {
	m := newLedgerModel("FinancialTransactions", 1)
	s := st.NewStore(null{}, st.Options{})
	ctx := context.Background()
	txn := Transaction{ID: "880h1733", IdempotencyKey: "abc123def456", TransactionType: "payment",
		Status: "completed", Amount: "5.50", CreatedAt: opened}
	b.ReportAllocs()
	for b.Loop() {
		if err := m.pay(ctx, s, txn, "660f9511", "661a0622"); err != nil {
			b.Fatal(err)
		}
	}
}
