package statements

import (
	"fmt"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// Inputs of the patterns.
type (
	// OfUser names a user.
	OfUser struct{ UserID string }
	// OfAccount names an account.
	OfAccount struct{ UserID, AccountID string }
	// OfDays names the days of an account, both included.
	OfDays struct {
		UserID, AccountID string
		From, To          Date
	}
	// OfMonth names the entries of an account that a bank booked in a month.
	OfMonth struct{ UserID, AccountID, Month string }
	// OfMonths names the months of an account by any of their days, both included; an end left
	// empty is open.
	OfMonths struct {
		UserID, AccountID string
		From, To          Date
	}
	// OfOne names one transaction.
	OfOne struct {
		UserID, AccountID string
		Date              Date
		TransactionID     string `dynamodbav:"transactionId"`
	}
)

// monthsParallel is the number of months of a range that are read in parallel.
const monthsParallel = 4

// model is the table's design.
type model struct {
	table        *singletable.Table
	profiles     *singletable.Entity[Profile]
	accounts     *singletable.Entity[Account]
	tags         *singletable.Entity[Tag]
	tagTexts     *singletable.Unique[Tag]
	uploads      *singletable.Entity[Upload]
	transactions *singletable.Entity[Transaction]
	entries      *singletable.Entity[Entry]
	sheets       *singletable.Entity[Sheet]
	rules        *singletable.Entity[Rule]
	jobs         *singletable.Entity[Job]

	versions     versions
	tagText      singletable.Field[Tag, string]
	uploadStatus singletable.Field[Upload, UploadStatus]
	uploadUndos  singletable.Field[Upload, uint64]

	start      *singletable.Pattern[OfUser, Start]
	accountsOf *singletable.Pattern[OfUser, Account]
	tagsOf     *singletable.Pattern[OfUser, Tag]
	uploadsOf  *singletable.Pattern[OfAccount, Upload]
	one        *singletable.Pattern[OfOne, Transaction]
	days       *singletable.Pattern[OfDays, Transaction] // the earliest first
	latest     *singletable.Pattern[OfDays, Transaction]
	entriesOf  *singletable.Pattern[OfMonth, Entry]
	sheetsOf   *singletable.Pattern[OfMonths, Sheet]
	rulesOf    *singletable.Pattern[OfUser, Rule]
	jobsOf     *singletable.Pattern[OfUser, Job]
}

// versions are what conditions compare, so that no writer overwrites what it has not seen.
type versions struct {
	profile     singletable.Field[Profile, uint64]
	account     singletable.Field[Account, uint64]
	tag         singletable.Field[Tag, uint64]
	upload      singletable.Field[Upload, uint64]
	transaction singletable.Field[Transaction, uint64]
	entry       singletable.Field[Entry, uint64]
	sheet       singletable.Field[Sheet, uint64]
	rule        singletable.Field[Rule, uint64]
	job         singletable.Field[Job, uint64]
}

// modelOf returns the model of the books. The field is any so that the compiler sees no type of the
// kit behind a Books: every package that names one would compile all of them again.
func modelOf(p *Person) *model { return p.books.model.(*model) }

func newModel(table string) *model {
	m := &model{table: singletable.NewTable(table, singletable.Keys("PK", "SK"))}
	const user, account = "USER#<userId>", "USER#<userId>#ACCOUNT#<accountId>"
	about, primary := singletable.About, singletable.Primary
	m.profiles = singletable.NewEntity[Profile](m.table, "Profile", primary(user, "@PROFILE"),
		about("What a user has told of themselves; it sorts before accounts and tags."))
	m.accounts = singletable.NewEntity[Account](m.table, "Account",
		primary(user, "ACCOUNT#<accountId>"),
		singletable.Sound(soundAccount), about("An account at a bank."))
	m.tags = singletable.NewEntity[Tag](m.table, "Tag", primary(user, "TAG#<tagId>"),
		about("What transactions are sorted by."))
	m.tagTexts = singletable.NewUnique(m.tags, "TagText",
		primary("@statements#tag#<userId>#<text:lower>", "META"),
		about("Makes a tag's text unique for its user, whatever the case of its letters."))
	m.uploads = singletable.NewEntity[Upload](m.table, "Upload",
		primary(account, "UPLOAD#<uploadId>"), singletable.Enum("status", string(Uploaded),
			string(Parsed), string(Previewed), string(Importing), string(Processed),
			string(Failed), string(Reverting), string(Reverted)),
		about("A bank's file, and what became of it."))
	m.transactions = singletable.NewEntity[Transaction](m.table, "Transaction",
		primary(account+"#<date:month>", "TRANSACTION#<date:day>#<transactionId>"),
		singletable.Typical(600), singletable.Sound(soundTransaction),
		about("A movement on an account, with its annotations."))
	m.entries = singletable.NewEntity[Entry](m.table, "Entry",
		primary("@statements#entry#<userId>#<accountId>#<month>", "<transactionId>"),
		about("What is remembered of a row of a bank, also once its transaction is gone."))
	m.sheets = singletable.NewEntity[Sheet](m.table, "Sheet",
		primary("@statements#total#<userId>#<accountId>", "<month:month>#<currency>"),
		about("What the rows of an account add up to in a month."))
	m.rules = singletable.NewEntity[Rule](m.table, "Rule",
		primary("@statements#rule#<userId>", "<ruleId>"),
		about("What tags and renames rows by itself."))
	m.jobs = singletable.NewEntity[Job](m.table, "Job",
		primary("@statements#job#<userId>", "<jobId>"),
		about("Work over many rows, and how far it has come."))
	m.versions = versions{
		profile: singletable.FieldOf(m.profiles, func(v *Profile) *uint64 { return &v.Version }),
		account: singletable.FieldOf(m.accounts, func(v *Account) *uint64 { return &v.Version }),
		tag:     singletable.FieldOf(m.tags, func(v *Tag) *uint64 { return &v.Version }),
		upload:  singletable.FieldOf(m.uploads, func(v *Upload) *uint64 { return &v.Version }),
		transaction: singletable.FieldOf(m.transactions,
			func(v *Transaction) *uint64 { return &v.Version }),
		entry: singletable.FieldOf(m.entries, func(v *Entry) *uint64 { return &v.Version }),
		sheet: singletable.FieldOf(m.sheets, func(v *Sheet) *uint64 { return &v.Version }),
		rule:  singletable.FieldOf(m.rules, func(v *Rule) *uint64 { return &v.Version }),
		job:   singletable.FieldOf(m.jobs, func(v *Job) *uint64 { return &v.Version }),
	}
	m.tagText = singletable.FieldOf(m.tags, func(v *Tag) *string { return &v.Text })
	m.uploadUndos = singletable.FieldOf(m.uploads, func(v *Upload) *uint64 { return &v.Undos })
	m.uploadStatus = singletable.FieldOf(m.uploads, func(v *Upload) *UploadStatus {
		return &v.Status
	})
	m.definePatterns()
	return m
}

func (m *model) definePatterns() {
	describe := singletable.Describe
	m.start = singletable.NewCollection[OfUser]("start", []singletable.Member[Start]{
		singletable.Into(m.profiles, func(out *Start, v Profile) { out.Profile = &v }),
		singletable.Into(m.accounts, func(out *Start, v Account) {
			out.Accounts = append(out.Accounts, v)
		}),
		singletable.Into(m.tags, func(out *Start, v Tag) { out.Tags = append(out.Tags, v) }),
	}, describe("A user's profile, accounts and tags, in this order, in one request"),
		singletable.Consistent())
	m.accountsOf = singletable.NewQuery[OfUser](m.accounts, "bank-accounts-of-user",
		describe("The accounts of a user"), singletable.Consistent())
	m.tagsOf = singletable.NewQuery[OfUser](m.tags, "tags-of-user",
		describe("The tags of a user"), singletable.Consistent())
	m.uploadsOf = singletable.NewQuery[OfAccount](m.uploads, "uploads-of-account",
		describe("The uploads of an account, the greatest id first"), singletable.Descending(),
		singletable.Consistent())
	m.one = singletable.NewLookup[OfOne](m.transactions, "transaction-of-day",
		describe("One transaction, by its day and id"), singletable.Consistent())
	m.days = singletable.NewQuery[OfDays](m.transactions, "transactions-of-days",
		describe("The transactions of an account between two days, both included"),
		singletable.Through("date", "From", "To"), singletable.Parallel(monthsParallel),
		singletable.CallsMax(MonthsMax), singletable.Consistent())
	m.latest = singletable.NewQuery[OfDays](m.transactions, "latest-transactions",
		describe("The same, the latest first"), singletable.Descending(),
		singletable.Through("date", "From", "To"), singletable.Parallel(monthsParallel),
		singletable.CallsMax(MonthsMax), singletable.Consistent())
	m.entriesOf = singletable.NewQuery[OfMonth](m.entries, "entries-of-month",
		describe("What is remembered of the rows of a month"), singletable.Consistent())
	m.sheetsOf = singletable.NewQuery[OfMonths](m.sheets, "totals-of-months",
		describe("The totals of an account, month by month"),
		singletable.Through("month", "From", "To"), singletable.Consistent())
	m.rulesOf = singletable.NewQuery[OfUser](m.rules, "rules-of-user",
		describe("The rules of a user"), singletable.Consistent())
	m.jobsOf = singletable.NewQuery[OfUser](m.jobs, "jobs-of-user",
		describe("The work over many rows: what is open, and what was done lately"),
		singletable.Consistent())
}

// catalogue lists the questions for people and command lines.
func (m *model) catalogue() *singletable.Model {
	return singletable.NewModel("statements", []*singletable.Table{m.table},
		m.start, m.accountsOf, m.tagsOf, m.uploadsOf, m.one, m.days, m.latest, m.entriesOf,
		m.sheetsOf, m.rulesOf, m.jobsOf)
}

// soundAccount and soundTransaction check items that were read.
func soundAccount(a *Account) *singletable.AttributeError { return soundCurrency(a.Currency) }

func soundTransaction(t *Transaction) *singletable.AttributeError {
	if wrong := soundDate("date", t.Date); wrong != nil {
		return wrong
	}
	if t.ValueDate != "" {
		if wrong := soundDate("valueDate", t.ValueDate); wrong != nil {
			return wrong
		}
	}
	return soundCurrency(t.Currency)
}

// soundDate checks a day that was read.
func soundDate(attribute string, d Date) *singletable.AttributeError {
	if book.ValidDate(d) {
		return nil
	}
	return &singletable.AttributeError{Attribute: attribute, Reason: fmt.Errorf(
		"is %q, which is not a day", string(d))}
}

// soundCurrency checks a currency that was read.
func soundCurrency(c money.Currency) *singletable.AttributeError {
	if _, err := money.New(money.Decimal{}, c); err != nil {
		return &singletable.AttributeError{Attribute: "currency", Reason: fmt.Errorf(
			"is %q, which is not a code of ISO 4217", string(c))}
	}
	return nil
}
