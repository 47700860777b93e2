package singletable_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// within reports whether a measured figure lies in what was planned.
func within(got float64, plan st.Span) bool { return got >= plan.Least && got <= plan.Most }

func TestPlansOfWritesSayWhatIsMeasured(t *testing.T) {
	b := newBank()
	s, _ := openTables(t, b.table)
	ctx := context.Background()
	v := account("a", "100")
	v.DueAt = opened.Add(time.Hour)
	v.Notes = []string{strings.Repeat("x", 1500)}
	at := Account{ID: "a"}
	steps := []struct {
		name string
		plan func() (st.Plan, error)
		do   func(ctx context.Context) error
		// exact is the number of write units, where the plan knows it.
		exact float64
	}{
		{"create", func() (st.Plan, error) { return b.accounts.PlanCreate(v) },
			func(ctx context.Context) error { return b.accounts.Create(ctx, s, v) }, 6},
		{"update without keys", func() (st.Plan, error) {
			return b.accounts.PlanUpdate(at, b.balance.Add("1"))
		}, func(ctx context.Context) error {
			_, err := b.accounts.Update(ctx, s, at, b.balance.Add("1"))
			return err
		}, 0},
		{"update that moves index keys", func() (st.Plan, error) {
			return b.accounts.PlanUpdate(v, b.status.Set("frozen"), b.accounts.ReadFirst())
		}, func(ctx context.Context) error {
			_, err := b.accounts.Update(ctx, s, at, b.status.Set("frozen"), b.accounts.ReadFirst())
			return err
		}, 0},
		{"put", func() (st.Plan, error) { return b.accounts.PlanPut(v) },
			func(ctx context.Context) error { return b.accounts.Put(ctx, s, v) }, 0},
		{"replace", func() (st.Plan, error) { return b.accounts.PlanReplace(v) },
			func(ctx context.Context) error { _, err := b.accounts.Replace(ctx, s, v); return err },
			0},
		{"get", func() (st.Plan, error) { return b.accounts.PlanGet(at, st.Consistent()) },
			func(ctx context.Context) error {
				_, _, err := b.accounts.Get(ctx, s, at, st.Consistent())
				return err
			}, 0},
		{"delete", func() (st.Plan, error) { return b.accounts.PlanDelete(v) },
			func(ctx context.Context) error { return b.accounts.Delete(ctx, s, at) }, 0},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			plan, err := step.plan()
			if err != nil {
				t.Fatal(err)
			}
			metered, m := st.WithMeter(ctx)
			if err := step.do(metered); err != nil {
				t.Fatal(err)
			}
			if !within(float64(m.Calls()), plan.Calls) {
				t.Errorf("%d calls, planned %s", m.Calls(), plan.Calls)
			}
			// An update's plan does not know the size of the item, a delete's neither.
			if step.name == "create" && (m.Write() != plan.Write.Typical ||
				m.Write() != step.exact) {
				t.Errorf("%v write units, planned %s, want %v", m.Write(), plan.Write, step.exact)
			}
			if strings.HasPrefix(step.name, "p") && !within(m.Write(), plan.Write) {
				t.Errorf("%v write units, planned %s", m.Write(), plan.Write)
			}
			if !within(m.Read(), plan.Read) {
				t.Errorf("%v read units, planned %s", m.Read(), plan.Read)
			}
		})
	}
}

func TestPlanOfATransactionSaysWhatIsMeasured(t *testing.T) {
	m := newLedgerModel("FinancialTransactions", 1)
	s, _ := openTables(t, m.table)
	ctx := context.Background()
	for _, id := range []string{"a", "b"} {
		if err := m.accounts.Create(ctx, s, LedgerAccount{ID: id, UserID: "u", Balance: "10",
			Status: "active"}); err != nil {
			t.Fatal(err)
		}
	}
	tx := s.NewTx()
	m.transactions.CreateTx(tx, Transaction{ID: "t", IdempotencyKey: "k", Status: "completed",
		Amount: "1", CreatedAt: opened})
	m.accounts.UpdateTx(tx, LedgerAccount{ID: "a"}, m.balance.Subtract("1"), m.balance.AtLeast("1"))
	m.accounts.UpdateTx(tx, LedgerAccount{ID: "b"}, m.balance.Add("1"))
	plan, err := tx.Plan()
	if err != nil {
		t.Fatal(err)
	}
	metered, meter := st.WithMeter(ctx)
	if err := tx.Commit(metered); err != nil {
		t.Fatal(err)
	}
	// Header 2 and one in each of two indexes; each account 2 and one in its index.
	if meter.Write() != 10 || plan.Write.Typical != 10 || meter.Calls() != 1 {
		t.Errorf("measured %v in %d calls, planned %s", meter.Write(), meter.Calls(), plan.Write)
	}
	units := meter.ByTable()
	if units["FinancialTransactions"].Write != 6 ||
		units["FinancialTransactions/GSI1"].Write != 3 ||
		units["FinancialTransactions/GSI2"].Write != 1 {
		t.Errorf("%v", units)
	}
	if diff := cmp.Diff(map[string]int{"TransactWriteItems": 1}, meter.ByOperation()); diff != "" {
		t.Error(diff)
	}
}

func TestPlansOfPatternsShowTheRequests(t *testing.T) {
	m := newPaymentsModel()
	s := st.NewStore(nil, st.Options{})
	day := time.Date(2019, 9, 25, 0, 0, 0, 0, time.UTC)
	plan, err := m.byStatus.Plan(s, StatusDay{"PENDING", day, day.AddDate(0, 0, 1)}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Requests) != 5 || plan.Calls.Least != 5 {
		t.Errorf("%d requests, %s calls", len(plan.Requests), plan.Calls)
	}
	want := `Query PaymentScheduler index Query_All_Scheduled_Payments
where: Sharded-GSI-PK = {"S":"3"} AND Status#Time BETWEEN {"S":"PENDING#2019-09-25T00:00:00"} ` +
		`AND {"S":"PENDING#2019-09-25T23:59:59Z…"}
limit: 27`
	if got := plan.Requests[3].String(); got != want {
		t.Errorf("the fourth request is\n%s\nwant\n%s", got, want)
	}
	text, err := m.byStatus.PlanText(s, map[string]string{"status": "PENDING", "From": "2019-09-25",
		"To": "2019-09-26T00:00:00Z"}, 100)
	if err != nil || text.String() != plan.String() {
		t.Errorf("inputs as text make another plan: %v\n%s", err, text)
	}
	if _, err := m.byStatus.PlanText(s, map[string]string{"stat": "x"}, 1); err == nil ||
		!strings.Contains(err.Error(), "has no input stat; it has Status, From, To") {
		t.Error(err)
	}
	stm := newStatementsModel()
	months, err := stm.latest.Plan(s, AccountDates{"u", "a", "2025-06-15", "2025-08-31"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for _, r := range months.Requests {
		hashes = append(hashes, r.Values[":PK"].S()[len("USER#u#ACCOUNT#a#"):])
	}
	if diff := cmp.Diff([]string{"2025-08", "2025-07", "2025-06"}, hashes); diff != "" {
		t.Error(diff)
	}
	if months.Requests[0].KeyCondition != "#PK = :PK AND #SK BETWEEN :SK AND :SK_2" {
		t.Error(months.Requests[0].KeyCondition)
	}
}

func TestPlansOfUpdatesNameIndexKeys(t *testing.T) {
	b := newBank()
	v := account("a", "1")
	plan, err := b.accounts.PlanUpdate(Account{ID: "a"}, b.status.Set("closed"),
		b.accounts.WithKnown(v))
	if err != nil {
		t.Fatal(err)
	}
	want := []st.IndexKey{
		{Index: "GSI1", Key: dynamo.Item{"GSI1SK": dynamo.S("closed#2026-01-02T10:30:00.123Z#a")}},
		{Index: "GSI2"},
	}
	equal := cmp.Comparer(func(a, b dynamo.Item) bool { return a.Equal(b) })
	if diff := cmp.Diff(want, plan.Requests[0].IndexKeys, equal); diff != "" {
		t.Error(diff)
	}
	wantText := "update: SET Status = {\"S\":\"closed\"}, GSI1SK = " +
		"{\"S\":\"closed#2026-01-02T10:30:00.123Z#a\"} REMOVE GSI2PK, GSI2SK ADD Version {\"N\":\"1\"}\n" +
		"if: attribute_exists(PK) AND OpenedAt = {\"S\":\"2026-01-02T10:30:00.123Z\"}"
	if got := plan.Requests[0].String(); !strings.Contains(got, wantText) {
		t.Errorf("the request is\n%s\nwant in it\n%s", got, wantText)
	}
}

func TestEqualShapesMakeEqualTexts(t *testing.T) {
	b := newBank()
	text := func(amount st.Number) string {
		plan, err := b.accounts.PlanUpdate(Account{ID: fmt.Sprint(amount)},
			b.balance.Subtract(amount),
			b.due.Set(opened), b.accounts.WithKnown(account("a", "1")),
			st.Or(b.balance.AtLeast(amount), b.status.In("a", "b"), st.Not(b.due.Exists())))
		if err != nil {
			t.Fatal(err)
		}
		r := plan.Requests[0]
		return r.Update + "\n" + r.Condition
	}
	want := "SET #DueAt = :DueAt, #GSI2PK = :GSI2PK, #GSI2SK = :GSI2SK " +
		"ADD #Balance :Balance, #Version :Version\n" +
		"attribute_exists(#PK) AND #Status = :Status AND (#Balance >= :Balance_2 OR " +
		"#Status IN (:Status_2, :Status_3) OR (NOT attribute_exists(#DueAt)))"
	if got := text("1"); got != want {
		t.Errorf("the texts are\n%s\nwant\n%s", got, want)
	}
	if text("1") != text("22.5") {
		t.Error("other values make other texts")
	}
}
