package bankfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// kind is a file of a kind that was read wrongly, with its right rows. Each row is written as
// "date amount currency | name | memo", with what else matters behind it.
type kind struct {
	name     string
	currency money.Currency // Of the account.
	mapping  *bankfile.Mapping
	rows     []string
	want     []string
	asked    bankfile.Topic
	doubt    string // A part of a doubt that must be there; "-" for none at all.
}

// told writes a row.
func told(row bankfile.Row) string {
	if row.Outcome != bankfile.Read {
		return row.Outcome.String() + " " + row.Why
	}
	e := row.Entry
	text := strings.TrimSpace(strings.Join([]string{string(e.Date), e.Amount.String(),
		string(e.Currency)}, " ")) + " | " + e.Name + " | " + e.Memo
	if e.Counterparty != "" {
		text += " | other " + e.Counterparty
	}
	if e.Pending {
		text += " | pending"
	}
	return text
}

func (k kind) check(t *testing.T) {
	t.Helper()
	text := table(k.rows...)
	r, err := read(text, bankfile.Options{Currency: k.currency, Mapping: k.mapping})
	if k.asked != "" {
		if diff := cmp.Diff([]bankfile.Topic{k.asked}, asked(err)); diff != "" {
			t.Fatalf("asked (-want +got):\n%s%v", diff, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range r.rows {
		got = append(got, told(row))
	}
	if diff := cmp.Diff(k.want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	doubts := strings.Join(r.file.Doubts, " ")
	if k.doubt == "-" && doubts != "" || k.doubt != "-" && !strings.Contains(doubts, k.doubt) {
		t.Errorf("doubts %q, want %q", doubts, k.doubt)
	}
	again := r.file.Mapping()
	second, err := read(text, bankfile.Options{Currency: k.currency, Mapping: &again})
	if err != nil {
		t.Fatalf("with its own mapping: %v", err)
	}
	var same []string
	for _, row := range second.rows {
		same = append(same, told(row))
	}
	if diff := cmp.Diff(k.want, same); diff != "" {
		t.Errorf("rows with the mapping that it left (-want +got):\n%s", diff)
	}
}

func checkKinds(t *testing.T, kinds []kind) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.name, k.check)
	}
}

// A mark behind the sign of a currency is the decimal mark, wherever the sign of the amount is.
func TestADecimalMarkBehindACurrencySign(t *testing.T) {
	for cell, want := range map[string]string{
		"$.23": "0.23", "-$.50": "-0.5", "($.30)": "-0.3", "$1.25": "1.25", "$-.40": "-0.4",
		".60 $": "0.6", "£.05": "0.05", "€,75": "0.75", "USD.23": "0.23", "-USD .5": "-0.5",
		"NZ$.99": "0.99", "$.10-": "-0.1", "(€.30)": "-0.3", "¥.5": "0.5", "$(.30)": "-0.3",
		"Rs.500": "500", "Rs. 500.50": "500.5", "kr.12,50": "12.5", "Fr. 20.05": "20.05",
		"Rs..50": "0.5",
	} {
		got := readAmount(t, cell)
		if got != want {
			t.Errorf("%q is read as %s, want %s", cell, got, want)
		}
	}
}

func readAmount(t *testing.T, cell string) string {
	t.Helper()
	r, err := read(amounts(cell, "1x"), bankfile.Options{})
	if err != nil {
		t.Fatalf("%q: %v", cell, err)
	}
	if e := r.entries(); len(e) > 0 {
		return e[0].Amount.String()
	}
	return r.brief()[0]
}

// A currency's sign speaks for its own row alone.
func TestASignOfACurrencySpeaksForItsRow(t *testing.T) {
	checkKinds(t, []kind{
		{
			name: "a dollar account", currency: "USD",
			rows: []string{"Date,Text,Amount", "2026-01-02,Tea,-$1.10", "2026-01-03,Cake,-$2.20",
				"2026-01-04,Fee,-3.30 €"},
			want: []string{"2026-01-02 -1.1 USD |  | Tea", "2026-01-03 -2.2 USD |  | Cake",
				"2026-01-04 -3.3 EUR |  | Fee"},
		},
		{
			name: "the other sign comes first", currency: "NZD",
			rows: []string{"Date,Text,Amount", "2026-01-04,Fee,-3.30 €", "2026-01-02,Tea,-$1.10",
				"2026-01-03,Cake,-2.20"},
			want: []string{"2026-01-04 -3.3 EUR |  | Fee", "2026-01-02 -1.1 NZD |  | Tea",
				"2026-01-03 -2.2 NZD |  | Cake"},
		},
		{
			name: "crowns of the account", currency: "NOK",
			rows: []string{"Date,Text,Amount", "2026-01-02,Te,-1.10 kr", "2026-01-04,Fee,-3.30 €"},
			want: []string{"2026-01-02 -1.1 NOK |  | Te", "2026-01-04 -3.3 EUR |  | Fee"},
		},
		{
			name: "a dollar in an account in euros", currency: "EUR",
			rows:  []string{"Date,Text,Amount", "2026-01-02,Tea,-$1.10"},
			want:  []string{"2026-01-02 -1.1 EUR |  | Tea"},
			doubt: `the sign "$"`,
		},
	})
}

// Of the accounts in a file, those of the other side are never the user's.
func TestTheOtherSidesAccountIsNotOurs(t *testing.T) {
	const a, b, c = "DE89370400440532013000", "GB82WEST12345698765432",
		"FR1420041010050500013M02606"
	checkKinds(t, []kind{
		{
			name: "payer, payee and IBAN",
			rows: []string{`"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";` +
				`"Zahlungsempfänger*in";"Verwendungszweck";"Umsatztyp";"IBAN";"Betrag (€)"`,
				`"15.01.26";"15.01.26";"Gebucht";"Ann Example";"Power Ltd";"Electricity";` +
					`"Ausgang";"` + a + `";"-48,00"`,
				`"16.01.26";"16.01.26";"Gebucht";"Ann Example";"Gym Ltd";"Fee";"Ausgang";"` + b +
					`";"-20,00"`,
				`"17.01.26";"17.01.26";"Gebucht";"Employer Ltd";"Ann Example";"Salary";` +
					`"Eingang";"` + c + `";"2000,00"`},
			want: []string{"2026-01-15 -48 EUR | Power Ltd | Electricity | other " + a,
				"2026-01-16 -20 EUR | Gym Ltd | Fee | other " + b,
				"2026-01-17 2000 EUR | Employer Ltd | Salary | other " + c},
		},
		{
			name: "the lines before the table name the user's",
			rows: []string{`"Girokonto";"` + c + `"`, "", "Datum;Name;IBAN;Betrag",
				"15.01.2026;Power Ltd;" + a + ";-48,00", "16.01.2026;Power Ltd;" + a + ";-20,00"},
			want: []string{"skipped it is before the header",
				"2026-01-15 -48 | Power Ltd |  | other " + a,
				"2026-01-16 -20 | Power Ltd |  | other " + a},
		},
		{
			name: "one row with a payee",
			rows: []string{"Datum;Empfänger;IBAN;Betrag", "15.01.2026;Power Ltd;" + a + ";-48,00"},
			want: []string{"2026-01-15 -48 | Power Ltd |  | other " + a},
		},
		{
			name: "no header",
			rows: []string{
				"15.01.2026;Power Ltd;" + a + ";-48,00",
				"16.01.2026;Gym;" + b + ";-20,00",
				"18.01.2026;Power Ltd;" + a + ";-41,00",
			},
			want: []string{"2026-01-15 -48 |  | Power Ltd | other " + a,
				"2026-01-16 -20 |  | Gym | other " + b,
				"2026-01-18 -41 |  | Power Ltd | other " + a},
		},
		{
			name: "the user's own stands in all rows",
			rows: []string{"IBAN;Datum;Name;Betrag", a + ";15.01.2026;Power Ltd;-48,00",
				a + ";16.01.2026;Gym;-20,00"},
			want: []string{"2026-01-15 -48 | Power Ltd | ", "2026-01-16 -20 | Gym | "},
		},
	})
}

// Two columns of which one is filled in each row are money out and money in, and the balances or
// the names say which is which.
func TestPairsOfColumnsWithUnknownNames(t *testing.T) {
	checkKinds(t, []kind{
		{
			name: "out of the account and into it",
			rows: []string{`"Dato";"Forklaring";"Ut fra konto";"Inn på konto"`,
				`"31.01.2026";"Shop";"179,00";""`, `"25.01.2026";"Pay";"";"38 400,00"`},
			want: []string{"2026-01-31 -179 |  | Shop", "2026-01-25 38400 |  | Pay"},
		},
		{
			name: "without a header, with balances",
			rows: []string{"07 Nov 2026,Bank credit,,£500.00,£500.00",
				"09 Nov 2026,ATM,£20.00,,£480.00"},
			want: []string{"2026-11-07 500 GBP |  | Bank credit", "2026-11-09 -20 GBP |  | ATM"},
		},
		{
			name: "newest first, with zeros",
			rows: []string{"09 Nov 2026,ATM,20.00,0,480.00",
				"07 Nov 2026,Bank credit,0,500.00,500.00"},
			want: []string{"2026-11-09 -20 |  | ATM", "2026-11-07 500 |  | Bank credit"},
		},
		{
			name: "money in stands first",
			rows: []string{"2026-11-07,Bank credit,500.00,,500.00", "2026-11-09,ATM,,20.00,480.00",
				"2026-11-10,ATM,,30.00,450.00"},
			want: []string{"2026-11-07 500 |  | Bank credit", "2026-11-09 -20 |  | ATM",
				"2026-11-10 -30 |  | ATM"},
		},
		{
			name: "a currency behind the names", currency: "CHF",
			rows: []string{"Buchungsdatum;Avisierungstext;Gutschrift in CHF;Lastschrift in CHF;" +
				"Valuta;Saldo in CHF", "2026-01-15;Lohn;3000.00;;2026-01-15;5000.00",
				"2026-01-16;Laden;;-50.00;2026-01-16;4950.00"},
			want: []string{"2026-01-15 3000 CHF |  | Lohn", "2026-01-16 -50 CHF |  | Laden"},
		},
		{
			name: "brackets and units",
			rows: []string{"Date,Details,Money Out (GBP),Money In (GBP)", "2026-01-15,Shop,5.00,",
				"2026-01-16,Pay,,7.00"},
			want: []string{"2026-01-15 -5 GBP |  | Shop", "2026-01-16 7 GBP |  | Pay"},
		},
		{
			name: "zeros beside",
			rows: []string{"Date,Text,Debit,Credit", "2026-01-15,Shop,20.00,0",
				"2026-01-16,Pay,0,100.00"},
			want: []string{"2026-01-15 -20 |  | Shop", "2026-01-16 100 |  | Pay"},
		},
		{
			name:  "nothing says which is which",
			rows:  []string{"2026-01-15,Shop,20.00,", "2026-01-16,Pay,,100.00"},
			asked: bankfile.AskAmount,
		},
		{
			name: "an account, two dates and an amount",
			rows: []string{"AT483200000012345864;Interest;01.01.2026;31.12.2025;-0,42;EUR",
				"AT483200000012345864;Fee;02.01.2026;02.01.2026;-1,50;EUR"},
			want: []string{"2026-01-01 -0.42 EUR |  | Interest", "2026-01-02 -1.5 EUR |  | Fee"},
		},
	})
}

// Words say which way the money went, with and without a header.
func TestWordsOfTheDirection(t *testing.T) {
	var kinds []kind
	for _, words := range [][2]string{
		{"DEBIT", "CREDIT"}, {"Af", "Bij"}, {"D", "C"}, {"DR", "CR"}, {"S", "H"}, {"Soll", "Haben"},
		{"Débit", "Crédit"}, {"Cargo", "Abono"}, {"Dare", "Avere"}, {"Ut", "In"},
		{"Obciążenie", "Uznanie"}, {"Terhelés", "Jóváírás"}, {"Ausgang", "Eingang"},
		{"Sortie", "Entrée"}, {"расход", "приход"}, {"Veloitus", "Hyvitys"},
		{"支出", "收入"}, {"Withdrawal", "Deposit"}, {"Money Out", "Money In"},
	} {
		out, in := words[0], words[1]
		kinds = append(kinds, kind{
			name: out + " before", rows: []string{"2026-01-15," + out + ",Shop,30.00",
				"2026-01-17," + in + ",Pay,500.00"},
			want: []string{"2026-01-15 -30 |  | Shop", "2026-01-17 500 |  | Pay"},
		}, kind{
			name: out + " behind", rows: []string{"20261115;Shop;" + out + ";\"136,13\"",
				"20261116;Employer;" + in + ";\"2000,00\""},
			want: []string{"2026-11-15 -136.13 |  | Shop", "2026-11-16 2000 |  | Employer"},
		}, kind{
			name: out + " under an unknown name",
			rows: []string{"Date,Xyz,Text,Amount", "2026-01-15," + out + ",Shop,30.00",
				"2026-01-17," + in + ",Pay,500.00"},
			want: []string{"2026-01-15 -30 |  | Shop", "2026-01-17 500 |  | Pay"},
		})
	}
	kinds = append(kinds, kind{
		name: "only debits", rows: []string{"2026-01-15,DEBIT,Shop,30.00",
			"2026-01-17,DEBIT,Bar,5.00"},
		want: []string{"2026-01-15 -30 |  | Shop", "2026-01-17 -5 |  | Bar"},
	}, kind{
		name: "two unknown words",
		rows: []string{"Date,Xyz,Text,Amount", "2026-01-15,foo,Shop,30.00",
			"2026-01-16,bar,Pay,5.00", "2026-01-17,foo,Shop,7.00"},
		asked: bankfile.AskDirection,
	}, kind{
		name: "two unknown words, and balances that show which is which",
		rows: []string{"Date,Xyz,Text,Amount,Balance", "2026-01-15,foo,Shop,30.00,70.00",
			"2026-01-16,bar,Pay,5.00,75.00", "2026-01-17,foo,Shop,7.00,68.00"},
		want: []string{"2026-01-15 -30 |  | Shop", "2026-01-16 5 |  | Pay",
			"2026-01-17 -7 |  | Shop"},
	})
	checkKinds(t, kinds)
}

// A card that shows what was bought as positive is recognised by its words, or there is a doubt.
func TestTheViewOfACard(t *testing.T) {
	checkKinds(t, []kind{
		{
			name: "a word on some rows only",
			rows: []string{"13/12/2026,Shop,£18.89,",
				`14/12/2026,PAYMENT RECEIVED,"+ £1,100.00",CR`},
			want: []string{"2026-12-13 -18.89 GBP |  | Shop",
				"2026-12-14 1100 GBP |  | PAYMENT RECEIVED"},
		},
		{
			name: "a word in some cells only",
			rows: []string{"Date,Details,Amount", "2026-12-13,Shop,18.89",
				"2026-12-14,Payment,100.00 CR"},
			want: []string{"2026-12-13 -18.89 |  | Shop", "2026-12-14 100 |  | Payment"},
		},
		{
			name: "words against the signs",
			rows: []string{"Date,Label,Amount,Debit/Credit", "2026-01-15,Shop,33.50,D",
				`2026-01-16,Pay,"-1,533.50",C`},
			want: []string{"2026-01-15 -33.5 |  | Shop", "2026-01-16 1533.5 |  | Pay"},
		},
		{
			name: "words against the signs, without a header",
			rows: []string{"2026-01-15,Shop,12.50,D", "2026-01-16,Payment,-100.00,C"},
			want: []string{"2026-01-15 -12.5 |  | Shop", "2026-01-16 100 |  | Payment"},
		},
		{
			name: "long words against the signs, without a header",
			rows: []string{"2026-01-15,DEBIT,Shop,30.00", "2026-01-16,CREDIT,Payment,-500.00"},
			want: []string{"2026-01-15 -30 |  | Shop", "2026-01-16 500 |  | Payment"},
		},
		{
			name: "categories show it",
			rows: []string{"Trans. Date,Post Date,Description,Amount,Category",
				"01/15/2026,01/16/2026,SHOP,5.00,Merchandise",
				"01/20/2026,01/20/2026,INTERNET PAYMENT - THANK YOU,-100.00,Payments and Credits"},
			want: []string{"2026-01-16 -5 |  | SHOP",
				"2026-01-20 100 |  | INTERNET PAYMENT - THANK YOU"},
			doubt: "invert=false",
		},
		{
			name: "types show it",
			rows: []string{"Transaction Date,Clearing Date,Description,Merchant,Category,Type," +
				"Amount (USD)", "01/15/2026,01/16/2026,SHOP 1,Shop,Groceries,Purchase,5.00",
				"01/20/2026,01/21/2026,ACH DEPOSIT,Bank,Payment,Payment,-100.00"},
			want: []string{"2026-01-15 -5 USD | Shop | SHOP 1",
				"2026-01-20 100 USD | Bank | ACH DEPOSIT"},
			doubt: "invert=false",
		},
		{
			name:  "one row without a sign",
			rows:  []string{"Date,Text,Amount", "2026-01-15,Shop,5.00"},
			want:  []string{"2026-01-15 5 |  | Shop"},
			doubt: "invert=true",
		},
		{
			name: "an account with a refund that was paid",
			rows: []string{"Date,Text,Amount", "2026-01-15,Refund to Ann,-5.00",
				"2026-01-16,Salary,50.00"},
			want:  []string{"2026-01-15 -5 |  | Refund to Ann", "2026-01-16 50 |  | Salary"},
			doubt: "-",
		},
	})
	text := table("2026-01-15,DEBIT,Shop,30.00", "2026-01-16,CREDIT,Payment,500.00")
	r, err := read(text, bankfile.Options{Mapping: &bankfile.Mapping{Version: 1, Invert: true,
		SignsGiven: true}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2026-01-15 -30", "2026-01-16 500"}, r.brief()); diff != "" {
		t.Errorf("inverted rows whose words say the direction (-want +got):\n%s", diff)
	}
}

// A row with an amount and a date that cannot be read is refused, not skipped.
func TestDatesThatAreNone(t *testing.T) {
	checkKinds(t, []kind{
		{
			name: "a word",
			rows: []string{"Date,Name,Amount", "2026-03-01,Fee,-7.80", "unknown,Shop,-5.00"},
			want: []string{"2026-03-01 -7.8 | Fee | ",
				`refused the date: "unknown" is not a date`},
		},
		{
			name: "a total",
			rows: []string{"Date,Name,Amount", "2026-03-01,Fee,-7.80", "Total,,-7.80",
				"Closing balance,,12.00"},
			want: []string{"2026-03-01 -7.8 | Fee | ",
				"skipped a total or another line without a date",
				"skipped a total or another line without a date"},
		},
		{
			name: "not booked yet, with another day",
			rows: []string{"Date,Transaction Date,Name,Amount", "Pending,2026-03-02,Shop,-5.00",
				"2026-03-01,2026-03-01,Fee,-7.80", "2026-02-28,2026-03-01,Bar,-7.00"},
			want: []string{"2026-03-02 -5 | Shop |  | pending", "2026-03-01 -7.8 | Fee | ",
				"2026-03-01 -7 | Bar | "},
		},
	})
}

// Whatever the name of a column, its words are not lost.
func TestTextsUnderEveryName(t *testing.T) {
	checkKinds(t, []kind{
		{
			name: "Vendor", rows: []string{"Date,Vendor,Amount", "2026-01-02,Coffee House,-4.50",
				"2026-01-03,Book Shop,-12.00"},
			want: []string{"2026-01-02 -4.5 | Coffee House | ", "2026-01-03 -12 | Book Shop | "},
		},
		{
			name: "Partner Name and Label", rows: []string{"Date,Label,Amount,Partner Name",
				"2026-01-02,Latte,-4.50,Coffee House", "2026-01-03,Atlas,-12.00,Book Shop"},
			want: []string{"2026-01-02 -4.5 | Coffee House | Latte",
				"2026-01-03 -12 | Book Shop | Atlas"},
		},
		{
			name: "a bank of several countries",
			rows: []string{`"Booking Date","Value Date","Partner Name","Partner Iban",Type,` +
				`"Payment Reference","Account Name","Amount (EUR)"`,
				`2026-01-02,2026-01-02,"Coffee House",,Presentment,-,"Main Account",-4.50`,
				`2026-01-03,2026-01-03,"Ann Example",DE89370400440532013000,` +
					`"Direct Debit","Rent of May","Main Account",-12.00`},
			want: []string{"2026-01-02 -4.5 EUR | Coffee House | -",
				"2026-01-03 -12 EUR | Ann Example | Rent of May | other DE89370400440532013000"},
		},
		{
			name: "names in one piece",
			rows: []string{"dateOp;dateVal;label;category;categoryParent;supplierFound;amount;" +
				"accountNum;accountLabel;accountbalance",
				`2026-01-02;2026-01-02;"CARTE 01/01 CAFE";Bars;Leisure;cafe;-4,50;00040123456;` +
					`Everyday;95,50`,
				`2026-01-03;2026-01-03;"CARTE 02/01 LIBRAIRIE";Books;Leisure;librairie;-12,00;` +
					`00040123456;Everyday;83,50`},
			want: []string{"2026-01-02 -4.5 | cafe | CARTE 01/01 CAFE",
				"2026-01-03 -12 | librairie | CARTE 02/01 LIBRAIRIE"},
		},
		{
			name: "two currencies, two descriptions",
			rows: []string{`"Account Type","Account Number","Transaction Date","Cheque Number",` +
				`"Description 1","Description 2","CAD$","USD$"`,
				"Chequing,01234-1234567,1/2/2026,,Coffee House,Toronto,-4.50,",
				"Chequing,01234-1234567,1/13/2026,,Book Shop,Ottawa,-12.00,"},
			want: []string{"2026-01-02 -4.5 CAD |  | Coffee House Toronto",
				"2026-01-13 -12 CAD |  | Book Shop Ottawa"},
		},
		{
			name: "Beschreibung",
			rows: []string{`"Wertstellung";"Belegdatum";"Beschreibung";"Umsatztyp";"Betrag (€)"`,
				`"02.01.26";"01.01.26";"Cafe";"Im Geschäft";"-4,50"`,
				`"03.01.26";"02.01.26";"Buchladen";"Online";"-12,00"`},
			want: []string{"2026-01-01 -4.5 EUR |  | Cafe", "2026-01-02 -12 EUR |  | Buchladen"},
		},
		{
			name: "the two sides in one column",
			rows: []string{`"Buchungstag";"Wertstellung";"Buchungstext";` +
				`"Auftraggeber / Begünstigter";"Verwendungszweck";"Kontonummer";"BLZ";"Betrag (EUR)"`,
				`"02.01.2026";"02.01.2026";"Lastschrift";"Cafe";"Rechnung 1";` +
					`"DE89370400440532013000";"DEUTDEFF";"-4,50"`,
				`"03.01.2026";"03.01.2026";"Lastschrift";"Buchladen";"Rechnung 2";` +
					`"DE02120300000000202051";"BYLADEM1001";"-12,00"`},
			want: []string{
				"2026-01-02 -4.5 EUR | Cafe | Lastschrift Rechnung 1 | other DE89370400440532013000",
				"2026-01-03 -12 EUR | Buchladen | Lastschrift Rechnung 2 | other " +
					"DE02120300000000202051"},
		},
		{
			name: "a Flemish card",
			rows: []string{"Kredietkaart;Kaarthouder;Datum verrichting;Datum verrekening;Bedrag;" +
				"Munt;Handelaar;Toelichting",
				"5526********1234;ANN EXAMPLE;02/01/2026;03/01/2026;-4,50;EUR;COFFEE HOUSE;Gent",
				"5526********1234;ANN EXAMPLE;13/01/2026;14/01/2026;-12,00;EUR;BOOK SHOP;Brugge"},
			want: []string{"2026-01-02 -4.5 EUR | COFFEE HOUSE | Gent",
				"2026-01-13 -12 EUR | BOOK SHOP | Brugge"},
		},
		{
			name: "Finnish names",
			rows: []string{
				"Kirjauspäivä;Määrä;Maksaja;Maksunsaaja;Nimi;Otsikko;Viitenumero;Saldo;" +
					"Valuutta",
				"2026/01/02;-4,50;FI2112345600000785;;Kahvila;KORTTIOSTO;;95,50;EUR",
				"2026/01/03;-12,00;FI2112345600000785;;Kirjakauppa;VERKKO;;83,50;EUR",
			},
			want: []string{"2026-01-02 -4.5 EUR | Kahvila | KORTTIOSTO",
				"2026-01-03 -12 EUR | Kirjakauppa | VERKKO"},
		},
		{
			name: "Remarque", rows: []string{"Date,Remarque,Montant", "2026-01-02,Café,-4.50",
				"2026-01-03,Livres,-12.00"},
			want: []string{"2026-01-02 -4.5 |  | Café", "2026-01-03 -12 |  | Livres"},
		},
		{
			name: "Bokföringstext", rows: []string{"Bokföringsdatum,Bokföringstext,Belopp",
				"2026-01-02,Kafé,-4.50", "2026-01-03,Böcker,-12.00"},
			want: []string{"2026-01-02 -4.5 |  | Kafé", "2026-01-03 -12 |  | Böcker"},
		},
		{
			name: "Transaction Remarks",
			rows: []string{"Transaction Date,Card,Amount,Transaction Remarks",
				"2026-01-02,4111,-4.50,Coffee House", "2026-01-03,4111,-12.00,Book Shop"},
			want: []string{"2026-01-02 -4.5 |  | Coffee House", "2026-01-03 -12 |  | Book Shop"},
		},
		{
			name: "three of them", rows: []string{"Date,Remarks,Detail,Info,Amount",
				"2026-01-02,one,two,three,-4.50", "2026-01-03,uno,due,tre,-12.00"},
			want: []string{"2026-01-02 -4.5 |  | one two three", "2026-01-03 -12 |  | uno due tre"},
		},
		{
			name: "Japanese", rows: []string{"日付,摘要,金額", "2026-01-02,喫茶店,-450",
				"2026-01-03,書店,-1200"},
			want: []string{"2026-01-02 -450 |  | 喫茶店", "2026-01-03 -1200 |  | 書店"},
		},
		{
			name: "names of no language",
			rows: []string{"Aaa,Bbb,Ccc,Ddd", "2026-01-02,ok,Coffee House in town,-4.50",
				"2026-01-03,ok,Book Shop by the sea,-12.00", "2026-01-04,no,Bar,-1.00"},
			want: []string{"2026-01-02 -4.5 |  | Coffee House in town ok",
				"2026-01-03 -12 |  | Book Shop by the sea ok", "2026-01-04 -1 |  | Bar no"},
		},
		{
			name: "numbers that nothing reads are named",
			rows: []string{"Date,Zzz,Text,Amount", "2026-01-02,17,Coffee,-4.50",
				"2026-01-03,4,Book,-12.00"},
			want:  []string{"2026-01-02 -4.5 |  | Coffee", "2026-01-03 -12 |  | Book"},
			doubt: "Not read: column 2, Zzz.",
		},
	})
}

// Words that mean booked or not are a status, whatever the column is called.
func TestPendingInOtherWords(t *testing.T) {
	var kinds []kind
	for _, words := range [][2]string{
		{"Umsatz vorgemerkt", "Umsatz gebucht"}, {"Pending", "Posted"}, {"en attente", "exécuté"},
		{"in behandeling", "geboekt"}, {"Pendiente", "Contabilizado"}, {"Reservert", "Bokført"},
		{"Reserverat", "Bokförd"}, {"Ventende", "Bogført"}, {"Vorgemerkt", "Gebucht"},
	} {
		kinds = append(kinds, kind{
			name: words[0],
			rows: []string{"Datum;Name;Betrag;Info", "15.01.26;Shop Ltd;-12,50;" + words[0],
				"14.01.26;Cafe Ltd;-3,50;" + words[1]},
			want: []string{"2026-01-15 -12.5 | Shop Ltd |  | pending",
				"2026-01-14 -3.5 | Cafe Ltd | "},
		})
	}
	checkKinds(t, kinds)
}

// The text of a row may go on in the next line; a footer is none of it.
func TestTextsThatGoOnInTheNextLine(t *testing.T) {
	rows := []string{"13/02/2026,13/02/2026,DEBIT PURCHASE,6.66,", ",,card 1234 Corner Shop,,",
		"14/02/2026,14/02/2026,DEBIT PURCHASE,7.77,", ",,card 1234 Book Shop,,"}
	want := []string{"2026-02-13 6.66 |  | DEBIT PURCHASE card 1234 Corner Shop",
		"2026-02-14 7.77 |  | DEBIT PURCHASE card 1234 Book Shop"}
	checkKinds(t, []kind{
		{name: "one line", rows: rows, want: want, doubt: "No amount is negative"},
		{
			name: "a footer", rows: append(rows[:len(rows):len(rows)], "", "End of the list",
				",,Total,,"),
			want: append(want[:len(want):len(want)],
				"skipped a line of text without date and amount",
				"skipped a line of text without date and amount"),
		},
		{
			name: "two lines",
			rows: []string{"13/02/2026,A,-6.66", ",more,", ",and more,", "14/02/2026,B,-7.77",
				",again,", ",and again,"},
			want: []string{"2026-02-13 -6.66 |  | A more and more",
				"2026-02-14 -7.77 |  | B again and again"},
		},
	})
}
