package bankfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// report is a public report about a program that reads bank files, with an input of that kind and
// what is right. The name says where it was reported.
type report struct {
	name     string
	text     string
	options  bankfile.Options
	want     []string          // The rows in brief.
	names    []string          // Names or else memos of the entries, where these matter.
	asks     []bankfile.Topic  // The questions, where the file is to be asked about.
	answers  map[string]string // The answers to these questions, by topic.
	currency money.Currency
}

// table makes a CSV file of a header and rows.
func table(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

// amounts makes a CSV file with a semicolon, whose rows differ in the amount alone.
func amounts(cells ...string) string {
	rows := []string{"Date;Description;Amount"}
	for _, c := range cells {
		rows = append(rows, "2024-05-06;Shop;"+c)
	}
	return table(rows...)
}

// dates makes a CSV file whose rows differ in the date alone.
func dates(cells ...string) string {
	rows := []string{"Date;Description;Amount"}
	for _, c := range cells {
		rows = append(rows, c+";Shop;-1.50")
	}
	return table(rows...)
}

func day(d, amount string) string { return d + " " + amount }

// inverted is the mapping of an account whose bank turns all signs.
var inverted = bankfile.Options{Mapping: &bankfile.Mapping{Version: 1, Invert: true}}

func amountReports() []report {
	const d = "2024-05-06"
	return []report{
		{
			name: "actualbudget/actual#6206: a true minus sign is a minus",
			text: amounts("−100,00", "5,25"), want: []string{day(d, "-100"), day(d, "5.25")},
		},
		{
			name: "rustledger/rustledger#1473: the minus stands behind",
			text: amounts("1,234.56-"), want: []string{day(d, "-1234.56")},
		},
		{
			name: "plaintextaccounting/hledger#736: an inverted account with parentheses",
			text: amounts("($67.00)"), options: inverted, want: []string{day(d, "67")},
		},
		{
			name: "firefly-iii/firefly-iii#1474: two minus signs are none",
			text: amounts("--$21.78"), want: []string{day(d, "21.78")},
		},
		{
			name: "firefly-iii/firefly-iii#4106: a currency sign in one row alone",
			text: amounts("4.711,98 €", "10,00"),
			want: []string{day(d, "4711.98 EUR"), day(d, "10 EUR")},
		},
		{
			name: "firefly-iii/firefly-iii#11032: three decimals in every row are asked about",
			text: amounts("14.000", "7.500"), asks: []bankfile.Topic{bankfile.AskDecimal},
			answers: map[string]string{"decimal": "."},
			want:    []string{day(d, "14"), day(d, "7.5")},
		},
		{
			name: "firefly-iii/firefly-iii#11032: one row with another count of decimals decides",
			text: amounts("14.000", "7.50"), want: []string{day(d, "14"), day(d, "7.5")},
		},
		{
			name: "hledger#2162, #1158: blanks between thousands",
			text: amounts("1 234.56", "1\u00a0234.56", "1\u202f234.56"),
			want: []string{day(d, "1234.56"), day(d, "1234.56"), day(d, "1234.56")},
		},
		{
			name: "harung1993/dollardollar#55: thousands of a currency without cents",
			text: amounts("173,900"), currency: "JPY", want: []string{day(d, "173900 JPY")},
		},
		{
			name: "harung1993/dollardollar#55: a file with groups elsewhere",
			text: amounts("173,900", "1,173,900"), want: []string{day(d, "173900"), day(d,
				"1173900")},
		},
		{
			name: "harung1993/dollardollar#55: nothing decides, so it is asked",
			text: amounts("173,900"), currency: "EUR", asks: []bankfile.Topic{bankfile.AskDecimal},
			answers: map[string]string{"decimal": "."}, want: []string{day(d, "173900 EUR")},
		},
		{
			name:    "firefly#1263, #1660, aniav/ynab-csv#59: a card that shows charges as positive",
			text:    amounts("12.50", "8.00", "-30.00"),
			options: inverted,
			want:    []string{day(d, "-12.5"), day(d, "-8"), day(d, "30")},
		},
		{
			name: "firefly#1650: a negative number in the debit column is a refund",
			text: table("Date,Description,Debit,Credit", d+",Shop,20.00,", d+",Shop,-15.00,",
				d+",Pay,,100.00"),
			want: []string{day(d, "-20"), day(d, "15"), day(d, "100")},
		},
	}
}

func dateReports() []report {
	a := func(days ...string) (want []string) {
		for _, d := range days {
			want = append(want, day(d, "-1.5"))
		}
		return want
	}
	return []report{
		{
			name: "OCA/bank-statement-import#756: one order for the file",
			text: qif("16/12/2024", "-1.50", "09/12/2024", "-1.50"),
			want: a("2024-12-16", "2024-12-09"),
		},
		{
			name: "OCA/bank-statement-import#982: one order for the file",
			text: qif("31/07/2026", "-1.50", "08/07/2026", "-1.50"),
			want: a("2026-07-31", "2026-07-08"),
		},
		{
			name: "kenlasko/monize#246: Quicken's years with a blank",
			text: qif("3/11' 2", "-1.50", "3/25' 2", "-1.50"),
			want: a("2002-03-11", "2002-03-25"),
		},
		{
			name: "Gnucash/gnucash#2308: year-first is never asked about",
			text: dates("2024-05-06", "2024-05-06"), want: a("2024-05-06", "2024-05-06"),
		},
		{
			name: "libofx/libofx#39: a zone does not move the day",
			text: ofx("<STMTTRN><DTPOSTED>20200406000000[-03:EST]<TRNAMT>-1.50<FITID>1</STMTTRN>"),
			want: []string{"2020-04-06 -1.5 NZD"},
		},
		{
			name: "stoicflame/ofx4j#30: the server's zone does not move the day",
			text: ofx("<STMTTRN><DTPOSTED>20190102<TRNAMT>-1.50<FITID>1</STMTTRN>"),
			want: []string{"2019-01-02 -1.5 NZD"},
		},
		{
			name: "toolkit-for-ynab#598, firefly#9867, buckets#519: late on the last of a month",
			text: dates("2024-01-31 23:59:59", "2024-01-31T23:59:59Z"),
			want: a("2024-01-31", "2024-01-31"),
		},
		{
			name: "securo-finance/securo#518: no language chooses the order",
			text: qif("03/07/2026", "-1.50"), asks: []bankfile.Topic{bankfile.AskOrder},
			answers: map[string]string{"dateOrder": string(bankfile.DayFirst)},
			want:    a("2026-07-03"),
		},
		{
			name: "moneymanagerex#4317: the order that is set is used, bad rows name their line",
			text: qif("13/02/2024", "-1.50", "02/03/2024", "-1.50", "31/02/2024", "-1.50"),
			options: bankfile.Options{Mapping: &bankfile.Mapping{
				Version: 1, DateOrder: bankfile.DayFirst,
			}},
			want: append(a("2024-02-13", "2024-03-02"), `refused line 10: the date: there is no `+
				`such date as "31/02/2024" (read as day-month-year)`),
		},
		{
			name: "nocodb/nocodb#10584: all rows in one order",
			text: dates("15-01-2025", "13-01-2025", "09-01-2025", "02-01-2025", "31-12-2024",
				"10-12-2024"),
			want: a("2025-01-15", "2025-01-13", "2025-01-09", "2025-01-02", "2024-12-31",
				"2024-12-10"),
		},
		{
			name: "moneymanagerex#4745, #5792, buckets#573: names of months, short years",
			text: dates("29-Jun-2022", "29-jun-22", "01 NOV 2021", "13.03.21"),
			want: a("2022-06-29", "2022-06-29", "2021-11-01", "2021-03-13"),
		},
		{
			name: "twg/qa-entaxy#565: a compact date says its order, whatever was chosen",
			text: dates("20190516", "20191345"),
			options: bankfile.Options{Mapping: &bankfile.Mapping{
				Version: 1, DateOrder: bankfile.MonthFirst,
			}},
			want: append(a("2019-05-16"),
				`refused line 3: the date: "20191345" is not a date`),
		},
		{
			name: "twg/qa-entaxy#565: a refusal shows the text of the cell",
			text: dates("2019-05-16", "2019-13-45"),
			want: append(a("2019-05-16"), `refused line 3: the date: there is no such date as `+
				`"2019-13-45" (read as year-month-day)`),
		},
	}
}

func structureReports() []report {
	const row = "2024-05-06 -1.5"
	return []report{
		{
			name: "firefly#11470, otherworld-dev/Budget#371: UTF-8 by itself",
			text: table("Date;Name;Amount", "2024-05-06;Café;-1.50"),
			want: []string{row}, names: []string{"Café"},
		},
		{
			name: "firefly#11470, otherworld-dev/Budget#371: Windows-1252 by itself",
			text: table("Date;Name;Amount", "2024-05-06;Caf\xe9 5\x80;-1.50"),
			want: []string{row}, names: []string{"Café 5€"},
		},
		{
			name: "firefly-iii/data-importer#1274, hledger#177: titles before the header",
			text: table("Account statement", "Owner;J. Doe", "From;2024-05-01", "To;2024-05-31", "",
				"Opening balance;12.00", "Date;Name;Amount", "2024-05-06;Shop;-1.50"),
			want: []string{
				"skipped line 1: it is before the header",
				"skipped line 2: it is before the header",
				"skipped line 3: it is before the header",
				"skipped line 4: it is before the header",
				"skipped line 6: it is before the header", row,
			},
		},
		{
			name: "beancount/beangulp#173: legal text after the last row",
			text: table("Date;Name;Amount", "2024-05-06;Shop;-1.50", "",
				"All data without warranty."),
			want: []string{row, "skipped line 4: a line of text without date and amount"},
		},
		{
			name: "buckets#460: headers with the same beginning",
			text: table("Date,Name,Amount,Amount EUR", "2024-05-06,Shop,-1.50,-1.38"),
			want: []string{row},
		},
		{
			name: "buckets#460: the other of these headers",
			text: table("Date,Name,Amount,Amount EUR", "2024-05-06,Shop,-1.50,-1.38"),
			options: bankfile.Options{Mapping: &bankfile.Mapping{Version: 1,
				Columns: []bankfile.Column{{Index: 3, Name: "Amount EUR", Role: "amount"}}}},
			want: []string{"2024-05-06 -1.38 EUR"},
		},
	}
}

func TestPublicReports(t *testing.T) {
	for group, reports := range map[string][]report{
		"amounts and signs": amountReports(), "dates": dateReports(),
		"structure": structureReports(), "OFX": ofxReports(), "SWIFT and camt": swiftReports(),
	} {
		t.Run(group, func(t *testing.T) {
			for _, r := range reports {
				t.Run(r.name, func(t *testing.T) { r.check(t) })
			}
		})
	}
}

func (r report) check(t *testing.T) {
	options := r.options
	options.Currency = r.currency
	got, err := read(r.text, options)
	if diff := cmp.Diff(r.asks, asked(err)); diff != "" {
		t.Fatalf("questions (-want +got):\n%s", diff)
	}
	var ask *bankfile.UndecidedError
	if errors.As(err, &ask) {
		m := ask.Mapping
		for topic, value := range r.answers {
			if err := m.Answer(bankfile.Topic(topic), value); err != nil {
				t.Fatal(err)
			}
		}
		options.Mapping = &m
		got, err = read(r.text, options)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.want, got.brief()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if r.names == nil {
		return
	}
	var names []string
	for _, e := range got.entries() {
		if e.Name == "" {
			e.Name = e.Memo
		}
		names = append(names, e.Name)
	}
	if diff := cmp.Diff(r.names, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
