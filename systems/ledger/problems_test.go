package ledger_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func TestProblemsAreDeclaredWell(t *testing.T) {
	if err := problem.Check(ledger.Problems); err != nil {
		t.Error(err)
	}
}

// fault spoils a posting in one way. Faults that spoil the same thing in two ways at once exclude
// each other: those with the same spot.
type fault struct {
	code  problem.Code
	spot  string
	spoil func(*ledger.Posting)
}

// move adds a pair of legs that balance.
func move(p *ledger.Posting, from, to ledger.AccountID, amount money.Amount) {
	p.Legs = append(p.Legs,
		ledger.PostingLeg{AccountID: from, Type: ledger.Debit, Amount: amount},
		ledger.PostingLeg{AccountID: to, Type: ledger.Credit, Amount: amount})
}

var long38 = money.MustParse(strings.Repeat("9", 38), "USD")

// faults are all problems of a posting, in order of precedence.
var faults = []fault{
	{"request_invalid", "", func(p *ledger.Posting) { p.Type = "" }},
	{"idempotency_key_invalid", "key", func(p *ledger.Posting) {
		p.IdempotencyKey = strings.Repeat("k", 256)
	}},
	{"description_too_long", "description", func(p *ledger.Posting) {
		p.Description = strings.Repeat("d", 1025)
	}},
	{"metadata_too_large", "", func(p *ledger.Posting) {
		p.Metadata = map[string]string{"note": strings.Repeat("m", 4096)}
	}},
	{"too_few_legs", "legs", func(p *ledger.Posting) { p.Legs = p.Legs[:1] }},
	{"too_many_legs", "legs", func(p *ledger.Posting) {
		for i := range 40 {
			move(p, accountID(i), accountID(i+100), usd("1"))
		}
	}},
	{"amount_not_positive", "legs", func(p *ledger.Posting) {
		move(p, "rich", "friend", usd("0"))
	}},
	{"too_many_fraction_digits", "legs", func(p *ledger.Posting) {
		move(p, "rich", "friend", usd("0.001"))
	}},
	{"amount_too_large", "legs", func(p *ledger.Posting) {
		move(p, "boundless", "friend", long38)
		move(p, "boundless", "friend", long38)
	}},
	{"transaction_unbalanced", "legs", func(p *ledger.Posting) {
		p.Legs = append(p.Legs, ledger.PostingLeg{
			AccountID: "friend", Type: ledger.Credit, Amount: nzd("1"),
		})
	}},
	{"idempotency_conflict", "key", func(p *ledger.Posting) { p.IdempotencyKey = "used" }},
	{"merchant_not_found", "merchant", func(p *ledger.Posting) { p.MerchantID = "nobody" }},
	{"settlement_account_missing", "merchant", func(p *ledger.Posting) {
		p.MerchantID = "unsettled"
		move(p, "rich", ledger.MerchantSettlement, usd("1"))
	}},
	{"account_not_found", "legs", func(p *ledger.Posting) { move(p, "rich", "nowhere", usd("1")) }},
	{"currency_mismatch", "legs", func(p *ledger.Posting) { move(p, "kiwi", "friend", usd("1")) }},
	{"account_closed", "legs", func(p *ledger.Posting) { move(p, "rich", "closed", usd("1")) }},
	{"account_frozen", "legs", func(p *ledger.Posting) { move(p, "rich", "frozen", usd("1")) }},
	{"balance_too_large", "legs", func(p *ledger.Posting) {
		move(p, "boundless", "full", usd("1"))
	}},
	{"insufficient_funds", "legs", func(p *ledger.Posting) { move(p, "poor", "friend", usd("1")) }},
}

// excludes are pairs of faults that cannot be in one posting: one removes the legs that the other
// adds.
func compatible(a, b fault) bool {
	if a.spot != "" && a.spot == b.spot && a.spot != "legs" {
		return false
	}
	for _, code := range []problem.Code{"too_few_legs", "too_many_legs"} {
		if (a.code == code || b.code == code) && a.spot == "legs" && b.spot == "legs" {
			return false
		}
	}
	// The merchant's account makes legs of its own.
	return a.code != "too_few_legs" || b.code != "settlement_account_missing"
}

func TestTheFirstProblemIsReported(t *testing.T) {
	b := booksWithFaults(t)
	good := func() ledger.Posting {
		p := transfer("rich", "friend", "5.50")
		p.Legs = p.Legs[:2:2]
		return p
	}
	try := func(want problem.Code, spoil ...fault) {
		t.Helper()
		p := good()
		names := []string{}
		for _, f := range spoil {
			f.spoil(&p)
			names = append(names, string(f.code))
		}
		before := b.balance("rich")
		_, err := b.Post(t.Context(), p)
		if got := code(err); got != want {
			t.Errorf("%s: got %s (%v), want %s", strings.Join(names, " and "), got, err, want)
		}
		b.wantBalance("rich", before)
	}
	for i, f := range faults {
		try(f.code, f)
		for _, later := range faults[i+1:] {
			if compatible(f, later) {
				// In either order of the legs: precedence is not the order of the request.
				try(f.code, f, later)
				if f.code != "too_few_legs" {
					try(f.code, later, f)
				}
			}
		}
	}
	b.sound()
}

// booksWithFaults returns books in which every problem of a posting can be met.
func booksWithFaults(t *testing.T) *books {
	b := openBooks(t, ledger.Options{})
	b.account("rich", usd("1000"))
	for _, id := range []ledger.AccountID{"friend", "poor", "frozen", "closed"} {
		b.account(id, usd("0"))
	}
	b.account("kiwi", nzd("100"))
	for _, id := range []ledger.AccountID{"boundless", "full"} {
		_, err := b.OpenAccount(t.Context(), ledger.NewAccount{
			ID: id, UserID: "u", AccountType: "x", Currency: "USD", Unlimited: true,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.post(ledger.TransferBetween("boundless", "full", long38))
	if _, err := b.FreezeAccount(t.Context(), "frozen"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CloseAccount(t.Context(), "closed"); err != nil {
		t.Fatal(err)
	}
	_, err := b.CreateMerchant(t.Context(), ledger.NewMerchant{ID: "unsettled", Name: "Stall"})
	if err != nil {
		t.Fatal(err)
	}
	b.post(keyed("used", transfer("rich", "friend", "1")))
	return b
}

func TestOfTwoLegsTheFirstIsReported(t *testing.T) {
	b := booksWithFaults(t)
	var p ledger.Posting
	p.Type = "transfer"
	move(&p, "rich", "nowhere-1", usd("1"))
	move(&p, "rich", "nowhere-2", usd("1"))
	_, err := b.Post(t.Context(), p)
	if got := problem.From(err).Details["account"]; got != "nowhere-1" {
		t.Errorf("got %v", err)
	}
	if got := problem.From(err).Fields[0].Name; got != "legs[1].accountId" {
		t.Errorf("field is %s", got)
	}
}

// What cannot be understood is told field by field, all at once.
func TestFieldsAreNamed(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	_, err := b.Post(t.Context(), ledger.Posting{
		Type: ledger.Reversal, Currency: "NZD",
		Legs: []ledger.PostingLeg{
			{AccountID: "", Type: ledger.Debit, Amount: usd("1")},
			{AccountID: "a b", Type: "sideways", Amount: money.Amount{}},
			{AccountID: ledger.MerchantSettlement, Type: ledger.Credit, Amount: usd("1")},
		},
	})
	wantProblem(t, err, ledger.ErrInvalidRequest)
	var got []string
	for _, f := range problem.From(err).Fields {
		got = append(got, f.Name)
	}
	want := []string{"type", "legs[0].accountId", "legs[1].accountId", "legs[1].type",
		"legs[1].currency", "merchantId", "currency"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
