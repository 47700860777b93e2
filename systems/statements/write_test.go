package statements

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// person returns a user on a database of their own, with four tags whose texts are their ids.
func person(t testing.TB) *Person {
	t.Helper()
	db := storetest.OpenFor(t, engine.Options{})
	b, err := New(singletable.NewStore(db, singletable.Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Model().Ensure(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	p, err := b.Person("someone")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		tag := Tag{UserID: p.id, ID: id, Text: id, Version: 1}
		if err := modelOf(p).tags.Create(t.Context(), p.store(), tag); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// anyRow draws a row with an id.
func anyRow(t *rapid.T, account, id string) *Transaction {
	amount, err := money.NewDecimal(int64(rapid.IntRange(-500, 500).Draw(t, "cents")), 2)
	if err != nil {
		t.Fatal(err)
	}
	row := &Transaction{AccountID: account, ID: id, Amount: amount,
		Date: Date(fmt.Sprintf("2025-%02d-%02d", rapid.IntRange(1, 3).Draw(t, "month"),
			rapid.IntRange(1, 28).Draw(t, "day"))),
		Currency: rapid.SampledFrom([]money.Currency{"NZD", "EUR"}).Draw(t, "currency"),
		Merchant: rapid.SampledFrom([]string{"", "Café", "Market"}).Draw(t, "merchant"),
		TagIDs: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2,
			rapid.ID).Draw(t, "tags"),
		Transfer: rapid.IntRange(0, 4).Draw(t, "transfer") == 0,
	}
	if rapid.IntRange(0, 3).Draw(t, "split") == 0 {
		row.Splits = []Split{{Amount: row.Amount, TagIDs: row.TagIDs}, {TagIDs: []string{"d"}}}
	}
	row.Tags = row.TagIDs
	for i := range row.Splits {
		row.Splits[i].Tags = row.Splits[i].TagIDs
	}
	return row
}

// TestSheetsAreWhatTheRowsAddUpTo makes, changes, moves and removes rows at random.
func TestSheetsAreWhatTheRowsAddUpTo(t *testing.T) {
	p := person(t)
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		account := fmt.Sprintf("account-%d", round)
		rows := map[string]*Transaction{}
		known := sheets{}
		for i := range rapid.IntRange(1, 12).Draw(t, "writes") {
			var changes []change
			for j := range rapid.IntRange(1, 3).Draw(t, "rows") {
				c := change{after: anyRow(t, account, fmt.Sprintf("txn-%d-%d", i, j))}
				if len(keysOf(rows, changes)) > 0 && rapid.Bool().Draw(t, "change") {
					ids := keysOf(rows, changes)
					c.before = rows[rapid.SampledFrom(ids).Draw(t, "row")]
					c.after.ID = c.before.ID
					if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
						c.after = nil
					}
				}
				changes = append(changes, c)
			}
			if rapid.Bool().Draw(t, "forget") {
				known = nil // Another process, which reads the sheets.
			}
			if err := p.rows().write(context.Background(), known, changes); err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				if c.before != nil {
					delete(rows, c.before.ID)
				}
				if c.after != nil {
					rows[c.after.ID] = c.after
				}
			}
		}
		want := sheets{}
		for _, row := range rows {
			at := placeOf(row)
			if want[at] == nil {
				want[at] = &Sheet{}
			}
			if err := want[at].count(row, 1); err != nil {
				t.Fatal(err)
			}
		}
		got, err := p.months().sheets(context.Background(), account, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			at := place{account, book.MonthOf(got[i].Month), got[i].Currency}
			wanted := Sheet{UserID: p.id, AccountID: account, Month: got[i].Month,
				Currency: got[i].Currency, Version: got[i].Version}
			if s := want[at]; s != nil {
				s.UserID, s.AccountID, s.Month = p.id, account, got[i].Month
				s.Currency, s.Version = got[i].Currency, got[i].Version
				wanted = *s
			}
			delete(want, at)
			if diff := cmp.Diff(wanted, got[i], cmp.Comparer(money.Decimal.Equal),
				cmp.Transformer("none", emptyIsNil)); diff != "" {
				t.Fatal(diff)
			}
		}
		if len(want) > 0 {
			t.Fatalf("sheets that are missing: %v", want)
		}
	})
}

// emptyIsNil makes a map without elements none.
func emptyIsNil(m map[string]Flow) []string {
	var out []string
	for name, f := range m {
		out = append(out, fmt.Sprint(name, f.In, f.Out, f.Count))
	}
	slices.Sort(out)
	return out
}

// keysOf are the rows that no change is about yet.
func keysOf(rows map[string]*Transaction, changes []change) []string {
	var ids []string
	for id := range rows {
		if !slices.ContainsFunc(changes, func(c change) bool {
			return c.before != nil && c.before.ID == id
		}) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestARowThatOthersChangedIsNotOverwritten(t *testing.T) {
	p := person(t)
	row := &Transaction{AccountID: "a", ID: "txn-1", Date: "2025-01-31", Currency: "NZD"}
	if err := p.rows().write(t.Context(), nil, []change{{after: row}}); err != nil {
		t.Fatal(err)
	}
	first, second := *row, *row
	first.Merchant, second.Merchant = "First", "Second"
	if err := p.rows().write(t.Context(), nil, []change{{before: row, after: &first}}); err != nil {
		t.Fatal(err)
	}
	err := p.rows().write(t.Context(), nil, []change{{before: row, after: &second}})
	if !errors.Is(err, errRaced) {
		t.Errorf("got %v", err)
	}
	if err := p.rows().write(t.Context(), nil, []change{{after: &second}}); !errors.Is(
		err,
		errRaced,
	) {
		t.Errorf("a second row with the id: %v", err)
	}
	sheets, err := p.months().sheets(t.Context(), "a", "", "")
	if err != nil || len(sheets) != 1 || sheets[0].All.Count != 1 ||
		len(sheets[0].Merchants) != 1 || sheets[0].Merchants["First"].Count != 1 {
		t.Errorf("sheets: %v %v", sheets, err)
	}
}

// TestATagIsWrittenOnlyAsItIs changes a tag between reading it and writing rows with it.
func TestATagIsWrittenOnlyAsItIs(t *testing.T) {
	p := person(t)
	row := func(id string, text string) *Transaction {
		return &Transaction{AccountID: "a", ID: id, Date: "2025-01-31", Currency: "NZD",
			TagIDs: []string{"a", "b"}, Tags: []string{text, "b"}}
	}
	write := func(before, after *Transaction) {
		t.Helper()
		changed := []change{{before: before, after: after}}
		if err := p.rows().write(t.Context(), nil, changed); err != nil {
			t.Fatal(err)
		}
	}
	has := func(t testing.TB, row *Transaction, want ...string) {
		t.Helper()
		got, err := p.TransactionOf(t.Context(), "a", row.Date, row.ID)
		if err != nil || !slices.Equal(got.Tags, want) || !slices.Equal(row.Tags, want) {
			t.Errorf("%s has %v, want %v: %v", row.ID, got.Tags, want, err)
		}
	}
	one, two := row("txn-1", "a"), row("txn-2", "an earlier text")
	write(nil, one)
	write(nil, two)
	has(t, two, "a", "b")

	if _, err := p.MergeTags(t.Context(), "a", "c", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.DeleteTag(t.Context(), "b", 0); err != nil {
		t.Fatal(err)
	}
	three := row("txn-3", "a")
	write(nil, three)
	has(t, three, "c")
	noted := one.Clone()
	noted.Notes = "The row had the tags before, and a job is to change them"
	write(one, noted)
	has(t, noted, "a", "b")
	moved := noted.Clone()
	moved.Date = "2025-02-01"
	write(noted, moved)
	has(t, moved, "c")
	sheets, err := p.months().sheets(t.Context(), "a", "2025-02-01", "2025-02-01")
	if err != nil || len(sheets) != 1 || len(sheets[0].Tags) != 1 ||
		sheets[0].Tags["c"].Count != 1 {
		t.Errorf("totals: %v %v", sheets, err)
	}
}

// TestAWriteThatIsTooLargeIsDivided has more tags and more bytes than a transaction of the store.
func TestAWriteThatIsTooLargeIsDivided(t *testing.T) {
	p := person(t)
	var changes []change
	for i := range rowsOfOneWrite {
		id := fmt.Sprintf("tag-%d", i)
		tag := Tag{UserID: p.id, ID: id, Text: id, Version: 1}
		if err := modelOf(p).tags.Create(t.Context(), p.store(), tag); err != nil {
			t.Fatal(err)
		}
		changes = append(changes, change{
			after: &Transaction{AccountID: "a", ID: fmt.Sprintf("txn-%d", i), Date: "2025-01-31",
				Currency: "NZD", TagIDs: []string{id}, Tags: []string{id},
				Notes: strings.Repeat("x", 100<<10)},
			entryAfter: &Entry{UserID: p.id, AccountID: "a", Month: book.MonthNone,
				ID: fmt.Sprintf("txn-%d", i), State: Live, Date: "2025-01-31"},
		})
	}
	mores := 0
	more := func(*singletable.Tx) { mores++ }
	if err := p.rows().write(t.Context(), nil, changes, more); err != nil {
		t.Fatal(err)
	}
	got, err := p.months().sheets(t.Context(), "a", "", "")
	if err != nil || len(got) != 1 || got[0].All.Count != rowsOfOneWrite ||
		len(got[0].Tags) != rowsOfOneWrite || mores == 0 {
		t.Errorf("sheets: %v %v, more was asked %d times", got, err, mores)
	}
}
