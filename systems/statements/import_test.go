package statements

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/exchequer-dev/exchequer/bankfile"
)

func TestEqualRowsOfADayAreKeptAndKnownAgain(t *testing.T) {
	i := newIntake(t)
	file := csvFile("2025-07-01,-1.00,Coffee", "2025-07-01,-1.00,Coffee", "2025-07-01,-1.00,Coffee")
	i.counts("three coffees", i.bring("a", "first", file), Counts{New: 3})
	i.counts("the same file", i.bring("a", "second", file), Counts{Known: 3})
	overlap := csvFile("2025-07-01,-1.00,Coffee", "2025-07-01,-1.00,Coffee",
		"2025-07-01,-1.00,Coffee", "2025-07-02,-1.00,Coffee")
	i.counts("a longer file", i.bring("a", "third", overlap), Counts{New: 1, Known: 3})
	i.counts("another account", i.bring("b", "fourth", file), Counts{New: 3})
	if n := len(i.rows("a")); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}

func TestIdsOfTheBankAreOfOneAccount(t *testing.T) {
	i := newIntake(t)
	i.counts("a", i.bring("a", "1", ofxFile("11-1", "X1,20250701,-5.00,Shop")), Counts{New: 1})
	i.counts("b", i.bring("b", "2", ofxFile("22-2", "X1,20250701,-5.00,Shop")), Counts{New: 1})
	i.counts("a again", i.bring("a", "3", ofxFile("11-1", "X1,20250701,-5.00,SHOP AUCKLAND")),
		Counts{Known: 1})
}

func TestARowAndItsFeeWithOneIdAreTwoRows(t *testing.T) {
	i := newIntake(t)
	both := ofxFile("11-1", "X1,20250701,-50.00,Hotel", "X1,20250701,-1.25,Card fee")
	i.counts("both", i.bring("a", "1", both), Counts{New: 2})
	i.counts("both again", i.bring("a", "2", both), Counts{Known: 2})
	i.counts("the purchase alone", i.bring("a", "3", ofxFile("11-1", "X1,20250701,-50.00,Hotel")),
		Counts{Known: 1})
	j := newIntake(t)
	j.counts("first alone", j.bring("a", "1", ofxFile("11-1", "X1,20250701,-50.00,Hotel")),
		Counts{New: 1})
	j.counts("then both", j.bring("a", "2", both), Counts{New: 1, Known: 1})
}

func TestIdsThatTheBankCountsAnewSayNothing(t *testing.T) {
	i := newIntake(t)
	i.counts("the first file", i.bring("a", "1", ofxFile("11-1", "1,20250701,-5.00,Shop",
		"2,20250702,-6.00,Market")), Counts{New: 2})
	i.counts("the second file", i.bring("a", "2", ofxFile("11-1", "1,20250715,-7.00,Garage",
		"2,20250716,-8.00,Chemist")), Counts{New: 2})
	i.counts("changed ids", i.bring("a", "3", ofxFile("11-1", "71,20250701,-5.00,Shop",
		"72,20250702,-6.00,Market", "73,20250715,-7.00,Garage")), Counts{Known: 3})
}

// statusFile makes a file of rows "2025-07-01,-5.00,Coffee,pending,id".
func statusFile(rows ...string) string {
	return "Date,Amount,Description,Status,Transaction ID\n" + strings.Join(rows, "\n") + "\n"
}

func TestIdsOfPendingRowsThatTheBankCountsAnewSayNothing(t *testing.T) {
	for name, test := range map[string]struct {
		deleted bool
		second  []string
		want    Counts
		left    []string
	}{
		"pending": {false, []string{"2025-07-02,-1000.00,Rent,pending,1"}, Counts{New: 1},
			[]string{"2025-07-01 -10 Shop pending", "2025-07-02 -1000 Rent pending"}},
		"pending with the first one": {false, []string{"2025-07-02,-1000.00,Rent,pending,1",
			"2025-07-01,-10.00,Shop,pending,2"}, Counts{New: 1, Known: 1},
			[]string{"2025-07-01 -10 Shop pending", "2025-07-02 -1000 Rent pending"}},
		"booked": {false, []string{"2025-07-02,-1000.00,Rent,booked,1",
			"2025-07-01,-10.00,Shop,booked,2"}, Counts{New: 1, Merged: 1},
			[]string{"2025-07-01 -10 Shop", "2025-07-02 -1000 Rent"}},
		"booked after the pending one was deleted": {true, []string{
			"2025-07-02,-1000.00,Rent,booked,1"}, Counts{New: 1},
			[]string{"2025-07-02 -1000 Rent"}},
		"the same shop on another day": {false, []string{"2025-07-02,-11.00,Shop,pending,1"},
			Counts{New: 1},
			[]string{"2025-07-01 -10 Shop pending", "2025-07-02 -11 Shop pending"}},
		"the same shop and amount much later": {false, []string{
			"2025-07-15,-10.00,Shop,pending,1"}, Counts{New: 1},
			[]string{"2025-07-01 -10 Shop pending", "2025-07-15 -10 Shop pending"}},
		"money in of about that amount": {false, []string{"2025-07-02,11.00,Rent,booked,1"},
			Counts{New: 1}, []string{"2025-07-01 -10 Shop pending", "2025-07-02 11 Rent"}},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			i.bring("a", "1", statusFile("2025-07-01,-10.00,Shop,pending,1"))
			if test.deleted {
				at := At{AccountID: "a", ID: i.rows("a")[0].ID}
				if err := i.p.DeleteTransaction(t.Context(), at, 0); err != nil {
					t.Fatal(err)
				}
			}
			i.counts("the second file", i.bring("a", "2", statusFile(test.second...)), test.want)
			i.want("a", test.left...)
			i.counts("again", i.again("a", "2"), test.want)
		})
	}
}

func TestAPendingRowIsFoundByItsIdWithAnotherAmountOrText(t *testing.T) {
	const pending = "2025-07-01,-40.00,Bistro Nord,pending,X1"
	for name, test := range map[string]struct {
		second string
		want   Counts
		left   string
	}{
		"a tip": {"2025-07-04,-46.00,BISTRO NORD 12,booked,X1", Counts{Merged: 1},
			"2025-07-04 -46 BISTRO NORD 12"},
		"another text": {"2025-07-09,-40.00,Card 4711,booked,X1", Counts{Merged: 1},
			"2025-07-09 -40 Card 4711"},
		"a tip and another text": {"2025-07-04,-46.00,Card 4711,booked,X1", Counts{Merged: 1},
			"2025-07-04 -46 Card 4711"},
		"a pump's hold": {"2025-07-04,-112.00,BISTRO NORD 12,booked,X1", Counts{Merged: 1},
			"2025-07-04 -112 BISTRO NORD 12"},
		"another amount while it is pending": {"2025-07-01,-44.00,Bistro Nord,pending,X1",
			Counts{Known: 1}, "2025-07-01 -40 Bistro Nord pending"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			i.bring("a", "1", statusFile(pending))
			i.counts("the second file", i.bring("a", "2", statusFile(test.second)), test.want)
			i.want("a", test.left)
			i.counts("again", i.again("a", "2"), test.want)
		})
	}
}

func TestTwinsInFilesOfTheirOwnAreTwoWhereTheBankKeepsItsIds(t *testing.T) {
	i := newIntake(t)
	i.bring("a", "1", ofxFile("11-1", "A,20250701,-9.00,Shop", "B,20250702,-1.00,Coffee"))
	second := ofxFile("11-1", "A,20250701,-9.00,Shop", "C,20250702,-1.00,Coffee")
	i.counts("a second coffee", i.bring("a", "2", second), Counts{New: 1, Known: 1})
	i.counts("a file without ids", i.bring("a", "3", ofxFile("11-1", "Z,20250702,-1.00,Coffee",
		"Z,20250702,-1.00,Coffee")), Counts{Known: 2})
}

func TestAPendingRowBecomesTheBookedOneAndKeepsItsNotes(t *testing.T) {
	i := newIntake(t)
	ctx := t.Context()
	pending := "Date,Amount,Description,Status\n2025-07-30,-40.00,Bistro Nord 123,pending\n" +
		"2025-07-30,-12.00,Fuel,pending\n2025-07-29,-3.00,Bakery,booked\n"
	i.counts("pending", i.bring("a", "1", pending), Counts{New: 3})
	var bistro Transaction
	for _, row := range i.rows("a") {
		if strings.HasPrefix(row.Merchant, "Bistro") {
			bistro = row
		}
	}
	notes := "with Ana"
	if _, err := i.p.ChangeTransaction(ctx, At{AccountID: "a", ID: bistro.ID},
		TransactionChange{Notes: &notes}); err != nil {
		t.Fatal(err)
	}
	booked := "Date,Amount,Description,Status\n2025-08-01,-46.00,BISTRO NORD 987,booked\n" +
		"2025-08-04,-12.00,Fuel,booked\n2025-07-29,-3.00,Bakery,booked\n"
	want := []string{"2025-07-29 -3 Bakery", "2025-08-01 -46 BISTRO NORD 987 (with Ana)",
		"2025-08-04 -12 Fuel"}
	i.counts("booked", i.bring("a", "2", booked), Counts{Merged: 2, Known: 1})
	i.want("a", want...)
	if got, err := i.p.Transaction(ctx, "a", bistro.ID); err != nil || got.Pending {
		t.Errorf("by its id: %+v, %v", got, err)
	}
	i.counts("booked again", i.again("a", "2"), Counts{Merged: 2, Known: 1})
	i.counts("pending again", i.bring("a", "3", pending), Counts{Known: 3})
	i.want("a", want...)

	if _, err := i.p.Undo(ctx, "a", "2", UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	i.want("a", "2025-07-29 -3 Bakery", "2025-07-30 -12 Fuel pending",
		"2025-07-30 -40 Bistro Nord 123 pending (with Ana)")
	i.adds("a")
	i.counts("booked after all", i.again("a", "2"), Counts{Merged: 2, Known: 1})
	i.want("a", want...)
}

func TestARowThatWasTypedInIsTheBanks(t *testing.T) {
	i := newIntake(t)
	for _, day := range []Date{"2025-07-03", "2025-07-20"} {
		if _, _, err := i.p.AddTransaction(t.Context(), NewTransaction{AccountID: "a", Date: day,
			Amount: dec("-20"), Merchant: "Market", Notes: "cash desk"}); err != nil {
			t.Fatal(err)
		}
	}
	file := csvFile("2025-07-05,-20.00,MARKET 12", "2025-07-09,-20.00,Garage",
		"2025-07-11,-20.00,Chemist")
	i.counts("the bank's", i.bring("a", "1", file), Counts{Merged: 1, New: 2})
	i.want("a", "2025-07-03 -20 Market (cash desk)", "2025-07-09 -20 Garage",
		"2025-07-11 -20 Chemist", "2025-07-20 -20 Market (cash desk)")
	i.counts("again", i.bring("a", "2", file), Counts{Known: 3})
}

func TestARowThatWasTypedInAndIsPendingIsBookedAtLast(t *testing.T) {
	for name, test := range map[string]struct{ pending, booked, amount string }{
		"of the same id":          {"Market,pending,X1", "MARKET 12,booked,X1", "-20"},
		"of the same content":     {"Market,pending,", "Market,booked,", "-20"},
		"of the same id and text": {"Market,pending,X1", "Market,booked,X1", "-20"},
		"of another amount":       {"Market,pending,X1", "MARKET 12,booked,X1", "-23"},
		"of another id":           {"Market,pending,X1", "MARKET 12,booked,X2", "-20"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			i.typeIn(NewTransaction{Date: "2025-07-03", Amount: dec("-20"), Merchant: "Market",
				Notes: "mine"})
			typed := "2025-07-03 -20 Market (mine)"
			pending := "2025-07-03 -20 Market pending (mine)"
			booked := "2025-07-03 " + test.amount + " Market (mine)"
			first := statusFile("2025-07-05,-20.00," + test.pending)
			i.counts("pending", i.bring("a", "1", first), Counts{Merged: 1})
			i.want("a", pending)
			i.upload("a", "2", statusFile("2025-07-05,"+test.amount+","+test.booked))
			_, decisions := i.preview("2")
			i.counts("booked", i.again("a", "2"), Counts{Merged: 1})
			i.want("a", booked)
			if _, now := i.preview("2"); !slices.Equal(decisions, now) {
				t.Errorf("decided %q and then %q", decisions, now)
			}
			i.counts("pending again", i.bring("a", "3", first), Counts{Known: 1})
			i.want("a", booked)
			i.undo("2", "")
			i.want("a", pending)
			i.counts("booked again", i.again("a", "2"), Counts{Merged: 1})
			i.want("a", booked)
			i.undo("2", "")
			i.undo("1", "")
			i.want("a", typed)
			if test.amount != "-20" {
				return // What was typed in is only taken for a row of its amount.
			}
			i.counts("booked alone", i.again("a", "2"), Counts{Merged: 1})
			i.want("a", booked)
		})
	}
}

func TestARowThatWasTypedInForAnotherMonthAndCorrectedIsTheBanks(t *testing.T) {
	for name, test := range map[string]struct {
		day, bank Date
		want      Counts
	}{
		"of the same day":       {"2025-03-05", "2025-03-05", Counts{Merged: 1}},
		"of the month before":   {"2025-02-27", "2025-03-01", Counts{Merged: 1}},
		"of the month after":    {"2025-04-02", "2025-03-31", Counts{Merged: 1}},
		"of a day too far away": {"2025-03-05", "2025-03-20", Counts{New: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			typed := i.typeIn(NewTransaction{Date: "2025-11-03", Amount: dec("-20"),
				Merchant: "Market"})
			i.change(typed.ID, TransactionChange{Date: &test.day})
			i.upload("a", "1", statusFile(string(test.bank)+",-20.00,Market,pending,X1"))
			_, decisions := i.preview("1")
			i.counts("pending", i.again("a", "1"), test.want)
			if _, now := i.preview("1"); !slices.Equal(decisions, now) {
				t.Errorf("decided %q and then %q", decisions, now)
			}
			if test.want.New > 0 {
				return
			}
			line := string(test.day) + " -20 Market"
			i.want("a", line+" pending")
			booked := statusFile(string(test.bank) + ",-20.00,Market 7,booked,X1")
			i.counts("booked", i.bring("a", "2", booked), Counts{Merged: 1})
			i.want("a", line)
			i.counts("booked again", i.bring("a", "3", booked), Counts{Known: 1})
			i.undo("2", "")
			i.want("a", line+" pending")
			i.undo("1", "")
			i.want("a", line)
			i.counts("booked alone", i.again("a", "2"), Counts{Merged: 1})
			at := At{AccountID: "a", ID: typed.ID}
			if err := i.p.DeleteTransaction(t.Context(), at, 0); err != nil {
				t.Fatal(err)
			}
			i.counts("deleted", i.again("a", "3"), Counts{Deleted: 1})
			i.want("a")
		})
	}
}

func TestARowThatWasTypedInAndIsPendingIsNoOtherRow(t *testing.T) {
	i := newIntake(t)
	i.typeIn(NewTransaction{Date: "2025-07-03", Amount: dec("-20"), Merchant: "Market"})
	first := "2025-07-03,-20.00,Market,pending,X1"
	i.bring("a", "1", statusFile(first))
	i.counts("another one", i.bring("a", "2", statusFile(first,
		"2025-07-03,-20.00,Market 7,booked,X2")), Counts{New: 1, Known: 1})
	i.counts("booked", i.bring("a", "3", statusFile("2025-07-03,-20.00,Market 9,booked,X1",
		"2025-07-03,-20.00,Market 7,booked,X2")), Counts{Merged: 1, Known: 1})
	i.want("a", "2025-07-03 -20 Market", "2025-07-03 -20 Market 7")
}

func TestWhatAPersonDeletedStaysDeletedAndWhatTheyDividedStaysDivided(t *testing.T) {
	i := newIntake(t)
	file := csvFile("2025-07-01,-9.00,Shop", "2025-07-02,-100.00,Market")
	i.bring("a", "1", file)
	rows := i.rows("a")
	gone := At{AccountID: "a", ID: rows[0].ID}
	if err := i.p.DeleteTransaction(t.Context(), gone, 0); err != nil {
		t.Fatal(err)
	}
	splits := []NewSplit{{Amount: dec("-60"), Notes: "food"}, {Amount: dec("-40")}}
	if _, err := i.p.ChangeTransaction(t.Context(), At{AccountID: "a", ID: rows[1].ID},
		TransactionChange{Splits: &splits}); err != nil {
		t.Fatal(err)
	}
	i.counts("again", i.bring("a", "2", file), Counts{Known: 1, Deleted: 1})
	left := i.rows("a")
	if len(left) != 1 || len(left[0].Splits) != 2 {
		t.Fatalf("left: %+v", left)
	}
	_, err := i.p.Undo(t.Context(), "a", "1", UndoOptions{})
	if !errors.Is(err, ErrUndoEdited) {
		t.Fatalf("undo of a divided row = %v", err)
	}
	plan, err := i.p.PlanUndo(t.Context(), "a", "1")
	if err != nil || plan.EditedOf != 1 || !slices.Contains(plan.Edited[0].What, FieldSplits) {
		t.Fatalf("plan = %+v, %v", plan, err)
	}
	if _, err := i.p.Undo(t.Context(), "a", "1", UndoOptions{Edited: RemoveEdited}); err != nil {
		t.Fatal(err)
	}
	i.want("a")
	i.counts("after undoing", i.bring("a", "3", file), Counts{New: 1, Deleted: 1})
}

func TestTheBankCorrectsAndTakesBack(t *testing.T) {
	i := newIntake(t)
	i.bring("a", "1", ofxFile("11-1", "A,20250701,-5.00,Shop", "B,20250702,-6.00,Market",
		"C,20250703,-7.00,Garage"))
	note := "mine"
	c := i.rows("a")[2]
	if _, err := i.p.ChangeTransaction(t.Context(), At{AccountID: "a", ID: c.ID},
		TransactionChange{Notes: &note}); err != nil {
		t.Fatal(err)
	}
	file := ofxFile("11-1", "D,20250701,-5.50,Shop,A,REPLACE", "E,20250702,-6.00,Market,B,DELETE",
		"F,20250703,-7.00,Garage,C,DELETE")
	i.upload("a", "2", file)
	done, err := i.p.Import(t.Context(), "a", "2", ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	i.counts("corrections", done.Counts, Counts{Merged: 2, Deleted: 1})
	i.want("a", "2025-07-01 -5.5 Shop", "2025-07-03 -7 Garage (mine)")
	if rows := i.rows("a"); len(rows[0].Annotations) != 1 || len(rows[1].Annotations) != 1 {
		t.Errorf("without remarks: %+v", rows)
	}
	i.adds("a")
	i.counts("again", i.again("a", "2"), Counts{Merged: 2, Deleted: 1})
	if _, err := i.p.Undo(t.Context(), "a", "2", UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	i.want("a", "2025-07-01 -5 Shop", "2025-07-02 -6 Market", "2025-07-03 -7 Garage (mine)")
	i.adds("a")
	for _, row := range i.rows("a") {
		if len(row.Annotations) > 0 {
			t.Errorf("a remark on what is undone: %+v", row.Annotations)
		}
	}
}

func TestOfCorrectionsOfOneRowTheLastCounts(t *testing.T) {
	for _, test := range []struct {
		name string
		rows []string
		want Counts
		left []string
	}{
		{"of one id", []string{"D,20250701,-5.50,Shop,A,REPLACE",
			"E,20250701,-5.75,Shop,A,REPLACE"},
			Counts{Merged: 1, Skipped: 1}, []string{"2025-07-01 -5.75 Shop"}},
		{"of the correction", []string{"D,20250701,-5.50,Shop,A,REPLACE",
			"E,20250701,-5.75,Shop,D,REPLACE"},
			Counts{Merged: 1, Skipped: 1}, []string{"2025-07-01 -5.75 Shop"}},
		{"then taken back", []string{"D,20250701,-5.50,Shop,A,REPLACE",
			"E,20250701,-5.50,Shop,D,DELETE"}, Counts{Deleted: 1, Skipped: 1}, nil},
		{"taken back, then not", []string{"D,20250701,-5.00,Shop,A,DELETE",
			"E,20250701,-5.75,Shop,A,REPLACE"},
			Counts{Merged: 1, Skipped: 1}, []string{"2025-07-01 -5.75 Shop"}},
		{"in a circle", []string{"D,20250701,-5.50,Shop,E,REPLACE",
			"E,20250701,-5.75,Shop,D,REPLACE"}, Counts{Skipped: 2},
			[]string{"2025-07-01 -5 Shop"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newIntake(t)
			i.bring("a", "1", ofxFile("11-1", "A,20250701,-5.00,Shop"))
			i.counts("corrections", i.bring("a", "2", ofxFile("11-1", test.rows...)), test.want)
			i.want("a", test.left...)
			i.counts("again", i.again("a", "2"), test.want)
			if _, err := i.p.Undo(t.Context(), "a", "2", UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			i.want("a", "2025-07-01 -5 Shop")
			i.counts("after undoing", i.again("a", "2"), test.want)
			i.want("a", test.left...)
		})
	}
}

func TestACorrectionFindsWhatTheRowBecamePartOf(t *testing.T) {
	for name, first := range map[string]func(*intake){
		"that a person typed in": func(i *intake) {
			if _, _, err := i.p.AddTransaction(t.Context(), NewTransaction{AccountID: "a",
				Date: "2025-07-01", Amount: dec("-5"), Merchant: "Shop"}); err != nil {
				t.Fatal(err)
			}
			i.counts("the bank's", i.bring("a", "1", ofxFile("11-1", "A,20250701,-5.00,Shop")),
				Counts{Merged: 1})
		},
		"that was corrected before": func(i *intake) {
			i.bring("a", "0", ofxFile("11-1", "Z,20250701,-5.05,Shop"))
			i.counts("the first correction", i.bring("a", "1", ofxFile("11-1",
				"A,20250701,-5.00,Shop,Z,REPLACE")), Counts{Merged: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			first(i)
			i.want("a", "2025-07-01 -5 Shop")
			i.counts("the correction", i.bring("a", "2", ofxFile("11-1",
				"D,20250701,-5.50,Shop,A,REPLACE")), Counts{Merged: 1})
			i.want("a", "2025-07-01 -5.5 Shop")
			i.counts("again", i.again("a", "2"), Counts{Merged: 1})
			if _, err := i.p.Undo(t.Context(), "a", "2", UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			i.want("a", "2025-07-01 -5 Shop")
		})
	}
}

func TestEveryRowIsAccountedFor(t *testing.T) {
	i := newIntake(t)
	rows := make([]string, 1_879)
	for n := range rows {
		rows[n] = fmt.Sprintf("2025-%02d-%02d,-%d.00,Shop %d", n%12+1, n%28+1, n%7+1, n%300)
		if n%100 == 99 {
			rows[n] = fmt.Sprintf("2025-01-%02d,not money,Shop", n%28+1)
		}
	}
	i.counts("the file", i.bring("a", "1", csvFile(rows...)), Counts{New: 1_861, Refused: 18})
	page, err := i.p.Outcomes(t.Context(), "a", "1", []Verdict{RowRefused}, 0, 10)
	if err != nil || len(page.Outcomes) != 10 || page.Next != 10 || page.Outcomes[0].Line != 101 {
		t.Fatalf("outcomes: %+v, %v", page, err)
	}
	page, err = i.p.Outcomes(t.Context(), "a", "1", nil, page.Next, 10)
	if err != nil || len(page.Outcomes) != 8 || page.Next != 0 || page.Outcomes[7].Why == "" {
		t.Fatalf("the other outcomes: %+v, %v", page, err)
	}
}

func TestAPreviewThatIsOutOfDateIsNotImported(t *testing.T) {
	i := newIntake(t)
	i.upload("a", "1", csvFile("2025-07-01,-9.00,Shop", "2025-07-02,-1.00,Coffee"))
	shown, err := i.p.Preview(t.Context(), "a", "1", nil)
	if err != nil {
		t.Fatal(err)
	}
	i.bring("a", "2", csvFile("2025-07-02,-1.00,Coffee"))
	_, err = i.p.Import(t.Context(), "a", "1", ImportOptions{Digest: shown.Digest})
	if !errors.Is(err, ErrPreviewStale) {
		t.Fatalf("import = %v", err)
	}
	i.want("a", "2025-07-02 -1 Coffee")
	i.counts("after another preview", i.again("a", "1"), Counts{New: 1, Known: 1})
}

func TestTheSameFileIsTold(t *testing.T) {
	i := newIntake(t)
	file := csvFile("2025-07-01,-9.00,Shop")
	if r := i.upload("a", "1", file); r.Earlier != nil {
		t.Errorf("earlier: %+v", r.Earlier)
	}
	if r := i.upload("a", "2", file); r.Earlier == nil || r.Earlier.ID != "1" {
		t.Errorf("earlier: %+v", r.Earlier)
	}
	if r := i.upload("b", "3", file); r.Earlier != nil {
		t.Errorf("earlier of another account: %+v", r.Earlier)
	}
	if r := i.upload("a", "1", file); r.Upload.ID != "1" || r.Upload.Status != Parsed {
		t.Errorf("a repeat: %+v", r)
	}
	_, err := i.p.Upload(t.Context(), "a", UploadRequest{ID: "1", Body: strings.NewReader("other")})
	if !errors.Is(err, ErrKeyUsed) {
		t.Errorf("another file under one id = %v", err)
	}
}

func TestQuestionsAreAnsweredAndRemembered(t *testing.T) {
	i := newIntake(t)
	open := "Date,Amount,Description\n03/04/2025,-5.00,Shop\n05/06/2025,-6.00,Market\n"
	r := i.upload("a", "1", open)
	if r.Upload.Status != Uploaded || len(r.Questions) != 1 || r.Questions[0].Topic != "dateOrder" {
		t.Fatalf("received: %+v", r)
	}
	if _, err := i.p.Preview(t.Context(), "a", "1", nil); !errors.Is(err, ErrUndecided) {
		t.Errorf("preview = %v", err)
	}
	again, err := i.p.Questions(t.Context(), "a", "1")
	if err != nil || len(again.Questions) != 1 {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	r, err = i.p.Answer(t.Context(), "a", "1",
		map[bankfile.Topic]string{"dateOrder": "day-month-year"})
	if err != nil || r.Upload.Status != Parsed || r.Upload.DateRange != (DateRange{"2025-04-03",
		"2025-06-05"}) {
		t.Fatalf("answered: %+v, %v", r, err)
	}
	i.again("a", "1")
	i.want("a", "2025-04-03 -5 Shop", "2025-06-05 -6 Market")
	i.counts("the next file asks nothing", i.bring("a", "2",
		"Date,Amount,Description\n07/08/2025,-5.00,Shop\n"), Counts{New: 1})
	i.counts("a file of another kind", i.bring("a", "3", ofxFile("11-1", "X,20250901,-1.00,Bar")),
		Counts{New: 1})
}

func TestOfAFileOfSeveralAccountsOneIsTakenIn(t *testing.T) {
	i := newIntake(t)
	file := "Account,Date,Amount,Description\n12-3456-001,2025-07-01,-1.00,Shop\n" +
		"12-3456-002,2025-07-01,-2.00,Market\n12-3456-002,2025-07-02,-3.00,Bar\n"
	r := i.upload("a", "1", file)
	if len(r.Questions) != 1 || r.Questions[0].Topic != AskStatement ||
		len(r.Questions[0].Choices) != 2 {
		t.Fatalf("received: %+v", r)
	}
	answers := map[bankfile.Topic]string{AskStatement: "12-3456-002"}
	if _, err := i.p.Answer(t.Context(), "a", "1", answers); err != nil {
		t.Fatal(err)
	}
	i.counts("the second account", i.again("a", "1"), Counts{New: 2, Skipped: 1})
	a, err := i.p.Account(t.Context(), "a")
	if err != nil || a.Number != "12-3456-002" {
		t.Errorf("the account's number: %+v, %v", a, err)
	}
	i.counts("the next file", i.bring("a", "2", strings.ReplaceAll(file, "2025-07", "2025-08")),
		Counts{New: 2, Skipped: 1})
}

func TestFilesThatCannotBeReadSayWhy(t *testing.T) {
	i := newIntake(t)
	r := i.upload("a", "1", "\x89PNG\r\n\x1a\n00000000")
	if r.Upload.Status != Failed || r.Upload.Why == "" {
		t.Fatalf("received: %+v", r.Upload)
	}
	_, err := i.p.Import(t.Context(), "a", "1", ImportOptions{})
	if !errors.Is(err, ErrUnreadable) {
		t.Errorf("import = %v", err)
	}
	broken := errors.New("the line broke")
	_, err = i.p.Upload(t.Context(), "a", UploadRequest{ID: "2", Body: iotest.ErrReader(broken)})
	if !errors.Is(err, broken) {
		t.Errorf("a file that breaks off = %v", err)
	}
	if _, err := i.p.UploadOf(t.Context(), "a", "2"); !errors.Is(err, ErrNoUpload) {
		t.Errorf("what is left of it: %v", err)
	}
}

func TestAnUploadWithoutItsFile(t *testing.T) {
	i := newIntake(t)
	i.bring("a", "1", csvFile("2025-07-01,-9.00,Shop"))
	if _, err := i.p.DeleteFile(t.Context(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	if len(i.files.files) != 0 {
		t.Errorf("files left: %d", len(i.files.files))
	}
	_, err := i.p.Import(t.Context(), "a", "1", ImportOptions{})
	if !errors.Is(err, ErrFileMissing) {
		t.Errorf("import = %v", err)
	}
	if _, err := i.p.Undo(t.Context(), "a", "1", UndoOptions{}); err != nil {
		t.Errorf("undo = %v", err)
	}
	i.want("a")
	if _, err := i.p.UploadOf(context.Background(), "a", "2"); !errors.Is(err, ErrNoUpload) {
		t.Errorf("no upload = %v", err)
	}
}
