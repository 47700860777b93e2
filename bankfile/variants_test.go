package bankfile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// A variant is a file that some bank could give: rows that are known, in a form that is drawn. The
// share of variants that are read right, that ask, and that are wrong in silence is measured.
type variant struct {
	text string
	want []string // "date amount text", by row.
}

// wordsOf are the names of columns in one language: date, text, amount, out, in, balance, currency,
// and the words for the direction.
type wordsOf struct{ date, text, amount, out, in, balance, currency, flag, d, c string }

// languages have the names of the columns and the words for the direction.
var languages = []string{
	"Date|Description|Amount|Debit|Credit|Balance|Currency|Type|Debit|Credit",
	"Buchungstag|Verwendungszweck|Betrag|Soll|Haben|Saldo|Währung|S/H|S|H",
	"Date|Libellé|Montant|Débit|Crédit|Solde|Devise|Sens|Débit|Crédit",
	"Datum|Omschrijving|Bedrag|Af|Bij|Saldo|Munt|Af Bij|Af|Bij",
	"Fecha|Concepto|Importe|Cargo|Abono|Saldo|Divisa|Signo|Cargo|Abono",
	"Data|Descrizione|Importo|Dare|Avere|Saldo|Divisa|Segno|Dare|Avere",
	"Data|Opis|Kwota|Obciążenia|Uznania|Saldo|Waluta|Typ|Obciążenie|Uznanie",
	"Bokföringsdag|Text|Belopp|Ut|In|Saldo|Valuta|Typ|Ut|In",
	"Dato|Forklaring|Beløp|Ut av konto|Inn på konto|Saldo|Valuta|Type|Ut|In",
	"Dátum|Közlemény|Összeg|Terhelés|Jóváírás|Egyenleg|Devizanem|Irány|Terhelés|Jóváírás",
	"Дата|Описание|Сумма|Расход|Приход|Остаток|Валюта|Тип|Расход|Приход",
	"日付|摘要|金額|出金|入金|残高|通貨|区分|支出|収入",
	"Aaa|Bbb|Ccc|Ddd|Eee|Fff|Ggg|Hhh|D|C",
}

func language(random *rand.Rand) wordsOf {
	w := strings.Split(languages[random.IntN(len(languages))], "|")
	return wordsOf{w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]}
}

var dayForms = []string{
	"2006-01-02", "02.01.2006", "02/01/2006", "20060102", "02 Jan 2006", "02.01.06",
}

var (
	shops  = []string{"Corner Shop", "Café Noël", "Rent", "Employer", "Book House"}
	places = []string{"north", "south", "east"}
)

// form is how the files of a bank look.
type form struct {
	w                                          wordsOf
	delim, decimal, day                        string
	style                                      int // See amounts.
	balance, currency, serial, payee, headline bool
}

// The ways to write amounts.
const (
	signedAmount = iota
	pairOfColumns
	pairWithZeros
	wordForDirection
	styles
)

func drawForm(random *rand.Rand) form {
	maybe := func(of int) bool { return random.IntN(of) == 0 }
	f := form{w: language(random), delim: []string{",", ";", "\t"}[random.IntN(3)], decimal: ".",
		day: dayForms[random.IntN(len(dayForms))], style: random.IntN(styles),
		balance: maybe(2), currency: maybe(3), serial: maybe(3), payee: maybe(3)}
	if f.delim != "," && maybe(2) {
		f.decimal = ","
	}
	unknown := f.w.date == "Aaa"
	f.headline = unknown && maybe(2) || !unknown && !maybe(5)
	if (unknown || !f.headline) && (f.style == pairOfColumns || f.style == pairWithZeros) {
		f.balance = true // Nothing else could say which is which.
	}
	return f
}

// row is what the cells of a row are made of, in cents.
type row struct {
	n, left int64
	day     time.Time
	i       int
	text    string
}

type column struct {
	name string
	cell func(row) string
}

func (f form) write(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d%s%02d", sign, n/100, f.decimal, n%100)
}

// amounts are the columns of the amount.
func (f form) amounts() []column {
	zero := ""
	switch f.style {
	case signedAmount:
		return []column{{f.w.amount, func(r row) string { return f.write(r.n) }}}
	case wordForDirection:
		return []column{{f.w.amount, func(r row) string { return f.write(max(r.n, -r.n)) }},
			{f.w.flag, func(r row) string {
				if r.n < 0 {
					return f.w.d
				}
				return f.w.c
			}}}
	case pairWithZeros:
		zero = f.write(0)
	}
	side := func(sign int64) func(row) string {
		return func(r row) string {
			if r.n*sign > 0 {
				return f.write(r.n * sign)
			}
			return zero
		}
	}
	return []column{{f.w.out, side(-1)}, {f.w.in, side(1)}}
}

func (f form) columns() []column {
	columns := append(f.amounts(),
		column{f.w.date, func(r row) string { return r.day.Format(f.day) }},
		column{f.w.text, func(r row) string { return r.text }})
	if f.balance {
		columns = append(columns, column{f.w.balance, func(r row) string {
			return f.write(r.left)
		}})
	}
	if f.currency {
		columns = append(columns, column{f.w.currency, func(row) string { return "EUR" }})
	}
	if f.serial {
		columns = append(columns, column{"No", func(r row) string {
			return fmt.Sprint(1001 + r.i)
		}})
	}
	if f.payee {
		columns = append(columns, column{"Counterparty IBAN", func(r row) string {
			return fmt.Sprintf("DE%02d37040044%010d", 10+r.i, 532013000+r.i*7919)
		}})
	}
	return columns
}

// draw makes a variant.
func draw(random *rand.Rand) variant {
	f := drawForm(random)
	columns := f.columns()
	random.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	var lines []string
	var v variant
	r := row{left: random.Int64N(500_000) + 300_000,
		day: time.Date(2026, time.Month(1+random.IntN(6)), 13+random.IntN(8), 0, 0, 0, 0, time.UTC)}
	for r.i = range 3 + random.IntN(12) {
		r.n = -1 - random.Int64N(9_999)
		if r.i == 1 || random.IntN(4) == 0 {
			r.n = 1 + random.Int64N(99_999)
		}
		r.left += r.n
		r.day = r.day.AddDate(0, 0, random.IntN(3))
		r.text = shops[random.IntN(len(shops))] + " " + places[random.IntN(len(places))]
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.cell(r))
		}
		lines = append(lines, strings.Join(cells, f.delim))
		v.want = append(v.want, fmt.Sprintf("%s %s %s", r.day.Format("2006-01-02"),
			strings.Replace(f.write(r.n), ",", ".", 1), r.text))
	}
	if random.IntN(2) == 0 {
		slices.Reverse(lines)
		slices.Reverse(v.want)
	}
	if f.headline {
		var names []string
		for _, c := range columns {
			names = append(names, c.name)
		}
		lines = slices.Insert(lines, 0, strings.Join(names, f.delim))
	}
	if random.IntN(4) == 0 {
		lines = slices.Insert(lines, 0, "Statement of account", "")
	}
	if random.IntN(5) == 0 {
		lines = append(lines, "", "End of the list")
	}
	v.text = strings.Join(lines, "\n") + "\n"
	return v
}

// tellAll writes all rows of a reading as a variant has them.
func tellAll(r reading) (rows []string) {
	for _, e := range r.entries() {
		amount := e.Amount.Text(2)
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Date, amount,
			strings.TrimSpace(e.Name+" "+e.Memo))))
	}
	return rows
}

// Of all variants, fewer than one of two hundred are wrong in silence, and fewer than one of ten
// ask.
func TestVariantsAreReadRight(t *testing.T) {
	random := seeded(t)
	count := 400 * int(rounds())
	right, ask, wrong := 0, 0, 0
	for range count {
		v := draw(random)
		r, err := read(v.text, bankfile.Options{})
		var undecided *bankfile.UndecidedError
		switch {
		case errors.As(err, &undecided):
			ask++
			t.Logf("asked: %v\n%s", err, v.text)
		case err == nil && slices.Equal(tellAll(r), v.want):
			right++
		default:
			wrong++
			t.Logf("wrong: %v\nwant %q\ngot  %q\n%s", err, v.want, r.brief(), v.text)
		}
	}
	t.Logf("of %d: %d right, %d asked, %d wrong in silence", count, right, ask, wrong)
	if wrong*200 > count || ask*10 > count {
		t.Errorf("of %d files, %d are wrong in silence and %d are asked about", count, wrong, ask)
	}
}
