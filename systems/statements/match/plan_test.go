package match_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/match"
	"github.com/exchequer-dev/exchequer/systems/statements/parsed"
)

// file is a source of rows in memory. Rows of statement 1 are of a different account.
type file []bankfile.Row

func (f file) Each(
	_ context.Context, take func(no int, row *parsed.Row) error,
) ([]bankfile.Total, error) {
	for no, row := range f {
		if err := take(no, &parsed.Row{Row: row}); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (file) IsOurs(statement int) bool { return statement == 0 }
func (file) IsFinal(int) bool          { return true }
func (file) Why(int) string            { return "it is of a different account" }

func movement(day int, amount int64, name, id string) bankfile.Row {
	return bankfile.Row{Outcome: bankfile.Read, Line: day, Entry: bankfile.Entry{
		Date: bankfile.Date(fmt.Sprintf("2025-07-%02d", day)), Currency: "NZD",
		Amount: money.DecimalFromInt(amount), Name: name, BankID: id, UniqueID: id != ""}}
}

// decide returns the verdicts of a file, and the deeds, and adds what the file brings to the rows
// that are known.
func decide(t *testing.T, k *match.KnownRows, upload string, f file) (lines []string) {
	t.Helper()
	pl, err := match.NewPlan(t.Context(), f, k, match.Options{Currency: "NZD",
		Base: book.Transaction{UserID: "u", AccountID: "a", UploadID: upload}})
	if err != nil {
		t.Fatal(err)
	}
	var rows []*match.Row
	err = pl.Walk(t.Context(), func(r *match.Row) error {
		line := fmt.Sprint(r.Verdict, " ", r.Do)
		if r.Target != "" {
			line += " of " + r.Target
		}
		lines, rows = append(lines, line), append(rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Do != match.Create {
			continue
		}
		k.Add(&book.Entry{ID: r.As, State: book.Live, Date: r.Row.Date, Amount: r.Row.Amount,
			Currency: r.Row.Currency, Pending: r.Row.Pending, UploadID: upload, BankKey: r.Bank,
			Content: r.Content, Payee: book.ShortPayee(r.Row.Merchant)}, "")
	}
	return lines
}

func TestWhatRowsOfAFileBecome(t *testing.T) {
	pending := movement(5, -20, "Market", "")
	pending.Entry.Pending = true
	var keys bankfile.Keys
	pendingID := book.RowID("a", "2025-07-05",
		"content\x00"+book.KeyHash(keys.Of("", pending.Entry).Content))
	typed := book.Entry{ID: book.RowID("a", "2025-07-09", "typed"), State: book.Live,
		Date: "2025-07-09", Amount: money.DecimalFromInt(-50), Currency: "NZD",
		Source: book.FromPerson, Payee: "bookshop"}
	other := movement(6, -1, "Elsewhere", "")
	other.Statement = 1
	newRow := fmt.Sprint(match.New, " ", match.Create)
	known := fmt.Sprint(match.Known, " ", match.Nothing)
	for name, c := range map[string]struct {
		before []file
		typed  bool
		file   file
		want   []string
	}{
		"equal rows of a day are all kept": {nil, false,
			file{movement(1, -4, "Coffee", ""), movement(1, -4, "Coffee", "")},
			[]string{newRow, newRow}},
		"rows of an earlier file are known, the next equal one is new": {
			[]file{{movement(1, -4, "Coffee", ""), movement(1, -4, "Coffee", "")}}, false,
			file{movement(1, -4, "Coffee", ""), movement(1, -4, "Coffee", ""),
				movement(1, -4, "Coffee", "")},
			[]string{known, known, newRow}},
		"an id of the bank is known with a different text": {
			[]file{{movement(1, -4, "Coffee", "x1")}}, false,
			file{movement(1, -4, "COFFEE HOUSE 12", "x1")}, []string{known}},
		"an id that is used again is a new row": {
			[]file{{movement(1, -4, "Coffee", "1")}}, false,
			file{movement(20, -9, "Bar", "1")}, []string{newRow}},
		"a pending row becomes the booked one, with a tip": {
			[]file{{pending}}, false,
			file{movement(7, -22, "Market", "")},
			[]string{fmt.Sprint(match.Merged, " ", match.Merge, " of ", pendingID)}},
		"a typed row becomes that of the bank": {nil, true,
			file{movement(10, -50, "Bookshop", "")},
			[]string{fmt.Sprint(match.Merged, " ", match.Merge, " of ", typed.ID)}},
		"a typed row of a far day does not": {nil, true,
			file{movement(28, -50, "Bookshop", "")}, []string{newRow}},
		"rows of a different account are skipped": {nil, false, file{other},
			[]string{fmt.Sprint(match.Skipped, " ", match.Nothing)}},
	} {
		t.Run(name, func(t *testing.T) {
			k := match.NewKnownRows()
			if c.typed {
				k.Add(&typed, "")
			}
			for i, f := range c.before {
				decide(t, k, fmt.Sprint("before ", i), f)
			}
			got := decide(t, k, "now", c.file)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
