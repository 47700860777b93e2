package feed_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/rates/feed"
)

// The forms are those of the publishers, the figures are made up.
const (
	dailyXML = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
	<Cube>
		<Cube time='2031-03-05'>
			<Cube currency='USD' rate='1.2500'/>
			<Cube currency='JPY' rate='160.25'/>
			<Cube currency='IDR' rate='20000'/>
		</Cube>
	</Cube>
</gesmes:Envelope>`
	ninetyXML = `<?xml version="1.0" encoding="UTF-8"?><gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"><Cube>
<Cube time="2031-03-05"><Cube currency="USD" rate="1.25"/><Cube currency="ISK" rate="N/A"/></Cube>
<Cube time="2031-03-04"><Cube currency="USD" rate="1.24"/><Cube currency="ISK" rate="140.5"/></Cube></Cube></gesmes:Envelope>`
	dailyCSV = "Date, USD, JPY, IDR, \n05 March 2031, 1.2500, 160.25, 20000, \n"
	histCSV  = "Date,USD,ISK,TRL,\n2031-03-05,1.25,N/A,N/A,\n2031-03-04,1.24,140.5,N/A,\n" +
		"2031-03-03,1.2,140,1650000,\n"
	frankfurter     = `{"amount":1.0,"base":"EUR","date":"2031-03-05","rates":{"USD":1.25,"JPY":160.25}}`
	frankfurterSpan = `{"amount":1.0,"base":"EUR","start_date":"2031-03-04","end_date":"2031-03-05",
		"rates":{"2031-03-05":{"USD":1.25},"2031-03-04":{"USD":1.24}}}`
	frankfurterRows = `[{"date":"2031-03-05","base":"EUR","quote":"USD","rate":1.25},
		{"date":"2031-03-05","base":"EUR","quote":"JPY","rate":160.25}]`
	openRates = `{"disclaimer":"none","license":"none","timestamp":1930489200,"base":"USD",
		"rates":{"EUR":0.8,"BTC":1.5e-05,"VEF_BLKMKT":3.5}}`
	fixerRates = `{"success":true,"timestamp":1930489200,"base":"EUR","date":"2031-03-05",
		"rates":{"USD":"1.25"}}`
)

// text writes days in a form that is easy to compare.
func text(days []rates.Day) string {
	var lines []string
	for _, d := range days {
		line := fmt.Sprintf("%s %s %s", d.Date, d.Base, d.Source)
		if !d.At.IsZero() {
			line += " at " + d.At.Format("15:04:05")
		}
		for _, p := range d.Prices {
			line += fmt.Sprintf(" %s=%s", p.Currency, p.Value)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestFormsOfPublishersAreRead(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	file, err := w.Create("eurofxref-hist.csv")
	if err == nil {
		_, err = file.Write([]byte(histCSV))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	history := "2031-03-03 EUR ecb USD=1.2 ISK=140 TRL=1650000\n" +
		"2031-03-04 EUR ecb USD=1.24 ISK=140.5\n2031-03-05 EUR ecb USD=1.25"
	for _, c := range []struct{ name, data, want string }{
		{"daily XML", dailyXML, "2031-03-05 EUR ecb USD=1.25 JPY=160.25 IDR=20000"},
		{"ninety days of XML", ninetyXML,
			"2031-03-04 EUR ecb USD=1.24 ISK=140.5\n2031-03-05 EUR ecb USD=1.25"},
		{"daily CSV", dailyCSV, "2031-03-05 EUR ecb USD=1.25 JPY=160.25 IDR=20000"},
		{"history CSV", histCSV, history},
		{"CSV with a mark at its beginning", "\ufeff" + histCSV, history},
		{"CSV with two-byte line ends", strings.ReplaceAll(histCSV, "\n", "\r\n"), history},
		{"CSV without a comma at the end", "Date,USD\n2031-03-05,1.25\n",
			"2031-03-05 EUR ecb USD=1.25"},
		{"zipped CSV", archive.String(), history},
		{"Frankfurter", frankfurter, "2031-03-05 EUR frankfurter JPY=160.25 USD=1.25"},
		{"a range of Frankfurter", frankfurterSpan,
			"2031-03-04 EUR frankfurter USD=1.24\n2031-03-05 EUR frankfurter USD=1.25"},
		{"rows of Frankfurter", frankfurterRows, "2031-03-05 EUR frankfurter USD=1.25 JPY=160.25"},
		{"Open Exchange Rates", openRates,
			"2031-03-05 USD openexchangerates at 15:00:00 BTC=0.000015 EUR=0.8"},
		{"its copies", fixerRates, "2031-03-05 EUR openexchangerates at 15:00:00 USD=1.25"},
		// Figures are compared as numbers: a daily file has zeros that the history has not.
		{"a rate that is there twice", strings.Replace(dailyXML,
			"<Cube currency='JPY' rate='160.25'/>", "<Cube currency='USD' rate='1.25'/>", 1),
			"2031-03-05 EUR ecb USD=1.25 IDR=20000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			days, err := feed.Read([]byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, text(days)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsNoRatesIsToldApart(t *testing.T) {
	for _, c := range []struct{ name, data, reason string }{
		{"an error page", "<html>\n<head>\n<title>Gone</title>\n</head>\n</body>\n</html>", "<html>"},
		{"a page with a type", "<!DOCTYPE html><html><body>Sorry</body></html>", "<html>"},
		{"XML that was cut off", dailyXML[:400], "not XML"},
		{"a rate without a day", "<Envelope><Cube currency='USD' rate='1'/></Envelope>",
			"without a day"},
		{"a rate that is none", strings.Replace(dailyXML, "1.2500", "abc", 1), `USD is "abc"`},
		{"a day that is none", strings.Replace(dailyXML, "2031-03-05", "2031-02-30", 1), "no day"},
		{"two rates of a currency", strings.Replace(dailyXML, "JPY", "USD", 1), "two rates of USD"},
		{"a code that is none", strings.Replace(dailyXML, "JPY", "Yen", 1), "no currency"},
		{"a sentence", "The service is down", "column Date"},
		{"CSV with a day twice", histCSV + "2031-03-03,1.2,,,\n", "twice"},
		{"CSV with a day that is none", "Date,USD\n31.03.2031,1\n", "no day"},
		{"CSV with too many columns", "Date,USD\n2031-03-05,1,2\n", "more columns"},
		{"CSV that was cut off", "Date,USD,JPY,GBP,\n2031-03-05,1,2", "fewer columns"},
		{"a refusal in JSON", `{"error":true,"status":401,"description":"Invalid App ID"}`,
			"Invalid App ID"},
		{"JSON that was cut off", frankfurter[:60], "not JSON"},
		{"JSON of something else", `{"hello":"world"}`, "no member rates"},
		{"rates of another amount", strings.Replace(frankfurter, "1.0", "10", 1), "amount of 10"},
		{"JSON without a date", `{"base":"EUR","rates":{"USD":1}}`, "date"},
		{"JSON without a base", `{"date":"2031-03-05","rates":{"USD":1}}`, "base"},
		{"JSON with a word for a rate", strings.Replace(frankfurter, "160.25", `"soon"`, 1),
			"soon"},
		{"a damaged archive", "PK\x03\x04 and nothing more", "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			days, err := feed.Read([]byte(c.data))
			if !errors.Is(err, rates.ErrUnreadable) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v, %v; want %q", days, err, c.reason)
			}
		})
	}
}

// Some publishers answer a day without rates by nothing at all, and say that all is well.
func TestNothingIsNoData(t *testing.T) {
	for name, data := range map[string]string{
		"nothing": "", "blanks": " \n", "an empty envelope": "<Envelope><Cube></Cube></Envelope>",
		"a header alone": "Date,USD,\n", "a day of N/A": "Date,USD,\n2031-03-05,N/A,\n",
		"an empty list": "[]", "no currencies": `{"base":"EUR","date":"2031-03-05","rates":{}}`,
	} {
		if days, err := feed.Read([]byte(data)); !errors.Is(err, rates.ErrNoData) {
			t.Errorf("%s: %v, %v", name, days, err)
		}
	}
}

// The list of currencies is that of the data: one that comes back after years needs no new program.
func TestCurrenciesComeFromTheData(t *testing.T) {
	days, err := feed.Read([]byte("Date,USD,QQQ\n2031-03-05,1.25,7\n"))
	if err != nil || text(days) != "2031-03-05 EUR ecb USD=1.25 QQQ=7" {
		t.Errorf("%s, %v", text(days), err)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		dailyXML, ninetyXML, dailyCSV, histCSV, frankfurter, frankfurterSpan, frankfurterRows,
		openRates, fixerRates, "", "<", "{", "[", "PK\x03\x04", "Date", "[{}]", "{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		days, err := feed.Read(data)
		if err != nil {
			if !errors.Is(err, rates.ErrUnreadable) && !errors.Is(err, rates.ErrNoData) {
				t.Fatal(err)
			}
			return
		}
		for i, d := range days {
			if !d.Date.Valid() || len(d.Prices) == 0 || i > 0 && days[i-1].Date >= d.Date {
				t.Fatalf("%+v", d)
			}
		}
	})
}
