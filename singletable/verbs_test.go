package singletable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// openTables returns a store in memory with the tables in it.
func openTables(t testing.TB, tables ...*st.Table) (*st.Store, patient) {
	t.Helper()
	s, db := newStoreFor(t, tables...)
	t.Cleanup(func() { db.Close() })
	return s, db
}

// newStoreFor is openTables for callers that close the database themselves.
func newStoreFor(t interface{ Fatal(...any) }, tables ...*st.Table) (*st.Store, patient) {
	db, err := storetest.Open(context.Background(), engine.Options{
		SweepInterval: -1, MemTableSize: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if err := table.Ensure(context.Background(), db); err != nil {
			t.Fatal(err)
		}
	}
	late := patient{db}
	return st.NewStore(late, st.Options{CursorKey: []byte("a key for tests")}), late
}

// Account is the account of the tests.
type Account struct {
	ID       string
	UserID   string
	Status   string
	Balance  st.Number
	Limit    *st.Number `dynamodbav:",omitempty"`
	Tags     []string   `dynamodbav:",stringset,omitempty"`
	Notes    []string   `dynamodbav:",omitempty"`
	DueAt    time.Time  `dynamodbav:",omitempty"`
	Version  int64
	OpenedAt time.Time
}

// bank is the model of the tests.
type bank struct {
	table    *st.Table
	accounts *st.Entity[Account]
	balance  st.Field[Account, st.Number]
	status   st.Field[Account, string]
	due      st.Field[Account, time.Time]
	tags     st.Field[Account, []string]
	notes    st.Field[Account, []string]
	user     st.Field[Account, string]
	version  st.Field[Account, int64]
}

func newBank() *bank {
	b := &bank{}
	b.table = st.NewTable("bank", st.Keys("PK", "SK"), st.GSI("GSI1", "GSI1PK", "GSI1SK"),
		st.GSI("GSI2", "GSI2PK", "GSI2SK"))
	b.accounts = st.NewEntity[Account](b.table, "Account",
		st.Primary("ACCOUNT#<ID>", "METADATA"),
		st.On("GSI1", "USER#<UserID>", "<Status>#<OpenedAt>#<ID>"),
		st.On("GSI2", "DUE", "<DueAt>#<ID>", st.SparseWhen("Status", "active", "frozen")),
		st.Discriminator("Type", "Account"), st.Versioned("Version"))
	b.balance = st.FieldOf(b.accounts, func(a *Account) *st.Number { return &a.Balance })
	b.status = st.FieldOf(b.accounts, func(a *Account) *string { return &a.Status })
	b.due = st.FieldOf(b.accounts, func(a *Account) *time.Time { return &a.DueAt })
	b.tags = st.FieldOf(b.accounts, func(a *Account) *[]string { return &a.Tags })
	b.notes = st.FieldOf(b.accounts, func(a *Account) *[]string { return &a.Notes })
	b.user = st.FieldOf(b.accounts, func(a *Account) *string { return &a.UserID })
	b.version = st.FieldOf(b.accounts, func(a *Account) *int64 { return &a.Version })
	return b
}

var opened = time.Date(2026, 1, 2, 10, 30, 0, 123_000_000, time.UTC)

func account(id, balance string) Account {
	return Account{ID: id, UserID: "u1", Status: "active", Balance: st.Number(balance),
		OpenedAt: opened, Version: 1}
}

func TestCreateThenGetReturnsTheSame(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	ctx := context.Background()
	want := account("a#1%", "100")
	want.Tags, want.Notes = []string{"x", "y"}, []string{"n"}
	if err := b.accounts.Create(ctx, s, want); err != nil {
		t.Fatal(err)
	}
	got, found, err := b.accounts.Get(ctx, s, Account{ID: "a#1%"})
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	err = b.accounts.Create(ctx, s, account("a#1%", "5"))
	if !errors.Is(err, st.ErrExists) || !errors.Is(err, st.ErrConditionFailed) {
		t.Fatalf("a second Create says %v", err)
	}
	old, ok := st.Old(b.accounts, st.FailuresOf(err)[0])
	if !ok || old.Balance != "100" {
		t.Errorf("the failure carries %+v, %t", old, ok)
	}
	if _, found, err := b.accounts.Get(ctx, s, Account{ID: "none"}); found || err != nil {
		t.Error("found an item that is not there:", err)
	}
	if _, _, err := b.accounts.Get(ctx, s, Account{}); err == nil ||
		!strings.Contains(err.Error(), `"ACCOUNT#<ID>" needs ID, which is empty`) {
		t.Error("an empty key part says", err)
	}
}

func TestUpdateChangesFieldsAndKeepsIndexKeys(t *testing.T) {
	b := newBank()
	s, db := openTables(t, b.table)
	ctx := context.Background()
	v := account("a1", "100")
	v.DueAt = opened.Add(time.Hour)
	if err := b.accounts.Create(ctx, s, v); err != nil {
		t.Fatal(err)
	}
	at := Account{ID: "a1"}
	got, err := b.accounts.Update(ctx, s, at, b.balance.Subtract("40.5"), b.tags.Add([]string{"t"}),
		b.notes.ListAppend([]string{"one"}), st.If(b.balance.AtLeast("40.5"),
			b.status.Equals("active")))
	if err != nil {
		t.Fatal(err)
	}
	if got.Balance != "59.5" || got.Version != 2 || len(got.Tags) != 1 || got.Notes[0] != "one" {
		t.Errorf("the update returns %+v", got)
	}
	_, err = b.accounts.Update(ctx, s, at, b.balance.Subtract("60"), st.If(b.balance.AtLeast("60")))
	if !errors.Is(err, st.ErrConditionFailed) || errors.Is(err, st.ErrMissing) {
		t.Errorf("too little money says %v", err)
	}
	_, err = b.accounts.Update(ctx, s, Account{ID: "nobody"}, b.balance.Add("1"))
	if !errors.Is(err, st.ErrMissing) {
		t.Errorf("an update of nothing says %v", err)
	}
	var partial *st.PartialKeyError
	_, err = b.accounts.Update(ctx, s, at, b.status.Set("closed"))
	if !errors.As(err, &partial) || partial.Index != "GSI1" ||
		!cmp.Equal(partial.Missing, []string{"OpenedAt"}) {
		t.Fatalf("half an index key says %v", err)
	}
	_, err = b.accounts.Update(ctx, s, at, b.status.Set("closed"), b.accounts.WithKnown(
		Account{OpenedAt: opened.Add(1e9)}))
	if !errors.Is(err, st.ErrChanged) {
		t.Errorf("a wrong guess says %v", err)
	}
	if _, err = b.accounts.Update(ctx, s, at, b.status.Set("closed"),
		b.accounts.ReadFirst()); err != nil {
		t.Fatal(err)
	}
	item := rawItem(t, db, b, "a1")
	if got := item["GSI1SK"].S(); got != "closed#2026-01-02T10:30:00.123Z#a1" {
		t.Errorf("GSI1SK is %q", got)
	}
	if _, ok := item["GSI2PK"]; ok {
		t.Error("a closed account is still in the sparse index")
	}
	v.Status = "frozen"
	if _, err = b.accounts.Update(ctx, s, at, b.status.Set("frozen"),
		b.accounts.ReadFirst()); err != nil {
		t.Fatal(err)
	}
	if got := rawItem(t, db, b, "a1")["GSI2SK"].S(); got != "2026-01-02T11:30:00.123Z#a1" {
		t.Errorf("GSI2SK is %q", got)
	}
}

func rawItem(t *testing.T, db dynamo.DB, b *bank, id string) dynamo.Item {
	t.Helper()
	key, err := b.accounts.Key(Account{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	out, err := db.Get(context.Background(), &dynamo.GetInput{TableName: b.table.Name(), Key: key,
		ConsistentRead: true})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

func TestReplaceDemandsTheVersion(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	ctx := context.Background()
	v := account("a1", "1")
	if _, err := b.accounts.Replace(ctx, s, v); !errors.Is(err, st.ErrMissing) &&
		!errors.Is(err, st.ErrChanged) {
		t.Errorf("replacing nothing says %v", err)
	}
	if err := b.accounts.Create(ctx, s, v); err != nil {
		t.Fatal(err)
	}
	v.Balance = "2"
	next, err := b.accounts.Replace(ctx, s, v)
	if err != nil || next.Version != 2 {
		t.Fatal(next.Version, err)
	}
	if _, err := b.accounts.Replace(ctx, s, v); !errors.Is(err, st.ErrChanged) {
		t.Errorf("a second Replace with the first version says %v", err)
	}
	old, found, err := b.accounts.Take(ctx, s, Account{ID: "a1"}, b.accounts.AtVersion(2))
	if err != nil || !found || old.Balance != "2" {
		t.Error(old, found, err)
	}
	if err := b.accounts.Delete(ctx, s, Account{ID: "a1"}); err != nil {
		t.Error(err)
	}
	if err := b.accounts.Delete(ctx, s, Account{ID: "a1"}, b.accounts.Exists()); !errors.Is(err,
		st.ErrMissing) {
		t.Error(err)
	}
}

func TestTxMergesTwoUpdatesOfOneItem(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	ctx := context.Background()
	if err := b.accounts.PutAll(ctx, s, []Account{account("a", "100"), account("b",
		"0")}); err != nil {
		t.Fatal(err)
	}
	debit := func(tx *st.Tx, amount st.Number) st.Action {
		return b.accounts.UpdateTx(tx, Account{ID: "a"}, b.balance.Subtract(amount),
			b.balance.AtLeast(amount))
	}
	tx := s.NewTx()
	debit(tx, "60")
	second := debit(tx, "60")
	b.accounts.UpdateTx(tx, Account{ID: "b"}, b.balance.Add("120"))
	if tx.Len() != 2 {
		t.Fatalf("the transaction touches %d items", tx.Len())
	}
	err := tx.Commit(ctx)
	if !errors.Is(err, st.ErrConditionFailed) {
		t.Fatalf("two debits of 60 from 100 say %v", err)
	}
	f := st.FailuresOf(err)[0]
	if diff := cmp.Diff([]st.Action{second}, f.Actions); diff != "" {
		t.Error("the wrong action is blamed:", diff)
	}
	tx = s.NewTx()
	debit(tx, "60")
	debit(tx, "40")
	b.accounts.UpdateTx(tx, Account{ID: "b"}, b.balance.Add("100"), b.accounts.AtVersion(1))
	b.accounts.CheckTx(tx, Account{ID: "b"}, b.balance.Equals("100"), b.accounts.AtVersion(2))
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := b.accounts.GetMany(ctx, s, []Account{{ID: "b"}, {ID: "x"}, {ID: "a"}},
		st.Consistent())
	if err != nil || got[0].Balance != "100" || got[1] != nil || got[2].Balance != "0" ||
		got[2].Version != 3 {
		t.Errorf("%+v %v", got, err)
	}
	tx = s.NewTx()
	b.accounts.UpdateTx(tx, Account{ID: "a"}, b.user.Set("u2"))
	b.accounts.UpdateTx(tx, Account{ID: "a"}, b.user.Set("u3"))
	var merge *st.MergeError
	if err := tx.Commit(ctx); !errors.As(err, &merge) || merge.Attribute != "UserID" {
		t.Errorf("two values for one attribute say %v", err)
	}
}

func TestTxRefusesMoreThan100Items(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	tx := s.NewTx()
	for i := range 101 {
		b.accounts.CreateTx(tx, account(fmt.Sprint(i), "0"))
	}
	if err := tx.Commit(context.Background()); !errors.Is(err, st.ErrTooLarge) {
		t.Errorf("101 items say %v", err)
	}
}

func TestTxRefusesMoreThan4MB(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	tx := s.NewTx()
	for i := range 11 {
		v := account(fmt.Sprint(i), "0")
		v.Notes = []string{strings.Repeat("x", 390_000)}
		b.accounts.CreateTx(tx, v)
	}
	if err := tx.Commit(context.Background()); !errors.Is(err, st.ErrTooLarge) {
		t.Errorf("%d bytes say %v", tx.Size(), err)
	}
}

func TestJoinTakesAllOfATransactionOrNothing(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	ctx := context.Background()
	if err := b.accounts.Create(ctx, s, account("hot", "100")); err != nil {
		t.Fatal(err)
	}
	pay := func(id string, amount st.Number) (*st.Tx, st.Action) {
		tx := s.NewTx()
		b.accounts.CreateTx(tx, account(id, string(amount)))
		return tx, b.accounts.UpdateTx(tx, Account{ID: "hot"}, b.balance.Subtract(amount),
			b.balance.AtLeast(amount))
	}
	tx, _ := pay("x", "60")
	more, debit := pay("y", "60")
	offset, err := tx.Join(more)
	if err != nil || tx.Len() != 3 {
		t.Fatal(tx.Len(), err)
	}
	err = tx.Commit(ctx)
	if fs := st.FailuresOf(err); len(fs) != 1 || !cmp.Equal(fs[0].Actions,
		[]st.Action{offset + debit}) {
		t.Errorf("the joined debit is not to blame: %+v", fs)
	}
	// What cannot be merged leaves the transaction as it was.
	tx, _ = pay("x", "60")
	clash, _ := pay("x", "10")
	if _, err := tx.Join(clash); err == nil {
		t.Error("two creations of one item are joined")
	}
	more, _ = pay("y", "40")
	if _, err := tx.Join(more); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if v, _, _ := b.accounts.Get(ctx, s, Account{ID: "hot"}); v.Balance != "0" || v.Version != 3 {
		t.Errorf("%+v", v)
	}
	if err := tx.Commit(ctx); err == nil {
		t.Error("a transaction is committed twice")
	}
}

func TestConcurrentUpdatesThatReadFirstAreAllDone(t *testing.T) {
	b := newBank()
	s, db := openTables(t, b.table)
	ctx := context.Background()
	if err := b.accounts.Create(ctx, s, account("a", "0")); err != nil {
		t.Fatal(err)
	}
	const callers, rounds = 8, 10
	done := make(chan error, callers)
	for i := range callers {
		go func() {
			for j := range rounds {
				_, err := b.accounts.Update(ctx, s, Account{ID: "a"}, b.balance.Add("1"),
					b.status.Set(fmt.Sprintf("s%d-%d", i, j)), b.accounts.ReadFirst())
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range callers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	v, _, err := b.accounts.Get(ctx, s, Account{ID: "a"}, st.Consistent())
	if err != nil || v.Balance != st.Number(fmt.Sprint(callers*rounds)) {
		t.Error(v, err)
	}
	want := v.Status + "#2026-01-02T10:30:00.123Z#a"
	if got := rawItem(t, db, b, "a")["GSI1SK"].S(); got != want {
		t.Errorf("the index key is %q, want %q", got, want)
	}
}
