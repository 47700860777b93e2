package statements

import (
	"fmt"
	"sync"
	"testing"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestImportsOfOneUploadAtOnceBringEachRowOnce also imports the same rows from a second file at the
// same time.
func TestImportsOfOneUploadAtOnceBringEachRowOnce(t *testing.T) {
	i := newIntake(t)
	var lines []string
	for n := range 150 {
		lines = append(lines, fmt.Sprintf("2025-%02d-%02d,-%d.00,Shop %d", 6+n%3, 1+n%28, n, n%7))
	}
	file := csvFile(lines...)
	for _, name := range []string{"one", "two"} {
		i.upload("a", name, file)
		if _, err := i.p.Preview(t.Context(), "a", name, nil); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		wg.Go(func() {
			name := []string{"one", "two"}[n%2]
			_, errs[n] = i.p.Import(t.Context(), "a", name, ImportOptions{})
		})
	}
	wg.Wait()
	// Who is overtaken may be told so; the rows are what counts.
	for n, err := range errs {
		t.Logf("import %d: %v", n, err)
	}
	for _, name := range []string{"one", "two"} {
		if _, err := i.p.Import(t.Context(), "a", name, ImportOptions{}); err != nil {
			t.Fatalf("%s once more: %v", name, err)
		}
	}
	if n := len(i.rows("a")); n != len(lines) {
		t.Errorf("%d rows, want %d", n, len(lines))
	}
	i.adds("a")
	if _, err := i.p.Undo(t.Context(), "a", "one", UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := i.p.Undo(t.Context(), "a", "two", UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if left := i.lines("a"); len(left) > 0 {
		t.Errorf("left after both were undone: %q", left)
	}
	i.adds("a")
}

// mt is a report in MT940 or, interim, in MT942.
func mt(interim bool, opening, closing string, rows ...string) string {
	text := ":20:1\n:25:11-1\n:28C:1/1\n"
	if interim {
		text += ":34F:NZD0,\n:13D:2507021200+0000\n"
	} else {
		text += ":60F:C250701NZD" + opening + "\n"
	}
	for _, row := range rows {
		text += row + "\n"
	}
	if !interim {
		text += ":62F:C250702NZD" + closing + "\n"
	}
	return text + "-\n"
}

func TestWhatAnInterimReportTellsIsBookedOnce(t *testing.T) {
	first := []string{":61:2507010701D5,00NMSCA1", ":86:Shop",
		":61:2507020702D7,50NMSCA2", ":86:Fuel"}
	interim := mt(true, "", "", first...)
	booked := mt(false, "100,00", "87,50", first...)
	t.Run("the interim report first", func(t *testing.T) {
		i := newIntake(t)
		i.counts("interim", i.bring("a", "1", interim), Counts{New: 2})
		for _, row := range i.rows("a") {
			if !row.Pending {
				t.Errorf("%s is booked", row.Text)
			}
		}
		i.counts("booked", i.bring("a", "2", booked), Counts{Merged: 2})
		if got := len(i.rows("a")); got != 2 {
			t.Errorf("%d rows", got)
		}
	})
	t.Run("the statement first", func(t *testing.T) {
		i := newIntake(t)
		i.counts("booked", i.bring("a", "1", booked), Counts{New: 2})
		i.counts("interim", i.bring("a", "2", interim), Counts{Known: 2})
		for _, row := range i.rows("a") {
			if row.Pending {
				t.Errorf("%s is pending", row.Text)
			}
		}
	})
}

func TestAStatementThatDoesNotGoOnWhereTheLastOneEndedIsTold(t *testing.T) {
	i := newIntake(t)
	row := func(day, cents string) string {
		return ":61:25" + day + day + "D" + cents + "NMSC" + day
	}
	i.bring("a", "1", mt(false, "100,00", "95,00", row("0701", "5,00")))
	i.bring("a", "2", mt(false, "95,00", "94,00", row("0702", "1,00")))
	i.bring("a", "3", mt(false, "90,00", "88,00", row("0704", "2,00")))
	for name, want := range map[string]Continuity{"1": "", "2": Continues, "3": Gap} {
		if u, err := i.p.UploadOf(t.Context(), "a", name); err != nil || u.Continuity != want {
			t.Errorf("upload %s: %q, want %q, %v", name, u.Continuity, want, err)
		}
	}
}

// startOf makes a user with many accounts and tags.
func startOf(t testing.TB, accounts, tags int) *Person {
	t.Helper()
	p := person(t)
	for n := range accounts {
		err := modelOf(p).accounts.Put(t.Context(), p.store(), Account{UserID: p.id, Version: 1,
			ID: fmt.Sprintf("account-%026d", n), Name: fmt.Sprintf("Account %d", n),
			Currency: "NZD", CreatedAt: p.now(), UpdatedAt: p.now()})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range tags {
		err := modelOf(p).tags.Create(t.Context(), p.store(), Tag{UserID: p.id, Version: 1,
			ID: fmt.Sprintf("tag-%026d", n), Text: fmt.Sprintf("Tag %d", n), CreatedAt: p.now()})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestTheStartOfAHundredAccountsAndAThousandTagsInUnits(t *testing.T) {
	p := startOf(t, 100, 1000)
	ctx, meter := singletable.WithMeter(t.Context())
	start, err := p.Start(ctx)
	if err != nil || len(start.Accounts) != 100 || len(start.Tags) < 1000 {
		t.Fatalf("%d accounts, %d tags, %v", len(start.Accounts), len(start.Tags), err)
	}
	if storetest.Strict() {
		t.Skip("a strict store divides pages")
	}
	// About 150 KB in units of 4 KB, read consistently.
	if meter.Calls() != 1 || meter.Read() > 50 {
		t.Errorf("%d calls, %v units", meter.Calls(), meter.Read())
	}
	t.Logf("%d calls, %v read units", meter.Calls(), meter.Read())
}

func BenchmarkStart(b *testing.B) {
	p := startOf(b, 100, 1000)
	for b.Loop() {
		if _, err := p.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
