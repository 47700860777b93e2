package singletable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// exampleBank opens a bank with one account that has 100.
func exampleBank() (b *bank, s *st.Store, ctx context.Context, closeDB func()) {
	ctx = context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		panic(err)
	}
	b = newBank()
	if err := b.table.Ensure(ctx, db); err != nil {
		panic(err)
	}
	s = st.NewStore(db, st.Options{})
	if err := b.accounts.Create(ctx, s, account("a1", "100")); err != nil {
		panic(err)
	}
	return b, s, ctx, func() { db.Close() }
}

func ExampleEntity_Create() {
	b, s, ctx, done := exampleBank()
	defer done()
	err := b.accounts.Create(ctx, s, Account{ID: "a1", UserID: "u2", Status: "active",
		OpenedAt: opened})
	fmt.Println(errors.Is(err, st.ErrExists))
	old, _ := st.Old(b.accounts, st.FailuresOf(err)[0])
	fmt.Println("it belongs to", old.UserID)
	// Output:
	// true
	// it belongs to u1
}

func ExampleEntity_Get() {
	b, s, ctx, done := exampleBank()
	defer done()
	a, found, err := b.accounts.Get(ctx, s, Account{ID: "a1"}, st.Consistent())
	fmt.Println(a.Balance, found, err)
	// Output: 100 true <nil>
}

func ExampleEntity_GetMany() {
	b, s, ctx, done := exampleBank()
	defer done()
	got, err := b.accounts.GetMany(ctx, s, []Account{{ID: "nobody"}, {ID: "a1"}})
	fmt.Println(got[0] == nil, got[1].Balance, err)
	// Output: true 100 <nil>
}

func ExampleEntity_Put() {
	b, s, ctx, done := exampleBank()
	defer done()
	a := account("a1", "7")
	fmt.Println(b.accounts.Put(ctx, s, a))
	a, _, _ = b.accounts.Get(ctx, s, a)
	fmt.Println(a.Balance)
	// Output:
	// <nil>
	// 7
}

func ExampleEntity_Replace() {
	b, s, ctx, done := exampleBank()
	defer done()
	mine, _, _ := b.accounts.Get(ctx, s, Account{ID: "a1"})
	yours := mine
	mine.Status = "frozen"
	mine, err := b.accounts.Replace(ctx, s, mine)
	fmt.Println(mine.Version, err)
	_, err = b.accounts.Replace(ctx, s, yours)
	fmt.Println(errors.Is(err, st.ErrChanged))
	// Output:
	// 2 <nil>
	// true
}

func ExampleEntity_Update() {
	b, s, ctx, done := exampleBank()
	defer done()
	withdraw := func(amount st.Number) {
		a, err := b.accounts.Update(ctx, s, Account{ID: "a1"}, b.balance.Subtract(amount),
			st.If(b.status.Equals("active"), b.balance.AtLeast(amount)))
		if errors.Is(err, st.ErrConditionFailed) {
			old, _ := st.Old(b.accounts, st.FailuresOf(err)[0])
			fmt.Println("refused: the balance is", old.Balance)
			return
		}
		fmt.Println("left:", a.Balance)
	}
	withdraw("59.5")
	withdraw("59.5")
	// Output:
	// left: 40.5
	// refused: the balance is 40.5
}

// A change of status moves the account in GSI1, whose sort key also holds the opening time.
func ExampleEntity_ReadFirst() {
	b, s, ctx, done := exampleBank()
	defer done()
	_, err := b.accounts.Update(ctx, s, Account{ID: "a1"}, b.status.Set("closed"))
	var partial *st.PartialKeyError
	fmt.Println(errors.As(err, &partial), partial.Index, "also needs", partial.Missing)
	a, err := b.accounts.Update(ctx, s, Account{ID: "a1"}, b.status.Set("closed"),
		b.accounts.ReadFirst())
	fmt.Println(a.Status, err)
	// Output:
	// true GSI1 also needs [OpenedAt]
	// closed <nil>
}

func ExampleEntity_WithKnown() {
	b, s, ctx, done := exampleBank()
	defer done()
	known, _, _ := b.accounts.Get(ctx, s, Account{ID: "a1"})
	tx := s.NewTx()
	b.accounts.UpdateTx(tx, known, b.status.Set("frozen"), b.accounts.WithKnown(known))
	fmt.Println(tx.Commit(ctx))
	// Output: <nil>
}

func ExampleEntity_Upsert() {
	type Counter struct {
		Page string
		N    int64
	}
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	table := st.NewTable("counters", st.Keys("PK"))
	counters := st.NewEntity[Counter](table, "Counter", st.Primary("PAGE#<Page>"))
	n := st.FieldOf(counters, func(c *Counter) *int64 { return &c.N })
	if err := table.Ensure(ctx, db); err != nil {
		fmt.Println(err)
	}
	s := st.NewStore(db, st.Options{})
	for range 3 {
		c, err := counters.Update(ctx, s, Counter{Page: "home"}, n.Add(1), counters.Upsert())
		fmt.Println(c.Page, c.N, err)
	}
	// Output:
	// home 1 <nil>
	// home 2 <nil>
	// home 3 <nil>
}

func ExampleEntity_Take() {
	b, s, ctx, done := exampleBank()
	defer done()
	a, found, err := b.accounts.Take(ctx, s, Account{ID: "a1"})
	fmt.Println(a.Balance, found, err)
	_, found, err = b.accounts.Take(ctx, s, Account{ID: "a1"})
	fmt.Println(found, err)
	// Output:
	// 100 true <nil>
	// false <nil>
}

func ExampleTx() {
	b, s, ctx, done := exampleBank()
	defer done()
	if err := b.accounts.Create(ctx, s, account("a2", "0")); err != nil {
		fmt.Println(err)
	}
	transfer := func(amounts ...st.Number) {
		tx := s.NewTx()
		for _, amount := range amounts {
			b.accounts.UpdateTx(tx, Account{ID: "a1"}, b.balance.Subtract(amount),
				b.balance.AtLeast(amount))
			b.accounts.UpdateTx(tx, Account{ID: "a2"}, b.balance.Add(amount))
		}
		err := tx.Commit(ctx)
		fmt.Println(tx.Len(), "items:", err == nil)
		for _, f := range st.FailuresOf(err) {
			fmt.Println("action", f.Actions, "failed:", f.Entity, f.Kind)
		}
	}
	transfer("60", "60") // the second is more than what the first leaves
	transfer("60", "40")
	// Output:
	// 2 items: false
	// action [3] failed: Account condition
	// 2 items: true
}

func ExampleEntity_MoveTx() {
	b, s, ctx, done := exampleBank()
	defer done()
	from, _, _ := b.accounts.Get(ctx, s, Account{ID: "a1"})
	to := from
	to.ID = "a9"
	tx := s.NewTx()
	b.accounts.MoveTx(tx, from, to, b.accounts.AtVersion(from.Version))
	fmt.Println(tx.Commit(ctx))
	_, found, _ := b.accounts.Get(ctx, s, Account{ID: "a1"})
	moved, _, _ := b.accounts.Get(ctx, s, Account{ID: "a9"})
	fmt.Println(found, moved.Balance)
	// Output:
	// <nil>
	// false 100
}

func ExampleSnapshot() {
	b, s, ctx, done := exampleBank()
	defer done()
	sn := s.NewSnapshot()
	a1 := b.accounts.GetIn(sn, Account{ID: "a1"})
	a2 := b.accounts.GetIn(sn, Account{ID: "a2"})
	fmt.Println(sn.Read(ctx))
	v, found := a1()
	fmt.Println(v.Balance, found)
	_, found = a2()
	fmt.Println(found)
	// Output:
	// <nil>
	// 100 true
	// false
}

func ExamplePattern() {
	b, s, ctx, done := exampleBank()
	defer done()
	type OfUser struct {
		UserID, Status string
		From, To       time.Time
	}
	ofUser := st.NewQuery[OfUser](b.accounts, "accounts-of-user", st.UseIndex("GSI1"),
		st.Describe("The accounts of a user with a status, newest first."),
		st.Between("OpenedAt", "From", "To"), st.Descending())
	for i := range 5 {
		a := account(fmt.Sprintf("b%d", i), "1")
		a.OpenedAt = opened.AddDate(0, 0, i)
		if err := b.accounts.Create(ctx, s, a); err != nil {
			fmt.Println(err)
		}
	}
	in := OfUser{UserID: "u1", Status: "active", From: opened.AddDate(0, 0, 1)}
	for cursor, more := "", true; more; {
		page, err := ofUser.Page(ctx, s, in, 3, cursor)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, a := range page.Items {
			fmt.Print(a.ID, " ", a.OpenedAt.Format("02 Jan"), "; ")
		}
		fmt.Println(len(page.Items))
		cursor, more = page.Next, page.Next != ""
	}
	// Output:
	// b4 06 Jan; b3 05 Jan; b2 04 Jan; 3
	// b1 03 Jan; 1
}

func ExampleWithMeter() {
	b, s, ctx, done := exampleBank()
	defer done()
	plan, err := b.accounts.PlanCreate(account("a2", "1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	metered, meter := st.WithMeter(ctx)
	if err := b.accounts.Create(metered, s, account("a2", "1")); err != nil {
		fmt.Println(err)
	}
	fmt.Println("planned:", plan.Write, "measured:", meter.Write())
	// Output: planned: 2 measured: 2
}

func ExamplePattern_Plan() {
	m := newLedgerModel("FinancialTransactions", 1)
	s := st.NewStore(nil, st.Options{})
	plan, err := m.accountHistory.Plan(s, ByAccount{"660f9511"}, 100)
	fmt.Print(plan)
	fmt.Println(err)
	// Output:
	// account-history
	// 1. Query FinancialTransactions index GSI1
	//    where: GSI1PK = {"S":"ACCOUNT#660f9511"} AND begins_with(GSI1SK, {"S":"LEG#"})
	//    order: descending
	//    limit: 100
	// calls: 1 to 40, typically 1
	// read units: 0.5 to 5000.5, typically 6.5
	// note: assumes 100 rows of 512 bytes
	// <nil>
}

func ExampleModel_Check() {
	type Order struct{ ID, Status, Customer string }
	table := st.NewTable("orders", st.Keys("PK", "SK"), st.GSI("ByStatus", "Status", "Customer"))
	st.NewEntity[Order](table, "Order", st.Primary("CUSTOMER#<Customer>", "<Status>#<ID>"),
		st.On("ByStatus", "<Status>", "<Customer>"))
	report := st.NewModel("shop", []*st.Table{table}).Check()
	fmt.Println(len(report.Errors), "errors")
	for _, w := range report.Warnings {
		what, why, _ := strings.Cut(w.Text, ": ")
		fmt.Println(w.Subject+":", what)
		fmt.Println("   ", why)
	}
	// Output:
	// 0 errors
	// Order: <Status> in sort key "<Status>#<ID>" of the table
	//     a change of it is a deletion and a new item; keep it in an index's sort key
	// Order: partition key "<Status>" of index ByStatus has about 5 values
	//     each takes at most 1000 write units a second, however many items there are; add a shard
}

func ExampleAccessPattern() {
	b, s, ctx, done := exampleBank()
	defer done()
	type ByID struct{ ID string }
	model := st.NewModel("bank", []*st.Table{b.table},
		st.NewLookup[ByID](b.accounts, "account-by-id", st.Describe("An account.")))
	p, _ := model.Pattern("account-by-id")
	page, err := p.RunText(ctx, s, map[string]string{"ID": "a1"}, 10, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range page.Items[0].Fields[:4] {
		fmt.Println(f.Name, f.Value)
	}
	// Output:
	// ID a1
	// UserID u1
	// Status active
	// Balance 100
}
