package bankfile_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

func TestCSVOfManyBanks(t *testing.T) {
	const d = "2024-05-06"
	cases := []struct {
		name, text string
		want       []string
	}{
		{
			"tabs", table("Date\tName\tAmount", d+"\tShop, big\t-1.50"), []string{d + " -1.5"},
		},
		{
			"commas between quoted decimal commas",
			table(`"Datum","Bedrag","Naam"`, `"2024-05-06","-2,56","Shop"`,
				`"2024-05-06","750,00",""`),
			[]string{d + " -2.56", d + " 750"},
		},
		{
			"debit and credit columns with zeros beside",
			table("Date,Details,Debit,Credit,Balance", d+",Shop,1.50,0.00,8.50",
				d+",Pay,0.00,10.00,18.50"),
			[]string{d + " -1.5", d + " 10"},
		},
		{
			"a debit column with signs", table("Date,Details,Debit,Credit", d+",A,-1.50,",
				d+",B,-2.50,", d+",C,-3.50,", d+",D,,4.00"),
			[]string{d + " -1.5", d + " -2.5", d + " -3.5", d + " 4"},
		},
		{
			"a signed amount that two columns repeat",
			table("Datum;Bedrag;credit;debet;Munt", "06.05.2024;-3,40;;-3,40;EUR",
				"06.05.2024;5,00;5,00;;EUR"),
			[]string{d + " -3.4 EUR", d + " 5 EUR"},
		},
		{
			"a flag that gives the sign",
			table("Datum;Af Bij;Bedrag", "06.05.2024;Af;3,40", "06.05.2024;Bij;5,00"),
			[]string{d + " -3.4", d + " 5"},
		},
		{
			"a flag that gives the sign, and a negative credit",
			table("Date,DC,Amount", d+",D,3.40", d+",C,5.00", d+",C,-1.00"),
			[]string{d + " -3.4", d + " 5", d + " -1"},
		},
		{
			"a flag that repeats the sign",
			table("Date,Direction,Amount", d+",outflow,-350", d+",inflow,1290"),
			[]string{d + " -350", d + " 1290"},
		},
		{
			"a type of debit or credit beside amounts without signs",
			table("Date,Type,Amount", d+",DEBIT,3.40", d+",CREDIT,5.00"),
			[]string{d + " -3.4", d + " 5"},
		},
		{
			"a card that shows what was paid to it as negative credits",
			table("Status,Date,Description,Debit,Credit", "Cleared,"+d+",Shop,12.00,",
				"Cleared,"+d+",Payment,,-50.00"),
			[]string{d + " -12", d + " 50"},
		},
		{
			"a credit that was taken back",
			table("Date,Description,Debit,Credit", d+",Shop,12.00,", d+",A,,50.00",
				d+",B,,-5.00"),
			[]string{d + " -12", d + " 50", d + " -5"},
		},
		{
			"a text that could be a direction",
			table("Date,Description,Amount", d+",D,3.40", d+",S,5.00"),
			[]string{d + " 3.4", d + " 5"},
		},
		{
			"no header, amount and balance",
			table(d+",Shop,-1.50,8.50", d+",Pay,10.00,18.50", d+",Shop,-3.25,15.25"),
			[]string{d + " -1.5", d + " 10", d + " -3.25"},
		},
		{
			"a date of booking before a date of purchase",
			table("Transaktionsdatum;Buchungsdatum;Betrag (EUR)", "02.05.2024;06.05.2024;-3,40"),
			[]string{d + " -3.4 EUR"},
		},
		{
			"totals at the end", table("Date;Name;Amount", d+";Shop;-1.50", "Total;;-1.50",
				";;-1.50"),
			[]string{d + " -1.5", "skipped line 3: a total or another line without a date",
				"skipped line 4: a total or another line without a date"},
		},
		{
			"a balance without a movement",
			table("Date;Name;Amount;Balance", d+";Opening;;10.00", d+";Shop;-1.50;8.50"),
			[]string{"skipped line 2: a balance without a movement", d + " -1.5"},
		},
		{
			"debit and credit in one row", table("Date,Debit,Credit", d+",1.00,", d+",2.00,3.00"),
			[]string{d + " -1", "refused line 3: the amount: both debit and credit are filled"},
		},
		{
			"an amount that is none", table("Date,Name,Amount", d+",A,1.00", d+",B,12.3.4"),
			[]string{d + " 1", `refused line 3: the amount: "12.3.4": the marks of this amount ` +
				"cannot be read in one way"},
		},
		{
			"CR CR LF and a mark that is missing",
			"\"Datum\",\"Bedrag\",\"Naam\"\r\r\n2024-05-06\",\"-2,56\",\"A\"\r\r\n" +
				"\"2024-05-06\",\"1,00\",\"B\"\r\r\n",
			[]string{d + " -2.56", d + " 1"},
		},
		{"CR alone", "Date,Name,Amount\r" + d + ",A,1.00\r" + d + ",B,2.00\r", []string{d +
			" 1", d + " 2"}},
		{
			"what was declined or taken back moved no money",
			table("Date,Name,Amount,State", d+",A,-1.00,COMPLETED", d+",B,-2.00,REVERTED",
				d+",C,-3.00,Declined", d+",D,-4.00,PENDING"),
			[]string{d + " -1", "skipped line 3: its status is REVERTED: it moved no money",
				"skipped line 4: its status is Declined: it moved no money", d + " -4"},
		},
		{
			"a day of processing that is still empty",
			table("Process date,Transaction date,Name,Amount", d+",2024-05-05,A,1.00",
				","+d+",B,2.00"),
			[]string{d + " 1", d + " 2"},
		},
		{
			"a cell too many, which a comma in the amount made",
			table("Date,Name,Amount", d+",Shop,-12,50", d+",Shop,-3,", d+",Shop,-4"),
			[]string{"refused line 2: the row has more cells than the header", d + " -3",
				d + " -4"},
		},
		{
			"a last column without a name",
			table("Date,Text", d+",Shop,-1.50", d+",Pay,10.00"), []string{d + " -1.5", d + " 10"},
		},
		{
			"dashes where there is no debit or credit",
			table("Date,Name,Debit,Credit", d+",Shop,20.00,-", d+",Pay,–,5.00", d+",Pay,—,6.00",
				d+",None,-,-"),
			[]string{d + " -20", d + " 5", d + " 6", "refused line 5: the amount: no amount"},
		},
		{
			"dashes in most rows of a column",
			table("Date,Name,Debit,Credit,Balance", d+",A,1.00,-,9.00", d+",B,-,5.00,14.00",
				d+",C,2.00,-,12.00", d+",D,3.00,-,9.00", d+",E,-,-,9.00"),
			[]string{d + " -1", d + " 5", d + " -2", d + " -3",
				"skipped line 6: a balance without a movement"},
		},
		{
			"columns of withdrawals and deposits, cut short",
			table("Date,Narration,Chq./Ref.No.,Value Dt,Withdrawal Amt.,Deposit Amt.,"+
				"Closing Balance",
				"13/05/24,Shop,1,14/05/24,12.50,,87.50", "13/05/24,Pay,2,13/05/24,,20.00,107.50"),
			[]string{"2024-05-13 -12.5", "2024-05-13 20"},
		},
		{"two dates in a cell", table("Date,Name,Amount", "05/16/2024 as of 05/15/2024,A,1.00"),
			[]string{"2024-05-16 1"}},
		{"a statement without entries", table("Date,Name,Amount,Balance"), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mustRead(t, c.text).brief()); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCSVColumnsAreUnderstood(t *testing.T) {
	r := mustRead(t, table(
		"Account,Booking date,Value date,Transaction date,Amount,Currency,Balance,Payee,"+
			"Description,Transaction ID,Reference,Counterparty IBAN,Type,Original amount,Original currency,Status",
		"123,2024-05-06,2024-05-07,2024-05-04,-10.00,EUR,90.00,Shop,Shoes,T1,INV 9,"+
			"NL71RABO0123456789,Card,10.85,USD,Pending"))
	want := bankfile.Entry{
		Date: "2024-05-06", ValueDate: "2024-05-07", AuthorisedDate: "2024-05-04",
		Currency: "EUR", ForeignCurrency: "USD",
		Name: "Shop", Memo: "Shoes", BankID: "T1", UniqueID: true, Reference: "INV 9",
		Counterparty: "NL71RABO0123456789", Category: "Card", HasBalance: true, Pending: true,
	}
	got := r.entries()[0]
	if got.Amount.String() != "-10" || got.Foreign.String() != "-10.85" ||
		got.Balance.String() != "90" {
		t.Errorf("amounts %s, %s, %s", got.Amount, got.Foreign, got.Balance)
	}
	want.Amount, want.Foreign, want.Balance = got.Amount, got.Foreign, got.Balance
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if s := r.file.Statements[0]; s.Account != "123" || s.Currency != "EUR" {
		t.Errorf("statement %+v", s)
	}
}

func TestCSVRowsOfSeveralAccountsAreApart(t *testing.T) {
	r := mustRead(t, table("Account;Date;Amount;Currency", "A;2024-05-06;-1.50;EUR",
		"B;2024-05-06;-2.50;USD", "A;2024-05-07;-3.50;EUR"))
	if len(r.file.Statements) != 2 || r.file.Statements[1].Account != "B" {
		t.Fatalf("statements %+v", r.file.Statements)
	}
	if r.totals[0].Sum.String() != "-5" || r.totals[1].Sum.String() != "-2.5" {
		t.Errorf("totals %+v", r.totals)
	}
	if r.rows[2].Statement != 0 || r.rows[1].Statement != 1 {
		t.Errorf("rows %+v", r.rows)
	}
}

func TestAccountsThatARowMayLackAreTheOtherSides(t *testing.T) {
	r := mustRead(t, table("Date,Payee,Account number,Amount", "2024-05-06,Shop,,-1.50",
		"2024-05-07,Rent,DE89370400440532013000,-2.50", "2024-05-08,Anna,DE02100,3.50"))
	if len(r.file.Statements) != 1 || r.file.Statements[0].Account != "" {
		t.Fatalf("statements %+v", r.file.Statements)
	}
	if e := r.entries(); e[0].Counterparty != "" || e[2].Counterparty != "DE02100" {
		t.Errorf("entries %+v", e)
	}
}

func TestCSVBalancesAreCheckedFromEitherEnd(t *testing.T) {
	header := "Date;Amount;Balance"
	old, mid, last := "2024-05-06;5.00;15.00", "2024-05-07;-2.00;13.00", "2024-05-08;1.00;14.00"
	for name, c := range map[string]struct {
		text   string
		agrees bool
	}{
		"oldest first":     {table(header, old, mid, last), true},
		"newest first":     {table(header, last, mid, old), true},
		"a row is missing": {table(header, old, last), false},
		"one a day, beside its first row, oldest day first": {table(header,
			"2024-05-06;5.00;13.00", "2024-05-06;-2.00;", "2024-05-07;1.00;17.00",
			"2024-05-07;3.00;"), true},
		"one a day, beside its last row, newest day first": {table(header,
			"2024-05-07;1.00;", "2024-05-07;3.00;17.00", "2024-05-06;5.00;",
			"2024-05-06;-2.00;13.00"), true},
		"one a day, and a row is missing": {table(header, "2024-05-06;5.00;13.00",
			"2024-05-06;-2.00;", "2024-05-07;1.00;17.00"), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, c.text)
			total := r.totals[0]
			if !total.Checked || total.Agrees != c.agrees {
				t.Errorf("total %+v", total)
			}
			if c.agrees && (total.Opening.Amount.String() != "10" ||
				total.Opening.Date != "2024-05-06" || total.Closing.Date < "2024-05-07") {
				t.Errorf("opening %+v, closing %+v", total.Opening, total.Closing)
			}
			warned := r.rows[len(r.rows)-1].Outcome == bankfile.Warned
			if warned == c.agrees {
				t.Errorf("rows %q", r.brief())
			}
		})
	}
}

func TestBalancesTellThatAllSignsAreInverted(t *testing.T) {
	text := table("Date;Amount;Balance", "2024-05-06;5.00;95.00", "2024-05-07;2.00;93.00",
		"2024-05-08;-1.00;94.00")
	r := mustRead(t, text)
	if last := r.rows[len(r.rows)-1]; last.Outcome != bankfile.Warned ||
		!strings.Contains(last.Why, "inverted") {
		t.Errorf("rows %q", r.brief())
	}
	r, err := read(text, inverted)
	if err != nil || !r.totals[0].Agrees {
		t.Errorf("total %+v, %v", r.totals, err)
	}
}

func TestQuotedFieldsMayHaveLinesButSwallowNoRows(t *testing.T) {
	r := mustRead(t, table("Date,Name,Amount", `2024-05-06,"Two`, `lines, ""quoted""",-1.50`,
		`2024-05-07,Shop,-2.50`))
	if e := r.entries(); len(e) != 2 || e[0].Name != "Two\nlines, \"quoted\"" {
		t.Errorf("rows %+v", e)
	}
	r = mustRead(t, table("Date,Amount,Name", `2024-05-06,-1.50,"never closed`,
		`2024-05-07,-2.50,"Shop"`, "2024-05-08,-3.50,Shop"))
	want := []string{"2024-05-06 -1.5", "2024-05-07 -2.5", "2024-05-08 -3.5"}
	if diff := cmp.Diff(want, r.brief()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if !r.warned(bankfile.WarnQuotes) {
		t.Error("a missing quotation mark is not told")
	}
}

func TestLinesOfTextJoinTheEntryBeforeThem(t *testing.T) {
	text := table("Date,Description,Amount", "2024-05-06,Card,-1.50", ",Corner Dairy,",
		"2024-05-07,Pay,2.00")
	r, err := read(text, bankfile.Options{Mapping: &bankfile.Mapping{Version: 1, JoinLines: true}})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.entries(); len(e) != 2 || e[0].Memo != "Card Corner Dairy" || e[1].Memo != "Pay" {
		t.Errorf("entries %+v", e)
	}
}

func TestAnAccountThatIsTheSameInAllRowsIsOurs(t *testing.T) {
	for account, own := range map[string]bool{"1234567": true, "7654321": false} {
		r := mustRead(t, table("Kontonummer,Valuta,Bokföringsdag,Beskrivning,Belopp",
			"1234567,SEK,2024-01-31,Shop,-12.50", account+",SEK,2024-01-30,Wages,100.00"))
		if got := r.file.Statements[0].Account != ""; got != own {
			t.Errorf("%s: statements %+v", account, r.file.Statements)
		}
	}
}

func TestPositiveAmountsAloneAreDoubted(t *testing.T) {
	if r := mustRead(t, amounts("1.50", "2.50", "3.50")); len(r.file.Doubts) != 1 {
		t.Errorf("doubts %q", r.file.Doubts)
	}
	if r := mustRead(t, amounts("1.50", "-2.50", "3.50")); len(r.file.Doubts) != 0 {
		t.Errorf("doubts %q", r.file.Doubts)
	}
}

// wide encodes a text with units of either byte order.
func wide(text string, big, mark bool) string {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	var b strings.Builder
	for _, u := range units {
		if big {
			u = u<<8 | u>>8
		}
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

func TestCSVInEveryEncoding(t *testing.T) {
	text := table("Datum;Název protiúčtu;Částka", "06.05.2024;Řezník;-1,50")
	cases := map[string]struct {
		text     string
		encoding bankfile.Encoding
	}{
		"UTF-8":                {text, bankfile.UTF8},
		"UTF-8 with a mark":    {"\ufeff" + text, bankfile.UTF8},
		"UTF-16LE":             {wide(text, false, false), bankfile.UTF16LE},
		"UTF-16LE with a mark": {wide(text, false, true), bankfile.UTF16LE},
		"UTF-16BE":             {wide(text, true, false), bankfile.UTF16BE},
		"UTF-16BE with a mark": {wide(text, true, true), bankfile.UTF16BE},
		"Windows-1250 by its words": {"Datum;N\xe1zev proti\xfa\xe8tu;\xc8\xe1stka\n" +
			"06.05.2024;\xd8ezn\xedk;-1,50\n", bankfile.Windows1250},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, c.text)
			if r.file.Encoding != c.encoding {
				t.Errorf("encoding %s", r.file.Encoding)
			}
			if e := r.entries(); len(e) != 1 || e[0].Name != "Řezník" ||
				e[0].Amount.String() != "-1.5" {
				t.Errorf("entries %+v", e)
			}
		})
	}
}

// Balances are written like amounts, so they say what a mark means where no amount does.
func TestBalancesSayWhatTheMarkMeans(t *testing.T) {
	r := mustRead(t, table("Date;Amount;Balance", "2024-05-06;-1.500;8.499,50"))
	if diff := cmp.Diff([]string{"2024-05-06 -1500"}, r.brief()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
