package bankfile_test

import (
	"encoding/json"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

func entry(t *testing.T, amount string) bankfile.Entry {
	t.Helper()
	d, err := money.ParseDecimal(amount)
	if err != nil {
		t.Fatal(err)
	}
	return bankfile.Entry{Date: "2026-01-02", Amount: d, Currency: "NZD", Name: "Kererū  Coffee",
		Memo: "flat white", Counterparty: "NZ01", Reference: "r-1", BankID: "b-1", UniqueID: true}
}

// What a row is known by is stored with every imported row. Were it to change, the next file of an
// account would import all of its rows again.
func TestTheIdentityOfARowIsFrozen(t *testing.T) {
	coffee := entry(t, "-5.50")
	repeated := coffee
	repeated.BankID, repeated.UniqueID = "0", false
	shouted := coffee
	shouted.Name, shouted.Memo = "KERERŪ COFFEE", " Flat\tWhite "
	bare := bankfile.Entry{Date: "2026-01-03", Amount: coffee.Amount, Currency: "NZD"}
	var keys bankfile.Keys
	var samples []frozen.Sample
	for _, c := range []struct {
		name  string
		entry bankfile.Entry
	}{
		{"an entry with an id", coffee},
		{"the same again", coffee},
		{"in capital letters and with other blanks", shouted},
		{"with an id that repeats", repeated},
		{"with nothing but an amount", bare},
	} {
		key := keys.Of("acc-1", c.entry)
		samples = append(samples, frozen.Sample{
			Name: "v1 " + c.name, Value: key.ID + " " + key.Content,
		})
	}
	frozen.Check(t, "row-identity", samples...)
}

// A mapping that was kept for a bank is read by every later release as what it said.
func TestAKeptMappingIsRead(t *testing.T) {
	m := bankfile.Mapping{
		Version: bankfile.MappingVersion, Name: "A Bank", Encoding: bankfile.Windows1252,
		Delimiter: ";", DateOrder: bankfile.DayFirst, Decimal: ",", Invert: true,
		DebitSign:  bankfile.DebitSigned,
		CreditSign: bankfile.CreditSigned, FlagSign: bankfile.FlagRepeats,
		OutFlags: []string{"S"}, InFlags: []string{"H"}, JoinLines: true, Currency: "EUR",
		Columns: []bankfile.Column{
			{Index: 0, Name: "Datum", Role: bankfile.RoleDate},
			{Index: 1, Name: "Soll", Role: bankfile.RoleDebit},
			{Index: 2, Name: "Haben", Role: bankfile.RoleCredit},
		},
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	frozen.Check(t, "mapping", frozen.Sample{Name: "v1", Value: string(text)})
	for _, s := range frozen.Read(t, "mapping") {
		got, err := bankfile.ParseMapping([]byte(s.Value))
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != s.Value {
			t.Errorf("%s is read as %s, %v", s.Name, again, err)
		}
	}
}
