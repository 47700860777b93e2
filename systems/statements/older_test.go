package statements

import (
	"context"
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/problem"
)

const vendorFile = "Date,Vendor,Amount\n2025-01-02,Coffee House,-4.50\n" +
	"2025-01-03,Book Shop,-12.00\n"

// remembers makes an account remember some columns, as if it had always read its files so.
func (i *intake) remembers(columns ...bankfile.Column) {
	i.t.Helper()
	m := bankfile.Mapping{Version: bankfile.MappingVersion, Delimiter: ",", Columns: columns}
	change := AccountChange{Mapping: &m}
	if _, err := i.p.ChangeAccount(context.Background(), "a", change); err != nil {
		i.t.Fatal(err)
	}
}

var (
	dateColumn   = bankfile.Column{Index: 0, Name: "Date", Role: bankfile.RoleDate}
	amountColumn = bankfile.Column{Index: 2, Name: "Amount", Role: bankfile.RoleAmount}
)

// A mapping that is changed later does not make new rows of those that are there, whatever it says
// about the texts, and whichever was there first.
func TestAChangedMappingDoublesNothing(t *testing.T) {
	more := vendorFile + "2025-01-04,Bar,-1.00\n2025-01-04,Bar,-1.00\n"
	for name, c := range map[string]struct{ before, after []bankfile.Column }{
		"a text becomes the name": {
			[]bankfile.Column{dateColumn, amountColumn, {Index: 1, Name: "Vendor",
				Role: bankfile.RoleMemo}},
			[]bankfile.Column{dateColumn, amountColumn, {Index: 1, Name: "Vendor",
				Role: bankfile.RoleName}},
		},
		"a name becomes the reference": {
			[]bankfile.Column{dateColumn, amountColumn, {Index: 1, Name: "Vendor",
				Role: bankfile.RoleName}},
			[]bankfile.Column{dateColumn, amountColumn, {Index: 1, Name: "Vendor",
				Role: bankfile.RoleReference}},
		},
		"a category becomes the text": {
			[]bankfile.Column{dateColumn, amountColumn, {Index: 1, Name: "Vendor",
				Role: bankfile.RoleCategory}},
			[]bankfile.Column{dateColumn, amountColumn, {Index: 1, Name: "Vendor",
				Role: bankfile.RoleMemo}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			i.remembers(c.before...)
			i.counts("the first file", i.bring("a", "1", vendorFile), Counts{New: 2})
			i.remembers(c.after...)
			i.counts("the next file", i.bring("a", "2", more), Counts{New: 2, Known: 2})
			i.counts("the same again", i.bring("a", "3", more), Counts{Known: 4})
			i.remembers(c.before...)
			i.counts("with the first mapping", i.bring("a", "4", more), Counts{Known: 4})
			if n := len(i.rows("a")); n != 4 {
				t.Errorf("%d rows", n)
			}
		})
	}
}

// An answer counts whether or not it is asked for, as often as it is given, until the file is
// imported and again after that is undone; what is no answer is refused and changes nothing.
func TestAnAnswerAlwaysCounts(t *testing.T) {
	i := newIntake(t)
	i.upload("a", "1", "Date,Text,Amount\n05/01/2025,Rent,100\n06/02/2025,Coffee,-3.500\n")
	answer := func(topic bankfile.Topic, value string) (Received, error) {
		return i.p.Answer(t.Context(), "a", "1", map[bankfile.Topic]string{topic: value})
	}
	days := func(start, end Date) {
		t.Helper()
		u, err := i.p.UploadOf(t.Context(), "a", "1")
		if err != nil || u.DateRange != (DateRange{start, end}) {
			t.Fatalf("%+v, %v", u.DateRange, err)
		}
	}
	for _, a := range []struct {
		topic bankfile.Topic
		value string
	}{
		{"dateOrder", "month-day-year"}, {"decimal", "."}, {"dateOrder", "day-month-year"},
		{"decimal", ","},
	} {
		if _, err := answer(a.topic, a.value); err != nil {
			t.Fatal(err)
		}
	}
	days("2025-01-05", "2025-02-06")
	for topic, value := range map[bankfile.Topic]string{
		"foo": "3", "dateOrder": "sideways", "decimal": ";", "amountColumn": "0",
		"debitColumn": "Nothing", "fooColumn": "2", "invert": "perhaps", "nameColumn": "99",
		"encoding": "morse", "memoColumn": "",
	} {
		_, err := answer(topic, value)
		var invalid *problem.Error
		if !errors.Is(err, ErrInvalid) || !errors.As(err, &invalid) {
			t.Errorf("%s=%s: %v", topic, value, err)
		}
	}
	days("2025-01-05", "2025-02-06")
	i.again("a", "1")
	i.want("a", "2025-01-05 100 Rent", "2025-02-06 -3500 Coffee")
	if _, err := answer("decimal", "."); !errors.Is(err, ErrUploadState) {
		t.Errorf("an answer about an imported file: %v", err)
	}
	undone{"1", KeepEdited, UndoPlan{New: 2}, nil}.run(i)
	for topic, value := range map[bankfile.Topic]string{"decimal": ".", "nameColumn": "Text"} {
		if _, err := answer(topic, value); err != nil {
			t.Fatal(err)
		}
	}
	i.again("a", "1")
	i.want("a", "2025-01-05 100 Rent", "2025-02-06 -3.5 Coffee")
}

// Each role can be chosen, by the number of a column or its name, and money in two columns takes
// the place of money in one.
func TestColumnsCanBeChosen(t *testing.T) {
	i := newIntake(t)
	i.upload("a", "1", "Date,A,B,C\n2025-01-02,Shop,5.00,\n2025-01-03,Pay,,7.00\n")
	for _, answers := range []map[bankfile.Topic]string{
		{"debitColumn": "3", "creditColumn": "4"}, {"amountColumn": "debit=3,credit=4"},
		{"debitColumn": "B", "creditColumn": "C", "nameColumn": "A"},
	} {
		r, err := i.p.Answer(t.Context(), "a", "1", answers)
		if err != nil || r.Upload.Status != Parsed || len(r.Questions) > 0 {
			t.Fatalf("%v: %s %v, %v", answers, r.Upload.Status, r.Questions, err)
		}
	}
	i.again("a", "1")
	i.want("a", "2025-01-02 -5 Shop", "2025-01-03 7 Pay")
}
