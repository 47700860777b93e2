package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func TestOpenAccount(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	ask := ledger.NewAccount{
		IdempotencyKey: "k", UserID: "u", AccountType: "checking", Currency: "USD",
		OverdraftLimit: usd("50"),
	}
	first, err := b.OpenAccount(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Account{
		ID: first.ID, UserID: "u", AccountType: "checking", Balance: usd("0"),
		Status: ledger.AccountActive, OverdraftLimit: usd("50"), Revision: 1, CreatedAt: start,
	}
	if diff := cmp.Diff(ledger.AccountReceipt{Account: want}, first); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := b.OpenAccount(t.Context(), ask)
	if diff := cmp.Diff(ledger.AccountReceipt{Account: want, Replayed: true}, again); diff != "" ||
		err != nil {
		t.Errorf("again (-want +again):\n%s%v", diff, err)
	}
	ask.AccountType = "savings"
	if _, err := b.OpenAccount(t.Context(), ask); !isProblem(err, ledger.ErrIdempotencyConflict) ||
		problem.From(err).Details["field"] != "accountType" {
		t.Errorf("another body: %v", err)
	}
	ask.ID = first.ID
	if _, err := b.OpenAccount(t.Context(), ask); !isProblem(err, ledger.ErrIdempotencyConflict) {
		t.Errorf("another body with the id and the key: %v", err)
	}
	ask.IdempotencyKey = ""
	if _, err := b.OpenAccount(t.Context(), ask); !isProblem(err, ledger.ErrAccountExists) {
		t.Errorf("another body with the id: %v", err)
	}
	errs := together(20, func(i int) error {
		_, err := b.OpenAccount(t.Context(), ledger.NewAccount{
			ID: "one", UserID: "u", AccountType: "checking", Currency: "USD",
		})
		return err
	})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAccountsAreRefused(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for name, spoil := range map[string]func(*ledger.NewAccount){
		"request_invalid: id":       func(n *ledger.NewAccount) { n.ID = "a#b" },
		"request_invalid: own":      func(n *ledger.NewAccount) { n.ID = "@deposits-USD" },
		"request_invalid: user":     func(n *ledger.NewAccount) { n.UserID = "" },
		"request_invalid: type":     func(n *ledger.NewAccount) { n.AccountType = "" },
		"request_invalid: currency": func(n *ledger.NewAccount) { n.Currency = "usd" },
		"request_invalid: negative": func(n *ledger.NewAccount) { n.OverdraftLimit = usd("-1") },
		"request_invalid: other":    func(n *ledger.NewAccount) { n.OverdraftLimit = nzd("1") },
		"too_many_fraction_digits: ": func(n *ledger.NewAccount) {
			n.OverdraftLimit = usd("0.001")
		},
		"idempotency_key_invalid: ": func(n *ledger.NewAccount) { n.IdempotencyKey = "\xff" },
	} {
		n := ledger.NewAccount{UserID: "u", AccountType: "checking", Currency: "USD"}
		spoil(&n)
		_, err := b.OpenAccount(t.Context(), n)
		if got := string(code(err)); len(got) > len(name) || got != name[:len(got)] {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOverdraft(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("bob", usd("0"))
	_, err := b.OpenAccount(t.Context(), ledger.NewAccount{
		ID: "alice", UserID: "u", AccountType: "checking", Currency: "USD",
		OverdraftLimit: usd("50"),
	})
	if err != nil {
		t.Fatal(err)
	}
	pay := func(amount string) error {
		_, err := b.Post(t.Context(), ledger.TransferBetween("alice", "bob", usd(amount)))
		return err
	}
	if err := pay("50.01"); !isProblem(err, ledger.ErrInsufficientFunds) {
		t.Errorf("got %v", err)
	}
	if err := pay("50"); err != nil {
		t.Error(err)
	}
	if err := pay("0.01"); !isProblem(err, ledger.ErrInsufficientFunds) {
		t.Errorf("got %v", err)
	}
	// A lower limit leaves a balance that is below it, which can only rise.
	if _, err := b.SetOverdraft(t.Context(), "alice", usd("20"), false); err != nil {
		t.Fatal(err)
	}
	b.post(ledger.DepositInto("alice", usd("10")))
	b.wantBalance("alice", usd("-40"))
	if err := pay("1"); !isProblem(err, ledger.ErrInsufficientFunds) {
		t.Errorf("got %v", err)
	}
	if _, err := b.SetOverdraft(t.Context(), "alice", money.Amount{}, true); err != nil {
		t.Fatal(err)
	}
	if err := pay("1000000"); err != nil {
		t.Error(err)
	}
	_, err = b.SetOverdraft(t.Context(), "alice", nzd("1"), false)
	wantProblem(t, err, ledger.ErrInvalidRequest)
	b.sound()
}

// What another process does to an account counts at once, whatever this one remembers.
func TestFreezeAndClose(t *testing.T) {
	both := processes(t, ledger.Options{})
	b, other := both[0], both[1]
	b.account("alice", usd("10"))
	b.account("bob", usd("0"))
	pay := func() error {
		_, err := b.Post(t.Context(), transfer("alice", "bob", "1"))
		return err
	}
	if err := pay(); err != nil {
		t.Fatal(err)
	}
	a, err := other.FreezeAccount(t.Context(), "alice")
	if err != nil || a.Status != ledger.AccountFrozen || a.Revision != 2 || a.Version != 2 {
		t.Errorf("got %+v, %v", a, err)
	}
	if again, err := other.FreezeAccount(t.Context(), "alice"); err != nil || again != a {
		t.Errorf("frozen twice: %+v, %v", again, err)
	}
	if err := pay(); !isProblem(err, ledger.ErrAccountFrozen) {
		t.Errorf("got %v", err)
	}
	_, err = other.CloseAccount(t.Context(), "alice")
	wantProblem(t, err, ledger.ErrAccountNotEmpty)
	if a, err = other.UnfreezeAccount(t.Context(), "alice"); a.Status != ledger.AccountActive {
		t.Errorf("got %+v, %v", a, err)
	}
	if err := pay(); err != nil {
		t.Error(err)
	}
	b.post(ledger.WithdrawFrom("alice", usd("8")))
	if a, err = other.CloseAccount(t.Context(), "alice"); a.Status != ledger.AccountClosed {
		t.Errorf("got %+v, %v", a, err)
	}
	if err := pay(); !isProblem(err, ledger.ErrAccountClosed) {
		t.Errorf("got %v", err)
	}
	for name, change := range map[string]func() (ledger.Account, error){
		"freeze": func() (ledger.Account, error) { return b.FreezeAccount(t.Context(), "alice") },
		"unfreeze": func() (ledger.Account, error) {
			return b.UnfreezeAccount(t.Context(), "alice")
		},
		"overdraft": func() (ledger.Account, error) {
			return b.SetOverdraft(t.Context(), "alice", usd("1"), false)
		},
	} {
		if _, err := change(); !isProblem(err, ledger.ErrAccountClosed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err = b.FreezeAccount(t.Context(), "@deposits-USD")
	wantProblem(t, err, ledger.ErrSystemAccount)
	_, err = b.FreezeAccount(t.Context(), "none")
	wantProblem(t, err, ledger.ErrAccountNotFound)
	b.sound()
}

// Freezing and closing race with postings: what was posted was posted to an active account.
func TestClosingRacesWithPostings(t *testing.T) {
	for range storetest.Rounds(20) {
		both := processes(t, ledger.Options{})
		b := both[0]
		b.account("alice", usd("0"))
		var closed, deposited error
		together(2, func(i int) error {
			if i == 0 {
				_, closed = both[0].CloseAccount(t.Context(), "alice")
			} else {
				_, deposited = both[1].Post(t.Context(), ledger.DepositInto("alice", usd("1")))
			}
			return nil
		})
		switch {
		case closed == nil && isProblem(deposited, ledger.ErrAccountClosed):
			b.wantBalance("alice", usd("0"))
		case deposited == nil && isProblem(closed, ledger.ErrAccountNotEmpty):
			b.wantBalance("alice", usd("1"))
		default:
			t.Errorf("closed: %v, deposited: %v", closed, deposited)
		}
		b.sound()
	}
}

func TestAccountsOfAUser(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for i := range 25 {
		_, err := b.OpenAccount(t.Context(), ledger.NewAccount{
			ID: accountID(i), UserID: "me#1", AccountType: "checking", Currency: "USD",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.account("other", usd("1"))
	b.post(ledger.DepositInto(accountID(3), usd("7")))
	var got []ledger.AccountID
	q := ledger.PageQuery{Size: 10}
	for {
		page, err := b.AccountsOfUser(t.Context(), "me#1", q)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Items {
			got = append(got, a.ID)
			if a.ID == accountID(3) && a.Balance != usd("7") {
				t.Errorf("the index has a balance of %s", a.Balance)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	var want []ledger.AccountID
	for i := range 25 {
		want = append(want, accountID(i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	all := map[ledger.AccountID]bool{}
	for q = (ledger.PageQuery{Size: 10}); ; {
		page, err := b.Accounts(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Items {
			all[a.ID] = true
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if len(all) != 25+3 || !all["@opening-USD"] || !all["@deposits-USD"] || !all["other"] {
		t.Errorf("all accounts are %v", all)
	}
}

// A merchant is never changed: one that could never be paid is refused, and its id stays free.
func TestAMerchantHasAnAccountThatCanBePaid(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	ask := ledger.NewMerchant{ID: "m", Name: "Coffee Shop Inc", SettlementAccountID: "nobody"}
	_, err := b.CreateMerchant(t.Context(), ask)
	wantProblem(t, err, ledger.ErrAccountNotFound)
	_, err = b.OpenAccount(t.Context(), ledger.NewAccount{ID: "shop", UserID: "u",
		AccountType: "shop", Currency: "USD"})
	if err != nil {
		t.Fatal(err)
	}
	ask.SettlementAccountID = "shop"
	first, err := b.CreateMerchant(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.CloseAccount(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	if again, err := b.CreateMerchant(t.Context(), ask); err != nil ||
		again.Merchant != first.Merchant || !again.Replayed {
		t.Errorf("a repeat after the account was closed: %+v, %v", again, err)
	}
	ask.ID = "other"
	_, err = b.CreateMerchant(t.Context(), ask)
	wantProblem(t, err, ledger.ErrAccountClosed)
	if _, err := b.Merchant(t.Context(), "other"); !isProblem(err, ledger.ErrMerchantNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestMerchants(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	ask := ledger.NewMerchant{
		IdempotencyKey: "k", Name: "Coffee Shop Inc", Category: "Restaurant",
		SettlementAccountID: "bob",
	}
	first, err := b.CreateMerchant(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.CreateMerchant(t.Context(), ask)
	if err != nil || again.Merchant != first.Merchant || !again.Replayed || first.Replayed {
		t.Errorf("again: %+v, %v", again, err)
	}
	found, err := b.Merchant(t.Context(), first.ID)
	if err != nil || found != first.Merchant || found.Name != "Coffee Shop Inc" {
		t.Errorf("found %+v, %v", found, err)
	}
	ask.Category = "Bar"
	_, err = b.CreateMerchant(t.Context(), ask)
	wantProblem(t, err, ledger.ErrIdempotencyConflict)
	ask.ID, ask.IdempotencyKey = first.ID, ""
	_, err = b.CreateMerchant(t.Context(), ask)
	wantProblem(t, err, ledger.ErrMerchantExists)
	for _, bad := range []ledger.NewMerchant{{}, {Name: "N", ID: "a b"}, {Name: "\xff"}} {
		if _, err := b.CreateMerchant(t.Context(), bad); !isProblem(err, ledger.ErrInvalidRequest) {
			t.Errorf("%+v: got %v", bad, err)
		}
	}
	if _, err := b.Merchant(t.Context(), "none"); !isProblem(err, ledger.ErrMerchantNotFound) {
		t.Errorf("got %v", err)
	}
	payment := keyed("p", ledger.PayMerchant("alice", first.ID, usd("5.50")))
	r := b.post(payment)
	if r.Transaction.MerchantID != first.ID || r.Transaction.Type != ledger.Payment {
		t.Errorf("got %+v", r.Transaction)
	}
	if again := b.post(payment); !again.Replayed {
		t.Error("it was paid twice")
	}
	b.wantBalance("bob", usd("5.50"))
	b.sound()
}
