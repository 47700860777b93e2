package bankfile_test

import (
	"slices"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// signLayouts are the ways in which banks say what came in and what went out: the names of the
// columns, and the cells of one amount of cents.
var signLayouts = map[string]struct {
	header string
	cells  func(n int64) string
}{
	"one signed column": {"Amount", cents},
	"debit and credit": {"Debit,Credit", func(n int64) string {
		if n < 0 {
			return cents(-n) + ","
		}
		return "," + cents(n)
	}},
	"debit and credit with zeros": {"Paid out,Paid in", func(n int64) string {
		if n < 0 {
			return cents(-n) + ",0.00"
		}
		return "0.00," + cents(n)
	}},
	"debit with signs, and credit": {"Debit,Credit", func(n int64) string {
		if n < 0 {
			return cents(n) + ","
		}
		return "," + cents(n)
	}},
	"debit, and credit with signs": {"Debit,Credit", func(n int64) string {
		if n < 0 {
			return cents(-n) + ","
		}
		return "," + cents(-n)
	}},
	"a signed column beside debit and credit": {"Amount (credit),Amount (debit),Amount",
		func(n int64) string {
			if n < 0 {
				return "," + cents(-n) + "," + cents(n)
			}
			return cents(n) + ",," + cents(n)
		}},
	"a letter before": {"D/C,Amount", func(n int64) string {
		if n < 0 {
			return "D," + cents(-n)
		}
		return "C," + cents(n)
	}},
	"a letter that repeats the sign": {"D/C,Amount", func(n int64) string {
		if n < 0 {
			return "D," + cents(n)
		}
		return "C," + cents(n)
	}},
	"a word behind": {"Amount,Type", func(n int64) string {
		if n < 0 {
			return cents(-n) + ",Debit"
		}
		return cents(n) + ",Credit"
	}},
	"D and C in the cell": {"Amount", func(n int64) string {
		if n < 0 {
			return cents(-n) + " D"
		}
		return cents(n) + " C"
	}},
	"DR and CR before": {"Amount", func(n int64) string {
		if n < 0 {
			return "DR " + cents(-n)
		}
		return "CR " + cents(n)
	}},
	"DR and CR in the cell": {"Amount", func(n int64) string {
		if n < 0 {
			return cents(-n) + " DR"
		}
		return cents(n) + " CR"
	}},
}

// However a bank writes signs, money out is negative and money in is not, from either end of the
// file, and the balances agree.
func TestSignsOfEveryHabitComeBack(t *testing.T) {
	for name, layout := range signLayouts {
		t.Run(name, func(t *testing.T) {
			random := seeded(t)
			for range 30 * int(rounds()) {
				// Four of each kind, so that the habit shows.
				amounts := []int64{-101, -202, -303, -404, 505, 606, 707, 808}
				for range random.IntN(10) {
					amounts = append(amounts, random.Int64N(20_000)-10_000)
				}
				random.Shuffle(len(amounts), func(i, j int) {
					amounts[i], amounts[j] = amounts[j], amounts[i]
				})
				balance := random.Int64N(10_000) - 5_000
				opening := balance
				var rows []string
				for _, n := range amounts {
					balance += n
					rows = append(rows, "2024-05-06,Shop,"+layout.cells(n)+","+cents(balance))
				}
				if random.IntN(2) == 0 {
					slices.Reverse(rows)
					slices.Reverse(amounts)
				}
				rows = append([]string{"Date,Payee," + layout.header + ",Balance"}, rows...)
				checkSigns(t, table(rows...), amounts, opening, balance)
			}
		})
	}
}

func checkSigns(t *testing.T, text string, amounts []int64, opening, closing int64) {
	t.Helper()
	r, err := read(text, bankfile.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(r.rows) != len(amounts) || len(r.entries()) != len(amounts) {
		t.Fatalf("%q\n%s", r.brief(), text)
	}
	for i, e := range r.entries() {
		if want := decimal(t, amounts[i]); e.Amount != want {
			t.Fatalf("row %d is %s, not %s\n%s", i+1, e.Amount, want, text)
		}
	}
	total := r.totals[0]
	if !total.Checked || !total.Agrees || total.Opening.Amount != decimal(t, opening) ||
		total.Closing.Amount != decimal(t, closing) {
		t.Fatalf("total %+v, opening %+v, closing %+v\n%s", total, total.Opening, total.Closing,
			text)
	}
}

// decimal is a number of cents.
func decimal(t *testing.T, n int64) money.Decimal {
	t.Helper()
	d, err := money.NewDecimal(n, 2)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
