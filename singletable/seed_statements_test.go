package singletable_test

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// Personal finance: the ids are in the keys alone, as nothing asks for them elsewhere.
type (
	Profile struct {
		UserID      string            `dynamodbav:"userId,keyonly"`
		Email       string            `dynamodbav:"email"`
		Preferences map[string]string `dynamodbav:"preferences,omitempty"`
	}
	UserAccount struct {
		UserID    string    `dynamodbav:"userId,keyonly"`
		AccountID string    `dynamodbav:"accountId,keyonly"`
		Name      string    `dynamodbav:"name"`
		Currency  string    `dynamodbav:"currency"`
		CreatedAt time.Time `dynamodbav:"createdAt,seconds"`
	}
	Tag struct {
		UserID string `dynamodbav:"userId,keyonly"`
		TagID  string `dynamodbav:"tagId,keyonly"`
		Text   string `dynamodbav:"text"`
	}
	Annotation struct {
		AnnotationID string    `dynamodbav:"annotationId"`
		Text         string    `dynamodbav:"text"`
		Type         string    `dynamodbav:"type"`
		CreatedAt    time.Time `dynamodbav:"createdAt,seconds"`
	}
	BankTransaction struct {
		UserID        string       `dynamodbav:"userId,keyonly"`
		AccountID     string       `dynamodbav:"accountId,keyonly"`
		TransactionID string       `dynamodbav:"transactionId,keyonly"`
		Date          string       `dynamodbav:"date"`
		Amount        st.Number    `dynamodbav:"amount"`
		Currency      string       `dynamodbav:"currency"`
		Merchant      string       `dynamodbav:"merchant,omitempty"`
		Tags          []string     `dynamodbav:"tags,omitempty"`
		Annotations   []Annotation `dynamodbav:"annotations,omitempty"`
	}
	Upload struct {
		UserID     string    `dynamodbav:"userId,keyonly"`
		AccountID  string    `dynamodbav:"accountId,keyonly"`
		UploadID   string    `dynamodbav:"uploadId,keyonly"`
		UploadedAt time.Time `dynamodbav:"uploadedAt,seconds"`
		S3Object   string    `dynamodbav:"s3ObjectKey"`
		Status     string    `dynamodbav:"status"`
	}
	// Startup is what an app needs when it starts.
	Startup struct {
		Profile  *Profile
		Accounts []UserAccount
		Tags     []Tag
	}
	// OfUser, OfAccount and AccountDates are inputs. Dates are calendar days.
	OfUser       struct{ UserID string }
	OfAccount    struct{ UserID, AccountID string }
	AccountDates struct{ UserID, AccountID, From, To string }
)

type statementsModel struct {
	table        *st.Table
	profiles     *st.Entity[Profile]
	accounts     *st.Entity[UserAccount]
	tags         *st.Entity[Tag]
	transactions *st.Entity[BankTransaction]
	uploads      *st.Entity[Upload]

	startup        *st.Pattern[OfUser, Startup]
	tagsOfUser     *st.Pattern[OfUser, Tag]
	inPeriod       *st.Pattern[AccountDates, BankTransaction]
	latest         *st.Pattern[AccountDates, BankTransaction]
	uploadsOf      *st.Pattern[OfAccount, Upload]
	accountsOfUser *st.Pattern[OfUser, UserAccount]
}

func newStatementsModel() *statementsModel {
	m := &statementsModel{table: st.NewTable("PuteaMatai", st.Keys("PK", "SK"))}
	m.profiles = st.NewEntity[Profile](m.table, "Profile", st.Primary("USER#<userId>", "@PROFILE"))
	m.accounts = st.NewEntity[UserAccount](m.table, "Account",
		st.Primary("USER#<userId>", "ACCOUNT#<accountId>"))
	m.tags = st.NewEntity[Tag](m.table, "Tag", st.Primary("USER#<userId>", "TAG#<tagId>"))
	m.transactions = st.NewEntity[BankTransaction](m.table, "Transaction",
		st.Primary("USER#<userId>#ACCOUNT#<accountId>#<date:month>",
			"TRANSACTION#<date:day>#<transactionId>"))
	m.uploads = st.NewEntity[Upload](m.table, "Upload",
		st.Primary("USER#<userId>#ACCOUNT#<accountId>", "UPLOAD#<uploadId>"))

	m.startup = st.NewCollection[OfUser]("startup", []st.Member[Startup]{
		st.Into(m.profiles, func(out *Startup, v Profile) { out.Profile = &v }),
		st.Into(m.accounts, func(out *Startup, v UserAccount) {
			out.Accounts = append(out.Accounts,
				v)
		}),
		st.Into(m.tags, func(out *Startup, v Tag) { out.Tags = append(out.Tags, v) }),
	}, st.Describe("What an app needs when it starts."))
	m.tagsOfUser = st.NewQuery[OfUser](m.tags, "tags-of-user",
		st.Describe("The tags of a user."))
	m.accountsOfUser = st.NewQuery[OfUser](m.accounts, "accounts-of-user",
		st.Describe("The accounts of a user."))
	m.inPeriod = st.NewQuery[AccountDates](m.transactions, "transactions-in-period",
		st.Through("date", "From", "To"),
		st.Describe("Transactions from one day to another, both included."))
	m.latest = st.NewQuery[AccountDates](m.transactions, "latest-transactions",
		st.Through("date", "From", "To"), st.Descending(),
		st.Describe("The same, newest first."))
	m.uploadsOf = st.NewQuery[OfAccount](m.uploads, "uploads-of-account",
		st.Describe("The uploads of an account."))
	return m
}

// Statements: an app's start in one query, and months of transactions read as one list.
func Example_statements() {
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
	m := newStatementsModel()
	must(m.table.Ensure(ctx, db))
	s := st.NewStore(db, st.Options{CursorKey: []byte("example")})
	user := "user-1234abcd"
	must(m.profiles.Put(ctx, s, Profile{user, "user@example.com",
		map[string]string{"currency": "NZD", "timezone": "Pacific/Auckland"}}))
	must(m.accounts.Create(ctx, s, UserAccount{user, "account-5678efgh", "Everyday Checking", "NZD",
		time.Date(2023, 5, 1, 12, 0, 0, 0, time.UTC)}))
	must(m.tags.PutAll(ctx, s, []Tag{{user, "tag-001", "Groceries"}, {user, "tag-002", "Fun"}}))
	for _, date := range []string{"2025-06-30", "2025-08-01", "2025-08-13", "2025-08-31",
		"2025-09-01"} {
		must(m.transactions.Create(ctx, s, BankTransaction{UserID: user,
			AccountID: "account-5678efgh", TransactionID: "txn-" + date[5:], Date: date,
			Amount: "150.75", Currency: "NZD", Merchant: "Supermarket X",
			Tags: []string{"Groceries"},
			Annotations: []Annotation{{"ann-1", "as expected", "advisory",
				time.Date(2025, 8, 14, 9, 0, 0, 0, time.UTC)}}}))
	}
	must(m.uploads.Put(ctx, s, Upload{user, "account-5678efgh", "upload-789xyz",
		time.Date(2025, 8, 15, 14, 30, 0, 0, time.UTC), "uploads/statement-2025-07.csv",
		"processed"}))

	metered, meter := st.WithMeter(ctx)
	start, _, err := m.startup.Collect(metered, s, OfUser{user})
	must(err)
	fmt.Println(start.Profile.Email, start.Accounts[0].AccountID, len(start.Tags), "tags in",
		meter.Calls(), "call")
	in := AccountDates{user, "account-5678efgh", "2025-06-15", "2025-08-31"}
	for t, err := range m.inPeriod.All(ctx, s, in) {
		must(err)
		fmt.Println(t.Date, t.TransactionID, t.Amount)
	}
	page, err := m.latest.Page(ctx, s, in, 2, "")
	must(err)
	fmt.Println("newest:", page.Items[0].Date, page.Items[1].Date)
	page, err = m.latest.Page(ctx, s, in, 2, page.Next)
	must(err)
	fmt.Println("then:", page.Items[0].Date, page.Items[1].Date)
	up, _, err := m.uploadsOf.First(ctx, s, OfAccount{user, "account-5678efgh"})
	must(err)
	fmt.Println(up.UploadID, up.Status)
	// Output:
	// user@example.com account-5678efgh 2 tags in 1 call
	// 2025-06-30 txn-06-30 150.75
	// 2025-08-01 txn-08-01 150.75
	// 2025-08-13 txn-08-13 150.75
	// 2025-08-31 txn-08-31 150.75
	// newest: 2025-08-31 2025-08-13
	// then: 2025-08-01 2025-06-30
	// upload-789xyz processed
}
