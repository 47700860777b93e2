package bankfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// Every row of these files has a date that would have to be asked about.
func TestBanksOfNewZealandAreKnownByTheirHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		account string
		want    []bankfile.Entry
		amounts string
	}{
		"ANZ New Zealand, account": {
			text: table("Type,Details,Particulars,Code,Reference,Amount,Date,"+
				"ForeignCurrencyAmount,ConversionCharge",
				"Eft-Pos,Corner Dairy,1234,C,552211,-4.50,03/04/2026,,",
				`Direct Credit,Employer,Wages,,APRIL,"2,650.00",05/04/2026,,`),
			want: []bankfile.Entry{
				{Date: "2026-04-03", Name: "Corner Dairy", Memo: "1234 C", Reference: "552211",
					Category: "Eft-Pos"},
				{Date: "2026-04-05", Name: "Employer", Memo: "Wages", Reference: "APRIL",
					Category: "Direct Credit"},
			},
			amounts: "-4.5 2650",
		},
		"ANZ New Zealand, card": {
			text: table("Card,Type,Amount,Details,TransactionDate,ProcessedDate,"+
				"ForeignCurrencyAmount,ConversionCharge",
				"4000-****-****-0001,D,52.31,Book Shop,05/02/2026,06/02/2026,30.00 USD,1.31",
				"4000-****-****-0001,C,200.00,Payment,09/02/2026,09/02/2026,,",
				"4000-****-****-0002,D,7.00,Not processed yet,10/02/2026,,,"),
			want: []bankfile.Entry{
				{Date: "2026-02-06", AuthorisedDate: "2026-02-05", Name: "Book Shop",
					ForeignCurrency: "USD"},
				{Date: "2026-02-09", AuthorisedDate: "2026-02-09", Name: "Payment"},
				{Date: "2026-02-10", AuthorisedDate: "2026-02-10", Name: "Not processed yet"},
			},
			amounts: "-52.31 200 -7",
		},
		"ASB, account": {
			text: table("Created date / time : 3 August 2026 / 16:27:53",
				"Bank 12; Branch 3456; Account 0123456-00 (Streamline)", "From date 20260101",
				"To date 20260803", "Ledger Balance : 5.00 as of 20260803", "",
				"Date,Unique Id,Tran Type,Cheque Number,Payee,Memo,Amount", "",
				`2026/04/03,2026040301,EFTPOS,,"CORNER DAIRY","EFTPOS",-5.00`),
			account: "12-3456-0123456-00",
			want: []bankfile.Entry{{Date: "2026-04-03", Name: "CORNER DAIRY", Memo: "EFTPOS",
				Category: "EFTPOS", BankID: "2026040301", UniqueID: true}},
			amounts: "-5",
		},
		"ASB, card": {
			text: table("Created date / time : 12 April 2026 / 11:09:26",
				"Card Number XXXX-XXXX-XXXX-0001 (Visa Light)", "From date 20260101",
				"To date 20260412",
				"Date Processed,Date of Transaction,Unique Id,Tran Type,Reference,Description,Amount",
				"2026/04/09,2026/04/08,2026040902,DEBIT,0001,\"Book Shop\",8.50",
				"2026/04/10,2026/04/10,2026041001,CREDIT,0001,\"PAYMENT RECEIVED\",-2750.00"),
			want: []bankfile.Entry{
				{Date: "2026-04-09", AuthorisedDate: "2026-04-08", Name: "Book Shop",
					Category: "DEBIT", BankID: "2026040902", UniqueID: true},
				{Date: "2026-04-10", AuthorisedDate: "2026-04-10", Name: "PAYMENT RECEIVED",
					Category: "CREDIT", BankID: "2026041001", UniqueID: true},
			},
			amounts: "-8.5 2750",
		},
		"BNZ, account": {
			text: table("Date,Amount,Payee,Particulars,Code,Reference,Tran Type,"+
				"This Party Account,Other Party Account,Serial,Transaction Code,Batch Number,"+
				"Originating Bank/Branch,Processed Date",
				`06/01/26,-14.00,Fabric Shop,1692,WELLINGTON,0499,POS,02-1234-0000001-00,---,,`+
					`"00",4303,"02-0499",07/01/26`,
				`07/01/26,49.00,Savings,,,INTERNET XFR,FT,02-1234-0000001-00,`+
					`02-1234-0000001-10,,"50",0000,"02-1255",07/01/26`),
			account: "02-1234-0000001-00",
			want: []bankfile.Entry{
				{Date: "2026-01-07", AuthorisedDate: "2026-01-06", Name: "Fabric Shop",
					Memo: "1692 WELLINGTON", Reference: "0499", Category: "POS"},
				{Date: "2026-01-07", AuthorisedDate: "2026-01-07", Name: "Savings",
					Reference: "INTERNET XFR", Category: "FT", Counterparty: "02-1234-0000001-10"},
			},
			amounts: "-14 49",
		},
		"BNZ, card": {
			text: table("Date,Amount,Payee,Particulars,Code,Reference,Tran Type,Processed Date",
				"02/05/26,-5.20,QUEENS,AUCKLAND,NZD520,,PUR,03/05/26"),
			want: []bankfile.Entry{{Date: "2026-05-03", AuthorisedDate: "2026-05-02",
				Name: "QUEENS", Memo: "AUCKLAND NZD520", Category: "PUR"}},
			amounts: "-5.2",
		},
		"Kiwibank, account": {
			text: table("Account number,Date,Memo/Description,Source Code (payment type),TP ref,"+
				"TP part,TP code,OP ref,OP part,OP code,OP name,OP Bank Account Number,"+
				"Amount (credit),Amount (debit),Amount,Balance",
				"38-9000-0123456-00,02-05-2026,POWER CO ;,DD,INV 7,,,,,,Power Co,"+
					"12-3456-0123456-00,,9.90,-9.90,90.10",
				"38-9000-0123456-00,03-05-2026,INTEREST,DC,,,,,,,,,1.90,,1.90,92.00"),
			account: "38-9000-0123456-00",
			want: []bankfile.Entry{
				{Date: "2026-05-02", Name: "Power Co", Memo: "POWER CO ;", Reference: "INV 7",
					Counterparty: "12-3456-0123456-00", Category: "DD", HasBalance: true},
				{Date: "2026-05-03", Memo: "INTEREST", Category: "DC", HasBalance: true},
			},
			amounts: "-9.9 1.9",
		},
		"Westpac New Zealand, account": {
			text: table("Date,Amount,Other Party,Description,Reference,Particulars,Analysis Code",
				"03/09/2026,-15.99,Music Co,DEBIT CARD PURCHASE,R1,P1,A1"),
			want: []bankfile.Entry{{Date: "2026-09-03", Name: "Music Co",
				Memo: "DEBIT CARD PURCHASE P1 A1", Reference: "R1"}},
			amounts: "-15.99",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, c.text)
			if got := r.file.Mapping(); got.Name != name {
				t.Errorf("profile %q", got.Name)
			}
			if s := r.file.Statements[0]; s.Account != c.account {
				t.Errorf("account %q", s.Account)
			}
			var got []bankfile.Entry
			var amounts []string
			for _, e := range r.entries() {
				if e.Currency != "NZD" {
					t.Errorf("currency %q", e.Currency)
				}
				amounts = append(amounts, e.Amount.String())
				got = append(got, bankfile.Entry{Date: e.Date, AuthorisedDate: e.AuthorisedDate,
					Name: e.Name, Memo: e.Memo, Reference: e.Reference, Category: e.Category,
					Counterparty: e.Counterparty, ForeignCurrency: e.ForeignCurrency,
					BankID: e.BankID, UniqueID: e.UniqueID, HasBalance: e.HasBalance})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if got := strings.Join(amounts, " "); got != c.amounts {
				t.Errorf("amounts %s", got)
			}
		})
	}
	if n := len(bankfile.Profiles()); n != 9 {
		t.Errorf("%d profiles, and 8 are tested here and one below", n)
	}
}

func TestFeesOfRevolutAreInTheAmounts(t *testing.T) {
	const header = "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency," +
		"State,Balance"
	r := mustRead(t, table(header,
		"CARD_PAYMENT,Current,2026-03-04 09:12:00,2026-03-05 09:12:00,Shop,-24.30,0.00,EUR,"+
			"COMPLETED,75.70",
		"ATM,Current,2026-03-06 09:12:00,2026-03-06 09:12:00,Cash,-20.00,1.50,EUR,COMPLETED,54.20",
		"TOPUP,Current,2026-03-07 09:12:00,2026-03-07 09:12:00,Card,10.00,0.20,EUR,COMPLETED,64.00",
		"CHARGE,Current,2026-03-08 09:12:00,2026-03-08 09:12:00,Plan,0.00,4.00,EUR,COMPLETED,60.00",
		"ATM,Current,2026-03-09 09:12:00,2026-03-09 09:12:00,Cash,-5.00,?,EUR,COMPLETED,55.00"))
	want := []string{"2026-03-05 -24.3", "2026-03-06 -21.5", "2026-03-07 9.8", "2026-03-08 -4"}
	var got []string
	for _, e := range r.entries() {
		got = append(got, string(e.Date)+" "+e.Amount.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if total := r.totals[0]; !total.Checked || !total.Agrees || total.Refused != 1 {
		t.Errorf("total %+v", total)
	}
	if m := r.file.Mapping(); m.Name != "Revolut" || m.Currency != "" {
		t.Errorf("mapping %+v", m)
	}
}

const westpac = "Date,Amount,Other Party,Description,Reference,Particulars,Analysis Code\n"

func TestAProfileComesBehindWhatIsKnown(t *testing.T) {
	first := func(text string, options bankfile.Options) (bankfile.Entry, bankfile.Mapping) {
		r, err := read(text, options)
		if err != nil {
			t.Fatal(err)
		}
		return r.entries()[0], r.file.Mapping()
	}
	open := westpac + "03/09/2026,-15.99,Music Co,,,,\n"
	t.Run("the rows show another order", func(t *testing.T) {
		e, _ := first(open+"05/13/2026,-1.00,X,,,,\n", bankfile.Options{})
		if e.Date != "2026-03-09" {
			t.Errorf("date %s", e.Date)
		}
	})
	t.Run("the account has another currency", func(t *testing.T) {
		if e, _ := first(open, bankfile.Options{Currency: "AUD"}); e.Currency != "AUD" {
			t.Errorf("currency %s", e.Currency)
		}
	})
	t.Run("a person chose columns", func(t *testing.T) {
		e, m := first(open, bankfile.Options{Mapping: &bankfile.Mapping{Version: 1, Name: "Mine",
			Columns: []bankfile.Column{{Index: 0, Name: "Date", Role: bankfile.RoleDate},
				{Index: 1, Name: "Amount", Role: bankfile.RoleAmount}}}})
		// What the person said nothing of is read by its name: texts are never lost in silence.
		if e.Name != "Music Co" || m.Name != "Mine" || e.Date != "2026-09-03" || e.Currency != "" {
			t.Errorf("entry %+v, mapping %+v", e, m)
		}
	})
	t.Run("another header is nobody's", func(t *testing.T) {
		_, err := read(strings.Replace(open, "Analysis Code", "Analysis", 1), bankfile.Options{})
		if diff := cmp.Diff([]bankfile.Topic{bankfile.AskOrder}, asked(err)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestProfilesAreMappings(t *testing.T) {
	names := make(map[string]bool)
	for _, p := range bankfile.Profiles() {
		data, err := json.Marshal(p.Mapping)
		if err != nil {
			t.Fatal(err)
		}
		m, err := bankfile.ParseMapping(data)
		if err != nil {
			t.Fatalf("%s: %v", p.Mapping.Name, err)
		}
		if diff := cmp.Diff(p.Mapping, m); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Mapping.Name, diff)
		}
		if header := strings.Join(p.Header, ","); names[p.Mapping.Name] || names[header] {
			t.Errorf("%s or its header stands twice", p.Mapping.Name)
		} else {
			names[p.Mapping.Name], names[header] = true, true
		}
	}
}
