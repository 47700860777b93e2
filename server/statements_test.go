package server_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// august leaves open whether the day or the month comes first.
const august = "Date,Amount,Description\n" +
	"01/08/2025,-5.50,COFFEE SUPREME\n" +
	"03/08/2025,-12.00,MARKET\n" +
	"05/08/2025,100.00,SALARY\n"

func dec(text string) money.Decimal { return money.MustParse(text, "NZD").Units() }

// wholeOf2025 asks for all days of the year of the tests' files.
var wholeOf2025 = client.DaysQuery{From: "2025-01-01", To: "2025-12-31"}

// everyday opens the account that most tests use.
func (w *world) everyday() {
	w.t.Helper()
	must[client.BankAccountReceipt](w.t)(w.CreateBankAccount(w.t.Context(), client.NewBankAccount{
		ID: "everyday", Name: "Everyday", Currency: "NZD",
	}))
}

// upload sends a file whose dates are day first, and answers that.
func (w *world) upload(t *testing.T, text string) client.Upload {
	t.Helper()
	ctx := t.Context()
	r := mustReceive(t)(w.Upload(ctx, "everyday", client.NewUpload{
		FileName: "august.csv", Body: strings.NewReader(text), Size: int64(len(text)),
	}))
	if len(r.Questions) > 0 {
		r = must[client.ReceivedFile](t)(w.AnswerQuestions(ctx, "everyday", r.Upload.ID,
			map[string]string{"dateOrder": "day-month-year"}))
	}
	if len(r.Questions) > 0 {
		t.Fatalf("still asks %+v", r.Questions)
	}
	return r.Upload
}

// rows returns all rows of the account.
func (w *world) rows(t *testing.T) []client.BankTransaction {
	t.Helper()
	var rows []client.BankTransaction
	for row, err := range w.AllBankTransactions(t.Context(), "everyday", wholeOf2025) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestStatementsOverTheAPI(t *testing.T) {
	for _, way := range []string{"in one process", "through a socket"} {
		t.Run(way, func(t *testing.T) {
			w := start(t)
			if way == "through a socket" {
				w.Client = w.client(client.Options{})
			}
			t.Run("a profile and an account", w.beginnings)
			t.Run("a file becomes transactions", w.importsOfAFile)
			t.Run("transactions are edited", w.editsOfTransactions)
			t.Run("tags and rules", w.tagsAndRules)
			t.Run("reports", w.reportsOfStatements)
			t.Run("exports", w.exportsOfStatements)
			t.Run("an import is undone", w.undoneImport)
			t.Run("everything goes out, away and in again", w.everythingOfMine)
		})
	}
}

func (w *world) beginnings(t *testing.T) {
	ctx := t.Context()
	if _, err := w.Profile(ctx); !errors.Is(err, statements.ErrNoProfile) {
		t.Errorf("before it was saved: %v", err)
	}
	p := must[client.Profile](t)(w.SaveProfile(ctx, "moana@example.com",
		client.Preferences{Currency: "NZD", TimeZone: "Pacific/Auckland"}, 0))
	_, err := w.SaveProfile(ctx, "", client.Preferences{}, p.Version+1)
	if !errors.Is(err, statements.ErrChanged) {
		t.Errorf("with a version that it has not: %v", err)
	}
	w.t = t
	w.everyday()
	w.everyday() // A repeat.
	name := "Daily"
	a := must[client.BankAccount](t)(w.ChangeBankAccount(ctx, "everyday", 0,
		client.BankAccountChange{Name: &name}))
	if a.Name != name || a.Version != 2 {
		t.Errorf("changed to %+v", a)
	}
	s := must[client.Start](t)(w.Start(ctx))
	if s.Profile == nil || s.Profile.Email != p.Email || len(s.Accounts) != 1 ||
		s.Accounts[0].Name != name || s.Tags == nil {
		t.Errorf("starts with %+v", s)
	}
	known := w.send(get, "/v1/me/accounts/everyday", "").header
	tag := known.Get("ETag")
	if known.Get("Vary") != "Authorization" { // Or a cache shows one person what is another's.
		t.Errorf("an answer varies by %q", known.Get("Vary"))
	}
	if r := w.send(get, "/v1/me/accounts/everyday", "", "If-None-Match", tag); r.status != 304 {
		t.Errorf("what is known has status %d", r.status)
	}
	for _, change := range []struct {
		tag    string
		status int
	}{{tag, 200}, {tag, 412}, {`"2"`, 412}, {`"3"`, 200}} {
		r := w.send(http.MethodPatch, "/v1/me/accounts/everyday", `{"number":"1"}`, "If-Match",
			change.tag)
		if r.status != change.status {
			t.Errorf("a change of %s has status %d", change.tag, r.status)
		}
	}
}

func (w *world) importsOfAFile(t *testing.T) {
	ctx := t.Context()
	r := mustReceive(t)(w.Upload(ctx, "everyday", client.NewUpload{
		ID: "first", FileName: "august.csv", Body: strings.NewReader(august),
	}))
	if r.Upload.Status != client.UploadUploaded || len(r.Questions) != 1 ||
		r.Questions[0].Topic != "dateOrder" || len(r.Questions[0].Choices) != 2 {
		t.Fatalf("received %+v", r)
	}
	if _, err := w.PreviewUpload(ctx, "everyday", "first", 10); !errors.Is(err,
		statements.ErrUndecided) {
		t.Errorf("a preview before the answer: %v", err)
	}
	same := must[client.ReceivedFile](t)(w.UploadOf(ctx, "everyday", "first"))
	if len(same.Questions) != 1 {
		t.Errorf("read again: %+v", same)
	}
	r = must[client.ReceivedFile](t)(w.AnswerQuestions(ctx, "everyday", "first",
		map[string]string{"dateOrder": "day-month-year"}))
	if r.Upload.Status != client.UploadParsed || len(r.Questions) != 0 {
		t.Fatalf("answered %+v", r)
	}
	p := must[client.UploadPreview](t)(w.PreviewUpload(ctx, "everyday", "first", 2))
	if len(p.Rows) != 2 || p.Upload.Counts.New != 3 || p.Rows[0].Verdict != "new" ||
		p.Rows[0].Date != "2025-08-01" || p.Rows[0].Amount.String() != "-5.5" ||
		p.Upload.Digest == "" {
		t.Fatalf("previewed %+v", p)
	}
	_, err := w.ImportUpload(ctx, "everyday", "first", client.Import{Digest: "another"})
	if !errors.Is(err, statements.ErrPreviewStale) {
		t.Errorf("imported what nobody saw: %v", err)
	}
	var told int
	u := must[client.Upload](t)(w.ImportUpload(ctx, "everyday", "first", client.Import{
		Digest: p.Upload.Digest, Progress: func(client.RowsDone) { told++ },
	}))
	if u.Status != client.UploadProcessed || u.Counts.New != 3 || told == 0 {
		t.Errorf("imported %+v, told %d times", u, told)
	}
	if rows := w.rows(t); len(rows) != 3 || rows[0].Date != "2025-08-01" ||
		rows[2].Amount.String() != "100" || rows[0].Source != "bank" {
		t.Errorf("rows %+v", rows)
	}
	// The same file again brings nothing, and what became of its rows is told.
	again := w.upload(t, august)
	p = must[client.UploadPreview](t)(w.PreviewUpload(ctx, "everyday", again.ID, 0))
	if p.Upload.Counts.Known != 3 || p.Upload.Counts.New != 0 || len(p.Rows) != 0 {
		t.Errorf("again %+v", p.Upload)
	}
	var known int
	for row, err := range w.AllUploadRows(ctx, "everyday", again.ID, "known") {
		if err != nil {
			t.Fatal(err)
		}
		if row.Verdict == "known" {
			known++
		}
	}
	if known != 3 {
		t.Errorf("%d rows are known", known)
	}
	page := must[client.Page[client.Upload]](t)(w.Uploads(ctx, "everyday",
		client.PageQuery{Limit: 1}))
	if len(page.Items) != 1 || page.Next == "" {
		t.Errorf("uploads %+v", page)
	}
}

func (w *world) editsOfTransactions(t *testing.T) {
	ctx := t.Context()
	row := w.rows(t)[0]
	notes, moved := "with Hana", client.Date("2025-09-02")
	changed := must[client.BankTransaction](t)(w.ChangeBankTransaction(ctx, "everyday", row.ID,
		row.Version, client.BankTransactionChange{Notes: &notes, Date: &moved}))
	if changed.ID != row.ID || changed.Notes != notes || changed.Date != moved ||
		!slices.Contains(changed.Edited, "notes") {
		t.Errorf("changed to %+v", changed)
	}
	_, err := w.ChangeBankTransaction(ctx, "everyday", row.ID, row.Version,
		client.BankTransactionChange{Notes: &notes})
	if !errors.Is(err, statements.ErrChanged) {
		t.Errorf("a change of what is no longer so: %v", err)
	}
	noted := must[client.AnnotationReceipt](t)(w.Annotate(ctx, "everyday", row.ID,
		client.NewAnnotation{ID: "a1", Text: "For the office", Author: "bot"}))
	if len(noted.Annotations) != 1 || noted.Annotations[0].Author != "bot" {
		t.Errorf("annotated %+v", noted)
	}
	text := "For home"
	must[client.BankTransaction](t)(w.ChangeAnnotation(ctx, "everyday", row.ID, "a1",
		client.AnnotationChange{Text: &text}))
	read := must[client.BankTransaction](t)(w.BankTransaction(ctx, "everyday", row.ID))
	if len(read.Annotations) != 1 || read.Annotations[0].Text != text {
		t.Errorf("read %+v", read)
	}
	gone := must[client.BankTransaction](t)(w.RemoveAnnotation(ctx, "everyday", row.ID, "a1"))
	if len(gone.Annotations) != 0 {
		t.Errorf("removed %+v", gone)
	}
	typed := client.NewBankTransaction{
		IdempotencyKey: "k1", Date: "2025-08-20", Amount: dec("-9.90"), Merchant: "Kiosk",
	}
	added := must[client.BankTransactionReceipt](t)(w.AddBankTransaction(ctx, "everyday", typed))
	again := must[client.BankTransactionReceipt](t)(w.AddBankTransaction(ctx, "everyday", typed))
	if added.ID != again.ID || added.Source != "person" || added.Currency != "NZD" {
		t.Errorf("added %+v, again %+v", added, again)
	}
	if err := w.DeleteBankTransaction(ctx, "everyday", added.ID, added.Version); err != nil {
		t.Error(err)
	}
	if _, err := w.BankTransaction(ctx, "everyday", added.ID); !errors.Is(err,
		statements.ErrNoTransaction) {
		t.Errorf("a deleted one: %v", err)
	}
	found := must[client.Page[client.BankTransaction]](t)(w.SearchBankTransactions(ctx,
		client.BankSearch{From: "2025-01-01", To: "2025-12-31", Text: "hana"}))
	if len(found.Items) != 1 || found.Items[0].ID != row.ID {
		t.Errorf("found %+v", found)
	}
}

func (w *world) tagsAndRules(t *testing.T) {
	ctx := t.Context()
	food := must[client.TagReceipt](t)(w.CreateTag(ctx, "Food"))
	if same := must[client.TagReceipt](t)(w.CreateTag(ctx, "FOOD")); same.ID != food.ID {
		t.Errorf("made %+v beside %+v", same, food)
	}
	draft := client.RuleFields{
		Name:       "Market",
		Conditions: []client.RuleCondition{{Field: "text", Op: "contains", Text: "market"}},
		Set:        client.RuleSetting{Merchant: "The Market", TagIDs: []client.TagID{food.ID}},
	}
	scope := client.RuleScope{From: "2025-01-01", To: "2025-12-31"}
	p := must[client.RulesPreview](t)(w.PreviewRules(ctx, scope, &draft))
	if p.Changed != 1 || len(p.Rows) != 1 {
		t.Errorf("previewed %+v", p)
	}
	made := must[client.RuleReceipt](t)(w.CreateRule(ctx, client.NewRule{RuleFields: draft}))
	r := made.Rule
	draft.Name = "Markets"
	r = must[client.Rule](t)(w.ChangeRule(ctx, r.ID, r.Version, draft))
	if r.Name != "Markets" || r.Conditions[0].Text != "market" {
		t.Errorf("changed to %+v", r)
	}
	j := must[client.Job](t)(w.ApplyRules(ctx, scope))
	if j = must[client.Job](t)(w.RunJob(ctx, j.ID, nil)); !j.Done || j.Changed != 1 {
		t.Errorf("ran %+v", j)
	}
	_, renaming, err := w.RenameTag(ctx, food.ID, 0, "Groceries")
	if err != nil || renaming == nil {
		t.Fatalf("renamed by %+v, %v", renaming, err)
	}
	must[client.Job](t)(w.RunJob(ctx, renaming.ID, func(client.Job) {}))
	tagged := func() (texts []string) {
		for _, row := range w.rows(t) {
			texts = append(texts, row.Tags...)
		}
		return texts
	}
	if got := tagged(); !slices.Equal(got, []string{"Groceries"}) {
		t.Errorf("tags %v", got)
	}
	fun := must[client.TagReceipt](t)(w.CreateTag(ctx, "Fun"))
	j = must[client.Job](t)(w.MergeTags(ctx, food.ID, fun.ID, 0))
	must[client.Job](t)(w.RunJob(ctx, j.ID, nil))
	if got := tagged(); !slices.Equal(got, []string{"Fun"}) {
		t.Errorf("tags %v", got)
	}
	if jobs := must[[]client.Job](t)(w.Jobs(ctx)); len(jobs) != 3 {
		t.Errorf("jobs %+v", jobs)
	}
	if tags := must[[]client.Tag](t)(w.Tags(ctx)); len(tags) != 1 {
		t.Errorf("tags %+v", tags)
	}
	// The merge has given the rule the other tag, and with it another version.
	if err := w.DeleteRule(ctx, r.ID, r.Version); !errors.Is(err, statements.ErrChanged) {
		t.Errorf("deleted a rule that is another: %v", err)
	}
	r = must[client.Rule](t)(w.Rule(ctx, r.ID))
	if err := w.DeleteRule(ctx, r.ID, r.Version); err != nil {
		t.Error(err)
	}
	if rules := must[[]client.Rule](t)(w.Rules(ctx)); len(rules) != 0 {
		t.Errorf("rules %+v", rules)
	}
}

func (w *world) reportsOfStatements(t *testing.T) {
	ctx := t.Context()
	q := client.ReportQuery{From: "2025-08-01", To: "2025-09-30", By: "merchant"}
	s := must[client.Spending](t)(w.Spending(ctx, q))
	if len(s.Months) != 2 || len(s.Currencies) != 1 || s.Converted != nil {
		t.Fatalf("spending %+v", s)
	}
	if total := s.Currencies[0].Total; total.Out.String() != "-17.5" ||
		total.In.String() != "100" || total.Count != 3 {
		t.Errorf("total %+v", total)
	}
	if top := s.Currencies[0].Series[0]; top.Label != "The Market" || len(top.Flows) != 2 {
		t.Errorf("the first series is %+v", top)
	}
	f := must[client.CashFlow](t)(w.CashFlow(ctx, q))
	if net := f.Currencies[0].Total.Net; net.String() != "82.5" {
		t.Errorf("cash flow %+v", f)
	}
	totals := must[[]client.MonthTotal](t)(w.MonthTotals(ctx, "everyday", "", ""))
	if len(totals) != 2 || totals[0].Month != "2025-08" || totals[0].All.Count != 2 ||
		totals[1].All.Out.String() != "-5.5" {
		t.Errorf("totals %+v", totals)
	}
	c := must[client.TotalsCheck](t)(w.CheckTotals(ctx, "everyday", true, nil))
	if c.Rows != 3 || c.Differ != 0 || c.Repaired != 0 || c.Verdict != client.VerdictSound {
		t.Errorf("checked %+v", c)
	}
	t.Run("in another currency, by the rate of each day", func(t *testing.T) {
		must[api.LoadedRates](t)(w.Rates().Load(ctx, api.RateDays{
			HistoryOnly: true,
			Days: []api.RateDay{{Base: "NZD", Date: "2025-08-04", Source: "test",
				Rates: map[money.Currency]money.Decimal{"USD": decimalOf(t, "0.5")}}},
		}))
		q.Currency = "USD"
		s := must[client.Spending](t)(w.Spending(ctx, q))
		// The 5th has the rate of the 4th, the 3rd has none, and nor has a day a month later.
		if total := s.Currencies[0].Total; total.In.String() != "50" || !total.Out.IsZero() {
			t.Errorf("total %+v", total)
		}
		if s.Converted == nil || len(s.Converted.Rates) != 1 ||
			s.Converted.Rates[0].Of != "2025-08-04" || len(s.Converted.Unrated) != 2 {
			t.Errorf("converted %+v", s.Converted)
		}
	})
}

func (w *world) exportsOfStatements(t *testing.T) {
	w.t = t
	for format, want := range map[string]string{
		"csv": "The Market", "json": `"-12"`, "jsonl": `"-12"`, "beancount": "The Market",
		"hledger": "The Market",
	} {
		var b bytes.Buffer
		if err := w.Export(t.Context(), &b, client.ExportQuery{Format: format}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: %s", format, b.String())
		}
	}
	r := w.send(get, "/v1/me/export?format=beancount", "")
	if got := r.header.Get("Content-Disposition"); !strings.Contains(got, "transactions.") {
		t.Errorf("it is called %q", got)
	}
	err := w.Export(t.Context(), new(bytes.Buffer),
		client.ExportQuery{Accounts: []client.BankAccountID{"nobody"}})
	if !errors.Is(err, statements.ErrNoAccount) {
		t.Errorf("of an account that is not there: %v", err)
	}
}

func (w *world) undoneImport(t *testing.T) {
	ctx := t.Context()
	plan := must[client.UndoPlan](t)(w.PlanUndo(ctx, "everyday", "first"))
	if plan.New != 3 || plan.EditedOf != 1 || plan.Edited[0].Date != "2025-09-02" {
		t.Errorf("plan %+v", plan)
	}
	_, err := w.UndoImport(ctx, "everyday", "first", client.Undo{})
	if !errors.Is(err, statements.ErrUndoEdited) {
		t.Errorf("without a word about the edited row: %v", err)
	}
	u := must[client.Upload](t)(w.UndoImport(ctx, "everyday", "first",
		client.Undo{Edited: "keep", Progress: func(client.RowsDone) {}}))
	if rows := w.rows(t); u.Status != client.UploadReverted || len(rows) != 1 {
		t.Errorf("undone %+v, rows %+v", u, rows)
	}
}

func (w *world) everythingOfMine(t *testing.T) {
	w.t = t
	ctx := t.Context()
	before := w.rows(t)
	var b bytes.Buffer
	if err := w.Archive(ctx, &b); err != nil {
		t.Fatal(err)
	}
	if _, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
		t.Fatal(err)
	}
	restore := func() (client.ArchiveCounts, error) {
		return w.Restore(ctx, bytes.NewReader(b.Bytes()), int64(b.Len()))
	}
	if _, err := restore(); !errors.Is(err, statements.ErrNotEmpty) {
		t.Errorf("restored over what is there: %v", err)
	}
	r := w.send(http.MethodDelete, "/v1/me?confirm=yes", "")
	if r.problem(t).Code != "confirmation_missing" {
		t.Errorf("unconfirmed: %s", r.body)
	}
	gone := must[client.Erased](t)(w.EraseEverything(ctx, nil))
	if gone.Accounts != 1 || gone.Transactions != len(before) || gone.Files == 0 {
		t.Errorf("erased %+v", gone)
	}
	if s := must[client.Start](t)(w.Start(ctx)); s.Profile != nil || len(s.Accounts) != 0 {
		t.Errorf("left are %+v", s)
	}
	counts := must[client.ArchiveCounts](t)(restore())
	if counts.Accounts != 1 || counts.Transactions != len(before) {
		t.Errorf("restored %+v", counts)
	}
	if after := w.rows(t); len(after) != len(before) || after[0].Notes != before[0].Notes {
		t.Errorf("rows %+v, before %+v", after, before)
	}
	erased := must[client.Erased](t)(w.EraseBankAccount(ctx, "everyday", nil))
	if _, err := w.BankAccount(ctx, "everyday"); erased.Transactions != len(before) ||
		!errors.Is(err, statements.ErrNoAccount) {
		t.Errorf("erased %+v, %v", erased, err)
	}
}

func TestWrongRequestsAboutStatementsAreRefused(t *testing.T) {
	w := start(t, func(o *server.Options) { o.Limits.Upload = 1 << 10 })
	w.everyday()
	const account, rows = "/v1/me/accounts/everyday", "/v1/me/accounts/everyday/transactions"
	for _, c := range []wrong{
		{"a form instead of a file", post, account + "/uploads", "x",
			[]string{"Content-Type", "multipart/form-data; boundary=x"}, 400, "body_is_form", nil},
		{"a file over the limit", post, account + "/uploads", strings.Repeat("x", 1<<10+1), nil,
			413, "body_too_large", nil},
		{"a file for an account that is not there", post, "/v1/me/accounts/none/uploads", august,
			nil, 404, "bank_account_not_found", nil},
		{"an archive that is none", post, "/v1/me/restore", "zip", nil,
			400, "file_unreadable", nil},
		{"an account without anything", post, "/v1/me/accounts", `{}`, nil,
			400, "request_invalid", []string{"name is missing", "currency"}},
		{"a user in a body", post, "/v1/me/accounts", `{"userId":"bob","name":"A",` +
			`"currency":"NZD"}`, nil, 400, "request_invalid", []string{"userId is not known here"}},
		{"a user in a query", get, "/v1/me/accounts?userId=bob", "", nil,
			400, "request_invalid", []string{"userId is not known here"}},
		{"a number for an amount", post, rows, `{"date":"2025-08-01","amount":5}`, nil,
			400, "request_invalid", []string{"amount must be a string"}},
		{"an amount that is none", post, rows, `{"date":"2025-08-01","amount":"five"}`, nil,
			400, "request_invalid", []string{"amount must be a plain decimal"}},
		{"no such day", post, rows, `{"date":"2025-02-30","amount":"5"}`, nil,
			400, "request_invalid", []string{"date"}},
		{"days the wrong way round", get, rows + "?from=2025-08-02&to=2025-08-01", "", nil,
			400, "request_invalid", []string{"to must not be before from"}},
		{"a cursor of nothing", get, rows + "?from=2025-08-01&to=2025-08-02&cursor=x", "", nil,
			400, "cursor_invalid", nil},
		{"a search for a strange amount", get,
			"/v1/me/transactions?from=2025-08-01&to=2025-08-02&amountFrom=x", "", nil,
			400, "request_invalid", []string{"amountFrom must be a plain decimal"}},
		{"an unknown form of export", get, "/v1/me/export?format=xls", "", nil,
			400, "request_invalid", []string{"format must be one of"}},
		{"a report by nothing known", get,
			"/v1/me/reports/spending?from=2025-08-01&to=2025-08-31&by=mood", "", nil,
			400, "request_invalid", []string{"by must be one of"}},
		{"a rule that never holds", post, "/v1/me/rules", `{"name":"r","conditions":[],"set":{}}`,
			nil, 400, "request_invalid", nil},
		{"an ETag of nothing", http.MethodPatch, account, `{"name":"x"}`,
			[]string{"If-Match", `"x"`}, 412, "version_changed", nil},
		{"an ETag of what another program wrote", http.MethodPatch, account, `{"name":"x"}`,
			[]string{"If-Match", `"0"`}, 412, "version_changed", nil},
		{"an ETag without a character", http.MethodPatch, account, `{"name":"x"}`,
			[]string{"If-Match", `""`}, 412, "version_changed", nil},
		{"a way up for an id", post, "/v1/me/accounts",
			`{"id":"..","name":"x","currency":"NZD"}`, nil, 400, "request_invalid",
			[]string{"id must not be"}},
		{"a tag merged into nothing", post, "/v1/me/tags/none/merge", `{}`, nil,
			400, "request_invalid", []string{"into is missing"}},
		{"totals of no days", get, account + "/totals?from=yesterday", "", nil,
			400, "request_invalid", []string{"from must be a day"}},
		{"totals of nothing", get, "/v1/me/accounts/none/totals", "", nil,
			404, "bank_account_not_found", nil},
		{"an amount of a part that is none", post, rows,
			`{"date":"2025-08-01","amount":"3","splits":[{"amount":"1"},{"amount":"x"}]}`, nil,
			400, "request_invalid", []string{"splits[1].amount must be a plain decimal"}},
		{"a currency of a profile", http.MethodPut, "/v1/me/profile",
			`{"preferences":{"currency":"XXQ"}}`, nil, 400, "request_invalid",
			[]string{"preferences.currency"}},
		{"everything gone without a word", http.MethodDelete, "/v1/me", "", nil,
			400, "request_invalid", []string{"confirm is missing"}},
		{"a job that is not there", post, "/v1/me/jobs/none/run", "", nil,
			404, "job_not_found", nil},
		{"a tag that is not there", http.MethodDelete, "/v1/me/tags/none", "", nil,
			404, "tag_not_found", nil},
		{"an upload that is not there", get, account + "/uploads/none", "", nil,
			404, "upload_not_found", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			r := w.send(c.method, c.path, c.body, c.headers...)
			p := r.problem(t)
			if r.status != c.status || p.Code != c.code {
				t.Errorf("status %d, code %s: %s", r.status, p.Code, r.body)
			}
			for i, want := range c.fields {
				if i >= len(p.Fields) ||
					!strings.HasPrefix(p.Fields[i].Name+" "+p.Fields[i].Wrong, want) {
					t.Errorf("fields %v, want %s", p.Fields, want)
				}
			}
		})
	}
}

// No id is a way to something else.
func TestIdsThatAreWaysUpReachNothingElse(t *testing.T) {
	w := start(t)
	w.everyday()
	for _, id := range []string{".", ".."} {
		ctx := t.Context()
		err := w.DeleteBankTransaction(ctx, "everyday", client.BankTransactionID(id), 0)
		if !errors.Is(err, statements.ErrNoTransaction) {
			t.Errorf("a transaction %s: %v", id, err)
		}
		if v, err := w.BankAccount(ctx, client.BankAccountID(id)); !errors.Is(err,
			statements.ErrNoAccount) {
			t.Errorf("an account %s: %+v, %v", id, v, err)
		}
	}
	must[client.BankAccount](t)(w.BankAccount(t.Context(), "everyday"))
}

// What a repeat finds made is told apart from what it makes.
func TestARepeatOfACreateIsAnsweredAsOne(t *testing.T) {
	w := start(t)
	for _, create := range []struct {
		path, body string
		headers    []string
	}{
		{"/v1/me/accounts", `{"id":"a","name":"A","currency":"NZD"}`, nil},
		{"/v1/me/tags", `{"text":"Food"}`, nil},
		{"/v1/me/rules", `{"id":"r","name":"R","conditions":[{"field":"text","op":"contains",` +
			`"text":"x"}],"set":{"merchant":"X"}}`, nil},
		{"/v1/me/accounts/a/transactions", `{"date":"2025-08-01","amount":"-1",` +
			`"merchant":"M"}`, []string{"Idempotency-Key", "k"}},
		{"/v1/me/accounts/a/uploads?id=u&fileName=august.csv", august,
			[]string{"Content-Type", "text/csv"}},
		{"/v1/locations", `{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","code":"L","name":"L"}`, nil},
	} {
		made := w.send(post, create.path, create.body, create.headers...)
		again := w.send(post, create.path, create.body, create.headers...)
		if made.status != http.StatusCreated || again.status != http.StatusOK ||
			again.header.Get("Location") != made.header.Get("Location") {
			t.Errorf("%s: %d %s, then %d %s", create.path, made.status, made.body, again.status,
				again.body)
		}
	}
}

// mustReceive is must for an upload, without whether it is a repeat.
func mustReceive(t *testing.T) func(client.UploadReceipt, error) client.ReceivedFile {
	return func(r client.UploadReceipt, err error) client.ReceivedFile {
		t.Helper()
		return must[client.UploadReceipt](t)(r, err).ReceivedFile
	}
}
