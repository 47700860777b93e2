package statements

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// reportText writes spending as lines.
func reportText(s Spending) []string {
	var out []string
	for _, c := range s.Currencies {
		out = append(out, fmt.Sprintf("%s total %s", c.Currency, flowText(c.Total)))
		for _, one := range c.Series {
			line := fmt.Sprintf("%s %s %q %s:", c.Currency, one.Kind, one.Label,
				flowText(one.Total))
			for _, f := range one.Flows {
				line += fmt.Sprintf(" %s/%s", f.In, f.Out)
			}
			out = append(out, line)
		}
	}
	return out
}

func spendingShelf(t *testing.T, opts Options) *Person {
	p := newShelf(t, opts).user(t, "someone", "a", "b")
	put(t, p,
		Transaction{AccountID: "a", Date: "2026-01-05", Amount: dec("-30.50"), Merchant: "Market",
			TagIDs: []string{"food"}},
		Transaction{AccountID: "b", Date: "2026-01-31", Amount: dec("-9.50"), Merchant: "Market",
			TagIDs: []string{"food", "party"}},
		Transaction{AccountID: "a", Date: "2026-01-06", Amount: dec("-200"), Transfer: true},
		Transaction{AccountID: "b", Date: "2026-01-06", Amount: dec("200"), Transfer: true},
		Transaction{AccountID: "a", Date: "2026-03-01", Amount: dec("-100"), Merchant: "Store",
			Splits: []Split{{Amount: dec("-60"), TagIDs: []string{"home"}}, {Amount: dec("-40")}}},
		Transaction{AccountID: "a", Date: "2026-03-31", Amount: dec("4"), Merchant: "Market",
			TagIDs: []string{"food"}},
		Transaction{AccountID: "a", Date: "2026-03-20", Amount: dec("1500")},
		Transaction{AccountID: "a", Date: "2026-03-21", Amount: dec("-20"), Currency: "EUR",
			Merchant: "Hotel", TagIDs: []string{"trip"}},
		Transaction{AccountID: "a", Date: "2026-04-01", Amount: dec("-777")})
	return p
}

func TestSpendingIsDividedByTagMerchantAndAccount(t *testing.T) {
	p := spendingShelf(t, Options{})
	for _, c := range []struct {
		q    SpendingQuery
		want []string
	}{
		{SpendingQuery{}, []string{
			`EUR total 0 -20 (1)`,
			`EUR tag "Tag trip" 0 -20 (1): 0/0 0/0 0/-20`,
			`NZD total 1504 -140 (5)`,
			`NZD tag "Tag home" 0 -60 (1): 0/0 0/0 0/-60`,
			`NZD untagged "" 1500 -40 (2): 0/0 0/0 1500/-40`,
			`NZD tag "Tag food" 4 -40 (3): 0/-40 0/0 4/0`,
			`NZD tag "Tag party" 0 -9.5 (1): 0/-9.5 0/0 0/0`,
		}},
		{SpendingQuery{By: ByMerchant, Accounts: []string{"a"}, Top: 1}, []string{
			`EUR total 0 -20 (1)`,
			`EUR merchant "Hotel" 0 -20 (1): 0/0 0/0 0/-20`,
			`NZD total 1504 -130.5 (4)`,
			`NZD merchant "Store" 0 -100 (1): 0/0 0/0 0/-100`,
			`NZD others "" 1504 -30.5 (3): 0/-30.5 0/0 1504/0`,
		}},
		{SpendingQuery{By: ByAccount, Top: 2}, []string{
			`EUR total 0 -20 (1)`,
			`EUR account "A" 0 -20 (1): 0/0 0/0 0/-20`,
			`NZD total 1504 -140 (5)`,
			`NZD account "A" 1504 -130.5 (4): 0/-30.5 0/0 1504/-100`,
			`NZD account "B" 0 -9.5 (1): 0/-9.5 0/0 0/0`,
		}},
	} {
		c.q.From, c.q.To = "2026-01-15", "2026-03-15" // Whole months, whatever the days.
		got, err := p.Spending(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Months, []string{"2026-01", "2026-02", "2026-03"}) {
			t.Errorf("months %v", got.Months)
		}
		if diff := cmp.Diff(c.want, reportText(got)); diff != "" {
			t.Errorf("by %s: %s", c.q.By, diff)
		}
	}
}

func TestSpendingReadsOneLotOfSheetsAnAccount(t *testing.T) {
	p := spendingShelf(t, Options{})
	ctx, meter := singletable.WithMeter(t.Context())
	if _, err := p.Spending(ctx, SpendingQuery{From: "2016-05-01", To: "2026-04-30"}); err != nil {
		t.Fatal(err)
	}
	if !storetest.Strict() && meter.Calls() != 3 {
		t.Errorf("%d calls for ten years of two accounts", meter.Calls())
	}
}

// ratesOfTest are euros in dollars; there is none before February.
func ratesOfTest(asked map[Date]int) RateOf {
	return func(ctx context.Context, from, to money.Currency, on Date) (Quote, error) {
		asked[on]++
		if on < "2026-02-01" {
			return Quote{}, ErrNoRate.With("date", on)
		}
		rate := "2"
		if on >= "2026-03-01" {
			rate = "1.815"
		}
		return Quote{Rate: dec(rate), Of: on}, nil
	}
}

func TestEachRowIsConvertedAtTheRateOfItsDay(t *testing.T) {
	asked := map[Date]int{}
	p := spendingShelf(t, Options{Rate: ratesOfTest(asked)})
	euros := func(date Date, amount, tag string, parts ...Split) Transaction {
		t := Transaction{AccountID: "b", Date: date, Amount: dec(amount), Currency: "EUR",
			Splits: parts}
		if tag != "" {
			t.TagIDs = []string{tag}
		}
		return t
	}
	put(t, p, euros("2026-01-10", "-99", "trip"), euros("2026-01-09", "1", "trip"),
		euros("2026-02-10", "-10", "trip"), euros("2026-02-10", "-1", "trip"),
		euros("2026-03-21", "-1.11", "", Split{Amount: dec("-0.37"), TagIDs: []string{"trip"}},
			Split{Amount: dec("-0.37"), TagIDs: []string{"food"}}, Split{Amount: dec("-0.37")}))
	got, err := p.Spending(t.Context(),
		SpendingQuery{From: "2026-01-01", To: "2026-03-01", Currency: "NZD"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		// 1.11 at 1.815 is 2.01; the parts are 0.67, 0.67 and what remains.
		`NZD total 1504 -200.31 (9)`,
		`NZD tag "Tag home" 0 -60 (1): 0/0 0/0 0/-60`,
		`NZD tag "Tag trip" 0 -58.97 (4): 0/0 0/-22 0/-36.97`,
		`NZD untagged "" 1500 -40.67 (3): 0/0 0/0 1500/-40.67`,
		`NZD tag "Tag food" 4 -40.67 (4): 0/-40 0/0 4/-0.67`,
		`NZD tag "Tag party" 0 -9.5 (1): 0/-9.5 0/0 0/0`,
	}
	if diff := cmp.Diff(want, reportText(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[Date]int{"2026-01-09": 1, "2026-01-10": 1, "2026-02-10": 1,
		"2026-03-21": 1}, asked); diff != "" {
		t.Errorf("each day is asked once: %s", diff)
	}
	wantConverted := &Conversion{To: "NZD",
		Rates: []UsedRate{
			{From: "EUR", On: "2026-02-10", Rows: 2,
				Quote: Quote{Rate: dec("2"), Of: "2026-02-10"}},
			{From: "EUR", On: "2026-03-21", Rows: 2,
				Quote: Quote{Rate: dec("1.815"), Of: "2026-03-21"}},
		},
		Unrated: []Unrated{{Currency: "EUR", Month: "2026-01", First: "2026-01-09",
			Flow: Flow{dec("1"), dec("-99"), 2}}},
	}
	if diff := cmp.Diff(wantConverted, got.Converted,
		cmp.Comparer(money.Decimal.Equal)); diff != "" {
		t.Error(diff)
	}
}

func TestCashFlowSetsTransfersApart(t *testing.T) {
	p := spendingShelf(t, Options{Rate: ratesOfTest(map[Date]int{})})
	text := func(c CashFlow) []string {
		var out []string
		line := func(label string, m MonthFlow) string {
			return fmt.Sprintf("%s %s %s = %s (%d), moved %s", label, m.In, m.Out, m.Net, m.Count,
				flowText(m.Transfers))
		}
		for _, of := range c.Currencies {
			out = append(out, line(string(of.Currency), of.Total))
			for i, m := range of.Months {
				out = append(out, line(c.Months[i], m))
			}
			for _, a := range of.Accounts {
				out = append(out, line(a.Label, a.Total))
			}
		}
		return out
	}
	got, err := p.CashFlow(t.Context(), CashFlowQuery{From: "2026-01-01", To: "2026-03-31"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"EUR 0 -20 = -20 (1), moved 0 0 (0)",
		"2026-01 0 0 = 0 (0), moved 0 0 (0)",
		"2026-02 0 0 = 0 (0), moved 0 0 (0)",
		"2026-03 0 -20 = -20 (1), moved 0 0 (0)",
		"A 0 -20 = -20 (1), moved 0 0 (0)",
		"NZD 1504 -140 = 1364 (5), moved 200 -200 (2)",
		"2026-01 0 -40 = -40 (2), moved 200 -200 (2)",
		"2026-02 0 0 = 0 (0), moved 0 0 (0)",
		"2026-03 1504 -100 = 1404 (3), moved 0 0 (0)",
		"A 1504 -130.5 = 1373.5 (4), moved 0 -200 (1)",
		"B 0 -9.5 = -9.5 (1), moved 200 0 (1)",
	}, text(got)); diff != "" {
		t.Error(diff)
	}
	got, err = p.CashFlow(t.Context(), CashFlowQuery{From: "2026-03-01", To: "2026-03-31",
		Accounts: []string{"a"}, Currency: "NZD"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"NZD 1504 -136.3 = 1367.7 (4), moved 0 0 (0)",
		"2026-03 1504 -136.3 = 1367.7 (4), moved 0 0 (0)",
		"A 1504 -136.3 = 1367.7 (4), moved 0 0 (0)",
	}, text(got)); diff != "" || len(got.Converted.Rates) != 1 {
		t.Error(diff, got.Converted)
	}
}

// TestReportsAreWhatTheRowsAddUpTo sums random rows up by hand.
func TestReportsAreWhatTheRowsAddUpTo(t *testing.T) {
	shelf := newShelf(t, Options{})
	round := 0
	rounds(t, 30)
	rapid.Check(t, func(r *rapid.T) {
		round++
		p := shelf.user(t, fmt.Sprintf("user-%d", round), "a", "b")
		var rows []Transaction
		for i := range rapid.IntRange(0, 20).Draw(r, "rows") {
			account := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "account")
			rows = append(rows, *anyRow(r, account, fmt.Sprintf("t%d", i)))
		}
		put(r, p, rows...)
		want := map[string]money.Decimal{}
		add := func(of string, t *Transaction, amount money.Decimal) {
			key := fmt.Sprintf("%s %s %s in=%t", of, t.Currency, book.MonthOf(t.Date),
				amount.Sign() >= 0)
			sum, err := want[key].Add(amount)
			if err != nil {
				r.Fatal(err)
			}
			if want[key] = sum; sum.IsZero() {
				delete(want, key)
			}
		}
		for i := range rows {
			row := &rows[i]
			if row.Transfer {
				continue
			}
			add("total", row, row.Amount)
			parts := row.Splits
			if len(parts) == 0 {
				parts = []Split{{Amount: row.Amount, TagIDs: row.TagIDs}}
			}
			for _, part := range parts {
				for _, tag := range part.TagIDs {
					add("tag "+tag, row, part.Amount)
				}
				if len(part.TagIDs) == 0 {
					add("untagged ", row, part.Amount)
				}
			}
		}
		s, err := p.Spending(context.Background(),
			SpendingQuery{From: "2024-12-01", To: "2025-04-30"})
		if err != nil {
			r.Fatal(err)
		}
		got := map[string]money.Decimal{}
		take := func(of string, currency money.Currency, flows []Flow) {
			for i, f := range flows {
				for _, amount := range []money.Decimal{f.In, f.Out} {
					if !amount.IsZero() {
						got[fmt.Sprintf("%s %s %s in=%t", of, currency, s.Months[i],
							amount.Sign() > 0)] = amount
					}
				}
			}
		}
		for _, c := range s.Currencies {
			take("total", c.Currency, c.Flows)
			for _, series := range c.Series {
				take(string(series.Kind)+" "+series.ID, c.Currency, series.Flows)
			}
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(money.Decimal.Equal)); diff != "" {
			r.Fatal(diff)
		}
	})
}

func TestReportsAreRefusedInWords(t *testing.T) {
	p := spendingShelf(t, Options{})
	ctx := t.Context()
	days := SpendingQuery{From: "2026-01-01", To: "2026-03-31"}
	for name, c := range map[string]struct {
		change func(*SpendingQuery)
		want   error
	}{
		"a day that is none": {func(q *SpendingQuery) { q.To = "2026-02-30" }, ErrInvalid},
		"too long":           {func(q *SpendingQuery) { q.From = "2010-01-01" }, ErrRangeTooLong},
		"by what":            {func(q *SpendingQuery) { q.By = "colour" }, ErrInvalid},
		"top":                {func(q *SpendingQuery) { q.Top = -1 }, ErrInvalid},
		"no currency":        {func(q *SpendingQuery) { q.Currency = "XQQ" }, ErrInvalid},
		"no rates at all":    {func(q *SpendingQuery) { q.Currency = "NZD" }, ErrInvalid},
		"no account":         {func(q *SpendingQuery) { q.Accounts = []string{"c"} }, ErrNoAccount},
	} {
		q := days
		c.change(&q)
		if _, err := p.Spending(ctx, q); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
		if q.By != "" || q.Top != 0 {
			continue
		}
		_, err := p.CashFlow(ctx, CashFlowQuery{q.From, q.To, q.Accounts, q.Currency})
		if !errors.Is(err, c.want) {
			t.Errorf("cash flow, %s: got %v", name, err)
		}
	}
}
