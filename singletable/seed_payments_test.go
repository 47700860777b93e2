package singletable_test

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// Scheduled payments stand under their account, in the order of their time. The time is part of
// the sort key alone, and so is the id that makes the key unique.
type (
	ScheduledPayment struct {
		AccountID string
		At        time.Time `dynamodbav:"ScheduledTime,keyonly"`
		ID        string    `dynamodbav:"PaymentID,keyonly"`
		Status    string    `dynamodbav:"PaymentStatus"`
		DataBlob  []byte    `dynamodbav:",omitempty"`
	}
	PastTransaction struct {
		AccountID     string
		Timestamp     string
		TransactionID string
		Status        string `dynamodbav:"TransactionStatus"`
		At            time.Time
		DataBlob      []byte `dynamodbav:",omitempty"`
	}
	// AccountDays and StatusDay are inputs.
	AccountDays struct {
		AccountID string
		From, To  time.Time
	}
	StatusDay struct {
		Status   string
		From, To time.Time
	}
	ByTransactionID struct{ TransactionID string }
	Times           struct{ From, To string }
)

type paymentsModel struct {
	scheduler, history *st.Table
	payments           *st.Entity[ScheduledPayment]
	past               *st.Entity[PastTransaction]

	ofAccount *st.Pattern[AccountDays, ScheduledPayment]
	byStatus  *st.Pattern[StatusDay, ScheduledPayment]
	byTime    *st.Pattern[Times, PastTransaction]
	byID      *st.Pattern[ByTransactionID, PastTransaction]
}

// newPaymentsModel builds the model with five shards, as 4,445 write units a second need.
func newPaymentsModel() *paymentsModel {
	m := &paymentsModel{}
	m.scheduler = st.NewTable("PaymentScheduler", st.Keys("AccountID", "ScheduledTime"),
		st.GSI("Query_All_Scheduled_Payments", "Sharded-GSI-PK", "Status#Time"))
	m.payments = st.NewEntity[ScheduledPayment](m.scheduler, "ScheduledPayment",
		st.Primary("<AccountID>", "<ScheduledTime:seconds>#<PaymentID>"),
		st.On("Query_All_Scheduled_Payments", "<PaymentID:shard(5)>",
			"<PaymentStatus>#<ScheduledTime:seconds>#<PaymentID>"))
	m.ofAccount = st.NewQuery[AccountDays](m.payments, "payments-of-account",
		st.Between("ScheduledTime", "From", "To"),
		st.Describe("Payments of an account that are due in a time."))
	m.byStatus = st.NewQuery[StatusDay](m.payments, "payments-by-status",
		st.UseIndex("Query_All_Scheduled_Payments"), st.Between("ScheduledTime", "From", "To"),
		st.Describe("Payments of all accounts with a status that are due in a time."))

	m.history = st.NewTable("TransactionHistory", st.Keys("AccountID", "Timestamp"),
		st.GSI("Query_All_Scheduled_Payments", "Sharded-GSI-PK", "Status#Time"),
		st.GSI("QueryAll_byTime", "Sharded-GSI-PK", "Timestamp"),
		st.GSI("Query_TransactionID", "TransactionID", ""))
	m.past = st.NewEntity[PastTransaction](m.history, "PastTransaction",
		st.Primary("<AccountID>", "<Timestamp>"),
		st.On("Query_All_Scheduled_Payments", "<TransactionID:shard(5)>",
			"<TransactionStatus>#<At:seconds>#<TransactionID>"),
		st.On("QueryAll_byTime", "<TransactionID:shard(5)>", "<Timestamp>"),
		st.On("Query_TransactionID", "<TransactionID>", ""))
	m.byTime = st.NewQuery[Times](m.past, "transactions-by-time", st.UseIndex("QueryAll_byTime"),
		st.Between("Timestamp", "From", "To"), st.Descending(),
		st.Describe("Transactions of all accounts, newest first."))
	m.byID = st.NewQuery[ByTransactionID](m.past, "transaction-by-id",
		st.UseIndex("Query_TransactionID"), st.Describe("The transaction with an id."))
	return m
}

// Scheduled payments: a write-sharded index whose shards are merged in the order of time, keys
// that are plain attributes, and a change of state that moves one index entry.
func Example_payments() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	must := func(err error) {
		if err != nil {
			fmt.Println("unexpected:", err)
		}
	}
	m := newPaymentsModel()
	must(m.scheduler.Ensure(ctx, db))
	must(m.history.Ensure(ctx, db))
	s := st.NewStore(db, st.Options{CursorKey: []byte("example")})
	day := time.Date(2019, 9, 25, 0, 0, 0, 0, time.UTC)
	for i := range 12 {
		must(m.payments.Create(ctx, s, ScheduledPayment{
			AccountID: fmt.Sprintf("acct-%d", i%2), At: day.Add(time.Duration(i) * time.Hour),
			ID: fmt.Sprintf("p%02d", i), Status: "SCHEDULED", DataBlob: []byte("...")}))
	}
	for p, err := range m.ofAccount.All(ctx, s, AccountDays{"acct-0", day,
		day.Add(5 * time.Hour)}) {
		must(err)
		fmt.Println(p.AccountID, p.ID, p.At.Format("15:04"))
	}
	// Claim a payment: its status moves it within the index, not in the table.
	status := st.FieldOf(m.payments, func(p *ScheduledPayment) *string { return &p.Status })
	_, err = m.payments.Update(ctx, s,
		ScheduledPayment{AccountID: "acct-1", At: day.Add(time.Hour), ID: "p01"},
		status.Set("PENDING"), status.Equals("SCHEDULED"))
	must(err)
	in := StatusDay{"SCHEDULED", day, day.AddDate(0, 0, 1)}
	for cursor, more := "", true; more; {
		page, err := m.byStatus.Page(ctx, s, in, 4, cursor)
		must(err)
		for _, p := range page.Items {
			fmt.Print(" ", p.ID)
		}
		fmt.Println()
		cursor, more = page.Next, page.Next != ""
	}
	must(m.past.Put(ctx, s, PastTransaction{AccountID: "acct-1",
		Timestamp: "2019-09-25T01:00:00Z#t1", TransactionID: "t1", Status: "PROCESSED",
		At: day.Add(time.Hour)}))
	t, found, err := m.byID.First(ctx, s, ByTransactionID{"t1"})
	must(err)
	fmt.Println(found, t.AccountID, t.Timestamp)
	n, err := m.byTime.Count(ctx, s, Times{"2019-09-25", "2019-09-26"})
	must(err)
	fmt.Println(n)
	// Output:
	// acct-0 p00 00:00
	// acct-0 p02 02:00
	// acct-0 p04 04:00
	//  p00 p02 p03 p04
	//  p05 p06 p07 p08
	//  p09 p10 p11
	// true acct-1 2019-09-25T01:00:00Z#t1
	// 1
}
