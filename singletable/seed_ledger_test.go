package singletable_test

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// The ledger keeps merchants, accounts, transactions and their legs in one table, with two
// overloaded indexes.
type (
	Merchant struct {
		ID, Name, Category string
	}
	LedgerAccount struct {
		ID          string
		UserID      string
		AccountType string
		Balance     st.Number
		Currency    string
		Status      string
		Version     int64 `dynamodbav:",omitempty"`
	}
	Transaction struct {
		ID              string
		IdempotencyKey  string
		TransactionType string
		Status          string
		MerchantID      string `dynamodbav:",omitempty"`
		Description     string `dynamodbav:",omitempty"`
		Amount          st.Number
		CreatedAt       time.Time
	}
	TransactionLeg struct {
		ID            string
		TransactionID string
		AccountID     string
		LegType       string
		Amount        st.Number
		Currency      string
		CreatedAt     time.Time
	}
	// TransactionWithLegs is an item collection.
	TransactionWithLegs struct {
		Transaction Transaction
		Legs        []TransactionLeg
	}
)

// Inputs of the ledger's patterns.
type (
	ByUser    struct{ UserID string }
	ByAccount struct{ AccountID string }
	ByKey     struct{ IdempotencyKey string }
	ByID      struct{ ID string }
	ByStatus  struct {
		Status   string
		From, To time.Time
	}
)

type ledgerModel struct {
	table        *st.Table
	merchants    *st.Entity[Merchant]
	accounts     *st.Entity[LedgerAccount]
	transactions *st.Entity[Transaction]
	legs         *st.Entity[TransactionLeg]
	balance      st.Field[LedgerAccount, st.Number]
	status       st.Field[LedgerAccount, string]

	accountsOfUser   *st.Pattern[ByUser, LedgerAccount]
	byStatus         *st.Pattern[ByStatus, Transaction]
	byIdempotencyKey *st.Pattern[ByKey, Transaction]
	withLegs         *st.Pattern[ByID, TransactionWithLegs]
	accountHistory   *st.Pattern[ByAccount, TransactionLeg]
}

// newLedgerModel builds the model. shards is how many shards STATUS#<status> is spread over.
func newLedgerModel(tableName string, shards int) *ledgerModel {
	m := &ledgerModel{}
	m.table = st.NewTable(tableName, st.Keys("PK", "SK"),
		st.GSI("GSI1", "GSI1PK", "GSI1SK"), st.GSI("GSI2", "GSI2PK", "GSI2SK"))
	m.merchants = st.NewEntity[Merchant](m.table, "Merchant",
		st.Primary("MERCHANT#<ID>", "METADATA"), st.Discriminator("Type", "Merchant"))
	m.accounts = st.NewEntity[LedgerAccount](m.table, "Account",
		st.Primary("ACCOUNT#<ID>", "METADATA"),
		st.On("GSI1", "USER#<UserID>", "ACCOUNT#<ID>"),
		st.Discriminator("Type", "Account"))
	m.transactions = st.NewEntity[Transaction](m.table, "Transaction",
		st.Primary("TXN#<ID>", "METADATA"),
		st.On("GSI1", fmt.Sprintf("STATUS#<Status><ID:shardSuffix(%d)>", shards),
			"CREATED#<CreatedAt>"),
		st.On("GSI2", "IDEMPOTENCY#<IdempotencyKey>", "TXN"),
		st.Discriminator("Type", "Transaction"))
	m.legs = st.NewEntity[TransactionLeg](m.table, "TransactionLeg",
		st.Primary("TXN#<TransactionID>", "LEG#<ID>"),
		st.On("GSI1", "ACCOUNT#<AccountID>", "LEG#<CreatedAt>#<ID>"),
		st.Discriminator("Type", "TransactionLeg"))
	m.balance = st.FieldOf(m.accounts, func(a *LedgerAccount) *st.Number { return &a.Balance })
	m.status = st.FieldOf(m.accounts, func(a *LedgerAccount) *string { return &a.Status })

	m.accountsOfUser = st.NewQuery[ByUser](m.accounts, "accounts-of-user", st.UseIndex("GSI1"),
		st.Describe("The accounts of a user."))
	m.byStatus = st.NewQuery[ByStatus](m.transactions, "transactions-by-status",
		st.UseIndex("GSI1"), st.Between("CreatedAt", "From", "To"),
		st.Describe("Transactions with a status, oldest first."))
	m.byIdempotencyKey = st.NewQuery[ByKey](m.transactions, "transaction-by-idempotency-key",
		st.UseIndex("GSI2"), st.Describe("The transaction that a key was used for."))
	m.withLegs = st.NewCollection[ByID]("transaction-with-legs", []st.Member[TransactionWithLegs]{
		st.Into(m.transactions, func(out *TransactionWithLegs,
			v Transaction) {
			out.Transaction = v
		}),
		st.Into(m.legs, func(out *TransactionWithLegs, v TransactionLeg) {
			out.Legs = append(out.Legs, v)
		}),
	}, st.Describe("A transaction and its legs."))
	m.accountHistory = st.NewQuery[ByAccount](m.legs, "account-history", st.UseIndex("GSI1"),
		st.Descending(), st.Describe("The legs of an account, newest first."))
	return m
}

// pay moves money from one account to another: header, two legs and two balances, all or none.
func (m *ledgerModel) pay(
	ctx context.Context, s *st.Store, t Transaction, from, to string,
) error {
	tx := s.NewTx()
	header := m.transactions.CreateTx(tx, t)
	leg := func(id, account, legType string) {
		m.legs.CreateTx(tx, TransactionLeg{ID: id, TransactionID: t.ID, AccountID: account,
			LegType: legType, Amount: t.Amount, Currency: "USD", CreatedAt: t.CreatedAt})
	}
	leg(t.ID+"-1", from, "debit")
	leg(t.ID+"-2", to, "credit")
	debit := m.accounts.UpdateTx(tx, LedgerAccount{ID: from}, m.balance.Subtract(t.Amount),
		st.If(m.status.Equals("active"), m.balance.AtLeast(t.Amount)))
	m.accounts.UpdateTx(tx, LedgerAccount{ID: to}, m.balance.Add(t.Amount),
		st.If(m.status.Equals("active")))
	err := tx.Commit(ctx)
	for _, f := range st.FailuresOf(err) {
		switch f.Actions[0] {
		case header:
			first, _ := st.Old(m.transactions, f)
			return fmt.Errorf("posted already as %s", first.ID)
		case debit:
			if old, ok := st.Old(m.accounts, f); ok {
				return fmt.Errorf("account %s is %s and has %s", old.ID, old.Status, old.Balance)
			}
		}
	}
	return err
}

// A ledger: five items in one transaction, an item collection, and four questions to indexes.
func Example_ledger() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	m := newLedgerModel("FinancialTransactions", 1)
	if err := m.table.Ensure(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	s := st.NewStore(db, st.Options{})
	must := func(err error) {
		if err != nil {
			fmt.Println("unexpected:", err)
		}
	}
	for _, id := range []string{"660f9511", "661a0622"} {
		must(m.accounts.Create(ctx, s, LedgerAccount{ID: id, UserID: "770g0622",
			AccountType: "checking", Balance: "100", Currency: "USD", Status: "active"}))
	}
	created := time.Date(2026, 1, 2, 10, 30, 0, 123_000_000, time.UTC)
	txn := Transaction{ID: "880h1733", IdempotencyKey: "abc123def456", TransactionType: "payment",
		Status: "completed", Amount: "5.50", CreatedAt: created}
	must(m.pay(ctx, s, txn, "660f9511", "661a0622"))
	fmt.Println("again:", m.pay(ctx, s, txn, "660f9511", "661a0622"))
	txn.ID, txn.IdempotencyKey, txn.Amount = "881i1844", "xyz", "500"
	fmt.Println("too much:", m.pay(ctx, s, txn, "660f9511", "661a0622"))

	for a, err := range m.accountsOfUser.All(ctx, s, ByUser{"770g0622"}) {
		must(err)
		fmt.Println("account", a.ID, a.Balance)
	}
	found, ok, err := m.byIdempotencyKey.First(ctx, s, ByKey{"abc123def456"})
	must(err)
	fmt.Println("by key:", ok, found.ID)
	whole, _, err := m.withLegs.Collect(ctx, s, ByID{"880h1733"})
	must(err)
	fmt.Println("collection:", whole.Transaction.Amount, len(whole.Legs), "legs")
	page, err := m.accountHistory.Page(ctx, s, ByAccount{"660f9511"}, 100, "")
	must(err)
	fmt.Println("history:", page.Items[0].LegType, page.Items[0].Amount)
	n, err := m.byStatus.Count(ctx, s, ByStatus{Status: "completed",
		From: created.Add(-24 * time.Hour), To: created.Add(time.Millisecond)})
	must(err)
	fmt.Println("completed:", n)
	// Output:
	// again: posted already as 880h1733
	// too much: account 660f9511 is active and has 94.5
	// account 660f9511 94.5
	// account 661a0622 105.5
	// by key: true 880h1733
	// collection: 5.5 2 legs
	// history: debit 5.5
	// completed: 1
}
