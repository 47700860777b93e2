package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// raw reads all items of a partition as they are stored.
func (b *books) raw(index, partition string) []dynamo.Item {
	b.t.Helper()
	in := &dynamo.QueryInput{
		TableName: "FinancialTransactions", IndexName: index,
		KeyConditionExpression: index + "PK = :p",
		Expressions: dynamo.Expressions{
			ExpressionAttributeValues: map[string]dynamo.Value{":p": dynamo.S(partition)},
		},
	}
	var items []dynamo.Item
	for {
		out, err := b.faces.Query(b.t.Context(), in)
		if err != nil {
			b.t.Fatal(err)
		}
		items = append(items, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return items
		}
	}
}

// text renders an item as its attributes, one a line, so that differences are easy to read.
func text(items ...dynamo.Item) string {
	var lines []string
	for _, item := range items {
		lines = append(lines, strings.ReplaceAll(strings.Trim(item.String(), "{}"), "},", "}\n"))
	}
	return strings.Join(lines, "\n\n")
}

// Ids of the design's examples.
const (
	seedAccount  = "660f9511-e29b-41d4-a716-446655440000"
	seedUser     = "770g0622-e29b-41d4-a716-446655440000"
	seedMerchant = "550e8400-e29b-41d4-a716-446655440000"
)

// seedBooks holds the design's examples, and the payment among them.
func seedBooks(t *testing.T) (*books, ledger.Receipt) {
	b := openBooks(t, ledger.Options{})
	if _, err := b.OpenAccount(t.Context(), ledger.NewAccount{
		ID: seedAccount, UserID: seedUser, AccountType: "checking", Currency: "USD",
	}); err != nil {
		t.Fatal(err)
	}
	b.account("settlement", usd("0"))
	if _, err := b.CreateMerchant(t.Context(), ledger.NewMerchant{
		ID: seedMerchant, Name: "Coffee Shop Inc", Category: "Restaurant",
		SettlementAccountID: "settlement",
	}); err != nil {
		t.Fatal(err)
	}
	b.clock.Move(-time.Second)
	b.post(ledger.DepositInto(seedAccount, usd("1505.50")))
	b.clock.Set(start)
	p := ledger.PayMerchant(seedAccount, seedMerchant, usd("5.50"))
	p.IdempotencyKey, p.Description = "abc123def456", "Coffee purchase"
	p.Metadata = map[string]string{"till": "2"}
	return b, b.post(p)
}

// The items are those of the design, attribute by attribute: other programs read them.
func TestStoredItems(t *testing.T) {
	const account, user, merchant = seedAccount, seedUser, seedMerchant
	b, r := seedBooks(t)
	id, legs := string(r.Transaction.ID), r.Legs

	want := text(dynamo.Item{
		"PK": dynamo.S("MERCHANT#" + merchant), "SK": dynamo.S("METADATA"),
		"Type": dynamo.S("Merchant"), "ID": dynamo.S(merchant),
		"Name": dynamo.S("Coffee Shop Inc"), "Category": dynamo.S("Restaurant"),
		"SettlementAccountID": dynamo.S("settlement"),
		"CreatedAt":           dynamo.S("2026-01-02T10:30:00.123Z"),
	})
	if diff := cmp.Diff(want, text(b.raw("", "MERCHANT#"+merchant)...)); diff != "" {
		t.Errorf("merchant (-want +got):\n%s", diff)
	}
	wantAccount := dynamo.Item{
		"PK": dynamo.S("ACCOUNT#" + account), "SK": dynamo.S("METADATA"),
		"GSI1PK": dynamo.S("USER#" + user), "GSI1SK": dynamo.S("ACCOUNT#" + account),
		"Type": dynamo.S("Account"), "ID": dynamo.S(account), "UserID": dynamo.S(user),
		"AccountType": dynamo.S("checking"), "Balance": dynamo.N("1500"),
		"Currency": dynamo.S("USD"), "Status": dynamo.S("active"),
		"OverdraftLimit": dynamo.N("0"), "Version": dynamo.N("2"), "Revision": dynamo.N("1"),
		"LastPostedAt": dynamo.S("2026-01-02T10:30:00.123Z"),
		"CreatedAt":    dynamo.S("2026-01-02T10:30:00.123Z"),
	}
	for name, got := range map[string][]dynamo.Item{
		"account": b.raw("", "ACCOUNT#"+account), "account by user": b.raw("GSI1", "USER#"+user),
	} {
		if diff := cmp.Diff(text(wantAccount), text(got...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	header := dynamo.Item{
		"PK": dynamo.S("TXN#" + id), "SK": dynamo.S("METADATA"),
		"GSI1PK": dynamo.S("STATUS#completed"),
		"GSI1SK": dynamo.S("CREATED#2026-01-02T10:30:00.123Z"),
		"GSI2PK": dynamo.S("IDEMPOTENCY#abc123def456"), "GSI2SK": dynamo.S("TXN"),
		"Type": dynamo.S("Transaction"), "ID": dynamo.S(id),
		"IdempotencyKey": dynamo.S("abc123def456"), "TransactionType": dynamo.S("payment"),
		"Status": dynamo.S("completed"), "MerchantID": dynamo.S(merchant),
		"Description": dynamo.S("Coffee purchase"), "Amount": dynamo.N("5.5"),
		"Currency": dynamo.S("USD"), "CreatedAt": dynamo.S("2026-01-02T10:30:00.123Z"),
		"Metadata": dynamo.M(map[string]dynamo.Value{"till": dynamo.S("2")}),
	}
	leg := func(l ledger.Leg, kind, after, version string) dynamo.Item {
		return dynamo.Item{
			"PK": dynamo.S("TXN#" + id), "SK": dynamo.S("LEG#" + string(l.ID)),
			"GSI1PK": dynamo.S("ACCOUNT#" + string(l.AccountID)),
			"GSI1SK": dynamo.S("LEG#2026-01-02T10:30:00.123Z#" + string(l.ID)),
			"Type":   dynamo.S("TransactionLeg"), "ID": dynamo.S(string(l.ID)),
			"TransactionID": dynamo.S(id), "AccountID": dynamo.S(string(l.AccountID)),
			"LegType": dynamo.S(kind), "Amount": dynamo.N("5.5"), "Currency": dynamo.S("USD"),
			"BalanceAfter": dynamo.N(after), "AccountVersion": dynamo.N(version),
			"CreatedAt": dynamo.S("2026-01-02T10:30:00.123Z"),
		}
	}
	got := b.raw("", "TXN#"+id)
	for _, item := range got {
		if hash, ok := item["RequestHash"]; ok && len(hash.S()) == 44 {
			header["RequestHash"] = hash
		}
	}
	// Items of a partition are in the order of the sort key: LEG# before METADATA.
	wantItems := text(leg(legs[0], "credit", "5.5", "1"),
		leg(legs[1], "debit", "1500", "2"), header)
	if diff := cmp.Diff(wantItems, text(got...)); diff != "" {
		t.Errorf("transaction (-want +got):\n%s", diff)
	}
	for name, got := range map[string][]dynamo.Item{
		"by status": b.raw("GSI1", "STATUS#completed")[1:],
		"by key":    b.raw("GSI2", "IDEMPOTENCY#abc123def456"),
	} {
		if diff := cmp.Diff(text(header), text(got...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := b.raw("GSI1", "ACCOUNT#"+account); len(got) != 2 {
		t.Errorf("the account has %d legs in the index", len(got))
	}
	// An id of a leg begins with the version of its account, and goes on with its place.
	for i, want := range []string{"00000000-0001-8001-", "00000000-0002-8000-"} {
		if !strings.HasPrefix(string(legs[i].ID), want) {
			t.Errorf("the id of leg %d is %s", i, legs[i].ID)
		}
	}
}

// Items that other programs wrote, in the seed's form without our extra attributes, can be read.
func TestItemsOfOtherPrograms(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for _, item := range []dynamo.Item{
		{
			"PK": dynamo.S("TXN#t1"), "SK": dynamo.S("LEG#l1"),
			"Type": dynamo.S("TransactionLeg"), "LegType": dynamo.S("debit"),
			"AccountID": dynamo.S("old"), "Amount": dynamo.N("5.50"), // In the account's currency.
		},
		{
			"PK": dynamo.S("TXN#t1"), "SK": dynamo.S("METADATA"),
			"GSI1PK": dynamo.S("STATUS#pending"),
			"GSI1SK": dynamo.S("CREATED#2026-01-02T10:30:00Z"),
			"GSI2PK": dynamo.S("IDEMPOTENCY#other"), "GSI2SK": dynamo.S("TXN"),
			"Type": dynamo.S("Transaction"), "ID": dynamo.S("t1"),
			"IdempotencyKey": dynamo.S("other"), "TransactionType": dynamo.S("payment"),
			"Status": dynamo.S("pending"), "Amount": dynamo.N("5.50"),
			"CreatedAt": dynamo.S("2026-01-02T10:30:00Z"),
		},
		{
			"PK": dynamo.S("ACCOUNT#old"), "SK": dynamo.S("METADATA"), "Type": dynamo.S("Account"),
			"ID": dynamo.S("old"), "Balance": dynamo.N("1500.00"), "Currency": dynamo.S("USD"),
			"Status": dynamo.S("active"), "AccountType": dynamo.S("checking"),
			"UserID": dynamo.S("u"),
			"GSI1PK": dynamo.S("USER#u"), "GSI1SK": dynamo.S("ACCOUNT#old"),
		},
	} {
		in := &dynamo.PutInput{TableName: "FinancialTransactions", Item: item}
		if _, err := b.db.Put(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	b.wantBalance("old", usd("1500"))
	found, err := b.Transaction(t.Context(), "t1")
	second := start.Truncate(time.Second)
	if err != nil || found.Status != ledger.Pending || !found.CreatedAt.Equal(second) ||
		found.Amount != usd("5.50") {
		t.Errorf("got %+v, %v", found, err)
	}
	page, err := b.TransactionsByStatus(t.Context(), ledger.StatusQuery{Status: ledger.Pending})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("pending: %v, %v", page.Items, err)
	}
	b.account("bob", usd("0"))
	b.post(transfer("old", "bob", "0.50"))
	b.wantBalance("old", usd("1499.50"))
}

func TestCurrencies(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for _, c := range []struct {
		currency     money.Currency
		fits, beyond string
	}{{"JPY", "1", "0.1"}, {"BHD", "0.001", "0.0001"}, {"USD", "0.01", "0.001"}} {
		id := ledger.AccountID(c.currency)
		b.account(id, money.MustParse("0", c.currency))
		b.post(ledger.DepositInto(id, money.MustParse(c.fits, c.currency)))
		_, err := b.Post(t.Context(),
			ledger.DepositInto(id, money.MustParse(c.beyond, c.currency)))
		if !isProblem(err, ledger.ErrTooManyFractionDigits) {
			t.Errorf("%s: got %v", c.currency, err)
		}
	}
	// An exchange moves two currencies in one transaction, each of them balanced.
	var p ledger.Posting
	p.Type, p.Currency = "exchange", "JPY"
	move(&p, "USD", ledger.Exchange, usd("0.01"))
	move(&p, ledger.Exchange, "JPY", money.MustParse("1", "JPY"))
	r := b.post(p)
	if r.Transaction.Amount != money.MustParse("1", "JPY") || len(r.Legs) != 4 {
		t.Errorf("got %+v", r)
	}
	b.wantBalance("@exchange-USD", usd("0.01"))
	b.wantBalance("@exchange-JPY", money.MustParse("-1", "JPY"))
	if _, err := b.Reverse(t.Context(), reversing(r.Transaction.ID)); err != nil {
		t.Error(err)
	}
	b.wantBalance("JPY", money.MustParse("1", "JPY"))
	b.sound()
}

// Every question of the design is a pattern that can be run by name, with text for inputs.
func TestPatternsByName(t *testing.T) {
	b, r := seedBooks(t)
	id := string(r.Transaction.ID)
	range1 := map[string]string{"From": "2026-01-01", "To": "2026-01-31"}
	with := func(name, value string) map[string]string {
		inputs := map[string]string{name: value}
		if name == "Status" || name == "AccountID" {
			for k, v := range range1 {
				inputs[k] = v
			}
		}
		return inputs
	}
	tests := []struct {
		name   string
		inputs map[string]string
		rows   int
		where  string
	}{
		{"merchant-by-id", with("ID", seedMerchant), 1, `PK = "MERCHANT#<ID>" AND SK = "METADATA"`},
		{"account-by-id", with("ID", seedAccount), 1, `PK = "ACCOUNT#<ID>" AND SK = "METADATA"`},
		{"accounts-of-user", with("UserID", seedUser), 1,
			`GSI1PK = "USER#<UserID>" AND begins_with(GSI1SK, "ACCOUNT#")`},
		{"transaction-by-id", with("ID", id), 1, `PK = "TXN#<ID>" AND SK = "METADATA"`},
		{"transaction-with-legs", with("ID", id), 3, `PK = "TXN#<ID>"`},
		{"transactions-by-status", with("Status", "completed"), 2,
			`GSI1PK = "STATUS#<Status>" AND GSI1SK from "CREATED#<From>" to "CREATED#<To>", ` +
				`the end excluded`},
		{"transactions-by-status-newest", with("Status", "completed"), 2,
			`GSI1PK = "STATUS#<Status>" AND GSI1SK from "CREATED#<From>" to "CREATED#<To>", ` +
				`the end excluded`},
		{"transaction-by-idempotency-key", with("IdempotencyKey", "abc123def456"), 1,
			`GSI2PK = "IDEMPOTENCY#<IdempotencyKey>" AND GSI2SK = "TXN"`},
		{"legs-of-account", with("AccountID", seedAccount), 2,
			`GSI1PK = "ACCOUNT#<AccountID>" AND GSI1SK from "LEG#<From>" to "LEG#<To>", ` +
				`the end excluded`},
		{"legs-of-account-oldest", with("AccountID", seedAccount), 2,
			`GSI1PK = "ACCOUNT#<AccountID>" AND GSI1SK from "LEG#<From>" to "LEG#<To>", ` +
				`the end excluded`},
		{"accounts", nil, 3, `PK = "@ledger#accounts#<AccountID:shard(4)>" AND ` +
			`begins_with(SK, "ACCOUNT#")`},
	}
	model := b.Model()
	if len(model.Patterns()) != len(tests) {
		t.Errorf("there are %d patterns, and %d tests", len(model.Patterns()), len(tests))
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			pattern, ok := model.Pattern(c.name)
			if !ok {
				t.Fatal("there is no such pattern")
			}
			if got := pattern.Info(); got.Description == "" || got.Where != c.where {
				t.Errorf("it says %q: %s", got.Description, got.Where)
			}
			page, err := pattern.RunText(t.Context(), b.store, c.inputs, 10, "")
			if err != nil || len(page.Items) != c.rows {
				t.Errorf("it finds %d rows, want %d: %v", len(page.Items), c.rows, err)
			}
			plan, err := pattern.PlanText(b.store, c.inputs, 10)
			if err != nil || len(plan.Requests) == 0 {
				t.Errorf("its plan is %+v, %v", plan, err)
			}
		})
	}
}

// The design has no mistakes. What the kit warns of is accepted: one partition takes 1,000 write
// units a second, which StatusShards cures for transactions; accounts are not opened at such a
// rate, and the number of shards is seldom changed.
func TestTheDesignIsChecked(t *testing.T) {
	for _, shards := range []int{1, 16} {
		b := openBooks(t, ledger.Options{StatusShards: shards})
		report := b.Model().Check()
		if err := report.Err(); err != nil {
			t.Error(err)
		}
		for _, warning := range report.Warnings {
			if !strings.Contains(warning.Text, `"STATUS#<Status>`) &&
				!strings.Contains(warning.Text, `"@ledger#control#shards"`) &&
				!strings.Contains(warning.Text, `"@ledger#accounts#`) {
				t.Errorf("with %d shards: %s", shards, warning)
			}
		}
		if err := b.Model().Verify(t.Context(), b.db); err != nil {
			t.Error(err)
		}
	}
}
